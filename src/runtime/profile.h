/*
 * What a run on the executor cost, by line of the program: as JSON, and as a
 * page for people.
 */
#ifndef CJ_PROFILE_H
#define CJ_PROFILE_H

#include "device.h"

/* A line of a text with what its instructions cost. */
struct cj_line_cost {
	uint32_t source, line;
	struct cj_count sum;		/* warps, lanes: of the busiest one */
	uint64_t barriers, products, copies;	/* of warps */
};

struct cj_profiled {
	struct cj_arena *arena;
	const char *kernel;
	const struct cj_module *ir;
	const struct cj_plan *plan;
	const struct cj_profile *counts;
	const struct cj_timeline *timeline;
	uint32_t source;		/* the kernel's text: comes first */
	/* by cj_profile_lines: in the order of texts and lines */
	CJ_VEC(struct cj_line_cost) lines;
	struct cj_line_cost total;
};

void cj_profile_lines(struct cj_profiled *p);
/* After the lines. */
void cj_profile_json(struct cj_strbuf *out, const struct cj_profiled *p);
void cj_profile_html(struct cj_strbuf *out, const struct cj_profiled *p);
/* A text as JSON has it. */
void cj_profile_text(struct cj_strbuf *out, const char *text);
/* Events for Chrome and Perfetto; a picture (timeline.c). */
void cj_timeline_json(struct cj_strbuf *out, const struct cj_profiled *p);
void cj_timeline_svg(struct cj_strbuf *out, const struct cj_profiled *p);

#endif
