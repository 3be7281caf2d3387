/*
 * Functions of other languages: CUDA C++ by NVRTC, bitcode by LLVM. Both become
 * PTX beside the program's own, so that every assembler and every driver takes
 * one text and has nothing to link.
 */
#ifndef CJ_FOREIGN_H
#define CJ_FOREIGN_H

#include "runtime.h"

/* NVRTC (nvrtc.c); NULL: *why says what is missing, "is not on this machine".
 * On `a`. */
struct cj_nvrtc;
struct cj_nvrtc *cj_nvrtc_open(struct cj_arena *a, int *major, int *minor,
    const char **why);
/* CUDA C++ to PTX, terminated; NULL: *log says why not. */
const char *cj_nvrtc_compile(struct cj_work *f, struct cj_nvrtc *n,
    const struct cj_recipe *r, const char *text, const char **log);

/* Put the functions that *ptx calls into it. CUTEJIT_OK or reported. */
cutejit_status cj_foreign_add(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, const char **ptx, size_t *length);
/* "NVRTC 13.0" where the texts need it, else "". */
const char *cj_foreign_compiler(struct cj_work *f,
    const struct cutejit_module *m);
/* The assembler refused a PTX that has such functions: reported. False: it has
 * none. */
bool cj_foreign_refused(struct cj_work *f, const struct cutejit_module *m,
    const char *ptx, const char *assembler, const char *log);

#endif
