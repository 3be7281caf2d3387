/*
 * Every pure operation, on every kind that it admits, for the four kinds of
 * target there are: it must become PTX, and ptxas, where it is found, must
 * take that without a word. Conversions: from every kind to every kind, in
 * every rounding.
 */
#include "arena_fixture.h"
#include "ir/ir_priv.h"
#include "llvm_module.h"

static const char *const targets[] = { "sm_80", "sm_90a", "sm_100a",
    "sm_120a" };

static void
check_module(const struct cj_module *m, int ptx)
{
	struct cj_codegen_options o = { .level = 1, .ptx = ptx };
	struct cj_codegen_result out;
	char said[2000];

	if (cj_codegen_ptx(&arena, m, &o, &out) != CJ_CODEGEN_OK)
		ck_abort_msg("%s: %s", m->name, out.error);
	ck_assert_msg(strstr(out.ptx, ".local") == NULL,
	    "%s uses local memory", m->name);
	if (!cj_test_assemble(out.ptx, m->target->name, said, sizeof said))
		ck_abort_msg("%s: %s", m->name, said);
}

static bool
has_storage(enum cj_kind k)
{
	return k != CJ_KIND_VOID && cj_kind_class(k) != CJ_CLASS_OTHER;
}

/* Do the rules admit the operation on the kind? */
static bool
is_admitted(struct cj_module *m, enum cj_op op, cj_type t, cj_type result)
{
	struct cj_builder b = { .module = m };
	struct cj_inst i = { .op = (uint16_t)op, .type = result,
	    .operand_count = cj_op_info[op].most };
	uint32_t function;
	cj_ref x;
	unsigned n;

	function = cj_module_function(m, CJ_FUNCTION_TEST, "f");
	b.region = m->functions.at[function].body;
	x = cj_emit_bits(&b, t, 0);
	i.operands = m->pool.len;
	for (n = 0; n < i.operand_count; n++)
		*cj_push(m->arena, &m->pool) = x;
	return cj_rule_check(m, &i) == NULL;
}

static uint32_t
registers(enum cj_kind k)
{
	/* three registers: a pair and one more; whole bytes for narrow ones */
	return cj_kind_bits(k) >= 8 || k == CJ_KIND_BOOL ? 3 : 4;
}

static bool
is_elementwise(enum cj_op op)
{
	return cj_op_info[op].rule == CJ_RULE_SAME &&
	    cj_op_info[op].level == CJ_LEVEL_BOTH;
}

START_TEST(test_operations)
{
	const char *target = targets[_i % (int)CJ_LENGTH(targets)];
	enum cj_kind k = (enum cj_kind)(_i / (int)CJ_LENGTH(targets));
	struct cj_module *m, *scratch;
	unsigned op, count = 0;

	CJ_CHECK_RECOVER(&point);
	if (!has_storage(k))
		return;
	m = cj_module_create(&arena, cj_kind_text(k), cj_target_find(target));
	scratch = cj_module_create(&arena, "scratch", m->target);
	for (op = CJ_OP_NONE + 1; op < CJ_OP_COUNT; op++) {
		cj_type t = cj_type_of(k, registers(k));
		cj_type to = cj_op_info[op].result == CJ_RESULT_BOOL ?
		    cj_type_of(CJ_KIND_BOOL, registers(k)) : t;

		if (!is_elementwise(op) || !is_admitted(scratch, op, t, to))
			continue;
		cj_test_op(m, op, t, to);
		count++;
	}
	ck_assert_msg(count >= 6, "%u operations on %s", count,
	    cj_kind_text(k));
	ck_assert_ptr_null(cj_module_verify(m));
	check_module(m, 0);
}
END_TEST

/* In the default conversion, and one of each rounding, of which half also
 * saturate. */
static void
add_conversions(struct cj_module *m, enum cj_kind to, enum cj_kind from,
    struct cj_test_kernel *t)
{
	uint32_t n = cj_kind_bits(to) < 8 || cj_kind_bits(from) < 8 ? 4 : 2;
	cj_ref x = cj_test_load(t, cj_type_of(from, n), "a");
	unsigned i;

	for (i = 0; i <= 4; i++) {
		struct cj_conversion how = { .rounding = (enum cj_rounding)i,
		    .saturate = (i + to) % 2 != 0 };

		cj_test_store(t, cj_emit(&t->b, CJ_OP_CONVERT,
		    cj_type_of(to, n), i == 4 ? 0 :
		    cj_module_conversion(m, how), &x, 1), "y");
	}
}

START_TEST(test_conversions)
{
	/* with and without instructions for 8-bit floats */
	const char *target = _i % 2 == 0 ? "sm_80" : "sm_100a";
	enum cj_kind from = (enum cj_kind)(_i / 2);
	struct cj_module *m;
	unsigned to;

	CJ_CHECK_RECOVER(&point);
	if (!has_storage(from))
		return;
	m = cj_module_create(&arena, cj_kind_text(from),
	    cj_target_find(target));
	for (to = CJ_KIND_VOID + 1; to < CJ_KIND_COUNT; to++) {
		struct cj_test_kernel t;

		if (!has_storage(to))
			continue;
		t = cj_test_kernel(m, cj_kind_text(to), 2);
		add_conversions(m, to, from, &t);
	}
	ck_assert_ptr_null(cj_module_verify(m));
	check_module(m, 0);
}
END_TEST

Suite *
suite(void);

Suite *
suite(void)
{
	Suite *s = suite_create("llvm_op");
	TCase *t = tcase_create("operations");
	int n = CJ_KIND_COUNT * (int)CJ_LENGTH(targets);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, test_operations, 0, n);
	tcase_add_loop_test(t, test_conversions, 0, 2 * CJ_KIND_COUNT);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
