/*
 * What is said of a lane's access that is wrong: outside its object, without
 * the right to it, not aligned, of what nobody has written.
 *
 * interp_vectors.c finds these; nothing here runs while all goes well.
 */
#include "interp_vectors.h"

const char *
cj_vectors_name(struct cj_frame *f, const struct cj_vectors *v)
{
	if (v->object->name != NULL)
		return v->object->name;
	return cj_printf(f->machine->arena, "object %u", (unsigned)v->number);
}

static void
add_layout(struct cj_frame *f, const struct cj_vectors *v,
    struct cj_fault *fault)
{
	if (fault != NULL && v->object->layout != NULL)
		fault->note = cj_printf(f->machine->arena,
		    "the layout of \"%s\" is %s", cj_vectors_name(f, v),
		    v->object->layout);
}

void
cj_report_outside(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane, const char *verb)
{
	const struct cj_memory *m = v->memory;
	int64_t at = v->offset[lane];

	if (!(f->machine->checks & CJ_CHECK_BOUNDS))
		return;
	if (cj_fault_is_known(f, s) ||
	    cj_fault_again(f, s, CJ_DIAG_OUT_OF_BOUNDS))
		return;
	if (at >= m->lo && at < m->hi)
		at = m->hi;		/* its first elements are inside */
	if (m->hi <= m->lo)
		add_layout(f, v, cj_fault_at(f, s, lane,
		    CJ_DIAG_OUT_OF_BOUNDS,
		    "\"%s\" is %s at %s, but has no elements",
		    cj_vectors_name(f, v), verb, cj_where(f, v->number, at)));
	else
		add_layout(f, v, cj_fault_at(f, s, lane,
		    CJ_DIAG_OUT_OF_BOUNDS,
		    "\"%s\" is %s at %s, outside %lld..%lld",
		    cj_vectors_name(f, v), verb, cj_where(f, v->number, at),
		    (long long)m->lo, (long long)m->hi));
}

void
cj_report_misaligned(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane)
{
	if (cj_fault_again(f, s, CJ_DIAG_MISALIGNED_ACCESS))
		return;
	cj_fault_at(f, s, lane, CJ_DIAG_MISALIGNED_ACCESS,
	    "\"%s\" is touched at %s, which is not aligned to the "
	    "%u bytes that were promised", cj_vectors_name(f, v),
	    cj_where(f, v->number, v->offset[lane]), (unsigned)v->align);
}

void
cj_report_right(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane, bool writes)
{
	cj_fault_at(f, s, lane, CJ_DIAG_MISSING_RIGHT,
	    "\"%s\" is %s at element %lld, but may only be %s",
	    cj_vectors_name(f, v), writes ? "written" : "read",
	    (long long)v->offset[lane], writes ? "read" : "written");
}

void
cj_report_unwritten(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane, int64_t at)
{
	if (cj_fault_again(f, s, CJ_DIAG_NEVER_WRITTEN))
		return;
	add_layout(f, v, cj_fault_at(f, s, lane, CJ_DIAG_NEVER_WRITTEN,
	    "\"%s\" is read at %s, which nobody has written%s",
	    cj_vectors_name(f, v), cj_where(f, v->number, at),
	    v->object->freed != 0 ? " since its stage was empty" : ""));
}
