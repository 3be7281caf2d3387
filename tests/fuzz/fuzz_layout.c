/*
 * The reader of layouts and every operation, on arbitrary bytes.
 *
 * The first byte picks how the rest is used: as a file of vectors, as an
 * operation with arguments separated by newlines, whose known integers may
 * become symbols, or as a layout for the calculator. Nothing may fault, leave
 * the compiler or run long.
 */
#include <stdlib.h>

#include "base/base.h"
#include "layout/layout_check.h"
#include "layout/layout_draw.h"

enum { MAX_TEXT = 4096 };

static const char *const operations[] = {
#define CHECK(name, rule, function, least, most)	#name,
#define TILED(name, least, most)			#name,
#include "layout/check_op.def"
};

static void
run_file(struct cj_arena *a, const char *text, size_t length)
{
	struct cj_check_counts counts = { 0, 0, 0 };
	struct cj_strbuf out;
	struct cj_arena report;

	cj_arena_init(&report, a->recover, NULL);
	report.limit = 64u << 20;
	cj_strbuf_init(&out, &report);
	cj_layout_check(a, text, length, "fuzz", &out, &counts);
	cj_arena_fini(&report);
}

/* Integers of a tuple become symbols with them as value and divisor. */
static const struct cj_tuple *
to_symbol(struct cj_algebra *al, const struct cj_tuple *leaf, void *user)
{
	(void)user;
	if (leaf->kind != CJ_TUPLE_INT || !cj_is_known(leaf->value)
	    || leaf->value.value < 1 || leaf->value.value % 3 != 0)
		return leaf;
	return cj_tuple_int(al, cj_symbol(al->sym, 0, al->sym->terms.len,
	    1, INT64_MAX, leaf->value.value));
}

static void
run_operation(struct cj_arena *a, const char *name, char *text,
    bool symbols)
{
	const struct cj_check_op *op = cj_check_op_find(name);
	struct cj_datum arg[CJ_MAX_ARGS] = { 0 }, out;
	struct cj_symtab sym;
	struct cj_algebra al;
	struct cj_strbuf b;
	uint32_t n = 0;
	char *next;

	cj_symtab_init(&sym, a, NULL);
	cj_algebra_init(&al, a, &sym);
	for (; text != NULL && n < op->most; text = next) {
		next = strchr(text, '\n');
		if (next != NULL)
			*next++ = '\0';
		if (!cj_datum_read(&al, text, strlen(text), &arg[n]))
			return;
		if (symbols && arg[n].kind == CJ_DATUM_TUPLE)
			arg[n].tuple = cj_tuple_map(&al, arg[n].tuple,
			    to_symbol, NULL);
		if (symbols && arg[n].kind == CJ_DATUM_LAYOUT
		    && !arg[n].layout->is_composed
		    && arg[n].layout->offset == NULL)
			arg[n].layout = cj_layout_make(&al, cj_tuple_map(&al,
			    arg[n].layout->shape, to_symbol, NULL),
			    cj_tuple_map(&al, arg[n].layout->stride,
			    to_symbol, NULL));
		if ((arg[n].kind == CJ_DATUM_TUPLE && arg[n].tuple == NULL)
		    || (arg[n].kind == CJ_DATUM_LAYOUT
		    && arg[n].layout == NULL))
			return;
		n++;
	}
	if (n < op->least)
		return;
	if (!op->fn(&al, arg, n, &out)) {
		if (al.why.kind == CJ_REFUSED_NOT)
			abort();
		return;
	}
	if (sym.overflow)
		abort();
	cj_strbuf_init(&b, a);
	cj_datum_print(&b, &al, &out);
}

/* A layout is read as it is printed; its facts; its picture. */
static void
run_calculator(struct cj_arena *a, const char *text, size_t length)
{
	struct cj_picture picture = { .kind = CJ_DRAW_BANKS };
	const struct cj_layout *l, *again;
	struct cj_symtab sym;
	struct cj_algebra al;
	struct cj_strbuf b;
	const char *printed;

	cj_symtab_init(&sym, a, NULL);
	cj_algebra_init(&al, a, &sym);
	l = cj_layout_read(&al, text, length);
	if (l == NULL)
		return;
	cj_strbuf_init(&b, a);
	cj_layout_facts(&b, &al, l);
	if (sym.overflow)
		abort();
	al.why.kind = CJ_REFUSED_NOT;
	picture.layout = l;
	if (!cj_layout_draw(&b, &al, &picture, 1, CJ_DRAW_TEXT)
	    && al.why.kind == CJ_REFUSED_NOT)
		abort();
	if (l->offset != NULL && !l->is_composed)
		return;		/* written with a +, which is an expression */
	printed = cj_layout_text(&al, l);
	again = cj_layout_read(&al, printed, strlen(printed));
	if (again == NULL || strcmp(cj_layout_text(&al, again), printed) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cj_recover r = { .why = CJ_WHY_NONE };
	struct cj_arena a;
	char *text;

	if (size < 2 || size > MAX_TEXT)
		return 0;
	cj_arena_init(&a, &r, NULL);
	a.limit = 256u << 20;
	if (CJ_RECOVER(&r)) {
		/* only for want of memory */
		if (r.why != CJ_WHY_MEMORY)
			abort();
		cj_arena_fini(&a);
		return 0;
	}
	text = cj_strndup(&a, (const char *)data + 1, size - 1);
	if (data[0] < 64)
		run_file(&a, text, size - 1);
	else if (data[0] == UINT8_MAX)
		run_calculator(&a, text, size - 1);
	else
		run_operation(&a, operations[data[0] % CJ_LENGTH(
		    operations)], text, data[0] >= 160);
	cj_arena_fini(&a);
	return 0;
}
