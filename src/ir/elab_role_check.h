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

/* Is a condition so in this case? Where it is not known, the question is
 * open. */
bool cj_role_holds(struct cj_role_question *q, const struct cj_cond *c);

/* Where a loop of stages or turns is left before its end; 0: nowhere. */
cj_ref cj_role_early_exit(const struct cj_role_question *q,
    const struct cj_deeds *deeds);

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
