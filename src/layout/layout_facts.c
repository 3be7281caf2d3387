/*
 * What the calculator says of a layout: sizes, kinds of functions, vectors.
 */
#include "layout_priv.h"

static const char *const answers[] = {
	[CJ_NO] = "no", [CJ_YES] = "yes", [CJ_MAYBE] = "not known"
};

enum { MAX_VALUES = 1 << 16 };

/* All values of a layout are in 0 .. size - 1, looked at one by one. */
static enum cj_truth
stays_below_size(struct cj_algebra *al, const struct cj_layout *l)
{
	struct cj_int size = cj_layout_size(al, l), v;
	enum cj_truth truth = CJ_YES;
	int64_t i;

	if (!cj_is_known(size) || size.value > MAX_VALUES)
		return CJ_MAYBE;
	for (i = 0; i < size.value && truth == CJ_YES; i++) {
		struct cj_mark mark = cj_arena_mark(al->arena);

		if (!cj_layout_offset(al, l, cj_tuple_known(al, i), &v)
		    || !cj_is_known(v))
			truth = CJ_MAYBE;
		else if (v.value < 0 || v.value >= size.value)
			truth = CJ_NO;
		cj_arena_release(al->arena, mark);
	}
	return truth;
}

enum cj_truth
cj_layout_bijective(struct cj_algebra *al, const struct cj_layout *l)
{
	enum cj_truth injective = cj_layout_injective(al, l);
	enum cj_truth same = cj_int_equal(al->sym, cj_layout_size(al, l),
	    cj_layout_cosize(al, l));
	struct cj_modes m;
	uint32_t i;

	if (injective != CJ_YES)
		return injective;
	if (l->is_composed || l->offset != NULL)
		return stays_below_size(al, l);
	cj_modes_init(&m);
	cj_modes_flatten(al, &m, l->shape, l->stride);
	for (i = 0; i < m.count; i++) {
		assert(m.at[i].stride->kind == CJ_TUPLE_INT);
		if (cj_int_range(al->sym, m.at[i].stride->value).lo < 0
		    && !cj_is_value(m.at[i].shape, 1))
			return stays_below_size(al, l);
	}
	return same;
}

/* The values are 0, 1, 2 ... in the order of the index. */
static enum cj_truth
is_contiguous(struct cj_algebra *al, const struct cj_layout *l)
{
	const struct cj_tuple *size = cj_tuple_int(al, cj_layout_size(al, l));

	return cj_layout_equivalent(al, l, cj_layout_of(al, size,
	    cj_tuple_known(al, 1)));
}

/* A number just calculated. */
static void
print_number(struct cj_strbuf *out, struct cj_algebra *al, const char *name,
    struct cj_int value)
{
	cj_strbuf_printf(out, "%-11s ", name);
	if (al->sym->overflow)
		cj_strbuf_puts(out, "beyond 64 bits");
	else
		cj_int_print(out, al->sym, value);
	cj_strbuf_putc(out, '\n');
	al->sym->overflow = false;
}

static void
print_answer(struct cj_strbuf *out, struct cj_algebra *al, const char *name,
    enum cj_truth truth)
{
	cj_strbuf_printf(out, "%-11s %s\n", name,
	    answers[al->sym->overflow ? CJ_MAYBE : truth]);
	al->sym->overflow = false;
}

void
cj_layout_facts(struct cj_strbuf *out, struct cj_algebra *al,
    const struct cj_layout *l)
{
	bool is_basis = (l->stride->has & CJ_HAS_BASIS) != 0;
	int64_t vector;

	assert(!al->sym->overflow);
	print_number(out, al, "size", cj_layout_size(al, l));
	print_number(out, al, "cosize", cj_layout_cosize(al, l));
	print_answer(out, al, "injective", cj_layout_injective(al, l));
	if (is_basis)
		return;
	print_answer(out, al, "bijective", cj_layout_bijective(al, l));
	print_answer(out, al, "contiguous", is_contiguous(al, l));
	if (cj_layout_max_alignment(al, l, &vector))
		cj_strbuf_printf(out, "%-11s %lld\n", "vector",
		    (long long)vector);
	al->sym->overflow = false;
}
