/*
 * Between the files that lower pipelines: what is known before rewriting.
 */
#ifndef CJ_LOWER_PRIV_H
#define CJ_LOWER_PRIV_H

#include "ir_priv.h"

/* ---- where pipelines are used (lower_site.c) ----------------------------- */

/* Who reads and writes a field: a mask. LANE: stores, in produce blocks of the
 * role's first lane. */
enum { CJ_BY_THREAD = 1, CJ_BY_COPY = 2, CJ_BY_TMA = 4, CJ_BY_WGMMA = 8,
    CJ_BY_LANE = 16 };

/* A pipeline; by role (of the module, 0: outside of roles). */
struct cj_channel {
	bool is_channel;		/* it has mbarriers */
	uint8_t *writes, *reads;	/* engines */
	bool *produces, *consumes;
};

struct cj_sites {
	struct cj_module *m;
	uint32_t function;
	uint32_t count;		/* of instructions, when this was found */
	cj_region *home;	/* by instruction: the region it stands in */
	cj_ref *stage_of;	/* by value: the block whose stage it is made
				   of, 0: none */
	uint32_t *role_of;	/* by instruction */
	uint32_t *owner;	/* by object: its pipeline, 0: none */
	struct cj_channel *channels;	/* by pipeline */
	bool has_roles;
};
void cj_sites_find(struct cj_sites *s, struct cj_module *m,
    uint32_t function);
/* Does it stand in a produce block of one lane? */
bool cj_site_is_lane(const struct cj_sites *s, cj_ref r);
/* The block whose stage touch n of an instruction (cj_touches) is in. */
cj_ref cj_site_of(const struct cj_sites *s, cj_ref r, unsigned n);

/* ---- rings (lower_flow.c) ------------------------------------------------ */

/* What must stand in front of an instruction. */
struct cj_need {
	int wait;		/* groups that may stay open; -1: no wait */
	int stores;		/* the same of the leading lane's stores */
	bool barrier;
};

/* Acquire the next stage of a pipeline in front of an instruction already. */
struct cj_move {
	cj_ref at;
	uint32_t pipeline;
	bool is_on;
};

/* A role while it is lowered; [0] is what is outside of roles. */
struct cj_lower_role {
	cj_ref op;
	cj_region region;
	uint32_t first, warps;
	uint32_t barrier;	/* number of its own; 0: not given yet */
	bool is_single;		/* one lane does all of it */
	bool has_stores;	/* of rings, by TMA */
};

struct cj_lower {
	struct cj_module *m;
	struct cj_sites s;
	bool *has_copies;	/* by pipeline: fills come by cp.async */
	bool **moves;		/* by region of a stage op or loop: pipelines
				   that it fills or reads; NULL: none */
	CJ_VEC(struct cj_move) tries;
	struct cj_need *needs;	/* by instruction, of the last analysis */
	struct cj_lower_steps *steps;	/* what an analysis looks at */
	uint64_t walked;	/* of them, by all analyses */
	struct cj_lower_role *roles;	/* by role of the module */
	uint32_t barriers_taken;	/* bits: numbers in use */
	cj_region init;			/* of the lane that makes mbarriers */
	cj_ref init_barrier;		/* behind it */
	bool is_far;			/* other blocks arrive there */
};

/* Before the first analysis, once `s` and `has_copies` are known. */
void cj_lower_begin_analyses(struct cj_lower *l);
/* Fill `needs`; the result is what they cost. */
uint64_t cj_lower_analyse(struct cj_lower *l);

static inline const struct cj_stage_use *
cj_lower_use(const struct cj_lower *l, cj_ref r)
{
	return &l->m->stage_uses.at[cj_inst(l->m, r)->attr];
}

/* ---- pieces (lower_emit.c) ----------------------------------------------- */

struct cj_builder cj_lower_at(const struct cj_lower *l, cj_region region,
    cj_ref before, cj_ref like);
/* A place in a region behind its index. */
cj_ref cj_lower_first(const struct cj_module *m, cj_region g);
/* bool: the lane of a role that issues; lane 0 of any warp */
cj_ref cj_lower_is_leader(const struct cj_lower *l, struct cj_builder *b,
    uint32_t role);
cj_ref cj_lower_is_lane0(struct cj_builder *b);
/* An `if` in front of where the builder is; the builder goes into it. */
cj_ref cj_lower_if(struct cj_builder *b, cj_ref condition);
/* If only the role's leader is to do what is emitted next. Nothing where one
 * lane does all. */
void cj_lower_lead(const struct cj_lower *l, struct cj_builder *b,
    uint32_t role);
/* All threads of a role meet. */
void cj_lower_barrier(struct cj_lower *l, struct cj_builder *b, uint32_t role);
/* Move instructions from `first` on to the end of another region. */
void cj_lower_move(struct cj_lower *l, cj_region from, cj_ref first,
    cj_region to);
/* Put an instruction under a condition: the role's leader does it alone. */
void cj_lower_lead_one(struct cj_lower *l, cj_ref r, uint32_t role);
/* A slot of one int, 0 when its region begins, of at most `most`. */
uint32_t cj_lower_slot(struct cj_lower *l, cj_region region, cj_place place,
    const char *name, int64_t most, int64_t begin);
cj_ref cj_lower_get(struct cj_builder *b, uint32_t slot);
void cj_lower_set(struct cj_builder *b, uint32_t slot, cj_ref value);
cj_ref cj_lower_compare(struct cj_builder *b, enum cj_op op, cj_ref x,
    cj_ref y);
/* Of indices: an operation, one of two, x + n. */
cj_ref cj_lower_math(struct cj_builder *b, enum cj_op op, cj_ref x, cj_ref y);
cj_ref cj_lower_choose(struct cj_builder *b, cj_ref condition, cj_ref x,
    cj_ref y);
cj_ref cj_lower_plus(struct cj_builder *b, cj_ref x, int64_t n);
/* Mbarriers, each for `count` arrivals where that is not 0. */
uint32_t cj_lower_mbarriers(struct cj_lower *l, cj_place place,
    const char *name, uint32_t extent, uint32_t count);
void cj_lower_init(struct cj_lower *l, uint32_t object, uint32_t at,
    uint32_t count);
void cj_lower_wait(struct cj_builder *b, uint32_t object, cj_ref at,
    cj_ref parity, enum cj_memory_scope scope);
void cj_lower_on(struct cj_builder *b, enum cj_op op, uint32_t object,
    cj_ref at, cj_ref operand);

/* ---- channels (lower_channel.c), roles and turns (lower_role.c) ---------- */

void cj_lower_channels(struct cj_lower *l);
void cj_lower_find_roles(struct cj_lower *l);
void cj_lower_orders(struct cj_lower *l);
void cj_lower_roles(struct cj_lower *l);

#endif
