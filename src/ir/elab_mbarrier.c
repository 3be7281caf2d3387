/*
 * Mbarriers, fences and barriers of some threads: the expert forms below
 * pipelines. Each is one operation; nothing is derived for them.
 */
#include "elab_tma.h"

static const struct cj_tensor *
one_mbarrier(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v)
{
	const struct cj_tensor *t = v->tensor;

	if (v->kind != CJ_VALUE_TENSOR || t->element != CJ_KIND_MBARRIER ||
	    cj_is_leaf(t->layout->shape) || t->layout->shape->rank != 0) {
		if (v->kind != CJ_VALUE_ERROR)
			cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span,
			    "one mbarrier is needed, this is %s",
			    cj_value_what(el, v)), "Declare some, shared b: "
			    "tensor(mbarrier, n:1); and name one, b[i].");
		return NULL;
	}
	return t;
}

static uint32_t
access_of(struct cj_elab *el, const struct cj_tensor *t,
    enum cj_memory_scope scope, cj_ref *offset)
{
	struct cj_access a = { .object = t->object, .align = 8,
	    .scope = scope };

	*offset = cj_elab_ref_int(el, t->offset);
	return cj_module_access(el->m, &a);
}

/* Named without remote() it is that of the block which the copy goes to. */
uint32_t
cj_arg_mbarrier(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v, const struct cj_tensor *to, cj_ref *offset)
{
	const struct cj_tensor *t = one_mbarrier(el, span, v);

	if (t == NULL)
		return 0;
	if (t->is_remote && (!to->is_remote || cj_int_equal(&el->sym, t->rank,
	    to->rank) != CJ_YES)) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span,
		    "a copy signals an mbarrier of the block that it goes to, "
		    "this one is of another"), "Name it without remote(): "
		    "barrier = b[i] is that of the destination's block.");
		return 0;
	}
	return access_of(el, t, CJ_MEMORY_BLOCK, offset);
}

/* The mbarrier of the first argument, where it is to be the own block's. */
static const struct cj_tensor *
own_mbarrier(struct cj_elab *el, struct cj_args *args)
{
	const struct cj_tensor *t = one_mbarrier(el, args->span,
	    &args->at[0]);

	if (t == NULL || !t->is_remote)
		return t;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, args->span,
	    "mbarriers of other blocks are arrived at, and nothing else"),
	    "mbarrier_init(), mbarrier_wait() and mbarrier_try_wait() take "
	    "those of the own block.");
	return NULL;
}

static struct cj_value
operate(struct cj_elab *el, struct cj_args *args, enum cj_op op,
    enum cj_memory_scope scope, struct cj_int number)
{
	const struct cj_tensor *t = own_mbarrier(el, args);
	uint32_t access;
	cj_ref refs[2], r;

	if (t == NULL)
		return cj_value_error();
	access = access_of(el, t, scope, &refs[0]);
	refs[1] = cj_elab_ref_int(el, number);
	r = cj_emit(&el->em->b, op, op == CJ_OP_MBARRIER_TEST ?
	    cj_type_of(CJ_KIND_BOOL, 1) : 0, access, refs, 2);
	return op == CJ_OP_MBARRIER_TEST ?
	    cj_value_regs(el, CJ_KIND_BOOL, NULL, r) : cj_value_none();
}

/* The block that is named by remote() or rank = r; false: reported. */
static bool
find_rank(struct cj_elab *el, struct cj_args *args,
    const struct cj_tensor *t, cj_ref *rank)
{
	const struct cj_value *v = cj_arg_named(el, args, "rank");
	struct cj_int r = t->rank;

	*rank = 0;
	if (v != NULL && t->is_remote) {
		cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "remote() and \"rank\" both name a block");
		return false;
	}
	if (v != NULL && (!cj_value_to_int(el, args->span, v, &r) ||
	    !cj_elab_check_rank(el, args->span, r)))
		return false;
	if (el->cluster_blocks > 1 && (v != NULL || t->is_remote))
		*rank = cj_elab_ref_int(el, r);
	return true;
}

static struct cj_value
arrive(struct cj_elab *el, struct cj_args *args, enum cj_op op,
    struct cj_int number)
{
	const struct cj_tensor *t = one_mbarrier(el, args->span,
	    &args->at[0]);
	uint32_t access;
	cj_ref refs[3];

	if (t == NULL)
		return cj_value_error();
	access = access_of(el, t, CJ_MEMORY_BLOCK, &refs[0]);
	refs[1] = cj_elab_ref_int(el, number);
	if (!find_rank(el, args, t, &refs[2]))
		return cj_value_error();
	cj_emit(&el->em->b, op, 0, access, refs, refs[2] == 0 ? 2 : 3);
	return cj_value_none();
}

/* Arrivals, or bytes: more a phase does not count. */
static bool
number_counts(struct cj_elab *el, struct cj_args *args, struct cj_int n,
    int64_t least, const char *what)
{
	if (!cj_is_known(n) || (n.value >= least &&
	    n.value <= CJ_MBARRIER_MOST))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_LIMIT, args->span, "a phase of an "
	    "mbarrier counts %lld to %d %s, not %lld", (long long)least,
	    CJ_MBARRIER_MOST, what, (long long)n.value),
	    "Let fewer threads arrive, one for each warp, or split a copy "
	    "into phases.");
	return false;
}

struct cj_value
cj_builtin_mbarrier_init(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_int n;

	(void)row;
	if (!cj_value_to_int(el, args->span, &args->at[1], &n) ||
	    !number_counts(el, args, n, 1, "arrivals"))
		return cj_value_error();
	return operate(el, args, CJ_OP_MBARRIER_INIT, CJ_MEMORY_BLOCK, n);
}

struct cj_value
cj_builtin_mbarrier_arrive(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *v = cj_arg_named(el, args, "count");
	struct cj_int n = cj_known(1);

	(void)row;
	if (v != NULL && (!cj_value_to_int(el, args->span, v, &n) ||
	    !number_counts(el, args, n, 1, "arrivals")))
		return cj_value_error();
	return arrive(el, args, CJ_OP_MBARRIER_ARRIVE, n);
}

struct cj_value
cj_builtin_mbarrier_arrive_expect_tx(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_int n;

	(void)row;
	if (!cj_value_to_int(el, args->span, &args->at[1], &n) ||
	    !number_counts(el, args, n, 0, "bytes"))
		return cj_value_error();
	return arrive(el, args, CJ_OP_MBARRIER_EXPECT, n);
}

static bool
is_choice(struct cj_elab *el, const struct cj_value *v, const char *name)
{
	return v != NULL && v->kind == CJ_VALUE_CHOICE &&
	    strcmp(cj_elab_name(el, v->choice), name) == 0;
}

/* Whose releases a wait acquires: in a cluster those of all its blocks,
 * unless the program says that only the own one arrives. */
static bool
find_scope(struct cj_elab *el, struct cj_args *args,
    enum cj_memory_scope *scope)
{
	const struct cj_value *v = cj_arg_named(el, args, "scope");

	*scope = el->cluster_blocks > 1 ? CJ_MEMORY_CLUSTER : CJ_MEMORY_BLOCK;
	if (v == NULL || is_choice(el, v, "cluster"))
		return true;
	if (is_choice(el, v, "block")) {
		*scope = CJ_MEMORY_BLOCK;
		return true;
	}
	cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
	    "the scope of a wait is .block or .cluster");
	return false;
}

/* The phase waited for: its number's lowest bit. */
static struct cj_value
wait_for(struct cj_elab *el, struct cj_args *args, enum cj_op op)
{
	enum cj_memory_scope scope;
	struct cj_int n;

	if (!cj_value_to_int(el, args->span, &args->at[1], &n))
		return cj_value_error();
	if (cj_is_known(n) && n.value != 0 && n.value != 1) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS,
		    args->span, "the parity of a phase is 0 or 1, not %lld",
		    (long long)n.value),
		    "Phase p has the parity p %% 2.");
		return cj_value_error();
	}
	if (!find_scope(el, args, &scope))
		return cj_value_error();
	return operate(el, args, op, scope, n);
}

struct cj_value
cj_builtin_mbarrier_wait(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return wait_for(el, args, CJ_OP_MBARRIER_WAIT);
}

struct cj_value
cj_builtin_mbarrier_try_wait(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return wait_for(el, args, CJ_OP_MBARRIER_TEST);
}

/* ---- fences -------------------------------------------------------------- */

/* fence(.mbarrier_init), fence(proxy = .async [, space = .shared|.global]),
 * fence(proxy = .tensormap, map = m) */
struct cj_value
cj_builtin_fence(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *proxy = cj_arg_named(el, args, "proxy");
	const struct cj_value *space = cj_arg_named(el, args, "space");
	const struct cj_value *map = cj_arg_named(el, args, "map");
	enum cj_fence f = CJ_FENCE_COUNT;

	(void)row;
	if (args->count == 0 && map != NULL && space == NULL &&
	    is_choice(el, proxy, "tensormap"))
		return cj_elab_map_acquire(el, args->span, map) ?
		    cj_value_none() : cj_value_error();
	if (args->count == 1 && proxy == NULL && space == NULL &&
	    map == NULL && is_choice(el, &args->at[0], "mbarrier_init"))
		f = CJ_FENCE_MBARRIER_INIT;
	else if (args->count == 1 && proxy == NULL && space == NULL &&
	    map == NULL && is_choice(el, &args->at[0], "before_thread_sync"))
		f = CJ_FENCE_BEFORE_SYNC;
	else if (args->count == 1 && proxy == NULL && space == NULL &&
	    map == NULL && is_choice(el, &args->at[0], "after_thread_sync"))
		f = CJ_FENCE_AFTER_SYNC;
	else if (args->count == 0 && map == NULL &&
	    is_choice(el, proxy, "async"))
		f = space == NULL ? CJ_FENCE_ASYNC :
		    is_choice(el, space, "shared") ? CJ_FENCE_ASYNC_SHARED :
		    is_choice(el, space, "global") ? CJ_FENCE_ASYNC_GLOBAL :
		    CJ_FENCE_COUNT;
	if (f == CJ_FENCE_COUNT) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS,
		    args->span, "there is no such fence"),
		    "There are fence(.mbarrier_init), fence(proxy = .async), "
		    "fence(proxy = .async, space = .shared), "
		    "fence(proxy = .async, space = .global), "
		    "fence(proxy = .tensormap, map = maps[i]), and for tensor "
		    "memory fence(.before_thread_sync) and "
		    "fence(.after_thread_sync).");
		return cj_value_error();
	}
	cj_emit0(&el->em->b, CJ_OP_FENCE, 0, f);
	return cj_value_none();
}

/* ---- some threads of a block --------------------------------------------- */

static bool
names_barrier(struct cj_elab *el, struct cj_span span, struct cj_int number)
{
	if (!cj_is_known(number) || (number.value >= 1 && number.value <= 15))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, span,
	    "named barriers have the numbers 1 to 15, not %lld; 0 is that of "
	    "sync()", (long long)number.value), "Those who meet at different "
	    "times can share a number.");
	return false;
}

static bool
warps_meet(struct cj_elab *el, struct cj_span span, struct cj_int threads)
{
	const int64_t *block = el->m->functions.at[el->em->function].block;
	int64_t most = block[0] * block[1] * block[2];

	most = most == 0 ? CJ_MAX_BLOCK_THREADS : (most + 31) / 32 * 32;
	if (!cj_is_known(threads) || (threads.value >= 32 &&
	    threads.value <= most && threads.value % 32 == 0))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, span,
	    "whole warps of the block meet at a named barrier, 32 to %lld "
	    "threads, not %lld", (long long)most, (long long)threads.value),
	    "Count 32 threads for each warp that comes.");
	return false;
}

static struct cj_value
named(struct cj_elab *el, struct cj_args *args, enum cj_op op,
    const char *what)
{
	struct cj_int number, threads;
	cj_ref a, b;

	if (!cj_value_to_int(el, args->span, &args->at[0], &number) ||
	    !cj_value_to_int(el, args->span, &args->at[1], &threads))
		return cj_value_error();
	if (!names_barrier(el, args->span, number) ||
	    !warps_meet(el, args->span, threads))
		return cj_value_error();
	cj_elab_meet(el, 32, what);
	a = cj_elab_ref_int(el, number);
	b = cj_elab_ref_int(el, threads);
	cj_emit2(&el->em->b, op, 0, a, b);
	return cj_value_none();
}

struct cj_value
cj_builtin_named_barrier(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return named(el, args, CJ_OP_NAMED_BARRIER, "named_barrier()");
}

struct cj_value
cj_builtin_named_barrier_arrive(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return named(el, args, CJ_OP_NAMED_ARRIVE, "named_barrier_arrive()");
}

/* launch_dependents(): what the kernel still does asks little of the GPU. */
struct cj_value
cj_builtin_launch_dependents(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)args;
	(void)row;
	cj_emit0(&el->em->b, CJ_OP_LAUNCH_DEPENDENTS, 0, 0);
	return cj_value_none();
}

struct cj_value
cj_builtin_sync_warp(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)args;
	(void)row;
	cj_elab_meet(el, 32, "sync_warp()");
	cj_emit0(&el->em->b, CJ_OP_SYNC_WARP, 0, 0);
	return cj_value_none();
}
