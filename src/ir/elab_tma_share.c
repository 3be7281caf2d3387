/*
 * Tiles that blocks of a cluster load together: each sends a part of every box
 * to all of them.
 */
#include "elab_tma.h"

/* The part that this block sends, and the blocks that it goes to. */
struct sharing {
	uint32_t modes;		/* bits; 0: nobody shares */
	struct cj_int part;
	cj_ref ranks;
};

static bool
check_cluster(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t)
{
	const int64_t *c = el->m->functions.at[el->em->function].cluster;

	if ((t->along[0] == 1 || t->along[0] == c[0]) &&
	    (t->along[1] == 1 || t->along[1] == c[1]))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span, "this load is "
	    "for clusters of %lld x %lld blocks that share it, the launch has "
	    "%lld x %lld", (long long)t->along[0], (long long)t->along[1],
	    (long long)c[0], (long long)c[1]), "A load is shared by all "
	    "blocks along a mode of the cluster, or by one: launch cluster("
	    "%lld, %lld), or say multicast = (%lld, %lld).",
	    (long long)(t->along[0] > 1 ? t->along[0] : c[0]),
	    (long long)(t->along[1] > 1 ? t->along[1] : c[1]),
	    (long long)(t->along[0] > 1 ? c[0] : 1),
	    (long long)(t->along[1] > 1 ? c[1] : 1));
	return false;
}

/* `bits` shifted up by the index. */
static cj_ref
shifted(struct cj_elab *el, uint32_t bits, struct cj_int by)
{
	const cj_type t = cj_type_of(CJ_KIND_U32, 1);
	struct cj_builder *b = &el->em->b;
	cj_ref low = cj_emit_bits(b, t, bits), n;

	if (cj_is_value(by, 0))
		return low;
	n = cj_elab_ref_int(el, by);
	return cj_emit2(b, CJ_OP_SHL, t, low, cj_emit1(b, CJ_OP_CONVERT, t,
	    n));
}

/* Blocks have rank x + X y. */
static void
find_sharing(struct cj_elab *el, const struct cj_tma_value *t,
    struct sharing *s)
{
	const int64_t *c = el->m->functions.at[el->em->function].cluster;
	struct cj_int rank, x, y;
	uint32_t row = ((uint32_t)1 << c[0]) - 1, column = 0;
	int64_t i;

	memset(s, 0, sizeof *s);
	s->modes = (t->along[0] > 1) | (uint32_t)(t->along[1] > 1) << 1;
	if (s->modes == 0)
		return;
	rank = cj_elab_special(el, CJ_SPECIAL_BLOCK_RANK);
	x = cj_int_mod(&el->sym, rank, cj_known(c[0]));
	y = cj_int_div(&el->sym, rank, cj_known(c[0]));
	for (i = 0; i < c[1]; i++)
		column |= (uint32_t)1 << (c[0] * i);
	s->part = s->modes == 1 ? x : s->modes == 2 ? y : rank;
	s->ranks = s->modes == 1 ? shifted(el, row, cj_int_mul(&el->sym, y,
	    cj_known(c[0]))) : s->modes == 2 ? shifted(el, column, x) :
	    shifted(el, ((uint32_t)1 << (c[0] * c[1])) - 1, cj_known(0));
}

/* Each block counts all parts, so that all must be sent each time. */
static bool
stands_in_stage(struct cj_elab *el, struct cj_span span)
{
	const struct cj_region_info *g = &el->m->regions.at[el->em->b.region];

	if (g->owner != 0 && cj_inst(el->m, g->owner)->op == CJ_OP_PRODUCE)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span,
	    "a tile that blocks share is copied in a produce block itself, "
	    "with no condition around"), "Every block sends its part of every "
	    "tile.");
	return false;
}

bool
cj_tma_share_load(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, struct cj_tma_boxes *boxes,
    struct cj_tma_place *to)
{
	struct sharing share = { 0 };
	uint32_t cut = t->mode[t->cut_mode];

	if (t->stores || t->along[0] * t->along[1] <= 1)
		return true;
	if (boxes->copy.signal != 0) {
		cj_elab_error(el, CJ_DIAG_WRONG_PLACE, span,
		    "what blocks share is copied into stages of a pipeline");
		return false;
	}
	if (!check_cluster(el, span, t) || !stands_in_stage(el, span))
		return false;
	find_sharing(el, t, &share);
	boxes->ranks = share.ranks;
	boxes->copy.share = share.modes;
	boxes->copy.cut = t->cut_mode;
	to->at[cut] = cj_int_add(&el->sym, to->at[cut], cj_int_mul(&el->sym,
	    share.part, cj_known(t->cut_extent * t->step[cut])));
	boxes->place = cj_int_add(&el->sym, boxes->place, cj_int_mul(&el->sym,
	    share.part, cj_known(t->cut_step)));
	return true;
}
