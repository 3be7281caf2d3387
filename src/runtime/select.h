/*
 * From a kernel's name and arguments to a program that may be launched
 * (select.c): the part that compile, launch, run and tests share.
 */
#ifndef CJ_SELECT_H
#define CJ_SELECT_H

#include "device.h"

struct cj_request {
	const char *kernel;
	const struct cj_arguments *arguments;	/* NULL: none are known */
	const struct cj_gpu *on;	/* that it is for; NULL: the executor */
	bool on_cpu;		/* the executor stands in for any target */
	bool watched;		/* it looks at each mode of a tensor */
	bool is_fresh;
	enum cj_stage stage;	/* that the program must have */
	const cutejit_gpu *gpu;	/* whose winners count; NULL: none */
};

struct cj_selected {
	struct cj_recipe recipe;
	struct cj_program *program;	/* held */
	struct cj_plan plan;		/* if there are arguments */
	cutejit_origin origin;
	/* cj_select: compile-time arguments, what a search found among them */
	const struct cj_const_argument *consts;
	uint32_t const_count;
};

/* Sort the caller's arguments by the parameters of a family. */
/* Where the tensors lie: all on one device; ordinal -1: any. */
cutejit_status cj_device_of(struct cj_work *f,
    const struct cj_arguments *args, bool *on_gpu, int *ordinal);

cutejit_status cj_select_arguments(struct cj_work *f,
    struct cutejit_module *m, const char *kernel,
    const cutejit_argument *given, size_t count, struct cj_arguments *out);

/*
 * The first member that fits, its program and, for arguments, its plan. On
 * CUTEJIT_OK the program is held until cj_select_end, or until control leaves.
 */
cutejit_status cj_select(struct cj_work *f, struct cutejit_module *m,
    const struct cj_request *q, const cutejit_compile_options *o,
    struct cj_selected *out);
/* The same, when the search has begun by other means (tests). */
cutejit_status cj_select_from(struct cj_work *f, struct cutejit_module *m,
    const struct cj_request *q, struct cj_choice *choice,
    struct cj_selected *out);
void cj_select_end(struct cj_work *f, struct cj_selected *s);

/* Options with their defaults, checked. */
cutejit_status cj_compile_options(struct cj_work *f,
    const cutejit_compile_options *given, cutejit_compile_options *out);
/* What of a recipe the options say. */
cutejit_status cj_recipe_begin(struct cj_work *f,
    const cutejit_compile_options *o, struct cj_recipe *r);

void cj_kernel_hold(struct cutejit_kernel *k);
void cj_kernel_drop(struct cutejit_kernel *k);
/* What it was compiled for, bound to arguments; NULL: *why, or NULL, says why
 * not. */
const struct cj_binding *cj_kernel_bind(struct cj_work *f,
    const struct cutejit_kernel *k, const struct cj_actual *actuals,
    uint32_t count, const char **why);

#endif
