/*
 * Vectors at offsets in elements, one of each lane: what accesses of memory
 * share. interp_vectors.c has them, interp_bounds.c what is said of wrong ones.
 */
#ifndef CJ_INTERP_VECTORS_H
#define CJ_INTERP_VECTORS_H

#include "interp_priv.h"

/* What the lanes of an access touch. */
struct cj_vectors {
	const struct cj_memory *memory;
	const struct cj_block *block;	/* whose it is, where it is shared */
	const struct cj_object *object;
	uint32_t number;		/* of the object */
	enum cj_kind kind;
	uint32_t width;			/* elements per lane */
	uint32_t bytes;			/* of an element; 0: packed */
	uint32_t align;
	const int64_t *offset;		/* by lane */
	const uint8_t *mask;		/* of the access; NULL: all */
};

/* Of a step whose a is the offset; `mask` is a place of masks or
 * CJ_NO_OFFSET. */
struct cj_vectors cj_vectors_of(struct cj_frame *f, const struct cj_step *s,
    uint32_t mask);

static inline bool
cj_vectors_take_part(const struct cj_frame *f, const struct cj_vectors *v,
    uint32_t lane)
{
	return cj_lane_runs(f, lane)
	    && (v->mask == NULL || v->mask[lane]);
}

static inline bool
cj_vectors_are_aligned(const struct cj_vectors *v, int64_t offset)
{
	return v->bytes == 0 || v->align <= v->bytes
	    || ((uintptr_t)v->memory->data
	    + (uintptr_t)offset * v->bytes) % v->align == 0;
}

/* ---- may it? ------------------------------------------------------------- */

/* Inside, allowed and aligned? Faults; only the last one does not forbid. */
bool cj_vectors_may_read(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane);
bool cj_vectors_may_write(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane);
/* Has somebody written all that is read? Faults. */
void cj_vectors_check_written(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane);

/* ---- moving -------------------------------------------------------------- */

/* Elements of one vector from pace to pace, in elements. */
void cj_vectors_move(const struct cj_vectors *v, char *to, size_t to_step,
    const char *from, size_t from_step);
/* From memory to dst. */
void cj_vectors_fetch(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane);
/* From b to memory. */
void cj_vectors_deposit(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane);
/* An atomic operation, with b as value and c as what is expected; lanes of a
 * step publish the same, which begins as NULL. */
void cj_vectors_update(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane,
    const struct cj_past **published);
/* From the registers of another value to dst, or 0 (CJ_NO_OFFSET). */
void cj_vectors_fill(struct cj_frame *f, const struct cj_step *s,
    uint32_t from, uint32_t lane);

static inline void
cj_memory_mark(const struct cj_memory *m, int64_t at, size_t count,
    enum cj_written mark)
{
	if (m->written != NULL)
		memset(m->written + (at - m->lo), mark, count);
}

/* What a step stores is operand n of r. */
void cj_decode_stored(struct cj_decoder *d, struct cj_step *s, cj_ref r,
    unsigned n);

/* ---- what others are told ------------------------------------------------ */

struct cj_touched_range cj_vectors_touched(struct cj_frame *f,
    const struct cj_step *s, const struct cj_vectors *v, uint32_t lane);
/* Races are looked for. */
void cj_vectors_watch(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane);
/* Reports what meets a copy in flight. */
bool cj_vectors_meet_copy(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane);
/* What an access of the first lanes costs, on demand. */
void cj_vectors_count(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lanes);

/* ---- wrong accesses (interp_bounds.c) ------------------------------------ */

const char *cj_vectors_name(struct cj_frame *f, const struct cj_vectors *v);
void cj_report_outside(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane, const char *verb);
void cj_report_misaligned(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane);
void cj_report_right(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane, bool writes);
void cj_report_unwritten(struct cj_frame *f, const struct cj_step *s,
    const struct cj_vectors *v, uint32_t lane, int64_t at);

#endif
