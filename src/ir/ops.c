/*
 * The rows of ops.def as data.
 */
#include "ir.h"

const struct cj_op_info cj_op_info[CJ_OP_COUNT] = {
	[CJ_OP_NONE] = { .text = "none" },
#define OP(name, text, least, most, rule, result, attr, effects, scope,	\
    engine, level)							\
	[CJ_OP_##name] = { text, least, most, CJ_RULE_##rule,		\
	    CJ_RESULT_##result, CJ_ATTR_##attr, CJ_EFFECTS_##effects,	\
	    CJ_SCOPE_##scope, CJ_ENGINE_##engine, CJ_LEVEL_##level },
#include "ops.def"
#undef OP
};

_Static_assert(CJ_OP_COUNT < 65536, "an operation fits in 16 bits");

enum cj_op
cj_op_find(const char *text)
{
	unsigned op;

	for (op = CJ_OP_NONE + 1; op < CJ_OP_COUNT; op++)
		if (strcmp(cj_op_info[op].text, text) == 0)
			return (enum cj_op)op;
	return CJ_OP_NONE;
}

enum cj_demand
cj_op_demand(enum cj_op op)
{
	switch ((unsigned)op) {
	case CJ_OP_ADD: case CJ_OP_SUB: case CJ_OP_MUL: case CJ_OP_DIV:
	case CJ_OP_FMA: case CJ_OP_NEG: case CJ_OP_ABS:
		return CJ_DEMAND_NUMBER;
	case CJ_OP_MOD: case CJ_OP_SHL: case CJ_OP_SHR: case CJ_OP_MUL_HI:
	case CJ_OP_POPC: case CJ_OP_CLZ: case CJ_OP_CTZ:
		return CJ_DEMAND_INTEGER;
	case CJ_OP_AND: case CJ_OP_OR: case CJ_OP_XOR: case CJ_OP_NOT:
		return CJ_DEMAND_BITS;
	case CJ_OP_COPYSIGN: case CJ_OP_SQRT: case CJ_OP_FLOOR:
	case CJ_OP_CEIL: case CJ_OP_TRUNC: case CJ_OP_RINT:
	case CJ_OP_APPROX_EX2: case CJ_OP_APPROX_LG2: case CJ_OP_APPROX_SIN:
	case CJ_OP_APPROX_COS: case CJ_OP_APPROX_TANH: case CJ_OP_APPROX_RCP:
	case CJ_OP_APPROX_RSQRT: case CJ_OP_APPROX_SQRT:
	case CJ_OP_APPROX_DIV:
		return CJ_DEMAND_FLOAT;
	default:	/* comparisons, min and max: whatever has order */
		return CJ_DEMAND_ANY;
	}
}
