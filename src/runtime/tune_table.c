/*
 * Winners of searches: a text file per device beside the cache.
 *
 *	FOLDER/tuned/NVIDIA_H200.txt	# NVIDIA H200 TAB sm_90x132
 *					kernel TAB space TAB problem TAB
 *					values TAB milliseconds
 *
 * What the user found goes before what came with the program (tune_ship.c). A
 * line that cannot be read is passed over; a value that does not bind is as if
 * it were not there. The file is read again when it has changed, and is never
 * evicted. One that others may have written is not used, and not replaced.
 */
#include "tune.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cache.h"

typedef CJ_VEC(struct cj_tuned) tuned_list;

enum { LONGEST_FILE = 64 << 20 };

/* What is known of one device. */
struct cj_tuned_device {
	struct cj_tuned_device *next;
	char name[128];
	struct cj_arena arena;
	tuned_list rows;
	struct timespec changed;	/* file or rights; 0: there is none */
	int64_t bytes;
};

/* ---- lines --------------------------------------------------------------- */

/* The next field, up to a tab or the end; NULL: there is none. */
static char *
field(char **at)
{
	char *begin = *at, *end;

	if (begin == NULL)
		return NULL;
	end = strchr(begin, '\t');
	*at = end != NULL ? end + 1 : NULL;
	if (end != NULL)
		*end = '\0';
	return begin;
}

bool
cj_tuned_read(char *line, struct cj_tuned *out)
{
	char *at = line, *ms, *end;

	if (line[0] == '#' || line[0] == '[')
		return false;
	out->kernel = field(&at);
	out->space = field(&at);
	out->problem = field(&at);
	out->values = field(&at);
	ms = field(&at);
	if (ms == NULL || at != NULL)
		return false;
	out->ms = strtod(ms, &end);
	return end != ms && *end == '\0' && out->ms >= 0;
}

char *
cj_tuned_line(char **at)
{
	char *begin = *at, *end;

	if (begin == NULL || *begin == '\0')
		return NULL;
	end = strchr(begin, '\n');
	*at = end != NULL ? end + 1 : NULL;
	if (end == NULL)
		end = begin + strlen(begin);
	if (end > begin && end[-1] == '\r')
		end--;
	*end = '\0';
	return begin;
}

char *
cj_tuned_value(char **at, char **text)
{
	char *name = *at, *next, *equals;

	if (name == NULL)
		return NULL;
	next = strstr(name, "; ");
	*at = next != NULL ? next + 2 : NULL;
	if (next != NULL)
		*next = '\0';
	equals = strchr(name, '=');
	*text = equals != NULL ? equals + 1 : NULL;
	if (equals != NULL)
		*equals = '\0';
	return name;
}

const char *
cj_tuned_bare(const char *values)
{
	size_t n = strlen(CJ_TUNED_DEFAULT);

	return strncmp(values, CJ_TUNED_DEFAULT, n) == 0 ? values + n : values;
}

void
cj_tuned_write(struct cj_strbuf *b, const struct cj_tuned *r)
{
	cj_strbuf_printf(b, "%s\t%s\t%s\t%s\t%.6g\n", r->kernel, r->space,
	    r->problem, r->values, r->ms);
}

const char *
cj_tuned_class(struct cj_arena *a, const cutejit_gpu *gpu)
{
	return cj_printf(a, "sm_%d%dx%d", gpu->major, gpu->minor, gpu->sms);
}

/* ---- files of a device --------------------------------------------------- */

/* Letters and digits of the name; NULL: nothing is kept on disk. */
static const char *
path_of(struct cj_arena *a, const struct cj_store *s, const char *device)
{
	char *path, *p;

	if (s->folder == NULL)
		return NULL;
	path = cj_printf(a, "%s/tuned/%s.txt", s->root, device);
	/* the name between the folder and .txt */
	for (p = path + strlen(s->root) + strlen("/tuned/"); p[4] != '\0'; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')
		    || (*p >= '0' && *p <= '9')))
			*p = '_';
	return path;
}

/* Why a file that is there is not read; NULL: it is. */
static const char *
why_not(int fd, struct stat *st)
{
	if (fd < 0)
		return errno == ELOOP ? "it is a link" : strerror(errno);
	if (fstat(fd, st) != 0)
		return strerror(errno);
	if (!S_ISREG(st->st_mode))
		return "it is no file";
	if (st->st_uid != geteuid())
		return "it belongs to somebody else";
	if ((st->st_mode & 022) != 0)
		return "others may write to it";
	return st->st_size > LONGEST_FILE ? "it is too long" : NULL;
}

/* Bytes of a file of this user; NULL, and *why if it is there. */
static char *
read_file(struct cj_arena *a, const char *path, struct stat *st,
    const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char *text = NULL;

	*why = NULL;
	if (fd < 0 && errno == ENOENT)
		return NULL;
	*why = why_not(fd, st);
	if (*why == NULL) {
		text = cj_alloc(a, (size_t)st->st_size + 1);
		if (!cj_read_all(fd, text, (size_t)st->st_size)) {
			text = NULL;
			*why = strerror(errno);
		}
	}
	if (fd >= 0)
		close(fd);
	return text;
}

static struct cj_tuned *
find_row(const tuned_list *rows, const char *kernel, const char *space,
    const char *problem)
{
	uint32_t i;

	for (i = 0; i < rows->len; i++)
		if (strcmp(rows->at[i].kernel, kernel) == 0
		    && strcmp(rows->at[i].space, space) == 0
		    && strcmp(rows->at[i].problem, problem) == 0)
			return &rows->at[i];
	return NULL;
}

static void
put_row(struct cj_arena *a, tuned_list *rows, const struct cj_tuned *r)
{
	struct cj_tuned *old = find_row(rows, r->kernel, r->space,
	    r->problem);

	if (old == NULL)
		old = cj_push(a, rows);
	old->kernel = cj_strdup(a, r->kernel);
	old->space = cj_strdup(a, r->space);
	old->problem = cj_strdup(a, r->problem);
	old->values = cj_strdup(a, r->values);
	old->ms = r->ms;
}

static void
read_rows(struct cj_arena *a, char *text, tuned_list *out)
{
	struct cj_tuned row;
	char *line;

	while ((line = cj_tuned_line(&text)) != NULL)
		if (cj_tuned_read(line, &row))
			put_row(a, out, &row);
}

/* ---- devices of a context ------------------------------------------------ */

void
cj_tunings_init(struct cutejit_context *c)
{
	pthread_mutex_init(&c->tuned_lock, NULL);
}

void
cj_tunings_fini(struct cutejit_context *c)
{
	while (c->tuned != NULL) {
		struct cj_tuned_device *d = c->tuned;

		c->tuned = d->next;
		cj_arena_fini(&d->arena);
		cj_give_back(c, d);
	}
	pthread_mutex_destroy(&c->tuned_lock);
}

static struct cj_tuned_device *
device_of(struct cj_work *f, const char *name)
{
	struct cutejit_context *c = f->context;
	struct cj_tuned_device *d;

	for (d = c->tuned; d != NULL; d = d->next)
		if (strcmp(d->name, name) == 0)
			return d;
	d = cj_take(c, sizeof *d);
	if (d == NULL)
		cj_leave(&f->recover, CJ_WHY_MEMORY,
		    "there is no memory for what was found");
	snprintf(d->name, sizeof d->name, "%s", name);
	cj_arena_init(&d->arena, NULL, &c->mem);
	d->next = c->tuned;
	c->tuned = d;
	return d;
}

/* Read the file if it is another than before. */
static void
refresh(struct cj_work *f, struct cj_tuned_device *d)
{
	const char *path = path_of(&f->arena, f->context->store, d->name);
	const char *why;
	struct stat st;
	char *text;

	if (path == NULL || lstat(path, &st) != 0
	    || (st.st_ctim.tv_sec == d->changed.tv_sec
	    && st.st_ctim.tv_nsec == d->changed.tv_nsec
	    && st.st_size == d->bytes))
		return;
	text = read_file(&f->arena, path, &st, &why);
	if (why != NULL)
		cj_log(f->context, CUTEJIT_LOG_WARNING,
		    "winners of searches in %s are not used: %s", path, why);
	cj_arena_fini(&d->arena);
	cj_arena_init(&d->arena, &f->recover, &f->context->mem);
	memset(&d->rows, 0, sizeof d->rows);
	if (text != NULL)
		read_rows(&d->arena, text, &d->rows);
	d->changed = st.st_ctim;
	d->bytes = st.st_size;
}

/* ---- keeping ------------------------------------------------------------- */

static int
take_lock(const char *path)
{
	int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0 && flock(fd, LOCK_EX) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* What others have found meanwhile stays. */
static void
write_rows(struct cj_work *f, const char *path, const cutejit_gpu *gpu,
    const struct cj_tuned *winner)
{
	tuned_list rows = { 0 };
	struct cj_strbuf b;
	struct stat st;
	const char *why;
	char *text = read_file(&f->arena, path, &st, &why);
	uint32_t i;

	if (why != NULL) {
		cj_log(f->context, CUTEJIT_LOG_WARNING,
		    "no winner is put into %s: %s", path, why);
		return;
	}
	if (text != NULL)
		read_rows(&f->arena, text, &rows);
	put_row(&f->arena, &rows, winner);
	cj_strbuf_init(&b, &f->arena);
	cj_strbuf_printf(&b, "# %s\t%s\n", gpu->name,
	    cj_tuned_class(&f->arena, gpu));
	for (i = 0; i < rows.len; i++)
		cj_tuned_write(&b, &rows.at[i]);
	if (!cj_file_replace_sure(path, b.text, b.len))
		cj_log(f->context, CUTEJIT_LOG_WARNING,
		    "%s cannot be written: %s", path, strerror(errno));
}

static void
keep_on_disk(struct cj_work *f, const cutejit_gpu *gpu,
    const struct cj_tuned *winner)
{
	const struct cj_store *s = f->context->store;
	const char *path = path_of(&f->arena, s, gpu->name);
	int lock;

	if (path == NULL || s->is_read_only)
		return;
	mkdir(s->root, 0700);
	mkdir(cj_printf(&f->arena, "%s/tuned", s->root), 0700);
	lock = take_lock(cj_printf(&f->arena, "%s.lock", path));
	write_rows(f, path, gpu, winner);
	if (lock >= 0)
		close(lock);
}

const char *
cj_tuned_kept_not(const struct cj_work *f)
{
	const struct cj_store *s = f->context->store;

	if (s->folder == NULL)
		return cutejit_cache_why(f->context);
	return s->is_read_only ? "the cache is read, and not written" : NULL;
}

void
cj_tuned_keep(struct cj_work *f, const cutejit_gpu *gpu,
    const struct cj_tuned *winner)
{
	struct cutejit_context *c = f->context;
	struct cj_tuned_device *d;

	keep_on_disk(f, gpu, winner);
	cj_defer_lock(f, &c->tuned_lock);
	d = device_of(f, gpu->name);
	d->arena.recover = &f->recover;
	refresh(f, d);
	put_row(&d->arena, &d->rows, winner);
	d->arena.recover = NULL;
	atomic_fetch_add(&c->tunings, 1);
	cj_undefer_lock(f);
}

/* ---- using --------------------------------------------------------------- */

const char *
cj_tuned_own_name(const char *kernel)
{
	const char *point = strchr(kernel, '.');

	return point == NULL ? kernel : point + 1;
}

static const char *
find_own(struct cj_work *f, const struct cutejit_module *m,
    const char *device, const char *kernel, const char *problem)
{
	struct cutejit_context *c = f->context;
	struct cj_tuned_device *d;
	const struct cj_tuned *row;
	const char *values = NULL;

	cj_defer_lock(f, &c->tuned_lock);
	d = device_of(f, device);
	d->arena.recover = &f->recover;
	refresh(f, d);
	d->arena.recover = NULL;
	row = d->rows.len == 0 ? NULL : find_row(&d->rows,
	    cj_tuned_own_name(kernel), cj_tune_space(m, kernel), problem);
	if (row != NULL)
		values = cj_strdup(&f->arena, row->values);
	cj_undefer_lock(f);
	return values;
}

static bool
is_named(const struct cj_choice *c, const char *name)
{
	uint32_t i;

	for (i = 0; i < c->const_count; i++)
		if (strcmp(c->consts[i].name, name) == 0)
			return true;
	return false;
}

/* "name=value; name=value" behind the arguments that are there. False: it
 * cannot be read, or one of them is given. */
static bool
add_values(struct cj_work *f, struct cj_choice *c, const char *values)
{
	CJ_VEC(struct cj_const_argument) all = { 0 };
	char *at = cj_strdup(&f->arena, values), *name, *text;
	uint32_t i;

	for (i = 0; i < c->const_count; i++)
		*cj_push(&f->arena, &all) = c->consts[i];
	while ((name = cj_tuned_value(&at, &text)) != NULL) {
		struct cj_const_argument *x;

		if (text == NULL || is_named(c, name))
			return false;
		x = cj_push(&f->arena, &all);
		x->name = name;
		x->text = text;
		x->value = NULL;
	}
	c->consts = all.at;
	c->const_count = all.len;
	return true;
}

static bool
is_default(const char *values)
{
	return values[0] == '\0' || cj_tuned_bare(values) != values;
}

bool
cj_tuned_add(struct cj_work *f, struct cutejit_module *m,
    struct cj_choice *choice, const struct cj_arguments *args,
    const cutejit_gpu *gpu)
{
	const char *problem, *values;

	if (!cj_is_tuned(m, choice->kernel))
		return false;
	problem = cj_tune_problem(f, m, choice->kernel, choice->consts,
	    choice->const_count, args);
	values = find_own(f, m, gpu->name, choice->kernel, problem);
	if (values == NULL)
		values = cj_tune_shipped(f, m, gpu, choice->kernel, problem);
	return values != NULL && !is_default(values)
	    && add_values(f, choice, values);
}

const char *
cj_tuned_misfit(struct cj_arena *a, const struct cj_diag *d)
{
	if (d == NULL)
		return "no reason was given";
	return d->code == CJ_DIAG_NO_MEMBER && d->notes != NULL
	    ? cj_printf(a, "%s: %s", d->text, d->notes->text) : d->text;
}

void
cj_tuned_pass_over(struct cj_work *f, struct cutejit_module *m,
    const struct cj_diags *before, const char *kernel)
{
	if (!atomic_exchange(&m->has_told_misfit, true))
		cj_log(f->context, CUTEJIT_LOG_WARNING, "values that a search "
		    "found fastest are not used by a launch of \"%s\": %s",
		    kernel, cj_tuned_misfit(&f->arena, *before->last));
	cj_forget_messages(f, before);
}

/* ---- listing ------------------------------------------------------------- */

struct listing {
	cutejit_tuning_fn *each;
	void *user;
};

/* False: the caller has seen enough. */
static bool
list_file(struct cj_work *f, const struct listing *l, const char *path)
{
	struct stat st;
	const char *device = "", *of_class = "", *why;
	char *text = read_file(&f->arena, path, &st, &why), *line;
	struct cj_tuned row;

	if (why != NULL)
		cj_log(f->context, CUTEJIT_LOG_WARNING,
		    "winners of searches in %s are not used: %s", path, why);
	while ((line = cj_tuned_line(&text)) != NULL) {
		cutejit_tuning t = { .device = device,
		    .device_class = of_class };

		if (strncmp(line, "# ", 2) == 0) {
			device = line + 2;
			field(&line);
			of_class = line != NULL ? line : "";
		}
		if (!cj_tuned_read(line, &row))
			continue;
		t.kernel = row.kernel;
		t.space = row.space;
		t.problem = row.problem;
		t.values = row.values;
		t.ms = row.ms;
		if (l->each(l->user, &t) != 0)
			return false;
	}
	return true;
}

static bool
is_table(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && strcmp(name + n - 4, ".txt") == 0;
}

static void
close_folder(void *folder)
{
	closedir(folder);
}

void
cj_tuned_each(struct cj_work *f, cutejit_tuning_fn *each, void *user)
{
	const struct listing l = { each, user };
	const struct cj_store *s = f->context->store;
	const char *folder = cj_printf(&f->arena, "%s/tuned", s->root);
	DIR *d = s->folder != NULL ? opendir(folder) : NULL;
	struct dirent *e;
	CJ_VEC(const char *) paths = { 0 };
	uint32_t i;

	if (d == NULL)
		return;
	cj_defer(f, close_folder, d);
	while ((e = readdir(d)) != NULL)
		if (is_table(e->d_name))
			*cj_push(&f->arena, &paths) = cj_printf(&f->arena,
			    "%s/%s", folder, e->d_name);
	cj_undefer(f);
	closedir(d);
	for (i = 0; i < paths.len; i++)
		if (!list_file(f, &l, paths.at[i]))
			break;
}

static cutejit_status
list(struct cj_work *f, void *arguments)
{
	const struct listing *l = arguments;

	cj_tuned_each(f, l->each, l->user);
	return CUTEJIT_OK;
}

cutejit_status
cutejit_tuning_list(cutejit_context *context, cutejit_tuning_fn *each,
    void *user)
{
	struct listing l = { each, user };

	if (context == NULL || each == NULL)
		return cj_misuse(context,
		    "a function or a place for a result is NULL");
	return cj_enter(context, list, &l);
}
