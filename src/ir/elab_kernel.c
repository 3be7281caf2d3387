/*
 * Kernels: the module of a member for a binding. The host function checks the
 * contract, then runs the host part; each launch block becomes a device
 * function.
 */
#include "elab_contract.h"
#include "elab_origin.h"
#include "elab_pass.h"
#include "elab_tiled.h"

/* ---- launch -------------------------------------------------------------- */

struct launch {
	struct cj_int grid[3], block[3], cluster[3];
	struct cj_launch record;
	int64_t min_blocks, max_registers;
};

static bool
extents(struct cj_elab *el, const struct cj_node *attr, struct cj_int out[3])
{
	const struct cj_list *items = &attr->attr.items;
	struct cj_value at[3], v;
	uint32_t count = items->count, i;

	assert(attr->kind == CJ_NODE_ATTR);
	if (count == 0 || count > 3) {
		cj_elab_error(el, CJ_DIAG_BAD_ATTRIBUTE, attr->span,
		    "\"%s\" has 1 to 3 extents",
		    cj_elab_name(el, attr->attr.name));
		return false;
	}
	for (i = 0; i < count; i++)
		at[i] = cj_elab_expr(el, items->at[i]);
	v = at[0];
	if (count == 1 && v.kind == CJ_VALUE_TUPLE) {
		count = v.tuple->count;
		if (count == 0 || count > 3) {
			cj_elab_error(el, CJ_DIAG_BAD_ATTRIBUTE, attr->span,
			    "\"%s\" has 1 to 3 extents, this is %s",
			    cj_elab_name(el, attr->attr.name),
			    cj_value_what(el, &v));
			return false;
		}
		memcpy(at, v.tuple->at, count * sizeof *at);
	}
	for (i = 0; i < count; i++)
		if (!cj_value_to_int(el, attr->span, &at[i], &out[i]))
			return false;
	return true;
}

static bool
known_attr(struct cj_elab *el, const struct cj_node *attr, int64_t *out)
{
	struct cj_value v = cj_elab_expr(el, attr->attr.items.at[0]);

	return cj_value_to_known(el, attr->span, &v, cj_printf(el->arena,
	    "\"%s\"", cj_elab_name(el, attr->attr.name)), out);
}

/* The same from 1 to `most`. */
static bool
count_attr(struct cj_elab *el, const struct cj_node *attr, int64_t most,
    int64_t *out)
{
	if (!known_attr(el, attr, out))
		return false;
	if (*out >= 1 && *out <= most)
		return true;
	cj_elab_error(el, CJ_DIAG_BAD_ATTRIBUTE, attr->span,
	    "\"%s\" is 1 to %lld, this is %lld",
	    cj_elab_name(el, attr->attr.name), (long long)most,
	    (long long)*out);
	return false;
}

static bool
attribute(struct cj_elab *el, const struct cj_node *attr, struct launch *l)
{
	const char *name = cj_elab_name(el, attr->attr.name);

	if (strcmp(name, "grid") == 0)
		return extents(el, attr, l->grid);
	if (strcmp(name, "block") == 0)
		return extents(el, attr, l->block);
	if (strcmp(name, "cluster") == 0)
		return extents(el, attr, l->cluster) &&
		    cj_elab_check_cluster(el, attr->span, l->cluster);
	if (strcmp(name, "cooperative") == 0) {
		l->record.cooperative = true;
		return true;
	}
	if (strcmp(name, "dependent") == 0) {
		l->record.dependent = true;
		return true;
	}
	if (strcmp(name, "min_blocks") == 0)
		return count_attr(el, attr, 32, &l->min_blocks);
	if (strcmp(name, "max_registers") == 0)
		return count_attr(el, attr, 255, &l->max_registers);
	cj_elab_error(el, CJ_DIAG_UNSUPPORTED, attr->span,
	    "the launch attribute \"%s\" is not supported by this version",
	    name);
	return false;
}

/* An attribute of a launch; `launch` itself is followed by one. */
static const struct cj_node *
find_attr(struct cj_elab *el, const struct cj_node *n, const char *name)
{
	cj_name key = cj_elab_intern(el, name);

	if (n->launch.attr->attr.name == key)
		return n->launch.attr;
	return cj_attr_find(&n->launch.attrs, key);
}

static bool
check_extents(struct cj_elab *el, const struct cj_node *attr,
    const struct cj_int extents[3], int64_t least, const int64_t most[3])
{
	const char *name = cj_elab_name(el, attr->attr.name);
	int i;

	for (i = 0; i < 3; i++) {
		if (!cj_is_known(extents[i]) || (extents[i].value >= least &&
		    extents[i].value <= most[i]))
			continue;
		cj_elab_error(el, CJ_DIAG_LIMIT, attr->span,
		    "%s.%c is %lld; it is %lld to %lld", name, "xyz"[i],
		    (long long)extents[i].value, (long long)least,
		    (long long)most[i]);
		return false;
	}
	return true;
}

static bool
check_block(struct cj_elab *el, const struct cj_node *n,
    const struct launch *l)
{
	static const int64_t most[3] = { CJ_MAX_BLOCK_THREADS,
	    CJ_MAX_BLOCK_THREADS, CJ_MAX_BLOCK_Z };
	const struct cj_node *attr = find_attr(el, n, "block");
	int64_t threads = 1;
	int i;

	if (!check_extents(el, attr, l->block, 1, most))
		return false;
	for (i = 0; i < 3; i++)
		threads *= cj_is_known(l->block[i]) ? l->block[i].value : 1;
	if (threads <= CJ_MAX_BLOCK_THREADS)
		return true;
	cj_elab_error(el, CJ_DIAG_LIMIT, attr->span,
	    "the block has %lld threads, the most are %d",
	    (long long)threads, CJ_MAX_BLOCK_THREADS);
	return false;
}

static bool
check_grid(struct cj_elab *el, const struct cj_node *n,
    const struct launch *l)
{
	static const int64_t most[3] = { INT32_MAX, CJ_MAX_GRID_YZ,
	    CJ_MAX_GRID_YZ };

	return check_extents(el, find_attr(el, n, "grid"), l->grid, 0, most);
}

static bool
has_both(struct cj_elab *el, const struct cj_node *n)
{
	const char *missing = find_attr(el, n, "grid") == NULL ? "grid" :
	    find_attr(el, n, "block") == NULL ? "block" : NULL;

	if (missing == NULL)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_BAD_ATTRIBUTE,
	    n->launch.attr->span, "the launch has no \"%s\"", missing),
	    "Write launch grid(blocks) block(threads) { ... }.");
	return false;
}

static bool
attributes(struct cj_elab *el, const struct cj_node *n, struct launch *l)
{
	bool ok = true;
	uint32_t i;

	memset(l, 0, sizeof *l);
	el->cluster_blocks = 1;
	for (i = 0; i < 3; i++)
		l->grid[i] = l->block[i] = l->cluster[i] = cj_known(1);
	ok = attribute(el, n->launch.attr, l);
	for (i = 0; i < n->launch.attrs.count; i++)
		ok = attribute(el, n->launch.attrs.at[i], l) && ok;
	return ok && has_both(el, n) && check_grid(el, n, l) &&
	    check_block(el, n, l);
}

static const char *
device_name(struct cj_elab *el)
{
	struct cj_strbuf name;

	cj_strbuf_init(&name, el->m->arena);
	cj_strbuf_puts(&name, cj_elab_name(el,
	    el->member->node->kernel.name.name));
	if (el->member->member != 0)
		cj_strbuf_printf(&name, "_m%u", el->member->member);
	if (el->launches != 0)
		cj_strbuf_printf(&name, "_l%u", el->launches);
	return name.text;
}

static uint32_t
device_function(struct cj_elab *el, const struct cj_node *n,
    const struct launch *l)
{
	uint32_t f = cj_module_function(el->m, CJ_FUNCTION_DEVICE,
	    device_name(el));
	struct cj_function *fn = &el->m->functions.at[f];
	int i;

	for (i = 0; i < 3; i++) {
		fn->block[i] = cj_is_known(l->block[i]) ?
		    l->block[i].value : 0;
		fn->cluster[i] = cj_is_known(l->cluster[i]) ?
		    l->cluster[i].value : 0;
	}
	fn->min_blocks = l->min_blocks;
	fn->max_registers = l->max_registers;
	fn->place = cj_module_place(el->m, n->span, el->trail, -1);
	return f;
}

static void
device_body(struct cj_elab *el, const struct cj_node *n, uint32_t function)
{
	struct cj_emitter *em = CJ_NEW(el->arena, struct cj_emitter);
	struct cj_jump j = { .kind = CJ_JUMP_FUNCTION, .depth = 1,
	    .is_launch = true, .type = cj_value_none() };
	struct cj_jump *outer = el->jump;

	assert(el->em->level == 1 && el->host == NULL);
	em->function = function;
	em->level = 2;
	em->b.module = el->m;
	em->b.region = el->m->functions.at[function].body;
	el->host = el->em;
	el->em = em;
	el->time = CJ_TIME_DEVICE;
	el->jump = &j;
	cj_elab_learn_grid(el);
	cj_elab_block(el, n->launch.body);
	cj_elab_sync_copies(el);
	cj_elab_check_pipelines(el);
	cj_elab_check_roles(el);
	cj_elab_check_touches(el);
	el->left = 0;
	el->jump = outer;
	el->time = CJ_TIME_HOST;
	el->em = el->host;
	el->host = NULL;
	el->device = em;
}

static void
emit_launch(struct cj_elab *el, const struct cj_node *n,
    const struct launch *l, uint32_t function)
{
	const struct cj_emitter *em = el->device;
	uint32_t count = 9 + em->operands.len, i;
	cj_ref *refs = CJ_NEWS(el->arena, cj_ref, count);
	struct cj_launch record = l->record;

	assert(em != NULL && el->em->level == 1);
	cj_elab_at(el, n->span);
	for (i = 0; i < 3; i++) {
		refs[i] = cj_elab_ref_int(el, l->grid[i]);
		refs[3 + i] = cj_elab_ref_int(el, l->block[i]);
		refs[6 + i] = cj_elab_ref_int(el, l->cluster[i]);
	}
	for (i = 9; i < count; i++)
		refs[i] = em->operands.at[i - 9];
	record.function = function;
	*cj_push(el->m->arena, &el->m->launches) = record;
	cj_emit(&el->em->b, CJ_OP_LAUNCH, 0, el->m->launches.len - 1, refs,
	    count);
}

void
cj_elab_launch(struct cj_elab *el, const struct cj_node *n)
{
	struct launch l;
	uint32_t function, objects = el->m->objects.len, i;

	if (el->time != CJ_TIME_HOST) {
		cj_elab_error(el, CJ_DIAG_WRONG_TIME, n->span,
		    "a launch block stands in the host part of a kernel");
		return;
	}
	if (!attributes(el, n, &l))
		return;
	function = device_function(el, n, &l);
	el->launches++;
	memcpy(el->block_extent, l.block, sizeof l.block);
	memcpy(el->cluster_extent, l.cluster, sizeof l.cluster);
	for (i = 0; i < 3; i++)
		el->block[i] = cj_is_known(l.block[i]) ? l.block[i].value : 0;
	memcpy(el->grid_extent, l.grid, sizeof l.grid);
	device_body(el, n, function);
	cj_elab_limits(el, n->span, function, objects);
	emit_launch(el, n, &l, function);
}

/* ---- shared memory ------------------------------------------------------- */

static bool
shared_align(struct cj_elab *el, const struct cj_node *n, int64_t *align)
{
	const struct cj_node *a = cj_attr_find(&n->field.attrs,
	    cj_elab_intern(el, "align"));

	*align = 16;
	if (a == NULL)
		return true;
	if (!known_attr(el, a, align))
		return false;
	if (*align > 0 && *align <= 1024 && (*align & (*align - 1)) == 0)
		return true;
	cj_elab_error(el, CJ_DIAG_BAD_ATTRIBUTE, a->span,
	    "an alignment is a power of two up to 1024, this is %lld",
	    (long long)*align);
	return false;
}

/* Bytes from stage to stage: each begins as aligned as the first. */
static int64_t
stage_extent(int64_t extent, enum cj_kind k, int64_t align)
{
	int64_t bits = k == CJ_KIND_BOOL ? 8 : cj_kind_bits(k);
	int64_t unit = align * 8 / bits;

	return unit < 1 ? extent : (extent + unit - 1) / unit * unit;
}

bool
cj_elab_shared_tensor(struct cj_elab *el, const struct cj_node *n,
    uint32_t stages, struct cj_tensor *t)
{
	struct cj_value type = stages == 0 ?
	    cj_elab_memory_type(el, n->field.type) :
	    cj_elab_type_expr(el, n->field.type);
	struct cj_object o = { .kind = CJ_OBJECT_SHARED, .reads = true,
	    .writes = true, .region = el->em->b.region, .stages = stages };
	struct cj_strbuf text;
	struct cj_int extent;
	int64_t align;

	if (type.kind == CJ_VALUE_ERROR || !shared_align(el, n, &align))
		return false;
	if (!type.type->is_tensor) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, n->field.type->span,
		    "shared memory is a tensor(T, layout), this is %s",
		    cj_value_text(el, &type));
		return false;
	}
	extent = cj_layout_extent(&el->al, type.type->layout);
	if (!cj_is_known(extent)) {
		cj_elab_note_int(el, cj_elab_report(el, CJ_DIAG_NOT_KNOWN,
		    n->field.type->span, "the extents of shared memory must "
		    "be known at compile time"), extent);
		return false;
	}
	cj_strbuf_init(&text, el->m->arena);
	cj_layout_print(&text, &el->sym, type.type->layout,
	    CJ_STYLE_LANGUAGE);
	o.element = type.type->scalar;
	o.extent = stages == 0 ? extent.value : stages *
	    stage_extent(extent.value, o.element, align);
	o.align = (uint32_t)align;
	o.name = cj_elab_name(el, n->field.name.name);
	o.layout = text.text;
	o.place = el->em->b.place;
	*t = (struct cj_tensor){ .level = 2, .offset = cj_known(0),
	    .name = n->field.name.name, .span = n->span,
	    .element = o.element, .layout = type.type->layout,
	    .seen = type.type->layout };
	t->object = cj_module_object(el->m, &o);
	return true;
}

void
cj_elab_shared(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value v = cj_value_error();
	struct cj_tensor t;

	if (el->time != CJ_TIME_DEVICE)
		cj_elab_error(el, CJ_DIAG_WRONG_TIME, n->span,
		    "shared memory belongs to device code");
	else if (cj_elab_shared_tensor(el, n, 0, &t))
		v = cj_value_tensor(el, &t);
	cj_env_bind(el, n->field.name.name, CJ_BOUND_LET, v,
	    n->field.name.span);
}

/* ---- the module ---------------------------------------------------------- */

/* Names and terms anew; what is emitted stays. */
static void
start_walk(struct cj_contract *c, enum cj_walk_kind walk)
{
	struct cj_elab *el = c->el;
	uint32_t i;

	cj_symtab_init(&el->sym, el->arena, el->names);
	el->symbols.len = 1;
	el->levels.len = 0;
	el->em->terms.len = 0;
	el->env = NULL;
	cj_env_push(el);
	el->env->file = el->member->file;
	c->walk = walk;
	c->next = 0;
	for (i = 0; i < c->b->consts.len; i++)
		cj_env_bind(el, c->b->consts.at[i].name, CJ_BOUND_CONST,
		    c->b->consts.at[i].value, c->kernel->span);
}

/* Is parameter `number` a tensor here, not none? */
static bool
is_tensor(const struct cj_module *m, uint32_t number)
{
	uint32_t k;

	for (k = 1; k < m->objects.len; k++)
		if (m->objects.at[k].kind == CJ_OBJECT_TENSOR &&
		    m->objects.at[k].parameter == number)
			return true;
	return false;
}

/* `alias(y)`: both may be the same view, if both are there. */
static void
mark_aliases(struct cj_contract *c)
{
	struct cj_elab *el = c->el;
	const struct cj_pattern *list;
	uint32_t count, i, k;

	cj_pattern_list(el, c->kernel, &list, &count);
	for (i = 0; i < count; i++) {
		const struct cj_node *item;

		if (list[i].alias == NULL || !is_tensor(el->m, i) ||
		    list[i].alias->attr.items.count == 0)
			continue;
		item = list[i].alias->attr.items.at[0];
		for (k = 1; k < el->m->objects.len; k++) {
			struct cj_object *o = &el->m->objects.at[k];

			if (o->kind == CJ_OBJECT_TENSOR &&
			    item->kind == CJ_NODE_NAME &&
			    list[o->parameter].param->param.name.name ==
			    item->name.name)
				o->may_alias = true;
		}
	}
}

/* sm_80, sm_86, ... */
static const char *
target_names(struct cj_elab *el)
{
	struct cj_strbuf b;
	unsigned i;

	cj_strbuf_init(&b, el->arena);
	for (i = 0; i < cj_target_count; i++)
		cj_strbuf_printf(&b, "%s%s", i == 0 ? "" : ", ",
		    cj_targets[i].name);
	return b.text;
}

static bool
knows_targets(struct cj_elab *el, const struct cj_list *targets)
{
	bool ok = true;
	uint32_t i;

	for (i = 0; i < targets->count; i++) {
		const char *name = cj_elab_name(el,
		    targets->at[i]->name.name);

		if (cj_target_find(name) != NULL)
			continue;
		cj_help(cj_elab_report(el, CJ_DIAG_UNKNOWN_TARGET,
		    targets->at[i]->span, "there is no target \"%s\"",
		    name), "There are %s.", target_names(el));
		ok = false;
	}
	return ok;
}

static bool
serves_target(struct cj_elab *el, const struct cj_node *kernel)
{
	const struct cj_list *targets = &kernel->kernel.targets;
	uint32_t i;

	if (!knows_targets(el, targets))
		return false;
	if (el->target == NULL || targets->count == 0)
		return true;
	for (i = 0; i < targets->count; i++)
		if (cj_target_serves(el->target, cj_elab_name(el,
		    targets->at[i]->name.name)))
			return true;
	cj_elab_error(el, CJ_DIAG_CONTRACT, kernel->kernel.name.span,
	    "\"%s\" is for %s, not for %s", el->member->kernel,
	    cj_elab_name(el, targets->at[0]->name.name), el->target->name);
	return false;
}

/* Does a launch block stand in it, even if it is not reached? */
static void
find_launch(void *context, struct cj_node *n)
{
	bool *found = context;

	if (n == NULL || *found)
		return;
	if (n->kind == CJ_NODE_LAUNCH)
		*found = true;
	else
		cj_node_visit(n, find_launch, found);
}

static void
check_launches(struct cj_elab *el, const struct cj_node *kernel)
{
	bool found = false;

	if (el->launches != 0)
		return;
	cj_node_visit(kernel->kernel.body, find_launch, &found);
	if (found)
		return;
	cj_help(cj_elab_report(el, CJ_DIAG_CONTRACT,
	    kernel->kernel.name.span, "\"%s\" launches nothing",
	    el->member->kernel),
	    "Device code stands in launch grid(blocks) block(threads) { ... }; "
	    "what only computes is a fn.");
}

/* The first instruction of a function that the target does not have. */
static bool
suits_target(struct cj_elab *el, uint32_t function)
{
	const struct cj_module *m = el->m;
	const struct cj_inst *i;
	struct cj_walk w;
	const char *why;

	w = cj_walk_begin(m, m->functions.at[function].body);
	while ((i = cj_walk_inst(&w)) != NULL) {
		why = cj_inst_lacks(m, i);
		if (why == NULL)
			continue;
		cj_help(cj_elab_report(el, CJ_DIAG_NO_ATOM,
		    m->places.at[i->place].span, "%s is not for %s: %s",
		    cj_op_info[i->op].text, m->target->name, why),
		    "Say the target behind the contract, as in \"target "
		    "sm_90\", and give the family a member without it.");
		return false;
	}
	return true;
}

static void
check_target(struct cj_elab *el)
{
	uint32_t i;

	for (i = 1; i < el->m->functions.len && suits_target(el, i); i++)
		;
}

/* Host code that checks what parameters and `where` demand. */
static bool
check_contract(struct cj_contract *c)
{
	start_walk(c, CJ_WALK_CHECK);
	cj_elab_at(c->el, c->kernel->kernel.name.span);
	return cj_contract_walk(c) && cj_contract_where(c);
}

static void
build(struct cj_contract *c)
{
	struct cj_elab *el = c->el;

	if (!check_contract(c))
		return;
	start_walk(c, CJ_WALK_ASSUME);
	cj_elab_at(el, c->kernel->kernel.name.span);
	if (!cj_contract_walk(c))
		return;
	mark_aliases(c);
	cj_elab_body(el, c->kernel->kernel.body);
	if (el->errors == 0) {
		check_target(el);
		check_launches(el, c->kernel);
		cj_elab_check_meetings(el);
	}
}

/* What elaborates a member, with an empty host function. */
static struct cj_elab *
begin(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_member_info *m, const struct cj_aim *aim,
    struct cj_diags *ds)
{
	struct cj_elab *el = CJ_NEW(a, struct cj_elab);
	const char *name = cj_name_text(u->names, m->node->kernel.name.name);
	struct cj_emitter *em;

	cj_elab_init(el, a, u, aim->target, ds);
	el->bounds = aim->bounds;
	el->member = m;
	el->time = CJ_TIME_HOST;
	el->m->name = m->member == 0 ? cj_strdup(a, name) :
	    cj_printf(a, "%s[%u]", name, m->member);
	em = CJ_NEW(a, struct cj_emitter);
	em->function = cj_module_function(el->m, CJ_FUNCTION_HOST, name);
	em->level = 1;
	em->b.module = el->m;
	em->b.region = el->m->functions.at[em->function].body;
	el->em = em;
	return el;
}

static struct cj_module *
verified(struct cj_elab *el)
{
	const char *wrong = cj_module_verify(el->m);

	if (wrong != NULL)
		cj_bug(el->recover, "the module of \"%s\" is wrong: %s",
		    el->m->name, wrong);
	return el->m;
}

struct cj_module *
cj_elab_kernel(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_member_info *m, const struct cj_binding *b,
    const struct cj_aim *aim, struct cj_diags *ds)
{
	uint32_t errors = ds->errors;
	struct cj_elab *el = begin(a, u, m, aim, ds);
	struct cj_binding copy = *b;
	struct cj_contract c = { .el = el, .kernel = m->node, .b = &copy };

	if (!serves_target(el, m->node))
		return NULL;
	build(&c);
	return el->errors != 0 || ds->errors != errors ? NULL : verified(el);
}

struct cj_module *
cj_elab_contract(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_member_info *m, const struct cj_binding *b,
    const struct cj_aim *aim)
{
	struct cj_diags *quiet = CJ_NEW(a, struct cj_diags);
	struct cj_elab *el;
	struct cj_binding copy = *b;
	struct cj_contract c = { .kernel = m->node, .b = &copy };

	cj_diags_init(quiet, a, u->sources);
	c.el = el = begin(a, u, m, aim, quiet);
	return !check_contract(&c) || el->errors != 0 || quiet->errors != 0 ?
	    NULL : verified(el);
}
