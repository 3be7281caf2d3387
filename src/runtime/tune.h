/*
 * Tuning: values of compile-time parameters that were found to be fastest, by
 * device and class of problem (tune_table.c), and the search (tune_search.c).
 *
 *	device    name of the GPU, or its class: "sm_90x132" is any of compute
 *		  capability 9.0 with 132 multiprocessors
 *	space     which kernel: a digest of its members and of its searches
 *	problem   what of a call decides: its own compile-time arguments, but
 *		  those that say what the kernel does by itself, and of each
 *		  tensor kind, extents rounded up to powers of two, and the
 *		  mode of stride 1
 *	values    "tile=(128, 64); stages=3"; behind "default: " what of the
 *		  kernel's own were fastest: launches take its own
 */
#ifndef CJ_TUNE_H
#define CJ_TUNE_H

#include "select.h"

#define CJ_TUNED_DEFAULT "default: "

struct cj_tuned {
	const char *kernel, *space, *problem, *values;
	double ms;
};

void cj_tunings_init(struct cutejit_context *c);
void cj_tunings_fini(struct cutejit_context *c);

/* The search of a kernel, which may stand in several declarations;
 * m->tune_count: it has none. */
uint32_t cj_tune_find(const struct cutejit_module *m, const char *kernel);
/* Does a search of the module name a compile-time parameter of the kernel? */
bool cj_is_tuned(const struct cutejit_module *m, const char *kernel);
/* Digest of what the values are for, 16 digits. */
const char *cj_tune_space(const struct cutejit_module *m,
    const char *kernel);
/* When a module is made: its searches. */
void cj_tunes_list(struct cutejit_module *m);
/* The class of a call. */
const char *cj_tune_problem(struct cj_work *f, struct cutejit_module *m,
    const char *kernel, const struct cj_const_argument *consts, uint32_t count,
    const struct cj_arguments *args);

/*
 * The winner for this call, added to the arguments of the choice. False: there
 * is none, or the call names one of its parameters itself.
 */
bool cj_tuned_add(struct cj_work *f, struct cutejit_module *m,
    struct cj_choice *choice, const struct cj_arguments *args,
    const cutejit_gpu *gpu);
/* They do not fit: the call goes on without what has been said since `before`.
 * It is told once for a module, for a table may have been written by hand. */
void cj_tuned_pass_over(struct cj_work *f, struct cutejit_module *m,
    const struct cj_diags *before, const char *kernel);
/* The first message and, of a family, why the first of its members not. */
const char *cj_tuned_misfit(struct cj_arena *a, const struct cj_diag *d);
/* Keep a winner: on disk where there is a folder, and in the context. */
void cj_tuned_keep(struct cj_work *f, const cutejit_gpu *gpu,
    const struct cj_tuned *winner);

/* Why winners are not kept on disk; NULL: they are. */
const char *cj_tuned_kept_not(const struct cj_work *f);

/* Every winner on disk; not 0: no more. */
void cj_tuned_each(struct cj_work *f, cutejit_tuning_fn *each, void *user);

/* Lines: the next one of a text; its fields, which are the caller's to change
 * (false: it says nothing); and one as text. */
char *cj_tuned_line(char **at);
bool cj_tuned_read(char *line, struct cj_tuned *out);
void cj_tuned_write(struct cj_strbuf *b, const struct cj_tuned *r);
/* The name of the next of some values, which are the caller's to change; NULL:
 * there is none. *text: the value; NULL: it has none. */
char *cj_tuned_value(char **at, char **text);
/* Without what says that they are the kernel's own. */
const char *cj_tuned_bare(const char *values);
/* Rows have the name that the kernel's own text gives it, not "lib.gemm". */
const char *cj_tuned_own_name(const char *kernel);
const char *cj_tuned_class(struct cj_arena *a, const cutejit_gpu *gpu);

/* The text of NAME.tune beside the file NAME.cute, or NULL; and the values it
 * has for a class of calls, or NULL. */
const char *cj_tune_read_shipped(struct cj_arena *a, const char *path);
/* Tells of the first line that says nothing of a search of that file. */
void cj_tune_check_shipped(struct cj_work *f, const struct cutejit_module *m,
    const char *path, const char *text);
const char *cj_tune_shipped(struct cj_work *f, const struct cutejit_module *m,
    const cutejit_gpu *gpu, const char *kernel, const char *problem);

#endif
