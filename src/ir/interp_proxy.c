/*
 * The asynchronous proxy: copies by TMA and products of warpgroups see shared
 * memory in their own way. Between what a thread itself reads or writes there
 * and such an access stands a fence of that thread.
 *
 * What a copy of cp.async has brought needs a fence of whoever is behind it.
 * Each element remembers the warp that wrote it last, each 16 bytes each warp
 * that read them, and how many fences it had executed then. Where the code has
 * no loads by TMA, nothing overwrites and reads need not be remembered.
 */
#include "interp_tma.h"

enum { UNIT_BITS = 128 };

size_t
cj_proxy_units(const struct cj_module *m, uint32_t object)
{
	const struct cj_object *o = &m->objects.at[object];

	return ((size_t)o->extent * cj_kind_bits(o->element) + UNIT_BITS - 1)
	    / UNIT_BITS;
}

/* The instruction that a warp is at. */
static cj_ref
now(const struct cj_frame *f)
{
	return f->code->steps.at[f->pc - 1].ref;
}

static void
note_reads(struct cj_async *a, const struct cj_frame *f, uint32_t object,
    int64_t first, int64_t count)
{
	int64_t unit = UNIT_BITS / cj_kind_bits(
	    f->code->module->objects.at[object].element), i;

	for (i = first / unit; i * unit < first + count; i++) {
		a->reads[object][i * a->warps + f->warp] =
		    f->proxy_fences + 1;
		a->reader[object][i * a->warps + f->warp] = now(f);
	}
}

void
cj_proxy_read(struct cj_frame *f, uint32_t object, int64_t first,
    int64_t count)
{
	struct cj_async *a = f->machine->async;

	if (a->reads != NULL && a->reads[object] != NULL && count > 0)
		note_reads(a, f, object, first, count);
}

void
cj_proxy_note(struct cj_frame *f, uint32_t object, int64_t first,
    int64_t count)
{
	uint32_t *at = f->machine->async->generic[object];
	int64_t i;

	for (i = 0; at != NULL && i < count; i++) {
		at[first + i] = f->proxy_fences * CJ_LANES_WARP + f->warp + 1;
		f->machine->async->storer[object][first + i] = now(f);
		f->machine->async->landed[object][first + i] = 0;
	}
}

void
cj_proxy_landed(struct cj_frame *f, const struct cj_step *copy,
    uint32_t object, int64_t first, int64_t count)
{
	struct cj_async *a = f->machine->async;
	int64_t i;

	cj_proxy_note(f, object, first, count);
	a->landings++;
	for (i = 0; a->generic[object] != NULL && i < count; i++) {
		a->landed[object][first + i] = a->landings;
		a->storer[object][first + i] = copy->ref;
	}
}

void
cj_proxy_fence(struct cj_frame *f)
{
	f->proxy_fences++;
	if (f->machine->async != NULL)
		f->fenced = f->machine->async->landings;
}

/* Is what was stored there behind a fence: of who stored, or, where a copy has
 * landed, of who looks? */
static bool
is_fenced(const struct cj_frame *f, uint32_t object, int64_t e)
{
	const struct cj_async *a = f->machine->async;
	uint32_t by = a->generic[object][e] - 1, landed = a->landed[object][e];

	return f->machine->block->frames[by % CJ_LANES_WARP].proxy_fences !=
	    by / CJ_LANES_WARP || (landed != 0 && landed <= f->fenced);
}

static bool
overwrites(const struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_module *m = f->code->module;

	return s->op == CJ_OP_TMA_LOAD || (s->op == CJ_OP_BULK_COPY &&
	    m->objects.at[m->accesses.at[m->bulks.at[cj_step_inst(f,
	    s)->attr].from].object].kind != CJ_OBJECT_SHARED);
}

/* Where the thread itself has read or stored. */
static void
note_access(struct cj_fault *fault, cj_ref at, const char *note)
{
	if (fault == NULL)
		return;
	fault->other = at;
	fault->note = note;
}

void
cj_check_proxy(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    uint32_t object, int64_t lo, int64_t hi, enum cj_map_swizzle swizzle)
{
	const uint32_t *at = f->machine->async->generic[object];
	const struct cj_object *o = &f->code->module->objects.at[object];
	int64_t i, e;

	for (i = lo; i < hi; i++) {
		e = cj_swizzled(swizzle, o->element, i);
		if (e < 0 || e >= o->extent || at[e] == 0 ||
		    is_fenced(f, object, e))
			continue;
		note_access(cj_fault_at(f, s, lane, CJ_DIAG_IN_FLIGHT,
		    "%s \"%s\" at element %lld" CJ_WHO ", which warp "
		    "%u has stored with no fence(proxy = .async) behind",
		    s->op == CJ_OP_WGMMA || s->op == CJ_OP_TCGEN05_MMA ?
		    "a product reads" :
		    overwrites(f, s) ? "a copy overwrites" : "a copy reads",
		    o->name,
		    (long long)e, (unsigned)((at[e] - 1) % CJ_LANES_WARP)),
		    f->machine->async->storer[object][e], "it is stored here");
		return;
	}
}

/* ---- overwriting --------------------------------------------------------- */

static void
report_read(struct cj_frame *f, const struct cj_bulk *b, int64_t element,
    uint32_t warp, cj_ref reader)
{
	note_access(cj_fault_at(f, b->step, b->lane, CJ_DIAG_IN_FLIGHT,
	    "a copy overwrites \"%s\" at element %lld" CJ_WHO ", which warp "
	    "%u has read with no fence(proxy = .async) behind",
	    f->code->module->objects.at[b->object].name, (long long)element,
	    (unsigned)warp), reader, "it is read here");
}

void
cj_check_overwrite(struct cj_frame *f, const struct cj_bulk *b)
{
	struct cj_async *a = b->owner->async;
	const struct cj_object *o = &f->code->module->objects.at[b->object];
	int64_t unit = UNIT_BITS / cj_kind_bits(o->element), i, e;
	bool reported = false;
	uint32_t *at, w;

	if (b->owner == f->machine)
		cj_check_proxy(f, b->step, b->lane, b->object, b->lo, b->hi,
		    b->swizzle);
	for (i = b->lo; i < b->hi && a->reads != NULL; i += unit) {
		e = cj_swizzled(b->swizzle, o->element, i);
		at = &a->reads[b->object][e / unit * a->warps];
		for (w = 0; w < a->warps; w++) {
			if (at[w] != 0 && !reported && at[w] == b->owner->
			    block->frames[w].proxy_fences + 1) {
				report_read(f, b, e, w, a->reader[b->object][
				    e / unit * a->warps + w]);
				reported = true;
			}
			at[w] = 0;
		}
	}
}

void
cj_proxy_clear(struct cj_frame *f)
{
	const struct cj_module *m = f->code->module;
	struct cj_async *a = f->machine->async;
	uint32_t o;

	for (o = 1; o < m->objects.len; o++) {
		if (a->generic[o] == NULL)
			continue;
		memset(a->generic[o], 0, (size_t)m->objects.at[o].extent *
		    sizeof *a->generic[o]);
		if (a->reads != NULL)
			memset(a->reads[o], 0, cj_proxy_units(m, o) *
			    a->warps * sizeof *a->reads[o]);
	}
}
