/*
 * Between the files that count what roles do and say where they disagree.
 */
#ifndef CJ_ELAB_ROLE_CHECK_H
#define CJ_ELAB_ROLE_CHECK_H

#include "elab_role_priv.h"

enum { CJ_ROLE_DECISIONS = 32 };

struct cj_role_side;

/* "e > 0" is so, or not; asked by a condition or a loop of a role's text. */
struct cj_role_decision {
	struct cj_int e;
	bool truth;
	const struct cj_deed *by;	/* NULL: by nothing in the text */
	const struct cj_role_side *side;
};

struct cj_role_decided {
	struct cj_role_decision at[CJ_ROLE_DECISIONS];
	uint32_t len;
};

struct cj_role_counted {
	struct cj_int used, skipped;
};

struct cj_role_question {
	struct cj_compare *c;
	uint32_t pipeline, order;	/* one of them */
	bool is_split;
	struct cj_role_decided now;
	bool is_open;			/* `split` is not decided */
	struct cj_role_decision split;
	const struct cj_deed *by;	/* what is counted */
	const struct cj_deed *loop;	/* the while loop around it */
	const struct cj_role_side *side;
};

/* One role's part, while bodies are paired. */
struct cj_role_side {
	const struct cj_role_text *role;
	struct cj_deeds deeds;
	bool fills;
};

/* Is a deed of the pipeline, or of the order, that is asked about? */
static inline bool
cj_role_is_asked(const struct cj_role_question *q, const struct cj_deed *d)
{
	return q->order != 0 ? d->order == q->order :
	    d->pipeline == q->pipeline;
}

/* ---- one case (elab_role_count.c) ---------------------------------------- */

/* Is it so in this case that e > 0, that e is 0, that a condition holds? Where
 * it is not known, the question is open. */
bool cj_role_is_positive(struct cj_role_question *q, struct cj_int e);
bool cj_role_is_zero(struct cj_role_question *q, struct cj_int e);
bool cj_role_holds(struct cj_role_question *q, const struct cj_cond *c);
/* Is any of the deeds, or what they hold, asked about? */
bool cj_role_concerns(const struct cj_role_question *q,
    const struct cj_deeds *deeds);
/* What a side uses and skips in this case. */
struct cj_role_counted cj_role_count(struct cj_role_question *q,
    const struct cj_role_side *s);

/* ---- loops that are left early (elab_role_exit.c) ------------------------ */

/* The body of a loop, without the test that a while loop begins with; NULL: it
 * does not begin with one. */
const struct cj_deeds *cj_role_body(const struct cj_deed *d);

/* Where and under which conditions a loop is left: equal texts, equal ways. */
struct cj_role_exits {
	struct cj_strbuf text;
	cj_ref first;			/* 0: nowhere */
};
struct cj_role_exits cj_role_exits_of(const struct cj_role_question *q,
    const struct cj_deed *d);
/* Where a loop of stages or turns is left before its end; 0: nowhere. */
cj_ref cj_role_early_exit(const struct cj_role_question *q,
    const struct cj_deeds *deeds);

/* Refuse blocks that share loads, and may fill and read unequally often
 * (elab_role_cluster.c). */
void cj_role_compare_blocks(struct cj_compare *c, const struct cj_pipe *p);

/* ---- reports (elab_role_report.c) ---------------------------------------- */

/* "stages of "ring"" */
const char *cj_role_thing(const struct cj_role_question *q);
/* What of the case has names: ", where n - 1 > 0 and K <= 0", or "". */
const char *cj_role_case_text(struct cj_role_question *q);
/* `a` fills, or is the other one; `b` is at fault. */
void cj_role_report(struct cj_role_question *q, const struct cj_role_side *a,
    const struct cj_role_side *b, const char *text);
void cj_role_report_counts(struct cj_role_question *q,
    const struct cj_role_side *a, const struct cj_role_side *b,
    struct cj_int filled, struct cj_role_counted n);

#endif
