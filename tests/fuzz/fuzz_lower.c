/*
 * Compare what a program writes on the executor with what LLVM's text of it
 * writes, which the generator and LLVM's passes have made: at each level of
 * optimisation, of the IR as it was elaborated and behind all of its passes.
 * All NaNs count as one.
 *
 * CUTE_SHOW=1 in the environment prints the program and that text.
 */
#include "codegen/codegen.h"
#include "fuzz.h"
#include "lowered.h"
#include "program_run.h"

#include <stdlib.h>

enum { MEMORY = 512 << 20 };

/* A kernel's arguments are the registers of its leaves: addresses, and the
 * numbers that the host function gave to the launch. */
static void
arguments_of(const struct cj_module *m, const struct program *p,
    struct program_memory *memory, const uint64_t *values,
    struct lowered_launch *l)
{
	const struct cj_function *fn = &m->functions.at[2];
	struct lowered_argument *to = l->arguments;
	uint32_t i, n;

	l->kernel = fn->name;
	l->grid = PROGRAM_BLOCKS;
	l->threads = (unsigned)fn->block[0];
	for (i = 0; i < fn->leaves.len; i++) {
		const struct cj_leaf *leaf = &fn->leaves.at[i];
		unsigned width = cj_kind_bits(cj_type_kind(leaf->type));

		if (leaf->kind == CJ_LEAF_OBJECT) {
			n = m->objects.at[leaf->object].parameter;
			to->bits = (uintptr_t)memory->at[n];
			to++->bytes = program_bytes(&p->parameters[n]);
			continue;
		}
		for (n = 0; n < cj_type_count(leaf->type); n++)
			to++->bits = *values++ & (width >= 64 ? UINT64_MAX :
			    ((uint64_t)1 << width) - 1);
	}
	l->count = (uint32_t)(to - l->arguments);
}

static void
compare(struct cj_arena *a, struct cj_recover *r, const struct program *p,
    struct cj_module *m, int level)
{
	const struct cj_codegen_options o = { .level = level,
	    .want_llvm = true };
	struct program_memory *wanted = program_memory_make(a, p);
	struct program_memory *got = program_memory_make(a, p);
	struct lowered_launch *l = CJ_NEW(a, struct lowered_launch);
	struct cj_codegen_result out = { 0 };
	struct cj_strbuf text;
	const char *wrong = program_run(a, m, p, wanted);

	if (wrong != NULL)
		cj_bug(r, "%.200s", wrong);
	if (cj_codegen_ptx(a, m, &o, &out) != CJ_CODEGEN_OK)
		cj_bug(r, "level %d: %.200s", level, out.error);
	arguments_of(m, p, got, wanted->values, l);
	cj_strbuf_init(&text, a);
	cj_module_print(&text, m);
	if (getenv("CUTE_SHOW") != NULL)
		fprintf(stderr, "---- level %d ----\n%s\n%s\n", level,
		    text.text, out.llvm);
	wrong = lowered_run(a, out.llvm, l);
	if (wrong == NULL)
		wrong = program_difference(a, p, wanted, got,
		    PROGRAM_NANS_ALIKE);
	if (wrong != NULL)
		cj_bug(r, "level %d: %.200s", level, wrong);
}

static void
run(struct cj_arena *a, struct cj_recover *r, const uint8_t *data,
    size_t size)
{
	static const int levels[] = { 0, 2, 1, 3 };
	struct program *p = CJ_NEW(a, struct program);
	unsigned how = size == 0 ? 0 : data[size - 1];
	struct cj_module *m;

	program_make(a, data, size, how & 1 ? PROGRAM_GIVEN : PROGRAM_KNOWN,
	    p);
	if (getenv("CUTE_SHOW") != NULL)
		fprintf(stderr, "%s\n", p->text);
	m = program_elaborate(a, r, p);
	compare(a, r, p, m, levels[how >> 1 & 3]);
	cj_passes_run(m, r, NULL, NULL);
	compare(a, r, p, m, 3);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_run(run, MEMORY, data, size);
}
