/*
 * LLVM's fatal errors as an ordinary return (llvm_guard.c).
 *
 *	struct cj_llvm_guard guard;
 *	cj_llvm_guard_begin(&guard);
 *	if (CJ_LLVM_CAUGHT(&guard)) { ... guard.text ...; return; }
 *	... LLVM ...
 *	cj_llvm_guard_end(&guard);
 */
#ifndef CJ_LLVM_GUARD_H
#define CJ_LLVM_GUARD_H

#include "llvm_api.h"

#include <setjmp.h>
#include <stdbool.h>

struct cj_llvm_guard {
	jmp_buf point;
	struct cj_llvm_guard *outer;
	bool has_error;		/* a diagnostic of LLVM said so */
	char text[480];		/* the first message */
};

void cj_llvm_guard_begin(struct cj_llvm_guard *guard);
void cj_llvm_guard_end(struct cj_llvm_guard *guard);
#define CJ_LLVM_CAUGHT(guard)	(setjmp((guard)->point) != 0)

/* Collect errors of this context in the guard instead of on stderr. */
void cj_llvm_guard_watch(struct cj_llvm_guard *guard, LLVMContextRef context);

#endif
