/*
 * sum min max any all reduce: over the registers of a thread, in a fixed
 * order: halves of the remaining elements are combined until one is left;
 * neighbours, where the order of two matters.
 */
#include "elab_collective.h"
#include "elab_tiled.h"

/* ---- registers ----------------------------------------------------------- */

struct modes {
	bool reduced[CJ_MAX_RANK];
	uint32_t rank;
};

static bool
add_mode(struct cj_elab *el, struct cj_span span, struct modes *m,
    const struct cj_value *v)
{
	int64_t n;

	if (!cj_value_to_known(el, span, v, "a mode of \"along\"", &n))
		return false;
	if (n >= 0 && n < m->rank) {
		m->reduced[n] = true;
		return true;
	}
	cj_elab_error(el, CJ_DIAG_WRONG_INDEX, span,
	    "there is no mode %lld, the rank is %u", (long long)n, m->rank);
	return false;
}

static bool
modes_of(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple *shape, const struct cj_value *along,
    struct modes *m)
{
	uint32_t i;

	memset(m, 0, sizeof *m);
	m->rank = cj_tuple_rank(shape);
	if (along->kind != CJ_VALUE_TUPLE)
		return add_mode(el, span, m, along);
	for (i = 0; i < along->tuple->count; i++)
		if (!add_mode(el, span, m, &along->tuple->at[i]))
			return false;
	return true;
}

/* Registers in the order (kept, reduced); the shape of the result. */
static const struct cj_tuple *
sort_registers(struct cj_elab *el, const struct cj_tuple *shape,
    const struct modes *m, uint32_t *at, uint32_t *kept)
{
	const struct cj_tuple *left[CJ_MAX_RANK];
	uint32_t count = cj_shape_count(shape), i, r;

	*kept = 1;
	for (i = 0; i < m->rank; i++) {
		left[i] = m->reduced[i] ? cj_tuple_known(&el->al, 1) :
		    cj_tuple_get(shape, i);
		*kept *= cj_shape_count(left[i]);
	}
	for (r = 0; r < count; r++) {
		uint32_t rest = r, k = 0, k_radix = 1, d = 0, d_radix = 1;

		for (i = 0; i < m->rank; i++) {
			uint32_t e = cj_shape_count(cj_tuple_get(shape, i));

			if (m->reduced[i]) {
				d += rest % e * d_radix;
				d_radix *= e;
			} else {
				k += rest % e * k_radix;
				k_radix *= e;
			}
			rest /= e;
		}
		at[d * *kept + k] = r;
	}
	return cj_is_leaf(shape) ? left[0] :
	    cj_tuple_make(&el->al, left, m->rank);
}

struct cj_value
cj_elab_combined(struct cj_elab *el, const struct cj_combine *c,
    struct cj_value a, struct cj_value b)
{
	const struct cj_value both[2] = { a, b };

	if (c->op != CJ_OP_NONE)
		return cj_elab_apply(el, c->span, c->op, both, 2);
	return cj_elab_call_values(el, c->span, *c->f, both, 2);
}

/* Of `ref` the groups first, first + step, ... as a value: `count` of them, of
 * `kept` registers each. */
static struct cj_value
part(struct cj_elab *el, enum cj_kind k, cj_ref ref, uint32_t kept,
    uint32_t first, uint32_t step, uint32_t count)
{
	uint32_t *at = CJ_NEWS(el->arena, uint32_t, count * kept), i;

	assert(count > 0 && kept > 0);
	for (i = 0; i < count * kept; i++)
		at[i] = (first + i / kept * step) * kept + i % kept;
	count *= kept;
	return cj_value_regs(el, k, count == 1 ? NULL :
	    cj_tuple_known(&el->al, count),
	    cj_elab_permute(el, ref, at, count));
}

/* `kept` results from `turns` groups of `kept` registers each. */
static struct cj_value
halve(struct cj_elab *el, const struct cj_combine *c, enum cj_kind k,
    cj_ref ref, uint32_t kept, uint32_t turns)
{
	struct cj_value v = cj_value_none(), low, high, odd;

	assert(turns >= 1 && kept >= 1);
	while (turns > 1) {
		uint32_t half = turns / 2, step = c->is_ordered ? 2 : 1;

		low = part(el, k, ref, kept, 0, step, half);
		high = part(el, k, ref, kept, c->is_ordered ? 1 : half, step,
		    half);
		v = cj_elab_combined(el, c, low, high);
		if (v.kind == CJ_VALUE_ERROR)
			return v;
		k = cj_value_kind_of(&v);
		if (turns % 2 != 0) {
			odd = part(el, k, ref, kept, 2 * half, 1, 1);
			if (half == 1) {
				v = cj_elab_combined(el, c, v, odd);
			} else {
				cj_ref two[2];

				two[0] = cj_elab_ref(el, &v, k);
				two[1] = cj_elab_ref(el, &odd, k);
				ref = cj_emit(&el->em->b, CJ_OP_CONCAT,
				    cj_type_of(k, (half + 1) * kept), 0, two,
				    2);
				turns = half + 1;
				continue;
			}
		}
		ref = cj_elab_ref(el, &v, k);
		turns = half;
	}
	return cj_value_regs(el, k, kept == 1 ? NULL :
	    cj_tuple_known(&el->al, kept), ref);
}

static struct cj_value
reduce_registers(struct cj_elab *el, const struct cj_combine *c,
    struct cj_value v, const struct cj_value *along)
{
	const struct cj_tuple *shape = cj_value_shape(&v), *left;
	enum cj_kind k = cj_value_kind_of(&v);
	cj_ref ref = cj_elab_ref(el, &v, k);
	uint32_t count = cj_shape_count(shape), kept, *at;
	struct modes m;

	if (along == NULL)
		return halve(el, c, k, ref, 1, count);
	if (!modes_of(el, c->span, shape, along, &m))
		return cj_value_error();
	at = CJ_NEWS(el->arena, uint32_t, count);
	left = sort_registers(el, shape, &m, at, &kept);
	v = halve(el, c, k, cj_elab_permute(el, ref, at, count), kept,
	    count / kept);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	return cj_value_regs(el, cj_value_kind_of(&v), left,
	    cj_elab_ref(el, &v, cj_value_kind_of(&v)));
}

/* ---- one value ----------------------------------------------------------- */

static struct cj_value
reduce_tuple(struct cj_elab *el, const struct cj_combine *c,
    const struct cj_tuple_value *t)
{
	struct cj_value v;
	uint32_t i;

	if (t->count == 0)
		return cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, c->span,
		    "an empty tuple has no result");
	v = t->at[0];
	for (i = 1; i < t->count && v.kind != CJ_VALUE_ERROR; i++)
		v = cj_elab_combined(el, c, v, t->at[i]);
	return v;
}

static struct cj_value reduce_part(struct cj_elab *el,
    const struct cj_combine *c, struct cj_value v,
    const struct cj_value *along);

/* along = (): no modes, so elements stay apart and are only combined with those
 * of other threads. */
static bool
keeps_elements(const struct cj_value *along)
{
	return along != NULL && along->kind == CJ_VALUE_TUPLE &&
	    along->tuple->count == 0;
}

/* Over threads a tuple stays one: an operator reduces each of its elements, a
 * function combines tuples. */
static struct cj_value
reduce_each(struct cj_elab *el, const struct cj_combine *c, struct cj_value v,
    const struct cj_value *along)
{
	struct cj_value *at = CJ_NEWS(el->arena, struct cj_value,
	    v.tuple->count + 1);
	uint32_t i;

	if (c->op == CJ_OP_NONE && along == NULL)
		return cj_elab_reduce_tuple(el, c, v);
	if (c->op == CJ_OP_NONE && !keeps_elements(along))
		return cj_elab_error(el, CJ_DIAG_UNSUPPORTED, c->span,
		    "a function reduces a tuple over all elements, not along "
		    "modes");
	for (i = 0; i < v.tuple->count; i++) {
		at[i] = reduce_part(el, c, cj_elab_read(el, c->span,
		    v.tuple->at[i]), along);
		if (at[i].kind == CJ_VALUE_ERROR)
			return at[i];
		if (at[i].kind == CJ_VALUE_REAL)
			at[i] = cj_elab_coerce(el, c->span, CJ_KIND_F32,
			    at[i]);
	}
	return cj_value_tuple(el, at, v.tuple->names, v.tuple->count);
}

static struct cj_value
reduce_part(struct cj_elab *el, const struct cj_combine *c, struct cj_value v,
    const struct cj_value *along)
{
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	if (!cj_value_is_number(&v))
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, c->span,
		    "numbers are reduced, this is %s", cj_value_what(el, &v));
	return cj_value_shape(&v) == NULL || keeps_elements(along) ? v :
	    reduce_registers(el, c, v, along);
}

static struct cj_value
reduce(struct cj_elab *el, const struct cj_combine *c, struct cj_value v,
    struct cj_args *args)
{
	const struct cj_value *along = cj_arg_named(el, args, "along");
	const struct cj_value *over = cj_arg_named(el, args, "over");

	if (cj_elab_is_array(el, &v))
		return cj_elab_array_reduce(el, c, v, along);
	v = cj_elab_read(el, args->span, v);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	if (v.kind == CJ_VALUE_TUPLE && over != NULL)
		v = reduce_each(el, c, v, along);
	else if (v.kind == CJ_VALUE_TUPLE)
		v = reduce_tuple(el, c, v.tuple);
	else
		v = reduce_part(el, c, v, along);
	if (over == NULL || v.kind == CJ_VALUE_ERROR)
		return v;
	return cj_elab_reduce_over(el, c, v, over);
}

static struct cj_value
fold_arguments(struct cj_elab *el, struct cj_args *args, enum cj_op op)
{
	struct cj_combine c = { .op = op, .span = args->span };
	struct cj_value v = args->at[0];
	uint32_t i;

	if (args->count == 1)
		return reduce(el, &c, v, args);
	for (i = 1; i < args->count && v.kind != CJ_VALUE_ERROR; i++)
		v = cj_elab_combined(el, &c, v, args->at[i]);
	return v;
}

struct cj_value
cj_builtin_min(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return fold_arguments(el, args, CJ_OP_MIN);
}

struct cj_value
cj_builtin_max(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return fold_arguments(el, args, CJ_OP_MAX);
}

struct cj_value
cj_builtin_sum(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return fold_arguments(el, args, CJ_OP_ADD);
}

struct cj_value
cj_builtin_any(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return fold_arguments(el, args, CJ_OP_OR);
}

struct cj_value
cj_builtin_all(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return fold_arguments(el, args, CJ_OP_AND);
}

struct cj_value
cj_builtin_reduce(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_combine c = { .f = &args->at[0], .span = args->span };
	bool commutes;

	(void)row;
	if (!cj_arg_flag(el, args, "commutes", &commutes))
		return cj_value_error();
	c.is_ordered = !commutes;
	return reduce(el, &c, args->at[1], args);
}
