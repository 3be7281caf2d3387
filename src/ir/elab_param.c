/*
 * Run-time parameters: a tensor's shape, strides and alignment against its
 * pattern, and what it is in the body; scalars, defaults.
 */
#include "elab_contract.h"
#include "elab_pass.h"

/* ---- align --------------------------------------------------------------- */

/* The alignment that elements have without a word, in bytes. */
static int64_t
element_bytes(const struct cj_matched *m)
{
	return cj_kind_bits(m->element) < 8 ? 1 : cj_kind_bytes(m->element);
}

/* The fewest elements that fill a multiple of `align` bytes. */
static int64_t
elements_in(const struct cj_matched *m, int64_t align)
{
	int64_t bits = m->element == CJ_KIND_BOOL ? 8 :
	    (int64_t)cj_kind_bits(m->element), n = 1;

	while (n * bits % (align * 8) != 0)
		n *= 2;
	return n;
}

static bool
align_of(struct cj_matched *m, int64_t *align)
{
	struct cj_elab *el = m->c->el;
	struct cj_value v;

	*align = element_bytes(m);
	if (m->p->align == NULL)
		return true;
	v = cj_elab_expr(el, m->p->align->attr.items.at[0]);
	if (!cj_value_to_known(el, m->p->align->span, &v, "an alignment",
	    align))
		return false;
	if (*align > 0 && *align <= 1024 && (*align & (*align - 1)) == 0)
		return true;
	cj_elab_error(el, CJ_DIAG_CONTRACT, m->p->align->span,
	    "an alignment is a power of two up to 1024, this is %lld",
	    (long long)*align);
	return false;
}

static void
require_base(struct cj_matched *m, int64_t align)
{
	struct cj_elab *el = m->c->el;
	struct cj_leaf leaf = { .kind = CJ_LEAF_ALIGN,
	    .type = cj_type_of(CJ_KIND_INDEX, 1),
	    .parameter = m->p->number, .member = m->member, .lo = 1,
	    .hi = 1024, .divisor = 1, .name = cj_printf(el->m->arena,
	    "alignment of %s", m->name) };
	struct cj_require r = { .parameter = m->name, .names = leaf.name,
	    .need = cj_printf(el->m->arena, "%lld-byte alignment",
	    (long long)align), .code = CJ_DIAG_CONTRACT };
	cj_ref refs[2], least = cj_emit_index(&el->em->b, align);

	refs[1] = cj_elab_host_leaf(el, &leaf);
	refs[0] = cj_emit2(&el->em->b, CJ_OP_LE, cj_type_of(CJ_KIND_BOOL, 1),
	    least, refs[1]);
	cj_contract_emit(m->c, &r, refs, 2);
}

/*
 * A stride that only run time knows is a multiple of the alignment. It may be
 * 0; it may be 1 only where no other mode is known to have stride 1, and then
 * nothing is assumed of it.
 */
static void
align_stride(struct cj_matched *m, int64_t align, uint32_t mode, bool has_unit)
{
	struct cj_elab *el = m->c->el;
	struct cj_int s = m->stride[mode];
	int64_t unit = elements_in(m, align);
	cj_ref ok;

	assert(m->c->walk == CJ_WALK_CHECK && mode < m->rank);
	if (unit <= 1 || cj_is_known(s))
		return;
	if (has_unit)
		cj_contract_fact(m->c, s, INT64_MIN, INT64_MAX, unit);
	ok = cj_contract_compare(el, CJ_OP_EQ, cj_int_mod(&el->sym, s,
	    cj_known(unit)), cj_known(0));
	if (!has_unit)
		ok = cj_contract_either(el, ok, cj_contract_compare(el,
		    CJ_OP_EQ, s, cj_known(1)));
	ok = cj_contract_either(el, ok, cj_contract_compare(el, CJ_OP_LE,
	    m->extent[mode], cj_known(1)));
	cj_contract_require(m->c, ok, m->name, cj_printf(el->m->arena,
	    "the stride of mode %u a multiple of %lld elements, and so of "
	    "%lld bytes", mode, (long long)unit, (long long)align), &s, 1);
}

static bool
require_align(struct cj_matched *m, int64_t align)
{
	bool has_unit = false;
	uint32_t i;

	if (m->c->walk != CJ_WALK_CHECK)
		return true;
	/* elements are aligned to themselves without a word */
	require_base(m, align);
	if (m->p->align == NULL)
		return true;
	for (i = 0; i < m->rank; i++)
		has_unit = has_unit || cj_is_value(m->stride[i], 1);
	for (i = 0; i < m->rank; i++) {
		if (!cj_is_known(m->stride[i])) {
			align_stride(m, align, i, has_unit);
		} else if (m->stride[i].value != 0 &&
		    m->stride[i].value != 1 && m->stride[i].value %
		    elements_in(m, align) != 0) {
			struct cj_int e = m->extent[i];

			cj_contract_require(m->c, cj_contract_compare(
			    m->c->el, CJ_OP_LE, e, cj_known(1)), m->name,
			    cj_printf(m->c->el->m->arena, "at most one in mode "
			    "%u, whose stride of %lld is no multiple of %lld "
			    "elements, and so of %lld bytes", i,
			    (long long)m->stride[i].value,
			    (long long)elements_in(m, align),
			    (long long)align), &e, 1);
		}
	}
	return true;
}

/* ---- a tensor ------------------------------------------------------------ */

/* "u" of unit(const u). */
static const char *
unit_name(const struct cj_matched *m, const struct cj_node *item)
{
	const struct cj_node *b = item->const_bind.binding;

	return b->kind == CJ_NODE_NAME ?
	    cj_elab_name(m->c->el, b->name.name) :
	    cj_printf(m->c->el->arena, "unit(%s)", m->name);
}

/* The mode of stride 1 that the argument has, or that is given by name. */
static bool
find_unit(struct cj_matched *m, const struct cj_node *item, int64_t *mode)
{
	uint32_t i;

	if (m->actual == NULL) {
		if (!cj_contract_given(m, item, unit_name(m, item),
		    mode))
			return false;
		return (*mode >= 0 && *mode < m->rank) ||
		    cj_contract_refuse(m->c, item->span,
		    "%s: there is no mode %lld", m->name, (long long)*mode);
	}
	for (i = 0; i < m->rank && m->actual->strides[i] != 1; i++)
		;
	*mode = i;
	return i < m->rank || cj_contract_refuse(m->c, item->span,
	    "%s: no mode has stride 1", m->name);
}

/* unit(u): mode u has stride 1; unit(const u) finds it. */
static bool
unit_mode(struct cj_matched *m, int64_t *mode)
{
	struct cj_contract *c = m->c;
	const struct cj_node *item;
	struct cj_value v;

	*mode = -1;
	if (m->p->unit == NULL)
		return true;
	item = m->p->unit->attr.items.at[0];
	if (item->kind != CJ_NODE_CONST_BIND) {
		v = cj_elab_expr(c->el, item);
		return cj_value_to_known(c->el, item->span, &v,
		    "the mode of stride 1", mode);
	}
	if (c->walk != CJ_WALK_BIND) {
		*mode = c->b->pattern.at[c->next++];
	} else {
		if (!find_unit(m, item, mode))
			return false;
		*cj_push(c->el->arena, &c->b->pattern) = *mode;
		cj_contract_name(c, unit_name(m, item), cj_printf(
		    c->el->arena, "%lld", (long long)*mode));
	}
	if (item->const_bind.binding->kind == CJ_NODE_NAME)
		cj_env_bind(c->el, item->const_bind.binding->name.name,
		    CJ_BOUND_CONST, cj_value_known(*mode), item->span);
	return true;
}

static bool
unit_stride(struct cj_matched *m, uint32_t mode)
{
	struct cj_contract *c = m->c;
	struct cj_int actual = cj_contract_symbol(m, CJ_LEAF_STRIDE, mode,
	    cj_contract_mode(m, "stride", mode));

	m->stride[mode] = cj_known(1);
	if (c->walk == CJ_WALK_CHECK)
		cj_contract_equal(m, actual, cj_known(1), &m->extent[mode]);
	if (c->walk == CJ_WALK_BIND && m->actual != NULL &&
	    m->actual->strides[mode] != 1 && m->actual->extents[mode] > 1)
		return cj_contract_refuse(c, m->p->unit->span,
		    "%s: the stride of mode %u is %lld, needed is 1", m->name,
		    mode, (long long)m->actual->strides[mode]);
	return true;
}

/* `*S`: bind the rest of the modes, or compare them. */
static bool
rest_of_shape(struct cj_matched *m, const struct cj_node *rest, uint32_t first,
    uint32_t count)
{
	struct cj_elab *el = m->c->el;
	const struct cj_node *name = rest->spread.operand;
	struct cj_value at[CJ_MAX_MODES];
	const struct cj_bound *b;
	uint32_t i;

	if (name->kind != CJ_NODE_NAME)
		return true;
	b = cj_env_find(el->env, name->name.name);
	for (i = 0; i < count; i++)
		at[i] = cj_value_int(m->extent[first + i]);
	if (b == NULL) {
		cj_env_bind(el, name->name.name, CJ_BOUND_LET,
		    cj_value_tuple(el, at, NULL, count), name->span);
		return true;
	}
	if (b->value.kind != CJ_VALUE_TUPLE || b->value.tuple->count != count)
		return cj_contract_refuse(m->c, rest->span,
		    "%s: *%s stands for %u modes elsewhere, here for %u",
		    m->name, cj_elab_name(el, b->name),
		    b->value.kind == CJ_VALUE_TUPLE ?
		    b->value.tuple->count : 1, count);
	for (i = 0; i < count; i++) {
		struct cj_int wanted = b->value.tuple->at[i].i;

		if (m->c->walk == CJ_WALK_CHECK)
			cj_contract_equal(m, m->extent[first + i], wanted,
			    NULL);
		m->extent[first + i] = wanted;
	}
	return true;
}

static bool
shape_and_stride(struct cj_matched *m)
{
	const struct cj_node *modes[CJ_MAX_MODES], *rest;
	uint32_t first, i;
	int64_t unit;

	if (m->rank > CJ_MAX_MODES)
		return cj_contract_refuse(m->c, m->p->shape->span,
		    "%s: a tensor argument has up to %d modes, this one %u",
		    m->name, CJ_MAX_MODES, m->rank);
	if (!cj_pattern_modes(m->p->shape, m->rank, modes, &rest, &first))
		return cj_contract_refuse(m->c, m->p->shape->span,
		    "%s: needs rank %u, got %u", m->name,
		    cj_pattern_rank(m->p->shape, &rest), m->rank);
	for (i = 0; i < m->rank; i++)
		if (!cj_contract_number(m, modes[i], CJ_LEAF_EXTENT, i,
		    &m->extent[i]))
			return false;
	if (rest != NULL && !rest_of_shape(m, rest, first, m->rank -
	    cj_pattern_rank(m->p->shape, &rest)))
		return false;
	if (!unit_mode(m, &unit))
		return false;
	memset(modes, 0, sizeof modes);
	if (m->p->stride != NULL && !cj_pattern_modes(m->p->stride, m->rank,
	    modes, &rest, &first)) {
		cj_elab_error(m->c->el, CJ_DIAG_CONTRACT, m->p->stride->span,
		    "shape and stride of \"%s\" have different ranks",
		    m->name);
		return false;
	}
	for (i = 0; i < m->rank; i++)
		if (modes[i] == NULL && unit == i ? !unit_stride(m, i) :
		    !cj_contract_number(m, modes[i], CJ_LEAF_STRIDE, i,
		    &m->stride[i]))
			return false;
	return true;
}

static const struct cj_layout *
layout_of(struct cj_matched *m)
{
	struct cj_algebra *al = &m->c->el->al;
	const struct cj_tuple *shape[CJ_MAX_MODES], *stride[CJ_MAX_MODES];
	bool is_leaf = m->rank == 1 && m->p->shape->kind != CJ_NODE_TUPLE &&
	    m->p->shape->kind != CJ_NODE_SPREAD;
	uint32_t i;

	assert(m->rank <= CJ_MAX_MODES);
	for (i = 0; i < m->rank; i++) {
		shape[i] = cj_tuple_int(al, m->extent[i]);
		stride[i] = cj_tuple_int(al, m->stride[i]);
	}
	if (is_leaf)
		return cj_layout_make(al, shape[0], stride[0]);
	return cj_layout_make(al, cj_tuple_make(al, shape, m->rank),
	    cj_tuple_make(al, stride, m->rank));
}

static uint32_t
object_of(struct cj_matched *m, int64_t align)
{
	struct cj_elab *el = m->c->el;
	struct cj_object o = { .kind = CJ_OBJECT_TENSOR,
	    .element = m->element, .extent = -1, .align = (uint32_t)align,
	    .parameter = m->p->number, .member = m->member,
	    .may_alias = m->p->alias != NULL, .name = m->name,
	    .place = cj_module_place(el->m, m->p->param->span, 0, -1) };
	struct cj_strbuf text;

	cj_strbuf_init(&text, el->m->arena);
	cj_layout_print(&text, &el->sym, layout_of(m), CJ_STYLE_LANGUAGE);
	o.layout = text.text;
	return cj_module_object(el->m, &o);
}

static struct cj_value
tensor_value(struct cj_matched *m)
{
	struct cj_tensor t = { .element = m->element, .level = 1,
	    .offset = cj_known(0), .name = m->p->param->param.name.name,
	    .span = m->p->param->span };
	int64_t align;

	if (!shape_and_stride(m) || !align_of(m, &align) ||
	    !require_align(m, align))
		return cj_value_error();
	t.layout = layout_of(m);
	if (t.layout == NULL)
		return cj_elab_refused(m->c->el, m->p->param->span, m->name);
	if (m->c->walk == CJ_WALK_ASSUME)
		t.object = object_of(m, align);
	return cj_value_tensor(m->c->el, &t);
}

bool
cj_contract_takes(enum cj_kind element, enum cj_kind given)
{
	return element == given ||
	    (element == CJ_KIND_TF32 && given == CJ_KIND_F32);
}

/* The element type; in BIND it must be the argument's. */
static bool
element_of(struct cj_matched *m)
{
	struct cj_elab *el = m->c->el;
	struct cj_value v = cj_elab_type_expr(el, m->p->type);
	struct cj_diag *d;

	if (v.kind == CJ_VALUE_ERROR)
		return false;
	m->element = v.type->scalar;
	if (m->element == CJ_KIND_VOID || m->element == CJ_KIND_INDEX ||
	    cj_kind_is_place(m->element)) {
		d = cj_elab_report(el, CJ_DIAG_CONTRACT, m->p->type->span,
		    "a tensor has elements of a sized type, this is %s",
		    cj_value_text(el, &v));
		if (m->element == CJ_KIND_INDEX)
			cj_help(d, "Integers of memory are i32, i64, u8 and "
			    "their like.");
		return false;
	}
	if (m->actual != NULL &&
	    !cj_contract_takes(m->element, m->actual->kind))
		return cj_contract_refuse(m->c, m->p->type->span,
		    "%s: needs elements of type %s, got %s", m->name,
		    cj_kind_text(m->element), cj_kind_text(m->actual->kind));
	return true;
}

static const struct cj_actual *
actual_of(const struct cj_contract *c, const struct cj_pattern *p,
    uint32_t member)
{
	const struct cj_actual *a;

	if (c->actuals == NULL || p->number >= c->actual_count)
		return NULL;
	a = &c->actuals[p->number];
	return member == 0 ? a : &a->more[member - 1];
}

static struct cj_value
one_tensor(struct cj_contract *c, const struct cj_pattern *p, uint32_t member)
{
	struct cj_matched m = { .c = c, .p = p, .member = member,
	    .actual = actual_of(c, p, member),
	    .rank = c->b->params.at[p->number].rank };

	m.name = cj_elab_name(c->el, p->param->param.name.name);
	if (p->is_array)
		m.name = cj_printf(c->el->m->arena, "%s[%u]", m.name, member);
	if (m.actual != NULL && !m.actual->is_tensor) {
		cj_contract_refuse(c, p->param->span,
		    "%s: needs a tensor, got a number", m.name);
		return cj_value_error();
	}
	if (m.actual != NULL && !p->is_array && m.actual->count > 1) {
		cj_contract_refuse(c, p->param->span,
		    "%s: needs one tensor, got %u", m.name, m.actual->count);
		return cj_value_error();
	}
	if (m.actual != NULL)
		m.rank = m.actual->rank;
	if (!element_of(&m))
		return cj_value_error();
	return tensor_value(&m);
}

static struct cj_value
tensors(struct cj_contract *c, const struct cj_pattern *p)
{
	uint32_t count = c->b->params.at[p->number].count, i;
	struct cj_value *at;

	assert(p->is_tensor && count >= 1);
	if (!p->is_array)
		return one_tensor(c, p, 0);
	at = CJ_NEWS(c->el->arena, struct cj_value, count + 1);
	for (i = 0; i < count; i++) {
		at[i] = one_tensor(c, p, i);
		if (at[i].kind == CJ_VALUE_ERROR)
			return at[i];
	}
	return cj_value_tuple(c->el, at, NULL, count);
}

/* ---- scalars ------------------------------------------------------------- */

static struct cj_value
scalar(struct cj_contract *c, const struct cj_pattern *p)
{
	struct cj_elab *el = c->el;
	struct cj_value type = cj_elab_type_expr(el, p->type);
	const struct cj_actual *a = actual_of(c, p, 0);
	const char *name = cj_elab_name(el, p->param->param.name.name);
	struct cj_leaf leaf = { .kind = CJ_LEAF_SCALAR,
	    .parameter = p->number, .lo = INT64_MIN, .hi = INT64_MAX,
	    .divisor = 1, .name = name };
	enum cj_kind k;

	if (type.kind == CJ_VALUE_ERROR)
		return type;
	k = type.type->scalar;
	if (k == CJ_KIND_VOID || k == CJ_KIND_PTR || k == CJ_KIND_MAP)
		return cj_elab_error(el, CJ_DIAG_CONTRACT, p->type->span,
		    "\"%s\" is neither a tensor nor a number", name);
	if (a != NULL && a->is_tensor) {
		cj_contract_refuse(c, p->param->span,
		    "%s: needs a number, got a tensor", name);
		return cj_value_error();
	}
	leaf.type = cj_type_of(k, 1);
	if (k == CJ_KIND_INDEX || c->walk == CJ_WALK_BIND) {
		struct cj_matched m = { .c = c, .p = p };

		return cj_value_int(cj_contract_symbol(&m, CJ_LEAF_SCALAR, 0,
		    name));
	}
	return cj_value_regs(el, k, NULL, cj_elab_host_leaf(el, &leaf));
}

/* A scalar that the caller left out has its default, compiled in. */
static struct cj_value
default_of(struct cj_contract *c, const struct cj_pattern *p)
{
	struct cj_elab *el = c->el;
	struct cj_value type, v;

	if (p->is_optional)
		return cj_value_none();
	type = cj_elab_type_expr(el, p->type);
	v = cj_elab_known(el, p->param->param.init, "a default");
	if (type.kind == CJ_VALUE_ERROR || v.kind == CJ_VALUE_ERROR)
		return cj_value_error();
	return cj_elab_coerce_type(el, p->param->span, type.type, v);
}

bool
cj_contract_walk(struct cj_contract *c)
{
	const struct cj_pattern *list;
	struct cj_value v;
	bool ok = true;
	uint32_t count, i;

	if (!cj_pattern_list(c->el, c->kernel, &list, &count))
		return false;
	for (i = 0; i < count; i++) {
		const struct cj_pattern *p = &list[i];

		if (!c->b->params.at[i].present)
			v = default_of(c, p);
		else
			v = p->is_tensor ? tensors(c, p) : scalar(c, p);
		ok = ok && v.kind != CJ_VALUE_ERROR;
		if (!ok && c->walk == CJ_WALK_BIND)
			return false;
		cj_env_bind(c->el, p->param->param.name.name, CJ_BOUND_LET, v,
		    p->param->param.name.span);
	}
	return ok;
}
