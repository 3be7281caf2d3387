/*
 * Reductions over threads: `over = .lanes(n)`, `.warp`, `.block`.
 *
 * Lanes combine by a butterfly, so that all hold one result and the order is
 * the same in every run. A block combines its warps' results through shared
 * memory; each thread then folds them in the order of the warps.
 */
#include "elab_priv.h"

struct collective {
	struct cj_span span;
	enum cj_op op;			/* NONE: f */
	const struct cj_value *f;
};

static struct cj_value
combined(struct cj_elab *el, const struct collective *c, struct cj_value a,
    struct cj_value b)
{
	const struct cj_value both[2] = { a, b };

	if (c->op != CJ_OP_NONE)
		return cj_elab_apply(el, c->span, c->op, both, 2);
	return cj_elab_call_values(el, c->span, *c->f, both, 2);
}

/* ---- lanes --------------------------------------------------------------- */

static struct cj_value
exchanged(struct cj_elab *el, const struct cj_value *v, int64_t distance)
{
	enum cj_kind k = cj_value_kind_of(v);
	cj_ref refs[2];

	refs[0] = cj_elab_ref(el, v, k);
	refs[1] = cj_emit_index(&el->em->b, distance);
	return cj_value_regs(el, k, cj_value_shape(v), cj_emit(&el->em->b,
	    CJ_OP_SHFL, cj_inst(el->m, refs[0])->type, CJ_SHFL_XOR, refs, 2));
}

static struct cj_value
over_lanes(struct cj_elab *el, const struct collective *c, struct cj_value v,
    int64_t lanes)
{
	int64_t d;

	for (d = 1; d < lanes && v.kind != CJ_VALUE_ERROR; d *= 2)
		v = combined(el, c, v, exchanged(el, &v, d));
	return v;
}

/* ---- the block ----------------------------------------------------------- */

static int64_t
threads_of(struct cj_elab *el, struct cj_span span)
{
	int64_t n = 1;
	int i;

	for (i = 0; i < 3; i++) {
		if (!cj_is_known(el->block_extent[i])) {
			cj_elab_error(el, CJ_DIAG_NOT_KNOWN, span,
			    "\"over = .block\" needs the block's extents at "
			    "compile time");
			return 0;
		}
		n *= el->block_extent[i].value;
	}
	if (n % 32 == 0)
		return n;
	cj_elab_error(el, CJ_DIAG_UNSUPPORTED, span,
	    "a reduction over threads needs whole warps; the block has %lld "
	    "threads", (long long)n);
	return 0;
}

static struct cj_value
shared_slots(struct cj_elab *el, enum cj_kind k, uint32_t registers,
    int64_t warps)
{
	struct cj_object o = { .kind = CJ_OBJECT_SHARED, .element = k,
	    .extent = warps * registers, .align = 16, .reads = true,
	    .writes = true, .region = el->em->b.region, .name = "reduction",
	    .place = el->em->b.place };
	struct cj_tensor t = { .level = 2, .offset = cj_known(0),
	    .element = k };
	const struct cj_tuple *shape[2];

	shape[0] = cj_tuple_known(&el->al, registers);
	shape[1] = cj_tuple_known(&el->al, warps);
	t.layout = cj_layout_make(&el->al, cj_tuple_make(&el->al, shape, 2),
	    NULL);
	t.object = cj_module_object(el->m, &o);
	return cj_value_tensor(el, &t);
}

static struct cj_value
column(struct cj_elab *el, const struct collective *c,
    const struct cj_value *s, struct cj_int warp)
{
	struct cj_value at[2];

	at[0] = (struct cj_value){ .kind = CJ_VALUE_ANY };
	at[1] = cj_value_int(warp);
	return cj_tensor_index(el, c->span, s->tensor, at, 2);
}

/* The number of the thread's warp: threads count with x fastest. */
static struct cj_int
warp_of(struct cj_elab *el)
{
	return cj_elab_special(el, CJ_SPECIAL_WARP);
}

/* Lane 0 of each warp stores. */
static void
store_result(struct cj_elab *el, const struct collective *c,
    const struct cj_value *s, struct cj_value v)
{
	static const struct cj_how plain;
	cj_ref lane = cj_elab_ref_int(el, cj_elab_special(el,
	    CJ_SPECIAL_LANE));
	cj_ref is_first = cj_emit2(&el->em->b, CJ_OP_EQ,
	    cj_type_of(CJ_KIND_BOOL, 1), lane,
	    cj_emit_index(&el->em->b, 0));
	struct cj_value place = column(el, c, s, warp_of(el));
	cj_ref owner = cj_emit(&el->em->b, CJ_OP_IF, 0, 0, &is_first, 1);
	cj_region outer = cj_elab_enter(el, owner, NULL);

	cj_tensor_store(el, c->span, place.tensor, v, &plain);
	cj_elab_leave(el, outer);
}

static struct cj_value
over_block(struct cj_elab *el, const struct collective *c, struct cj_value v)
{
	static const struct cj_how plain;
	int64_t threads = threads_of(el, c->span), warps = threads / 32, w;
	const struct cj_tuple *shape = cj_value_shape(&v);
	struct cj_value s, sum, one;

	if (threads == 0)
		return cj_value_error();
	v = over_lanes(el, c, v, 32);
	if (v.kind == CJ_VALUE_ERROR || warps == 1)
		return v;
	s = shared_slots(el, cj_value_kind_of(&v), cj_shape_count(shape),
	    warps);
	store_result(el, c, &s, v);
	cj_emit0(&el->em->b, CJ_OP_BARRIER, 0, 0);
	sum = cj_value_none();
	for (w = 0; w < warps; w++) {
		struct cj_value place = column(el, c, &s, cj_known(w));

		one = cj_tensor_load(el, c->span, place.tensor, &plain);
		one = cj_value_regs(el, cj_value_kind_of(&one), shape,
		    cj_elab_ref(el, &one, CJ_KIND_VOID));
		sum = w == 0 ? one : combined(el, c, sum, one);
		if (sum.kind == CJ_VALUE_ERROR)
			return sum;
	}
	/* the next reduction may use the same memory */
	cj_emit0(&el->em->b, CJ_OP_BARRIER, 0, 0);
	return sum;
}

/* ---- all ----------------------------------------------------------------- */

static bool
lanes_of(struct cj_elab *el, struct cj_span span, const struct cj_value *over,
    int64_t *lanes)
{
	if (!cj_value_to_known(el, span, &over->tuple->at[1],
	    "the number of lanes", lanes))
		return false;
	if (*lanes >= 1 && *lanes <= 32 && (*lanes & (*lanes - 1)) == 0)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, span,
	    "lanes(n): n is a power of two up to 32, this is %lld",
	    (long long)*lanes);
	return false;
}

static struct cj_value
over_tuple(struct cj_elab *el, struct cj_span span, enum cj_op op,
    const struct cj_value *f, const struct cj_tuple_value *t,
    const struct cj_value *over)
{
	struct cj_value *at = CJ_NEWS(el->arena, struct cj_value,
	    t->count + 1);
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		at[i] = cj_elab_reduce_over(el, span, op, f, t->at[i], over);
		if (at[i].kind == CJ_VALUE_ERROR)
			return at[i];
	}
	return cj_value_tuple(el, at, t->names, t->count);
}

struct cj_value
cj_elab_reduce_over(struct cj_elab *el, struct cj_span span, enum cj_op op,
    const struct cj_value *f, struct cj_value v, const struct cj_value *over)
{
	struct collective c = { span, op, f };
	const struct cj_value *word = over;
	const char *name;
	int64_t lanes;

	if (el->time != CJ_TIME_DEVICE)
		return cj_elab_error(el, CJ_DIAG_WRONG_TIME, span,
		    "\"over\" belongs to device code");
	if (v.kind == CJ_VALUE_TUPLE)
		return over_tuple(el, span, op, f, v.tuple, over);
	if (v.kind == CJ_VALUE_REAL)
		v = cj_elab_coerce(el, span, CJ_KIND_F32, v);
	if (over->kind == CJ_VALUE_TUPLE && over->tuple->count == 2)
		word = &over->tuple->at[0];
	name = word->kind == CJ_VALUE_CHOICE ?
	    cj_elab_name(el, word->choice) : "";
	if (strcmp(name, "lanes") == 0 && word != over)
		return lanes_of(el, span, over, &lanes) ?
		    over_lanes(el, &c, v, lanes) : cj_value_error();
	if (strcmp(name, "warp") == 0)
		return over_lanes(el, &c, v, 32);
	if (strcmp(name, "block") == 0)
		return over_block(el, &c, v);
	return cj_elab_error(el, CJ_DIAG_UNSUPPORTED, span,
	    "\"over\" takes .lanes(n), .warp and .block in this version");
}
