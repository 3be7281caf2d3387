/*
 * Tensor memory: `tmem t: tensor(T, layout)`, its allocation, copies between
 * it and registers or shared memory, and gemm(mma, a, b, t) by tcgen05.
 *
 * Offsets are addresses in units of elements: a lane is 65536 columns of 32
 * bits. A shape alone has its first mode along the lanes. Each object is an
 * allocation of its own; its address comes to a word in shared memory, from
 * which whoever uses it reads it, so that a barrier has to stand in between.
 */
#include "elab_tiled.h"

enum { WORD = 32 };

bool
cj_is_tmem(const struct cj_elab *el, const struct cj_value *v)
{
	return v->kind == CJ_VALUE_TENSOR && el->m->objects.at[
	    v->tensor->object].kind == CJ_OBJECT_TMEM;
}

static int64_t
lane_step(enum cj_kind k)
{
	return (int64_t)CJ_TMEM_LANE_STEP * (WORD / cj_kind_bits(k));
}

/* ---- declaration --------------------------------------------------------- */

static const struct cj_tuple *
pair(struct cj_elab *el, int64_t a, int64_t b)
{
	const struct cj_tuple *both[2] = { cj_tuple_known(&el->al, a),
	    cj_tuple_known(&el->al, b) };

	return cj_tuple_make(&el->al, both, 2);
}

/* Mode 0 along the lanes, the others along the columns; NULL: not known. */
static const struct cj_layout *
by_lanes(struct cj_elab *el, const struct cj_tuple *shape, enum cj_kind k)
{
	struct cj_int all = cj_tuple_product(&el->al, shape), rows;

	if (!cj_is_known(all) || all.value < 1)
		return NULL;
	rows = cj_is_leaf(shape) ? all : cj_tuple_product(&el->al,
	    shape->at[0]);
	return cj_layout_compose(&el->al, cj_layout_make(&el->al, pair(el,
	    rows.value, all.value / rows.value), pair(el, lane_step(k), 1)),
	    cj_layout_make(&el->al, shape, NULL));
}

/* A shape of its own, with no strides said? */
static bool
is_shape(struct cj_elab *el, const struct cj_layout *l)
{
	return strcmp(cj_layout_text(&el->al, l), cj_layout_text(&el->al,
	    cj_layout_make(&el->al, l->shape, NULL))) == 0;
}

/* The last lane and element of a lane that it has; false: not known. */
static bool
find_end(struct cj_elab *el, const struct cj_layout *l, int64_t step,
    int64_t *lane, int64_t *element)
{
	const struct cj_layout *flat = cj_layout_flatten(&el->al, l);
	uint32_t i, rank = cj_layout_rank(flat);

	*lane = *element = 0;
	for (i = 0; i < rank; i++) {
		const struct cj_tuple *n = cj_tuple_get(flat->shape, i);
		const struct cj_tuple *s = cj_tuple_get(flat->stride, i);

		if (n->kind != CJ_TUPLE_INT || s->kind != CJ_TUPLE_INT ||
		    !cj_is_known(n->value) || !cj_is_known(s->value) ||
		    n->value.value < 1 || s->value.value < 0)
			return false;
		*lane += (n->value.value - 1) * (s->value.value / step);
		*element += (n->value.value - 1) * (s->value.value % step);
	}
	return true;
}

/* The width of elements, in bits, for which it would have been the right
 * layout; 0: for none. */
static unsigned
meant_for(struct cj_elab *el, enum cj_kind k, const struct cj_layout *l)
{
	static const enum cj_kind others[] = { CJ_KIND_F32, CJ_KIND_F16 };
	int64_t lane, element;
	unsigned i, bits;

	for (i = 0; i < CJ_LENGTH(others); i++) {
		bits = cj_kind_bits(others[i]);
		if (bits != cj_kind_bits(k) && find_end(el, l,
		    lane_step(others[i]), &lane, &element) &&
		    lane < CJ_TMEM_LANES && element * bits <
		    (int64_t)CJ_TMEM_COLUMNS * WORD)
			return bits;
	}
	return 0;
}

static void
refuse_size(struct cj_elab *el, const struct cj_node *n, enum cj_kind k,
    const struct cj_layout *l, int64_t lanes, int64_t columns)
{
	unsigned bits = meant_for(el, k, l);

	if (bits == 0)
		cj_help(cj_elab_report(el, CJ_DIAG_LIMIT, n->field.type->span,
		    "tensor memory has 128 lanes of 512 columns of 32 bits, "
		    "this takes %lld lanes of %lld columns", (long long)lanes,
		    (long long)columns), "The first mode lies along the "
		    "lanes; tmem_layout(mma, (M, N)) is where sums lie.");
	else
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_KIND,
		    n->field.type->span, "this is a layout of elements of %u "
		    "bits, and %s has %u", bits, cj_kind_text(k),
		    cj_kind_bits(k)), "tmem_layout(mma, ...) is for the type "
		    "in which mma adds up: declare a tensor of that type, or "
		    "let the product add in %s.", cj_kind_text(k));
}

/* The columns that it takes: a power of two; 0: reported. */
static int64_t
columns_of(struct cj_elab *el, const struct cj_node *n, enum cj_kind k,
    const struct cj_layout *l)
{
	int64_t parts = WORD / cj_kind_bits(k), lane, element, columns;

	if (l == NULL || l->swizzle.bits != 0 || !find_end(el, l,
	    lane_step(k), &lane, &element)) {
		cj_elab_error(el, CJ_DIAG_NOT_KNOWN, n->field.type->span,
		    "tensor memory has known extents and strides, and no "
		    "swizzle");
		return 0;
	}
	for (columns = CJ_TMEM_LEAST; columns * parts <= element;)
		columns *= 2;
	if (lane < CJ_TMEM_LANES && columns <= CJ_TMEM_COLUMNS)
		return columns;
	refuse_size(el, n, k, l, lane + 1, element / parts + 1);
	return 0;
}

static bool
is_kind(struct cj_elab *el, const struct cj_node *n, enum cj_kind k)
{
	unsigned bits = cj_kind_bits(k);

	if ((cj_kind_is_float(k) || cj_kind_is_integer(k)) &&
	    k != CJ_KIND_INDEX && bits >= 8 && bits <= WORD &&
	    WORD % bits == 0)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_KIND, n->field.type->span,
	    "tensor memory holds numbers of 8, 16 or 32 bits, not %s",
	    cj_kind_text(k));
	return false;
}

/* The word that the address comes to. */
static uint32_t
address_object(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_object o = { .kind = CJ_OBJECT_SHARED,
	    .element = CJ_KIND_U32, .extent = 1, .align = 4, .reads = true,
	    .writes = true, .region = el->em->b.region,
	    .place = el->em->b.place };

	o.name = cj_printf(el->m->arena, "address of %s", cj_elab_name(el,
	    n->field.name.name));
	return cj_module_object(el->m, &o);
}

static bool
make(struct cj_elab *el, const struct cj_node *n, struct cj_tensor *t)
{
	struct cj_value type = cj_elab_memory_type(el, n->field.type);
	struct cj_object o = { .kind = CJ_OBJECT_TMEM, .align = 4,
	    .reads = true, .writes = true, .region = el->em->b.region,
	    .place = el->em->b.place };
	const struct cj_layout *l;
	struct cj_strbuf text;
	int64_t columns;

	if (type.kind == CJ_VALUE_ERROR)
		return false;
	if (!type.type->is_tensor) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, n->field.type->span,
		    "tensor memory is a tensor(T, layout), this is %s",
		    cj_value_text(el, &type));
		return false;
	}
	o.element = type.type->scalar;
	if (!is_kind(el, n, o.element))
		return false;
	l = type.type->layout;
	if (is_shape(el, l))
		l = by_lanes(el, l->shape, o.element);
	columns = columns_of(el, n, o.element, l);
	if (columns == 0)
		return false;
	cj_strbuf_init(&text, el->m->arena);
	cj_layout_print(&text, &el->sym, l, CJ_STYLE_LANGUAGE);
	o.extent = CJ_TMEM_LANES * columns * (WORD / cj_kind_bits(o.element));
	o.name = cj_elab_name(el, n->field.name.name);
	o.layout = text.text;
	*t = (struct cj_tensor){ .level = 2, .offset = cj_known(0),
	    .name = n->field.name.name, .span = n->span,
	    .element = o.element, .layout = l };
	t->object = cj_module_object(el->m, &o);
	*cj_push(el->arena, &el->tmems) = (struct cj_tmem_home){ t->object,
	    address_object(el, n) };
	return true;
}

void
cj_elab_tmem(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value v = cj_value_error();
	struct cj_tensor t;

	if (el->time != CJ_TIME_DEVICE)
		cj_elab_error(el, CJ_DIAG_WRONG_TIME, n->span,
		    "tensor memory belongs to device code");
	else if (el->target != NULL && el->target->family != 100)
		cj_elab_error(el, CJ_DIAG_NO_ATOM, n->span,
		    "tensor memory needs the target sm_100a or sm_103a, this "
		    "is %s", el->target->name);
	else if (make(el, n, &t))
		v = cj_value_tensor(el, &t);
	cj_env_bind(el, n->field.name.name, CJ_BOUND_LET, v,
	    n->field.name.span);
}

/* ---- addresses ----------------------------------------------------------- */

static uint32_t
home_of(const struct cj_elab *el, uint32_t object)
{
	uint32_t i;

	for (i = 0; i < el->tmems.len; i++)
		if (el->tmems.at[i].object == object)
			return el->tmems.at[i].address;
	assert(false && "declared by cj_elab_tmem");
	return 0;
}

cj_ref
cj_tmem_address(struct cj_elab *el, uint32_t object)
{
	struct cj_access a = { .object = home_of(el, object), .align = 4 };
	cj_ref zero = cj_elab_ref_int(el, cj_known(0));

	return cj_emit(&el->em->b, CJ_OP_LOAD, cj_type_of(CJ_KIND_U32, 1),
	    cj_module_access(el->m, &a), &zero, 1);
}

static uint32_t
access_to(struct cj_elab *el, uint32_t object)
{
	struct cj_access a = { .object = object };

	return cj_module_access(el->m, &a);
}

static cj_ref
offset_at(struct cj_elab *el, const struct cj_tensor *t, int64_t index)
{
	struct cj_int at;
	bool ok = cj_layout_offset(&el->al, t->layout,
	    cj_tuple_known(&el->al, index), &at);

	assert(ok && "an index of the layout");
	(void)ok;
	return cj_elab_ref_int(el, cj_int_add(&el->sym, t->offset, at));
}

/* ---- allocation, waits, commits ------------------------------------------ */

/* A whole object; NULL: reported. */
static const struct cj_tensor *
whole_arg(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *v = &args->at[0];

	if (cj_is_tmem(el, v) && !v->tensor->is_part)
		return v->tensor;
	if (v->kind != CJ_VALUE_ERROR)
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, args->span,
		    "%s() takes tensor memory as it was declared, this is %s",
		    row->name, cj_value_what(el, v)),
		    "tmem t: tensor(f32, (128, 256));");
	return NULL;
}

struct cj_value
cj_builtin_tcgen05_alloc(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tensor *t = whole_arg(el, args, row);
	struct cj_tmem_use u = { 0 };
	cj_ref zero;

	if (t == NULL)
		return cj_value_error();
	cj_elab_meet(el, 32, "tcgen05_alloc()");
	u.tmem = access_to(el, t->object);
	u.other = access_to(el, home_of(el, t->object));
	zero = cj_elab_ref_int(el, cj_known(0));
	cj_emit(&el->em->b, CJ_OP_TMEM_ALLOC, 0, cj_module_tmem(el->m, &u),
	    &zero, 1);
	return cj_value_none();
}

struct cj_value
cj_builtin_tcgen05_dealloc(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tensor *t = whole_arg(el, args, row);
	struct cj_tmem_use u = { 0 };
	cj_ref base;

	if (t == NULL)
		return cj_value_error();
	cj_elab_meet(el, 32, "tcgen05_dealloc()");
	u.tmem = access_to(el, t->object);
	base = cj_tmem_address(el, t->object);
	cj_emit(&el->em->b, CJ_OP_TMEM_DEALLOC, 0, cj_module_tmem(el->m, &u),
	    &base, 1);
	return cj_value_none();
}

static bool
needs_blackwell(struct cj_elab *el, struct cj_span span, const char *what)
{
	if (el->target == NULL || el->target->family == 100)
		return true;
	cj_elab_error(el, CJ_DIAG_NO_ATOM, span, "%s needs the target sm_100a "
	    "or sm_103a, this is %s", what, el->target->name);
	return false;
}

struct cj_value
cj_builtin_tcgen05_relinquish(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	if (!needs_blackwell(el, args->span, row->name))
		return cj_value_error();
	cj_elab_meet(el, 32, "tcgen05_relinquish()");
	cj_emit0(&el->em->b, CJ_OP_TMEM_RELINQUISH, 0, 0);
	return cj_value_none();
}

static bool
is_choice(struct cj_elab *el, const struct cj_value *v, const char *name)
{
	return v->kind == CJ_VALUE_CHOICE &&
	    strcmp(cj_elab_name(el, v->choice), name) == 0;
}

struct cj_value
cj_builtin_tcgen05_wait(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	bool loads = is_choice(el, &args->at[0], "load");

	if (!needs_blackwell(el, args->span, row->name))
		return cj_value_error();
	if (!loads && !is_choice(el, &args->at[0], "store"))
		return cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "tcgen05_wait() waits for .load or .store");
	cj_elab_meet(el, 32, "tcgen05_wait()");
	cj_emit0(&el->em->b, CJ_OP_TMEM_WAIT, 0, loads ? CJ_TMEM_WAIT_LOAD :
	    CJ_TMEM_WAIT_STORE);
	return cj_value_none();
}

struct cj_value
cj_builtin_tcgen05_commit(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_tensor own = { .is_remote = false };
	uint32_t access;
	cj_ref offset;

	if (!needs_blackwell(el, args->span, row->name))
		return cj_value_error();
	access = cj_arg_mbarrier(el, args->span, &args->at[0], &own, &offset);
	if (access == 0)
		return cj_value_error();
	cj_emit(&el->em->b, CJ_OP_TCGEN05_COMMIT, 0, access, &offset, 1);
	return cj_value_none();
}

/* ---- atoms --------------------------------------------------------------- */

/* (lanes, bits), n */
static bool
shape_arg(struct cj_elab *el, struct cj_args *args, uint32_t i, int64_t *lanes,
    int64_t *bits)
{
	const struct cj_tuple *shape = cj_arg_tuple(el, args, i);

	if (shape == NULL)
		return false;
	if (cj_tuple_rank(shape) == 2 && cj_tuple_is_known(shape)) {
		*lanes = cj_tuple_product(&el->al, shape->at[0]).value;
		*bits = cj_tuple_product(&el->al, shape->at[1]).value;
		return true;
	}
	cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, cj_arg_span(args, i),
	    "a shape of tensor memory is (lanes, bits)");
	return false;
}

static struct cj_value
transfer(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row, enum cj_atom_use use, const char *packs)
{
	const struct cj_value *v = cj_arg_named(el, args, packs);
	struct cj_atom_value a = { .use = use };
	int64_t lanes, bits, n;

	if (!shape_arg(el, args, 0, &lanes, &bits) || !cj_value_to_known(el,
	    cj_arg_span(args, 1), &args->at[1], "how often it is repeated",
	    &n))
		return cj_value_error();
	if (v != NULL && v->kind != CJ_VALUE_BOOL)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "\"%s\" is true or false and known", packs);
	a.packs = v != NULL && v->truth;
	a.text = cj_elab_call_text(el, row->name, args);
	if (n < 1 || n > 128 || lanes < 1 || lanes > 128 || bits < 1 ||
	    bits > 256 || cj_tmem_registers((uint32_t)lanes, (uint32_t)bits,
	    (uint32_t)n) == 0) {
		cj_help(cj_elab_report(el, CJ_DIAG_NO_ATOM, args->span,
		    "there is no instruction %s", a.text), "There are (32, "
		    "32) and (16, 64) repeated 1 to 128 times, (16, 128) 1 to "
		    "64 times, (16, 256) 1 to 32 times, by powers of two.");
		return cj_value_error();
	}
	if (!needs_blackwell(el, args->span, a.text))
		return cj_value_error();
	a.lanes = (uint32_t)lanes;
	a.bits = (uint32_t)bits;
	a.count = (uint32_t)n;
	if (!cj_copy_atom_find(&el->al, cj_printf(el->arena,
	    "SM100_TMEM_%s_%llddp%lldb%lldx%s", use == CJ_ATOM_TMEM_LOAD ?
	    "LOAD" : "STORE", (long long)lanes, (long long)bits, (long long)n,
	    a.packs ? "_16b" : ""), &a.copy))
		cj_bug(el->recover, "no atom for %s", a.text);
	return (struct cj_value){ .kind = CJ_VALUE_ATOM,
	    .atom = cj_memdup(el->arena, &a, sizeof a) };
}

struct cj_value
cj_builtin_tmem_load(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return transfer(el, args, row, CJ_ATOM_TMEM_LOAD, "pack");
}

struct cj_value
cj_builtin_tmem_store(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return transfer(el, args, row, CJ_ATOM_TMEM_STORE, "unpack");
}

/* ---- copies between registers and tensor memory -------------------------- */

/* One copy(): the view in tensor memory, as `count` instructions of `n`
 * elements of each thread. */
struct transfer {
	const struct cj_copy_value *c;
	const struct cj_tensor *t;
	struct cj_tmem_use use;
	int64_t block;			/* elements of the view a step */
	uint32_t n, count;
};

static bool
make_transfer(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c, uint32_t memory, struct transfer *x)
{
	const struct cj_value *v = &args->at[memory];
	const struct cj_value *r = &args->at[3 - memory];
	const struct cj_tuple *shape = cj_value_shape(r);
	int64_t size;

	if (!cj_is_tmem(el, v) || r->kind == CJ_VALUE_TENSOR ||
	    shape == NULL) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, args->span,
		    "%s copies %s; these are %s and %s", c->atom->text,
		    memory == 1 ? "from tensor memory to a \"var\"" :
		    "from registers to tensor memory", cj_value_what(el,
		    &args->at[1]), cj_value_what(el, &args->at[2])),
		    "copy(c, partition_s(c, t, thread), v) loads, copy(c, v, "
		    "partition_d(c, t, thread)) stores.");
		return false;
	}
	x->c = c;
	x->t = v->tensor;
	x->use = (struct cj_tmem_use){ .lanes = c->atom->lanes,
	    .bits = c->atom->bits, .repeat = c->atom->count,
	    .packs = c->atom->packs };
	x->use.tmem = access_to(el, x->t->object);
	x->n = cj_tmem_registers(x->use.lanes, x->use.bits, x->use.repeat) *
	    WORD / c->bits;
	x->block = (int64_t)x->n * 32;
	size = cj_layout_size(&el->al, x->t->layout).value;
	x->count = (uint32_t)(size / x->block);
	if (size % x->block == 0 && x->count * x->n == cj_shape_count(shape))
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
	    "%lld elements of tensor memory are %lld of each thread, these "
	    "are %u registers", (long long)size, (long long)(size / 32),
	    (unsigned)cj_shape_count(shape));
	return false;
}

/* The first register of step i in the slot; false: reported. */
static bool
registers_at(struct cj_elab *el, struct cj_span span,
    const struct cj_slot *slot, const struct transfer *x, uint32_t i,
    uint32_t *position)
{
	uint32_t parts = WORD / x->c->bits, r;
	struct cj_int at;
	int64_t first = 0;

	for (r = 0; r < x->n; r++) {
		if (!cj_layout_offset(&el->al, slot->layout, cj_tuple_known(
		    &el->al, (int64_t)i * x->n + r), &at))
			return false;
		if (r == 0)
			first = at.value;
		if (at.value != first + r || (slot->first + first) % parts !=
		    0) {
			cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, span,
			    "the registers of one load lie one behind the "
			    "other, these do not");
			return false;
		}
	}
	*position = (uint32_t)(slot->first + first);
	return true;
}

static struct cj_value
load(struct cj_elab *el, struct cj_args *args, const struct cj_copy_value *c)
{
	const struct cj_value *v = &args->at[2];
	struct cj_access a = { 0 };
	struct transfer x;
	cj_ref refs[2];
	uint32_t i;

	if (!make_transfer(el, args, c, 1, &x))
		return cj_value_error();
	if (v->kind != CJ_VALUE_PLACE || v->slot->cell != NULL ||
	    cj_value_kind_of(v) != x.t->element)
		return cj_elab_error(el, CJ_DIAG_WRONG_PLACE,
		    cj_arg_span(args, 2), "a load of %s goes to a \"var\" of "
		    "them, this is %s", cj_kind_text(x.t->element),
		    cj_value_what(el, v));
	cj_elab_meet(el, 32, "a load from tensor memory");
	a.object = v->slot->object;
	for (i = 0; i < x.count; i++) {
		if (!registers_at(el, cj_arg_span(args, 2), v->slot, &x, i,
		    &a.position))
			return cj_value_error();
		x.use.other = cj_module_access(el->m, &a);
		refs[0] = cj_tmem_address(el, x.t->object);
		refs[1] = offset_at(el, x.t, i * x.block);
		cj_emit(&el->em->b, CJ_OP_TMEM_LOAD, 0, cj_module_tmem(el->m,
		    &x.use), refs, 2);
	}
	return cj_value_none();
}

static struct cj_value
store(struct cj_elab *el, struct cj_args *args, const struct cj_copy_value *c)
{
	struct transfer x;
	struct cj_value v;
	cj_ref refs[3], all;
	uint32_t i, k, *at;

	if (!make_transfer(el, args, c, 2, &x))
		return cj_value_error();
	v = cj_elab_read(el, cj_arg_span(args, 1), args->at[1]);
	v = cj_elab_coerce(el, args->span, x.t->element, v);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	cj_elab_meet(el, 32, "a store to tensor memory");
	all = cj_elab_ref(el, &v, CJ_KIND_VOID);
	at = CJ_NEWS(el->arena, uint32_t, x.n);
	for (i = 0; i < x.count; i++) {
		for (k = 0; k < x.n; k++)
			at[k] = i * x.n + k;
		refs[0] = cj_tmem_address(el, x.t->object);
		refs[1] = offset_at(el, x.t, i * x.block);
		refs[2] = cj_elab_permute(el, all, at, x.n);
		cj_emit(&el->em->b, CJ_OP_TMEM_STORE, 0, cj_module_tmem(el->m,
		    &x.use), refs, 3);
	}
	return cj_value_none();
}

struct cj_value
cj_elab_copy_tmem(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c)
{
	return c->atom->use == CJ_ATOM_TMEM_LOAD ? load(el, args, c) :
	    store(el, args, c);
}
