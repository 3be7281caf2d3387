/*
 * What a block may have: shared memory, registers of its threads, and bytes of
 * parameters.
 *
 * All are known here, before any code is generated: registers from below
 * (carried.c), the others exactly. Over a limit, the message says who has how
 * much, and what would fit.
 */
#include "elab_priv.h"

enum { FILE_REGISTERS = 65536, MOST_REGISTERS = 255,
    MOST_PARAMETER_BYTES = 4352 };	/* of a kernel, before PTX 8.1 */

static struct cj_span
span_of(const struct cj_elab *el, const struct cj_object *o)
{
	return el->m->places.at[o->place].span;
}

/* ---- shared memory ------------------------------------------------------- */

static int64_t
shared_bytes(const struct cj_object *o)
{
	return o->kind != CJ_OBJECT_SHARED ? 0 : cj_object_bytes(o);
}

static void
set_stages(struct cj_elab *el, const struct cj_pipeline *p, uint32_t from,
    uint32_t to)
{
	uint32_t i;

	for (i = 0; i < p->field_count; i++)
		el->m->objects.at[p->fields[i]].extent =
		    el->m->objects.at[p->fields[i]].extent / from * to;
}

/* The most stages that the pipeline could have with all else as it is; 0: it
 * alone does not decide. */
static uint32_t
fitting_stages(struct cj_elab *el, uint32_t function,
    const struct cj_pipeline *p)
{
	uint32_t n = p->stages;
	bool fits = false;

	while (n > 1 && !fits) {
		set_stages(el, p, n, n - 1);
		n--;
		fits = cj_share_least(el->m, function) <=
		    el->target->shared_bytes;
	}
	set_stages(el, p, n, p->stages);
	return fits ? n : 0;
}

static void
help_with_stages(struct cj_elab *el, struct cj_diag *d, uint32_t function,
    uint32_t before)
{
	bool has_any = false;
	uint32_t i, n;

	for (i = 1; i < el->m->pipelines.len; i++) {
		const struct cj_pipeline *p = &el->m->pipelines.at[i];

		if (p->field_count == 0 || p->fields[0] < before)
			continue;
		n = fitting_stages(el, function, p);
		has_any = true;
		if (n == 0)
			continue;
		cj_help(d, "With %u stage%s of \"%s\" instead of %u it fits.",
		    (unsigned)n, n == 1 ? "" : "s", p->name,
		    (unsigned)p->stages);
		return;
	}
	cj_help(d, "It is %lld bytes too much%s: hold smaller tiles, or "
	    "narrower types; what is not needed at the same time shares "
	    "memory where a barrier stands between.",
	    (long long)(cj_share_least(el->m, function) -
	    el->target->shared_bytes), has_any ? ", and fewer stages of one "
	    "pipeline do not help" : "");
}

static void
check_shared(struct cj_elab *el, struct cj_span span, uint32_t function,
    uint32_t before)
{
	const struct cj_object *objects = el->m->objects.at;
	int64_t bytes = cj_share_least(el->m, function);
	struct cj_diag *d;
	uint32_t i;

	if (bytes <= el->target->shared_bytes)
		return;
	d = cj_elab_report(el, CJ_DIAG_LIMIT, span,
	    "the block has %lld bytes of shared memory, %s has %d",
	    (long long)bytes, el->target->name, el->target->shared_bytes);
	for (i = before; i < el->m->objects.len; i++)
		if (shared_bytes(&objects[i]) != 0)
			cj_note(d, span_of(el, &objects[i]),
			    "\"%s\" has %lld bytes", objects[i].name,
			    (long long)shared_bytes(&objects[i]));
	help_with_stages(el, d, function, before);
}

/* ---- registers ----------------------------------------------------------- */

/* 0: known at the launch only. */
static int64_t
threads_of(const struct cj_function *f)
{
	return (f->block[0] * f->block[1] * f->block[2] + 31) / 32 * 32;
}

/* Threads may hand registers to each other by PTX: then each may have all. */
static bool
moves_registers(const struct cj_module *m)
{
	uint32_t i;

	for (i = 1; i < m->texts.len; i++)
		if (strstr(m->texts.at[i], "setmaxnreg") != NULL)
			return true;
	return false;
}

/* What the role around a loop asks for; 0: nothing, or it is in none. Instances
 * of an array of roles ask for the same. */
static int64_t
role_registers(const struct cj_module *m, cj_ref loop)
{
	const struct cj_region_info *regions = m->regions.at;
	cj_region g = cj_inst(m, loop)->region;

	for (; g != 0; g = regions[g].parent)
		if (regions[g].owner != 0 && cj_inst(m,
		    regions[g].owner)->op == CJ_OP_ROLE)
			return m->roles.at[cj_inst(m, regions[g].owner)->attr]
			    .registers;
	return 0;
}

/* What each of so many threads can have. */
static int64_t
registers_of(const struct cj_module *m, const struct cj_function *f,
    int64_t threads)
{
	int64_t blocks = f->min_blocks > 1 ? f->min_blocks : 1, n;

	n = threads == 0 || moves_registers(m) ? MOST_REGISTERS :
	    FILE_REGISTERS / (threads * blocks) / 8 * 8;
	if (f->max_registers != 0 && f->max_registers < n)
		n = f->max_registers;
	return n < MOST_REGISTERS ? n : MOST_REGISTERS;
}

/* Fewer blocks side by side leave more to each; false: not enough. */
static bool
help_with_blocks(struct cj_diag *d, const struct cj_elab *el,
    const struct cj_function *f, int64_t needed)
{
	struct cj_function fewer = *f;
	int64_t n;

	for (fewer.min_blocks--; fewer.min_blocks >= 1; fewer.min_blocks--) {
		n = registers_of(el->m, &fewer, threads_of(f));
		if (needed > n * 3 / 4)
			continue;
		cj_help(d, "With min_blocks(%lld) instead of %lld it has "
		    "%lld.", (long long)fewer.min_blocks,
		    (long long)f->min_blocks, (long long)n);
		return true;
	}
	return false;
}

/* A launch that allows fewer than there are; false: those are too few, too. */
static bool
help_with_limit(struct cj_diag *d, const struct cj_elab *el,
    const struct cj_function *f, int64_t needed)
{
	struct cj_function freely = *f;
	int64_t n;

	freely.max_registers = 0;
	n = registers_of(el->m, &freely, threads_of(f));
	if (f->max_registers == 0 || needed > n * 3 / 4)
		return false;
	cj_help(d, "Without max_registers(%lld) it has %lld.",
	    (long long)f->max_registers, (long long)n);
	return true;
}

/* Tiles are spread over the threads: more of these have fewer registers each.
 * A quarter is left for what is not counted. */
static void
help_with_threads(struct cj_diag *d, const struct cj_elab *el,
    const struct cj_function *f, int64_t needed)
{
	int64_t threads = threads_of(f), n;

	if (help_with_limit(d, el, f, needed) ||
	    help_with_blocks(d, el, f, needed))
		return;
	for (n = 2; n * threads <= 1024 && threads != 0; n *= 2)
		if ((needed + n - 1) / n <=
		    registers_of(el->m, f, n * threads) * 3 / 4) {
			cj_help(d, "%lld threads instead of %lld would have "
			    "%lld each, if what they hold is a tile of all.",
			    (long long)(n * threads), (long long)threads,
			    (long long)((needed + n - 1) / n));
			return;
		}
	n = registers_of(el->m, f, threads) * 3 / 4 + 1;
	cj_help(d, "A block has %d registers in all: with tiles of 1/%lld of "
	    "the elements, or one part of them at a time, it fits.",
	    FILE_REGISTERS, (long long)((needed + n - 1) / n));
}

static void
check_registers(struct cj_elab *el, struct cj_span span, uint32_t function)
{
	const struct cj_function *f = &el->m->functions.at[function];
	struct cj_carried c = cj_carried_most(el->m, function);
	int64_t role = c.registers > 0 ? role_registers(el->m, c.op) : 0;
	int64_t most = role > 0 ? role : registers_of(el->m, f,
	    threads_of(f));
	struct cj_diag *d;
	uint32_t i;

	if (c.registers <= most)
		return;
	d = cj_elab_report(el, CJ_DIAG_LIMIT, span,
	    "each thread carries %lld registers through a loop, it has %lld",
	    (long long)c.registers, (long long)most);
	cj_note(d, el->m->places.at[cj_inst(el->m, c.op)->place].span,
	    "through this loop");
	for (i = 1; i < el->m->objects.len; i++)
		if (c.by_object[i] != 0)
			cj_note(d, span_of(el, &el->m->objects.at[i]),
			    "\"%s\" has %lld of them",
			    el->m->objects.at[i].name,
			    (long long)c.by_object[i]);
	help_with_threads(d, el, f, c.registers);
}

/* ---- blocks side by side ------------------------------------------------- */

/* What bounds how many blocks a multiprocessor holds. */
struct crowd {
	int64_t threads;		/* 0: known at the launch alone */
	int64_t bytes;			/* of shared memory, at least */
	int64_t most;
	enum { BY_NUMBER, BY_THREADS, BY_MEMORY } by;
};

static struct crowd
crowd_of(const struct cj_elab *el, uint32_t function,
    const struct cj_target *t)
{
	struct crowd c = { threads_of(&el->m->functions.at[function]),
	    cj_share_least(el->m, function), t->blocks_per_sm, BY_NUMBER };
	int64_t n = t->threads_per_sm / (c.threads != 0 ? c.threads :
	    CJ_MAX_BLOCK_THREADS);

	if (n < c.most) {
		c.most = n;
		c.by = BY_THREADS;
	}
	n = (t->shared_bytes + CJ_SYSTEM_SHARED_BYTES) / (c.bytes +
	    CJ_SYSTEM_SHARED_BYTES);
	if (n < c.most) {
		c.most = n;
		c.by = BY_MEMORY;
	}
	return c;
}

static const char *
crowd_text(const struct cj_elab *el, const struct crowd *c)
{
	if (c->by == BY_NUMBER)
		return "";
	if (c->by == BY_MEMORY)
		return cj_printf(el->arena, " of %lld bytes of shared memory",
		    (long long)c->bytes);
	return c->threads == 0 ? ", which may have 1024 threads" :
	    cj_printf(el->arena, " of %lld threads", (long long)c->threads);
}

/* Wrong where no chip holds them; else one text may serve several. Registers
 * that do not suffice are an error where they are counted. */
static void
check_blocks(struct cj_elab *el, struct cj_span span, uint32_t function)
{
	int64_t asked = el->m->functions.at[function].min_blocks, best = 0;
	struct crowd c = crowd_of(el, function, el->target), other;
	enum cj_code code;
	unsigned i;

	if (asked <= c.most || c.most < 1)
		return;
	for (i = 0; i < cj_target_count; i++) {
		other = crowd_of(el, function, &cj_targets[i]);
		best = other.most > best ? other.most : best;
	}
	code = asked > best ? CJ_DIAG_MIN_BLOCKS : CJ_DIAG_FEWER_BLOCKS;
	if (cj_diag_is_allowed(el->ds, code, span))
		return;
	cj_help(cj_elab_report(el, code, span,
	    "min_blocks(%lld) is not met: a multiprocessor of %s holds %lld "
	    "block%s%s", (long long)asked, el->target->name,
	    (long long)c.most, c.most == 1 ? "" : "s", crowd_text(el, &c)),
	    "min_blocks(%lld) would be.", (long long)c.most);
}

/* ---- parameters ---------------------------------------------------------- */

/* In the order of the leaves, each register of one aligned by itself. */
static int64_t
parameter_bytes(const struct cj_function *f)
{
	int64_t bytes = 0, each, align;
	uint32_t i;

	for (i = 0; i < f->leaves.len; i++) {
		enum cj_kind k = cj_type_kind(f->leaves.at[i].type);

		each = cj_kind_bits(k) <= 8 ? 1 : cj_kind_bits(k) / 8;
		align = k == CJ_KIND_MAP ? 64 : each;
		bytes = (bytes + align - 1) / align * align +
		    each * cj_type_count(f->leaves.at[i].type);
	}
	return bytes;
}

static void
check_parameters(struct cj_elab *el, struct cj_span span, uint32_t function)
{
	const struct cj_function *f = &el->m->functions.at[function];
	int64_t bytes = parameter_bytes(f);

	if (bytes > MOST_PARAMETER_BYTES)
		cj_help(cj_elab_report(el, CJ_DIAG_LIMIT, span, "the launch "
		    "passes %lld bytes of parameters, there is room for %d",
		    (long long)bytes, MOST_PARAMETER_BYTES), "Each tensor has "
		    "a pointer, and a number of 8 bytes for each extent and "
		    "stride that is used and not known: say what is known, as "
		    "N:1, or let several tensors be one with one mode more.");
}

void
cj_elab_limits(struct cj_elab *el, struct cj_span span, uint32_t function,
    uint32_t before)
{
	if (el->target == NULL || el->errors != 0)
		return;
	check_parameters(el, span, function);
	check_shared(el, span, function, before);
	check_registers(el, span, function);
	if (el->errors == 0)
		check_blocks(el, span, function);
}
