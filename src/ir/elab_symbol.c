/*
 * Symbols: integers that the launch, a loop or a thread has, and what is known
 * of them.
 */
#include "elab_origin.h"

static struct cj_int
add_symbol(struct cj_elab *el, const struct cj_symbol_info *info,
    const char *name, const int64_t bounds[3])
{
	*cj_push(el->arena, &el->symbols) = *info;
	return cj_symbol(&el->sym, name == NULL ? 0 :
	    cj_elab_intern(el, name), el->symbols.len - 1, bounds[0],
	    bounds[1], bounds[2]);
}

struct cj_int
cj_elab_symbol(struct cj_elab *el, cj_ref ref, const char *name, int64_t lo,
    int64_t hi, int64_t divisor)
{
	const int64_t bounds[3] = { lo, hi, divisor };
	struct cj_symbol_info info = { .source = CJ_SOURCE_REF, .ref = ref };

	assert(el->em != NULL && lo <= hi);
	info.level = el->em->level;
	return add_symbol(el, &info, name, bounds);
}

void
cj_elab_symbol_name(struct cj_elab *el, struct cj_int symbol, cj_name name)
{
	struct cj_term *t;

	if (cj_is_known(symbol) || name == 0)
		return;
	t = &el->sym.terms.at[symbol.term];
	if (t->kind == CJ_TERM_SYMBOL && t->name == 0)
		t->name = name;
}

void
cj_elab_symbol_below(struct cj_elab *el, struct cj_int symbol,
    struct cj_int below)
{
	const struct cj_term *t;

	if (cj_is_known(symbol))
		return;
	t = cj_term_get(&el->sym, symbol);
	if (t->kind == CJ_TERM_SYMBOL)
		el->symbols.at[t->symbol].below = below;
}

struct cj_int
cj_elab_index_symbol(struct cj_elab *el, cj_ref index, const char *name,
    int64_t first, struct cj_int below)
{
	int64_t hi = cj_int_range(&el->sym, below).hi;
	struct cj_int i = cj_elab_symbol(el, index, name, first,
	    hi > first ? hi - 1 : first, 1);

	cj_elab_symbol_below(el, i, below);
	return i;
}

void
cj_elab_symbol_counts(struct cj_elab *el, struct cj_int symbol,
    struct cj_int first)
{
	struct cj_symbol_info *s;
	const struct cj_term *t;

	if (cj_is_known(symbol))
		return;
	t = cj_term_get(&el->sym, symbol);
	assert(t->kind == CJ_TERM_SYMBOL && "an index is a symbol");
	s = &el->symbols.at[t->symbol];
	s->counts = true;
	s->first = first;
}

struct cj_int
cj_elab_leaf_symbol(struct cj_elab *el, const struct cj_leaf *leaf,
    int64_t lo, int64_t hi, int64_t divisor)
{
	const int64_t bounds[3] = { lo, hi, divisor };
	struct cj_symbol_info info = { .level = 1, .source = CJ_SOURCE_LEAF,
	    .leaf = *leaf };

	return add_symbol(el, &info, leaf->name, bounds);
}

struct cj_int
cj_elab_step(struct cj_elab *el, const char *name, int64_t divisor)
{
	const int64_t bounds[3] = { INT64_MIN, INT64_MAX, divisor };
	struct cj_symbol_info info = { .level = el->em == NULL ? 1 :
	    el->em->level, .source = CJ_SOURCE_STEP };

	return add_symbol(el, &info, name, bounds);
}

/* The extent that bounds an index of the launch; 0: not known. */
static struct cj_int
special_bound(const struct cj_elab *el, enum cj_special what)
{
	switch (what) {
	case CJ_SPECIAL_THREAD_X: case CJ_SPECIAL_THREAD_Y:
	case CJ_SPECIAL_THREAD_Z:
		return el->block_extent[what - CJ_SPECIAL_THREAD_X];
	case CJ_SPECIAL_BLOCK_X: case CJ_SPECIAL_BLOCK_Y:
	case CJ_SPECIAL_BLOCK_Z:
		return el->grid_extent[what - CJ_SPECIAL_BLOCK_X];
	case CJ_SPECIAL_LANE:
		return cj_known(32);
	case CJ_SPECIAL_WARP:
		return cj_known(CJ_MAX_BLOCK_THREADS / 32);
	case CJ_SPECIAL_BLOCK_DIM_X: case CJ_SPECIAL_BLOCK_DIM_Y:
	case CJ_SPECIAL_BLOCK_DIM_Z: case CJ_SPECIAL_GRID_DIM_X:
	case CJ_SPECIAL_GRID_DIM_Y: case CJ_SPECIAL_GRID_DIM_Z:
	case CJ_SPECIAL_BLOCK_RANK: case CJ_SPECIAL_COUNT:
		break;
	}
	return cj_known(0);
}

struct cj_int
cj_elab_special(struct cj_elab *el, enum cj_special what)
{
	static const char *const names[CJ_SPECIAL_COUNT] = {
		"thread_idx.x", "thread_idx.y", "thread_idx.z",
		"block_idx.x", "block_idx.y", "block_idx.z",
		"block_dim.x", "block_dim.y", "block_dim.z",
		"grid_dim.x", "grid_dim.y", "grid_dim.z",
		"lane_idx", "warp_idx", "block_rank"
	};
	struct cj_symbol_info info = { .level = 2,
	    .source = CJ_SOURCE_SPECIAL, .number = what };
	int64_t bounds[3] = { 0, INT32_MAX - 1, 1 };

	assert(el->em != NULL && el->em->level == 2);
	if (!cj_is_value(el->em->special[what], 0))
		return el->em->special[what];
	info.below = special_bound(el, what);
	if (!cj_is_value(info.below, 0)) {
		struct cj_range r = cj_int_range(&el->sym, info.below);

		if (r.hi - 1 < bounds[1] && r.hi > 0)
			bounds[1] = r.hi - 1;
	}
	if (cj_is_value(info.below, 1))
		return cj_known(0);
	el->em->special[what] = add_symbol(el, &info, names[what], bounds);
	return el->em->special[what];
}

struct cj_int
cj_elab_thread_number(struct cj_elab *el)
{
	struct cj_int n = cj_elab_special(el, CJ_SPECIAL_THREAD_Z);

	n = cj_int_mul(&el->sym, n, el->block_extent[1]);
	n = cj_int_add(&el->sym, n, cj_elab_special(el,
	    CJ_SPECIAL_THREAD_Y));
	n = cj_int_mul(&el->sym, n, el->block_extent[0]);
	return cj_int_add(&el->sym, n, cj_elab_special(el,
	    CJ_SPECIAL_THREAD_X));
}

struct cj_int
cj_elab_fact(struct cj_elab *el, struct cj_device_ask ask, const char *name)
{
	static const int64_t bounds[3] = { 1, 1 << 20, 1 };
	struct cj_symbol_info info = { .level = 1, .source = CJ_SOURCE_FACT,
	    .number = cj_device_attr(ask) };

	return add_symbol(el, &info, name, bounds);
}

/* ---- bounds that are terms ----------------------------------------------- */

static struct cj_int at_most(struct cj_elab *el, struct cj_int i);

/* A value that is at least `i`, with the last value of each bounded symbol in
 * its place; `i` itself where nothing is known. */
static struct cj_int
product_at_most(struct cj_elab *el, const struct cj_term *t)
{
	struct cj_int p = cj_known(1);
	uint32_t count = t->count, i;
	const uint32_t *operand = t->operand;

	for (i = 0; i < count; i++) {
		struct cj_int o = { 0, operand[i] };

		if (cj_int_range(&el->sym, o).lo < 0)
			return cj_known(INT64_MIN);
		p = cj_int_mul(&el->sym, p, at_most(el, o));
	}
	return p;
}

/* A term that is nowhere less: bounded symbols at their last value. */
static struct cj_int
at_most(struct cj_elab *el, struct cj_int i)
{
	struct cj_term t;
	struct cj_int sum, x, most;
	uint32_t n;

	if (cj_is_known(i))
		return i;
	t = *cj_term_get(&el->sym, i);
	if (t.kind == CJ_TERM_SYMBOL) {
		most = el->symbols.at[t.symbol].below;
		return cj_is_value(most, 0) ? i :
		    cj_int_sub(&el->sym, most, cj_known(1));
	}
	if (t.kind == CJ_TERM_PRODUCT) {
		most = product_at_most(el, &t);
		return cj_is_known(most) ? i : most;
	}
	if (t.kind != CJ_TERM_SUM)
		return i;
	sum = cj_known(t.constant);
	for (n = 0; n < t.count; n++) {
		x.value = 0;
		x.term = t.addend[n].term;
		if (t.addend[n].factor > 0)
			x = at_most(el, x);
		sum = cj_int_add(&el->sym, sum, cj_int_mul(&el->sym,
		    cj_known(t.addend[n].factor), x));
	}
	return sum;
}

bool
cj_elab_proves_less(struct cj_elab *el, struct cj_int a, struct cj_int b)
{
	struct cj_int most;

	if (cj_int_less(&el->sym, a, b) == CJ_YES)
		return true;
	most = at_most(el, a);
	return !cj_int_same(most, a) &&
	    cj_int_less(&el->sym, most, b) == CJ_YES;
}
