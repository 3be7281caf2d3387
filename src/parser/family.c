/*
 * Families: kernels of one name.
 *
 * Members have the same run-time parameters in the same order. The first one
 * whose contract holds is launched, so that a member is dead if an earlier
 * one holds whenever it does. That is decided where the texts show it: each
 * demand of the earlier member stands in the later one, too, or demands
 * nothing.
 */
#include "resolve_priv.h"

/* ---- the same parameters ------------------------------------------------- */

/* The run-time parameter number `i` (from 0), or NULL. */
static const struct cj_node *
run_time_param(const struct cj_node_kernel *k, uint32_t i)
{
	uint32_t j;

	for (j = 0; j < k->params.count; j++) {
		const struct cj_node *p = k->params.at[j];

		if (p->kind == CJ_NODE_PARAM &&
		    p->param.mode != CJ_MODE_CONST && i-- == 0)
			return p;
	}
	return NULL;
}

static void
report_family(struct cj_resolve *r, const struct cj_node *member,
    const struct cj_node *a, const struct cj_node *b)
{
	const char *kernel = cj_resolve_text(r, member->kernel.name.name);
	const struct cj_node *first;
	struct cj_diag *d;

	if (b == NULL)
		d = cj_report(r->diags, CJ_DIAG_FAMILY_MISMATCH,
		    member->kernel.name.span, "this member of \"%s\" has no "
		    "parameter \"%s\"", kernel,
		    cj_resolve_text(r, a->param.name.name));
	else
		d = cj_report(r->diags, CJ_DIAG_FAMILY_MISMATCH,
		    b->param.name.span, a == NULL ?
		    "the first member of \"%s\" has no parameter \"%s\"" :
		    "a parameter of \"%s\" is \"%s\" here and \"%s\" in the "
		    "first member", kernel,
		    cj_resolve_text(r, b->param.name.name), a == NULL ? "" :
		    cj_resolve_text(r, a->param.name.name));
	first = cj_resolve_find_kernel(r, member->kernel.name.name);
	cj_note(d, a != NULL ? a->param.name.span : first->kernel.name.span,
	    "the first member of the family");
}

/* Members have the run-time parameters of the first one, in its order. */
static void
check_parameters(struct cj_resolve *r, const struct cj_node *member)
{
	const struct cj_node *first = cj_resolve_find_kernel(r,
	    member->kernel.name.name);
	const struct cj_node *a, *b;
	uint32_t i = 0;

	assert(first != NULL);
	do {
		a = run_time_param(&first->kernel, i);
		b = run_time_param(&member->kernel, i++);
		if (a == b)
			continue;	/* the first one itself, or the end */
		if (a == NULL || b == NULL ||
		    a->param.name.name != b->param.name.name) {
			report_family(r, member, a, b);
			return;
		}
	} while (a != NULL && b != NULL);
}

/* ---- what a demand is ---------------------------------------------------- */

struct pair {
	struct cj_resolve *r;
	const struct cj_node_kernel *a, *b;	/* the earlier, the later */
};

/* Equal but for blanks; two that are not there are equal. */
static bool
same_text(const struct pair *p, struct cj_span a, struct cj_span b)
{
	const char *text = cj_source_get(p->r->diags->sources,
	    p->r->tree->source)->text;
	uint32_t i = a.begin, k = b.begin;

	for (;;) {
		while (i < a.end && (unsigned char)text[i] <= ' ')
			i++;
		while (k < b.end && (unsigned char)text[k] <= ' ')
			k++;
		if (i == a.end || k == b.end)
			return i == a.end && k == b.end;
		if (text[i++] != text[k++])
			return false;
	}
}

static bool
same(const struct pair *p, const struct cj_node *a, const struct cj_node *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return same_text(p, a->span, b->span);
}

/* Each of a's stands among b's, too. */
static bool
is_subset(const struct pair *p, const struct cj_list *a,
    const struct cj_list *b)
{
	uint32_t i, k;

	for (i = 0; i < a->count; i++) {
		for (k = 0; k < b->count; k++)
			if (same(p, a->at[i], b->at[k]))
				break;
		if (k == b->count)
			return false;
	}
	return true;
}

static uint32_t
count_name(const struct cj_node *n, cj_name name);

struct counter {
	cj_name name;
	uint32_t count;
};

static void
count_child(void *context, struct cj_node *below)
{
	struct counter *c = context;

	if (below != NULL)
		c->count += count_name(below, c->name);
}

static uint32_t
count_name(const struct cj_node *n, cj_name name)
{
	struct counter c = { name, 0 };

	if (n->kind == CJ_NODE_NAME)
		return n->name.name == name;
	cj_node_visit(n, count_child, &c);
	return c.count;
}

/* How often a name stands in the patterns and facts of a kernel. */
static uint32_t
uses(const struct cj_node_kernel *k, cj_name name)
{
	uint32_t i, n = 0;

	for (i = 0; i < k->params.count; i++)
		n += count_name(k->params.at[i], name);
	for (i = 0; i < k->where.count; i++)
		n += count_name(k->where.at[i], name);
	return n;
}

/* A mode that fits anything: `_`, or a name that stands nowhere else. */
static bool
is_free_mode(const struct pair *p, const struct cj_node *n)
{
	uint32_t i;

	if (n->kind == CJ_NODE_ANY)
		return true;
	if (n->kind != CJ_NODE_NAME || uses(p->a, n->name.name) != 1)
		return false;
	for (i = 0; i < p->a->params.count; i++)
		if (p->a->params.at[i]->param.name.name == n->name.name)
			return false;
	return cj_scope_find(&p->r->scopes, n->name.name) == NULL;
}

static bool
is_free_shape(const struct pair *p, const struct cj_node *n)
{
	uint32_t i;

	if (n->kind != CJ_NODE_TUPLE)
		return is_free_mode(p, n);
	for (i = 0; i < n->tuple.items.count; i++)
		if (!is_free_mode(p, n->tuple.items.at[i]))
			return false;
	return true;
}

static const struct cj_node *
stride_of(const struct cj_node *layout)
{
	return layout->kind == CJ_NODE_LAYOUT ?
	    layout->layout.stride : NULL;
}

static const struct cj_node *
shape_of(const struct cj_node *layout)
{
	return layout->kind == CJ_NODE_LAYOUT ?
	    layout->layout.shape : layout;
}

static uint32_t
rank_of(const struct cj_node *shape)
{
	return shape->kind == CJ_NODE_TUPLE ? shape->tuple.items.count : 1;
}

/* tensor(T, M), tensor(T, (M, N):(_, 1)) */
static bool
layout_covers(const struct pair *p, const struct cj_node *a,
    const struct cj_node *b)
{
	const struct cj_node *sa = stride_of(a), *sb = stride_of(b);

	if (!same(p, shape_of(a), shape_of(b)) &&
	    (rank_of(shape_of(a)) != rank_of(shape_of(b)) ||
	    !is_free_shape(p, shape_of(a))))
		return false;
	return sa == NULL || (sb != NULL && same(p, sa, sb)) ||
	    is_free_shape(p, sa);
}

static bool
type_covers(const struct pair *p, const struct cj_node *a,
    const struct cj_node *b)
{
	const struct cj_list *x, *y;

	if (same(p, a, b))
		return true;
	if (a == NULL || b == NULL || a->kind != CJ_NODE_CALL ||
	    b->kind != CJ_NODE_CALL)
		return false;
	x = &a->call.items;
	y = &b->call.items;
	return x->count == 2 && y->count == 2 &&
	    same(p, a->call.callee, b->call.callee) &&
	    same(p, x->at[0], y->at[0]) &&
	    layout_covers(p, x->at[1], y->at[1]);
}

/* ---- does an earlier member cover a later one? --------------------------- */

static bool
run_time_covers(const struct pair *p, const struct cj_node *a,
    const struct cj_node *b)
{
	cj_name alias = cj_intern_str(p->r->names, "alias");

	/* alias(y) allows what is refused without it */
	return type_covers(p, a->param.type, b->param.type) &&
	    is_subset(p, &a->param.attrs, &b->param.attrs) &&
	    same(p, cj_attr_find(&a->param.attrs, alias),
	    cj_attr_find(&b->param.attrs, alias)) &&
	    same(p, a->param.init, b->param.init);
}

/* NULL: it has none. */
static const struct cj_node *
const_named(const struct cj_node_kernel *k, cj_name name)
{
	uint32_t i;

	for (i = 0; i < k->params.count; i++) {
		const struct cj_node_param *param = &k->params.at[i]->param;

		if (param->mode == CJ_MODE_CONST && param->name.name == name)
			return k->params.at[i];
	}
	return NULL;
}

/* Each const parameter of one stands in the other, too. */
static bool
has_consts_of(const struct pair *p, const struct cj_node_kernel *x,
    const struct cj_node_kernel *y)
{
	const struct cj_node *n;
	uint32_t i;

	for (i = 0; i < y->params.count; i++) {
		n = y->params.at[i];
		if (n->param.mode == CJ_MODE_CONST &&
		    !same(p, n, const_named(x, n->param.name.name)))
			return false;
	}
	return true;
}

static bool
covers(const struct pair *p)
{
	const struct cj_node *a, *b;
	uint32_t i;

	/* a caller who names one means a member that has it */
	if (!has_consts_of(p, p->a, p->b) || !has_consts_of(p, p->b, p->a) ||
	    !is_subset(p, &p->a->where,
	    &p->b->where))
		return false;
	if (p->a->targets.count != 0 && (p->b->targets.count == 0 ||
	    !is_subset(p, &p->b->targets, &p->a->targets)))
		return false;
	for (i = 0; (a = run_time_param(p->a, i)) != NULL; i++) {
		b = run_time_param(p->b, i);
		if (b == NULL || !run_time_covers(p, a, b))
			return false;
	}
	return true;
}

static void
check_reachable(struct cj_resolve *r, const struct cj_node *member)
{
	struct pair p = { .r = r, .b = &member->kernel };
	struct cj_diag *d;
	uint32_t i;

	for (i = 0; r->tree->decls.at[i] != member; i++) {
		const struct cj_node *n = r->tree->decls.at[i];

		if (n->kind != CJ_NODE_KERNEL ||
		    n->kernel.name.name != member->kernel.name.name)
			continue;
		p.a = &n->kernel;
		if (!covers(&p))
			continue;
		d = cj_report(r->diags, CJ_DIAG_FAMILY_MISMATCH,
		    member->kernel.name.span, "this member of \"%s\" is never "
		    "launched: an earlier one always fits",
		    cj_resolve_text(r, member->kernel.name.name));
		cj_note(d, n->kernel.name.span, "this one");
		cj_help(d, "The member with the stricter contract comes "
		    "first.");
		return;
	}
}

void
cj_resolve_family(struct cj_resolve *r, const struct cj_node *member)
{
	uint32_t errors = r->diags->errors + r->diags->dropped;

	check_parameters(r, member);
	if (r->diags->errors + r->diags->dropped == errors &&
	    !r->tree->is_broken)
		check_reachable(r, member);
}
