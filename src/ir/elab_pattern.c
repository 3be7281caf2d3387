/*
 * Parameter patterns as they are written: what is a tensor, which nodes are
 * its modes.
 */
#include "elab_contract.h"

/* tensor(T, shape) */
static bool
is_tensor_call(const struct cj_elab *el, const struct cj_node *n)
{
	return n->kind == CJ_NODE_CALL &&
	    n->call.callee->kind == CJ_NODE_NAME &&
	    strcmp(cj_elab_name(el, n->call.callee->name.name), "tensor") == 0;
}

static bool
read_tensor(struct cj_elab *el, const struct cj_node *call,
    struct cj_pattern *p)
{
	const struct cj_list *items = &call->call.items;

	if (items->count != 2) {
		cj_elab_error(el, CJ_DIAG_CONTRACT, call->span,
		    "a tensor has a type and a shape: tensor(T, (M, N))");
		return false;
	}
	p->is_tensor = true;
	p->type = items->at[0];
	p->shape = items->at[1];
	if (p->shape->kind == CJ_NODE_LAYOUT) {
		p->stride = p->shape->layout.stride;
		p->shape = p->shape->layout.shape;
	}
	return true;
}

static const struct cj_node *
attr(const struct cj_elab *el, const struct cj_node *param, const char *name)
{
	return cj_attr_find(&param->param.attrs, cj_elab_intern(el, name));
}

static bool
read_pattern(struct cj_elab *el, const struct cj_node *param,
    struct cj_pattern *p)
{
	const struct cj_node *type = param->param.type;

	p->param = param;
	if (type == NULL) {
		cj_elab_error(el, CJ_DIAG_CONTRACT, param->span,
		    "\"%s\" has no type; a kernel's run-time parameters have "
		    "one", cj_elab_name(el, param->param.name.name));
		return false;
	}
	p->align = attr(el, param, "align");
	p->unit = attr(el, param, "unit");
	p->alias = attr(el, param, "alias");
	p->is_optional = param->param.init != NULL &&
	    param->param.init->kind == CJ_NODE_NAME &&
	    strcmp(cj_elab_name(el, param->param.init->name.name),
	    "none") == 0;
	if (type->kind == CJ_NODE_INDEX &&
	    is_tensor_call(el, type->index.base)) {
		p->is_array = true;
		p->count = type->index.items.count == 1 ?
		    type->index.items.at[0] : NULL;
		return read_tensor(el, type->index.base, p);
	}
	if (is_tensor_call(el, type))
		return read_tensor(el, type, p);
	p->type = type;
	return true;
}

bool
cj_pattern_list(struct cj_elab *el, const struct cj_node *kernel,
    const struct cj_pattern **out, uint32_t *count)
{
	const struct cj_list *params = &kernel->kernel.params;
	struct cj_pattern *at = CJ_NEWS(el->arena, struct cj_pattern,
	    params->count + 1);
	bool ok = true;
	uint32_t i, n = 0;

	for (i = 0; i < params->count; i++) {
		if (params->at[i]->param.mode == CJ_MODE_CONST)
			continue;
		at[n].number = n;
		ok = read_pattern(el, params->at[i], &at[n]) && ok;
		n++;
	}
	*out = at;
	*count = n;
	return ok;
}

uint32_t
cj_pattern_rank(const struct cj_node *n, const struct cj_node **rest)
{
	uint32_t i;

	*rest = n->kind == CJ_NODE_SPREAD ? n : NULL;
	if (n->kind == CJ_NODE_SPREAD)
		return 0;
	if (n->kind != CJ_NODE_TUPLE)
		return 1;
	for (i = 0; i < n->tuple.items.count; i++)
		if (n->tuple.items.at[i]->kind == CJ_NODE_SPREAD)
			*rest = n->tuple.items.at[i];
	return n->tuple.items.count - (*rest != NULL ? 1 : 0);
}

bool
cj_pattern_modes(const struct cj_node *n, uint32_t rank,
    const struct cj_node **modes, const struct cj_node **rest,
    uint32_t *first)
{
	uint32_t fixed = cj_pattern_rank(n, rest), i, at = 0, k;

	*first = 0;
	if (rank > CJ_MAX_MODES || rank < fixed ||
	    (*rest == NULL && rank != fixed))
		return false;
	if (n->kind == CJ_NODE_SPREAD) {
		memset(modes, 0, rank * sizeof *modes);
		return true;
	}
	if (n->kind != CJ_NODE_TUPLE) {
		modes[0] = n;
		return true;
	}
	for (i = 0; i < n->tuple.items.count; i++) {
		if (n->tuple.items.at[i] != *rest) {
			modes[at++] = n->tuple.items.at[i];
			continue;
		}
		*first = at;
		for (k = fixed; k < rank; k++)
			modes[at++] = NULL;
	}
	return true;
}

/* ---- what others ask about parameters ------------------------------------ */

static const char *
type_text(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_node *n)
{
	const struct cj_source *s = cj_source_get(u->sources, n->span.source);

	return cj_strndup(a, s->text + n->span.begin,
	    n->span.end - n->span.begin);
}

enum { MOST_VALUES = 1024 };

static void
list_set(struct cj_elab *el, const struct cj_list *items,
    struct cj_parameter_info *info)
{
	const char **at = CJ_NEWS(el->arena, const char *, items->count + 1);
	struct cj_value v;
	uint32_t i;

	for (i = 0; i < items->count; i++) {
		v = cj_elab_known(el, items->at[i], "a member of a set");
		if (v.kind == CJ_VALUE_ERROR)
			return;
		at[i] = cj_elab_source_text(el, items->at[i]->span);
	}
	info->values = at;
	info->value_count = items->count;
}

static void
list_range(struct cj_elab *el, const struct cj_node *domain,
    struct cj_parameter_info *info)
{
	struct cj_value d = cj_elab_known(el, domain, "a domain");
	int64_t first, i, n;
	const char **at;

	if (d.kind != CJ_VALUE_RANGE)
		return;
	first = d.range->first.value;
	if (d.range->last.value <= first || (uint64_t)d.range->last.value -
	    (uint64_t)first > MOST_VALUES)
		return;
	n = d.range->last.value - first;
	at = CJ_NEWS(el->arena, const char *, n);
	for (i = 0; i < n; i++)
		at[i] = cj_printf(el->arena, "%lld", (long long)(first + i));
	info->values = at;
	info->value_count = (uint32_t)n;
}

/* Where a domain needs other parameters, its values are not listed. */
static void
list_values(struct cj_elab *el, const struct cj_file *file,
    const struct cj_node *param, struct cj_parameter_info *info)
{
	const struct cj_node *domain = param->param.domain;
	struct cj_env root = { .file = file, .is_function = true };

	if (domain == NULL || info->has_default)
		return;
	el->env = &root;
	if (domain->kind == CJ_NODE_SET)
		list_set(el, &domain->set.items, info);
	else
		list_range(el, domain, info);
	el->env = NULL;
}

static void
describe(struct cj_elab *el, const struct cj_file *file,
    const struct cj_node *param, struct cj_parameter_info *info)
{
	const struct cj_unit *u = el->unit;
	struct cj_pattern p = { 0 };

	info->name = cj_name_text(u->names, param->param.name.name);
	info->has_default = param->param.init != NULL;
	info->type = param->param.type == NULL ? "" :
	    type_text(el->arena, u, param->param.type);
	if (param->param.mode == CJ_MODE_CONST) {
		info->kind = CJ_PARAMETER_CONST;
		list_values(el, file, param, info);
		return;
	}
	read_pattern(el, param, &p);
	info->kind = p.is_tensor ? CJ_PARAMETER_TENSOR : CJ_PARAMETER_SCALAR;
	info->is_array = p.is_array;
	if (!p.is_tensor && p.type != NULL && p.type->kind == CJ_NODE_NAME)
		info->scalar = cj_kind_find(cj_name_text(u->names,
		    p.type->name.name));
}

uint32_t
cj_member_parameters(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_member_info *m, const struct cj_parameter_info **out)
{
	const struct cj_list *params = &m->node->kernel.params;
	struct cj_parameter_info *at = CJ_NEWS(a, struct cj_parameter_info,
	    params->count + 1);
	struct cj_diags quiet;
	struct cj_elab el;
	uint32_t i;

	cj_diags_init(&quiet, a, u->sources);
	cj_elab_init(&el, a, u, NULL, &quiet);
	for (i = 0; i < params->count; i++)
		describe(&el, m->file, params->at[i], &at[i]);
	*out = at;
	return params->count;
}
