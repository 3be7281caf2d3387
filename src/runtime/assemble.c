/*
 * Which assembler, and how ptxas is run.
 *
 * CUTEJIT_ASSEMBLER=ptxas, nvjitlink or driver decides; else it is ptxas if it
 * is there (it can crash or hang without harm), else nvJitLink. The version is
 * part of every cache key, and asking a program for it costs more than a hit
 * in the cache, so answers are kept beside the cache by the program's identity.
 */
#include "assemble.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cache.h"
#include "spawn.h"

/* ---- versions ------------------------------------------------------------ */

/* "…, release 13.0, V13.0.88" -> "13.0.88" */
static const char *
parse_version(struct cj_arena *a, const char *text)
{
	const char *v = strstr(text, ", V");
	size_t n;

	if (v == NULL)
		return NULL;
	v += 3;
	n = strspn(v, "0123456789.");
	return n != 0 && n < 32 ? cj_strndup(a, v, n) : NULL;
}

/* Where the version of a program is remembered; NULL: nowhere. */
static const char *
memo_path(struct cj_work *f, const char *program)
{
	const struct cj_store *s = f->context->store;
	struct cj_hasher h;
	struct cj_digest d;
	struct stat st;
	char text[65];

	if (s->root == NULL || stat(program, &st) != 0)
		return NULL;
	cj_hasher_init(&h);
	cj_hasher_add_text(&h, program);
	cj_hasher_add_u64(&h, (uint64_t)st.st_size);
	cj_hasher_add_u64(&h, (uint64_t)st.st_mtim.tv_sec);
	cj_hasher_add_u64(&h, (uint64_t)st.st_mtim.tv_nsec);
	cj_hasher_add_u64(&h, (uint64_t)st.st_ino);
	d = cj_hasher_end(&h);
	cj_digest_text(&d, text);
	return cj_printf(&f->arena, "%s/tool-%.32s", s->root, text);
}

static const char *
recall(struct cj_work *f, struct cj_arena *a, const char *path)
{
	char text[64];
	struct stat st;
	ssize_t n;
	int fd;

	if (path == NULL)
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	n = fstat(fd, &st) == 0 && st.st_uid == geteuid()
	    ? read(fd, text, sizeof text - 1) : -1;
	close(fd);
	if (n <= 4)
		return NULL;
	text[n] = '\0';
	cj_check_time(f);
	return parse_version(a, text);
}

static void
remember(struct cj_work *f, const char *path, const char *version)
{
	const char *text = cj_printf(&f->arena, ", V%s\n", version);

	if (path == NULL || f->context->store->is_read_only)
		return;
	mkdir(f->context->store->root, 0700);
	cj_file_replace(path, text, strlen(text), NULL);
}

/* The answer of who was asked already, or of one who is asked now. */
static enum cj_spawn_status
answer(struct cj_work *f, const char *program, struct cj_spawned *out)
{
	const char *const argv[] = { program, "--version", NULL };
	struct cj_ahead *h = f->ahead;

	if (h != NULL && h->asked != NULL && strcmp(h->path, program) == 0)
		return cj_child_end(f, h->asked, out);
	return cj_spawn(f, argv, "", 0, out);
}

static const char *
ask_version(struct cj_work *f, struct cj_arena *a, const char *program)
{
	const char *memo = memo_path(f, program);
	const char *version = recall(f, a, memo);
	struct cj_spawned out;

	if (version != NULL)
		return version;
	if (answer(f, program, &out) != CJ_SPAWN_OK)
		return NULL;
	version = parse_version(a, out.out);
	if (version != NULL)
		remember(f, memo, version);
	return version;
}

/* ---- choosing ------------------------------------------------------------ */

static const char *
ptxas_path(struct cj_arena *a)
{
	return cj_find_program(a, "CUTEJIT_PTXAS", "ptxas");
}

static bool
find_ptxas(struct cj_work *f, struct cj_arena *a, struct cj_assembler *as)
{
	const char *path = ptxas_path(a);
	const char *version;

	if (path == NULL)
		return false;
	version = ask_version(f, a, path);
	if (version == NULL) {
		cj_log(f->context, CUTEJIT_LOG_WARNING,
		    "%s does not say its version and is not used", path);
		return false;
	}
	as->kind = CJ_ASSEMBLER_PTXAS;
	as->path = path;
	as->name = cj_printf(a, "ptxas %s", version);
	return true;
}

static bool
find_nvjitlink(struct cj_arena *a, struct cj_assembler *as)
{
	unsigned major, minor;

	as->library = cj_nvjitlink_open(a, &major, &minor);
	if (as->library == NULL)
		return false;
	as->kind = CJ_ASSEMBLER_NVJITLINK;
	as->path = "libnvJitLink";
	as->name = cj_printf(a, "nvJitLink %u.%u", major, minor);
	return true;
}

static bool
is_word(const char *word)
{
	const char *given = cj_env("CUTEJIT_ASSEMBLER");

	return given != NULL && strcmp(given, word) == 0;
}

static void
choose(struct cj_work *f, struct cj_arena *a, struct cj_assembler *as)
{
	as->kind = CJ_ASSEMBLER_NONE;
	as->name = as->path = "";
	if (is_word("driver"))
		return;
	if (is_word("nvjitlink"))
		find_nvjitlink(a, as);
	else if (!find_ptxas(f, a, as) && !is_word("ptxas"))
		find_nvjitlink(a, as);
}

/* The context's, if it was looked for already. */
static const struct cj_assembler *
known(struct cutejit_context *c)
{
	const struct cj_assembler *as;

	pthread_mutex_lock(&c->lock);
	as = c->assembler;
	pthread_mutex_unlock(&c->lock);
	return as;
}

/* The context's arena belongs to whoever holds its lock. */
const struct cj_assembler *
cj_assembler_get(struct cj_work *f)
{
	struct cutejit_context *c = f->context;
	struct cj_assembler found = { 0 }, *as;

	if (known(c) != NULL)
		return known(c);
	choose(f, &f->arena, &found);
	cj_defer_lock(f, &c->lock);
	c->arena.recover = &f->recover;
	if (c->assembler == NULL) {
		as = CJ_NEW(&c->arena, struct cj_assembler);
		*as = found;
		as->name = cj_strdup(&c->arena, found.name);
		as->path = cj_strdup(&c->arena, found.path);
		if (found.library != NULL)
			as->library = cj_nvjitlink_copy(&c->arena,
			    found.library);
		c->assembler = as;
	}
	as = c->assembler;
	cj_undefer_lock(f);
	return as;
}

/*
 * In long texts of products of warps, which keep all registers that there are,
 * the first level leaves what the highest one puts into memory, takes a third
 * less time, and makes what is as fast. In shorter ones it takes a third of the
 * time where a loop loads all that it multiplies, little less elsewhere, and
 * what it makes is 3 to 9 % slower: for who says so.
 */
enum { LONG = 98304, FIRST = 1, BEST = 3 };

int
cj_assembler_level(int level, const char *ptx, size_t length)
{
	if (level < BEST)
		return FIRST;
	return length > LONG && strstr(ptx, "mma.sync.") != NULL ? FIRST :
	    BEST;
}

/* The same before there is a PTX: most likely. */
static int
likely_level(int level, const struct cj_module *ir)
{
	enum { BYTES = 28 };	/* of PTX for an instruction, about */
	uint32_t i;

	if (level < BEST)
		return FIRST;
	if ((size_t)ir->insts.len * BYTES <= LONG)
		return BEST;
	for (i = 0; i < ir->insts.len; i++)
		if (ir->insts.at[i].op == CJ_OP_MMA)
			return FIRST;
	return BEST;
}

/* ---- ptxas --------------------------------------------------------------- */

static const char *const *
ptxas_command(struct cj_work *f, const char *path, const struct cj_recipe *r,
    int level)
{
	enum { MOST = 10 };
	const char **argv = CJ_NEWS(&f->arena, const char *, MOST);
	int n = 0;

	argv[n++] = path;
	argv[n++] = cj_printf(&f->arena, "-arch=%s", r->target->name);
	argv[n++] = cj_printf(&f->arena, "-O%d", level);
	argv[n++] = "-v";
	if (r->lineinfo)
		argv[n++] = "-lineinfo";
	argv[n++] = "/dev/stdin";
	argv[n++] = "-o";
	argv[n++] = "/dev/stdout";
	argv[n] = NULL;
	return argv;
}

static enum cj_spawn_status
run_or_await(struct cj_work *f, const struct cj_assembler *as,
    const struct cj_recipe *r, const char *ptx, size_t length,
    struct cj_spawned *s)
{
	cj_ahead_feed(f, r, ptx, length);
	if (f->ahead != NULL && f->ahead->is_fed)
		return cj_child_end(f, f->ahead->begun, s);
	return cj_spawn(f, ptxas_command(f, as->path, r,
	    cj_assembler_level(r->level, ptx, length)), ptx, length, s);
}

static cutejit_status
run_ptxas(struct cj_work *f, const struct cj_assembler *as,
    const struct cj_recipe *r, const char *ptx, size_t length,
    struct cj_arena *a, struct cj_assembly *out)
{
	struct cj_spawned s;

	switch (run_or_await(f, as, r, ptx, length, &s)) {
	case CJ_SPAWN_OK:
		break;
	case CJ_SPAWN_LATE:
		cj_leave(&f->recover, CJ_WHY_DEADLINE, "assembler");
	case CJ_SPAWN_NOT:
		return cj_fail(f, CUTEJIT_LIMIT, CJ_DIAG_MISSING_TOOL,
		    "%s cannot be started: %s", as->path, s.err);
	case CJ_SPAWN_FAILED:
		if (s.signal == SIGKILL)
			return cj_fail(f, CUTEJIT_LIMIT, CJ_DIAG_MEMORY,
			    "%s was killed: there may be too little memory",
			    as->path);
		out->log = *s.err != '\0' ? s.err : cj_printf(a, "it ended "
		    "with %s %d and said nothing", s.signal != 0 ? "signal" :
		    "code", s.signal != 0 ? s.signal : s.code);
		return CUTEJIT_INTERNAL;
	}
	out->cubin = cj_memdup(a, s.out, s.out_length + 1);
	out->length = s.out_length;
	out->properties = s.err;
	return CUTEJIT_OK;
}

cutejit_status
cj_assemble(struct cj_work *f, const struct cj_recipe *r, const char *ptx,
    size_t length, struct cj_arena *a, struct cj_assembly *out)
{
	const struct cj_assembler *as = cj_assembler_get(f);

	memset(out, 0, sizeof *out);
	out->log = out->properties = "";
	switch (as->kind) {
	case CJ_ASSEMBLER_PTXAS:
		return run_ptxas(f, as, r, ptx, length, a, out);
	case CJ_ASSEMBLER_NVJITLINK:
		return cj_nvjitlink_run(f, as->library, r, ptx, length, a,
		    out);
	case CJ_ASSEMBLER_NONE:
		break;
	}
	assert(false && "there is an assembler");
	return CUTEJIT_INTERNAL;
}

/* ---- what is begun before it is needed ----------------------------------- */

static void
drop(struct cj_child **c)
{
	if (*c != NULL)
		cj_child_drop(*c);
	*c = NULL;
}

static void
stop(void *work)
{
	struct cj_work *f = work;

	drop(&f->ahead->asked);
	drop(&f->ahead->begun);
	f->ahead = NULL;
}

void
cj_ahead_begin(struct cj_work *f)
{
	assert(f->ahead == NULL && "one image at a time");
	f->ahead = CJ_NEW(&f->arena, struct cj_ahead);
	cj_defer(f, stop, f);
}

void
cj_ahead_end(struct cj_work *f)
{
	cj_undefer(f);
	stop(f);
}

bool
cj_ahead_ask(struct cj_work *f)
{
	struct cj_ahead *h = f->ahead;
	const char *argv[] = { ptxas_path(&f->arena), "--version", NULL };

	if (known(f->context) != NULL || argv[0] == NULL
	    || is_word("driver") || is_word("nvjitlink")
	    || !cj_store_is_empty(f->context->store)
	    || recall(f, &f->arena, memo_path(f, argv[0])) != NULL)
		return false;
	h->path = argv[0];
	h->asked = cj_child_begin(f, argv);
	if (h->asked != NULL && !cj_child_feed(h->asked, "", 0))
		h->asked = NULL;
	return h->asked != NULL;
}

void
cj_ahead_start(struct cj_work *f, const struct cj_recipe *r,
    const struct cj_module *ir)
{
	const struct cj_assembler *as = known(f->context);
	struct cj_ahead *h = f->ahead;
	const char *path;

	if (h == NULL || h->begun != NULL)
		return;
	path = as == NULL ? h->path : as->kind == CJ_ASSEMBLER_PTXAS ?
	    as->path : NULL;
	if (path == NULL)
		return;
	h->level = likely_level(r->level, ir);
	h->begun = cj_child_begin(f, ptxas_command(f, path, r, h->level));
}

void
cj_ahead_feed(struct cj_work *f, const struct cj_recipe *r, const char *ptx,
    size_t length)
{
	struct cj_ahead *h = f->ahead;

	if (h == NULL || h->begun == NULL || h->is_fed)
		return;
	h->is_fed = h->level == cj_assembler_level(r->level, ptx, length)
	    && cj_child_feed(h->begun, ptx, length);
	if (!h->is_fed)
		drop(&h->begun);
}
