/*
 * Front header of codegen/: verified IR to PTX, by LLVM's C interface.
 *
 * Whatever the target cannot do was refused before; LLVM never sees it. LLVM's
 * own fatal errors are caught (llvm_guard.c) and come back as a status. Each
 * call uses its own LLVM context: calls from several threads run side by side.
 */
#ifndef CJ_CODEGEN_H
#define CJ_CODEGEN_H

#include "ir/ir.h"

/* In front of a program's own PTX: numbers of source, begin and end of its
 * place, in one line. */
#define CJ_PTX_MARK	"// cute: "

struct cj_codegen_options {
	int level;		/* 0 ... 3 */
	int ptx;		/* version * 10; 0: the lowest that serves */
	bool lineinfo;		/* .loc directives */
	bool checked;		/* asserts, bounds and steps trap */
	bool want_llvm;		/* fill `llvm` below */
	enum cj_codegen_fault {	/* for tests: make something go wrong */
		CJ_CODEGEN_NO_FAULT,
		CJ_CODEGEN_LLVM_FATAL,	/* LLVM would end the process */
		CJ_CODEGEN_LLVM_ERROR,	/* LLVM reports an error and goes on */
		CJ_CODEGEN_BUG		/* an invariant of ours does not hold */
	} fault;
};

enum cj_codegen_status {
	CJ_CODEGEN_OK,
	CJ_CODEGEN_FAULT	/* ours or LLVM's: `error` says what */
};

struct cj_codegen_result {
	const char *ptx;	/* terminated, on the arena */
	size_t ptx_length;
	const char *llvm;	/* LLVM IR as text, after its passes */
	const char *error;
	struct {
		const char *entry;	/* by device function, in order */
		uint32_t function;
		int64_t shared_bytes;	/* dynamic: what a launch has to ask
					   for; 0 if all is static */
		int64_t shared_total;	/* static or dynamic */
	} *kernels;
	uint32_t kernel_count;
	int ptx_version;	/* times ten: what the text asks for */
	double build_ms, passes_ms, emit_ms;
	double load_ms;		/* for whoever opened the generator first */
};

/* All device functions of the module become entries of one PTX text. */
enum cj_codegen_status cj_codegen_ptx(struct cj_arena *a,
    const struct cj_module *m, const struct cj_codegen_options *o,
    struct cj_codegen_result *out);

/* A function of bitcode as PTX calls it: kinds of its result (VOID: none) and
 * of its parameters. */
struct cj_codegen_shim {
	const char *name;
	enum cj_kind result;
	uint32_t count;
	const enum cj_kind *kinds;
	bool is_found;		/* out: the bitcode defines it */
};

/*
 * LLVM bitcode to the PTX of those of its functions that are wanted, each
 * under CJ_EXTERN_PREFIX and its name, with numbers of 32 and 64 bits. FAULT
 * with result->error also where the bitcode itself is wrong.
 */
enum cj_codegen_status cj_codegen_bitcode(struct cj_arena *a,
    const struct cj_target *target, const char *bytes, size_t length,
    struct cj_codegen_shim *shims, uint32_t count,
    struct cj_codegen_result *result);

/*
 * Make LLVM ready; NULL, or why it is not there. Everything above does so, and
 * calls that a fault: whoever can say better what is missing asks first.
 */
const char *cj_codegen_open(void);
bool cj_codegen_is_open(void);

/* Name and version of LLVM in use, for cache keys and `cutec --version`. */
const char *cj_codegen_version(void);

#endif
