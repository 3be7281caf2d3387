/*
 * The rules of types: what each operation demands of its operands, its result
 * and its attribute, looked at alone.
 *
 * Rows of ops.def with the rule SAME are checked from the row and by the class
 * of their kind; CUSTOM and ANY rows each have a function here. The builder
 * asserts these rules, the verifier reports them.
 */
#include "ir_rule_priv.h"

cj_type
cj_rule_type(const struct cj_rule_view *v, unsigned n)
{
	assert(n < v->i->operand_count && "the count was checked");
	return cj_inst(v->m, cj_operand(v->m, v->i, n))->type;
}

static uint32_t
count(const struct cj_rule_view *v, unsigned n)
{
	return cj_type_count(cj_rule_type(v, n));
}

bool
cj_rule_is_index(const struct cj_rule_view *v, unsigned n)
{
	return cj_rule_type(v, n) == cj_type_of(CJ_KIND_INDEX, 1);
}

bool
cj_rule_is_bool(const struct cj_rule_view *v, unsigned n)
{
	return cj_rule_type(v, n) == cj_type_of(CJ_KIND_BOOL, 1);
}

bool
cj_rule_are_indices(const struct cj_rule_view *v, unsigned from, unsigned to)
{
	unsigned n;

	for (n = from; n < to; n++)
		if (!cj_rule_is_index(v, n))
			return false;
	return true;
}

static bool
is_number(enum cj_kind k)
{
	return cj_kind_is_integer(k) || cj_kind_is_float(k);
}

/* Rows of the table that an attribute is a number of; row 0 is none. */
static uint32_t
rows_of(const struct cj_module *m, enum cj_attr attr)
{
	switch (attr) {
	case CJ_ATTR_NONE: return 1;
	case CJ_ATTR_INT: return UINT32_MAX;
	case CJ_ATTR_CONSTANT: return m->constants.len;
	case CJ_ATTR_ACCESS: return m->accesses.len;
	case CJ_ATTR_TARGET: return m->insts.len;
	case CJ_ATTR_POSITIONS: return m->positions.len;
	case CJ_ATTR_CONVERSION: return m->conversions.len;
	case CJ_ATTR_LAUNCH: return m->launches.len;
	case CJ_ATTR_REQUIRE: return m->requires.len;
	case CJ_ATTR_TEXT: return m->texts.len;
	case CJ_ATTR_EXPECT: return m->expects.len;
	case CJ_ATTR_CALL: return m->calls.len;
	case CJ_ATTR_ARRAY: return m->arrays.len;
	case CJ_ATTR_COPY: return m->copies.len;
	case CJ_ATTR_MAP: return m->maps.len;
	case CJ_ATTR_TMA: return m->tmas.len;
	case CJ_ATTR_BULK: return m->bulks.len;
	case CJ_ATTR_WGMMA: return m->wgmmas.len;
	case CJ_ATTR_TMEM: return m->tmem_uses.len;
	case CJ_ATTR_TCGEN05: return m->tcgen05s.len;
	case CJ_ATTR_MMA: return m->mmas.len;
	case CJ_ATTR_STAGE: return m->stage_uses.len;
	case CJ_ATTR_ROLE: return m->roles.len;
	case CJ_ATTR_ORDER: return m->orders.len;
	}
	return 0;
}

static bool
is_row(uint32_t number, uint32_t rows)
{
	return number != 0 && number < rows;
}

static bool
is_access(const struct cj_module *m, uint32_t n)
{
	return is_row(n, m->accesses.len) &&
	    is_row(m->accesses.at[n].object, m->objects.len);
}

static bool
is_access_or_none(const struct cj_module *m, uint32_t n)
{
	return n == 0 || is_access(m, n);
}

static bool
is_map(const struct cj_module *m, uint32_t n)
{
	return is_row(n, m->maps.len) &&
	    is_row(m->maps.at[n].object, m->objects.len);
}

/* Rows of tables that an instruction of asynchronous copies or products is a
 * number of: is all there that they refer to? */
static bool
unit_refers(const struct cj_module *m, enum cj_attr attr, uint32_t n)
{
	if (attr == CJ_ATTR_COPY)
		return is_access(m, m->copies.at[n].to) &&
		    is_access(m, m->copies.at[n].from);
	if (attr == CJ_ATTR_TMA)
		return is_map(m, m->tmas.at[n].map) &&
		    is_access(m, m->tmas.at[n].shared) &&
		    is_access_or_none(m, m->tmas.at[n].signal);
	if (attr == CJ_ATTR_BULK)
		return is_access(m, m->bulks.at[n].to) &&
		    is_access_or_none(m, m->bulks.at[n].from) &&
		    is_access_or_none(m, m->bulks.at[n].signal);
	if (attr == CJ_ATTR_WGMMA)
		return is_access(m, m->wgmmas.at[n].sum) &&
		    is_access(m, m->wgmmas.at[n].b_at) &&
		    is_access(m, m->wgmmas.at[n].a_at);
	if (attr == CJ_ATTR_TMEM)
		return is_access(m, m->tmem_uses.at[n].tmem) &&
		    is_access_or_none(m, m->tmem_uses.at[n].other);
	return attr != CJ_ATTR_TCGEN05 ||
	    (is_access(m, m->tcgen05s.at[n].d_at) &&
	    is_access(m, m->tcgen05s.at[n].a_at) &&
	    is_access(m, m->tcgen05s.at[n].b_at));
}

/* The same for all others. */
static bool
refers(const struct cj_module *m, enum cj_attr attr, uint32_t n)
{
	if (attr == CJ_ATTR_ACCESS)
		return is_access(m, n);
	if (attr == CJ_ATTR_LAUNCH)
		return is_row(m->launches.at[n].function, m->functions.len);
	if (attr == CJ_ATTR_TEXT)
		return m->texts.at[n] != NULL;
	if (attr == CJ_ATTR_ARRAY)
		return is_row(m->arrays.at[n].object, m->objects.len);
	if (attr == CJ_ATTR_MAP)
		return is_map(m, n);
	if (attr == CJ_ATTR_STAGE)
		return is_row(m->stage_uses.at[n].pipeline,
		    m->pipelines.len);
	return unit_refers(m, attr, n);
}

/* Does the row that an instruction's attribute names exist, and all that it
 * refers to? */
static bool
attr_exists(const struct cj_module *m, enum cj_attr attr, uint32_t n)
{
	if (attr == CJ_ATTR_INT)
		return true;
	if (n == 0)		/* a conversion has a default */
		return attr == CJ_ATTR_NONE || attr == CJ_ATTR_CONVERSION;
	return n < rows_of(m, attr) && refers(m, attr, n);
}

/* ---- rows whose rule is SAME: the class of the kind ---------------------- */

static const char *
check_same(const struct cj_rule_view *v)
{
	enum cj_kind k = cj_rule_kind(v, 0);
	unsigned n;

	for (n = 1; n < v->i->operand_count; n++)
		if (cj_rule_type(v, n) != cj_rule_type(v, 0))
			return "operands differ in type";
	switch (cj_op_demand(v->i->op)) {
	case CJ_DEMAND_ANY:
		return k == CJ_KIND_MAP ? "a tensor map is not a number" : NULL;
	case CJ_DEMAND_NUMBER:
		return is_number(k) ? NULL : "operands are not numbers";
	case CJ_DEMAND_INTEGER:
		return cj_kind_is_integer(k) ? NULL :
		    "operands are not integers";
	case CJ_DEMAND_BITS:
		return cj_kind_is_integer(k) || k == CJ_KIND_BOOL ? NULL :
		    "operands are neither integers nor bool";
	case CJ_DEMAND_FLOAT:
		return cj_kind_is_float(k) ? NULL : "operands are not floats";
	}
	return NULL;
}

/* ---- values -------------------------------------------------------------- */

static const char *
check_const(const struct cj_rule_view *v)
{
	if (v->m->constants.at[v->i->attr].type != v->i->type)
		return "the constant has another type";
	return NULL;
}

static const char *
check_special(const struct cj_rule_view *v)
{
	if (v->i->attr >= CJ_SPECIAL_COUNT)
		return "there is no such special value";
	return v->i->type == cj_type_of(CJ_KIND_INDEX, 1) ? NULL :
	    "the result is not an int";
}

static const char *
check_index(const struct cj_rule_view *v)
{
	return v->i->type == cj_type_of(CJ_KIND_INDEX, 1) ? NULL :
	    "the result is not an int";
}

static const char *
check_select(const struct cj_rule_view *v)
{
	if (cj_rule_kind(v, 0) != CJ_KIND_BOOL)
		return "the condition is not bool";
	if (count(v, 0) != 1 && count(v, 0) != cj_type_count(v->i->type))
		return "condition and result differ in registers";
	if (cj_rule_type(v, 1) != v->i->type ||
	    cj_rule_type(v, 2) != v->i->type)
		return "operands and result differ in type";
	return NULL;
}

static const char *
check_convert(const struct cj_rule_view *v)
{
	enum cj_kind to = cj_type_kind(v->i->type), from = cj_rule_kind(v, 0);

	if (count(v, 0) != cj_type_count(v->i->type))
		return "operand and result differ in registers";
	if (!is_number(to) && to != CJ_KIND_BOOL)
		return "the result is not a number";
	if (!is_number(from) && from != CJ_KIND_BOOL)
		return "the operand is not a number";
	return NULL;
}

static const char *
check_bitcast(const struct cj_rule_view *v)
{
	uint64_t to = (uint64_t)cj_kind_bits(cj_type_kind(v->i->type)) *
	    cj_type_count(v->i->type);
	uint64_t from = (uint64_t)cj_kind_bits(cj_rule_kind(v, 0)) *
	    count(v, 0);

	return to == from ? NULL : "operand and result differ in bits";
}

static const char *
check_divide_by(const struct cj_rule_view *v)
{
	if (cj_rule_kind(v, 0) != CJ_KIND_INDEX ||
	    cj_rule_type(v, 0) != v->i->type)
		return "dividend and result are not int";
	if (!cj_rule_is_index(v, 1))
		return "the divisor is not an int";
	return cj_rule_type(v, 2) == cj_type_of(CJ_KIND_U64, 2) ? NULL :
	    "the third operand is not u64[2]";
}

static const char *
check_splat(const struct cj_rule_view *v)
{
	if (count(v, 0) != 1)
		return "the operand has several registers";
	return cj_rule_kind(v, 0) == cj_type_kind(v->i->type) ? NULL :
	    "operand and result differ in kind";
}

static const char *
check_slice(const struct cj_rule_view *v)
{
	if (cj_rule_kind(v, 0) != cj_type_kind(v->i->type))
		return "operand and result differ in kind";
	return (uint64_t)v->i->attr + cj_type_count(v->i->type) <= count(v, 0) ?
	    NULL : "the slice leaves its operand";
}

static const char *
check_concat(const struct cj_rule_view *v)
{
	uint64_t sum = 0;
	unsigned n;

	for (n = 0; n < v->i->operand_count; n++) {
		if (cj_rule_kind(v, n) != cj_type_kind(v->i->type))
			return "operand and result differ in kind";
		sum += count(v, n);
	}
	return sum == cj_type_count(v->i->type) ? NULL :
	    "the registers do not add up";
}

static const char *
check_permute(const struct cj_rule_view *v)
{
	const struct cj_positions *p = &v->m->positions.at[v->i->attr];
	uint32_t n;

	if (cj_rule_kind(v, 0) != cj_type_kind(v->i->type))
		return "operand and result differ in kind";
	if (p->count != cj_type_count(v->i->type))
		return "positions and result differ in number";
	for (n = 0; n < p->count; n++)
		if (p->at[n] >= count(v, 0))
			return "a position leaves the operand";
	return NULL;
}

static const char *
check_insert(const struct cj_rule_view *v)
{
	if (cj_rule_kind(v, 0) != cj_rule_kind(v, 1))
		return "operands differ in kind";
	return (uint64_t)v->i->attr + count(v, 1) <= count(v, 0) ? NULL :
	    "the second operand leaves the first";
}

/* ---- fences and warps ---------------------------------------------------- */

static const char *
check_fence(const struct cj_rule_view *v)
{
	return v->i->attr < CJ_FENCE_COUNT ? NULL : "there is no such fence";
}

static const char *
check_shfl(const struct cj_rule_view *v)
{
	if (v->i->attr > CJ_SHFL_XOR)
		return "there is no such exchange";
	if (cj_rule_type(v, 0) != v->i->type)
		return "operand and result differ in type";
	return cj_rule_is_index(v, 1) ? NULL : "the lane is not an int";
}

static const char *
check_ballot(const struct cj_rule_view *v)
{
	if (!cj_rule_is_bool(v, 0))
		return "the operand is not bool";
	return v->i->type == cj_type_of(CJ_KIND_U32, 1) ? NULL :
	    "the result is not u32";
}

static const char *
check_redux(const struct cj_rule_view *v)
{
	if (v->i->attr > CJ_ATOMIC_XOR)
		return "there is no such reduction";
	if (cj_rule_type(v, 0) != v->i->type)
		return "operand and result differ in type";
	return v->i->type == cj_type_of(CJ_KIND_I32, 1) ||
	    v->i->type == cj_type_of(CJ_KIND_U32, 1) ? NULL :
	    "only i32 and u32 are reduced";
}

static const char *
check_match(const struct cj_rule_view *v)
{
	cj_type t = cj_rule_type(v, 0);
	unsigned bits = cj_kind_bits(cj_type_kind(t));

	if (cj_type_count(t) != 1 || (bits != 32 && bits != 64))
		return "the operand has not 32 or 64 bits";
	return v->i->type == cj_type_of(CJ_KIND_U32, 1) ? NULL :
	    "the result is not u32";
}

/* ---- products of a warp -------------------------------------------------- */

static const char *
check_mma(const struct cj_rule_view *v)
{
	const struct cj_mma *mma = v->m->mmas.at[v->i->attr];

	if ((mma->selectors != 0) != (v->i->op == CJ_OP_MMA_SPARSE))
		return "sparse atoms are multiplied by mma_sparse";
	if (cj_rule_type(v, 0) != cj_type_of(mma->a, mma->a_count))
		return "A has not the type of the atom";
	if (cj_rule_type(v, 1) != cj_type_of(mma->b, mma->b_count))
		return "B has not the type of the atom";
	if (cj_rule_type(v, 2) != cj_type_of(mma->c, mma->c_count))
		return "C has not the type of the atom";
	return v->i->type == cj_type_of(mma->d, mma->c_count) ? NULL :
	    "the result has not the type of the atom";
}

static const char *
check_mma_sparse(const struct cj_rule_view *v)
{
	const struct cj_mma *mma = v->m->mmas.at[v->i->attr];
	const struct cj_constant *selector = cj_constant_of(v->m,
	    cj_operand(v->m, v->i, 4));

	if (cj_rule_type(v, 3) != cj_type_of(CJ_KIND_U32, 1))
		return "the metadata is no u32";
	if (selector == NULL || !cj_rule_is_index(v, 4) ||
	    selector->bits[0] >= mma->selectors)
		return "there is no such selector";
	return check_mma(v);
}

/* ---- outside the language ------------------------------------------------ */

static bool
is_in_ptx(enum cj_kind k)
{
	return k == CJ_KIND_BOOL || (is_number(k) && k != CJ_KIND_INDEX &&
	    cj_kind_bits(k) >= 16);
}

static const char *
check_ptx(const struct cj_rule_view *v)
{
	unsigned n;

	if (v->i->type != 0 && !is_in_ptx(cj_type_kind(v->i->type)))
		return "PTX has no registers for the result";
	if (v->i->type != 0 && cj_type_count(v->i->type) > CJ_PTX_RESULTS)
		return "there are too many results";
	for (n = 0; n < v->i->operand_count; n++)
		if (!is_in_ptx(cj_rule_kind(v, n)) || count(v, n) != 1)
			return "an operand is not one register of PTX";
	return NULL;
}

static const char *
check_executor(const struct cj_rule_view *v)
{
	return v->i->type == cj_type_of(CJ_KIND_BOOL, 1) ? NULL :
	    "the result is not bool";
}

/* ---- control, host, tests ------------------------------------------------ */

static const char *
check_condition(const struct cj_rule_view *v)
{
	return cj_rule_is_bool(v, 0) ? NULL : "the condition is not bool";
}

static const char *
check_indices(const struct cj_rule_view *v)
{
	return cj_rule_are_indices(v, 0, v->i->operand_count) ? NULL :
	    "an operand is not an int";
}

static const char *
check_divisor(const struct cj_rule_view *v)
{
	if (!cj_rule_is_index(v, 0))
		return "the operand is not an int";
	return v->i->type == cj_type_of(CJ_KIND_U64, 2) ? NULL :
	    "the result is not u64[2]";
}

static const char *
check_device(const struct cj_rule_view *v)
{
	const struct cj_device_ask ask = cj_device_ask(v->i->attr);

	if (ask.fact >= CJ_DEVICE_FACT_COUNT)
		return "there is no such fact of a device";
	if (ask.fact == CJ_DEVICE_CLUSTERS
	    ? ask.blocks < 1 || ask.blocks > CJ_CLUSTER_BLOCKS
	    || ask.per_sm < 1 || ask.per_sm > CJ_SM_BLOCKS
	    : ask.blocks != 0 || ask.per_sm != 0)
		return "no device has such clusters";
	return check_index(v);
}

static const char *
check_workspace(const struct cj_rule_view *v)
{
	const struct cj_object *o = cj_rule_object(v);

	if (o->kind != CJ_OBJECT_WORKSPACE)
		return "the object is not a workspace";
	if (v->i->operand_count > 1 &&
	    cj_rule_type(v, 1) != cj_type_of(o->element, 1))
		return "fill and object differ in type";
	if (o->restored && v->i->operand_count < 2)
		return "what is restored has a fill";
	return cj_rule_is_index(v, 0) ? NULL : "the extent is not an int";
}

static const char *
check_fill(const struct cj_rule_view *v)
{
	const struct cj_object *o = cj_rule_object(v);

	if (o->kind != CJ_OBJECT_TENSOR && o->kind != CJ_OBJECT_WORKSPACE)
		return "what is filled is not global memory";
	if (cj_rule_type(v, 1) != cj_type_of(o->element, 1))
		return "value and object differ in type";
	return cj_rule_is_index(v, 0) && cj_rule_is_index(v, 2) &&
	    cj_rule_is_index(v, 3) ? NULL : "a place is not an int";
}

static const char *
check_launch(const struct cj_rule_view *v)
{
	const struct cj_launch *l = &v->m->launches.at[v->i->attr];

	if (v->m->functions.at[l->function].kind != CJ_FUNCTION_DEVICE)
		return "what is launched is not a device function";
	return cj_rule_are_indices(v, 0, 9) ? NULL :
	    "grid, block or cluster is not an int";
}

static const char *
check_array(const struct cj_rule_view *v)
{
	const struct cj_array *a = &v->m->arrays.at[v->i->attr];
	unsigned needs = 1;

	if (v->m->objects.at[a->object].kind != CJ_OBJECT_ARRAY)
		return "the object is not an array";
	switch (a->generator) {
	case CJ_ARRAY_EMPTY: case CJ_ARRAY_IOTA:
		break;
	case CJ_ARRAY_FULL: case CJ_ARRAY_NORMAL:
		needs = 2;
		break;
	case CJ_ARRAY_UNIFORM: case CJ_ARRAY_INTEGERS:
		needs = 4;
		break;
	}
	if (v->i->operand_count != needs)
		return "the number of operands is wrong";
	return cj_rule_is_index(v, 0) ? NULL : "the extent is not an int";
}

static const char *
check_call(const struct cj_rule_view *v)
{
	const struct cj_call *c = &v->m->calls.at[v->i->attr];
	uint64_t next = c->is_time ? 2 : 0, n = v->i->operand_count;
	uint32_t i;

	if (c->is_time && (n < 2 || cj_rule_type(v, 0) !=
	    cj_type_of(CJ_KIND_F64, 1) ||
	    cj_rule_type(v, 1) != cj_rule_type(v, 0)))
		return "bytes and flops are not f64";
	for (i = 0; i < c->count; i++) {
		const struct cj_argument *a = &c->argument[i];
		uint64_t end = next;

		switch (a->kind) {
		case CJ_ARGUMENT_NONE:
			break;
		case CJ_ARGUMENT_SCALAR:
			end += 1;
			break;
		case CJ_ARGUMENT_TENSOR:
			end += 1 + 2 * (uint64_t)a->rank;
			if (a->object == 0 || a->object >= v->m->objects.len)
				return "an argument names no object";
			if (end > n || !cj_rule_are_indices(v, (unsigned)next,
			    (unsigned)end))
				return "offset, extents and strides are wrong";
			break;
		}
		next = end;
	}
	return next == n ? NULL : "the number of operands is wrong";
}

/* ---- all ----------------------------------------------------------------- */

static const char *
check_by_name(const struct cj_rule_view *v)
{
	switch ((unsigned)v->i->op) {
	case CJ_OP_CONST: return check_const(v);
	case CJ_OP_INDEX: return check_index(v);
	case CJ_OP_SPECIAL: return check_special(v);
	case CJ_OP_SELECT: return check_select(v);
	case CJ_OP_CONVERT: return check_convert(v);
	case CJ_OP_BITCAST: return check_bitcast(v);
	case CJ_OP_DIVIDE_BY: return check_divide_by(v);
	case CJ_OP_SPLAT: return check_splat(v);
	case CJ_OP_SLICE: return check_slice(v);
	case CJ_OP_CONCAT: return check_concat(v);
	case CJ_OP_PERMUTE: return check_permute(v);
	case CJ_OP_INSERT: return check_insert(v);
	case CJ_OP_FENCE: return check_fence(v);
	case CJ_OP_SHFL: return check_shfl(v);
	case CJ_OP_BALLOT: return check_ballot(v);
	case CJ_OP_REDUX: return check_redux(v);
	case CJ_OP_MATCH: return check_match(v);
	case CJ_OP_MMA: return check_mma(v);
	case CJ_OP_MMA_SPARSE: return check_mma_sparse(v);
	case CJ_OP_PTX: case CJ_OP_PTX_PURE: return check_ptx(v);
	case CJ_OP_EXECUTOR: return check_executor(v);
	case CJ_OP_PRODUCE:
		return v->i->operand_count > 0 ? check_condition(v) : NULL;
	case CJ_OP_IF: case CJ_OP_ASSERT: case CJ_OP_REQUIRE:
		return check_condition(v);
	case CJ_OP_FOR: case CJ_OP_ARRAY_MAP: case CJ_OP_EXPECT:
	case CJ_OP_NAMED_BARRIER: case CJ_OP_NAMED_ARRIVE: case CJ_OP_INSIDE:
		return check_indices(v);
	case CJ_OP_DIVISOR: return check_divisor(v);
	case CJ_OP_DEVICE: return check_device(v);
	case CJ_OP_WORKSPACE: return check_workspace(v);
	case CJ_OP_FILL: return check_fill(v);
	case CJ_OP_LAUNCH: return check_launch(v);
	case CJ_OP_ARRAY: return check_array(v);
	case CJ_OP_CALL: return check_call(v);
	default: return cj_rule_memory(v);
	}
}

static const char *
check_result(const struct cj_rule_view *v, enum cj_result result)
{
	cj_type t = v->i->type;

	switch (result) {
	case CJ_RESULT_NONE:
		return t == 0 ? NULL : "the operation has no result";
	case CJ_RESULT_SAME:
		return t == cj_rule_type(v, 0) ? NULL :
		    "the result differs in type from the operand";
	case CJ_RESULT_BOOL:
		return t == cj_type_of(CJ_KIND_BOOL, count(v, 0)) ? NULL :
		    "the result is not bool";
	case CJ_RESULT_ANY:
		if (t == 0)
			return v->i->op == CJ_OP_IF ||
			    v->i->op == CJ_OP_PTX ? NULL :
			    "the operation has a result";
		return cj_type_kind(t) != CJ_KIND_VOID &&
		    cj_type_kind(t) < CJ_KIND_COUNT && cj_type_count(t) > 0 &&
		    cj_type_count(t) <= CJ_MAX_REGISTERS ? NULL :
		    "the type does not exist";
	}
	return NULL;
}

const char *
cj_rule_check(const struct cj_module *m, const struct cj_inst *i)
{
	const struct cj_op_info *info;
	struct cj_rule_view v = { m, i };
	const char *wrong;
	unsigned n;

	if (i->op == CJ_OP_NONE || i->op >= CJ_OP_COUNT)
		return "the operation does not exist";
	info = &cj_op_info[i->op];
	if (i->operand_count < info->least || i->operand_count > info->most)
		return "the number of operands is wrong";
	for (n = 0; n < i->operand_count; n++)
		if (cj_rule_type(&v, n) == 0)
			return "an operand has no value";
	if (!attr_exists(m, info->attr, i->attr))
		return "the attribute does not exist";
	wrong = check_result(&v, info->result);
	if (wrong == NULL && info->rule == CJ_RULE_SAME)
		wrong = check_same(&v);
	return wrong != NULL ? wrong : check_by_name(&v);
}
