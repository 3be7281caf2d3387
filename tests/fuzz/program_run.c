/*
 * Programs on the executor, one launch each.
 */
#include "program_run.h"

#include "fuzz.h"

#include <math.h>

/* ---- memory ------------------------------------------------------------- */

size_t
program_bytes(const struct program_parameter *p)
{
	size_t bits = p->kind == CJ_KIND_BOOL ? 8 : cj_kind_bits(p->kind);

	return (size_t)p->extent * bits / 8;
}

static uint64_t
next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void
put(unsigned char *to, unsigned width, int64_t i, uint64_t bits)
{
	int64_t at = i * width;
	unsigned b;

	for (b = 0; b < width; b++, at++)
		if (bits >> b & 1)
			to[at / 8] |= (unsigned char)(1 << at % 8);
}

static void
fill(char *to, const struct program_parameter *p, uint64_t seed)
{
	unsigned width = p->kind == CJ_KIND_BOOL ? 8 : cj_kind_bits(p->kind);
	uint64_t state = seed * 1000003 + p->kind * 17 + p->role;
	int64_t i;

	for (i = 0; i < p->extent; i++)
		put((unsigned char *)to, width, i, program_value(p->kind,
		    next_random(&state)));
}

struct program_memory *
program_memory_make(struct cj_arena *a, const struct program *p)
{
	struct program_memory *m = CJ_NEW(a, struct program_memory);
	uint32_t i;

	for (i = 0; i < p->count; i++) {
		const struct program_parameter *q = &p->parameters[i];

		if (q->role == PROGRAM_SCALAR)
			continue;
		m->at[i] = cj_alloc(a, program_bytes(q));
		fill(m->at[i], q, p->seed);
	}
	return m;
}

static uint64_t
element(const char *from, enum cj_kind k, int64_t i)
{
	size_t width = k == CJ_KIND_BOOL ? 1 : cj_kind_bits(k) / 8;
	uint64_t bits = 0;

	memcpy(&bits, from + (size_t)i * width, width);
	return bits;
}

static bool
is_nan(enum cj_kind k, uint64_t bits)
{
	return cj_kind_is_float(k) && isnan(cj_num_to_f64(k, bits));
}

const char *
program_difference(struct cj_arena *a, const struct program *p,
    const struct program_memory *wanted, const struct program_memory *got,
    enum program_nans nans)
{
	uint32_t i;
	int64_t e;

	for (i = 0; i < p->count; i++) {
		const struct program_parameter *q = &p->parameters[i];

		if (q->role < PROGRAM_OUTPUT)
			continue;
		for (e = 0; e < q->extent; e++) {
			uint64_t x = element(wanted->at[i], q->kind, e);
			uint64_t y = element(got->at[i], q->kind, e);

			if (x != y && (nans == PROGRAM_NANS_BY_BITS ||
			    !is_nan(q->kind, x) || !is_nan(q->kind, y)))
				return cj_printf(a, "element %lld of %c_%s is "
				    "%#llx, not %#llx", (long long)e,
				    q->role == PROGRAM_OUTPUT ? 'y' : 'z',
				    cj_kind_text(q->kind),
				    (unsigned long long)y,
				    (unsigned long long)x);
		}
	}
	return NULL;
}

/* ---- elaboration -------------------------------------------------------- */

struct front {
	struct cj_arena *arena;
	struct cj_recover *recover;
	struct cj_names names;
	struct cj_sources sources;
	struct cj_diags diags;
	struct cj_unit *unit;
};

static void
actuals_of(const struct program *p, struct cj_actual *out)
{
	static const int64_t stride = 1;
	uint32_t i;

	for (i = 0; i < p->count; i++) {
		const struct program_parameter *q = &p->parameters[i];

		out[i].present = true;
		out[i].is_tensor = q->role != PROGRAM_SCALAR;
		out[i].kind = q->kind;
		out[i].rank = out[i].is_tensor;
		out[i].extents = &q->extent;
		out[i].strides = &stride;
		out[i].bits = q->bits;
		out[i].count = 1;
	}
}

static struct cj_module *
elaborate(struct front *f, const struct program *p)
{
	const struct cj_aim aim = { cj_target_find("sm_90a"),
	    CJ_BOUNDS_MODES };
	struct cj_actual actuals[PROGRAM_PARAMETERS] = { 0 };
	const struct cj_member_info *members;
	const struct cj_binding *b;
	struct cj_span span = { 0 };
	const char *why = "refused";

	if (f->diags.errors != 0 ||
	    cj_unit_members(f->unit, &members) != 1)
		return NULL;
	actuals_of(p, actuals);
	b = cj_bind(f->arena, f->unit, members, NULL, 0, actuals, p->count,
	    &f->diags, &why, &span);
	if (b == NULL)
		cj_bug(f->recover, "%.200s", why);
	return cj_elab_kernel(f->arena, f->unit, members, b, &aim, &f->diags);
}

struct cj_module *
program_elaborate(struct cj_arena *a, struct cj_recover *r,
    const struct program *p)
{
	struct front *f = CJ_NEW(a, struct front);
	struct cj_unit_text t = { .names = &f->names,
	    .sources = &f->sources };
	struct cj_strbuf messages;
	struct cj_module *m;

	t.prelude = fuzz_prelude();
	f->arena = a;
	f->recover = r;
	cj_unit_begin(&t, a);
	cj_diags_init(&f->diags, a, &f->sources);
	t.source = cj_source_add(&f->sources, "program.cute", p->text,
	    strlen(p->text));
	f->unit = cj_unit_load(a, &t, &f->diags);
	m = elaborate(f, p);
	if (f->diags.errors == 0 && m != NULL)
		return m;
	cj_strbuf_init(&messages, a);
	cj_diags_print(&messages, &f->diags, true);
	fprintf(stderr, "%s\n%s", p->text, messages.text);
	cj_bug(r, "a right program is refused");
}

/* ---- runs --------------------------------------------------------------- */

struct runner {
	struct cj_arena *arena;
	const struct cj_module *m;
	struct cj_memory *memory;
	struct cj_diags *diags;
	struct cj_outcome outcome;
	const uint64_t *values;
	unsigned launches;
};

static void
bind_memory(const struct cj_module *m, const struct program *p,
    struct program_memory *memory, struct cj_memory *out)
{
	uint32_t i;

	for (i = 1; i < m->objects.len; i++) {
		const struct cj_object *o = &m->objects.at[i];

		if (o->kind != CJ_OBJECT_TENSOR)
			continue;
		out[i].data = memory->at[o->parameter];
		out[i].hi = p->parameters[o->parameter].extent;
		out[i].readable = o->reads;
		out[i].writable = o->writes;
	}
}

static bool
launch(void *user, const struct cj_kernel_launch *k,
    const struct cj_launch *attributes)
{
	const struct cj_run_options options = { .checks = CJ_CHECK_ALL,
	    .workers = 1 };
	struct runner *r = user;
	const struct cj_function *fn = &r->m->functions.at[k->function];
	struct cj_kernel_launch with = *k;
	size_t n = 0;
	uint32_t i;

	(void)attributes;
	with.memory = r->memory;
	for (i = 0; i < fn->leaves.len; i++)
		if (fn->leaves.at[i].kind == CJ_LEAF_VALUE)
			n += cj_type_count(fn->leaves.at[i].type);
	r->values = cj_memdup(r->arena, k->values, n * sizeof *k->values);
	r->launches++;
	cj_interp_kernel(r->arena, r->m, &with, &options, r->diags,
	    &r->outcome);
	return r->outcome.faults == 0 && !r->outcome.stopped;
}

static uint64_t
leaf_value(const struct program *p, const struct cj_leaf *l)
{
	const struct program_parameter *q = &p->parameters[l->parameter];

	switch (l->kind) {
	case CJ_LEAF_SCALAR:
		return q->bits;
	case CJ_LEAF_EXTENT:
		return (uint64_t)q->extent;
	case CJ_LEAF_STRIDE:
	case CJ_LEAF_PRESENT:
		return 1;
	case CJ_LEAF_ALIGN:
		return 16;
	case CJ_LEAF_OBJECT:
	case CJ_LEAF_VALUE:
		break;
	}
	return 0;
}

static const char *
outcome_of(struct runner *r, const struct cj_host_outcome *host)
{
	struct cj_strbuf b;

	if (r->diags->errors != 0 || r->outcome.faults != 0) {
		cj_strbuf_init(&b, r->arena);
		cj_diags_print(&b, r->diags, true);
		return b.text;
	}
	if (host->require != 0)
		return cj_printf(r->arena, "a contract that holds is broken: "
		    "%s", host->values);
	if (r->outcome.stopped || host->stopped)
		return "the run was stopped";
	return r->launches == 1 ? NULL : "nothing was launched";
}

const char *
program_run(struct cj_arena *a, const struct cj_module *m,
    const struct program *p, struct program_memory *memory)
{
	const struct cj_function *host = &m->functions.at[1];
	uint64_t *values = CJ_NEWS(a, uint64_t, host->leaves.len + 1);
	struct cj_diags diags;
	struct runner r = { .arena = a, .m = m, .diags = &diags };
	const struct cj_host_hooks hooks = { .user = &r, .launch = launch };
	struct cj_host_outcome out = { 0 };
	uint32_t i;

	r.memory = CJ_NEWS(a, struct cj_memory, m->objects.len);
	bind_memory(m, p, memory, r.memory);
	cj_diags_init(&diags, a, m->sources);
	for (i = 0; i < host->leaves.len; i++)
		values[i] = leaf_value(p, &host->leaves.at[i]);
	cj_interp_host(a, m, 1, values, &hooks, &diags, &out);
	memory->values = r.values;
	return outcome_of(&r, &out);
}
