/*
 * Arrays of a test: their memory and what generators put into it. Filling is
 * spread over the cores; an element depends on the seed and its number alone.
 */
#include "interp_test.h"

enum { FILL_GRAIN = 1 << 14, BATCH = 64 };	/* elements */

struct filling {
	const struct cj_machine *machine;
	const struct cj_array *array;
	struct cj_memory *memory;
	enum cj_kind kind;
	uint64_t seed, value;		/* FULL: bits of the element */
	double low, high;
	int64_t from, to;		/* INTEGERS */
};

/* What a double holds exactly is rounded from there all the same. */
static uint64_t
from_integer(enum cj_kind k, int64_t v)
{
	const struct cj_conversion how = { .is_default = true };
	const int64_t exact = (int64_t)1 << 53;

	if (cj_kind_is_float(k) && v >= -exact && v <= exact)
		return cj_num_from_f64(k, (double)v);
	return cj_num_convert(k, CJ_KIND_INDEX, (uint64_t)v, how);
}

static uint64_t
element(const struct filling *w, uint64_t i)
{
	switch (w->array->generator) {
	case CJ_ARRAY_EMPTY:
		break;
	case CJ_ARRAY_FULL:
		return w->value;
	case CJ_ARRAY_NORMAL:
		break;			/* in pairs */
	case CJ_ARRAY_UNIFORM:
		return cj_num_from_f64(w->kind, cj_random_uniform(w->seed, i,
		    w->low, w->high));
	case CJ_ARRAY_INTEGERS:
		return from_integer(w->kind, cj_random_integer(w->seed, i,
		    w->from, w->to));
	case CJ_ARRAY_IOTA:
		return from_integer(w->kind, (int64_t)i);
	}
	return 0;
}

/* `count` elements from `from` on, an even number, into `out`. */
static void
make_elements(const struct filling *w, uint64_t from, unsigned count,
    uint64_t *out)
{
	unsigned i;
	double v[2];

	if (w->array->generator != CJ_ARRAY_NORMAL) {
		for (i = 0; i < count; i++)
			out[i] = element(w, from + i);
		return;
	}
	for (i = 0; i < count; i += 2) {
		cj_random_normals(w->seed, (from + i) / 2, v);
		out[i] = cj_num_from_f64(w->kind, v[0]);
		out[i + 1] = cj_num_from_f64(w->kind, v[1]);
	}
}

static void
store_elements(const struct filling *w, uint64_t to, unsigned count,
    const uint64_t *from)
{
	const struct cj_memory *m = w->memory;
	uint32_t *words = (uint32_t *)(void *)m->data;
	unsigned i;

	if (cj_kind_bits(w->kind) == 32) {	/* f32, mostly */
		for (i = 0; i < count; i++)
			words[to + i] = (uint32_t)from[i];
		return;
	}
	for (i = 0; i < count; i++)
		cj_memory_set(m, w->kind, (int64_t)(to + i), from[i]);
}

static bool
fill_piece(void *user, unsigned worker, uint64_t lo, uint64_t hi)
{
	const struct filling *w = user;
	uint64_t room[BATCH];

	(void)worker;
	assert(lo % BATCH == 0);
	for (; lo < hi && !cj_is_halted(w->machine); lo += BATCH) {
		unsigned n = hi - lo < BATCH ? (unsigned)(hi - lo) : BATCH;

		make_elements(w, lo, n, room);
		store_elements(w, lo, n, room);
	}
	return true;
}

/* A generator's operand as f64, as an integer, as an element. */
static uint64_t
argument(struct cj_frame *f, const struct cj_step *s, unsigned n,
    enum cj_kind as)
{
	const struct cj_conversion how = { .is_default = true };
	cj_ref v = cj_operand(f->code->module, cj_step_inst(f, s), n);
	enum cj_kind k = cj_type_kind(cj_inst(f->code->module, v)->type);

	return cj_num_convert(as, k, cj_reg_get(f->regs
	    + f->code->lists.at[s->a + n], 0, k), how);
}

static double
real_argument(struct cj_frame *f, const struct cj_step *s, unsigned n)
{
	return cj_num_to_f64(CJ_KIND_F64,
	    argument(f, s, n, CJ_KIND_F64));
}

static void
fill(struct cj_frame *f, const struct cj_step *s, struct filling *w)
{
	uint64_t count = (uint64_t)w->memory->hi;

	switch (w->array->generator) {
	case CJ_ARRAY_EMPTY:
		return;
	case CJ_ARRAY_FULL:
		w->value = argument(f, s, 1, w->kind);
		break;
	case CJ_ARRAY_NORMAL:
		w->seed = argument(f, s, 1, CJ_KIND_U64);
		break;
	case CJ_ARRAY_UNIFORM:
		w->low = real_argument(f, s, 1);
		w->high = real_argument(f, s, 2);
		w->seed = argument(f, s, 3, CJ_KIND_U64);
		break;
	case CJ_ARRAY_INTEGERS:
		w->from = (int64_t)argument(f, s, 1, CJ_KIND_INDEX);
		w->to = (int64_t)argument(f, s, 2, CJ_KIND_INDEX);
		w->seed = argument(f, s, 3, CJ_KIND_U64);
		break;
	case CJ_ARRAY_IOTA:
		break;
	}
	/* pieces are whole bytes of packed kinds: the grain is even */
	cj_parallel(cj_worker_count(f->machine->test->options->workers,
	    count / FILL_GRAIN), count, FILL_GRAIN, fill_piece, w);
}

/* a: the operands' offsets in `lists`. */
static void
step_array(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_module *m = f->code->module;
	struct cj_test_run *t = cj_test_of(f);
	const struct cj_array *array =
	    &m->arrays.at[cj_step_inst(f, s)->attr];
	struct cj_memory *memory = &f->machine->memory[array->object];
	struct filling w = { .array = array, .memory = memory,
	    .machine = f->machine };
	int64_t count = *CJ_AT(f, int64_t, f->code->lists.at[s->a]);
	size_t bytes;

	assert(m->objects.at[array->object].kind == CJ_OBJECT_ARRAY);
	w.kind = m->objects.at[array->object].element;
	if (count < 0 || count > INT64_MAX / 64) {
		cj_fault_at(f, s, 0, CJ_DIAG_OUT_OF_BOUNDS,
		    "an array of %lld elements", (long long)count);
		cj_frame_stop(f);
		return;
	}
	bytes = cj_memory_bytes(w.kind, count);
	memory->data = t->hooks->allocate(t->hooks->user,
	    bytes == 0 ? 1 : bytes);
	if (memory->data == NULL) {
		cj_fault_at(f, s, 0, CJ_DIAG_MEMORY,
		    "there is no memory for an array of %lld elements",
		    (long long)count);
		cj_frame_stop(f);
		return;
	}
	memory->hi = count;
	memory->readable = memory->writable = true;
	memory->written = NULL;
	t->touched[array->object] = CJ_TOUCHED_WRITE;
	if (array->generator == CJ_ARRAY_EMPTY
	    && f->machine->checks & CJ_CHECK_WRITTEN)
		memory->written = cj_alloc(f->machine->arena, (size_t)count);
	fill(f, s, &w);
	if (cj_is_halted(f->machine))
		cj_frame_stop(f);
}

void
cj_interp_ARRAY(struct cj_decoder *d, cj_ref r)
{
	uint32_t list = cj_decode_list(d, r, 0);

	cj_step_add(d, r, step_array)->a = list;
}
