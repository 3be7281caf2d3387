/*
 * Overlap: what a kernel writes shares no memory with another argument, unless
 * the text says that it may and both are the very same view.
 *
 * Ranges of bytes that are apart share nothing; of others the strides decide
 * (reach.c). Once all is known but the addresses, as in a call like one before,
 * the pairs that have to be looked at and how far each reaches are fixed; there
 * ranges that meet are reason enough to look at all anew.
 */
#include "runtime.h"

struct range {
	uintptr_t begin, end;		/* bytes */
	const struct cj_view *view;
	const struct cj_object *object;
};

static struct range
range_of(const struct cj_object *o, const struct cj_view *v)
{
	int64_t bits = cj_kind_bits(v->kind) == 1 ? 8
	    : (int64_t)cj_kind_bits(v->kind);
	struct range r = { .view = v, .object = o };
	char *data = v->data;

	/* a byte that is shared in part is shared */
	r.begin = (uintptr_t)data + (uintptr_t)(v->lo * bits >> 3);
	r.end = (uintptr_t)data + (uintptr_t)((v->hi * bits + 7) >> 3);
	return r;
}

static bool
is_same_view(const struct cj_view *a, const struct cj_view *b)
{
	return a->data == b->data && a->rank == b->rank && a->kind == b->kind
	    && memcmp(a->extents, b->extents, a->rank * sizeof *a->extents)
	    == 0
	    && memcmp(a->strides, b->strides, a->rank * sizeof *a->strides)
	    == 0;
}

static bool
collide(const struct range *w, const struct range *r)
{
	if (w->begin >= r->end || r->begin >= w->end || w->begin == w->end
	    || r->begin == r->end)
		return false;
	if ((w->object->may_alias || r->object->may_alias)
	    && is_same_view(w->view, r->view))
		return false;
	return cj_views_meet(w->view, r->view);
}

static bool
range_at(const struct cj_module *ir, const struct cj_arguments *args,
    uint32_t object, struct range *out)
{
	const struct cj_object *o = &ir->objects.at[object];

	if (o->kind != CJ_OBJECT_TENSOR || !args->actuals[o->parameter].present
	    || o->member >= args->actuals[o->parameter].count)
		return false;
	*out = range_of(o, &args->views[o->parameter][o->member]);
	return true;
}

/* Two that collide (or one that does with itself): object numbers. */
static bool
find_collision(const struct cj_module *ir, const struct cj_arguments *args,
    uint32_t *first, uint32_t *second)
{
	struct range w, r;
	uint32_t i, k;

	for (i = 1; i < ir->objects.len; i++) {
		if (!ir->objects.at[i].writes || !range_at(ir, args, i, &w))
			continue;
		*first = *second = i;
		if (cj_view_meets_itself(w.view) >= 0)
			return true;
		for (k = 1; k < ir->objects.len; k++) {
			*second = k;
			if (k != i && range_at(ir, args, k, &r)
			    && collide(&w, &r))
				return true;
		}
	}
	return false;
}

/* ---- overlap, when only addresses change --------------------------------- */

void
cj_tensors_number(struct cj_arena *a, const struct cj_arguments *args,
    struct cj_tensors *out)
{
	uint32_t i;

	memset(out, 0, sizeof *out);
	out->first = CJ_NEWS(a, uint32_t, args->count);
	for (i = 0; i < args->count; i++) {
		out->first[i] = out->count;
		if (args->actuals[i].is_tensor)
			out->count += args->actuals[i].count;
	}
}

static bool
is_same_form(const struct cj_view *a, const struct cj_view *b)
{
	struct cj_view moved = *a;

	moved.data = b->data;
	return is_same_view(&moved, b);
}

static void
add_pair(const struct cj_module *ir, struct cj_tensors *t, uint32_t w,
    uint32_t r, const struct range *of_w, const struct range *of_r)
{
	const struct cj_object *a = &ir->objects.at[w];
	const struct cj_object *b = &ir->objects.at[r];
	struct cj_pair *p = &t->pairs[t->pair_count++];

	p->a = t->first[a->parameter] + a->member;
	p->b = t->first[b->parameter] + b->member;
	p->a_begin = (int64_t)(of_w->begin - (uintptr_t)of_w->view->data);
	p->a_end = (int64_t)(of_w->end - (uintptr_t)of_w->view->data);
	p->b_begin = (int64_t)(of_r->begin - (uintptr_t)of_r->view->data);
	p->b_end = (int64_t)(of_r->end - (uintptr_t)of_r->view->data);
	p->may_be_same = (a->may_alias || b->may_alias)
	    && is_same_form(of_w->view, of_r->view);
}

void
cj_tensors_pair(struct cj_arena *a, const struct cj_module *ir,
    const struct cj_arguments *args, struct cj_tensors *t)
{
	uint32_t n = ir->objects.len, i, k;
	struct range w, r;

	t->pairs = CJ_NEWS(a, struct cj_pair, (size_t)n * n);
	for (i = 1; i < n; i++) {
		if (!ir->objects.at[i].writes || !range_at(ir, args, i, &w)
		    || w.begin == w.end)
			continue;
		for (k = 1; k < n; k++)
			if (k != i && range_at(ir, args, k, &r)
			    && r.begin != r.end)
				add_pair(ir, t, i, k, &w, &r);
	}
}

bool
cj_tensors_overlap(const struct cj_tensors *t, const uintptr_t *address)
{
	uint32_t i;

	for (i = 0; i < t->pair_count; i++) {
		const struct cj_pair *p = &t->pairs[i];
		uintptr_t a = address[p->a], b = address[p->b];

		if (a + (uintptr_t)p->a_begin < b + (uintptr_t)p->b_end
		    && b + (uintptr_t)p->b_begin < a + (uintptr_t)p->a_end
		    && !(p->may_be_same && a == b))
			return true;
	}
	return false;
}

/* ---- overlap, described -------------------------------------------------- */

static const char *
overlaps_itself(struct cj_arena *a, const struct cj_object *w,
    const struct cj_view *v)
{
	int mode = cj_view_meets_itself(v);

	assert(mode >= 0);
	if (v->strides[mode] == 0)
		return cj_printf(a, "argument \"%s\" is written and overlaps "
		    "itself: mode %d has stride 0", w->name, mode);
	return cj_printf(a, "argument \"%s\" is written and overlaps itself: "
	    "mode %d goes %lld elements a step, where other modes come too",
	    w->name, mode, (long long)v->strides[mode]);
}

const char *
cj_overlap(struct cj_arena *a, const struct cj_module *ir,
    const struct cj_arguments *args)
{
	const struct cj_object *w, *r;
	uint32_t first, second;

	if (!find_collision(ir, args, &first, &second))
		return NULL;
	w = &ir->objects.at[first];
	r = &ir->objects.at[second];
	if (first == second)
		return overlaps_itself(a, w,
		    &args->views[w->parameter][w->member]);
	return cj_printf(a, "argument \"%s\" is written and shares memory "
	    "with argument \"%s\"", w->name, r->name);
}

/* ---- rights -------------------------------------------------------------- */

const char *
cj_read_only(struct cj_arena *a, const struct cj_module *ir,
    const struct cj_arguments *args)
{
	uint32_t i;

	for (i = 1; i < ir->objects.len; i++) {
		const struct cj_object *o = &ir->objects.at[i];

		if (o->kind == CJ_OBJECT_TENSOR && o->writes
		    && args->actuals[o->parameter].present
		    && o->member < args->actuals[o->parameter].count
		    && args->views[o->parameter][o->member].is_read_only)
			return cj_printf(a, "argument \"%s\" is written, and "
			    "marked as read-only", o->name);
	}
	return NULL;
}
