/*
 * LLVM's fatal errors as an ordinary return.
 *
 * LLVM reports what it cannot go on from to a handler, one for the process,
 * and ends the process when that returns. Ours jumps to the guard of the
 * thread in which it is called; what LLVM held is leaked. A thread without a
 * guard is not ours (another user of LLVM in the process): for it the handler
 * returns, and LLVM does what it always does. LLVM calls the handler without
 * holding a lock.
 *
 * The pointer to a thread's guard is the one writable variable here: the
 * handler gets no argument of ours.
 */
#include "llvm_guard.h"

#include "llvm_api.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static _Thread_local struct cj_llvm_guard *current;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
keep(struct cj_llvm_guard *guard, const char *text)
{
	if (guard->text[0] == '\0')
		snprintf(guard->text, sizeof guard->text, "%s", text);
}

static void
fatal(const char *reason)
{
	struct cj_llvm_guard *guard = current;

	if (guard == NULL)
		return;
	keep(guard, reason);
	current = guard->outer;
	longjmp(guard->point, 1);
}

static atomic_bool installed_once;

static void
install(void)
{
	LLVMInstallFatalErrorHandler(fatal);
	atomic_store(&installed_once, true);
}

/* LLVM may stay, and be the host's too, where this code is unloaded. */
__attribute__((destructor))
static void
uninstall(void)
{
	if (atomic_load(&installed_once))
		LLVMResetFatalErrorHandler();
}

void
cj_llvm_guard_begin(struct cj_llvm_guard *guard)
{
	pthread_once(&once, install);
	guard->has_error = false;
	guard->text[0] = '\0';
	guard->outer = current;
	current = guard;
}

void
cj_llvm_guard_end(struct cj_llvm_guard *guard)
{
	assert(current == guard && "guards end in reverse order");
	current = guard->outer;
}

static void
watch(LLVMDiagnosticInfoRef info, void *user)
{
	struct cj_llvm_guard *guard = user;
	char *text;

	if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
		return;
	guard->has_error = true;
	text = LLVMGetDiagInfoDescription(info);
	keep(guard, text);
	LLVMDisposeMessage(text);
}

void
cj_llvm_guard_watch(struct cj_llvm_guard *guard, LLVMContextRef context)
{
	LLVMContextSetDiagnosticHandler(context, watch, guard);
}
