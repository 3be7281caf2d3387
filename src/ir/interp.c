/*
 * The executor's loop: frames, their first contents, and the steps one after
 * the other until the frame ends, stops or waits.
 */
#include "interp_priv.h"

uint64_t
cj_reg_get(const void *at, size_t i, enum cj_kind k)
{
	bool is_signed = cj_kind_is_signed(k);

	switch (cj_reg_bytes(k)) {
	case 1:
		return is_signed ? (uint64_t)((const int8_t *)at)[i]
		    : ((const uint8_t *)at)[i];
	case 2:
		return is_signed ? (uint64_t)((const int16_t *)at)[i]
		    : ((const uint16_t *)at)[i];
	case 4:
		return is_signed ? (uint64_t)((const int32_t *)at)[i]
		    : ((const uint32_t *)at)[i];
	}
	return ((const uint64_t *)at)[i];
}

void
cj_reg_set(void *at, size_t i, enum cj_kind k, uint64_t bits)
{
	switch (cj_reg_bytes(k)) {
	case 1:
		((uint8_t *)at)[i] = (uint8_t)bits;
		return;
	case 2:
		((uint16_t *)at)[i] = (uint16_t)bits;
		return;
	case 4:
		((uint32_t *)at)[i] = (uint32_t)bits;
		return;
	}
	((uint64_t *)at)[i] = bits;
}

/* ---- masks --------------------------------------------------------------- */

void
cj_mask_changed(struct cj_frame *f)
{
	const uint64_t *word = CJ_AT(f, uint64_t, CJ_FRAME_MASK);
	uint64_t some = 0, all = UINT64_MAX;
	uint32_t i;

	if (f->lanes < 8) {
		f->full = f->any = f->regs[CJ_FRAME_MASK] != 0;
		return;
	}
	for (i = 0; i < f->lanes / 8; i++) {
		some |= word[i];
		all &= word[i];
	}
	f->any = some != 0;
	f->full = all == 0x0101010101010101u;
}

/* ---- frames -------------------------------------------------------------- */

/* The first value register of leaf `leaf` among the launch's values. */
static const uint64_t *
leaf_bits(const struct cj_machine *m, const struct cj_function *fn,
    uint32_t leaf)
{
	const uint64_t *at = m->values;
	uint32_t i;

	if (fn->kind == CJ_FUNCTION_HOST)
		return at + leaf;
	for (i = 0; i < leaf; i++)
		if (fn->leaves.at[i].kind != CJ_LEAF_OBJECT)
			at += cj_type_count(fn->leaves.at[i].type);
	return at;
}

void
cj_reg_fill(void *at, size_t count, enum cj_kind k, uint64_t bits)
{
	size_t i;

	switch (cj_reg_bytes(k)) {
	case 1:
		memset(at, (int)(bits & 0xff), count);
		return;
	case 2:
		for (i = 0; i < count; i++)
			((uint16_t *)at)[i] = (uint16_t)bits;
		return;
	case 4:
		for (i = 0; i < count; i++)
			((uint32_t *)at)[i] = (uint32_t)bits;
		return;
	}
	for (i = 0; i < count; i++)
		((uint64_t *)at)[i] = bits;
}

/* The registers of a value, the same in all lanes. */
static void
spread(const struct cj_frame *f, uint32_t offset, cj_type t,
    const uint64_t *bits)
{
	enum cj_kind k = cj_type_kind(t);
	size_t row = (size_t)cj_reg_bytes(k) * f->lanes;
	uint32_t r;

	for (r = 0; r < cj_type_count(t); r++)
		cj_reg_fill(f->regs + offset + r * row, f->lanes, k, bits[r]);
}

static void
set_parameter(struct cj_frame *f, const struct cj_preset *p)
{
	const struct cj_module *m = f->code->module;
	const struct cj_function *fn = &m->functions.at[f->code->function];
	const struct cj_inst *i = cj_inst(m, p->ref);
	const struct cj_leaf *leaf = &fn->leaves.at[i->attr];
	uint64_t address = 0;

	assert(i->attr < fn->leaves.len);
	if (leaf->kind != CJ_LEAF_OBJECT) {
		spread(f, p->offset, i->type,
		    leaf_bits(f->machine, fn, i->attr));
		return;
	}
	if (f->machine->memory != NULL)
		address = (uint64_t)(uintptr_t)
		    f->machine->memory[leaf->object].data;
	spread(f, p->offset, i->type, &address);
}

void
cj_frame_init(struct cj_frame *f, const struct cj_decoded *c,
    struct cj_machine *m, char *regs)
{
	uint32_t i;

	assert(((uintptr_t)regs & 7) == 0);
	memset(f, 0, sizeof *f);
	f->regs = regs;
	f->code = c;
	f->machine = m;
	f->lanes = c->lanes;
	for (i = 0; i < c->presets.len; i++) {
		const struct cj_preset *p = &c->presets.at[i];
		const struct cj_constant *k = cj_constant_of(c->module,
		    p->ref);

		if (k != NULL)
			spread(f, p->offset, k->type, k->bits);
		else
			set_parameter(f, p);
	}
}

void
cj_frame_start(struct cj_frame *f, uint32_t count)
{
	uint8_t *mask = cj_mask(f, CJ_FRAME_MASK);
	uint32_t i;

	assert(count <= f->lanes);
	for (i = 0; i < f->lanes; i++)
		mask[i] = i < count;
	memcpy(cj_mask(f, f->code->unfinished), mask, f->lanes);
	cj_mask_changed(f);
	f->pc = 0;
	f->steps = f->looped = f->looped_open = f->turns = 0;
	f->quantum = UINT64_MAX;
	f->traced_source = f->traced_line = 0;
	f->now = f->product_end = 0;
	f->state = f->any ? CJ_STATE_READY : CJ_STATE_ENDED;
}

/* The same, counting and showing what runs. */
static void
run_watched(struct cj_frame *f)
{
	const struct cj_step *steps = f->code->steps.at;
	const struct cj_machine *m = f->machine;
	uint64_t count = 0;

	do {
		const struct cj_step *s = &steps[f->pc++];

		count++;
		if (m->profile != NULL)
			cj_count_step(f, s);
		if (m->timeline != NULL)
			cj_timeline_step(f, s);
		if (m->trace != NULL)
			cj_trace_before(f, s);
		if (f->state == CJ_STATE_STOPPED)
			break;
		s->run(f, s);
		if (m->trace != NULL)
			cj_trace_after(f, s);
	} while (f->state == CJ_STATE_READY && count < f->quantum);
	f->steps += count;
}

void
cj_frame_run(struct cj_frame *f)
{
	const struct cj_step *steps = f->code->steps.at;
	uint64_t count = 0;

	if (f->machine->profile != NULL || f->machine->trace != NULL ||
	    f->machine->timeline != NULL) {
		run_watched(f);
		return;
	}
	assert(f->state == CJ_STATE_READY && f->pc < f->code->steps.len);
	do {
		const struct cj_step *s = &steps[f->pc++];

		count++;
		s->run(f, s);
	} while (f->state == CJ_STATE_READY && count < f->quantum);
	f->steps += count;
}

bool
cj_is_halted(const struct cj_machine *m)
{
	return (m->halt != NULL && *m->halt)
	    || (m->cancel != NULL && atomic_load_explicit(m->cancel,
	    memory_order_relaxed) != 0);
}

void
cj_frame_stop(struct cj_frame *f)
{
	f->state = CJ_STATE_STOPPED;
	f->machine->stop = true;
	if (f->machine->halt != NULL)
		*f->machine->halt = 1;
}
