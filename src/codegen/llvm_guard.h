/*
 * LLVM's fatal errors, and that it has no memory, as an ordinary return
 * (llvm_guard.c).
 *
 *	struct cj_llvm_guard guard;
 *	why = cj_llvm_lost();
 *	if (why != NULL) ...
 *	cj_llvm_guard_begin(&guard);
 *	if (CJ_LLVM_CAUGHT(&guard)) { ... guard.text ...; return; }
 *	... LLVM ...
 *	cj_llvm_guard_end(&guard);
 */
#ifndef CJ_LLVM_GUARD_H
#define CJ_LLVM_GUARD_H

#include "base/recover.h"
#include "llvm_api.h"

#include <setjmp.h>
#include <stdbool.h>

struct cj_llvm_guard {
	jmp_buf point;
	struct cj_llvm_guard *outer;
	bool has_error;		/* a diagnostic of LLVM said so */
	bool lacks_memory;	/* it was left for want of memory */
	char text[480];		/* the first message */
};

void cj_llvm_guard_begin(struct cj_llvm_guard *guard);
void cj_llvm_guard_end(struct cj_llvm_guard *guard);
#define CJ_LLVM_CAUGHT(guard)	(setjmp((guard)->point) != 0)

/* Leave, where LLVM could not allocate. */
noreturn void cj_llvm_no_memory(struct cj_recover *r);

/* Why LLVM cannot be used in this process any more; NULL: it can. */
const char *cj_llvm_lost(void);

/* Collect errors of this context in the guard instead of on stderr. */
void cj_llvm_guard_watch(struct cj_llvm_guard *guard, LLVMContextRef context);

#endif
