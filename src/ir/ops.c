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
