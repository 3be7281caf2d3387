/*
 * Host functions: one lane, once per call of a kernel. What is asked of the
 * world goes through the caller's hooks.
 */
#include "interp_priv.h"
#include "target.h"

/* What a run of a host function holds beside the machine. */
struct cj_host_run {
	const struct cj_host_hooks *hooks;
	struct cj_host_outcome *out;
};

enum { HOST_STEP_LIMIT = 1 << 26 };
#define MOST_ELEMENTS	((int64_t)1 << 48)

static struct cj_host_run *
host_of(struct cj_frame *f)
{
	if (f->machine->host == NULL)
		cj_bug(f->machine->arena->recover,
		    "an operation of host functions runs elsewhere");
	return f->machine->host;
}

/* ---- require ------------------------------------------------------------- */

static void
print_number(struct cj_strbuf *out, const struct cj_frame *f, cj_ref v,
    uint32_t offset)
{
	enum cj_kind k = cj_type_kind(cj_inst(f->code->module, v)->type);

	cj_num_print(out, k, cj_reg_get(f->regs + offset, 0, k));
}

/* "N = 33, ld = 40"; `names` may have fewer than there are values. */
static const char *
values_text(struct cj_frame *f, const struct cj_step *s, const char *names)
{
	const struct cj_module *m = f->code->module;
	const struct cj_inst *i = cj_step_inst(f, s);
	struct cj_strbuf out;
	unsigned n;

	cj_strbuf_init(&out, f->machine->arena);
	for (n = 1; n < i->operand_count; n++) {
		if (n > 1)
			cj_strbuf_puts(&out, ", ");
		if (names != NULL && *names != '\0') {
			size_t length = strcspn(names, ",");

			cj_strbuf_write(&out, names, length);
			cj_strbuf_puts(&out, " = ");
			names += length + strspn(names + length, ", ");
		}
		print_number(&out, f, cj_operand(m, i, n),
		    f->code->lists.at[s->b + n - 1]);
	}
	return out.text;
}

/* a: condition; b: the values' offsets in `lists`. */
static void
step_require(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_host_run *h = host_of(f);
	uint32_t record = cj_step_inst(f, s)->attr;

	if (f->regs[s->a] != 0)
		return;
	h->out->require = record;
	h->out->values = values_text(f, s,
	    f->code->module->requires.at[record].names);
	cj_frame_stop(f);
}

void
cj_interp_REQUIRE(struct cj_decoder *d, cj_ref r)
{
	uint32_t condition = cj_decode_operand(d, r, 0);
	uint32_t list = cj_decode_list(d, r, 1);
	struct cj_step *s = cj_step_add(d, r, step_require);

	s->a = condition;
	s->b = list;
}

/* ---- numbers ------------------------------------------------------------- */

static void
step_divisor(struct cj_frame *f, const struct cj_step *s)
{
	const int64_t *by = CJ_AT(f, int64_t, s->a);
	uint64_t *out = CJ_AT(f, uint64_t, s->dst), pair[2];
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++) {
		cj_num_divisor(by[lane], pair);
		out[lane] = pair[0];
		out[lane + f->lanes] = pair[1];
	}
}

void
cj_interp_DIVISOR(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_divisor);
}

static void
step_device(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_host_run *h = host_of(f);

	if (h->hooks->device == NULL)
		cj_bug(f->machine->arena->recover, "nobody knows the device");
	*CJ_AT(f, int64_t, s->dst) = h->hooks->device(h->hooks->user,
	    cj_device_ask(cj_step_inst(f, s)->attr));
}

void
cj_interp_DEVICE(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_device);
}

/* ---- workspace and launch ------------------------------------------------ */

/* a: elements, b: fill. */
static void
step_workspace(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_host_run *h = host_of(f);
	uint32_t object = cj_step_access(f, s)->object;
	enum cj_kind k = f->code->module->objects.at[object].element;
	bool has_fill = s->b != CJ_NO_OFFSET;
	uint64_t fill = has_fill ? cj_reg_get(f->regs + s->b, 0, k) : 0;
	int64_t elements = *CJ_AT(f, int64_t, s->a);

	/* nobody counts its bytes in a number that is too small */
	if (elements > MOST_ELEMENTS) {
		cj_fault_at(f, s, 0, CJ_DIAG_LIMIT, "a workspace has %lld "
		    "elements, more than 2^48", (long long)elements);
		return;
	}
	if (h->hooks->workspace == NULL
	    || !h->hooks->workspace(h->hooks->user, object, elements,
	    has_fill, fill))
		cj_frame_stop(f);
}

void
cj_interp_WORKSPACE(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_workspace);
}

/* a: the operands' offsets in `lists`: place, value, elements, stride. */
static void
step_fill(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_host_run *h = host_of(f);
	uint32_t object = cj_step_access(f, s)->object;
	const uint32_t *at = f->code->lists.at + s->a;
	struct cj_host_fill fill = { object, *CJ_AT(f, int64_t, at[0]),
	    *CJ_AT(f, int64_t, at[2]), *CJ_AT(f, int64_t, at[3]),
	    cj_reg_get(f->regs + at[1], 0,
	    f->code->module->objects.at[object].element),
	    cj_step_inst(f, s)->place };

	if (fill.elements > 0 && (h->hooks->fill == NULL ||
	    !h->hooks->fill(h->hooks->user, &fill)))
		cj_frame_stop(f);
}

void
cj_interp_FILL(struct cj_decoder *d, cj_ref r)
{
	uint32_t list = cj_decode_list(d, r, 0);

	cj_step_add(d, r, step_fill)->a = list;
}

enum { EXTENTS = 9 };		/* grid, block, cluster */

/* The bits of the value leaves, one word per register. */
static void
gather_values(const struct cj_frame *f, const struct cj_step *s,
    uint64_t *values)
{
	const struct cj_module *m = f->code->module;
	const struct cj_inst *i = cj_step_inst(f, s);
	unsigned n;
	uint32_t r;

	for (n = EXTENTS; n < i->operand_count; n++) {
		cj_type t = cj_inst(m, cj_operand(m, i, n))->type;

		for (r = 0; r < cj_type_count(t); r++)
			*values++ = cj_reg_get(f->regs
			    + f->code->lists.at[s->a + n], r,
			    cj_type_kind(t));
	}
}

/* Extents that only the arguments decide; known ones are checked before. */
static bool
fits_chip(struct cj_frame *f, const struct cj_step *s,
    const struct cj_kernel_launch *k)
{
	int64_t threads = 1, most;
	struct cj_fault *fault;
	int n;

	for (n = 0; n < 3; n++) {
		most = n == 2 ? CJ_MAX_BLOCK_Z : CJ_MAX_BLOCK_THREADS;
		if (k->block[n] < 1 || k->block[n] > most) {
			cj_fault_at(f, s, 0, CJ_DIAG_LIMIT, "extent %d of the "
			    "block is %lld; it is 1 to %lld", n,
			    (long long)k->block[n], (long long)most);
			return false;
		}
		threads *= k->block[n];
		most = n == 0 ? INT32_MAX : UINT16_MAX;
		if (k->grid[n] > most) {
			cj_fault_at(f, s, 0, CJ_DIAG_LIMIT, "extent %d of the "
			    "grid is %lld; it is at most %lld", n,
			    (long long)k->grid[n], (long long)most);
			return false;
		}
	}
	for (n = 0; n < 3; n++)
		if (k->cluster[n] > 1 && k->grid[n] % k->cluster[n] != 0) {
			fault = cj_fault_at(f, s, 0, CJ_DIAG_LIMIT, "extent "
			    "%d of the grid is %lld, which is not whole "
			    "clusters of %lld", n, (long long)k->grid[n],
			    (long long)k->cluster[n]);
			if (fault != NULL)
				fault->note = "round_up(blocks, c) are whole "
				    "clusters; blocks beyond the work do "
				    "nothing";
			return false;
		}
	if (threads > CJ_MAX_BLOCK_THREADS)
		cj_fault_at(f, s, 0, CJ_DIAG_LIMIT, "the block has %lld "
		    "threads, the most are %d", (long long)threads,
		    CJ_MAX_BLOCK_THREADS);
	return threads <= CJ_MAX_BLOCK_THREADS;
}

/* a: the operands' offsets in `lists`; b: words of values; dst: room for
 * them. An empty grid launches nothing. */
static void
step_launch(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_host_run *h = host_of(f);
	const struct cj_launch *record =
	    &f->code->module->launches.at[cj_step_inst(f, s)->attr];
	struct cj_kernel_launch k = { .function = record->function };
	const uint32_t *at = &f->code->lists.at[s->a];
	uint64_t *values = CJ_AT(f, uint64_t, s->dst);
	int n;

	for (n = 0; n < 3; n++) {
		k.grid[n] = *CJ_AT(f, int64_t, at[n]);
		k.block[n] = *CJ_AT(f, int64_t, at[3 + n]);
		k.cluster[n] = *CJ_AT(f, int64_t, at[6 + n]);
	}
	if (k.grid[0] <= 0 || k.grid[1] <= 0 || k.grid[2] <= 0)
		return;
	gather_values(f, s, values);
	k.values = values;
	if (!fits_chip(f, s, &k)) {
		cj_frame_stop(f);
		return;
	}
	if (h->hooks->launch == NULL
	    || !h->hooks->launch(h->hooks->user, &k, record))
		cj_frame_stop(f);
}

void
cj_interp_LAUNCH(struct cj_decoder *d, cj_ref r)
{
	const struct cj_module *m = d->module;
	const struct cj_inst *i = cj_inst(m, r);
	uint32_t words = 0, list, room;
	struct cj_step *s;
	unsigned n;

	for (n = EXTENTS; n < i->operand_count; n++)
		words += cj_type_count(cj_inst(m, cj_operand(m, i, n))->type);
	list = cj_decode_list(d, r, 0);
	room = cj_decode_fresh(d, (words + 1) * (uint32_t)sizeof(uint64_t));
	s = cj_step_add(d, r, step_launch);
	s->a = list;
	s->dst = room;
}

/* ---- running ------------------------------------------------------------- */

void
cj_interp_host_run(struct cj_arena *a, const struct cj_decoded *c,
    const uint64_t *values, const struct cj_host_hooks *h,
    struct cj_diags *ds, struct cj_host_outcome *out)
{
	struct cj_host_run run = { .hooks = h, .out = out };
	struct cj_fault_list faults;
	struct cj_frame f;
	struct cj_machine m = { .module = c->module, .arena = a,
	    .faults = &faults, .values = values, .host = &run,
	    .step_limit = HOST_STEP_LIMIT, .print = h->print,
	    .print_user = h->user };

	assert(c->lanes == CJ_LANES_ONE);
	memset(out, 0, sizeof *out);
	cj_fault_list_init(&faults, a);
	cj_frame_init(&f, c, &m, cj_alloc(a, c->frame_bytes));
	cj_frame_start(&f, 1);
	cj_frame_run(&f);
	if (faults.total != 0)
		cj_fault_report(&faults, c->module, ds);
	out->stopped = out->require == 0
	    && (f.state == CJ_STATE_STOPPED || faults.total != 0);
}

void
cj_interp_host(struct cj_arena *a, const struct cj_module *m,
    uint32_t function, const uint64_t *values, const struct cj_host_hooks *h,
    struct cj_diags *ds, struct cj_host_outcome *out)
{
	cj_interp_host_run(a, cj_interp_decode(a, m, function), values, h, ds,
	    out);
}
