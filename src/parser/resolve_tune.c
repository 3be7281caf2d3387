/*
 * `tune k over x in {...}`: every name is a compile-time parameter of the
 * kernel, of one member of its family at least.
 */
#include "resolve_priv.h"

typedef CJ_VEC(const char *) name_list;

/* Whether a member has it; else all const parameters go to `all`. */
static bool
find_parameter(struct cj_resolve *r, cj_name kernel, cj_name name,
    name_list *all)
{
	uint32_t i, k;

	for (i = 0; i < r->tree->decls.count; i++) {
		const struct cj_node *n = r->tree->decls.at[i];

		if (n->kind != CJ_NODE_KERNEL || n->kernel.name.name != kernel)
			continue;
		for (k = 0; k < n->kernel.params.count; k++) {
			const struct cj_node_param *p =
			    &n->kernel.params.at[k]->param;

			if (p->mode != CJ_MODE_CONST)
				continue;
			if (p->name.name == name)
				return true;
			*cj_push(r->arena, all) = cj_resolve_text(r,
			    p->name.name);
		}
	}
	return false;
}

static void
check_name(struct cj_resolve *r, const struct cj_node_tune *t, cj_name name,
    struct cj_span span)
{
	const char *text = cj_resolve_text(r, name), *near;
	name_list all = { 0 };
	struct cj_diag *d;

	cj_scope_use(&r->scopes, name);	/* it is the kernel that uses it */
	if (find_parameter(r, t->name.name, name, &all))
		return;
	d = cj_report(r->diags, CJ_DIAG_UNKNOWN_NAME, span,
	    "kernel \"%s\" has no const parameter \"%s\"",
	    cj_resolve_text(r, t->name.name), text);
	near = cj_nearest(text, all.at, all.len);
	if (near != NULL) {
		cj_help(d, "Did you mean \"%s\"?", near);
		cj_fixit(d, span, "%s", near);
	} else {
		cj_help(d, "\"tune\" tries values for parameters that begin "
		    "with \"const\".");
	}
}

static void
check_binding(struct cj_resolve *r, const struct cj_node_tune *t,
    const struct cj_node *b)
{
	uint32_t i;

	if (b->kind == CJ_NODE_NAME)
		check_name(r, t, b->name.name, b->span);
	else if (b->kind == CJ_NODE_TUPLE)
		for (i = 0; i < b->tuple.items.count; i++)
			check_binding(r, t, b->tuple.items.at[i]);
}

void
cj_resolve_tune(struct cj_resolve *r, const struct cj_node_tune *t)
{
	uint32_t i;

	cj_resolve_own_kernel(r, t->name);
	if (t->over.count == 0)
		cj_report(r->diags, CJ_DIAG_SYNTAX, t->name.span,
		    "\"tune\" needs \"over\" and what to try");
	for (i = 0; i < t->over.count; i++) {
		const struct cj_node_each *e = &t->over.at[i]->each;

		cj_resolve_expr(r, e->domain, CJ_USE_VALUE);
		cj_resolve_binding(r, e->binding);
		if (cj_resolve_find_kernel(r, t->name.name) != NULL)
			check_binding(r, t, e->binding);
	}
	cj_resolve_list(r, &t->where, CJ_USE_VALUE);
}
