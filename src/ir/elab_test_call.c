/*
 * Launches in tests and `time` in benches: a CALL instruction whose record
 * says which kernel, with which compile-time arguments (values of the
 * elaborator, for cj_bind) and which tensors and scalars.
 */
#include "elab_gather.h"
#include "elab_test_priv.h"
#include "elab_origin.h"

/* What a CALL record's `binding` points to. */
struct consts {
	uint32_t count;
	const struct cj_const_argument *at;
};

uint32_t
cj_call_consts(const struct cj_call *c, const struct cj_const_argument **consts)
{
	const struct consts *k = c->binding;

	*consts = k == NULL ? NULL : k->at;
	return k == NULL ? 0 : k->count;
}

/* A call under construction. */
struct call {
	struct cj_span span;
	const struct cj_member_info *family;	/* its first member */
	CJ_VEC(struct cj_argument) argument;
	CJ_VEC(cj_ref) operand;
	CJ_VEC(struct cj_const_argument) consts;
	bool *given;			/* by parameter */
};

/* What stands for "k" without a number. */
#define EVERY_MEMBER INT64_MIN

/* name or name[i]; NULL: reported. */
static const struct cj_member_info *
read_kernel(struct cj_elab *el, const struct cj_node *path,
    int64_t *member)
{
	const struct cj_node *base = path;

	*member = EVERY_MEMBER;
	if (path->kind == CJ_NODE_INDEX) {
		struct cj_value v;

		base = path->index.base;
		if (path->index.items.count != 1) {
			cj_elab_report(el, CJ_DIAG_WRONG_INDEX, path->span,
			    "a member of a family has one number");
			return NULL;
		}
		v = cj_elab_expr(el, path->index.items.at[0]);
		if (v.kind == CJ_VALUE_ERROR || !cj_value_to_known(el,
		    path->span, &v, "the number of a member", member))
			return NULL;
	}
	return cj_family_find(el, base);
}

static bool
has_member(struct cj_elab *el, const struct cj_member_info *family,
    int64_t member, struct cj_span span)
{
	uint32_t count = cj_family_count(el->unit, family);

	if (member >= 0 && member < count)
		return true;
	cj_elab_report(el, CJ_DIAG_WRONG_INDEX, span,
	    "the family \"%s\" has %u member%s, counted from 0: there is no "
	    "number %lld", family->kernel, count, count == 1 ? "" : "s",
	    (long long)member);
	return false;
}

/* ---- arguments ----------------------------------------------------------- */

static bool
push_tensor(struct cj_elab *el, struct call *c, uint32_t parameter,
    uint32_t member, struct cj_span span, const struct cj_tensor *t)
{
	uint32_t rank = cj_layout_rank(t->layout), i;
	struct cj_argument a = { 0 };

	if (!cj_elab_not_gathered(el, span, t,
	    "an argument is memory with a layout",
	    "Give the tensor and the indices, and gather in the kernel.") ||
	    !cj_elab_not_guarded(el, span, t, "an argument is memory with a "
	    "layout", "Give the view without it, and guard in the kernel."))
		return false;
	a.kind = CJ_ARGUMENT_TENSOR;
	a.parameter = parameter;
	a.member = member;
	a.element = t->element;
	a.object = t->object;
	a.rank = rank;
	*cj_push(el->arena, &c->operand) = cj_elab_ref_int(el, t->offset);
	if (t->layout->is_composed) {
		cj_elab_report(el, CJ_DIAG_WRONG_KIND, span,
		    "a swizzled array cannot be an argument");
		return false;
	}
	for (i = 0; i < rank; i++)
		*cj_push(el->arena, &c->operand) = cj_elab_count(el,
		    cj_tuple_get(t->layout->shape, i));
	for (i = 0; i < rank; i++) {
		const struct cj_layout *m = cj_layout_get(&el->al, t->layout,
		    i);
		const struct cj_tuple *stride;

		/* Coalescing would forget the stride of an extent of 1. */
		if (m->stride->kind != CJ_TUPLE_INT)
			m = cj_layout_coalesce(&el->al, m, NULL);
		stride = m == NULL ? NULL : m->stride;
		if (stride != NULL && stride->kind == CJ_TUPLE_TUPLE &&
		    stride->rank == 1)
			stride = stride->at[0];
		if (stride == NULL || stride->kind != CJ_TUPLE_INT) {
			cj_elab_report(el, CJ_DIAG_WRONG_KIND, span,
			    "mode %u of the argument has no single stride",
			    i);
			return false;
		}
		*cj_push(el->arena, &c->operand) = cj_elab_ref_int(el,
		    stride->value);
	}
	*cj_push(el->arena, &c->argument) = a;
	return true;
}

/* Kind of a scalar parameter whose type is a plain one; VOID: a const. */
static enum cj_kind
plain_kind(struct cj_elab *el, const struct cj_node *type)
{
	enum cj_kind k;

	if (type == NULL || type->kind != CJ_NODE_NAME)
		return CJ_KIND_VOID;
	k = cj_kind_find(cj_elab_name(el, type->name.name));
	/* opaque: what the kernel says of its type is the diagnostic */
	return cj_kind_class(k) == CJ_CLASS_OTHER ? CJ_KIND_VOID : k;
}

static bool
push_scalar(struct cj_elab *el, struct call *c, uint32_t parameter,
    struct cj_span span, const struct cj_node *param, struct cj_value v)
{
	enum cj_kind k = plain_kind(el, param->param.type);
	struct cj_argument a = { 0 };

	if (k != CJ_KIND_VOID)
		v = cj_elab_coerce(el, span, k, v);
	else
		k = cj_value_kind_of(&v);
	if (v.kind == CJ_VALUE_ERROR)
		return false;
	if (v.kind == CJ_VALUE_BOOL)
		k = CJ_KIND_BOOL;
	if (cj_value_shape(&v) != NULL || !cj_value_is_number(&v)) {
		cj_elab_report(el, CJ_DIAG_WRONG_KIND, span,
		    "\"%s\" needs %s, this is %s",
		    cj_elab_name(el, param->param.name.name),
		    param->param.type != NULL && k == CJ_KIND_VOID ?
		    "an array, or a number" : "a number",
		    cj_value_what(el, &v));
		return false;
	}
	if (k == CJ_KIND_VOID)
		k = CJ_KIND_F64;
	a.kind = CJ_ARGUMENT_SCALAR;
	a.parameter = parameter;
	a.element = k;
	*cj_push(el->arena, &c->operand) = cj_elab_ref(el, &v, k);
	*cj_push(el->arena, &c->argument) = a;
	return true;
}

static bool
push_argument(struct cj_elab *el, struct call *c, uint32_t parameter,
    const struct cj_node *param, struct cj_span span, struct cj_value v)
{
	struct cj_argument none = { 0 };
	uint32_t i;

	if (v.kind == CJ_VALUE_ERROR)
		return false;
	if (v.kind == CJ_VALUE_NONE) {
		none.kind = CJ_ARGUMENT_NONE;
		none.parameter = parameter;
		*cj_push(el->arena, &c->argument) = none;
		return true;
	}
	if (cj_elab_is_array(el, &v))
		return push_tensor(el, c, parameter, 0, span, v.tensor);
	if (v.kind == CJ_VALUE_TUPLE && v.tuple->count > 0 &&
	    cj_elab_is_array(el, &v.tuple->at[0])) {
		for (i = 0; i < v.tuple->count; i++) {
			if (!cj_elab_is_array(el, &v.tuple->at[i])) {
				cj_elab_report(el, CJ_DIAG_WRONG_KIND, span,
				    "element %u of the tuple is no array",
				    i);
				return false;
			}
			if (!push_tensor(el, c, parameter, i, span,
			    v.tuple->at[i].tensor))
				return false;
		}
		return true;
	}
	return push_scalar(el, c, parameter, span, param, v);
}

static bool
push_const(struct cj_elab *el, struct call *c, cj_name name,
    struct cj_span span, struct cj_value v)
{
	struct cj_const_argument a = { 0 };
	struct cj_value *copy = CJ_NEW(el->arena, struct cj_value);

	if (v.kind == CJ_VALUE_ERROR)
		return false;
	if (v.kind != CJ_VALUE_FUNCTION && !cj_value_is_known(&v)) {
		cj_elab_note_origin(el, cj_elab_report(el,
		    CJ_DIAG_NOT_KNOWN, span, "\"%s\" is a compile-time "
		    "parameter, its value must be known", cj_elab_name(el,
		    name)), &v, NULL);
		return false;
	}
	*copy = v;
	a.name = cj_elab_name(el, name);
	a.text = cj_value_text(el, &v);
	a.value = copy;
	*cj_push(el->arena, &c->consts) = a;
	return true;
}

/* Run-time parameter `wanted` (from 0) in order, or NULL. */
static const struct cj_node *
nth_parameter(const struct cj_node *kernel, uint32_t wanted)
{
	const struct cj_list *params = &kernel->kernel.params;
	uint32_t i, n = 0;

	for (i = 0; i < params->count; i++)
		if (params->at[i]->param.mode != CJ_MODE_CONST &&
		    n++ == wanted)
			return params->at[i];
	return NULL;
}

/* The parameter of that name: its declaration, and its number among the
 * run-time ones. All members are asked, since const ones may differ. */
static const struct cj_node *
named_parameter(struct cj_elab *el, const struct cj_member_info *family,
    cj_name name, uint32_t *number)
{
	const struct cj_unit *u = el->unit;
	uint32_t m, i, n;

	for (m = 0; m < u->members.len; m++) {
		const struct cj_node *k = u->members.at[m].node;

		if (strcmp(u->members.at[m].kernel, family->kernel) != 0)
			continue;
		for (i = n = 0; i < k->kernel.params.count; i++) {
			const struct cj_node *p = k->kernel.params.at[i];

			if (p->param.name.name == name) {
				*number = n;
				return p;
			}
			n += p->param.mode != CJ_MODE_CONST;
		}
	}
	return NULL;
}

/* k(x, y, alpha = 1, const T): what the kernel's first member takes. */
static void
help_form(struct cj_elab *el, struct cj_diag *d,
    const struct cj_member_info *family)
{
	const struct cj_list *params = &family->node->kernel.params;
	bool has_const = false, is_const;
	struct cj_strbuf b;
	uint32_t i;

	cj_strbuf_init(&b, el->ds->arena);
	for (i = 0; i < params->count; i++) {
		const struct cj_node *p = params->at[i];

		is_const = p->param.mode == CJ_MODE_CONST;
		has_const = has_const || is_const;
		cj_strbuf_printf(&b, "%s%s%s", i == 0 ? "" : ", ",
		    is_const ? "const " : "",
		    cj_elab_name(el, p->param.name.name));
		if (p->param.init != NULL)
			cj_strbuf_printf(&b, " = %s",
			    cj_elab_source_text(el, p->param.init->span));
	}
	cj_note(d, family->span, "it is declared here");
	cj_help(d, "It takes (%s)%s.", b.text, has_const ?
	    "; what is const is given by name" : "");
}

static void
no_parameter(struct cj_elab *el, const struct call *c,
    const struct cj_node *item)
{
	const struct cj_list *params = &c->family->node->kernel.params;
	const char **all = CJ_NEWS(el->arena, const char *,
	    params->count + 1), *near;
	const char *name = cj_elab_name(el, item->named.name.name);
	struct cj_diag *d;
	uint32_t i;

	d = cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, item->span,
	    "kernel \"%s\" has no parameter \"%s\"", c->family->kernel, name);
	for (i = 0; i < params->count; i++)
		all[i] = cj_elab_name(el, params->at[i]->param.name.name);
	near = cj_nearest(name, all, params->count);
	if (near == NULL) {
		help_form(el, d, c->family);
		return;
	}
	cj_help(d, "Did you mean \"%s\"?", near);
	cj_fixit(d, item->named.name.span, "%s", near);
}

static bool
read_named(struct cj_elab *el, struct call *c, const struct cj_node *item)
{
	cj_name name = item->named.name.name;
	uint32_t number;
	const struct cj_node *p = named_parameter(el, c->family, name,
	    &number);

	if (p == NULL) {
		no_parameter(el, c, item);
		return false;
	}
	if (p->param.mode == CJ_MODE_CONST)
		return push_const(el, c, name, item->span,
		    cj_elab_expr(el, item->named.value));
	if (c->given[number]) {
		cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, item->span,
		    "\"%s\" is given twice", cj_elab_name(el, name));
		return false;
	}
	c->given[number] = true;
	return push_argument(el, c, number, p, item->span,
	    cj_elab_expr(el, item->named.value));
}

static bool
read_arguments(struct cj_elab *el, struct call *c, const struct cj_list *items)
{
	uint32_t i, number = 0;

	c->given = CJ_NEWS(el->arena, bool,
	    c->family->node->kernel.params.count + 1);
	for (i = 0; i < items->count; i++) {
		const struct cj_node *item = items->at[i];
		const struct cj_node *p;

		if (item->kind == CJ_NODE_NAMED) {
			if (!read_named(el, c, item))
				return false;
			continue;
		}
		p = nth_parameter(c->family->node, number);
		if (p == NULL) {
			help_form(el, cj_elab_report(el,
			    CJ_DIAG_WRONG_ARGUMENTS, item->span,
			    "kernel \"%s\" takes %u argument%s",
			    c->family->kernel, number, number == 1 ? "" :
			    "s"), c->family);
			return false;
		}
		if (c->given[number]) {
			cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS,
			    item->span, "\"%s\" is given twice",
			    cj_elab_name(el, p->param.name.name));
			return false;
		}
		c->given[number] = true;
		if (!push_argument(el, c, number, p, item->span,
		    cj_elab_expr(el, item)))
			return false;
		number++;
	}
	return true;
}

/* ---- the instruction ----------------------------------------------------- */

/* bytes(n) or flops(n) of `time`, 0 unless stated; as f64. */
static cj_ref
read_amount(struct cj_elab *el, const struct cj_list *attrs, const char *name)
{
	const struct cj_node *a = cj_attr_find(attrs,
	    cj_elab_intern(el, name));
	struct cj_value v = cj_value_real(0);

	if (a != NULL && a->attr.items.count == 1)
		v = cj_elab_expr(el, a->attr.items.at[0]);
	v = cj_elab_convert(el, a != NULL ? a->span : (struct cj_span){ 0 },
	    CJ_KIND_F64, v, 0);
	if (v.kind == CJ_VALUE_ERROR || cj_value_shape(&v) != NULL ||
	    v.kind == CJ_VALUE_TUPLE)
		v = cj_value_scalar(CJ_KIND_F64, 0);
	return cj_elab_ref(el, &v, CJ_KIND_F64);
}

static void
emit_call(struct cj_elab *el, struct call *c, struct cj_call *record)
{
	struct consts *k = CJ_NEW(el->arena, struct consts);

	k->count = c->consts.len;
	k->at = c->consts.at;
	record->binding = k;
	record->argument = c->argument.at;
	record->count = c->argument.len;
	*cj_push(el->arena, &el->m->calls) = *record;
	cj_elab_at(el, c->span);	/* the arguments moved the place */
	cj_emit(&el->em->b, CJ_OP_CALL, 0, el->m->calls.len - 1,
	    c->operand.at, c->operand.len);
}

void
cj_elab_test_call(struct cj_elab *el, const struct cj_node *n)
{
	const struct cj_node *attr = n->launch.attr;
	struct cj_call record = { 0 };
	struct call c = { 0 };
	int64_t member;

	cj_elab_at(el, n->span);
	c.span = n->span;
	c.family = read_kernel(el, attr->attr.path, &member);
	if (c.family == NULL || (member != EVERY_MEMBER &&
	    !has_member(el, c.family, member, attr->attr.path->span)))
		return;
	record.is_time = n->kind == CJ_NODE_TIME;
	record.kernel = c.family->kernel;
	record.member = member == EVERY_MEMBER ? -1 : (int)member;
	if (record.is_time) {
		*cj_push(el->arena, &c.operand) = read_amount(el,
		    &n->launch.attrs, "bytes");
		*cj_push(el->arena, &c.operand) = read_amount(el,
		    &n->launch.attrs, "flops");
	}
	if (read_arguments(el, &c, &attr->attr.items))
		emit_call(el, &c, &record);
}

void
cj_elab_hand_over(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t)
{
	struct cj_call record = { 0 };
	struct call c = { 0 };

	record.member = -1;
	c.span = span;
	if (push_tensor(el, &c, 0, 0, span, t))
		emit_call(el, &c, &record);
}
