/*
 * Parameters against their patterns (see elab_contract.h for the three
 * walks). The order of the walk is the order of symbols, so that a fact found
 * in CHECK belongs to the symbol of the same number in ASSUME.
 */
#include <stdlib.h>

#include "elab_contract.h"

/* One tensor of a parameter. */
struct member {
	struct cj_contract *c;
	const struct cj_pattern *p;
	uint32_t member, rank;
	const struct cj_actual *actual;		/* BIND, may be NULL */
	enum cj_kind element;
	struct cj_int extent[CJ_MAX_MODES], stride[CJ_MAX_MODES];
	const char *name;			/* "x", "x[1]" */
};

bool
cj_contract_refuse(struct cj_contract *c, struct cj_span span,
    const char *format, ...)
{
	struct cj_strbuf text;
	va_list ap;

	if (c->why == NULL || *c->why != NULL)
		return false;
	cj_strbuf_init(&text, c->el->arena);
	va_start(ap, format);
	cj_strbuf_vprintf(&text, format, ap);
	va_end(ap);
	*c->why = text.text;
	if (c->why_span != NULL)
		*c->why_span = span;
	return false;
}

void
cj_contract_fact(struct cj_contract *c, struct cj_int symbol, int64_t lo,
    int64_t hi, int64_t divisor)
{
	static const struct cj_known_fact none = { INT64_MIN, INT64_MAX, 1 };
	const struct cj_term *t;
	struct cj_known_fact *f;
	int64_t a, b;

	if (cj_is_known(symbol))
		return;
	t = cj_term_get(&c->el->sym, symbol);
	if (t->kind != CJ_TERM_SYMBOL)
		return;
	while (c->facts.len <= t->symbol)
		*cj_push(c->el->arena, &c->facts) = none;
	f = &c->facts.at[t->symbol];
	f->lo = lo > f->lo ? lo : f->lo;
	f->hi = hi < f->hi ? hi : f->hi;
	for (a = f->divisor, b = divisor; b != 0;) {	/* least multiple */
		int64_t r = a % b;

		a = b;
		b = r;
	}
	if (divisor > 1 && f->divisor / a <= INT32_MAX / divisor)
		f->divisor = f->divisor / a * divisor;
}

/* ---- symbols ------------------------------------------------------------- */

static struct cj_int
symbol_for(struct member *m, enum cj_leaf_kind kind, uint32_t mode,
    const char *name)
{
	struct cj_elab *el = m->c->el;
	struct cj_known_fact f = { kind == CJ_LEAF_EXTENT ? 0 : INT64_MIN,
	    INT64_MAX, 1 };
	struct cj_leaf leaf = { .kind = kind,
	    .type = cj_type_of(CJ_KIND_INDEX, 1),
	    .parameter = m->p->number, .member = m->member, .mode = mode,
	    .name = name };
	uint32_t number = el->symbols.len;

	leaf.lo = f.lo;
	leaf.hi = f.hi;
	leaf.divisor = 1;
	if (m->c->walk == CJ_WALK_ASSUME && number < m->c->facts.len) {
		struct cj_known_fact *known = &m->c->facts.at[number];

		f.lo = known->lo > f.lo ? known->lo : f.lo;
		f.hi = known->hi < f.hi ? known->hi : f.hi;
		f.divisor = known->divisor;
	}
	if (f.lo > f.hi)
		f.lo = f.hi;
	return cj_elab_leaf_symbol(el, &leaf, f.lo, f.hi, f.divisor);
}

static const char *
mode_name(struct member *m, const char *what, uint32_t mode)
{
	return cj_printf(m->c->el->arena, "%s of mode %u of %s", what, mode,
	    m->name);
}

static const char *
int_text(struct cj_elab *el, struct cj_int i)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, el->arena);
	cj_int_print(&out, &el->sym, i);
	return out.text;
}

/* ---- requirements -------------------------------------------------------- */

/* refs[0] is the condition, the others are the values of `names`. */
static void
emit_require(struct cj_contract *c, const struct cj_require *r,
    const cj_ref *refs, uint32_t count)
{
	struct cj_elab *el = c->el;

	*cj_push(el->m->arena, &el->m->requires) = *r;
	cj_emit(&el->em->b, CJ_OP_REQUIRE, 0, el->m->requires.len - 1, refs,
	    count);
}

void
cj_contract_require(struct cj_contract *c, cj_ref condition,
    const char *parameter, const char *need, const struct cj_int *shown,
    uint32_t count)
{
	struct cj_elab *el = c->el;
	struct cj_require r = { .parameter = parameter, .need = need,
	    .code = CJ_DIAG_CONTRACT };
	struct cj_strbuf names;
	cj_ref refs[CJ_MAX_MODES + 1];
	uint32_t i;

	assert(count <= CJ_MAX_MODES);
	cj_strbuf_init(&names, el->m->arena);
	refs[0] = condition;
	for (i = 0; i < count; i++) {
		if (i != 0)
			cj_strbuf_puts(&names, ", ");
		cj_strbuf_puts(&names, int_text(el, shown[i]));
		refs[i + 1] = cj_elab_ref_int(el, shown[i]);
	}
	if (count != 0)
		r.names = names.text;
	emit_require(c, &r, refs, count + 1);
}

static cj_ref
compare(struct cj_elab *el, enum cj_op op, struct cj_int a, struct cj_int b)
{
	cj_ref x = cj_elab_ref_int(el, a);

	return cj_emit2(&el->em->b, op, cj_type_of(CJ_KIND_BOOL, 1), x,
	    cj_elab_ref_int(el, b));
}

static cj_ref
either(struct cj_elab *el, cj_ref a, cj_ref b)
{
	return cj_emit2(&el->em->b, CJ_OP_OR, cj_type_of(CJ_KIND_BOOL, 1), a,
	    b);
}

/* `actual`, a symbol of its own, is `wanted`; strides of one element not. */
static void
require_equal(struct member *m, struct cj_int actual, struct cj_int wanted,
    const struct cj_int *extent)
{
	struct cj_elab *el = m->c->el;
	const struct cj_int shown[2] = { actual, wanted };
	cj_ref ok = compare(el, CJ_OP_EQ, actual, wanted);

	if (extent != NULL)
		ok = either(el, ok, compare(el, CJ_OP_LE, *extent,
		    cj_known(1)));
	cj_contract_require(m->c, ok, m->name, cj_printf(el->m->arena,
	    "%s == %s", int_text(el, actual), int_text(el, wanted)), shown,
	    cj_is_known(wanted) ? 1 : 2);
}

/* ---- one number of a pattern --------------------------------------------- */

/* A name that nothing declares yet is bound here. */
static bool
is_new(struct cj_elab *el, cj_name name)
{
	const struct cj_file *f = el->env->file;
	uint32_t i;

	if (cj_env_find(el->env, name) != NULL)
		return false;
	for (i = 0; i < f->decls.len; i++)
		if (f->decls.at[i].name == name)
			return false;
	return true;
}

static int64_t
actual_number(const struct member *m, enum cj_leaf_kind kind, uint32_t mode)
{
	return kind == CJ_LEAF_EXTENT ? m->actual->extents[mode] :
	    m->actual->strides[mode];
}

static const struct cj_const_argument *
given(const struct cj_contract *c, const char *name)
{
	uint32_t i;

	for (i = 0; i < c->given_count; i++)
		if (strcmp(c->given[i].name, name) == 0)
			return &c->given[i];
	return NULL;
}

static bool
parse_number(const struct cj_const_argument *g, int64_t *out)
{
	const struct cj_value *v = g->value;
	char *end;

	if (v != NULL) {
		*out = v->i.value;
		return v->kind == CJ_VALUE_INT && cj_is_known(v->i);
	}
	*out = strtoll(g->text, &end, 0);
	return end != g->text && *end == '\0';
}

/* `const N`: from the argument, else from what the caller gave by name. */
static bool
bind_const(struct member *m, const struct cj_node *n, const char *name,
    enum cj_leaf_kind kind, uint32_t mode, int64_t *out)
{
	struct cj_contract *c = m->c;
	const struct cj_const_argument *g = given(c, name);

	*cj_push(c->el->arena, &c->asked) = name;
	if (m->actual != NULL) {
		*out = actual_number(m, kind, mode);
	} else if (g == NULL || !parse_number(g, out)) {
		return cj_contract_refuse(c, n->span,
		    "%s: \"%s\" needs a value at compile time", m->name, name);
	}
	return true;
}

static bool
in_domain(struct cj_contract *c, const struct cj_node *domain,
    struct cj_value v, bool *inside)
{
	struct cj_elab *el = c->el;
	struct cj_value d;
	uint32_t i;

	*inside = true;
	if (domain == NULL)
		return true;
	if (domain->kind == CJ_NODE_SET) {
		*inside = false;
		for (i = 0; i < domain->set.items.count; i++) {
			d = cj_elab_known(el, domain->set.items.at[i],
			    "a member of a set");
			if (d.kind == CJ_VALUE_ERROR)
				return false;
			*inside = *inside || cj_value_same(&d, &v);
		}
		return true;
	}
	d = cj_elab_known(el, domain, "a domain");
	if (d.kind == CJ_VALUE_ERROR)
		return false;
	if (d.kind != CJ_VALUE_RANGE || v.kind != CJ_VALUE_INT) {
		cj_elab_error(el, CJ_DIAG_CONTRACT, domain->span,
		    "a domain is a set or a range, this is %s",
		    cj_value_what(el, &d));
		return false;
	}
	*inside = v.i.value >= d.range->first.value &&
	    v.i.value < d.range->last.value;
	return true;
}

bool
cj_contract_domain(struct cj_contract *c, const struct cj_node *domain,
    const char *name, struct cj_value v)
{
	bool inside;

	if (!in_domain(c, domain, v, &inside))
		return false;
	return inside || cj_contract_refuse(c, domain->span,
	    "%s = %s is not in %s", name, cj_value_text(c->el, &v),
	    cj_elab_source_text(c->el, domain->span));
}

void
cj_contract_name(struct cj_contract *c, const char *name, const char *value)
{
	cj_strbuf_printf(&c->text, "%s%s=%s", c->text.len == 0 ? "" : ", ",
	    name, value);
}

static bool
const_number(struct member *m, const struct cj_node *n,
    enum cj_leaf_kind kind, uint32_t mode, struct cj_int *out)
{
	struct cj_contract *c = m->c;
	const struct cj_node *b = n->const_bind.binding;
	cj_name key = b->kind == CJ_NODE_NAME ? b->name.name : 0;
	const char *name = key != 0 ? cj_elab_name(c->el, key) :
	    cj_printf(c->el->arena, "%s.%s%u", m->name,
	    kind == CJ_LEAF_EXTENT ? "shape" : "stride", mode);
	int64_t value = 0;

	if (c->walk != CJ_WALK_BIND) {
		value = c->b->pattern.at[c->next++];
	} else {
		if (!bind_const(m, n, name, kind, mode, &value) ||
		    !cj_contract_domain(c, n->const_bind.domain, name,
		    cj_value_known(value)))
			return false;
		*cj_push(c->el->arena, &c->b->pattern) = value;
		cj_contract_name(c, name, cj_printf(c->el->arena, "%lld",
		    (long long)value));
	}
	*out = cj_known(value);
	if (key != 0)
		cj_env_bind(c->el, key, CJ_BOUND_CONST,
		    cj_value_known(value), b->span);
	return true;
}

/* What the pattern's expression says; *is_new: a symbol of its own. */
static bool
wanted_number(struct member *m, const struct cj_node *n,
    enum cj_leaf_kind kind, uint32_t mode, struct cj_int *out, bool *own)
{
	struct cj_elab *el = m->c->el;
	struct cj_value v;

	*own = true;
	if (n == NULL || n->kind == CJ_NODE_ANY) {
		*out = symbol_for(m, kind, mode, mode_name(m,
		    kind == CJ_LEAF_EXTENT ? "extent" : "stride", mode));
		return true;
	}
	if (n->kind == CJ_NODE_NAME && is_new(el, n->name.name)) {
		*out = symbol_for(m, kind, mode,
		    cj_elab_name(el, n->name.name));
		cj_env_bind(el, n->name.name, CJ_BOUND_LET,
		    cj_value_int(*out), n->span);
		return true;
	}
	*own = false;
	if (n->kind == CJ_NODE_CONST_BIND)
		return const_number(m, n, kind, mode, out);
	v = cj_elab_expr(el, n);
	return cj_value_to_int(el, n->span, &v, out);
}

/* One extent or stride: its value in the layout, checked. */
static bool
number(struct member *m, const struct cj_node *n, enum cj_leaf_kind kind,
    uint32_t mode, struct cj_int *out)
{
	struct cj_contract *c = m->c;
	bool own, is_stride = kind == CJ_LEAF_STRIDE;
	struct cj_int actual;

	if (!wanted_number(m, n, kind, mode, out, &own))
		return false;
	if (own)
		return true;
	if (c->walk == CJ_WALK_BIND) {
		if (m->actual == NULL || !cj_is_known(*out) ||
		    actual_number(m, kind, mode) == out->value ||
		    (is_stride && m->actual->extents[mode] <= 1))
			return true;
		return cj_contract_refuse(c, n->span,
		    "%s: %s of mode %u is %lld, needed is %s", m->name,
		    is_stride ? "the stride" : "the extent", mode,
		    (long long)actual_number(m, kind, mode),
		    int_text(c->el, *out));
	}
	actual = symbol_for(m, kind, mode, mode_name(m, is_stride ?
	    "stride" : "extent", mode));
	if (c->walk == CJ_WALK_CHECK)
		require_equal(m, actual, *out,
		    is_stride ? &m->extent[mode] : NULL);
	return true;
}

/* ---- align --------------------------------------------------------------- */

static bool
align_of(struct member *m, int64_t *align)
{
	struct cj_elab *el = m->c->el;
	struct cj_value v;

	*align = m->element == CJ_KIND_BOOL ? 1 : cj_kind_bytes(m->element);
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
require_base(struct member *m, int64_t align)
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
	emit_require(m->c, &r, refs, 2);
}

/*
 * A stride that only run time knows is a multiple of the alignment. It may be
 * 0; it may be 1 only where no other mode is known to have stride 1, and then
 * nothing is assumed of it.
 */
static void
align_stride(struct member *m, int64_t align, uint32_t mode, bool has_unit)
{
	struct cj_elab *el = m->c->el;
	struct cj_int s = m->stride[mode];
	int64_t unit = align / cj_kind_bytes(m->element);
	cj_ref ok;

	if (unit <= 1 || cj_is_known(s))
		return;
	if (has_unit)
		cj_contract_fact(m->c, s, INT64_MIN, INT64_MAX, unit);
	ok = compare(el, CJ_OP_EQ, cj_int_mod(&el->sym, s, cj_known(unit)),
	    cj_known(0));
	if (!has_unit)
		ok = either(el, ok, compare(el, CJ_OP_EQ, s, cj_known(1)));
	ok = either(el, ok, compare(el, CJ_OP_LE, m->extent[mode],
	    cj_known(1)));
	cj_contract_require(m->c, ok, m->name, cj_printf(el->m->arena,
	    "the stride of mode %u a multiple of %lld bytes", mode,
	    (long long)align), &s, 1);
}

static bool
require_align(struct member *m, int64_t align)
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
		    m->stride[i].value != 1 && m->stride[i].value *
		    cj_kind_bytes(m->element) % align != 0) {
			struct cj_int e = m->extent[i];

			cj_contract_require(m->c, compare(m->c->el, CJ_OP_LE,
			    e, cj_known(1)), m->name, "strides that are "
			    "multiples of the alignment", &e, 1);
		}
	}
	return true;
}

/* ---- a tensor ------------------------------------------------------------ */

/* unit(u): mode u has stride 1; unit(const u) finds it. */
static bool
unit_mode(struct member *m, int64_t *mode)
{
	struct cj_contract *c = m->c;
	const struct cj_node *item;
	struct cj_value v;
	uint32_t i;

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
	} else if (m->actual == NULL) {
		return cj_contract_refuse(c, item->span,
		    "%s: the mode of stride 1 is not known", m->name);
	} else {
		for (i = 0; i < m->rank && m->actual->strides[i] != 1; i++)
			;
		if (i == m->rank)
			return cj_contract_refuse(c, item->span,
			    "%s: no mode has stride 1", m->name);
		*mode = i;
		*cj_push(c->el->arena, &c->b->pattern) = i;
		cj_contract_name(c, cj_printf(c->el->arena, "unit(%s)",
		    m->name), cj_printf(c->el->arena, "%u", i));
	}
	if (item->const_bind.binding->kind == CJ_NODE_NAME)
		cj_env_bind(c->el, item->const_bind.binding->name.name,
		    CJ_BOUND_CONST, cj_value_known(*mode), item->span);
	return true;
}

static bool
unit_stride(struct member *m, uint32_t mode)
{
	struct cj_contract *c = m->c;
	struct cj_int actual = symbol_for(m, CJ_LEAF_STRIDE, mode,
	    mode_name(m, "stride", mode));

	m->stride[mode] = cj_known(1);
	if (c->walk == CJ_WALK_CHECK)
		require_equal(m, actual, cj_known(1), &m->extent[mode]);
	if (c->walk == CJ_WALK_BIND && m->actual != NULL &&
	    m->actual->strides[mode] != 1 && m->actual->extents[mode] > 1)
		return cj_contract_refuse(c, m->p->unit->span,
		    "%s: the stride of mode %u is %lld, needed is 1", m->name,
		    mode, (long long)m->actual->strides[mode]);
	return true;
}

/* `*S`: bind the rest of the modes, or compare them. */
static bool
rest_of_shape(struct member *m, const struct cj_node *rest, uint32_t first,
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
			require_equal(m, m->extent[first + i], wanted, NULL);
		m->extent[first + i] = wanted;
	}
	return true;
}

static bool
shape_and_stride(struct member *m)
{
	const struct cj_node *modes[CJ_MAX_MODES], *rest;
	uint32_t first, i;
	int64_t unit;

	if (!cj_pattern_modes(m->p->shape, m->rank, modes, &rest, &first))
		return cj_contract_refuse(m->c, m->p->shape->span,
		    "%s: needs rank %u, got %u", m->name,
		    cj_pattern_rank(m->p->shape, &rest), m->rank);
	for (i = 0; i < m->rank; i++)
		if (!number(m, modes[i], CJ_LEAF_EXTENT, i, &m->extent[i]))
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
		    !number(m, modes[i], CJ_LEAF_STRIDE, i, &m->stride[i]))
			return false;
	return true;
}

static const struct cj_layout *
layout_of(struct member *m)
{
	struct cj_algebra *al = &m->c->el->al;
	const struct cj_tuple *shape[CJ_MAX_MODES], *stride[CJ_MAX_MODES];
	bool is_leaf = m->rank == 1 && m->p->shape->kind != CJ_NODE_TUPLE &&
	    m->p->shape->kind != CJ_NODE_SPREAD;
	uint32_t i;

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
object_of(struct member *m, int64_t align)
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
tensor_value(struct member *m)
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

/* The element type; in BIND it must be the argument's. */
static bool
element_of(struct member *m)
{
	struct cj_elab *el = m->c->el;
	struct cj_value v = cj_elab_type_expr(el, m->p->type);

	if (v.kind == CJ_VALUE_ERROR)
		return false;
	m->element = v.type->scalar;
	if (m->element == CJ_KIND_VOID || m->element == CJ_KIND_INDEX) {
		cj_elab_error(el, CJ_DIAG_CONTRACT, m->p->type->span,
		    "a tensor has elements of a sized type, this is %s",
		    cj_value_text(el, &v));
		return false;
	}
	if (m->actual != NULL && m->actual->kind != m->element)
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
	struct member m = { .c = c, .p = p, .member = member,
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
		struct member m = { .c = c, .p = p };

		return cj_value_int(symbol_for(&m, CJ_LEAF_SCALAR, 0, name));
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
