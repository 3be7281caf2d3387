/*
 * Tuning: values of compile-time parameters that were found to be fastest, by
 * device and class of problem (tune_table.c), and the search (tune_search.c).
 *
 *	device    name of the GPU
 *	space     which kernel: a digest of its members and of its searches
 *	problem   what of a call decides: its own compile-time arguments, and of
 *		  each tensor kind, extents rounded up to powers of two, and
 *		  the mode of stride 1
 *	values    "tile=(128, 64); stages=3", or "": the defaults are fastest
 */
#ifndef CJ_TUNE_H
#define CJ_TUNE_H

#include "select.h"

struct cj_tuned {
	const char *kernel, *space, *problem, *values;
	double ms;
};

void cj_tunings_init(struct cutejit_context *c);
void cj_tunings_fini(struct cutejit_context *c);

/* Does a search of the module name a compile-time parameter of the kernel? */
bool cj_is_tuned(const struct cutejit_module *m, const char *kernel);
/* Digest of what the values are for, 16 digits. */
const char *cj_tune_space(const struct cutejit_module *m,
    const char *kernel);
/* When a module is made: its searches. */
void cj_tunes_list(struct cutejit_module *m);
/* The class of a call. */
const char *cj_tune_problem(struct cj_work *f, struct cutejit_module *m,
    const struct cj_const_argument *consts, uint32_t count,
    const struct cj_arguments *args);

/*
 * The winner for this call, added to the arguments of the choice. False: there
 * is none, or the call names one of its parameters itself.
 */
bool cj_tuned_add(struct cj_work *f, struct cutejit_module *m,
    struct cj_choice *choice, const struct cj_arguments *args,
    const char *device);
/* Keep a winner: on disk where there is a folder, and in the context. */
void cj_tuned_keep(struct cj_work *f, const char *device,
    const struct cj_tuned *winner);

/* The text of NAME.tune beside the file NAME.cute, or NULL. */
const char *cj_tune_shipped(struct cj_arena *a, const char *path);

#endif
