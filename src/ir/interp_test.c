/*
 * Test functions: one lane, arrays, and kernels called through a hook.
 */
#include "interp_test.h"

/* Operations of a test function itself, ten seconds or so. */
#define TEST_STEP_LIMIT	((uint64_t)1 << 30)
#define TEST_OPEN_LIMIT	((uint64_t)1 << 28)	/* two seconds or so */

struct cj_test_run *
cj_test_of(struct cj_frame *f)
{
	if (f->machine->test == NULL)
		cj_bug(f->machine->arena->recover,
		    "an operation of tests runs elsewhere");
	return f->machine->test;
}

void
cj_test_touch(struct cj_frame *f, uint32_t object, bool writes)
{
	struct cj_test_run *t = cj_test_of(f);
	unsigned char as = writes ? CJ_TOUCHED_WRITE : CJ_TOUCHED_READ;

	if (t->touched[object] >= as)
		return;
	t->touched[object] = as;
	if (t->hooks->touch != NULL
	    && f->code->module->objects.at[object].kind == CJ_OBJECT_ARRAY)
		t->hooks->touch(t->hooks->user, &f->machine->memory[object],
		    writes);
}

/* ---- call ---------------------------------------------------------------- */

static int64_t
next_index(const struct cj_frame *f, const struct cj_step *s, unsigned *n)
{
	return *CJ_AT(f, int64_t, f->code->lists.at[s->a + (*n)++]);
}

/* Offset, extents, strides; the extents lie in front of the strides. */
static void
take_tensor(const struct cj_frame *f, const struct cj_step *s,
    const struct cj_argument *record, struct cj_call_argument *to,
    unsigned *n)
{
	int64_t *numbers = CJ_NEWS(f->machine->arena, int64_t,
	    2 * record->rank);
	uint32_t i;

	to->memory = &f->machine->memory[record->object];
	to->offset = next_index(f, s, n);
	for (i = 0; i < 2 * record->rank; i++)
		numbers[i] = next_index(f, s, n);
	to->extents = numbers;
	to->strides = numbers + record->rank;
}

static uint64_t
operand_bits(const struct cj_frame *f, const struct cj_step *s, unsigned n)
{
	const struct cj_module *m = f->code->module;
	cj_ref v = cj_operand(m, cj_step_inst(f, s), n);

	return cj_reg_get(f->regs + f->code->lists.at[s->a + n], 0,
	    cj_type_kind(cj_inst(m, v)->type));
}

static void
take_arguments(const struct cj_frame *f, const struct cj_step *s,
    const struct cj_call *record, struct cj_call_argument *to, unsigned n)
{
	uint32_t i;

	for (i = 0; i < record->count; i++) {
		switch (record->argument[i].kind) {
		case CJ_ARGUMENT_TENSOR:
			take_tensor(f, s, &record->argument[i], &to[i], &n);
			break;
		case CJ_ARGUMENT_SCALAR:
			to[i].scalar = operand_bits(f, s, n++);
			break;
		case CJ_ARGUMENT_NONE:
			break;
		}
	}
	assert(n == cj_step_inst(f, s)->operand_count);
}

/* a: the operands' offsets in `lists`. */
static void
step_call(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_test_run *t = cj_test_of(f);
	const struct cj_inst *i = cj_step_inst(f, s);
	const struct cj_call *record = &f->code->module->calls.at[i->attr];
	struct cj_call_argument *arguments = CJ_NEWS(f->machine->arena,
	    struct cj_call_argument, record->count);
	double bytes = 0, flops = 0;

	if (record->is_time) {
		bytes = cj_num_to_f64(CJ_KIND_F64, operand_bits(f, s, 0));
		flops = cj_num_to_f64(CJ_KIND_F64, operand_bits(f, s, 1));
	}
	take_arguments(f, s, record, arguments, record->is_time ? 2 : 0);
	if (!t->hooks->call(t->hooks->user, record, i->place, arguments,
	    bytes, flops))
		cj_frame_stop(f);
	memset(t->touched, CJ_TOUCHED_NOT, f->code->module->objects.len);
}

void
cj_interp_CALL(struct cj_decoder *d, cj_ref r)
{
	uint32_t list = cj_decode_list(d, r, 0);

	cj_step_add(d, r, step_call)->a = list;
}

/* ---- running ------------------------------------------------------------- */

static struct cj_memory *
make_memory(struct cj_arena *a, const struct cj_decoded *c)
{
	uint32_t count = c->module->objects.len, o;
	struct cj_memory *memory = CJ_NEWS(a, struct cj_memory, count + 1);

	for (o = 1; o < count; o++)
		if (c->module->objects.at[o].kind == CJ_OBJECT_TABLE)
			memory[o] = c->tables[o];
	return memory;
}

static void
run(struct cj_frame *f, struct cj_test_run *t)
{
	cj_frame_start(f, 1);
	cj_frame_run(f);
	if (f->state == CJ_STATE_WAITING)
		cj_bug(f->machine->arena->recover, "a barrier in a test");
	t->out->stopped = f->state == CJ_STATE_STOPPED
	    && t->out->failure == NULL;
	t->out->passed = f->state == CJ_STATE_ENDED
	    && f->machine->faults->total == 0;
}

void
cj_interp_test(struct cj_arena *a, const struct cj_module *m,
    uint32_t function, const struct cj_run_options *o,
    const struct cj_test_hooks *h, struct cj_diags *ds,
    struct cj_test_outcome *out)
{
	const struct cj_decoded *c = cj_interp_decode(a, m, function);
	struct cj_test_run t = { .hooks = h, .options = o, .out = out };
	struct cj_fault_list faults;
	struct cj_machine machine = { .module = m, .arena = a,
	    .faults = &faults, .print = o->print, .print_user = o->user,
	    .cancel = o->cancel, .checks = o->checks, .test = &t };
	struct cj_frame f;

	assert(c->lanes == CJ_LANES_ONE);
	memset(out, 0, sizeof *out);
	cj_fault_list_init(&faults, a);
	machine.step_limit = o->step_limit != 0 ? o->step_limit
	    : TEST_STEP_LIMIT;
	machine.open_limit = o->step_limit != 0 ? 0 : TEST_OPEN_LIMIT;
	machine.memory = make_memory(a, c);
	t.touched = CJ_NEWS(a, unsigned char, m->objects.len + 1);
	cj_frame_init(&f, c, &machine, cj_alloc(a, c->frame_bytes));
	run(&f, &t);
	cj_fault_report(&faults, m, ds);
}
