/*
 * Roles: the warps that have none of a region's business go around it.
 */
#include "interp_priv.h"

/* a, b: the first warp, and the first one behind; target: behind the region */
static void
step_role(struct cj_frame *f, const struct cj_step *s)
{
	if (f->warp < s->a || f->warp >= s->b)
		f->pc = s->c;
}

void
cj_interp_ROLE(struct cj_decoder *d, cj_ref r)
{
	const struct cj_inst *i = cj_inst(d->module, r);
	const struct cj_role *role = &d->module->roles.at[i->attr];
	uint32_t first = cj_decode_pc(d);
	struct cj_step *s = cj_step_add(d, r, step_role);

	s->a = role->first;
	s->b = role->first + role->warps;
	cj_decode_region(d, i->region);
	cj_decode_at(d, first)->c = cj_decode_pc(d);
}

/* How many registers a thread has changes nothing of what it computes. */
static void
step_registers(struct cj_frame *f, const struct cj_step *s)
{
	cj_warp_needed(f, s);
}

void
cj_interp_REGISTERS_DOWN(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_registers);
}

void
cj_interp_REGISTERS_UP(struct cj_decoder *d, cj_ref r)
{
	cj_step_add(d, r, step_registers);
}
