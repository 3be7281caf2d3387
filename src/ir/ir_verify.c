/*
 * The verifier: is a module right?
 *
 * One walk over each function. An operand is good if it was met already and
 * the region it stands in is still open, which is what dominance comes to in
 * nested regions. Types are the rules of ir_rule.c. Whether threads that must
 * meet do meet is not asked here: that needs facts.
 */
#include "ir_priv.h"

struct verifier {
	struct cj_module *m;
	uint32_t function;
	cj_region *stands_in;	/* by instruction; 0: not met yet */
	bool *open;		/* by region */
	uint32_t *given;	/* by object: the function that has it */
	uint32_t values;	/* as the printer numbers them */
	const char *wrong;
};

static void
fail_at(struct verifier *v, const struct cj_inst *i, const char *what)
{
	const struct cj_function *f = &v->m->functions.at[v->function];
	const char *op = i->op < CJ_OP_COUNT ? cj_op_info[i->op].text : "?";

	if (v->wrong != NULL)
		return;
	if (i->type != 0)
		v->wrong = cj_printf(v->m->arena, "\"%s\": %%%u = %s: %s",
		    f->name, v->values, op, what);
	else
		v->wrong = cj_printf(v->m->arena, "\"%s\": %s after %%%u: %s",
		    f->name, op, v->values, what);
}

static void
fail(struct verifier *v, const char *table, uint32_t index, const char *what)
{
	if (v->wrong == NULL)
		v->wrong = cj_printf(v->m->arena, "%s%u: %s", table, index,
		    what);
}

static const struct cj_function *
function_of(const struct verifier *v)
{
	assert(v->function != 0 && v->function < v->m->functions.len);
	return &v->m->functions.at[v->function];
}

/* ---- tables -------------------------------------------------------------- */

static bool
is_power_of_two(uint32_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

static void
check_freed(struct verifier *v, uint32_t index)
{
	const struct cj_object *o = &v->m->objects.at[index];

	if (o->freed != 0 && (o->freed >= v->m->objects.len ||
	    o->stages == 0 || v->m->objects.at[o->freed].element !=
	    CJ_KIND_MBARRIER || v->m->objects.at[o->freed].extent !=
	    o->stages))
		fail(v, "@", index, "no mbarriers of its stages give them "
		    "back");
}

/* Shared memory in that of another object. */
static void
check_host(struct verifier *v, uint32_t index)
{
	const struct cj_object *o = &v->m->objects.at[index], *host;

	if (o->host == 0)
		return;
	if (o->host >= v->m->objects.len || o->kind != CJ_OBJECT_SHARED) {
		fail(v, "@", index, "the object that it lies over is not "
		    "there");
		return;
	}
	host = &v->m->objects.at[o->host];
	if (host->kind != CJ_OBJECT_SHARED || host->host != 0 ||
	    host->extent < 0 || o->extent < 0 || o->offset % o->align != 0 ||
	    host->align < o->align)
		fail(v, "@", index, "it does not fit where it lies");
}

static void
check_object(struct verifier *v, uint32_t index)
{
	const struct cj_object *o = &v->m->objects.at[index];

	if (o->kind > CJ_OBJECT_SLOT || o->element == CJ_KIND_VOID ||
	    o->element >= CJ_KIND_COUNT) {
		fail(v, "@", index, "kind or element does not exist");
		return;
	}
	if (o->extent < -1)
		fail(v, "@", index, "the extent is negative");
	if (o->region >= v->m->regions.len)
		fail(v, "@", index, "the region does not exist");
	if (o->place >= v->m->places.len)
		fail(v, "@", index, "the place does not exist");
	switch (o->kind) {
	case CJ_OBJECT_SLOT:
		if (o->extent < 1 || o->extent > CJ_MAX_REGISTERS)
			fail(v, "@", index, "a slot has a known extent");
		return;		/* registers have no alignment */
	case CJ_OBJECT_SHARED:
		if (o->extent < 0)
			fail(v, "@", index, "shared memory has a known extent");
		else if (o->stages != 0 && o->extent % o->stages != 0)
			fail(v, "@", index, "the stages differ in extent");
		break;
	case CJ_OBJECT_TMEM:
		if (o->extent < 0 || cj_kind_bits(o->element) > 32 ||
		    32 % cj_kind_bits(o->element) != 0 ||
		    !is_power_of_two(cj_tmem_columns(o)) ||
		    cj_tmem_columns(o) < CJ_TMEM_LEAST ||
		    cj_tmem_columns(o) > CJ_TMEM_COLUMNS)
			fail(v, "@", index, "tensor memory has 32 to 512 "
			    "columns, a power of two");
		return;
	case CJ_OBJECT_TABLE:
		if (o->extent < 0 || (o->extent > 0 && o->data == NULL))
			fail(v, "@", index, "a table has data");
		break;
	case CJ_OBJECT_TENSOR:
	case CJ_OBJECT_WORKSPACE:
	case CJ_OBJECT_FOREIGN:
	case CJ_OBJECT_ARRAY:
		break;
	}
	if (o->restored && (o->kind != CJ_OBJECT_WORKSPACE ||
	    cj_kind_bits(o->element) < 8))
		fail(v, "@", index, "a workspace of elements of 8 bits or "
		    "more is restored");
	if (!is_power_of_two(o->align))
		fail(v, "@", index, "the alignment is not a power of two");
	else
		check_host(v, index);
	check_freed(v, index);
}

static void
check_pipeline(struct verifier *v, uint32_t number)
{
	const struct cj_pipeline *p = &v->m->pipelines.at[number];
	uint32_t i;

	if (p->stages == 0 || p->stages > CJ_MAX_STAGES)
		fail(v, "pipeline ", number, "there are too many stages");
	if (p->region >= v->m->regions.len || p->place >= v->m->places.len)
		fail(v, "pipeline ", number, "region or place do not exist");
	for (i = 0; i < p->field_count; i++)
		if (p->fields[i] == 0 || p->fields[i] >= v->m->objects.len ||
		    v->m->objects.at[p->fields[i]].stages != p->stages)
			fail(v, "pipeline ", number,
			    "a field has other stages");
}

static void
check_tables(struct verifier *v)
{
	const struct cj_module *m = v->m;
	uint32_t i;

	for (i = 1; i < m->objects.len; i++)
		check_object(v, i);
	for (i = 1; i < m->pipelines.len; i++)
		check_pipeline(v, i);
	for (i = 1; i < m->places.len; i++)
		if (m->places.at[i].parent >= i)
			fail(v, "!", i, "the parent is not older");
}

static void
check_leaves(struct verifier *v)
{
	const struct cj_function *f = function_of(v);
	uint32_t i;

	for (i = 0; i < f->leaves.len; i++) {
		const struct cj_leaf *l = &f->leaves.at[i];
		bool is_device = f->kind == CJ_FUNCTION_DEVICE;

		if (l->kind == CJ_LEAF_OBJECT) {
			if (l->object == 0 || l->object >= v->m->objects.len)
				fail(v, "leaf ", i,
				    "the object does not exist");
			else
				v->given[l->object] = v->function;
			if (l->type != cj_type_of(CJ_KIND_PTR, 1))
				fail(v, "leaf ", i, "an object is a ptr");
		} else if (is_device != (l->kind == CJ_LEAF_VALUE)) {
			fail(v, "leaf ", i,
			    "the kind does not fit the function");
		}
		if (l->lo > l->hi || l->divisor < 0)
			fail(v, "leaf ", i, "the range is empty");
		if (cj_type_kind(l->type) == CJ_KIND_VOID ||
		    cj_type_kind(l->type) >= CJ_KIND_COUNT ||
		    cj_type_count(l->type) == 0)
			fail(v, "leaf ", i, "the type does not exist");
	}
}

static void
check_extents(struct verifier *v)
{
	const struct cj_function *f = function_of(v);
	unsigned n;

	for (n = 0; n < 3; n++)
		if (f->block[n] < 0 || f->block[n] > CJ_MAX_BLOCK_THREADS ||
		    f->cluster[n] < 0 ||
		    f->cluster[n] > CJ_MAX_BLOCK_THREADS)
			fail(v, "$", v->function,
			    "block or cluster is beyond what a GPU has");
}

/* ---- instructions -------------------------------------------------------- */

static const char *
check_operands(const struct verifier *v, const struct cj_inst *i)
{
	uint32_t n;

	if ((uint64_t)i->operands + i->operand_count > v->m->pool.len)
		return "the operands do not exist";
	for (n = 0; n < i->operand_count; n++) {
		cj_ref r = cj_operand(v->m, i, n);

		if (r == 0 || r >= v->m->insts.len)
			return "an operand does not exist";
		if (v->stands_in[r] == 0 || !v->open[v->stands_in[r]])
			return "an operand is not made on the way here";
	}
	return NULL;
}

static const char *
check_level(const struct verifier *v, const struct cj_inst *i)
{
	enum cj_function_kind kind = function_of(v)->kind;

	if (cj_op_info[i->op].level == CJ_LEVEL_HOST &&
	    kind == CJ_FUNCTION_DEVICE)
		return "it belongs to the host part";
	if (cj_op_info[i->op].level == CJ_LEVEL_TEST &&
	    kind != CJ_FUNCTION_TEST)
		return "it belongs to tests";
	if (cj_op_info[i->op].level == CJ_LEVEL_STRUCTURED && v->m->is_lowered)
		return "it should have been lowered";
	switch ((unsigned)i->op) {
	case CJ_OP_SPECIAL: case CJ_OP_BARRIER: case CJ_OP_SHFL:
	case CJ_OP_CLUSTER_BARRIER: case CJ_OP_REMOTE_LOAD:
	case CJ_OP_REMOTE_STORE: case CJ_OP_REMOTE_ATOMIC:
	case CJ_OP_BALLOT: case CJ_OP_REDUX: case CJ_OP_MATCH:
	case CJ_OP_CP_ASYNC: case CJ_OP_CP_COMMIT: case CJ_OP_CP_WAIT:
	case CJ_OP_LDMATRIX: case CJ_OP_STMATRIX: case CJ_OP_MOVMATRIX:
	case CJ_OP_MMA: case CJ_OP_MMA_SPARSE:
	case CJ_OP_MBARRIER_INIT: case CJ_OP_MBARRIER_ARRIVE:
	case CJ_OP_MBARRIER_EXPECT: case CJ_OP_MBARRIER_WAIT:
	case CJ_OP_MBARRIER_TEST: case CJ_OP_FENCE: case CJ_OP_NAMED_BARRIER:
	case CJ_OP_NAMED_ARRIVE: case CJ_OP_SYNC_WARP:
	case CJ_OP_LAUNCH_DEPENDENTS:
	case CJ_OP_PRODUCE: case CJ_OP_CONSUME: case CJ_OP_SETTLE:
	case CJ_OP_SKIP: case CJ_OP_RELEASE: case CJ_OP_DRAIN:
	case CJ_OP_ROLE: case CJ_OP_TURN:
	case CJ_OP_REGISTERS_DOWN: case CJ_OP_REGISTERS_UP:
	case CJ_OP_CP_ARRIVE: case CJ_OP_MBARRIER_BYTES: case CJ_OP_TMA_LOAD:
	case CJ_OP_TMA_STORE: case CJ_OP_BULK_COMMIT: case CJ_OP_BULK_WAIT:
	case CJ_OP_BULK_COPY: case CJ_OP_SEND: case CJ_OP_PREFETCH:
	case CJ_OP_TMA_PREFETCH: case CJ_OP_MAP_PREFETCH:
	case CJ_OP_MAP_AT: case CJ_OP_MAP_INIT:
	case CJ_OP_MAP_REPLACE: case CJ_OP_MAP_PUBLISH:
	case CJ_OP_MAP_ACQUIRE: case CJ_OP_ADDRESS:
	case CJ_OP_BULK_WAIT_READ: case CJ_OP_WGMMA_FENCE: case CJ_OP_WGMMA:
	case CJ_OP_WGMMA_COMMIT: case CJ_OP_WGMMA_WAIT:
	case CJ_OP_TMEM_ALLOC: case CJ_OP_TMEM_DEALLOC:
	case CJ_OP_TMEM_RELINQUISH: case CJ_OP_TMEM_LOAD:
	case CJ_OP_TMEM_STORE: case CJ_OP_TMEM_WAIT: case CJ_OP_TMEM_COPY:
	case CJ_OP_TCGEN05_MMA:
	case CJ_OP_TCGEN05_COMMIT:
	case CJ_OP_PTX: case CJ_OP_PTX_PURE: case CJ_OP_EXECUTOR:
		return kind == CJ_FUNCTION_DEVICE ? NULL :
		    "it belongs to device functions";
	case CJ_OP_LOAD: case CJ_OP_STORE: case CJ_OP_ATOMIC:
		return kind != CJ_FUNCTION_HOST ? NULL :
		    "the host part touches no memory";
	}
	return NULL;
}

const char *
cj_inst_lacks(const struct cj_module *m, const struct cj_inst *i)
{
	int needs = cj_inst_needs(m, i);

	if (m->target == NULL)
		return NULL;
	if (cj_op_info[i->op].engine == CJ_ENGINE_WGMMA &&
	    strcmp(m->target->name, "sm_90a") != 0)
		return "it needs sm_90a, and no other";
	if ((cj_op_info[i->op].engine == CJ_ENGINE_TCGEN05 ||
	    (i->op == CJ_OP_FENCE && cj_fence_is_of_tmem(i))) &&
	    m->target->family != 100)
		return "it needs sm_100a or sm_103a";
	if ((i->op == CJ_OP_BULK_COPY || i->op == CJ_OP_TMA_LOAD) &&
	    cj_inst_spreads(m, i) && !cj_target_multicasts(m->target))
		return "one load to several blocks is not for this target";
	if (m->target->number >= needs)
		return NULL;
	return cj_printf(m->arena, "it needs sm_%d", needs);
}

/* Does leaving from `from` outward to `owner` cross what nobody leaves? */
static const char *
check_way_out(const struct verifier *v, cj_region from, cj_ref owner)
{
	const struct cj_region_info *g;

	for (;; from = g->parent) {
		g = &v->m->regions.at[from];
		if (g->owner == owner)
			return NULL;
		if (g->owner == 0)
			return "the target is not around it";
		if (cj_inst(v->m, g->owner)->op == CJ_OP_PRODUCE)
			return "it would leave a stage half filled";
		if (cj_inst(v->m, g->owner)->op == CJ_OP_ROLE)
			return "it would leave a role";
		if (cj_inst(v->m, g->owner)->op == CJ_OP_ARRAY_MAP ||
		    cj_inst(v->m, g->owner)->op == CJ_OP_EXPECT)
			return "it would leave a region that runs for each "
			    "index";
	}
}

static const char *
check_yield(const struct verifier *v, const struct cj_inst *i,
    cj_region region)
{
	cj_ref owner = v->m->regions.at[region].owner;
	const struct cj_inst *o = owner != 0 ? cj_inst(v->m, owner) : NULL;
	cj_type first = i->operand_count == 0 ? 0 :
	    cj_inst(v->m, cj_operand(v->m, i, 0))->type;

	if (o != NULL && o->op == CJ_OP_EXPECT) {
		if (first != cj_type_of(CJ_KIND_BOOL, 1))
			return "an expectation is a bool";
		return i->operand_count != 2 ? NULL :
		    "both sides are shown or none";
	}
	if (i->operand_count > 1)
		return "there are too many results";
	return first == (o != NULL ? o->type : 0) ? NULL :
	    "the result does not fit what the region belongs to";
}

static const char *
check_exit(const struct verifier *v, const struct cj_inst *i,
    cj_region region)
{
	enum cj_op op;

	if (i->next != 0)
		return "something follows it";
	switch ((unsigned)i->op) {
	case CJ_OP_YIELD:
		return check_yield(v, i, region);
	case CJ_OP_RETURN:
		return check_way_out(v, region, 0);
	}
	op = cj_inst(v->m, i->attr)->op;
	if (op != CJ_OP_FOR && op != CJ_OP_LOOP &&
	    (op != CJ_OP_SCOPE || i->op == CJ_OP_CONTINUE))
		return "the target cannot be left like this";
	return check_way_out(v, region, i->attr);
}

static bool
ends_by_exit(const struct cj_module *m, cj_region g)
{
	cj_ref last = m->regions.at[g].last;

	return last != 0 && cj_op_info[cj_inst(m, last)->op].effects ==
	    CJ_EFFECTS_EXIT;
}

static const char *
check_region(const struct cj_module *m, const struct cj_inst *i, cj_region g)
{
	if (cj_op_has_index(i->op) && !cj_region_has_index(m, g))
		return "the region does not begin with its index";
	if ((i->type != 0 || i->op == CJ_OP_EXPECT) && !ends_by_exit(m, g))
		return "a region yields no result";
	return NULL;
}

static const char *
check_regions(const struct verifier *v, cj_ref r, cj_region region)
{
	const struct cj_inst *i = cj_inst(v->m, r);
	cj_region g = i->region;
	unsigned count = 0, least = 0, most = 0;
	const char *wrong;

	assert(region != 0 && v->open[region]);
	for (; g != 0; g = v->m->regions.at[g].next) {
		if (g >= v->m->regions.len || v->m->regions.at[g].owner != r ||
		    v->m->regions.at[g].parent != region || count++ > 2)
			return "its regions are not linked to it";
		wrong = check_region(v->m, i, g);
		if (wrong != NULL)
			return wrong;
	}
	if (cj_op_info[i->op].effects == CJ_EFFECTS_REGION)
		least = most = 1;
	if (i->op == CJ_OP_IF) {
		least = i->type != 0 ? 2 : 1;
		most = 2;
	}
	return count >= least && count <= most ? NULL :
	    "the number of regions is wrong";
}

/* One access of an instruction. */
static const char *
check_right(const struct verifier *v, const struct cj_touch *t)
{
	uint32_t object = t->access->object;
	const struct cj_object *o = &v->m->objects.at[object];
	bool is_outer = o->kind == CJ_OBJECT_TENSOR ||
	    o->kind == CJ_OBJECT_WORKSPACE || o->kind == CJ_OBJECT_FOREIGN;

	if (o->kind == CJ_OBJECT_SLOT || o->kind == CJ_OBJECT_SHARED ||
	    o->kind == CJ_OBJECT_TMEM)
		return o->region != 0 && v->open[o->region] ? NULL :
		    "the object does not live here";
	if (!is_outer)
		return NULL;
	if (function_of(v)->kind == CJ_FUNCTION_DEVICE &&
	    v->given[object] != v->function)
		return "the object is no leaf of the function";
	if (t->writes && !o->writes)
		return "the object may not be written";
	return !t->reads || t->writes || o->reads ? NULL :
	    "the object may not be read";
}

static const char *
check_rights(const struct verifier *v, const struct cj_inst *i)
{
	struct cj_touch touches[CJ_TOUCHES];
	unsigned n = cj_touches(v->m, i, touches), k;
	const char *wrong = NULL;

	for (k = 0; k < n && wrong == NULL && i->op != CJ_OP_WORKSPACE; k++)
		wrong = check_right(v, &touches[k]);
	return wrong;
}

static const char *
check_param(const struct verifier *v, const struct cj_inst *i)
{
	const struct cj_function *f = function_of(v);

	if (i->attr >= f->leaves.len)
		return "there is no such leaf";
	return f->leaves.at[i->attr].type == i->type ? NULL :
	    "leaf and result differ in type";
}

static const char *
check_index(const struct verifier *v, cj_ref r, cj_region region)
{
	return cj_region_has_index(v->m, region) &&
	    v->m->regions.at[region].first == r ? NULL :
	    "it does not begin a region that has an index";
}

/* The value leaves of what is launched are what comes after the extents. */
static const char *
check_launch(const struct verifier *v, const struct cj_inst *i)
{
	const struct cj_function *f = &v->m->functions.at[
	    v->m->launches.at[i->attr].function];
	uint32_t n, next = 9;

	for (n = 0; n < f->leaves.len; n++) {
		if (f->leaves.at[n].kind != CJ_LEAF_VALUE)
			continue;
		if (next >= i->operand_count || cj_inst(v->m, cj_operand(v->m,
		    i, next))->type != f->leaves.at[n].type)
			return "the leaves do not fit the device function";
		next++;
	}
	return next == i->operand_count ? NULL :
	    "there are more leaves than the device function has";
}

static const char *
check_stage(const struct verifier *v, const struct cj_inst *i)
{
	const struct cj_stage_use *u = &v->m->stage_uses.at[i->attr];
	const struct cj_pipeline *p = &v->m->pipelines.at[u->pipeline];

	if (p->region == 0 || !v->open[p->region])
		return "the pipeline does not live here";
	if (u->keep && i->op != CJ_OP_CONSUME)
		return "only a consume keeps its stage";
	return u->count < p->stages ? NULL :
	    "there are fewer stages than are used at once";
}

/* What setmaxnreg takes. */
static const char *
check_registers(uint32_t n)
{
	return n >= 24 && n <= 256 && n % 8 == 0 ? NULL :
	    "a thread has 24 to 256 registers, a multiple of 8";
}

static const char *
check_role(const struct verifier *v, const struct cj_inst *i,
    cj_region region)
{
	const struct cj_role *r = &v->m->roles.at[i->attr];
	const int64_t *n = function_of(v)->block;

	if (r->warps == 0 || (int64_t)(r->first + r->warps) * 32 >
	    n[0] * n[1] * n[2])
		return "the block has no such warps";
	if (region != function_of(v)->body)
		return "roles stand in the body of their function";
	return r->registers == 0 ? NULL : check_registers(r->registers);
}

static const char *
check_inst(const struct verifier *v, cj_ref r, cj_region region)
{
	const struct cj_inst *i = cj_inst(v->m, r);
	const char *wrong;

	if (i->op == CJ_OP_NONE || i->op >= CJ_OP_COUNT)
		return "the operation does not exist";
	if (i->place >= v->m->places.len)
		return "the place does not exist";
	if ((wrong = check_operands(v, i)) != NULL ||
	    (wrong = cj_rule_check(v->m, i)) != NULL ||
	    (wrong = cj_inst_lacks(v->m, i)) != NULL ||
	    (wrong = check_level(v, i)) != NULL ||
	    (wrong = check_regions(v, r, region)) != NULL)
		return wrong;
	if (cj_op_info[i->op].effects == CJ_EFFECTS_EXIT)
		return check_exit(v, i, region);
	if (cj_op_info[i->op].attr == CJ_ATTR_ACCESS ||
	    cj_op_info[i->op].attr == CJ_ATTR_COPY ||
	    cj_op_info[i->op].attr == CJ_ATTR_TMA ||
	    cj_op_info[i->op].attr == CJ_ATTR_BULK ||
	    cj_op_info[i->op].attr == CJ_ATTR_TMEM ||
	    cj_op_info[i->op].attr == CJ_ATTR_TCGEN05 ||
	    cj_op_info[i->op].attr == CJ_ATTR_WGMMA)
		return check_rights(v, i);
	switch ((unsigned)i->op) {
	case CJ_OP_PARAM: return check_param(v, i);
	case CJ_OP_INDEX: return check_index(v, r, region);
	case CJ_OP_LAUNCH: return check_launch(v, i);
	case CJ_OP_PRODUCE: case CJ_OP_CONSUME: case CJ_OP_SETTLE:
	case CJ_OP_SKIP: case CJ_OP_RELEASE: case CJ_OP_DRAIN:
		return check_stage(v, i);
	case CJ_OP_ROLE: return check_role(v, i, region);
	case CJ_OP_REGISTERS_DOWN: case CJ_OP_REGISTERS_UP:
		return check_registers(i->attr);
	}
	return NULL;
}

static void
check_links(struct verifier *v, cj_ref r, cj_region region)
{
	const struct cj_inst *i = cj_inst(v->m, r);
	const struct cj_region_info *g = &v->m->regions.at[region];

	if (v->stands_in[r] != 0)
		fail_at(v, i, "it stands in two places");
	else if ((i->prev == 0) != (g->first == r) ||
	    (i->next == 0) != (g->last == r) ||
	    (i->prev != 0 && cj_inst(v->m, i->prev)->next != r))
		fail_at(v, i, "it is not linked into its region");
}

static void
check_function(struct verifier *v)
{
	const struct cj_function *f = function_of(v);
	struct cj_walk w;

	if (f->body == 0 || f->body >= v->m->regions.len ||
	    v->m->regions.at[f->body].owner != 0) {
		fail(v, "$", v->function, "the body is not a region");
		return;
	}
	check_extents(v);
	check_leaves(v);
	v->values = 0;
	for (w = cj_walk_begin(v->m, f->body); v->wrong == NULL &&
	    cj_walk_next(&w);) {
		const char *wrong;

		if (w.event != CJ_WALK_INST) {
			v->open[w.region] = w.event == CJ_WALK_ENTER;
			continue;
		}
		v->values += cj_inst(v->m, w.ref)->type != 0;
		check_links(v, w.ref, w.region);
		wrong = v->wrong != NULL ? NULL :
		    check_inst(v, w.ref, w.region);
		if (wrong != NULL)
			fail_at(v, cj_inst(v->m, w.ref), wrong);
		v->stands_in[w.ref] = w.region;
	}
}

const char *
cj_module_verify(struct cj_module *m)
{
	struct cj_mark mark = cj_arena_mark(m->arena);
	struct verifier v = { .m = m };

	v.stands_in = CJ_NEWS(m->arena, cj_region, m->insts.len);
	v.open = CJ_NEWS(m->arena, bool, m->regions.len);
	v.given = CJ_NEWS(m->arena, uint32_t, m->objects.len);
	check_tables(&v);
	for (v.function = 1; v.wrong == NULL &&
	    v.function < m->functions.len; v.function++)
		check_function(&v);
	if (v.wrong == NULL)
		cj_arena_release(m->arena, mark);
	return v.wrong;
}
