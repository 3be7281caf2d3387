/*
 * Nested tuples of integers: shapes, strides, coordinates, tilers.
 *
 * Immutable and shared, so a tuple is a graph rather than a tree: the number
 * of its leaves is kept and limited, and no walk can take longer than that.
 */
#include "layout_priv.h"

#include <stdio.h>

void
cj_algebra_init(struct cj_algebra *al, struct cj_arena *a,
    struct cj_symtab *t)
{
	memset(al, 0, sizeof *al);
	al->arena = a;
	al->sym = t;
}

void *
cj_refuse(struct cj_algebra *al, enum cj_refusal kind, const char *help,
    const char *format, ...)
{
	struct cj_strbuf b;
	va_list ap;

	assert(kind != CJ_REFUSED_NOT);
	cj_strbuf_init(&b, al->arena);
	va_start(ap, format);
	cj_strbuf_vprintf(&b, format, ap);
	va_end(ap);
	al->why = (struct cj_why_not){ kind, b.text, help };
	return NULL;
}

const void *
cj_checked(struct cj_algebra *al, const void *result)
{
	if (!al->sym->overflow)
		return result;
	al->sym->overflow = false;
	return cj_refuse(al, CJ_REFUSED_OVERFLOW, NULL,
	    "an extent, stride or offset does not fit in 64 bits");
}

/* ---- making ------------------------------------------------------------ */

const struct cj_tuple *
cj_tuple_int(struct cj_algebra *al, struct cj_int i)
{
	struct cj_tuple *t = CJ_NEW(al->arena, struct cj_tuple);

	t->kind = CJ_TUPLE_INT;
	t->value = i;
	t->leaves = 1;
	t->has = cj_is_known(i) ? 0 : CJ_HAS_SYMBOL;
	return t;
}

const struct cj_tuple *
cj_tuple_known(struct cj_algebra *al, int64_t value)
{
	return cj_tuple_int(al, cj_known(value));
}

const struct cj_tuple *
cj_numbers(struct cj_algebra *al, int64_t a, int64_t b)
{
	const struct cj_tuple *both[2];

	both[0] = cj_tuple_known(al, a);
	both[1] = cj_tuple_known(al, b);
	return cj_tuple_make(al, both, 2);
}

const struct cj_tuple *
cj_tuple_any(struct cj_algebra *al)
{
	struct cj_tuple *t = CJ_NEW(al->arena, struct cj_tuple);

	t->kind = CJ_TUPLE_ANY;
	t->leaves = 1;
	t->has = CJ_HAS_ANY;
	return t;
}

const struct cj_tuple *
cj_tuple_basis(struct cj_algebra *al, struct cj_int scale,
    const uint8_t *path, unsigned length)
{
	struct cj_tuple *t;

	assert(length == 0 || path != NULL);
	if (length > CJ_MAX_PATH)
		return cj_refuse(al, CJ_REFUSED_LIMIT, NULL,
		    "a unit stride of %u levels is beyond the limit of %d",
		    length, (int)CJ_MAX_PATH);
	if (length == 0)
		return cj_tuple_int(al, scale);
	t = CJ_NEW(al->arena, struct cj_tuple);
	t->kind = CJ_TUPLE_BASIS;
	t->value = scale;
	t->leaves = 1;
	t->path_length = (uint8_t)length;
	memcpy(t->path, path, length);
	t->has = CJ_HAS_BASIS;
	if (!cj_is_known(scale))
		t->has |= CJ_HAS_SYMBOL;
	return t;
}

const struct cj_tuple *
cj_tuple_layout(struct cj_algebra *al, const struct cj_layout *l)
{
	struct cj_tuple *t = CJ_NEW(al->arena, struct cj_tuple);

	assert(l != NULL);
	t->kind = CJ_TUPLE_LAYOUT;
	t->layout = l;
	t->leaves = 1;
	t->has = CJ_HAS_LAYOUT;
	return t;
}

const struct cj_tuple *
cj_tuple_make(struct cj_algebra *al, const struct cj_tuple *const *at,
    uint32_t rank)
{
	struct cj_tuple *t;
	uint64_t leaves = 0;
	unsigned depth = 0;
	uint8_t has = 0;
	uint32_t i;

	if (rank > CJ_MAX_RANK)
		return cj_refuse(al, CJ_REFUSED_LIMIT, NULL,
		    "a tuple of rank %u is beyond the limit of %d",
		    rank, (int)CJ_MAX_RANK);
	for (i = 0; i < rank; i++) {
		assert(at[i] != NULL);
		leaves += at[i]->leaves;
		depth = at[i]->depth > depth ? at[i]->depth : depth;
		has |= at[i]->has;
	}
	if (depth + 1 > CJ_MAX_DEPTH)
		return cj_refuse(al, CJ_REFUSED_LIMIT, NULL,
		    "a tuple nested deeper than %d levels",
		    (int)CJ_MAX_DEPTH);
	if (leaves > CJ_MAX_LEAVES)
		return cj_refuse(al, CJ_REFUSED_LIMIT, NULL,
		    "a tuple of more than %d integers", (int)CJ_MAX_LEAVES);
	t = CJ_NEW(al->arena, struct cj_tuple);
	t->kind = CJ_TUPLE_TUPLE;
	t->rank = rank;
	t->at = cj_memdup(al->arena, at, rank * sizeof *at);
	t->leaves = (uint32_t)leaves;
	t->depth = (uint8_t)(depth + 1);
	t->has = has;
	return t;
}

void
cj_list_init(struct cj_list *list)
{
	list->at = list->small;
	list->count = 0;
	list->cap = CJ_LENGTH(list->small);
}

void
cj_list_add(struct cj_algebra *al, struct cj_list *list,
    const struct cj_tuple *t)
{
	assert(t != NULL);
	assert(list->count <= list->cap);
	if (list->count == list->cap) {
		list->at = cj_regrow(al->arena, list->at,
		    list->cap * sizeof *list->at,
		    list->cap * 2 * sizeof *list->at);
		list->cap *= 2;
	}
	list->at[list->count++] = t;
}

const struct cj_tuple *
cj_list_tuple(struct cj_algebra *al, const struct cj_list *list)
{
	return cj_tuple_make(al, list->at, list->count);
}

const struct cj_tuple *
cj_list_unwrap(struct cj_algebra *al, const struct cj_list *list)
{
	return list->count == 1 ? list->at[0] : cj_list_tuple(al, list);
}

/* ---- looking ----------------------------------------------------------- */

uint32_t
cj_tuple_rank(const struct cj_tuple *t)
{
	return cj_is_leaf(t) ? 1 : t->rank;
}

uint32_t
cj_tuple_depth(const struct cj_tuple *t)
{
	return t->depth;
}

const struct cj_tuple *
cj_tuple_get(const struct cj_tuple *t, uint32_t mode)
{
	if (cj_is_leaf(t))
		return mode == 0 ? t : NULL;
	return mode < t->rank ? t->at[mode] : NULL;
}

struct cj_int
cj_tuple_product(struct cj_algebra *al, const struct cj_tuple *t)
{
	struct cj_int p = cj_known(1);
	uint32_t i;

	switch (t->kind) {
	case CJ_TUPLE_INT:
		return t->value;
	case CJ_TUPLE_TUPLE:
		for (i = 0; i < t->rank; i++)
			p = cj_int_mul(al->sym, p,
			    cj_tuple_product(al, t->at[i]));
		return p;
	case CJ_TUPLE_LAYOUT:
		return cj_tuple_product(al, t->layout->shape);
	case CJ_TUPLE_ANY:
	case CJ_TUPLE_BASIS:
		break;
	}
	return p;
}

bool
cj_tuple_same(const struct cj_tuple *a, const struct cj_tuple *b)
{
	uint32_t i;

	if (a == b)
		return true;
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case CJ_TUPLE_INT:
		return cj_int_same(a->value, b->value);
	case CJ_TUPLE_ANY:
		return true;
	case CJ_TUPLE_BASIS:
		return cj_int_same(a->value, b->value)
		    && a->path_length == b->path_length
		    && memcmp(a->path, b->path, a->path_length) == 0;
	case CJ_TUPLE_LAYOUT:
		return cj_layout_same(a->layout, b->layout);
	case CJ_TUPLE_TUPLE:
		break;
	}
	if (a->rank != b->rank || a->leaves != b->leaves)
		return false;
	for (i = 0; i < a->rank; i++) {
		if (!cj_tuple_same(a->at[i], b->at[i]))
			return false;
	}
	return true;
}

bool
cj_tuple_congruent(const struct cj_tuple *a, const struct cj_tuple *b)
{
	uint32_t i;

	if (cj_is_leaf(a) || cj_is_leaf(b))
		return cj_is_leaf(a) && cj_is_leaf(b);
	if (a == b)
		return true;
	if (a->rank != b->rank || a->leaves != b->leaves)
		return false;
	for (i = 0; i < a->rank; i++) {
		if (!cj_tuple_congruent(a->at[i], b->at[i]))
			return false;
	}
	return true;
}

bool
cj_tuple_weakly_congruent(const struct cj_tuple *a, const struct cj_tuple *b)
{
	uint32_t i;

	if (cj_is_leaf(a))
		return true;
	if (cj_is_leaf(b) || a->rank != b->rank)
		return false;
	for (i = 0; i < a->rank; i++) {
		if (!cj_tuple_weakly_congruent(a->at[i], b->at[i]))
			return false;
	}
	return true;
}

enum cj_truth
cj_tuple_compatible(struct cj_algebra *al, const struct cj_tuple *a,
    const struct cj_tuple *b)
{
	enum cj_truth all = CJ_YES;
	uint32_t i;

	if (cj_is_leaf(a))
		return cj_int_equal(al->sym, cj_tuple_product(al, a),
		    cj_tuple_product(al, b));
	if (cj_is_leaf(b) || a->rank != b->rank)
		return CJ_NO;
	for (i = 0; i < a->rank; i++) {
		enum cj_truth one = cj_tuple_compatible(al, a->at[i],
		    b->at[i]);

		if (one == CJ_NO)
			return CJ_NO;
		if (one == CJ_MAYBE)
			all = CJ_MAYBE;
	}
	return all;
}

bool
cj_tuple_is_known(const struct cj_tuple *t)
{
	return (t->has & CJ_HAS_SYMBOL) == 0;
}

/* ---- changing ---------------------------------------------------------- */

static void
flatten_into(struct cj_algebra *al, struct cj_list *list,
    const struct cj_tuple *t)
{
	uint32_t i;

	if (cj_is_leaf(t)) {
		cj_list_add(al, list, t);
		return;
	}
	for (i = 0; i < t->rank; i++)
		flatten_into(al, list, t->at[i]);
}

const struct cj_tuple *
cj_tuple_flatten(struct cj_algebra *al, const struct cj_tuple *t)
{
	struct cj_list list;

	if (t->depth <= 1)
		return t;
	cj_list_init(&list);
	flatten_into(al, &list, t);
	return cj_list_tuple(al, &list);
}

const struct cj_tuple *
cj_tuple_map(struct cj_algebra *al, const struct cj_tuple *t, cj_leaf_fn *fn,
    void *user)
{
	struct cj_list list;
	uint32_t i;

	if (cj_is_leaf(t))
		return fn(al, t, user);
	cj_list_init(&list);
	for (i = 0; i < t->rank; i++) {
		const struct cj_tuple *x = cj_tuple_map(al, t->at[i], fn,
		    user);

		if (x == NULL)
			return NULL;
		cj_list_add(al, &list, x);
	}
	return cj_list_tuple(al, &list);
}

const struct cj_tuple *
cj_tuple_group(struct cj_algebra *al, const struct cj_tuple *t,
    uint32_t begin, uint32_t end)
{
	struct cj_list all, one;
	const struct cj_tuple *x;
	uint32_t i;

	assert(!cj_is_leaf(t) && begin <= end && end <= t->rank);
	cj_list_init(&all);
	cj_list_init(&one);
	for (i = 0; i < begin; i++)
		cj_list_add(al, &all, t->at[i]);
	for (i = begin; i < end; i++)
		cj_list_add(al, &one, t->at[i]);
	if (begin < end) {
		x = cj_list_tuple(al, &one);
		if (x == NULL)
			return NULL;
		cj_list_add(al, &all, x);
	}
	for (i = end; i < t->rank; i++)
		cj_list_add(al, &all, t->at[i]);
	return cj_list_tuple(al, &all);
}

const struct cj_tuple *
cj_tuple_append(struct cj_algebra *al, const struct cj_tuple *t,
    const struct cj_tuple *x)
{
	struct cj_list list;
	uint32_t i;

	cj_list_init(&list);
	for (i = 0; i < cj_tuple_rank(t); i++)
		cj_list_add(al, &list, cj_tuple_get(t, i));
	cj_list_add(al, &list, x);
	return cj_list_tuple(al, &list);
}

const struct cj_tuple *
cj_tuple_prepend(struct cj_algebra *al, const struct cj_tuple *t,
    const struct cj_tuple *x)
{
	struct cj_list list;
	uint32_t i;

	cj_list_init(&list);
	cj_list_add(al, &list, x);
	for (i = 0; i < cj_tuple_rank(t); i++)
		cj_list_add(al, &list, cj_tuple_get(t, i));
	return cj_list_tuple(al, &list);
}

/* Add what of `t` is kept: the modes beside `_` in order, each whole. */
static bool
slice_into(struct cj_algebra *al, struct cj_list *list,
    const struct cj_tuple *coord, const struct cj_tuple *t,
    enum cj_keep keep)
{
	uint32_t i;

	if (cj_is_leaf(coord)) {
		if ((coord->kind == CJ_TUPLE_ANY) == (keep == CJ_KEEP_ANY))
			cj_list_add(al, list, t);
		return true;
	}
	if (cj_is_leaf(t) || t->rank != coord->rank) {
		cj_refuse(al, CJ_REFUSED_RANK, NULL,
		    "coordinate %s has rank %u, the mode it selects from has"
		    " rank %u", cj_tuple_text(al, coord), coord->rank,
		    cj_tuple_rank(t));
		return false;
	}
	for (i = 0; i < t->rank; i++) {
		if (!slice_into(al, list, coord->at[i], t->at[i], keep))
			return false;
	}
	return true;
}

const struct cj_tuple *
cj_tuple_slice(struct cj_algebra *al, const struct cj_tuple *coord,
    const struct cj_tuple *t, enum cj_keep keep)
{
	struct cj_list list;

	cj_list_init(&list);
	if (cj_is_leaf(coord)
	    && (coord->kind == CJ_TUPLE_ANY) == (keep == CJ_KEEP_ANY))
		return t;
	if (!slice_into(al, &list, coord, t, keep))
		return NULL;
	return cj_list_tuple(al, &list);
}
