/*
 * `over x in {...}, y in a..b`: what tests, benches and tune go through.
 */
#ifndef CJ_ELAB_OVER_H
#define CJ_ELAB_OVER_H

#include "elab_priv.h"

/* The values of one name. */
struct cj_domain {
	const struct cj_node *binding;
	uint32_t count;
	const struct cj_value *at;	/* NULL: first, first + 1 ... */
	int64_t first;
};
struct cj_over {
	struct cj_domain *at;
	uint32_t count;
	uint32_t combinations;
};

/* Names begin: those of the main text. */
void cj_over_names(struct cj_elab *el);
/* False: reported. */
bool cj_over_read(struct cj_elab *el, const struct cj_list *list,
    struct cj_over *out);
/* Bind the names to combination `which`; "TITLE [T=f16, n=4096]". */
const char *cj_over_bind(struct cj_elab *el, const char *title,
    const struct cj_over *o, uint32_t which);

#endif
