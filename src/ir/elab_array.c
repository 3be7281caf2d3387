/*
 * Whole-array work in tests: new arrays, element-wise maps, assignment, other
 * shapes.
 *
 * An array is a tensor whose object has the kind ARRAY. Every whole-array
 * expression makes a new array: an ARRAY instruction, then an ARRAY_MAP whose
 * region computes one element from the operands' elements at its index. The
 * index runs over the common shape in colexicographic order, or, where all
 * arrays are the same compact layout, along memory.
 */
#include "elab_gather.h"
#include "elab_test_priv.h"

/* The lowest of 0 and the sums of strides: what negative strides lead to. */
static struct cj_int
descent(struct cj_elab *el, const struct cj_tuple *shape,
    const struct cj_tuple *stride)
{
	struct cj_int sum = cj_known(0), down;
	uint32_t i;

	if (stride->kind == CJ_TUPLE_INT) {
		down = cj_int_min(&el->sym, stride->value, cj_known(0));
		return cj_is_value(down, 0) ? down : cj_int_mul(&el->sym,
		    cj_int_sub(&el->sym, cj_tuple_product(&el->al, shape),
		    cj_known(1)), down);
	}
	if (cj_is_leaf(stride))
		return sum;
	for (i = 0; i < stride->rank; i++)
		sum = cj_int_add(&el->sym, sum, descent(el,
		    cj_tuple_get(shape, i), stride->at[i]));
	return sum;
}

/* Where an array's first element lies so that none is below 0. */
static struct cj_int
first_offset(struct cj_elab *el, const struct cj_layout *l)
{
	if (l->is_composed || cj_is_value(cj_layout_size(&el->al, l), 0))
		return cj_known(0);
	return cj_int_neg(&el->sym, descent(el, l->shape, l->stride));
}

struct cj_value
cj_elab_array_new(struct cj_elab *el, struct cj_span span,
    enum cj_kind element, const struct cj_layout *l)
{
	struct cj_int extent = cj_layout_extent(&el->al, l);
	struct cj_array record = { 0, CJ_ARRAY_EMPTY };
	struct cj_object o = { 0 };
	struct cj_tensor t = { 0 };
	cj_ref elements;

	if (cj_is_value(cj_layout_size(&el->al, l), 0))
		extent = cj_known(0);
	o.kind = CJ_OBJECT_ARRAY;
	o.element = element;
	o.extent = cj_is_known(extent) ? extent.value : -1;
	o.align = 256;
	o.reads = o.writes = true;
	o.name = el->naming == 0 ? "array" : cj_elab_name(el, el->naming);
	o.place = el->em->b.place;
	record.object = cj_module_object(el->m, &o);
	*cj_push(el->arena, &el->m->arrays) = record;
	elements = cj_elab_ref_int(el, extent);
	cj_emit(&el->em->b, CJ_OP_ARRAY, 0, el->m->arrays.len - 1, &elements,
	    1);
	t.object = record.object;
	t.element = element;
	t.level = el->em->level;
	t.offset = first_offset(el, l);
	t.layout = l;
	t.span = span;
	return cj_value_tensor(el, &t);
}

cj_region
cj_elab_map_begin(struct cj_elab *el, struct cj_int count, struct cj_int *i)
{
	cj_ref n = cj_elab_ref_int(el, count), index;
	cj_ref map = cj_emit(&el->em->b, CJ_OP_ARRAY_MAP, 0, 0, &n, 1);
	cj_region outer = cj_elab_enter(el, map, &index);

	*i = cj_elab_index_symbol(el, index, "i", 0, count);
	return outer;
}

/* ---- through indices, behind guards -------------------------------------- */

/* One element of the copy, at index i. */
static bool
copy_element(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *from, const struct cj_tensor *to, struct cj_int i)
{
	const struct cj_tuple *at = cj_idx2crd(&el->al, i,
	    from->layout->shape);
	struct cj_value v = cj_tensor_element(el, span, from, at);
	static const struct cj_how plain;
	struct cj_int offset;

	if (v.kind == CJ_VALUE_ERROR ||
	    !cj_layout_offset(&el->al, to->layout, at, &offset))
		return false;
	v = cj_tensor_load(el, span, v.tensor, &plain);
	if (v.kind == CJ_VALUE_ERROR)
		return false;
	cj_elab_array_store(el, to, offset, cj_elab_ref(el, &v,
	    to->element));
	return true;
}

/* An array, or a copy of what a gathered or guarded view shows of it. */
static struct cj_value
plain_array(struct cj_elab *el, struct cj_span span, const struct cj_value *v)
{
	const struct cj_tensor *t = v->tensor;
	struct cj_int i;
	struct cj_value y;
	cj_region outer;
	bool ok;

	if (t->gather == NULL && !t->is_guarded)
		return *v;
	y = cj_elab_array_new(el, span, t->element,
	    cj_layout_row_major(&el->al, t->layout->shape));
	outer = cj_elab_map_begin(el, cj_layout_size(&el->al, t->layout), &i);
	ok = copy_element(el, span, t, y.tensor, i);
	cj_elab_leave(el, outer);
	return ok ? y : cj_value_error();
}

/* The offset of an element behind that of its array. */
static bool
place_in(struct cj_elab *el, struct cj_span span, const struct cj_tensor *t,
    const struct cj_tuple *at, struct cj_int *offset)
{
	if (t->gather == NULL)
		return cj_layout_offset(&el->al, t->layout, at, offset);
	*offset = cj_int_sub(&el->sym, cj_gather_offset(el, span, NULL, t,
	    at), t->offset);
	return true;
}

/* ---- element-wise work --------------------------------------------------- */

static bool
is_one(struct cj_int i)
{
	return cj_is_value(i, 1);
}

/* Two extents that are not known to be equal: the run asks. */
static void
require_equal(struct cj_elab *el, struct cj_int x, struct cj_int y)
{
	cj_ref is_equal = cj_emit2(&el->em->b, CJ_OP_EQ,
	    cj_type_of(CJ_KIND_BOOL, 1), cj_elab_ref_int(el, x),
	    cj_elab_ref_int(el, y));

	cj_emit(&el->em->b, CJ_OP_ASSERT, 0, cj_module_text(el->m,
	    "arrays that go together have equal extents"), &is_equal, 1);
}

/* The common extent of a mode; false: they differ. */
static bool
join_mode(struct cj_elab *el, const struct cj_tuple *a,
    const struct cj_tuple *b, const struct cj_tuple **out)
{
	struct cj_int x = cj_tuple_product(&el->al, a);
	struct cj_int y = cj_tuple_product(&el->al, b);
	enum cj_truth same = cj_int_equal(&el->sym, x, y);

	*out = is_one(x) ? b : a;
	if (is_one(x) || is_one(y))
		return true;
	if (same == CJ_MAYBE)
		require_equal(el, x, y);
	return same != CJ_NO;
}

static const struct cj_tuple *
join_shapes(struct cj_elab *el, const struct cj_tuple *a,
    const struct cj_tuple *b)
{
	uint32_t rank = cj_tuple_rank(a), i;
	const struct cj_tuple **at;

	if (rank != cj_tuple_rank(b))
		return NULL;
	at = CJ_NEWS(el->arena, const struct cj_tuple *, rank);
	for (i = 0; i < rank; i++)
		if (!join_mode(el, cj_tuple_get(a, i),
		    cj_tuple_get(b, i), &at[i]))
			return NULL;
	return cj_is_leaf(a) ? at[0] : cj_tuple_make(&el->al, at, rank);
}

/* Modes of extent 1 become modes of the common extent and stride 0; a swizzle
 * and an offset are of all modes together. */
static const struct cj_layout *
broadcast(struct cj_elab *el, const struct cj_layout *whole,
    const struct cj_tuple *shape)
{
	const struct cj_layout *l = cj_layout_make(&el->al, whole->shape,
	    whole->stride);
	uint32_t rank = cj_layout_rank(l), i;
	const struct cj_layout **mode = CJ_NEWS(el->arena,
	    const struct cj_layout *, rank);

	for (i = 0; i < rank; i++) {
		const struct cj_tuple *s = cj_tuple_get(shape, i);
		const struct cj_layout *m = cj_layout_get(&el->al, l, i);

		if (is_one(cj_layout_size(&el->al, m)) &&
		    !is_one(cj_tuple_product(&el->al, s)))
			m = cj_layout_make(&el->al,
			    cj_tuple_int(&el->al,
			    cj_tuple_product(&el->al, s)),
			    cj_tuple_known(&el->al, 0));
		mode[i] = m;
	}
	l = cj_layout_concat(&el->al, mode, rank);
	return whole->is_composed ? cj_layout_composed(&el->al,
	    whole->swizzle, whole->offset, l) : l;
}

struct cj_lane *
cj_elab_lanes(struct cj_elab *el, struct cj_span span,
    const struct cj_value *args, uint32_t count,
    const struct cj_tuple **shape)
{
	struct cj_lane *lane = CJ_NEWS(el->arena, struct cj_lane, count);
	const struct cj_tuple *common = NULL;
	uint32_t i;

	*shape = NULL;
	for (i = 0; i < count; i++) {
		lane[i].value = args[i];
		lane[i].is_array = cj_elab_is_array(el, &args[i]);
		if (!lane[i].is_array)
			continue;
		lane[i].value = plain_array(el, span, &args[i]);
		if (lane[i].value.kind == CJ_VALUE_ERROR)
			return NULL;
		if (common != NULL) {
			const struct cj_tuple *joined = join_shapes(el,
			    common, args[i].tensor->layout->shape);

			if (joined == NULL) {
				struct cj_value a = cj_value_from_tuple(el,
				    common);
				struct cj_value b = cj_value_from_tuple(el,
				    args[i].tensor->layout->shape);

				cj_help(cj_elab_report(el,
				    CJ_DIAG_WRONG_SHAPE, span,
				    "arrays of the shapes %s and %s do not go "
				    "together", cj_value_text(el, &a),
				    cj_value_text(el, &b)),
				    "Extents must be equal, or 1.");
				return NULL;
			}
			common = joined;
		} else {
			common = args[i].tensor->layout->shape;
		}
	}
	for (i = 0; i < count; i++)
		if (lane[i].is_array)
			lane[i].view = broadcast(el,
			    lane[i].value.tensor->layout, common);
	*shape = common;
	return lane;
}

struct cj_value
cj_elab_array_load(struct cj_elab *el, const struct cj_tensor *t,
    struct cj_int offset)
{
	struct cj_how plain = { 0 };
	struct cj_tensor one = *t;

	one.offset = cj_int_add(&el->sym, t->offset, offset);
	one.layout = cj_layout_make(&el->al, cj_tuple_make(&el->al, NULL, 0),
	    cj_tuple_make(&el->al, NULL, 0));
	one.cut = NULL;
	return cj_tensor_load(el, t->span, &one, &plain);
}

struct cj_value
cj_elab_lane_at(struct cj_elab *el, struct cj_span span,
    const struct cj_lane *lane, const struct cj_tuple *coord)
{
	struct cj_int offset;

	if (!lane->is_array)
		return lane->value;
	if (!cj_layout_offset(&el->al, lane->view, coord, &offset))
		return cj_elab_refused(el, span, "an element of an array");
	return cj_elab_array_load(el, lane->value.tensor, offset);
}

cj_ref
cj_elab_count(struct cj_elab *el, const struct cj_tuple *shape)
{
	return cj_elab_ref_int(el, cj_tuple_product(&el->al, shape));
}

/* Compact and upwards, so that a run over memory from the first element on
 * meets every element once. */
static bool
is_compact(struct cj_elab *el, const struct cj_layout *l)
{
	return !l->is_composed && cj_is_value(first_offset(el, l), 0) &&
	    cj_int_same(cj_layout_size(&el->al, l),
	    cj_layout_cosize(&el->al, l)) &&
	    cj_layout_injective(&el->al, l) == CJ_YES;
}

/* All arrays (the result too) have one compact layout: indices may run along
 * memory, and every offset is the index. */
static bool
runs_along_memory(struct cj_elab *el, const struct cj_lane *lane,
    uint32_t count, const struct cj_layout *result)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (lane[i].is_array && (!cj_layout_same(lane[i].view,
		    result) || lane[i].view->is_composed))
			return false;
	return is_compact(el, result);
}

/* The region of a map: one element of the result. */
struct map {
	struct cj_span span;
	struct cj_lane *lane;
	uint32_t count;
	const struct cj_tuple *shape;
	cj_each *each;
	void *user;
};

static struct cj_value
map_element(struct cj_elab *el, const struct map *m, struct cj_int index,
    bool along_memory)
{
	struct cj_value *v = CJ_NEWS(el->arena, struct cj_value, m->count);
	const struct cj_tuple *coord = along_memory ? NULL :
	    cj_idx2crd(&el->al, index, m->shape);
	uint32_t i;

	for (i = 0; i < m->count; i++) {
		if (m->lane[i].is_array && along_memory)
			v[i] = cj_elab_array_load(el, m->lane[i].value.tensor,
			    index);
		else
			v[i] = cj_elab_lane_at(el, m->span, &m->lane[i],
			    coord);
		if (v[i].kind == CJ_VALUE_ERROR)
			return v[i];
	}
	return m->each(el, m->user, v, m->count);
}

void
cj_elab_array_store(struct cj_elab *el, const struct cj_tensor *y,
    struct cj_int offset, cj_ref value)
{
	struct cj_access access = { 0 };
	cj_ref operand[2];

	operand[0] = cj_elab_ref_int(el,
	    cj_int_add(&el->sym, y->offset, offset));
	operand[1] = value;
	access.object = y->object;
	access.align = (cj_kind_bits(y->element) + 7) / 8;
	cj_emit(&el->em->b, CJ_OP_STORE, 0, cj_module_access(el->m, &access),
	    operand, 2);
}

/* Kind of the elements that an array of results has. */
static enum cj_kind
result_kind(const struct cj_value *v)
{
	enum cj_kind k = cj_value_kind_of(v);

	if (v->kind == CJ_VALUE_BOOL)
		return CJ_KIND_BOOL;
	return k == CJ_KIND_VOID ? CJ_KIND_F64 : k;
}

static bool
is_number(const struct cj_value *v)
{
	return v->kind == CJ_VALUE_INT || v->kind == CJ_VALUE_REAL ||
	    v->kind == CJ_VALUE_BOOL || v->kind == CJ_VALUE_SCALAR ||
	    (v->kind == CJ_VALUE_REGS && v->regs.shape == NULL);
}

/* Element i of what is assigned; what a guard leaves out stays. */
static bool
put(struct cj_elab *el, const struct map *m, const struct cj_tensor *y,
    struct cj_int i, bool along, const struct cj_value *v)
{
	static const struct cj_how plain;
	const struct cj_tuple *at = cj_idx2crd(&el->al, i, m->shape);
	struct cj_int offset = i;
	struct cj_value one;

	if (cj_tensor_is_guarded(y)) {
		one = cj_tensor_element(el, m->span, y, at);
		if (one.kind != CJ_VALUE_ERROR)
			cj_tensor_store(el, m->span, one.tensor, *v, &plain);
		return one.kind != CJ_VALUE_ERROR;
	}
	if (!along && !place_in(el, m->span, y, at, &offset))
		return false;
	cj_elab_array_store(el, y, offset, cj_elab_ref(el, v, y->element));
	return true;
}

/* Run `m` into `y`. `element` VOID: what the elements turn out to be, which
 * is set in the object. False: reported. */
static bool
run_map(struct cj_elab *el, const struct map *m, struct cj_tensor *y,
    enum cj_kind element)
{
	bool along = y->gather == NULL && !y->is_guarded &&
	    runs_along_memory(el, m->lane, m->count, y->layout);
	struct cj_value v;
	struct cj_int i;
	cj_region outer = cj_elab_map_begin(el, cj_tuple_product(&el->al,
	    m->shape), &i);
	bool ok;

	v = map_element(el, m, i, along);
	if (v.kind != CJ_VALUE_ERROR && !is_number(&v))
		v = cj_elab_error(el, CJ_DIAG_WRONG_KIND, m->span,
		    "an element of an array is a number, this gives %s",
		    cj_value_what(el, &v));
	if (v.kind == CJ_VALUE_ERROR) {
		cj_elab_leave(el, outer);
		return false;
	}
	if (element == CJ_KIND_VOID) {
		element = result_kind(&v);
		el->m->objects.at[y->object].element = element;
		y->element = element;
	} else {
		v = cj_elab_coerce(el, m->span, element, v);
	}
	ok = v.kind != CJ_VALUE_ERROR && put(el, m, y, i, along, &v);
	cj_elab_leave(el, outer);
	return ok;
}

/* Compact, in the order of memory of the first array of the full shape. */
static const struct cj_layout *
result_layout(struct cj_elab *el, const struct map *m)
{
	const struct cj_layout *l = NULL;
	uint32_t i;

	for (i = 0; i < m->count && l == NULL; i++)
		if (m->lane[i].is_array && m->lane[i].view ==
		    m->lane[i].value.tensor->layout)
			l = m->lane[i].view;
	for (i = 0; i < m->count; i++)
		if (m->lane[i].is_array && is_compact(el, m->lane[i].view))
			return m->lane[i].view;
	if (l != NULL && !l->is_composed) {
		l = cj_layout_like(&el->al, l);
		if (l != NULL && is_compact(el, l))
			return l;
	}
	return cj_layout_row_major(&el->al, m->shape);
}

struct cj_value
cj_elab_array_map(struct cj_elab *el, struct cj_span span,
    const struct cj_value *args, uint32_t count, cj_each *each, void *user)
{
	struct map m = { span, NULL, count, NULL, each, user };
	const struct cj_layout *l;
	struct cj_value y;
	struct cj_tensor t;

	m.lane = cj_elab_lanes(el, span, args, count, &m.shape);
	if (m.lane == NULL)
		return cj_value_error();
	if (m.shape == NULL)
		return each(el, user, args, count);
	l = result_layout(el, &m);
	if (l == NULL)
		return cj_elab_refused(el, span, "an array of results");
	/* what the elements are shows in the region: run_map sets it */
	y = cj_elab_array_new(el, span, CJ_KIND_F32, l);
	t = *y.tensor;
	if (!run_map(el, &m, &t, CJ_KIND_VOID))
		return cj_value_error();
	return cj_value_tensor(el, &t);
}

static struct cj_value
itself(struct cj_elab *el, void *user, const struct cj_value *args,
    uint32_t count)
{
	(void)el;
	(void)user;
	assert(count == 1);
	return args[0];
}

void
cj_elab_array_assign(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *y, struct cj_value v)
{
	struct map m = { span, NULL, 1, NULL, itself, NULL };
	struct cj_tensor to = *y;
	const struct cj_tuple *joined;

	if (v.kind == CJ_VALUE_ERROR)
		return;
	m.lane = cj_elab_lanes(el, span, &v, 1, &m.shape);
	if (m.lane == NULL)
		return;
	joined = m.shape == NULL ? y->layout->shape :
	    join_shapes(el, y->layout->shape, m.shape);
	if (joined == NULL || cj_int_equal(&el->sym,
	    cj_tuple_product(&el->al, joined),
	    cj_layout_size(&el->al, y->layout)) == CJ_NO) {
		cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
		    "the array that is assigned has another shape");
		return;
	}
	if (m.lane[0].is_array)
		m.lane[0].view = broadcast(el, m.lane[0].view,
		    y->layout->shape);
	m.shape = y->layout->shape;
	run_map(el, &m, &to, y->element);
}

/* ---- another shape ------------------------------------------------------- */

struct cj_value
cj_elab_array_reshape(struct cj_elab *el, struct cj_span span,
    struct cj_value v, const struct cj_tuple *shape)
{
	const struct cj_tuple *old;
	struct cj_lane *lane = cj_elab_lanes(el, span, &v, 1, &old);
	struct cj_int count, i, from, to;
	cj_region outer;
	struct cj_value y, have, need;

	if (lane == NULL)
		return cj_value_error();
	count = cj_layout_size(&el->al, lane->view);
	have = cj_value_int(count);
	need = cj_value_int(cj_tuple_product(&el->al, shape));
	if (cj_int_equal(&el->sym, have.i, need.i) != CJ_YES)
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, span,
		    "the new shape has %s elements, the array has %s",
		    cj_value_text(el, &need), cj_value_text(el, &have));
	y = cj_elab_array_new(el, span, lane->value.tensor->element,
	    cj_layout_make(&el->al, shape, NULL));
	outer = cj_elab_map_begin(el, count, &i);
	if (cj_layout_offset(&el->al, lane->view, cj_tuple_int(&el->al, i),
	    &from) && cj_layout_offset(&el->al, y.tensor->layout,
	    cj_tuple_int(&el->al, i), &to)) {
		v = cj_elab_array_load(el, lane->value.tensor, from);
		cj_elab_array_store(el, y.tensor, to, cj_elab_ref(el, &v,
		    y.tensor->element));
	} else {
		y = cj_elab_refused(el, span, "reshape");
	}
	cj_elab_leave(el, outer);
	return y;
}
