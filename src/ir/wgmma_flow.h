/*
 * Between the files that put waits for products: groups, and what is open.
 */
#ifndef CJ_WGMMA_FLOW_H
#define CJ_WGMMA_FLOW_H

#include "lower_priv.h"

enum { MOST_OPEN = 7, NOBODY = -1 };	/* what the instruction can say */

struct group {			/* what a commit ends */
	cj_ref commit;
	bool *sums;		/* by object: a product adds to it, */
	bool *lefts;		/* has it as its left operand */
	bool *stages;		/* by block */
};

/* A consume block whose stage has not gone back. */
struct open {
	cj_ref op;
	bool is_on_way;		/* this place is on the way through it */
	bool was_read, is_back;
	struct open *outer;
};

/* By commit: groups behind its newest one; NOBODY: none is open. NULL: nobody
 * comes here. */
typedef int8_t *groups;

struct back {			/* where a stage goes back */
	cj_ref before;
	cj_region region;	/* 0: nowhere; before 0: at its end */
	int wait;
};

struct cj_flow {
	struct cj_module *m;
	struct cj_sites s;
	uint32_t count;			/* of groups */
	struct group *group;
	uint32_t *number;		/* by commit: its group + 1 */
	cj_ref *last;			/* by block: the last reader, or what
					   holds it, on the way through */
	bool *in_flight;		/* by block */
	groups *left, *again;		/* by region op */
	int *wait;			/* by instruction: in front of it */
	struct back *back;		/* by block */
	CJ_VEC(cj_ref) *exit_backs;	/* by exit: blocks it leaves */
	struct open *open;
};

const struct cj_stage_use *cj_flow_use(const struct cj_flow *f, cj_ref r);
bool cj_flow_is_channel(const struct cj_flow *f, cj_ref block);
/* What on the way through `block` an instruction is, or stands in. */
cj_ref cj_flow_on_way(const struct cj_flow *f, cj_ref r, cj_ref block);

/* ---- in_flight(n) (wgmma_flight.c) --------------------------------------- */

struct cj_builder cj_flow_builder(const struct cj_flow *f, cj_region region,
    cj_ref before, cj_ref like);
/* Engines that read the block's stages in its role. */
unsigned cj_flow_reads(const struct cj_flow *f, cj_ref block);
/* Where an exit goes on is around this. */
bool cj_flow_leaves(const struct cj_flow *f, cj_ref exit, cj_ref what);
/* Waits, and where stages go back, of blocks whose products go on. */
void cj_flow_find_in_flight(struct cj_flow *f);

#endif
