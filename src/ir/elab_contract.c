/*
 * Parameters against their patterns (see elab_contract.h for the three
 * walks). The order of the walk is the order of symbols, so that a fact found
 * in CHECK belongs to the symbol of the same number in ASSUME.
 */
#include <stdlib.h>

#include "elab_contract.h"

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

	assert(divisor >= 1 && c->walk == CJ_WALK_CHECK);
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

struct cj_int
cj_contract_symbol(struct cj_matched *m, enum cj_leaf_kind kind, uint32_t mode,
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
	assert(number > 0 && "0 is no symbol");
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

const char *
cj_contract_mode(struct cj_matched *m, const char *what, uint32_t mode)
{
	return cj_printf(m->c->el->arena, "%s of mode %u of %s", what, mode,
	    m->name);
}

/* ---- requirements -------------------------------------------------------- */

/* refs[0] is the condition, the others are the values of `names`. */
void
cj_contract_emit(struct cj_contract *c, const struct cj_require *r,
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
		cj_strbuf_puts(&names, cj_elab_int_text(el, shown[i]));
		refs[i + 1] = cj_elab_ref_int(el, shown[i]);
	}
	if (count != 0)
		r.names = names.text;
	cj_contract_emit(c, &r, refs, count + 1);
}

cj_ref
cj_contract_compare(struct cj_elab *el, enum cj_op op, struct cj_int a,
    struct cj_int b)
{
	cj_ref x = cj_elab_ref_int(el, a);

	return cj_emit2(&el->em->b, op, cj_type_of(CJ_KIND_BOOL, 1), x,
	    cj_elab_ref_int(el, b));
}

cj_ref
cj_contract_either(struct cj_elab *el, cj_ref a, cj_ref b)
{
	return cj_emit2(&el->em->b, CJ_OP_OR, cj_type_of(CJ_KIND_BOOL, 1), a,
	    b);
}

/* `actual`, a symbol of its own, is `wanted`; strides of one element not. */
void
cj_contract_equal(struct cj_matched *m, struct cj_int actual,
    struct cj_int wanted, const struct cj_int *extent)
{
	struct cj_elab *el = m->c->el;
	const struct cj_int shown[2] = { actual, wanted };
	cj_ref ok = cj_contract_compare(el, CJ_OP_EQ, actual, wanted);

	if (extent != NULL)
		ok = cj_contract_either(el, ok, cj_contract_compare(el,
		    CJ_OP_LE, *extent, cj_known(1)));
	cj_contract_require(m->c, ok, m->name, cj_printf(el->m->arena,
	    "%s == %s", cj_elab_int_text(el, actual),
	    cj_elab_int_text(el, wanted)), shown,
	    cj_is_known(wanted) ? 1 : 2);
}

/* ---- one number of a pattern --------------------------------------------- */

/* A name that nothing declares yet is bound here. */
static bool
is_new(struct cj_elab *el, cj_name name)
{
	return cj_env_find(el->env, name) == NULL &&
	    cj_file_find(el->env->file, name) == NULL;
}

static int64_t
actual_number(const struct cj_matched *m, enum cj_leaf_kind kind, uint32_t mode)
{
	return kind == CJ_LEAF_EXTENT ? m->actual->extents[mode] :
	    m->actual->strides[mode];
}

const struct cj_const_argument *
cj_contract_argument(const struct cj_contract *c, const char *name)
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

const char *
cj_domain_first(struct cj_elab *el, const struct cj_node *domain)
{
	if (domain != NULL && domain->kind == CJ_NODE_SET &&
	    domain->set.items.count != 0)
		return cj_elab_source_text(el, domain->set.items.at[0]->span);
	if (domain != NULL && domain->kind == CJ_NODE_RANGE)
		return cj_elab_source_text(el, domain->range.first->span);
	return NULL;
}

bool
cj_contract_given(struct cj_matched *m, const struct cj_node *bind,
    const char *name, int64_t *out)
{
	struct cj_contract *c = m->c;
	const char *first = cj_domain_first(c->el, bind->kind !=
	    CJ_NODE_CONST_BIND ? NULL : bind->const_bind.domain);
	const struct cj_const_argument *g = cj_contract_argument(c, name);

	*cj_push(c->el->arena, &c->asked) = name;
	return (g != NULL && parse_number(g, out)) ||
	    cj_contract_refuse(c, bind->span, "%s: \"%s\" needs a value at "
	    "compile time, as in -D %s=%s", m->name, name, name,
	    first != NULL ? first : "4");
}

/* `const N`: from the argument, else from what the caller gave by name. */
static bool
bind_const(struct cj_matched *m, const struct cj_node *n, const char *name,
    enum cj_leaf_kind kind, uint32_t mode, int64_t *out)
{
	struct cj_contract *c = m->c;

	if (m->actual == NULL)
		return cj_contract_given(m, n, name, out);
	*cj_push(c->el->arena, &c->asked) = name;
	*out = actual_number(m, kind, mode);
	return true;
}

bool
cj_elab_in_domain(struct cj_elab *el, const struct cj_node *domain,
    struct cj_value v, bool *inside)
{
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

/* What could be said instead; "" where nothing is known. */
static const char *
domain_remedy(struct cj_contract *c, const struct cj_node *domain,
    const char *name, struct cj_value v)
{
	bool inside;

	if (v.kind != CJ_VALUE_TYPE || v.type->scalar != CJ_KIND_F32 ||
	    !cj_elab_in_domain(c->el, domain, cj_value_type(c->el,
	    CJ_KIND_TF32), &inside) || !inside)
		return "";
	return cj_printf(c->el->arena, "; %s = tf32 takes tensors of f32",
	    name);
}

bool
cj_contract_domain(struct cj_contract *c, const struct cj_node *domain,
    const char *name, struct cj_value v)
{
	bool inside;

	if (!cj_elab_in_domain(c->el, domain, v, &inside))
		return false;
	return inside || cj_contract_refuse(c, domain->span,
	    "%s = %s is not in %s%s", name, cj_value_text(c->el, &v),
	    cj_elab_source_text(c->el, domain->span),
	    domain_remedy(c, domain, name, v));
}

void
cj_contract_name(struct cj_contract *c, const char *name, const char *value)
{
	cj_strbuf_printf(&c->text, "%s%s=%s", c->text.len == 0 ? "" : ", ",
	    name, value);
}

static bool
const_number(struct cj_matched *m, const struct cj_node *n,
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
		assert(c->next <= c->b->pattern.len);
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
wanted_number(struct cj_matched *m, const struct cj_node *n,
    enum cj_leaf_kind kind, uint32_t mode, struct cj_int *out, bool *own)
{
	struct cj_elab *el = m->c->el;
	struct cj_value v;

	*own = true;
	if (n == NULL || n->kind == CJ_NODE_ANY) {
		*out = cj_contract_symbol(m, kind, mode, cj_contract_mode(m,
		    kind == CJ_LEAF_EXTENT ? "extent" : "stride", mode));
		return true;
	}
	if (n->kind == CJ_NODE_NAME && is_new(el, n->name.name)) {
		*out = cj_contract_symbol(m, kind, mode,
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
bool
cj_contract_number(struct cj_matched *m, const struct cj_node *n,
    enum cj_leaf_kind kind, uint32_t mode, struct cj_int *out)
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
		    cj_elab_int_text(c->el, *out));
	}
	actual = cj_contract_symbol(m, kind, mode, cj_contract_mode(m,
	    is_stride ? "stride" : "extent", mode));
	if (c->walk == CJ_WALK_CHECK)
		cj_contract_equal(m, actual, *out,
		    is_stride ? &m->extent[mode] : NULL);
	return true;
}
