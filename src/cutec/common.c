/*
 * What subcommands share: options, contexts, modules, files.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cutec.h"

void
common_init(struct common *c, const char *command)
{
	cutejit_run_options run = CUTEJIT_RUN_OPTIONS_INIT;

	memset(c, 0, sizeof *c);
	c->command = command;
	/* first, so that a -W for one remark wins */
	list_add(&c->warnings, "no-remarks");
	c->run = run;
}

bool
list_add(struct list *l, const char *text)
{
	if (l->count == LIST_MAX)
		return false;
	l->at[l->count++] = text;
	return true;
}

bool
parse_unsigned(const char *text, uint64_t *out)
{
	char *end;
	unsigned long long v;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno != 0 || *end != '\0')
		return false;
	*out = v;
	return true;
}

/* The name ends where the '=' was: arguments may be written. */
static int
take_constant(struct common *c, char *value)
{
	char *equals = strchr(value, '=');

	if (equals == NULL || equals == value)
		return usage_error(c->command,
		    "-D needs NAME=VALUE, not \"%s\"", value);
	if (c->constant_count == LIST_MAX)
		return usage_error(c->command, "too many -D");
	*equals = '\0';
	c->constants[c->constant_count].name = value;
	c->constants[c->constant_count++].text = equals + 1;
	return 0;
}

static cutejit_device
device_of(const char *word)
{
	static const char *const names[] = { "auto", "cpu", "gpu", "both" };
	unsigned i;

	for (i = 0; strcmp(word, names[i]) != 0; i++)
		assert(i < 3 && "options.def has these alone");
	return (cutejit_device)i;
}

static int
no_check(struct common *c, const char *name, size_t length)
{
	char known[200] = "";
	size_t i, n = 0;

	for (i = 0; cutejit_check_at(i) != NULL && n < sizeof known; i++)
		n += (size_t)snprintf(known + n, sizeof known - n, ", %s",
		    cutejit_check_at(i));
	return usage_error(c->command, "there is no check \"%.*s\"; there are "
	    "all, none%s", (int)length, name, known);
}

/* all, none, or names with commas between them. */
static int
take_checks(struct common *c, const char *value)
{
	const char *p = value;
	unsigned bits = 0;

	if (strcmp(value, "all") == 0 || strcmp(value, "none") == 0) {
		c->run.checks = *value == 'a' ? CUTEJIT_CHECK_ALL :
		    CUTEJIT_CHECK_NONE;
		return 0;
	}
	while (*p != '\0') {
		size_t n = strcspn(p, ","), i;
		const char *name;

		for (i = 0; (name = cutejit_check_at(i)) != NULL; i++)
			if (strlen(name) == n && memcmp(name, p, n) == 0)
				break;
		if (name == NULL)
			return no_check(c, p, n);
		bits |= 1u << i;
		p += n + (p[n] == ',');
	}
	c->run.checks = bits == 0 ? CUTEJIT_CHECK_NONE : bits;
	return 0;
}

int
take_number(const struct common *c, const char *what, const char *value,
    uint64_t most, uint64_t *out)
{
	bool is_number = parse_unsigned(value, out);

	if (is_number && *out <= most)
		return 0;
	if (is_number)
		return usage_error(c->command, "%s is %" PRIu64 " at most, not "
		    "%s", what, most, value);
	return usage_error(c->command, "%s needs a number, not \"%s\"", what,
	    value);
}

int
common_take(struct common *c, int code, char *value)
{
	uint64_t n = 0;
	int bad;

	switch (code) {
	case 'h':
		show_help(c->command);
		return -1;
	case 'D':
		return take_constant(c, value);
	case 'I':
		return list_add(&c->folders, value) ? 0 :
		    usage_error(c->command, "too many -I");
	case 'W':
		return list_add(&c->warnings, value) ? 0 :
		    usage_error(c->command, "too many -W");
	case 'O':
		c->level = (cutejit_level)(CUTEJIT_LEVEL_0 + (*value - '0'));
		c->run.level = c->level;
		return 0;
	case 'g':
		c->lineinfo = true;
		c->run.lineinfo = 1;
		return 0;
	case OPT_CHECKED:
		c->checked = true;
		c->run.checked = 1;
		return 0;
	case OPT_REMARKS:
		c->remarks = true;
		c->warnings.at[0] = "remarks";
		return 0;
	case OPT_DIAGNOSTICS:
		c->form = report_form_of(value);
		return 0;
	case OPT_DEADLINE:
		bad = take_number(c, "--deadline", value, 1u << 31, &n);
		c->deadline_ms = (unsigned)n;
		return bad;
	case OPT_DEVICE:
		c->run.device = device_of(value);
		return 0;
	case OPT_CHECK:
		return take_checks(c, value);
	case OPT_SCHEDULES:
		bad = take_number(c, "--schedules", value, 1u << 20, &n);
		c->run.schedules = (unsigned)n;
		return bad;
	case OPT_SEED:
		return take_number(c, "--seed", value, UINT64_MAX,
		    &c->run.seed);
	case OPT_STEPS:
		return take_number(c, "--steps", value, UINT64_MAX,
		    &c->run.step_limit);
	case OPT_FILTER:
		c->run.filter = value;
		return 0;
	default:
		return CUTEJIT_USAGE;		/* complained of */
	}
}

static void
print_line(void *user, const char *line)
{
	(void)user;
	puts(line);
}

/* What belongs to no message: the cache, tools. Programs that read messages
 * are not bothered. */
static void
print_log(void *user, cutejit_log_level level, const char *text)
{
	(void)user;
	if (level == CUTEJIT_LOG_WARNING)
		caution(text);
}

/* The first -W whose name is no code: what stands behind no- and error=. */
static const char *
wrong_warning(const struct common *c)
{
	const char *name;
	size_t i;

	for (i = 0; i < c->warnings.count; i++) {
		name = c->warnings.at[i];
		if (strncmp(name, "no-", 3) == 0)
			name += 3;
		if (strcmp(name, "error") == 0 || strcmp(name, "remarks") == 0)
			continue;
		if (strncmp(name, "error=", 6) == 0)
			name += 6;
		if (cutejit_explain(name) == NULL)
			return name;
	}
	return NULL;
}

cutejit_context *
common_context(const struct common *c, int *code)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *context;
	cutejit_status status;
	const char *wrong;

	o.include_folders = c->folders.at;
	o.include_count = c->folders.count;
	o.warnings = c->warnings.at;
	o.warning_count = c->warnings.count;
	o.deadline_ms = c->deadline_ms;
	/* what runs late ends with its process, and keeps nobody waiting */
	o.worker = c->deadline_ms != 0 ? "/proc/self/exe" : NULL;
	o.print = print_line;
	o.log = c->form == REPORT_TEXT ? print_log : NULL;
	status = cutejit_context_create(&o, &context);
	*code = (int)status;
	if (status == CUTEJIT_OK)
		return context;
	wrong = status == CUTEJIT_USAGE ? wrong_warning(c) : NULL;
	if (wrong != NULL)
		complain("there is no warning \"%s\"; `cutec explain` lists "
		    "the names", wrong);
	else
		complain(status == CUTEJIT_USAGE ? "a -W names what is no "
		    "warning" : "%s", cutejit_status_text(status));
	return NULL;
}

int
common_status(const struct common *c, cutejit_context *context,
    cutejit_status status)
{
	const cutejit_report *r = cutejit_context_report(context);

	show_report(r, c->form);
	if (status != CUTEJIT_OK && cutejit_report_count(r) == 0)
		complain("%s", cutejit_status_text(status));
	return (int)status;
}

const cutejit_member *
any_member(const cutejit_module *module, size_t i)
{
	const cutejit_member *m = cutejit_module_member(module, i);
	size_t own = 0;

	if (m != NULL)
		return m;
	while (cutejit_module_member(module, own) != NULL)
		own++;
	return cutejit_module_imported(module, i - own);
}

int
common_no_kernel(const struct common *c, cutejit_context *context,
    cutejit_module *module, const char *kernel)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_kernel *none = NULL;
	cutejit_status status;

	o.until = CUTEJIT_UNTIL_IR;
	status = cutejit_compile(module, kernel, &o, &none);
	cutejit_kernel_destroy(none);
	return common_status(c, context, status);
}

cutejit_module *
common_module(const struct common *c, cutejit_context *context,
    const char *path, int *code)
{
	cutejit_module *m = NULL;
	cutejit_status status;
	size_t length;
	char *text;

	if (strcmp(path, "-") == 0) {
		text = read_file(path, &length);
		if (text == NULL) {
			*code = CUTEJIT_MISSING;
			return NULL;
		}
		status = cutejit_module_from_memory(context, "<stdin>", text,
		    length, &m);
		free(text);
	} else {
		status = cutejit_module_from_file(context, path, &m);
	}
	*code = common_status(c, context, status);
	return m;
}

int
common_modules(const struct common *c, char **files, int count,
    module_fn *each, void *user)
{
	cutejit_context *context;
	int i, code, worst = 0;

	context = common_context(c, &code);
	if (context == NULL)
		return code;
	for (i = 0; i < count; i++) {
		cutejit_module *m = common_module(c, context, files[i],
		    &code);

		if (m != NULL)
			code = each(c, context, m, files[i], user);
		if (code > worst)
			worst = code;
		cutejit_module_destroy(m);
	}
	cutejit_context_destroy(context);
	return worst;
}

int
common_found(const struct common *c, const char *what, int code)
{
	if (code != 0 || c->run.filter == NULL)
		return code;
	return usage_error(c->command, "no %s has \"%s\" in its name", what,
	    c->run.filter);
}

bool
write_json(const char *path, const char *key, struct json_t *list)
{
	json_t *all = json_pack("{s:i, s:O}", "schema", 1, key, list);
	char *text = json_dumps(all, JSON_INDENT(2));
	bool good = text != NULL && write_file(path, text, strlen(text));

	if (text == NULL)
		no_memory();
	free(text);
	json_decref(all);
	return good;
}

/* ---- files -------------------------------------------------------------- */

static char *
read_stream(FILE *f, size_t *length)
{
	size_t cap = 1 << 16, n = 0, got;
	char *text = malloc(cap), *more;

	while (text != NULL &&
	    (got = fread(text + n, 1, cap - n - 1, f)) != 0) {
		n += got;
		if (n + 1 < cap)
			continue;
		cap *= 2;
		more = realloc(text, cap);
		if (more == NULL)
			free(text);
		text = more;
	}
	if (text != NULL)
		text[n] = '\0';
	*length = n;
	return text;
}

char *
read_file(const char *path, size_t *length)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
	const char *name = f == stdin ? "standard input" : path;
	char *text;

	if (f == NULL) {
		complain("cannot read %s: %s", name, strerror(errno));
		return NULL;
	}
	errno = 0;
	text = read_stream(f, length);
	if (text == NULL || ferror(f)) {
		complain("cannot read %s: %s", name, strerror(errno));
		free(text);
		text = NULL;
	}
	if (f != stdin)
		fclose(f);
	return text;
}

/* All of it, then closed; errno says what failed. */
static bool
fill_file(FILE *f, const void *bytes, size_t length)
{
	bool good = f != NULL && fwrite(bytes, 1, length, f) == length;

	if (f != NULL)
		good = fclose(f) == 0 && good;
	return good;
}

typedef bool replace_function(const char *path, const void *bytes,
    size_t length, const struct stat *like);

/* With the mode that new files have. */
static bool
new_file(const char *path, const void *bytes, size_t length,
    replace_function *replace)
{
	struct stat like = { .st_uid = geteuid(), .st_gid = getegid() };
	mode_t mask = umask(0);

	umask(mask);
	like.st_mode = 0666 & ~mask;
	return replace(path, bytes, length, &like);
}

static bool
put(const char *path, const void *bytes, size_t length,
    replace_function *replace)
{
	char *real;
	struct stat st;
	bool good;

	if (strcmp(path, "-") == 0)
		return fwrite(bytes, 1, length, stdout) == length;
	if (stat(path, &st) != 0) {
		good = new_file(path, bytes, length, replace);
	} else if (!S_ISREG(st.st_mode)) {
		/* a device or a pipe is written to, never replaced */
		good = fill_file(fopen(path, "wb"), bytes, length);
	} else {
		real = realpath(path, NULL);	/* links stay links */
		good = real != NULL && replace(real, bytes, length, &st);
		free(real);
	}
	if (!good)
		complain("cannot write %s: %s", path, strerror(errno));
	return good;
}

bool
write_file(const char *path, const void *bytes, size_t length)
{
	return put(path, bytes, length, cj_file_replace);
}

bool
write_text(const char *path, const char *text, size_t length)
{
	return put(path, text, length, cj_file_replace_lasting);
}
