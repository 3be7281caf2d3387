/*
 * Reductions over threads: `over = .lanes(n)`, `.warp`, `.block`, `.cluster`.
 *
 * Lanes combine by a butterfly, so that all hold one result and the order is
 * the same in every run. Where the order of two matters, the upper one of each
 * pair of lanes takes the other's value for the first. A block combines its
 * warps' results through shared memory: each thread folds all of them as a tree
 * over neighbouring warps, or, where they are many, the lanes of each warp do
 * by a butterfly. A cluster combines its blocks' results, which lie in the
 * shared memory of each, in the same way: one barrier of all, then everybody
 * reads.
 *
 * What is combined is a value or a tuple of values. An operator goes element
 * by element; a function takes two tuples and gives one. Either way they share
 * one exchange and one barrier.
 */
#include "elab_collective.h"

static bool
is_error(const struct cj_value *v)
{
	uint32_t i;

	if (v->kind == CJ_VALUE_TUPLE)
		for (i = 0; i < v->tuple->count; i++)
			if (v->tuple->at[i].kind == CJ_VALUE_ERROR)
				return true;
	return v->kind == CJ_VALUE_ERROR;
}

/* Element i of a tuple; the value itself if it is none. */
static const struct cj_value *
element(const struct cj_value *v, uint32_t i)
{
	return v->kind == CJ_VALUE_TUPLE ? &v->tuple->at[i] : v;
}

static uint32_t
elements(const struct cj_value *v)
{
	return v->kind == CJ_VALUE_TUPLE ? v->tuple->count : 1;
}

/* One element of `like` for each of `like`. */
typedef struct cj_value each_fn(struct cj_elab *el, const struct cj_value *v,
    uint32_t i, void *user);

static struct cj_value
each(struct cj_elab *el, const struct cj_value *like, each_fn *fn, void *user)
{
	uint32_t n = elements(like), i;
	struct cj_value *at = CJ_NEWS(el->arena, struct cj_value, n + 1);

	for (i = 0; i < n; i++)
		at[i] = fn(el, element(like, i), i, user);
	if (like->kind != CJ_VALUE_TUPLE)
		return at[0];
	return cj_value_tuple(el, at, like->tuple->names, n);
}

struct both {
	const struct cj_combine *c;
	struct cj_value a, b;
};

static struct cj_value
combine_element(struct cj_elab *el, const struct cj_value *like, uint32_t i,
    void *user)
{
	const struct both *both = user;
	const struct cj_value two[2] = { *element(&both->a, i),
	    *element(&both->b, i) };

	(void)like;
	return cj_elab_apply(el, both->c->span, both->c->op, two, 2);
}

/* What f gave is like what went in: as many elements, of the same kinds. */
static struct cj_value
result_element(struct cj_elab *el, const struct cj_value *like, uint32_t i,
    void *user)
{
	const struct both *both = user;

	return cj_elab_coerce(el, both->c->span, cj_value_kind_of(like),
	    *element(&both->b, i));
}

static struct cj_value
combined(struct cj_elab *el, const struct cj_combine *c, struct cj_value a,
    struct cj_value b)
{
	const struct cj_value two[2] = { a, b };
	struct both both = { c, a, b };

	if (is_error(&a) || is_error(&b))
		return cj_value_error();
	if (c->op != CJ_OP_NONE)
		return each(el, &a, combine_element, &both);
	both.b = cj_elab_call_values(el, c->span, *c->f, two, 2);
	if (both.b.kind == CJ_VALUE_ERROR)
		return both.b;
	if ((a.kind == CJ_VALUE_TUPLE) != (both.b.kind == CJ_VALUE_TUPLE) ||
	    elements(&a) != elements(&both.b))
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, c->span,
		    "the function of a reduction gives what it takes, %s, not "
		    "%s", cj_value_what(el, &a), cj_value_what(el, &both.b));
	return each(el, &a, result_element, &both);
}

/* ---- registers of a thread ----------------------------------------------- */

struct half {
	uint32_t first, step, count;
};

static struct cj_value
part_element(struct cj_elab *el, const struct cj_value *v, uint32_t i,
    void *user)
{
	const struct half *h = user;
	enum cj_kind k = cj_value_kind_of(v);
	uint32_t *at = CJ_NEWS(el->arena, uint32_t, h->count), n;

	(void)i;
	for (n = 0; n < h->count; n++)
		at[n] = h->first + n * h->step;
	return cj_value_regs(el, k, h->count == 1 ? NULL :
	    cj_tuple_known(&el->al, h->count),
	    cj_elab_permute(el, cj_elab_ref(el, v, k), at, h->count));
}

static struct cj_value
part(struct cj_elab *el, const struct cj_value *v, uint32_t first,
    uint32_t step, uint32_t count)
{
	struct half h = { first, step, count };

	return each(el, v, part_element, &h);
}

/* A tuple of register tensors of one shape becomes a tuple of scalars: halves,
 * or neighbours where the order matters, are combined until one is left; odd
 * ones out follow at the end, the later ones in front where it does. */
static struct cj_value
fold_registers(struct cj_elab *el, const struct cj_combine *c,
    struct cj_value v, uint32_t n)
{
	struct cj_value rest = cj_value_none(), one, low, high;
	uint32_t step = c->is_ordered ? 2 : 1;

	while (n > 1 && !is_error(&v)) {
		if (n % 2 != 0) {
			one = part(el, &v, n - 1, 1, 1);
			rest = rest.kind == CJ_VALUE_NONE ? one :
			    c->is_ordered ? combined(el, c, one, rest) :
			    combined(el, c, rest, one);
			n--;
		}
		n /= 2;
		low = part(el, &v, 0, step, n);
		high = part(el, &v, c->is_ordered ? 1 : n, step, n);
		v = combined(el, c, low, high);
	}
	return rest.kind == CJ_VALUE_NONE ? v : combined(el, c, v, rest);
}

struct cj_value
cj_elab_reduce_tuple(struct cj_elab *el, const struct cj_combine *c,
    struct cj_value v)
{
	struct cj_span span = c->span;
	const struct cj_tuple *shape = NULL;
	struct cj_value *at = CJ_NEWS(el->arena, struct cj_value,
	    v.tuple->count + 1);
	uint32_t i, n = v.tuple->count;

	assert(v.kind == CJ_VALUE_TUPLE);
	for (i = 0; i < n; i++) {
		at[i] = cj_elab_read(el, span, v.tuple->at[i]);
		if (at[i].kind == CJ_VALUE_REAL)
			at[i] = cj_elab_coerce(el, span, CJ_KIND_F32, at[i]);
		if (at[i].kind == CJ_VALUE_ERROR)
			return at[i];
		if (!cj_value_is_number(&at[i]))
			return cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
			    "numbers are reduced, this is %s",
			    cj_value_what(el, &at[i]));
	}
	if (!cj_elab_common_shape(el, span, at, n, &shape))
		return cj_value_error();
	for (i = 0; i < n; i++)
		at[i] = cj_elab_broadcast(el, span, at[i], shape);
	return fold_registers(el, c, cj_value_tuple(el, at, v.tuple->names,
	    n), cj_shape_count(shape));
}

/* ---- lanes --------------------------------------------------------------- */

static struct cj_value
exchange_element(struct cj_elab *el, const struct cj_value *v, uint32_t i,
    void *user)
{
	enum cj_kind k = cj_value_kind_of(v);
	cj_ref refs[2];

	(void)i;
	refs[0] = cj_elab_ref(el, v, k);
	refs[1] = cj_emit_index(&el->em->b, *(const int64_t *)user);
	return cj_value_regs(el, k, cj_value_shape(v), cj_emit(&el->em->b,
	    CJ_OP_SHFL, cj_inst(el->m, refs[0])->type, CJ_SHFL_XOR, refs, 2));
}

/* `any` and `all` of a warp, by the bits of all lanes. */
static struct cj_value
ballot(struct cj_elab *el, const struct cj_combine *c, struct cj_value v)
{
	bool all = c->op == CJ_OP_AND;
	struct cj_value two[2];

	assert(all || c->op == CJ_OP_OR);
	if (all)
		v = cj_elab_apply(el, c->span, CJ_OP_NOT, &v, 1);
	two[0] = cj_value_regs(el, CJ_KIND_U32, NULL, cj_emit1(&el->em->b,
	    CJ_OP_BALLOT, cj_type_of(CJ_KIND_U32, 1),
	    cj_elab_ref(el, &v, CJ_KIND_BOOL)));
	two[1] = cj_value_scalar(CJ_KIND_U32, 0);
	return cj_elab_apply(el, c->span, all ? CJ_OP_EQ : CJ_OP_NE, two, 2);
}

/* One instruction for all lanes of a warp, where there is one; NONE: there is
 * not. */
static struct cj_value
at_once(struct cj_elab *el, const struct cj_combine *c,
    const struct cj_value *v)
{
	static const struct { enum cj_op op; enum cj_atomic how; } rows[] = {
		{ CJ_OP_ADD, CJ_ATOMIC_ADD }, { CJ_OP_MIN, CJ_ATOMIC_MIN },
		{ CJ_OP_MAX, CJ_ATOMIC_MAX }, { CJ_OP_AND, CJ_ATOMIC_AND },
		{ CJ_OP_OR, CJ_ATOMIC_OR }
	};
	enum cj_kind k = cj_value_kind_of(v);
	cj_ref ref;
	unsigned i;

	if (cj_value_shape(v) != NULL)
		return cj_value_none();
	if (k == CJ_KIND_BOOL && (c->op == CJ_OP_AND || c->op == CJ_OP_OR))
		return ballot(el, c, *v);
	if ((k != CJ_KIND_I32 && k != CJ_KIND_U32) || el->target->number < 80)
		return cj_value_none();
	for (i = 0; i < CJ_LENGTH(rows); i++)
		if (rows[i].op == c->op) {
			ref = cj_elab_ref(el, v, k);
			return cj_value_regs(el, k, NULL, cj_emit(&el->em->b,
			    CJ_OP_REDUX, cj_type_of(k, 1), rows[i].how, &ref,
			    1));
		}
	return cj_value_none();
}

/* The value of the lower lane of two, or of the upper one. */
struct of_two {
	cj_ref is_upper;
	const struct cj_value *other;
	bool lower;
};

static struct cj_value
one_of_two(struct cj_elab *el, const struct cj_value *v, uint32_t i,
    void *user)
{
	const struct of_two *t = user;
	enum cj_kind k = cj_value_kind_of(v);
	cj_ref own = cj_elab_ref(el, v, k);
	cj_ref other = cj_elab_ref(el, element(t->other, i), k);

	return cj_value_regs(el, k, cj_value_shape(v), cj_emit3(&el->em->b,
	    CJ_OP_SELECT, cj_inst(el->m, own)->type, t->is_upper,
	    t->lower ? other : own, t->lower ? own : other));
}

/* What two lanes at a distance of d have, the lower one's in front. */
static struct cj_value
combined_in_order(struct cj_elab *el, const struct cj_combine *c,
    struct cj_value v, struct cj_value other, int64_t d)
{
	struct cj_int lane = cj_elab_special(el, CJ_SPECIAL_LANE);
	struct of_two t = { .other = &other, .lower = true };
	struct cj_value lower;

	if (is_error(&v) || is_error(&other))
		return cj_value_error();
	lane = cj_int_mod(&el->sym, lane, cj_known(2 * d));
	t.is_upper = cj_emit2(&el->em->b, CJ_OP_LE,
	    cj_type_of(CJ_KIND_BOOL, 1), cj_emit_index(&el->em->b, d),
	    cj_elab_ref_int(el, lane));
	lower = each(el, &v, one_of_two, &t);
	t.lower = false;
	return combined(el, c, lower, each(el, &v, one_of_two, &t));
}

static struct cj_value
over_lanes(struct cj_elab *el, const struct cj_combine *c, struct cj_value v,
    int64_t lanes)
{
	struct cj_value all = lanes == 32 && v.kind == CJ_VALUE_REGS ?
	    at_once(el, c, &v) : cj_value_none(), other;
	int64_t d;

	assert(lanes >= 1 && lanes <= 32 && (lanes & (lanes - 1)) == 0);
	if (all.kind != CJ_VALUE_NONE)
		return all;
	for (d = 1; d < lanes && !is_error(&v); d *= 2) {
		other = each(el, &v, exchange_element, &d);
		v = c->is_ordered ? combined_in_order(el, c, v, other, d) :
		    combined(el, c, v, other);
	}
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
	cj_help(cj_elab_report(el, CJ_DIAG_UNSUPPORTED, span,
	    "a reduction over threads needs whole warps; the block has %lld "
	    "threads", (long long)n), "Take a block of %lld threads, and let "
	    "those that have nothing give what changes nothing, as 0 to a "
	    "sum.", (long long)(n + 31) / 32 * 32);
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

	assert(registers > 0 && warps > 0);
	shape[0] = cj_tuple_known(&el->al, registers);
	shape[1] = cj_tuple_known(&el->al, warps);
	t.layout = cj_layout_make(&el->al, cj_tuple_make(&el->al, shape, 2),
	    NULL);
	t.object = cj_module_object(el->m, &o);
	return cj_value_tensor(el, &t);
}

static struct cj_value
column(struct cj_elab *el, const struct cj_combine *c,
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

/* What is combined lies in parts: of the warps of a block, column by column;
 * of the blocks of a cluster, in the one column of each. */
struct store {
	const struct cj_combine *c;
	struct cj_value *slots;		/* per element */
	struct cj_int part;		/* that is loaded */
	int64_t parts;
	bool of_blocks;
};

static struct cj_value
make_slots(struct cj_elab *el, const struct cj_value *v, uint32_t i,
    void *user)
{
	struct store *s = user;

	s->slots[i] = shared_slots(el, cj_value_kind_of(v),
	    cj_shape_count(cj_value_shape(v)), s->of_blocks ? 1 : s->parts);
	return *v;
}

static struct cj_value
store_element(struct cj_elab *el, const struct cj_value *v, uint32_t i,
    void *user)
{
	static const struct cj_how plain;
	struct store *s = user;
	struct cj_value place = column(el, s->c, &s->slots[i],
	    s->of_blocks ? cj_known(0) : warp_of(el));

	cj_tensor_store(el, s->c->span, place.tensor, *v, &plain);
	return *v;
}

static struct cj_value
load_element(struct cj_elab *el, const struct cj_value *like, uint32_t i,
    void *user)
{
	static const struct cj_how plain;
	struct store *s = user;
	struct cj_value place = column(el, s->c, &s->slots[i],
	    s->of_blocks ? cj_known(0) : s->part), one;

	if (s->of_blocks)
		place = cj_elab_remote(el, place.tensor, s->part);
	one = cj_tensor_load(el, s->c->span, place.tensor, &plain);
	return cj_value_regs(el, cj_value_kind_of(&one), cj_value_shape(like),
	    cj_elab_ref(el, &one, CJ_KIND_VOID));
}

/* Lane 0 of each warp stores; of a block, lane 0 of warp 0. */
static void
store_result(struct cj_elab *el, struct store *s, struct cj_value v)
{
	struct cj_int who = cj_elab_special(el, CJ_SPECIAL_LANE);
	cj_ref number, zero, is_first, owner;
	cj_region outer;

	if (s->of_blocks)
		who = cj_int_add(&el->sym, who, cj_int_mul(&el->sym,
		    warp_of(el), cj_known(32)));
	number = cj_elab_ref_int(el, who);
	zero = cj_emit_index(&el->em->b, 0);
	is_first = cj_emit2(&el->em->b, CJ_OP_EQ,
	    cj_type_of(CJ_KIND_BOOL, 1), number, zero);
	owner = cj_emit(&el->em->b, CJ_OP_IF, 0, 0, &is_first, 1);
	outer = cj_elab_enter(el, owner, NULL);
	each(el, &v, store_element, s);
	cj_elab_leave(el, outer);
}

/* Can control come here again? Then the memory is used again, too. */
static bool
is_repeated(const struct cj_elab *el)
{
	cj_region r = el->em->b.region;
	cj_ref owner;

	while ((owner = el->m->regions.at[r].owner) != 0) {
		enum cj_op op = cj_inst(el->m, owner)->op;

		if (op == CJ_OP_FOR || op == CJ_OP_LOOP)
			return true;
		r = el->m->regions.at[r].parent;
	}
	return false;
}

/* All parts as one, in every thread. */
static struct cj_value
fold_parts(struct cj_elab *el, struct store *s, struct cj_value like)
{
	int64_t n = s->parts, i, d, most = s->of_blocks ? 2 : 16;
	struct cj_value *one;

	if (n >= most && (n & (n - 1)) == 0) {
		s->part = cj_int_mod(&el->sym, cj_elab_special(el,
		    CJ_SPECIAL_LANE), cj_known(n));
		return over_lanes(el, s->c, each(el, &like, load_element, s),
		    n);
	}
	one = CJ_NEWS(el->arena, struct cj_value, n);
	for (i = 0; i < n; i++) {
		s->part = cj_known(i);
		one[i] = each(el, &like, load_element, s);
	}
	for (d = 1; d < n; d *= 2)
		for (i = 0; i + d < n; i += 2 * d)
			one[i] = combined(el, s->c, one[i], one[i + d]);
	return one[0];
}

/* Every part is stored by its owner; all meet, and each folds them. */
static struct cj_value
exchange_parts(struct cj_elab *el, struct store *s, struct cj_value v)
{
	enum cj_op barrier = s->of_blocks ? CJ_OP_CLUSTER_BARRIER :
	    CJ_OP_BARRIER;

	s->slots = CJ_NEWS(el->arena, struct cj_value, elements(&v) + 1);
	each(el, &v, make_slots, s);
	store_result(el, s, v);
	cj_emit0(&el->em->b, barrier, 0, 0);
	v = fold_parts(el, s, v);
	if (is_repeated(el))
		cj_emit0(&el->em->b, barrier, 0, 0);
	return v;
}

static struct cj_value
over_block(struct cj_elab *el, const struct cj_combine *c, struct cj_value v)
{
	int64_t threads = threads_of(el, c->span);
	struct store s = { .c = c, .parts = threads / 32 };

	if (threads == 0)
		return cj_value_error();
	v = over_lanes(el, c, v, 32);
	if (is_error(&v) || s.parts == 1)
		return v;
	return exchange_parts(el, &s, v);
}

static struct cj_value
over_cluster(struct cj_elab *el, const struct cj_combine *c,
    struct cj_value v)
{
	struct store s = { .c = c, .parts = el->cluster_blocks,
	    .of_blocks = true };

	v = over_block(el, c, v);
	if (is_error(&v) || s.parts == 1)
		return v;
	return exchange_parts(el, &s, v);
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

struct cj_value
cj_elab_reduce_over(struct cj_elab *el, const struct cj_combine *c,
    struct cj_value v, const struct cj_value *over)
{
	struct cj_span span = c->span;
	const struct cj_value *word = over;
	const char *name;
	int64_t lanes;

	if (el->time != CJ_TIME_DEVICE)
		return cj_elab_error(el, CJ_DIAG_WRONG_TIME, span,
		    "\"over\" belongs to device code");
	if (v.kind == CJ_VALUE_REAL)
		v = cj_elab_coerce(el, span, CJ_KIND_F32, v);
	if (over->kind == CJ_VALUE_TUPLE && over->tuple->count == 2)
		word = &over->tuple->at[0];
	name = word->kind == CJ_VALUE_CHOICE ?
	    cj_elab_name(el, word->choice) : "";
	if (strcmp(name, "lanes") == 0 && word != over) {
		if (!lanes_of(el, span, over, &lanes))
			return cj_value_error();
		cj_elab_meet(el, (unsigned)lanes, "\"over = .lanes\"");
		return over_lanes(el, c, v, lanes);
	}
	if (strcmp(name, "warp") == 0) {
		cj_elab_meet(el, 32, "\"over = .warp\"");
		return over_lanes(el, c, v, 32);
	}
	if ((strcmp(name, "block") == 0 || strcmp(name, "cluster") == 0) &&
	    !cj_elab_needs_block(el, span, cj_printf(el->arena,
	    "\"over = .%s\"", name)))
		return cj_value_error();
	if (strcmp(name, "block") == 0) {
		cj_elab_meet(el, 0, "\"over = .block\"");
		return over_block(el, c, v);
	}
	if (strcmp(name, "cluster") == 0) {
		cj_elab_meet(el, 0, "\"over = .cluster\"");
		return over_cluster(el, c, v);
	}
	return cj_elab_error(el, CJ_DIAG_UNSUPPORTED, span,
	    "\"over\" takes .lanes(n), .warp, .block and .cluster in this "
	    "version");
}
