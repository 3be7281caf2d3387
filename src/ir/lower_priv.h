/*
 * Between the files that lower pipelines: what is known before rewriting.
 */
#ifndef CJ_LOWER_PRIV_H
#define CJ_LOWER_PRIV_H

#include "ir_priv.h"

/* What must stand in front of an instruction. */
struct cj_need {
	int wait;		/* groups that may stay open; -1: no wait */
	bool barrier;
};

/* Acquire the next stage of a pipeline in front of an instruction already. */
struct cj_move {
	cj_ref at;
	uint32_t pipeline;
	bool is_on;
};

struct cj_lower {
	struct cj_module *m;
	uint32_t function;
	uint32_t count;		/* of instructions, before rewriting */
	cj_region *home;	/* by instruction: the region it stands in */
	cj_ref *stage_of;	/* by value: the block whose stage it is made
				   of, 0: none */
	uint32_t *owner;	/* by object: its pipeline, 0: none */
	bool *has_copies;	/* by pipeline: fills come by cp.async */
	bool **moves;		/* by region of a stage op or loop: pipelines
				   that it fills or reads; NULL: none */
	CJ_VEC(struct cj_move) tries;
	struct cj_need *needs;	/* by instruction, of the last analysis */
};

/* Fill `needs`; the result is what they cost. (lower_flow.c) */
uint64_t cj_lower_analyse(struct cj_lower *l);

#endif
