/*
 * Building: interning, links, regions, uses, walks; the rows of ops.def; and
 * that the manual has every operation.
 */
#include "check_ir.h"

static const cj_type index_type = CJ_KIND_INDEX | 1 << 8;

static struct cj_builder
begin(void)
{
	struct cj_builder b = { 0 };

	b.module = cj_module_create(&arena, "m", cj_target_find("sm_80"));
	b.region = b.module->functions.at[cj_module_function(b.module,
	    CJ_FUNCTION_DEVICE, "f")].body;
	return b;
}

START_TEST(index_0_is_none)
{
	struct cj_module *m;

	CJ_CHECK_RECOVER(&point);
	m = cj_module_create(&arena, "m", NULL);
	ck_assert_uint_eq(m->insts.len, 1);
	ck_assert_uint_eq(m->objects.len, 1);
	ck_assert_uint_eq(m->functions.len, 1);
	ck_assert_uint_eq(m->places.len, 1);
	ck_assert(m->conversions.at[0].is_default);
}
END_TEST

START_TEST(equal_things_have_one_index)
{
	static const uint64_t bits[2][3] = { { 1, 2, 3 }, { 1, 2, 4 } };
	static const uint32_t at[] = { 2, 0, 1 };
	struct cj_conversion up = { CJ_ROUND_UP, true, false };
	struct cj_span span = { 1, 2, 3 };
	struct cj_module *m;
	cj_type t = cj_type_of(CJ_KIND_I32, 3);
	uint32_t first, i;

	CJ_CHECK_RECOVER(&point);
	m = begin().module;
	first = cj_module_constant(m, t, bits[0]);
	ck_assert_uint_eq(cj_module_constant(m, t, bits[0]), first);
	ck_assert_uint_ne(cj_module_constant(m, t, bits[1]), first);
	ck_assert_uint_ne(cj_module_constant(m, cj_type_of(CJ_KIND_U32, 3),
	    bits[0]), first);
	ck_assert_uint_eq(cj_module_positions(m, at, 3),
	    cj_module_positions(m, at, 3));
	ck_assert_uint_ne(cj_module_positions(m, at, 2),
	    cj_module_positions(m, at, 3));
	ck_assert_uint_eq(cj_module_conversion(m, up),
	    cj_module_conversion(m, up));
	ck_assert_uint_eq(cj_module_conversion(m, (struct cj_conversion){
	    .is_default = true }), 0);
	ck_assert_uint_eq(cj_module_text(m, "a"), cj_module_text(m, "a"));
	ck_assert_uint_ne(cj_module_text(m, "a"), cj_module_text(m, "b"));
	first = cj_module_place(m, span, 0, -1);
	ck_assert_uint_eq(cj_module_place(m, span, 0, -1), first);
	ck_assert_uint_ne(cj_module_place(m, span, first, -1), first);
	ck_assert_uint_ne(cj_module_place(m, span, 0, 0), first);
	/* beyond the first size of the table */
	for (i = 0; i < 5000; i++) {
		uint64_t n = i;

		first = cj_module_constant(m, index_type, &n);
		ck_assert_uint_eq(cj_module_constant(m, index_type, &n),
		    first);
		ck_assert_uint_eq(m->constants.at[first].bits[0], i);
	}
}
END_TEST

START_TEST(links_of_a_region)
{
	struct cj_builder b;
	struct cj_region_info *g;
	cj_ref x, y, z;

	CJ_CHECK_RECOVER(&point);
	b = begin();
	x = cj_emit_index(&b, 1);
	y = cj_emit_index(&b, 2);
	z = cj_emit2(&b, CJ_OP_ADD, index_type, x, y);
	g = &b.module->regions.at[b.region];
	ck_assert(g->first == x && g->last == z);
	cj_replace_uses(b.module, y, x);
	ck_assert_uint_eq(cj_operand(b.module, cj_inst(b.module, z), 1), x);
	cj_inst_remove(b.module, b.region, y);
	ck_assert_uint_eq(cj_inst(b.module, x)->next, z);
	ck_assert_uint_eq(cj_inst(b.module, z)->prev, x);
	cj_inst_remove(b.module, b.region, x);
	cj_inst_remove(b.module, b.region, z);
	ck_assert(g->first == 0 && g->last == 0);
}
END_TEST

START_TEST(constants)
{
	struct cj_builder b;
	cj_ref x;

	CJ_CHECK_RECOVER(&point);
	b = begin();
	x = cj_emit_bits(&b, cj_type_of(CJ_KIND_F32, 100), 0x3f800000);
	ck_assert_uint_eq(cj_constant_of(b.module, x)->bits[99], 0x3f800000);
	x = cj_emit_bool(&b, true);
	ck_assert_uint_eq(cj_constant_of(b.module, x)->bits[0], 1);
	x = cj_emit0(&b, CJ_OP_SPECIAL, index_type, CJ_SPECIAL_LANE);
	ck_assert_ptr_null(cj_constant_of(b.module, x));
}
END_TEST

START_TEST(regions_of_an_if)
{
	struct cj_builder b;
	cj_region outer, yes, no;
	cj_ref c, i, index = 1;

	CJ_CHECK_RECOVER(&point);
	b = begin();
	outer = b.region;
	c = cj_emit_bool(&b, true);
	i = cj_emit1(&b, CJ_OP_IF, 0, c);
	yes = cj_region_add(&b, i, &index);
	ck_assert_uint_eq(index, 0);
	b.region = yes;		/* else is added from within */
	no = cj_region_add(&b, i, NULL);
	ck_assert_uint_eq(b.module->regions.at[no].parent, outer);
	ck_assert_uint_eq(b.module->regions.at[yes].next, no);
	ck_assert_uint_eq(b.module->regions.at[no].owner, i);
	ck_assert_ptr_null(cj_module_verify(b.module));
}
END_TEST

START_TEST(a_loop_has_an_index)
{
	struct cj_builder b;
	cj_ref n, l, index;

	CJ_CHECK_RECOVER(&point);
	b = begin();
	n = cj_emit_index(&b, 1);
	l = cj_emit3(&b, CJ_OP_FOR, 0, n, n, n);
	b.region = cj_region_add(&b, l, &index);
	ck_assert_uint_eq(cj_inst(b.module, index)->op, CJ_OP_INDEX);
	cj_emit2(&b, CJ_OP_ADD, index_type, index, n);
	ck_assert_ptr_null(cj_module_verify(b.module));
}
END_TEST

/* Events of a walk, as letters: ( enters, ) leaves, . is an instruction. */
START_TEST(walks)
{
	struct cj_strbuf seen;
	struct cj_module *m;
	struct cj_walk w;

	CJ_CHECK_RECOVER(&point);
	m = module_of("module \"m\"\ndevice $1 \"f\" {\n"
	    "%1 = const bool true\nif %1 {\nbarrier\n} else {\n}\n"
	    "scope {\nif %1 {\nbarrier\n}\n}\nbarrier\n}\n");
	cj_strbuf_init(&seen, &arena);
	for (w = cj_walk_begin(m, m->functions.at[1].body);
	    cj_walk_next(&w);)
		cj_strbuf_putc(&seen, "(.)"[w.event]);
	ck_assert_str_eq(seen.text, "(..(.)().(.(.)).)");
	cj_strbuf_init(&seen, &arena);
	for (w = cj_walk_begin(m, m->functions.at[1].body);
	    cj_walk_next(&w);) {
		cj_strbuf_putc(&seen, "(.)"[w.event]);
		if (w.event == CJ_WALK_INST)
			cj_walk_skip(&w);
	}
	ck_assert_str_eq(seen.text, "(....)");
}
END_TEST

START_TEST(rows_of_operations)
{
	unsigned op;

	for (op = CJ_OP_NONE + 1; op < CJ_OP_COUNT; op++) {
		const struct cj_op_info *i = &cj_op_info[op];

		ck_assert_uint_eq(cj_op_find(i->text), op);
		ck_assert_uint_le(i->least, i->most);
		if (i->result == CJ_RESULT_SAME || i->rule == CJ_RULE_SAME)
			ck_assert_uint_ge(i->least, 1);
	}
	ck_assert_uint_eq(cj_op_find("none"), CJ_OP_NONE);
	ck_assert_uint_eq(cj_op_find("frobnicate"), CJ_OP_NONE);
}
END_TEST

/* "\&.B name" at the start of a line for each operation and kind. */
START_TEST(manual_has_all)
{
	FILE *f = fopen(CJ_SRCDIR "/man/cute-ir.7", "r");
	struct cj_strbuf text;
	char part[4096];
	unsigned op;
	size_t n;

	CJ_CHECK_RECOVER(&point);
	ck_assert_ptr_nonnull(f);
	cj_strbuf_init(&text, &arena);
	while ((n = fread(part, 1, sizeof part, f)) > 0)
		cj_strbuf_write(&text, part, n);
	fclose(f);
	for (op = CJ_OP_NONE + 1; op < CJ_OP_COUNT; op++) {
		const char *line = cj_printf(&arena, "\n.B %s",
		    cj_op_info[op].text);
		const char *at = strstr(text.text, line);

		while (at != NULL && at[strlen(line)] != '\n' &&
		    at[strlen(line)] != ' ')
			at = strstr(at + 1, line);
		ck_assert_msg(at != NULL, "man/cute-ir.7 lacks %s",
		    cj_op_info[op].text);
	}
}
END_TEST

static Suite *
ir_build_suite(void)
{
	Suite *s = suite_create("ir_build");
	TCase *t = tcase_create("ir_build");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, index_0_is_none);
	tcase_add_test(t, equal_things_have_one_index);
	tcase_add_test(t, links_of_a_region);
	tcase_add_test(t, constants);
	tcase_add_test(t, regions_of_an_if);
	tcase_add_test(t, a_loop_has_an_index);
	tcase_add_test(t, walks);
	tcase_add_test(t, rows_of_operations);
	tcase_add_test(t, manual_has_all);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(ir_build_suite)
