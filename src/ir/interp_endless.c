/*
 * Loops that can be seen to never end.
 *
 * A loop that touches nothing but the frame that it runs in, and reads at most
 * memory that nobody writes meanwhile, does the same again once the frame is
 * what it was at the end of an earlier turn. Now and then a turn's end keeps a
 * copy of the frame and later ones are compared with it, each time the count of
 * turns has doubled with a new one (Brent), so that cycles of any length are
 * found. What does not come round, as a counter that misses its bound, is left
 * to the limit of operations.
 */
#include "interp_priv.h"

/* Loads of a test's own thread see what it wrote; those of kernels what others
 * may write. */
static bool
stays_in_frame(const struct cj_decoder *d, cj_ref r)
{
	enum cj_op op = cj_inst(d->module, r)->op;
	const struct cj_op_info *info = &cj_op_info[op];

	switch (info->effects) {
	case CJ_EFFECTS_PURE:
		return info->level != CJ_LEVEL_TEST;
	case CJ_EFFECTS_REGION:
	case CJ_EFFECTS_EXIT:
		return info->level == CJ_LEVEL_BOTH;
	case CJ_EFFECTS_READ:
		return op == CJ_OP_SLOT_GET ||
		    (op == CJ_OP_LOAD && d->code->lanes == CJ_LANES_ONE);
	case CJ_EFFECTS_WRITE:
		return op == CJ_OP_SLOT_SET;
	case CJ_EFFECTS_IO:
		return op == CJ_OP_INSIDE;
	case CJ_EFFECTS_SYNC:
		return false;
	}
	return false;
}

bool
cj_loop_is_closed(const struct cj_decoder *d, cj_region body)
{
	struct cj_walk w;

	for (w = cj_walk_begin(d->module, body); cj_walk_next(&w);)
		if (w.event == CJ_WALK_INST && !stays_in_frame(d, w.ref))
			return false;
	return true;
}

void
cj_loop_enter(struct cj_frame *f, uint32_t loop)
{
	if (f->seen.loop == loop)
		f->seen.loop = 0;
}

bool
cj_loop_repeats(struct cj_frame *f, uint32_t loop)
{
	size_t bytes = f->code->frame_bytes;

	if (f->seen.loop == loop && memcmp(f->seen.regs, f->regs, bytes) == 0)
		return true;
	if (f->seen.loop == loop && f->turns < f->seen.turns * 2)
		return false;
	if (f->seen.regs == NULL)
		f->seen.regs = cj_alloc(f->machine->arena, bytes);
	memcpy(f->seen.regs, f->regs, bytes);
	f->seen.loop = loop;
	f->seen.turns = f->turns;
	return false;
}
