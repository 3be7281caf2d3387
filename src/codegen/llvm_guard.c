/*
 * LLVM's fatal errors, and that it has no memory, as an ordinary return.
 *
 * LLVM reports what it cannot go on from to a handler, one for the process,
 * and ends the process when that returns. Ours jumps to the guard of the
 * thread in which it is called; what LLVM held is leaked. A thread without a
 * guard is not ours (another user of LLVM in the process): for it the handler
 * returns, and LLVM does what it always does. LLVM calls the handler without
 * holding a lock.
 *
 * Where malloc gives LLVM nothing it is the same, with a handler of its own;
 * `operator new` calls that of the C++ library, which may be the host's, so
 * that ours is put there only while a guard stands. But there LLVM may hold
 * locks, or be about to register what it has once: nobody enters it again.
 *
 * The pointer to a thread's guard, how many there are, and what is lost are
 * the writable variables here: the handlers get no argument of ours.
 */
#include "llvm_guard.h"

#include "llvm_api.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdnoreturn.h>

static _Thread_local struct cj_llvm_guard *current;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct {
	pthread_mutex_t lock;
	unsigned count;
	atomic_bool is_lost;
	_Atomic(cj_new_handler) hosts;	/* what was there before ours */
} guards = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
keep(struct cj_llvm_guard *guard, const char *text)
{
	if (guard->text[0] == '\0')
		snprintf(guard->text, sizeof guard->text, "%s", text);
}

/* ---- the handler of operator new ----------------------------------------- */

static void no_memory(void);

/* Pointers of llvm_api.h, or functions. */
static bool
is_there(void (*function)(void))
{
	return function != NULL;
}
#define IS_THERE(f)	is_there((void (*)(void))(f))

static cj_new_handler
set_new_handler(cj_new_handler handler)
{
	return IS_THERE(_ZSt15set_new_handlerPFvvE)
	    ? _ZSt15set_new_handlerPFvvE(handler) : NULL;
}

static void
count_guards(int change)
{
	cj_new_handler was;

	pthread_mutex_lock(&guards.lock);
	if (change > 0 && guards.count == 0)
		guards.hosts = set_new_handler(no_memory);
	guards.count += (unsigned)change;
	if (guards.count == 0) {
		was = set_new_handler(guards.hosts);
		if (was != no_memory)		/* the host has a new one */
			set_new_handler(was);
	}
	pthread_mutex_unlock(&guards.lock);
}

/* ---- ways out ------------------------------------------------------------ */

static noreturn void
leave(struct cj_llvm_guard *guard)
{
	current = guard->outer;
	count_guards(-1);
	longjmp(guard->point, 1);
}

static void
fatal(const char *reason)
{
	struct cj_llvm_guard *guard = current;

	if (guard == NULL)
		return;
	keep(guard, reason);
	leave(guard);
}

/* Other threads of the host get what they had: operator new asks again. */
static void
no_memory(void)
{
	struct cj_llvm_guard *guard = current;

	if (guard == NULL) {
		set_new_handler(guards.hosts);
		return;
	}
	guard->lacks_memory = true;
	atomic_store(&guards.is_lost, true);
	leave(guard);
}

static void
no_memory_for_llvm(void *user, const char *reason, bool wants_report)
{
	(void)user;
	(void)reason;
	(void)wants_report;
	if (current != NULL)
		no_memory();
}

void
cj_llvm_no_memory(struct cj_recover *r)
{
	cj_leave(r, CJ_WHY_MEMORY, "there is no memory for LLVM");
}

const char *
cj_llvm_lost(void)
{
	return atomic_load(&guards.is_lost) ? "LLVM had no memory in this "
	    "process once, and does not go on in it" : NULL;
}

/* ---- guards -------------------------------------------------------------- */

static atomic_bool installed_once;

static bool
can_tell_of_memory(void)
{
	return
	    IS_THERE(_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_)
	    && IS_THERE(_ZN4llvm30remove_bad_alloc_error_handlerEv);
}

static void
install(void)
{
	LLVMInstallFatalErrorHandler(fatal);
	if (can_tell_of_memory())
		_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_(
		    no_memory_for_llvm, NULL);
	atomic_store(&installed_once, true);
}

/* LLVM may stay, and be the host's too, where this code is unloaded. */
__attribute__((destructor))
static void
uninstall(void)
{
	if (!atomic_load(&installed_once))
		return;
	LLVMResetFatalErrorHandler();
	if (can_tell_of_memory())
		_ZN4llvm30remove_bad_alloc_error_handlerEv();
}

void
cj_llvm_guard_begin(struct cj_llvm_guard *guard)
{
	pthread_once(&once, install);
	guard->has_error = guard->lacks_memory = false;
	guard->text[0] = '\0';
	guard->outer = current;
	current = guard;
	count_guards(1);
}

void
cj_llvm_guard_end(struct cj_llvm_guard *guard)
{
	assert(current == guard && "guards end in reverse order");
	current = guard->outer;
	count_guards(-1);
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
