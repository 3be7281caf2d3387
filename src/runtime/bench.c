/*
 * Benches: how long a kernel takes.
 *
 * On a GPU a batch of launches stands between two events, so that neither the
 * clock of the host nor the cost of a launch is in the figure. Consecutive
 * launches work on different copies of the arrays, together larger than the L2
 * cache, so that no launch finds its operands there. The median of the batches
 * counts. On the CPU it is the wall time of one run of the executor.
 */
#include <stdlib.h>

#include "testing.h"

enum {
	MAX_COPIES = 64,
	WARM_UP = 3,
	MAX_SAMPLES = 25,
	MAX_BATCH = 2000
};
#define BATCH_MS	4.0
#define TOTAL_MS	400.0
#define MAX_COPY_BYTES	(UINT64_C(8) << 30)

/* Results of one combination, kept until its work has ended. */
struct timed {
	cutejit_bench_result result;
	struct timed *next;
};

struct benching {
	struct cj_testing t;
	struct timed *first, **last;
};

/* ---- copies of the arrays ------------------------------------------------ */

/* One set of arrays beside the mirrors. */
struct copy {
	uint64_t *device;		/* by block, in list order */
	struct cj_shots shots;
};

struct timing {
	struct cj_testing *t;
	struct cj_selected *s;
	const struct cj_arguments *args;
	const struct cj_cuda *cu;
	struct copy *copies;
	uint32_t count, blocks;
	uint64_t workspace;
	bool is_filled;			/* what runs restore of it */
	double total_ms;		/* of all batches that count */
	void *start, *end;		/* events */
};

static void
release(void *object)
{
	struct timing *m = object;
	uint32_t i, k;

	for (i = 0; i < m->count; i++)
		for (k = 0; m->copies[i].device != NULL && i > 0
		    && k < m->blocks; k++)
			if (m->copies[i].device[k] != 0)
				m->cu->MemFree(m->copies[i].device[k]);
	if (m->workspace != 0)
		m->cu->MemFree(m->workspace);
	if (m->start != NULL)
		m->cu->EventDestroy(m->start);
	if (m->end != NULL)
		m->cu->EventDestroy(m->end);
}

static uint64_t
l2_bytes(const struct cj_gpu *g)
{
	int device, bytes = 0;

	if (g->cu->DeviceGet(&device, g->ordinal) != 0
	    || g->cu->DeviceGetAttribute(&bytes, CJ_CUDA_L2_BYTES, device)
	    != 0)
		return UINT64_C(64) << 20;
	return (uint64_t)bytes;
}

/* Bytes of the mirrors that this launch uses. */
static uint64_t
used_bytes(const struct timing *m)
{
	const struct cj_block *k;
	uint64_t bytes = 0;

	for (k = m->t->blocks.first; k != NULL; k = k->next)
		if (k->device != 0)
			bytes += k->bytes;
	return bytes;
}

/* As many that what lies between two uses of one is twice the cache. */
static uint32_t
choose_copies(const struct timing *m)
{
	uint64_t used = used_bytes(m), n;

	if (used == 0)
		return 1;
	n = (2 * l2_bytes(&m->t->gpu) + used - 1) / used + 1;
	if (n > MAX_COPIES)
		n = MAX_COPIES;
	while (n > 1 && n * used > MAX_COPY_BYTES)
		n--;
	return (uint32_t)n;
}

static int
copy_block(struct timing *m, struct cj_block *k, uint64_t *device)
{
	int rc = m->cu->MemAlloc(device, k->bytes != 0 ? k->bytes : 1);

	if (rc != 0)
		return rc;
	return k->bytes != 0
	    ? m->cu->MemcpyDtoD(*device, k->device, k->bytes) : 0;
}

/* Arguments whose addresses lie in copy `c` instead of the mirrors. */
static void
move_arguments(struct timing *m, const struct copy *c,
    const struct cj_arguments *from, struct cj_arguments *to)
{
	struct cj_arena *a = &m->t->work->arena;
	uint32_t i, k, n;

	*to = *from;
	to->views = CJ_NEWS(a, struct cj_view *, from->count);
	for (i = 0; i < from->count; i++) {
		const struct cj_actual *x = &from->actuals[i];

		if (!x->present || !x->is_tensor)
			continue;
		to->views[i] = cj_memdup(a, from->views[i],
		    x->count * sizeof *from->views[i]);
		for (k = 0; k < x->count; k++) {
			struct cj_view *v = &to->views[i][k];
			const struct cj_block *b = m->t->blocks.first;
			uint64_t at = (uint64_t)(uintptr_t)v->data;

			/* blocks may touch: an address at the end of one
			 * is the beginning of the next */
			for (n = 0; b != NULL; b = b->next, n++)
				if (b->device != 0 && at >= b->device
				    && at - b->device < b->bytes) {
					v->data = (void *)(uintptr_t)
					    (c->device[n] + (at - b->device));
					break;
				}
		}
	}
}

static cutejit_status
make_copy(struct timing *m, struct copy *c, const struct cj_arguments *device)
{
	struct cj_arguments moved;
	cutejit_status status;
	struct cj_block *k;
	uint32_t n = 0;
	int rc = 0;

	c->device = CJ_NEWS(&m->t->work->arena, uint64_t, m->blocks);
	for (k = m->t->blocks.first; k != NULL && rc == 0; k = k->next, n++) {
		if (k->device == 0)
			continue;
		if (c == &m->copies[0])
			c->device[n] = k->device;
		else
			rc = copy_block(m, k, &c->device[n]);
	}
	if (rc != 0)
		return cj_gpu_fail(m->t->work, m->cu, rc,
		    "there is no memory for copies of the arrays");
	move_arguments(m, c, device, &moved);
	status = cj_shots_make(m->t->work, &m->t->work->arena, m->s->program,
	    &moved, &m->s->plan, &c->shots);
	cj_shots_place(&c->shots, m->workspace);
	return status;
}

static cutejit_status
make_copies(struct timing *m)
{
	struct cj_work *f = m->t->work;
	struct cj_arguments device;
	const struct cj_block *k;
	cutejit_status status = CUTEJIT_OK;
	uint32_t i, wanted;
	int rc = cj_blocks_to_device(&m->t->blocks, &f->arena, m->args,
	    &device);

	if (rc == 0 && m->s->plan.workspace_bytes != 0)
		rc = m->cu->MemAlloc(&m->workspace,
		    m->s->plan.workspace_bytes);
	if (rc != 0)
		return cj_gpu_fail(f, m->cu, rc,
		    "the arrays cannot be brought to the GPU");
	for (k = m->t->blocks.first; k != NULL; k = k->next)
		m->blocks++;
	wanted = choose_copies(m);
	m->copies = CJ_NEWS(&f->arena, struct copy, wanted);
	for (i = 0; i < wanted && status == CUTEJIT_OK; i++) {
		m->count = i + 1;
		status = make_copy(m, &m->copies[i], &device);
	}
	return status;
}

/* ---- timing -------------------------------------------------------------- */

/* Milliseconds of one launch, from a batch of `n`; below 0: an error. */
static int
batch(struct timing *m, uint32_t n, uint32_t *next, double *ms)
{
	float all = 0;
	uint32_t i;
	int rc = m->cu->EventRecord(m->start, NULL);

	for (i = 0; i < n && rc == 0; i++) {
		rc = cj_shots_fire(m->cu, &m->copies[*next].shots,
		    m->is_filled, NULL);
		m->is_filled = true;
		*next = (*next + 1) % m->count;
	}
	if (rc == 0)
		rc = m->cu->EventRecord(m->end, NULL);
	if (rc == 0)
		rc = m->cu->EventSynchronize(m->end);
	if (rc == 0)
		rc = m->cu->EventElapsedTime(&all, m->start, m->end);
	*ms = (double)all / n;
	return rc;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int
sample(struct timing *m, cutejit_bench_result *out)
{
	double ms[MAX_SAMPLES], one;
	uint32_t n, next = 0, samples = 0;
	double spent = 0;
	int rc = batch(m, WARM_UP, &next, &one);

	if (rc == 0)
		rc = batch(m, m->count < 4 ? 4 : m->count, &next, &one);
	if (rc != 0)
		return rc;
	n = one > 0 ? (uint32_t)(BATCH_MS / one) + 1 : MAX_BATCH;
	if (n > MAX_BATCH)
		n = MAX_BATCH;
	while (samples < MAX_SAMPLES && (samples < 5
	    || spent < m->total_ms)) {
		rc = batch(m, n, &next, &ms[samples]);
		if (rc != 0)
			return rc;
		spent += ms[samples] * n;
		samples++;
		cj_check_time(m->t->work);
	}
	qsort(ms, samples, sizeof *ms, compare);
	out->ms_median = ms[samples / 2];
	out->ms_min = ms[0];
	out->ms_max = ms[samples - 1];
	out->samples = samples;
	return 0;
}

static int
time_copies(struct timing *m, cutejit_bench_result *out)
{
	int rc = m->cu->EventCreate(&m->start, 0);

	if (rc == 0)
		rc = m->cu->EventCreate(&m->end, 0);
	return rc == 0 ? sample(m, out) : rc;
}

bool
cj_time_on_gpu(struct cj_testing *t, struct cj_selected *s,
    const struct cj_arguments *args, double total_ms,
    cutejit_bench_result *out)
{
	struct cj_work *f = t->work;
	struct timing *m = CJ_NEW(&f->arena, struct timing);
	cutejit_status status;
	int rc;

	m->t = t;
	m->s = s;
	m->args = args;
	m->cu = t->gpu.cu;
	m->total_ms = total_ms;
	if (cj_image_load(f, m->cu, s->program) != CUTEJIT_OK)
		return false;
	cj_defer(f, release, m);
	status = make_copies(m);
	if (status == CUTEJIT_OK) {
		rc = time_copies(m, out);
		if (rc != 0)
			status = cj_gpu_fail(f, m->cu, rc, cj_printf(
			    &f->arena, "%s failed on the GPU",
			    s->program->kernel));
		cj_blocks_written(&t->blocks, s->program->ir, args);
	}
	cj_undefer(f);
	release(m);
	return status == CUTEJIT_OK;
}

static bool
time_on_cpu(struct cj_testing *t, struct cj_selected *s,
    const struct cj_arguments *args, cutejit_bench_result *out)
{
	int64_t start = cj_clock();

	if (cj_testing_launch(t, s, args) != CUTEJIT_OK)
		return false;
	out->ms_median = out->ms_min = out->ms_max = cj_ms_since(start);
	out->samples = 1;
	return true;
}

/* ---- results ------------------------------------------------------------- */

static void
set_rates(cutejit_bench_result *r, double bytes, double flops)
{
	r->bytes = bytes > 0 ? bytes : 0;
	r->flops = flops > 0 ? flops : 0;
	if (r->ms_median <= 0)
		return;
	r->gb_per_s = r->bytes / r->ms_median / 1e6;
	r->tflop_per_s = r->flops / r->ms_median / 1e9;
}

static bool
time_call(struct cj_testing *t, const struct cj_call *record,
    struct cj_selected *s, const struct cj_arguments *args, double bytes,
    double flops)
{
	struct benching *b = (struct benching *)t;
	struct timed *x = CJ_NEW(&t->arena, struct timed);
	cutejit_bench_result *r = &x->result;
	bool done;

	r->kernel = cj_strdup(&t->arena, record->kernel);
	r->member = s->program->member;
	r->text = "";
	done = t->on_gpu ? cj_time_on_gpu(t, s, args, TOTAL_MS, r)
	    : time_on_cpu(t, s, args, r);
	if (!done)
		return false;
	set_rates(r, bytes, flops);
	r->outcome = CUTEJIT_PASSED;
	*b->last = x;
	b->last = &x->next;
	return true;
}
static_assert(offsetof(struct benching, t) == 0,
    "a bench is found by its test");

static int
tell_one(struct cj_testing *t, cutejit_bench_result *r,
    cutejit_bench_fn *each, void *user)
{
	r->name = t->name;
	r->device = t->on_gpu ? CUTEJIT_DEVICE_GPU : CUTEJIT_DEVICE_CPU;
	r->report = cutejit_context_report(t->module->context);
	return each(user, r);
}

static int
tell(struct benching *b, cutejit_status status, cutejit_bench_fn *each,
    void *user)
{
	cutejit_bench_result none = { .kernel = "", .text = b->t.text };
	struct timed *x;
	int stop = 0;

	if (b->t.is_filtered)
		return 0;
	for (x = b->first; x != NULL && stop == 0; x = x->next)
		stop = tell_one(&b->t, &x->result, each, user);
	if (stop != 0 || b->t.outcome == CUTEJIT_PASSED)
		return stop;
	none.outcome = b->t.outcome;
	none.status = status == CUTEJIT_OK && none.outcome == CUTEJIT_FAILED
	    ? CUTEJIT_ERROR : status;
	return tell_one(&b->t, &none, each, user);
}

struct asked {
	const cutejit_run_options *given;
	cutejit_run_options options;
	bool use[2];
};

static cutejit_status
ask(struct cj_work *f, void *arguments)
{
	struct asked *a = arguments;

	if (!cj_run_options_read(a->given, &a->options)
	    || a->options.device == CUTEJIT_DEVICE_BOTH)
		return cj_fail(f, CUTEJIT_USAGE, CJ_DIAG_USAGE,
		    "the options of the run have a wrong size or value");
	return cj_run_devices(f, &a->options, false, a->use);
}

cutejit_status
cutejit_bench_run(cutejit_module *module, size_t index,
    const cutejit_run_options *options, cutejit_bench_fn *each, void *user)
{
	struct asked a = { .given = options };
	struct benching b;
	cutejit_status status;
	uint32_t i;
	int stop = 0;

	if (!cj_is(module, CJ_MODULE))
		return cj_handle_refuse(module);
	if (each == NULL || index >= module->test_count
	    || !module->tests[index].is_bench)
		return cj_handle_misuse(module,
		    "the index is too large, or a function is NULL");
	status = cj_enter(module->context, ask, &a);
	if (status != CUTEJIT_OK)
		return status;
	cj_testing_init(&b.t, module, (uint32_t)index, &a.options);
	b.t.time = time_call;
	b.t.uses_tuned = true;
	b.t.count = 1;
	for (i = 0; i < b.t.count && stop == 0; i++) {
		b.first = NULL;
		b.last = &b.first;
		status = cj_testing_run(&b.t, i, a.use[1]);
		stop = tell(&b, status, each, user);
	}
	cj_testing_fini(&b.t);
	return CUTEJIT_OK;
}
