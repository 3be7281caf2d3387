/*
 * Tensor memory of a block: what is allocated, who touched which element last,
 * and what each warp has in flight there.
 *
 * Loads and stores of a warp, and the products and copies that it issues, are
 * units (interp_priv.h): others learn of what a unit has done by
 *
 *	loads, stores	tcgen05_wait(), fence(.before_thread_sync), then what
 *			orders threads
 *	products	the mbarrier of their commit
 *
 * and may rely on it behind fence(.after_thread_sync). A mark says which unit
 * of which warp, in which of its intervals: 0 is nobody.
 */
#ifndef CJ_INTERP_TMEM_H
#define CJ_INTERP_TMEM_H

#include "interp_tma.h"

/* In the order of CJ_UNIT_TMEM_LOAD and on. */
enum cj_tmem_unit { CJ_TMEM_LOADS, CJ_TMEM_STORES, CJ_TMEM_PRODUCTS,
    CJ_TMEM_UNITS };

typedef uint32_t cj_tmem_mark;

struct cj_tmem_warp {
	uint32_t open[CJ_TMEM_UNITS];	/* interval of what is issued now */
	uint32_t done[CJ_TMEM_UNITS];	/* last one that has been waited for */
	uint32_t waited;		/* the warp's own interval then */
	const struct cj_past *known[2];	/* behind a fence of all lanes, of
					   some */
	uint32_t issuer;		/* lane of products not committed */
	cj_ref issued;			/* one of them; 0: none */
};

/* Last use of an object by a unit of a warp. */
struct cj_tmem_last {
	cj_ref ref;
	uint32_t interval;
};

struct cj_tmem_object {
	bool is_allocated;
	uint32_t column;		/* of the first */
	cj_ref allocated, freed;
	int64_t row;			/* elements of a lane */
	/* by element; readers: `slots` of them */
	cj_tmem_mark *writer, *readers;
	cj_ref *writer_ref, *reader_ref;
	struct cj_tmem_last last[CJ_TMEM_UNITS][CJ_LANES_WARP];
};

/* Where a register of a load or store is, from the instruction's place on. */
struct cj_tmem_spot {
	uint16_t lane, element;
};

struct cj_tmem {
	struct cj_tmem_object *objects;	/* by object; row 0: is none */
	uint32_t taken;			/* 32 columns a bit */
	cj_ref relinquished;		/* 0: not yet */
	uint32_t slots;
	struct cj_tmem_warp warps[CJ_LANES_WARP];
	struct cj_tmem_spot **spots;	/* by use: elements * lanes */
	struct cj_tcgen05_room *room;	/* of one product */
};

/* An access of elements by a unit. */
struct cj_tmem_access {
	struct cj_frame *f;
	const struct cj_step *s;
	uint32_t lane, object;
	struct cj_tmem_object *o;
	enum cj_tmem_unit unit;
	bool writes, reads;		/* both: adds to it */
	int64_t lane0, element0;	/* where it begins */
	cj_tmem_mark fine;		/* seen last, in order */
};

/* NULL: the code has none. */
struct cj_tmem *cj_tmem_create(struct cj_arena *a, const struct cj_decoded *c,
    uint32_t warps);
void cj_tmem_clear(struct cj_block *b);
/* The block ends: is anything allocated or in flight? */
void cj_tmem_end(struct cj_block *b);
/* fence(.before_thread_sync), or .after_... */
void cj_tmem_fence(struct cj_frame *f, bool before);
/* Begin at `offset` of an object; false: it is not allocated, reported. */
bool cj_tmem_begin(struct cj_tmem_access *a, uint32_t access, int64_t offset);
/* The element that is so many lanes and elements further; -1: outside, or not
 * to be read: reported. */
int64_t cj_tmem_at(struct cj_tmem_access *a, int64_t lane, int64_t element);
/* Has another warp's use of an object ended, for this one? */
bool cj_tmem_is_over(const struct cj_frame *f, const struct cj_tmem_last *l,
    enum cj_tmem_unit u, uint32_t warp);
/* Nobody has touched it. */
void cj_tmem_forget(struct cj_tmem *t, struct cj_tmem_object *o);
struct cj_unit cj_tmem_as_unit(enum cj_tmem_unit u, uint32_t warp,
    uint32_t interval);

static inline struct cj_tmem_warp *
cj_tmem_self(const struct cj_frame *f)
{
	return &f->machine->tmem->warps[f->warp];
}

static inline const char *
cj_tmem_name(const struct cj_frame *f, uint32_t object)
{
	const char *name = f->code->module->objects.at[object].name;

	return name != NULL ? name : "tensor memory";
}

#endif
