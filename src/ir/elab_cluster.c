/*
 * Clusters: what `launch ... cluster(x, y, z)` asks for, and how its blocks
 * meet and reach into each other's shared memory. Reductions over a cluster
 * are in elab_collective.c.
 */
#include "elab_priv.h"

/* ---- the launch ---------------------------------------------------------- */

static bool
check_target(struct cj_elab *el, struct cj_span span)
{
	if (el->target == NULL || el->target->number >= 90)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_CONTRACT, span,
	    "blocks form clusters from sm_90 on, not on %s",
	    el->target->name),
	    "Say \"target sm_90\" behind the contract, and give the family a "
	    "member without a cluster.");
	return false;
}

bool
cj_elab_check_cluster(struct cj_elab *el, struct cj_span span,
    const struct cj_int extent[3])
{
	static const char few[] = "Take 8 blocks or fewer, which every such "
	    "chip runs; blocks of several clusters meet in global memory.";
	int64_t blocks = 1;
	int i;

	for (i = 0; i < 3; i++) {
		if (!cj_is_known(extent[i])) {
			cj_help(cj_elab_report(el, CJ_DIAG_NOT_KNOWN, span,
			    "the extents of a cluster must be known at "
			    "compile time"), "Make them const parameters, "
			    "const c in {1, 2, 4} = 2.");
			return false;
		}
		if (extent[i].value < 1 ||
		    extent[i].value > CJ_CLUSTER_BLOCKS) {
			cj_help(cj_elab_report(el, CJ_DIAG_LIMIT, span,
			    "extent %d of the cluster is %lld; it is 1 to %d",
			    i, (long long)extent[i].value, CJ_CLUSTER_BLOCKS),
			    "%s", few);
			return false;
		}
		blocks *= extent[i].value;
	}
	if (blocks > CJ_CLUSTER_BLOCKS) {
		cj_help(cj_elab_report(el, CJ_DIAG_LIMIT, span,
		    "the cluster has %lld blocks, the most are %d",
		    (long long)blocks, CJ_CLUSTER_BLOCKS), "%s", few);
		return false;
	}
	el->cluster_blocks = blocks;
	return blocks == 1 || check_target(el, span);
}

/* ---- how many there are at once ------------------------------------------ */

static bool
known_count(struct cj_elab *el, struct cj_span span, const char *what,
    const struct cj_value *v, int64_t most, unsigned *out)
{
	struct cj_int n;

	if (!cj_value_to_int(el, span, v, &n))
		return false;
	if (!cj_is_known(n)) {
		cj_elab_error(el, CJ_DIAG_NOT_KNOWN, span,
		    "%s must be known at compile time", what);
		return false;
	}
	if (n.value < 1 || n.value > most) {
		cj_elab_error(el, CJ_DIAG_LIMIT, span,
		    "%s is 1 to %lld, this is %lld", what,
		    (long long)most, (long long)n.value);
		return false;
	}
	*out = (unsigned)n.value;
	return true;
}

struct cj_value
cj_builtin_resident_clusters(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *per_sm = cj_arg_named(el, args, "per_sm");
	struct cj_device_ask ask = { CJ_DEVICE_CLUSTERS, 1, 1 };

	(void)row;
	if (!known_count(el, args->spans[0], "the size of a cluster",
	    &args->at[0], CJ_CLUSTER_BLOCKS, &ask.blocks))
		return cj_value_error();
	if (per_sm != NULL && !known_count(el, cj_arg_named_span(el, args,
	    "per_sm"), "per_sm", per_sm, CJ_SM_BLOCKS, &ask.per_sm))
		return cj_value_error();
	return cj_value_int(cj_elab_fact(el, ask, "resident_clusters()"));
}

/* ---- its blocks ---------------------------------------------------------- */

/* A block alone is its cluster. */
struct cj_value
cj_builtin_sync_cluster(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	if (el->cluster_blocks == 1)
		return cj_builtin_sync(el, args, row);
	if (!cj_elab_needs_block(el, args->span, "sync_cluster()"))
		return cj_value_error();
	cj_elab_meet(el, 0, "sync_cluster()");
	cj_emit0(&el->em->b, CJ_OP_CLUSTER_BARRIER, 0, 0);
	return cj_value_none();
}

bool
cj_elab_check_rank(struct cj_elab *el, struct cj_span span, struct cj_int rank)
{
	if (!cj_is_known(rank) ||
	    (rank.value >= 0 && rank.value < el->cluster_blocks))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_OUT_OF_BOUNDS, span,
	    "there is no block %lld in a cluster of %lld",
	    (long long)rank.value, (long long)el->cluster_blocks),
	    "Ranks are 0 to %lld; the next one round is (block_rank + 1) %% "
	    "%lld.", (long long)el->cluster_blocks - 1,
	    (long long)el->cluster_blocks);
	return false;
}

/* One bit for each block that there is, and one at least. */
bool
cj_elab_check_ranks(struct cj_elab *el, struct cj_span span,
    const struct cj_value *bits)
{
	uint64_t all = ((uint64_t)1 << el->cluster_blocks) - 1;

	if (bits->kind != CJ_VALUE_SCALAR || (bits->bits != 0 &&
	    (bits->bits & ~all) == 0))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_OUT_OF_BOUNDS, span, "the bits %llu "
	    "name %s in a cluster of %lld", (unsigned long long)bits->bits,
	    bits->bits == 0 ? "no block" : "blocks that there are not",
	    (long long)el->cluster_blocks), "Bit r is for the block of rank "
	    "r: %llu is all of them.", (unsigned long long)all);
	return false;
}

struct cj_value
cj_elab_remote(struct cj_elab *el, const struct cj_tensor *own,
    struct cj_int rank)
{
	struct cj_tensor t = *own;

	t.is_remote = el->cluster_blocks > 1;
	t.rank = rank;
	return cj_value_tensor(el, &t);
}

struct cj_value
cj_builtin_remote(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *s = &args->at[0];
	struct cj_int rank;

	(void)row;
	if (s->kind == CJ_VALUE_ERROR ||
	    !cj_value_to_int(el, args->span, &args->at[1], &rank))
		return cj_value_error();
	if (s->kind != CJ_VALUE_TENSOR ||
	    el->m->objects.at[s->tensor->object].kind != CJ_OBJECT_SHARED)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "remote takes shared memory, this is %s",
		    cj_value_what(el, s));
	if (!cj_elab_check_rank(el, args->span, rank))
		return cj_value_error();
	return cj_elab_remote(el, s->tensor, rank);
}
