/*
 * Groups of copies and products in flight: where one ends, and how many may
 * stay open.
 */
#include "elab_priv.h"

/* Beyond the first nobody counts any more; the second is wgmma's own. */
enum { MOST_GROUPS = 64, MOST_PRODUCTS = 7 };

static struct cj_value
commit(struct cj_elab *el, enum cj_op op)
{
	cj_emit0(&el->em->b, op, 0, 0);
	return cj_value_none();
}

/* op N, of a known number of groups up to `most`. */
static struct cj_value
wait(struct cj_elab *el, struct cj_args *args, enum cj_op op, int64_t most)
{
	int64_t n;

	if (!cj_value_to_known(el, args->span, &args->at[0],
	    "the number of groups that may stay open", &n))
		return cj_value_error();
	if (n < 0 || n > most)
		return cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "0 to %lld groups may stay open, not %lld",
		    (long long)most, (long long)n);
	cj_emit0(&el->em->b, op, 0, (uint32_t)n);
	return cj_value_none();
}

struct cj_value
cj_builtin_cp_async_commit(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)args;
	(void)row;
	return commit(el, CJ_OP_CP_COMMIT);
}

struct cj_value
cj_builtin_cp_async_wait(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return wait(el, args, CJ_OP_CP_WAIT, MOST_GROUPS);
}

struct cj_value
cj_builtin_bulk_commit(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)args;
	(void)row;
	return commit(el, CJ_OP_BULK_COMMIT);
}

struct cj_value
cj_builtin_bulk_wait(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return wait(el, args, CJ_OP_BULK_WAIT, MOST_GROUPS);
}

struct cj_value
cj_builtin_bulk_wait_read(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return wait(el, args, CJ_OP_BULK_WAIT_READ, MOST_GROUPS);
}

struct cj_value
cj_builtin_wgmma_wait(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return wait(el, args, CJ_OP_WGMMA_WAIT, MOST_PRODUCTS);
}
