/*
 * Compare what a program writes, bit for bit: as it was elaborated, behind
 * each pass, and with its numbers given instead of known. Whatever changes it
 * is a fault of elaboration or of the pass that is named. The IR reads back as
 * it was printed all the way.
 *
 * CUTE_SHOW=1 in the environment prints the program, and then the IR behind
 * the pass that changed it.
 */
#include "fuzz.h"
#include "program_run.h"

#include <stdlib.h>

enum { MEMORY = 512 << 20 };

struct differ {
	struct cj_arena *arena;
	struct cj_recover *recover;
	const struct program *program;
	struct program_memory *wanted;
	const char *before;		/* the last pass, and its text */
};

static const char *
text_of(struct cj_arena *a, const struct cj_module *m)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, a);
	cj_module_print(&b, m);
	return b.text;
}

static void
must_read_back(struct differ *d, const struct cj_module *m, const char *when)
{
	const char *once = text_of(d->arena, m), *twice;
	struct cj_strbuf error;
	struct cj_module *again;

	cj_strbuf_init(&error, d->arena);
	again = cj_module_read(d->arena, once, strlen(once), &error);
	if (again == NULL)
		cj_bug(d->recover, "behind %s: %.160s", when, error.text);
	again->sources = m->sources;	/* places are named by them */
	twice = text_of(d->arena, again);
	if (strcmp(once, twice) != 0 && getenv("CUTE_SHOW") != NULL)
		fprintf(stderr, "%s\n---- as it is read ----\n%s\n", once,
		    twice);
	if (strcmp(once, twice) != 0)
		cj_bug(d->recover, "behind %s the IR reads back as another",
		    when);
}

static void
must_write_same(struct differ *d, struct cj_module *m, const char *when)
{
	struct program_memory *got = program_memory_make(d->arena, d->program);
	const char *wrong = program_run(d->arena, m, d->program, got);

	if (wrong == NULL)
		wrong = program_difference(d->arena, d->program, d->wanted,
		    got, PROGRAM_NANS_BY_BITS);
	if (wrong == NULL)
		return;
	if (getenv("CUTE_SHOW") != NULL)
		fprintf(stderr, "%s\n---- behind %s ----\n%s\n", d->before,
		    when, text_of(d->arena, m));
	cj_bug(d->recover, "behind %s: %.180s", when, wrong);
}

static void
after_pass(void *user, const struct cj_pass *pass, struct cj_module *m)
{
	struct differ *d = user;
	const char *text = text_of(d->arena, m);

	if (strcmp(text, d->before) == 0)
		return;
	must_read_back(d, m, pass->name);
	must_write_same(d, m, pass->name);
	d->before = text;
}

/* What is written by a text of the program as it is elaborated is what it is
 * compared with, or has to be the same. */
static void
compare(struct cj_arena *a, struct cj_recover *r, const struct program *p,
    struct program_memory **wanted)
{
	struct cj_module *m = program_elaborate(a, r, p);
	struct differ d = { .arena = a, .recover = r, .program = p };
	const char *wrong;

	must_read_back(&d, m, "elaboration");
	d.before = text_of(a, m);
	if (*wanted == NULL) {
		*wanted = program_memory_make(a, p);
		wrong = program_run(a, m, p, *wanted);
		if (wrong != NULL)
			cj_bug(r, "%.200s", wrong);
		d.wanted = *wanted;
	} else {
		d.wanted = *wanted;
		must_write_same(&d, m, "elaboration of given numbers");
	}
	cj_passes_run(m, r, after_pass, &d);
}

static void
run(struct cj_arena *a, struct cj_recover *r, const uint8_t *data,
    size_t size)
{
	struct program_memory *wanted = NULL;
	enum program_numbers n;

	for (n = PROGRAM_KNOWN; n <= PROGRAM_GIVEN; n++) {
		struct program *p = CJ_NEW(a, struct program);

		program_make(a, data, size, n, p);
		if (getenv("CUTE_SHOW") != NULL)
			fprintf(stderr, "%s\n", p->text);
		compare(a, r, p, &wanted);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_run(run, MEMORY, data, size);
}
