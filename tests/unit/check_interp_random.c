/*
 * Random programs: branches, loops, scopes, exits by several levels, values
 * that live long and short. All threads of two blocks at once must give what
 * each thread gives alone, where no lane waits for another; and the same after
 * the passes, which move and drop instructions and so change every register.
 */
#include "interp_fixture.h"

enum { THREADS = 48, BLOCKS = 2, ALL = THREADS * BLOCKS, SLOTS = 4,
    DEEPEST = 4, PROGRAMS = 50 };

static uint64_t state;

static uint32_t
dice(uint32_t sides)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % sides;
}

/* What a region sees. */
struct scene {
	struct cj_builder b;
	cj_ref value[400];		/* i32 */
	unsigned count;
	cj_ref target[DEEPEST + 1];	/* loops and scopes around */
	unsigned targets, depth;
	uint32_t get[SLOTS + 1], set[SLOTS + 1];	/* accesses */
	unsigned size;			/* of the program so far */
};

static cj_type i32, boolean;

static cj_ref
pick(struct scene *s)
{
	return s->value[dice(s->count)];
}

static void
keep(struct scene *s, cj_ref r)
{
	if (s->count < CJ_LENGTH(s->value))
		s->value[s->count++] = r;
}

static cj_ref
compute(struct scene *s)
{
	static const enum cj_op ops[] = { CJ_OP_ADD, CJ_OP_SUB, CJ_OP_MUL,
	    CJ_OP_XOR, CJ_OP_MIN, CJ_OP_MAX, CJ_OP_AND, CJ_OP_DIV };
	cj_ref x = pick(s), y = pick(s);

	if (dice(5) == 0)
		return cj_emit_bits(&s->b, i32, (uint64_t)(int64_t)(int32_t)
		    (dice(40) - 20));
	return cj_emit2(&s->b, ops[dice(CJ_LENGTH(ops))], i32, x, y);
}

static cj_ref
condition(struct scene *s)
{
	cj_ref mask = cj_emit_bits(&s->b, i32, 7);
	cj_ref x = cj_emit2(&s->b, CJ_OP_AND, i32, pick(s), mask);
	cj_ref y = cj_emit2(&s->b, CJ_OP_AND, i32, pick(s), mask);

	return cj_emit2(&s->b, CJ_OP_LT, boolean, x, y);
}

/* A bound of a loop: 0 .. 7, another one in each thread. */
static cj_ref
bound(struct scene *s)
{
	cj_ref mask = cj_emit_bits(&s->b, i32, 7), x;

	x = cj_emit2(&s->b, CJ_OP_AND, i32, pick(s), mask);
	return cj_emit1(&s->b, CJ_OP_CONVERT, cj_type_of(CJ_KIND_INDEX, 1),
	    x);
}

static cj_ref
load_slot(struct scene *s, unsigned slot)
{
	return cj_emit(&s->b, CJ_OP_SLOT_GET, i32, s->get[slot], NULL, 0);
}

static void
store_slot(struct scene *s, unsigned slot, cj_ref value)
{
	cj_emit(&s->b, CJ_OP_SLOT_SET, 0, s->set[slot], &value, 1);
}

static void statements(struct scene *s, unsigned count);

/* What is made inside is not seen outside. */
static void
fill_region(struct scene *s, cj_region region, unsigned count)
{
	struct cj_builder outside = s->b;
	unsigned values = s->count, targets = s->targets;

	s->b.region = region;
	s->depth++;
	statements(s, count);
	s->depth--;
	s->count = values;
	s->targets = targets;
	s->b.region = outside.region;
}

static cj_ref
open_loop(struct scene *s, enum cj_op op, const cj_ref *operands,
    unsigned count)
{
	cj_ref r = cj_emit(&s->b, op, 0, 0, operands, count);

	if (s->targets <= DEEPEST)
		s->target[s->targets++] = r;
	return r;
}

static void
make_if(struct scene *s)
{
	cj_ref c = condition(s);
	cj_ref r = cj_emit(&s->b, CJ_OP_IF, 0, 0, &c, 1);
	cj_region then = cj_region_add(&s->b, r, NULL);

	fill_region(s, then, 1 + dice(4));
	if (dice(2) == 0)
		fill_region(s, cj_region_add(&s->b, r, NULL), 1 + dice(4));
}

/* An if with a value; its arms are plain. */
static void
make_choice(struct scene *s)
{
	cj_ref c = condition(s), v;
	cj_ref r = cj_emit(&s->b, CJ_OP_IF, i32, 0, &c, 1);
	cj_region home = s->b.region;
	int arm;

	for (arm = 0; arm < 2; arm++) {
		s->b.region = cj_region_add(&s->b, r, NULL);
		v = compute(s);
		v = cj_emit2(&s->b, CJ_OP_ADD, i32, v, pick(s));
		cj_emit(&s->b, CJ_OP_YIELD, 0, 0, &v, 1);
		s->b.region = home;
	}
	keep(s, r);
}

static void
make_for(struct scene *s)
{
	cj_ref operands[3], r, index;
	cj_region body, home = s->b.region;
	unsigned values = s->count, targets = s->targets;

	operands[0] = bound(s);
	operands[1] = bound(s);
	operands[2] = cj_emit_index(&s->b, 1 + (int64_t)dice(2));
	r = open_loop(s, CJ_OP_FOR, operands, 3);
	body = cj_region_add(&s->b, r, &index);
	s->b.region = body;
	keep(s, cj_emit1(&s->b, CJ_OP_CONVERT, i32, index));
	fill_region(s, body, 1 + dice(4));
	s->b.region = home;
	s->count = values;
	s->targets = targets;
}

/* A loop with a counter of its own, in the slot behind the others. */
static void
make_loop(struct scene *s)
{
	cj_ref one = cj_emit_bits(&s->b, i32, 1), r, n, c, leave;
	cj_region home = s->b.region, body;
	unsigned targets = s->targets;

	r = open_loop(s, CJ_OP_LOOP, NULL, 0);
	body = cj_region_add(&s->b, r, NULL);
	s->b.region = body;
	n = cj_emit2(&s->b, CJ_OP_SUB, i32, load_slot(s, SLOTS), one);
	store_slot(s, SLOTS, n);
	c = cj_emit2(&s->b, CJ_OP_LT, boolean, n, one);
	leave = cj_emit(&s->b, CJ_OP_IF, 0, 0, &c, 1);
	s->b.region = cj_region_add(&s->b, leave, NULL);
	cj_emit0(&s->b, CJ_OP_BREAK, 0, r);
	s->b.region = body;
	fill_region(s, body, 1 + dice(4));
	s->b.region = home;
	s->targets = targets;
}

static void
make_scope(struct scene *s)
{
	unsigned targets = s->targets;
	cj_ref r = open_loop(s, CJ_OP_SCOPE, NULL, 0);

	fill_region(s, cj_region_add(&s->b, r, NULL), 2 + dice(3));
	s->targets = targets;
}

/* if c { leave } */
static void
make_exit(struct scene *s)
{
	cj_ref c = condition(s), r, to = 0;
	cj_region home = s->b.region;

	r = cj_emit(&s->b, CJ_OP_IF, 0, 0, &c, 1);
	s->b.region = cj_region_add(&s->b, r, NULL);
	if (s->targets != 0)
		to = s->target[dice(s->targets)];
	if (to == 0 || dice(12) == 0)
		cj_emit0(&s->b, CJ_OP_RETURN, 0, 0);
	else if (cj_inst(module, to)->op != CJ_OP_SCOPE && dice(2) == 0)
		cj_emit0(&s->b, CJ_OP_CONTINUE, 0, to);
	else
		cj_emit0(&s->b, CJ_OP_BREAK, 0, to);
	s->b.region = home;
}

static void
statement(struct scene *s)
{
	bool deeper = s->depth < DEEPEST && s->size < 300;
	uint32_t what = dice(deeper ? 16 : 8);

	s->size++;
	if (what < 4)
		keep(s, compute(s));
	else if (what == 4)
		keep(s, load_slot(s, dice(SLOTS)));
	else if (what < 7)
		store_slot(s, dice(SLOTS), pick(s));
	else if (what == 7)
		make_exit(s);
	else if (what < 11)
		make_if(s);
	else if (what == 11)
		make_choice(s);
	else if (what < 14)
		make_for(s);
	else if (what == 14)
		make_loop(s);
	else
		make_scope(s);
}

static void
statements(struct scene *s, unsigned count)
{
	while (count-- > 0)
		statement(s);
}

static void
add_slots(struct scene *s)
{
	unsigned n;

	for (n = 0; n <= SLOTS; n++) {
		struct cj_object slot = { .kind = CJ_OBJECT_SLOT,
		    .element = CJ_KIND_I32, .extent = 1,
		    .region = s->b.region };
		struct cj_access a = { 0 };

		a.object = cj_module_object(module, &slot);
		s->get[n] = s->set[n] = cj_module_access(module, &a);
	}
}

/* y[t] = all slots, after each statement of the body, so that an early return
 * leaves a trace of how far it came. */
static void
store_result(struct scene *s, cj_ref t)
{
	struct cj_access a = { .object = 1, .align = 4 };
	cj_ref operands[2], sum = load_slot(s, 0);
	unsigned n;

	for (n = 1; n < SLOTS; n++) {
		cj_ref k = cj_emit_bits(&s->b, i32, 31);

		sum = cj_emit2(&s->b, CJ_OP_MUL, i32, sum, k);
		sum = cj_emit2(&s->b, CJ_OP_ADD, i32, sum, load_slot(s, n));
	}
	operands[0] = t;
	operands[1] = sum;
	cj_emit(&s->b, CJ_OP_STORE, 0, cj_module_access(module, &a), operands,
	    2);
}

static void
make_program(void)
{
	const cj_type index = cj_type_of(CJ_KIND_INDEX, 1);
	struct cj_object y = { .kind = CJ_OBJECT_TENSOR, .element = CJ_KIND_I32,
	    .extent = -1, .align = 4, .writes = true, .name = "y" };
	struct cj_leaf *leaf;
	struct scene s = { .size = 0 };
	uint32_t fn;
	cj_ref t, dim;
	unsigned n;

	module = cj_module_create(&arena, "random", cj_target_find("sm_80"));
	cj_module_object(module, &y);
	fn = cj_module_function(module, CJ_FUNCTION_DEVICE, "k");
	leaf = cj_push(&arena, &module->functions.at[fn].leaves);
	*leaf = (struct cj_leaf){ .kind = CJ_LEAF_OBJECT, .object = 1,
	    .type = cj_type_of(CJ_KIND_PTR, 1) };
	leaf = cj_push(&arena, &module->functions.at[fn].leaves);
	*leaf = (struct cj_leaf){ .kind = CJ_LEAF_VALUE, .type = index };
	s.b.module = module;
	s.b.region = module->functions.at[fn].body;
	add_slots(&s);
	t = cj_emit0(&s.b, CJ_OP_SPECIAL, index, CJ_SPECIAL_BLOCK_X);
	dim = cj_emit0(&s.b, CJ_OP_SPECIAL, index, CJ_SPECIAL_BLOCK_DIM_X);
	t = cj_emit2(&s.b, CJ_OP_MUL, index, t, dim);
	t = cj_emit2(&s.b, CJ_OP_ADD, index, t, cj_emit0(&s.b, CJ_OP_SPECIAL,
	    index, CJ_SPECIAL_THREAD_X));
	t = cj_emit2(&s.b, CJ_OP_ADD, index, t, cj_emit0(&s.b, CJ_OP_PARAM,
	    index, 1));
	keep(&s, cj_emit1(&s.b, CJ_OP_CONVERT, i32, t));
	keep(&s, cj_emit_bits(&s.b, i32, 5));
	store_slot(&s, SLOTS, cj_emit_bits(&s.b, i32, 30));
	for (n = 0; n < SLOTS; n++)
		store_slot(&s, n, pick(&s));
	for (n = 0; n < 10; n++) {
		statements(&s, 2);
		store_result(&s, t);
	}
}

static void
run_from(int64_t base, int64_t blocks, int64_t threads)
{
	const uint64_t value = (uint64_t)base;
	const char *wrong = cj_module_verify(module);

	ck_assert_msg(wrong == NULL, "%s", wrong);
	run_kernel(blocks, threads, &value);
	expect_clean();
}

static void
check_program(void)
{
	int32_t together[ALL], *y;
	int64_t t;

	make_program();
	y = give(1, ALL);
	run_from(0, BLOCKS, THREADS);
	memcpy(together, y, sizeof together);
	memset(y, 0, sizeof together);
	for (t = 0; t < ALL; t++)
		run_from(t, 1, 1);
	ck_assert_int_eq(memcmp(together, y, sizeof together), 0);
	cj_passes_run(module, &point, NULL, NULL);
	memset(y, 0, sizeof together);
	run_from(0, BLOCKS, THREADS);
	ck_assert_int_eq(memcmp(together, y, sizeof together), 0);
}

START_TEST(lanes_give_what_each_gives_alone)
{
	int n;

	i32 = cj_type_of(CJ_KIND_I32, 1);
	boolean = cj_type_of(CJ_KIND_BOOL, 1);
	for (n = 0; n < PROGRAMS; n++) {
		tear_down();
		set_up();
		state = (uint64_t)(_i * PROGRAMS + n) * 0x9e3779b97f4a7c15u
		    + 88172645463325252u;
		dice(2);
		check_program();
	}
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("interp_random");
	TCase *c = tcase_create("all");

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_loop_test(c, lanes_give_what_each_gives_alone, 0, 4);
	suite_add_tcase(s, c);
	return s;
}

CJ_CHECK_MAIN(suite)
