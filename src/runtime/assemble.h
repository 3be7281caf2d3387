/*
 * From PTX to a cubin: by ptxas, a program of its own that can be stopped, or
 * by nvJitLink, a library. Where neither is, the driver takes the PTX.
 */
#ifndef CJ_ASSEMBLE_H
#define CJ_ASSEMBLE_H

#include "runtime.h"

enum cj_assembler_kind { CJ_ASSEMBLER_NONE, CJ_ASSEMBLER_PTXAS,
    CJ_ASSEMBLER_NVJITLINK };

struct cj_assembler {
	enum cj_assembler_kind kind;
	const char *path;
	const char *name;		/* "ptxas 13.0.88"; "" for none */
	struct cj_nvjitlink *library;
};

/* What the context uses; looked for once. Never NULL. */
const struct cj_assembler *cj_assembler_get(struct cj_work *f);

/*
 * What is begun before it is needed, while an image is made. ptxas takes some
 * milliseconds from its start to its first look at the PTX, and as many to say
 * its version; it runs beside us:
 *
 *	ask -> elaborate -> start -> generate -> cj_assembler_get -> cj_assemble
 *
 * What was begun and is not needed in the end is stopped.
 */
struct cj_ahead {
	struct cj_child *asked;		/* for its version; NULL: not */
	const char *path;		/* ... whom */
	struct cj_child *begun;		/* to assemble; NULL: not */
	int level;			/* ... at this one */
	bool is_fed;
	struct cj_strbuf ir;		/* text of the program's IR, or empty */
};

/* Set the work's, and give up what is left of it. */
void cj_ahead_begin(struct cj_work *f);
void cj_ahead_end(struct cj_work *f);
/* Ask for the version if nobody knows it and it decides nothing yet, as there
 * is nothing on disk. True: the answer is not there, and whoever needs it
 * waits; better not before the PTX is made. */
bool cj_ahead_ask(struct cj_work *f);
/* Start the assembler of a program that is right; no matter if it cannot be.
 * Nothing happens if no image is made. */
void cj_ahead_start(struct cj_work *f, const struct cj_recipe *r,
    const struct cj_module *ir);
/* Let it have the PTX. It works from now on. */
void cj_ahead_feed(struct cj_work *f, const struct cj_recipe *r,
    const char *ptx, size_t length);

struct cj_assembly {
	const char *cubin;		/* on the arena given */
	size_t length;
	const char *log;		/* of the assembler; for faults only */
	const char *properties;		/* what it said; of `ptxas -v`, or "" */
};

/* CUTEJIT_OK, or CUTEJIT_INTERNAL: the assembler refused our PTX or died. */
cutejit_status cj_assemble(struct cj_work *f, const struct cj_recipe *r,
    const char *ptx, size_t length, struct cj_arena *a,
    struct cj_assembly *out);

/* 1 or 3: how much any of them, the driver's too, shall do for a PTX. */
int cj_assembler_level(int level, const char *ptx, size_t length);

/* The PTX was refused for instructions that the program wrote itself: reports
 * that at their place. False: they are ours (assemble_own.c). */
bool cj_refuse_own_ptx(struct cj_work *f, const char *ptx,
    const struct cj_assembly *out, const char *assembler);

/* nvJitLink (nvjitlink.c); NULL: it is not there. On `a`. */
struct cj_nvjitlink *cj_nvjitlink_open(struct cj_arena *a, unsigned *major,
    unsigned *minor);
struct cj_nvjitlink *cj_nvjitlink_copy(struct cj_arena *a,
    const struct cj_nvjitlink *n);
cutejit_status cj_nvjitlink_run(struct cj_work *f, struct cj_nvjitlink *n,
    const struct cj_recipe *r, const char *ptx, size_t length,
    struct cj_arena *a, struct cj_assembly *out);

/* Numbers of each entry from a cubin and, where given, from the text of
 * `ptxas -v` (cubin.c). False: it is no cubin. */
bool cj_cubin_read(const char *cubin, size_t length, const char *properties,
    cutejit_entry *entries, uint32_t count);

#endif
