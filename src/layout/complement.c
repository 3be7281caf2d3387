/*
 * Complement: the elements of the target that a layout leaves out, as steps.
 *
 * The modes of the filtered layout in ascending order of stride, each must
 * start at or behind where the one before ended; the gaps between them and the
 * rest up to the target are the complement. Together they reach every element
 * of the target once, where each starts at a multiple of where the one before
 * ended; else they reach none twice.
 */
#include "layout_priv.h"

static bool
refuse_gap(struct cj_algebra *al, const struct cj_mode *m,
    struct cj_int end)
{
	bool unknown = !cj_is_known(m->stride->value) || !cj_is_known(end);

	cj_refuse(al, unknown ? CJ_REFUSED_SYMBOLIC : CJ_REFUSED_NONINJECTIVE,
	    "In ascending order, each stride has to be a multiple of the"
	    " stride before it times its extent.",
	    "mode %s:%s overlaps the modes of smaller stride, which end at"
	    " %s", cj_int_text(al, m->shape),
	    cj_tuple_text(al, m->stride), cj_int_text(al, end));
	return false;
}

/* Index of the mode of the smallest stride; false where it is not known. */
static bool
smallest(struct cj_algebra *al, const struct cj_modes *m, uint32_t *at)
{
	uint32_t i;

	*at = 0;
	for (i = 1; i < m->count; i++) {
		enum cj_truth less = cj_int_less(al->sym,
		    m->at[i].stride->value, m->at[*at].stride->value);

		if (less == CJ_YES)
			*at = i;
		if (less == CJ_MAYBE && cj_int_less_equal(al->sym,
		    m->at[*at].stride->value, m->at[i].stride->value)
		    != CJ_YES) {
			cj_refuse(al, CJ_REFUSED_SYMBOLIC, NULL,
			    "which of the strides %s and %s is smaller is"
			    " not known",
			    cj_tuple_text(al, m->at[i].stride),
			    cj_tuple_text(al, m->at[*at].stride));
			return false;
		}
	}
	return true;
}

/*
 * Gaps between the modes of m, which is used up; *end is where they end. A
 * known stride that is no multiple of where the mode before it ended leaves a
 * part of the gap out; the rest is still reached once.
 */
static bool
add_gaps(struct cj_algebra *al, struct cj_modes *m, struct cj_modes *out,
    struct cj_int *end)
{
	uint32_t i;

	assert(m->count > 0 && out->count == 0);
	*end = cj_known(1);
	while (m->count > 0) {
		struct cj_mode mode;
		struct cj_int gap;

		if (!smallest(al, m, &i))
			return false;
		assert(i < m->count);
		mode = m->at[i];
		m->at[i] = m->at[--m->count];
		gap = cj_int_div(al->sym, mode.stride->value, *end);
		if (cj_int_range(al->sym, gap).lo < 1)
			return refuse_gap(al, &mode, *end);
		if (!cj_is_known(mode.stride->value) && cj_int_equal(al->sym,
		    mode.stride->value, cj_int_mul(al->sym, gap, *end))
		    != CJ_YES)
			return refuse_gap(al, &mode, *end);
		cj_modes_add(al, out, gap, cj_tuple_int(al, *end));
		*end = cj_int_mul(al->sym, mode.stride->value, mode.shape);
	}
	return true;
}

static bool
usable(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_modes *m)
{
	uint32_t i;

	if ((l->stride->has & CJ_HAS_BASIS) != 0) {
		cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "%s gives coordinates; a complement is of numbers",
		    cj_layout_text(al, l));
		return false;
	}
	for (i = 0; i < m->count; i++) {
		if (cj_int_range(al->sym, m->at[i].stride->value).lo < 0
		    && cj_is_known(m->at[i].stride->value)) {
			cj_refuse(al, CJ_REFUSED_NONINJECTIVE, NULL,
			    "mode %s:%s has a negative stride",
			    cj_int_text(al, m->at[i].shape),
			    cj_tuple_text(al, m->at[i].stride));
			return false;
		}
		if (cj_is_value(m->at[i].shape, 0)) {
			cj_refuse(al, CJ_REFUSED_SHAPE_DIV, NULL,
			    "%s has an extent of 0", cj_layout_text(al, l));
			return false;
		}
	}
	return true;
}

/* Left-out parts of gaps must not make the complement too small. */
static bool
is_large_enough(struct cj_algebra *al, const struct cj_layout *filtered,
    const struct cj_tuple *cotarget, const struct cj_layout *c)
{
	struct cj_int size = cj_layout_size(al, filtered);
	struct cj_int n = cj_layout_size(al, c);

	if (al->as_cute || !cj_is_leaf(cotarget) || !cj_is_known(size)
	    || !cj_is_known(n) || !cj_is_known(cotarget->value)
	    || n.value >= cotarget->value.value / size.value)
		return true;
	cj_refuse(al, CJ_REFUSED_NONINJECTIVE,
	    "In ascending order, each stride has to be a multiple of the"
	    " stride before it times its extent.",
	    "the complement of %s in %s would leave elements out",
	    cj_layout_text(al, filtered), cj_tuple_text(al, cotarget));
	return false;
}

const struct cj_layout *
cj_layout_gaps(struct cj_algebra *al, const struct cj_layout *f,
    const struct cj_tuple *cotarget)
{
	const struct cj_tuple *rest, *stride;
	struct cj_modes m, gaps;
	struct cj_int end;

	cj_modes_init(&m);
	cj_modes_init(&gaps);
	cj_modes_flatten(al, &m, f->shape, f->stride);
	if (!usable(al, f, &m))
		return NULL;
	if (m.count == 1 && cj_stride_is(m.at[0].stride, 0))
		return cj_checked(al, cj_layout_make(al,
		    cj_shape_coalesce(al, cotarget), NULL));
	if (!add_gaps(al, &m, &gaps, &end))
		return NULL;
	rest = cj_tuple_ceil_div(al, cotarget, cj_tuple_int(al, end));
	rest = rest == NULL ? NULL : cj_shape_coalesce(al, rest);
	if (rest == NULL)
		return NULL;
	stride = cj_compact_left(al, rest, &end);
	cj_modes_flatten(al, &gaps, rest, stride);
	cj_coalesce_modes(al, &gaps);
	return cj_checked(al, cj_modes_layout(al, &gaps));
}

const struct cj_layout *
cj_layout_complement(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *cotarget)
{
	const struct cj_layout *f, *c;

	f = cj_layout_filter(al, cj_layout_inner(al, l));
	if (f == NULL)
		return NULL;
	if (cotarget == NULL)
		cotarget = cj_tuple_int(al, cj_layout_cosize(al, f));
	c = cj_layout_gaps(al, f, cotarget);
	return c != NULL && is_large_enough(al, f, cotarget, c) ? c : NULL;
}
