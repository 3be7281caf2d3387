/*
 * Winners of searches that come with a program: NAME.tune beside NAME.cute.
 *
 *	# what the user likes
 *	[sm_90x132, NVIDIA H100*]	names and classes of GPUs
 *	kernel TAB space TAB problem TAB values TAB milliseconds
 *
 * The lines behind [...] are for these GPUs; a space "*" is any. `cutec tune
 * --export` writes what was found on this machine into it, for the class of the
 * GPU, and leaves the lines of others as they are.
 */
#include "tune.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"

/* NAME.tune for NAME.cute, or NULL. */
static const char *
path_beside(struct cj_arena *a, const char *path)
{
	size_t length = strlen(path);
	char *beside;

	if (length < 5 || strcmp(path + length - 5, ".cute") != 0)
		return NULL;
	beside = cj_strdup(a, path);
	memcpy(beside + length - 5, ".tune", 5);
	return beside;
}

const char *
cj_tune_read_shipped(struct cj_arena *a, const char *path)
{
	const char *beside = path_beside(a, path);
	size_t got;

	return beside == NULL ? NULL : cj_read_file(a, beside, &got);
}

/* ---- finding ------------------------------------------------------------- */

/* [sm_90x132, NVIDIA H100*] */
static bool
names_gpu(struct cj_arena *a, char *line, const cutejit_gpu *gpu)
{
	char *end = strrchr(line, ']'), *at = line + 1, *next;

	if (end == NULL)
		return false;
	*end = '\0';
	for (; at != NULL; at = next) {
		next = strchr(at, ',');
		if (next != NULL)
			*next++ = '\0';
		while (*at == ' ')
			at++;
		if (fnmatch(at, gpu->name, 0) == 0
		    || fnmatch(at, cj_tuned_class(a, gpu), 0) == 0)
			return true;
	}
	return false;
}

const char *
cj_tune_shipped(struct cj_work *f, const struct cutejit_module *m,
    const cutejit_gpu *gpu, const char *kernel, const char *problem)
{
	const char *shipped = m->shipped == NULL ? NULL
	    : m->shipped[cj_tune_find(m, kernel)];
	char *text = shipped == NULL ? NULL
	    : cj_strdup(&f->arena, shipped), *line;
	bool is_meant = false;
	struct cj_tuned row;

	while ((line = cj_tuned_line(&text)) != NULL) {
		if (line[0] == '[')
			is_meant = names_gpu(&f->arena, line, gpu);
		else if (is_meant && cj_tuned_read(line, &row)
		    && strcmp(row.kernel, cj_tuned_own_name(kernel)) == 0
		    && strcmp(row.problem, problem) == 0
		    && (strcmp(row.space, "*") == 0 || strcmp(row.space,
		    cj_tune_space(m, kernel)) == 0))
			return row.values;
	}
	return NULL;
}

/* ---- what is wrong with a table ------------------------------------------ */

/* The search of a kernel that the file itself has; m->tune_count: none. */
static uint32_t
find_search(const struct cutejit_module *m, const char *path,
    const char *kernel)
{
	uint32_t i;

	for (i = 0; i < m->tune_count; i++)
		if (strcmp(m->tunes[i].place.file, path) == 0
		    && strcmp(cj_tuned_own_name(m->tunes[i].kernel), kernel)
		    == 0)
			break;
	return i;
}

static bool
has_parameter(const struct cutejit_module *m, const char *kernel,
    const char *name)
{
	uint32_t i;

	for (i = 0; i < m->member_count; i++)
		if (strcmp(m->infos[i].kernel, kernel) == 0
		    && cj_is_constant(m, &m->infos[i], name))
			return true;
	return false;
}

/* NULL: nothing is wrong. */
static const char *
why_not_values(struct cj_arena *a, const struct cutejit_module *m,
    const char *kernel, const char *values)
{
	char *at = cj_strdup(a, cj_tuned_bare(values)), *name, *text;

	if (*at == '\0')
		return NULL;
	while ((name = cj_tuned_value(&at, &text)) != NULL) {
		if (text == NULL)
			return "values are NAME=VALUE; NAME=VALUE";
		if (!has_parameter(m, kernel, name))
			return cj_printf(a, "kernel \"%s\" has no const "
			    "parameter \"%s\"", kernel, name);
	}
	return NULL;
}

static const char *
why_not_row(struct cj_arena *a, const struct cutejit_module *m,
    const char *path, char *line)
{
	struct cj_tuned row;
	uint32_t i;

	if (!cj_tuned_read(line, &row))
		return "a line is kernel, searches, problem, values and "
		    "milliseconds, with tabs between them";
	i = find_search(m, path, row.kernel);
	if (i == m->tune_count)
		return cj_printf(a, "there is no search of \"%s\"",
		    row.kernel);
	return why_not_values(a, m, m->tunes[i].kernel, row.values);
}

void
cj_tune_check_shipped(struct cj_work *f, const struct cutejit_module *m,
    const char *path, const char *text)
{
	char *at = cj_strdup(&f->arena, text), *line;
	const char *why = NULL;
	bool names_gpus = false;
	unsigned number = 0;

	while (why == NULL && (line = cj_tuned_line(&at)) != NULL) {
		number++;
		if (line[0] == '\0' || line[0] == '#')
			continue;
		if (line[0] == '[' && strchr(line, ']') != NULL)
			names_gpus = true;
		else if (line[0] == '[')
			why = "names of GPUs end with ]";
		else if (!names_gpus)
			why = "names of GPUs are missing in front, such as "
			    "[sm_90x132]";
		else
			why = why_not_row(&f->arena, m, path, line);
	}
	if (why != NULL)
		cj_log(f->context, CUTEJIT_LOG_WARNING, "%s:%u: %s",
		    path_beside(&f->arena, path), number, why);
}

/* ---- writing ------------------------------------------------------------- */

/* A line [...] and those behind it. */
struct section {
	const char *head;
	CJ_VEC(const char *) lines;
};

struct exporting {
	struct cutejit_module *m;
	const char *path;
	struct cj_work *f;
	CJ_VEC(struct section) sections;	/* the first has no head */
	size_t count;
};

static void
read_sections(struct exporting *e, const char *old)
{
	struct cj_arena *a = &e->f->arena;
	char *text = old == NULL ? NULL : cj_strdup(a, old), *line;
	struct section *s = cj_push(a, &e->sections);

	while ((line = cj_tuned_line(&text)) != NULL)
		if (line[0] == '[') {
			s = cj_push(a, &e->sections);
			s->head = line;
		} else {
			*cj_push(a, &s->lines) = line;
		}
}

static struct section *
section_of(struct exporting *e, const char *head)
{
	struct section *s;
	uint32_t i;

	for (i = 1; i < e->sections.len; i++)
		if (strcmp(e->sections.at[i].head, head) == 0)
			return &e->sections.at[i];
	s = cj_push(&e->f->arena, &e->sections);
	s->head = head;
	return s;
}

static bool
is_row_of(struct cj_arena *a, const char *line, const struct cj_tuned *r)
{
	struct cj_tuned row;

	return cj_tuned_read(cj_strdup(a, line), &row)
	    && strcmp(row.kernel, r->kernel) == 0
	    && strcmp(row.problem, r->problem) == 0;
}

/* In the place of the line about the same, or at the end. */
static void
put(struct exporting *e, const char *head, const struct cj_tuned *r)
{
	struct cj_arena *a = &e->f->arena;
	struct section *s = section_of(e, head);
	struct cj_strbuf b;
	uint32_t i;

	cj_strbuf_init(&b, a);
	cj_tuned_write(&b, r);
	b.text[b.len - 1] = '\0';	/* the end of the line */
	e->count++;
	for (i = 0; i < s->lines.len; i++)
		if (is_row_of(a, s->lines.at[i], r)) {
			s->lines.at[i] = b.text;
			return;
		}
	*cj_push(a, &s->lines) = b.text;
}

/* What was found of kernels of the module, as they are now. */
static int
take(void *user, const cutejit_tuning *t)
{
	struct exporting *e = user;
	struct cj_tuned row = { .space = "*", .ms = t->ms };
	struct cj_arena *a = &e->f->arena;

	if (!cj_is_tuned(e->m, t->kernel)
	    || strcmp(cj_tune_space(e->m, t->kernel), t->space) != 0)
		return 0;
	row.kernel = cj_strdup(a, t->kernel);
	row.problem = cj_strdup(a, t->problem);
	row.values = cj_strdup(a, t->values);
	put(e, cj_printf(a, "[%s]", t->device_class[0] != '\0'
	    ? t->device_class : t->device), &row);
	return 0;
}

static const char *
text_of(const struct exporting *e)
{
	struct cj_strbuf b;
	uint32_t i, k;

	cj_strbuf_init(&b, &e->f->arena);
	for (i = 0; i < e->sections.len; i++) {
		const struct section *s = &e->sections.at[i];

		if (s->head != NULL)
			cj_strbuf_printf(&b, "%s\n", s->head);
		for (k = 0; k < s->lines.len; k++)
			cj_strbuf_printf(&b, "%s\n", s->lines.at[k]);
	}
	return b.text;
}

static cutejit_status
export(struct cj_work *f, void *arguments)
{
	struct exporting *e = arguments;
	const char *path = path_beside(&f->arena, e->path), *text;
	struct stat like;
	size_t got;

	e->f = f;
	if (path == NULL)
		return cj_fail(f, CUTEJIT_USAGE, CJ_DIAG_USAGE,
		    "the name of a table is made of NAME.cute, not of \"%s\"",
		    e->path);
	if (stat(e->path, &like) != 0)
		return cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_FILE,
		    "%s cannot be read: %s", e->path, strerror(errno));
	read_sections(e, cj_read_file(&f->arena, path, &got));
	cj_tuned_each(f, take, e);
	if (e->count == 0)
		return CUTEJIT_OK;
	text = text_of(e);
	if (!cj_file_replace_lasting(path, text, strlen(text), &like))
		return cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_FILE,
		    "%s cannot be written: %s", path, strerror(errno));
	return CUTEJIT_OK;
}

cutejit_status
cutejit_tuning_export(cutejit_module *module, const char *path, size_t *count)
{
	struct exporting e = { .m = module, .path = path };
	cutejit_status status;

	if (count != NULL)
		*count = 0;
	if (!cj_is(module, CJ_MODULE))
		return cj_handle_refuse(module);
	if (path == NULL || count == NULL)
		return cj_handle_misuse(module,
		    "a path or a place for a result is NULL");
	status = cj_enter(module->context, export, &e);
	if (status == CUTEJIT_OK)
		*count = e.count;
	return status;
}
