/*
 * Copies by cp.async from global to shared memory, and sync(), which waits for
 * them.
 *
 * Both views are cut into the same vectors, of exactly the elements that the
 * atom copies: a copy never takes a narrower way silently. A guard of the
 * source is the mask of a copy, which fills with zeros.
 */
#include "elab_access.h"

static bool
refuse(struct cj_elab *el, const struct cj_pieces *p, const char *what,
    const struct cj_async_how *how)
{
	cj_help(cj_elab_report(el, CJ_DIAG_UNALIGNED_COPY, p->span,
	    "%s allows accesses of %u bytes, the copy takes %u at once: %s",
	    what, cj_pieces_bytes(p), how->count * p->bits / 8, p->why != NULL ?
	    p->why : "no more neighbours lie next to each other"),
	    "%s Or take %s.", cj_pieces_help(p, "State the alignment in the "
	    "contract, align(16), or choose a layout whose rows go along with "
	    "the copy."), cj_pieces_atom(el, p, true));
	return false;
}

static bool
make_plan(struct cj_elab *el, struct cj_pieces *p, struct cj_span span,
    const struct cj_tensor *t, const struct cj_async_how *how)
{
	bool is_shared = el->m->objects.at[t->object].kind ==
	    CJ_OBJECT_SHARED;

	if (!cj_tensor_may_touch(el, span, t, is_shared) ||
	    !cj_pieces_make(el, p, span, t))
		return false;
	if (p->width < how->count)
		return refuse(el, p, is_shared ? "the destination" :
		    "the source", how);
	cj_pieces_narrow(p, how->count);
	return true;
}

static bool
places_fit(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *src, const struct cj_tensor *dst)
{
	enum cj_object_kind from = el->m->objects.at[src->object].kind;
	const char *wrong = NULL;

	if (el->m->objects.at[dst->object].kind != CJ_OBJECT_SHARED)
		wrong = "cp_async writes shared memory alone";
	else if (from == CJ_OBJECT_SHARED || from == CJ_OBJECT_TABLE)
		wrong = "cp_async reads global memory alone";
	else if (dst->is_remote)
		wrong = "cp_async writes the memory of its own block alone";
	else if (cj_tensor_is_guarded(dst))
		wrong = "cp_async writes its destination whole; guard the "
		    "source";
	if (wrong != NULL)
		cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span, "%s", wrong);
	return wrong == NULL;
}

static bool
types_fit(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *src, const struct cj_tensor *dst)
{
	if (src->element == dst->element)
		return true;
	cj_elab_report(el, CJ_DIAG_MIXED_TYPES, span,
	    "cp_async converts nothing: the source has elements of %s, the "
	    "destination of %s", cj_kind_text(src->element),
	    cj_kind_text(dst->element));
	return false;
}

/* Outside a guard are zeros, and nothing else. */
static bool
fill_fits(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *src)
{
	struct cj_value v;

	if (!cj_tensor_is_guarded(src))
		return true;
	if (src->has_fill) {
		v = cj_elab_coerce(el, span, src->element, *src->fill);
		if (v.kind == CJ_VALUE_ERROR)
			return false;
		if (v.kind == CJ_VALUE_SCALAR && v.bits == 0)
			return true;
		if (v.kind == CJ_VALUE_INT && cj_is_value(v.i, 0))
			return true;
	}
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span,
	    "cp_async fills with 0 alone"),
	    "Guard the source with fill = 0, or copy by universal_copy.");
	return false;
}

/* The same elements in each vector of both. */
static bool
vectors_fit(struct cj_elab *el, struct cj_span span, const struct cj_pieces *a,
    const struct cj_pieces *b)
{
	uint32_t r;

	if (a->count != b->count) {
		cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
		    "the source has %u elements, the destination %u",
		    a->count, b->count);
		return false;
	}
	for (r = 0; r < a->count; r++)
		if (a->start[r] != b->start[r] || a->lane[r] != b->lane[r]) {
			cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
			    "neighbours of the source are no neighbours in "
			    "the destination");
			return false;
		}
	return true;
}

static bool
copy_one(struct cj_elab *el, const struct cj_pieces *from,
    const struct cj_pieces *to, uint32_t r, uint32_t copy)
{
	cj_ref refs[3];

	refs[0] = cj_pieces_offset(el, to, r);
	refs[1] = cj_pieces_offset(el, from, r);
	cj_pieces_watch(el, to, r, 0);
	if (!cj_pieces_mask(el, from, r, &refs[2]))
		return false;
	cj_pieces_watch(el, from, r, refs[2]);
	cj_emit(&el->em->b, CJ_OP_CP_ASYNC, 0, copy, refs,
	    refs[2] == 0 ? 2 : 3);
	return true;
}

static uint32_t
access_of(struct cj_elab *el, const struct cj_pieces *p)
{
	struct cj_access a = { .object = p->t->object,
	    .align = cj_pieces_align(p) };

	return cj_module_access(el->m, &a);
}

bool
cj_tensor_copy_async(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *src, const struct cj_tensor *dst,
    const struct cj_async_how *how)
{
	struct cj_copy c = { .count = how->count, .cache = how->cache,
	    .prefetch = how->prefetch };
	struct cj_pieces from, to;
	uint32_t copy, r;

	if (!places_fit(el, span, src, dst) || !types_fit(el, span, src, dst)
	    || !fill_fits(el, span, src) ||
	    !make_plan(el, &from, span, src, how) ||
	    !make_plan(el, &to, span, dst, how) ||
	    !vectors_fit(el, span, &from, &to))
		return false;
	el->m->objects.at[src->object].reads = true;
	el->m->objects.at[dst->object].writes = true;
	c.to = access_of(el, &to);
	c.from = access_of(el, &from);
	cj_elab_warp_access(el, &from);
	cj_elab_warp_access(el, &to);
	copy = cj_module_copy(el->m, &c);
	el->em->copies_async = true;
	for (r = 0; r < from.count; r++)
		if (from.start[r] == r && !copy_one(el, &from, &to, r, copy))
			return false;
	return true;
}

/* ---- sync() -------------------------------------------------------------- */

struct cj_value
cj_builtin_sync(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_sync *s = cj_push(el->arena, &el->em->syncs);

	(void)args;
	(void)row;
	s->region = el->em->b.region;
	cj_elab_meet(el, 0, "sync()");
	s->barrier = cj_emit0(&el->em->b, CJ_OP_BARRIER, 0, 0);
	return cj_value_none();
}

/* A barrier cannot know whether a copy follows it in a loop, so this is done
 * when all are known. */
void
cj_elab_sync_copies(struct cj_elab *el)
{
	struct cj_builder b = el->em->b;
	uint32_t i;

	if (!el->em->copies_async)
		return;
	for (i = 0; i < el->em->syncs.len; i++) {
		b.region = el->em->syncs.at[i].region;
		b.before = el->em->syncs.at[i].barrier;
		b.place = cj_inst(el->m, b.before)->place;
		cj_emit0(&b, CJ_OP_CP_WAIT, 0, CJ_WAIT_ALL);
	}
}
