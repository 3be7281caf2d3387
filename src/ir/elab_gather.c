/*
 * gather(t, mode, indices): a view whose elements lie where indices say.
 *
 * Its element at c is that of t at c with c[mode] replaced by
 * indices[c[mode]]. The view has a layout as any other, so that every layout
 * operation works on it; in the gathered mode the stride is a symbol that
 * nobody computes with, of which only the divisor means something. What is
 * done to the layout is done too to the coordinates that the view's elements
 * have in the gathered shape, as it is for a cut (elab_tensor.c). From these
 * an access makes coordinates of t, once it has read the indices in them.
 *
 * So alignment and width follow from the layout alone, no vector lies along
 * the gathered mode, and a gathered view can be gathered again, guarded, and
 * cut, before and behind.
 *
 *	of the view	is answered for by
 *	places beyond the indices	a guard of the view
 *	indices outside of t		a guard that t had before
 */
#include "elab_gather.h"
#include "elab_tiled.h"

/* One that an access has read: where it stands, and what it is. */
struct cj_index_read {
	const struct cj_gather *through;
	const struct cj_tuple *at;
	struct cj_int value;
};

/* ---- coordinates --------------------------------------------------------- */

const struct cj_tuple *
cj_whole_coord(struct cj_elab *el, const struct cj_tuple *c,
    const struct cj_tuple *shape)
{
	const struct cj_tuple **at, *zero = cj_tuple_known(&el->al, 0);
	uint32_t i;

	if (cj_is_leaf(shape))
		return c;
	at = CJ_NEWS(el->arena, const struct cj_tuple *, shape->rank);
	for (i = 0; i < shape->rank; i++)
		at[i] = cj_whole_coord(el, cj_is_leaf(c) || i >= c->rank ?
		    zero : c->at[i], shape->at[i]);
	return cj_tuple_make(&el->al, at, shape->rank);
}

/* Mode `mode` of a tuple becomes `with`; a leaf is its only mode. */
static const struct cj_tuple *
replaced(struct cj_elab *el, const struct cj_tuple *t, uint32_t mode,
    const struct cj_tuple *with)
{
	const struct cj_tuple **at;
	uint32_t i;

	if (cj_is_leaf(t))
		return with;
	at = CJ_NEWS(el->arena, const struct cj_tuple *, t->rank);
	for (i = 0; i < t->rank; i++)
		at[i] = i == mode ? with : t->at[i];
	return cj_tuple_make(&el->al, at, t->rank);
}

/* ---- indices ------------------------------------------------------------- */

static const char *
name_of(const struct cj_elab *el, const struct cj_value *indices)
{
	return indices->kind != CJ_VALUE_TENSOR ? NULL :
	    el->m->objects.at[indices->tensor->object].name;
}

/* Behind a guard there may be places beyond the indices, which are not read;
 * whoever guarded them said so. */
static void
guard_index(struct cj_elab *el, struct cj_tensor *indices)
{
	struct cj_value *zero;

	if (indices->is_guarded)
		return;
	if (indices->cut == NULL)
		indices->cut = cj_cut_new(el, indices);
	zero = CJ_NEW(el->arena, struct cj_value);
	*zero = cj_value_known(0);
	indices->is_guarded = indices->has_fill = true;
	indices->fill = zero;
}

static struct cj_value
index_in_memory(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *indices, const struct cj_tuple *at, bool guarded)
{
	static const struct cj_how plain;
	struct cj_tensor from = *indices;
	bool outer = el->reads_index;
	struct cj_value one;

	if (guarded)
		guard_index(el, &from);
	else
		cj_tensor_watch_index(el, &from, indices, at);
	one = cj_tensor_element(el, span, &from, at);
	if (one.kind == CJ_VALUE_ERROR)
		return one;
	el->reads_index = true;
	one = cj_tensor_load(el, span, one.tensor, &plain);
	el->reads_index = outer;
	return one;
}

static struct cj_value
index_in_registers(struct cj_elab *el, struct cj_span span,
    const struct cj_value *indices, const struct cj_tuple *at, bool guarded)
{
	struct cj_value c = cj_value_from_tuple(el, at);
	struct cj_int place;

	if (guarded && cj_layout_offset(&el->al, cj_layout_make(&el->al,
	    indices->regs.shape, NULL), at, &place) && cj_is_known(place) &&
	    place.value >= cj_shape_count(indices->regs.shape))
		return cj_value_known(0);
	return cj_elab_index(el, span, *indices, &c, 1);
}

static struct cj_int
read_index(struct cj_elab *el, const struct cj_way *w,
    const struct cj_gather *g, const struct cj_tuple *at)
{
	struct cj_index_read *r;
	struct cj_value v;
	struct cj_int i;
	uint32_t n;

	for (n = 0; n < w->reads->done.len; n++) {
		r = &w->reads->done.at[n];
		if (r->through == g && cj_tuple_same(r->at, at))
			return r->value;
	}
	v = g->indices.kind == CJ_VALUE_TENSOR ? index_in_memory(el, w->span,
	    g->indices.tensor, at, w->is_guarded) : index_in_registers(el,
	    w->span, &g->indices, at, w->is_guarded);
	if (v.kind == CJ_VALUE_ERROR ||
	    !cj_value_to_int(el, w->span, &v, &i))
		i = cj_known(0);
	r = cj_push(el->arena, &w->reads->done);
	*r = (struct cj_index_read){ g, at, i };
	return i;
}

/* ---- the way of an access ------------------------------------------------ */

struct cj_way
cj_way_begin(struct cj_elab *el, struct cj_span span,
    struct cj_index_reads *reads, const struct cj_tensor *t,
    const struct cj_tuple *at)
{
	struct cj_way w = { .span = span, .reads = reads, .t = t, .at = at };

	if (reads == NULL && t->gather != NULL)
		w.reads = CJ_NEW(el->arena, struct cj_index_reads);
	return w;
}

bool
cj_way_on(struct cj_elab *el, struct cj_way *w)
{
	const struct cj_gather *g = w->t->gather;
	const struct cj_tuple *shape;

	if (g == NULL)
		return false;
	w->is_guarded |= w->t->is_guarded;
	w->at = cj_whole_coord(el, cj_cut_at(el, g->place, w->at),
	    g->place->limit);
	shape = g->from->layout->shape;
	w->index = read_index(el, w, g, cj_is_leaf(shape) ? w->at :
	    w->at->at[g->mode]);
	w->at = replaced(el, cj_is_leaf(shape) ? shape : w->at, g->mode,
	    cj_tuple_int(&el->al, w->index));
	w->extent = cj_tuple_product(&el->al, cj_tuple_get(shape, g->mode));
	w->mode = g->mode;
	w->name = name_of(el, &g->indices);
	w->t = g->from;
	return true;
}

struct cj_int
cj_gather_offset(struct cj_elab *el, struct cj_span span,
    struct cj_index_reads *reads, const struct cj_tensor *t,
    const struct cj_tuple *at)
{
	struct cj_way w = cj_way_begin(el, span, reads, t, at);
	struct cj_int offset = cj_known(0);
	const struct cj_tuple *shape;

	while (cj_way_on(el, &w))
		;
	shape = w.t->layout->shape;
	if ((cj_is_leaf(shape) || shape->rank != 0) &&
	    !cj_layout_offset(&el->al, w.t->layout, w.at, &offset)) {
		cj_elab_refused(el, span, "an access");
		return cj_known(0);
	}
	return cj_int_add(&el->sym, w.t->offset, offset);
}

bool
cj_tensor_is_guarded(const struct cj_tensor *t)
{
	while (!t->is_guarded && t->gather != NULL)
		t = t->gather->from;
	return t->is_guarded;
}

/* ---- the stride of a gathered mode --------------------------------------- */

/* What all strides of a mode are known to be multiples of. */
static int64_t
divisor_of(struct cj_elab *el, const struct cj_tuple *stride)
{
	int64_t a = 0, b;
	uint32_t i;

	if (cj_is_leaf(stride))
		return cj_int_divisor(&el->sym, stride->value);
	for (i = 0; i < stride->rank; i++) {
		b = divisor_of(el, stride->at[i]);
		while (b != 0) {
			int64_t rest = a % b;

			a = b;
			b = rest;
		}
	}
	return a;
}

static const char *
step_name(struct cj_elab *el, const struct cj_tuple *stride,
    const struct cj_value *indices)
{
	const char *name = name_of(el, indices);
	struct cj_strbuf out;

	cj_strbuf_init(&out, el->arena);
	if (cj_is_leaf(stride) && !cj_is_value(stride->value, 1)) {
		cj_int_print(&out, &el->sym, stride->value);
		cj_strbuf_putc(&out, '*');
	}
	cj_strbuf_printf(&out, "%s[]", name == NULL ? "indices" : name);
	return out.text;
}

static const struct cj_tuple *
steps_of(struct cj_elab *el, const struct cj_tuple *shape, const char *name,
    int64_t divisor)
{
	const struct cj_tuple **at;
	uint32_t i;

	if (cj_is_leaf(shape))
		return cj_tuple_int(&el->al, cj_elab_step(el, name,
		    divisor));
	at = CJ_NEWS(el->arena, const struct cj_tuple *, shape->rank);
	for (i = 0; i < shape->rank; i++)
		at[i] = steps_of(el, shape->at[i], name, divisor);
	return cj_tuple_make(&el->al, at, shape->rank);
}

bool
cj_gather_has_step(struct cj_elab *el, struct cj_int stride)
{
	const struct cj_term *t = cj_term_get(&el->sym, stride);
	struct cj_int part;
	uint32_t n;

	if (t == NULL)
		return false;
	if (t->kind == CJ_TERM_SYMBOL)
		return el->symbols.at[t->symbol].source == CJ_SOURCE_STEP;
	for (n = 0; cj_term_part(t, n, &part); n++)
		if (cj_gather_has_step(el, part))
			return true;
	return false;
}

/* ---- the built-in -------------------------------------------------------- */

static bool
is_memory(struct cj_elab *el, struct cj_args *args)
{
	const struct cj_value *v = &args->at[0];

	if (v->kind == CJ_VALUE_TENSOR &&
	    !cj_kind_is_place(v->tensor->element) &&
	    el->m->objects.at[v->tensor->object].kind != CJ_OBJECT_TMEM)
		return true;
	if (v->kind != CJ_VALUE_ERROR)
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_KIND,
		    cj_arg_span(args, 0), "gather takes a view of numbers in "
		    "memory, this is %s", cj_value_what(el, v)),
		    "Registers are chosen by known indices: \"const for\" "
		    "and r[i].");
	return false;
}

static bool
is_mode(struct cj_elab *el, struct cj_args *args, uint32_t *mode)
{
	uint32_t rank = cj_layout_rank(args->at[0].tensor->layout);
	int64_t n;

	if (!cj_value_to_known(el, cj_arg_span(args, 1), &args->at[1],
	    "the gathered mode", &n))
		return false;
	if (n >= 0 && n < rank) {
		*mode = (uint32_t)n;
		return true;
	}
	cj_elab_error(el, CJ_DIAG_WRONG_INDEX, cj_arg_span(args, 1),
	    "there is no mode %lld, the rank is %u", (long long)n, rank);
	return false;
}

/* The shape of the indices; NULL: they are none, which is reported. */
static const struct cj_tuple *
shape_of_indices(struct cj_elab *el, struct cj_args *args)
{
	const struct cj_value *v = &args->at[2];
	const struct cj_tuple *shape = NULL;

	if (v->kind == CJ_VALUE_TENSOR || v->kind == CJ_VALUE_REGS)
		shape = cj_value_shape(v);
	if (shape != NULL && (cj_is_leaf(shape) || shape->rank != 0) &&
	    cj_kind_is_integer(cj_value_kind_of(v)))
		return shape;
	if (v->kind != CJ_VALUE_ERROR)
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_KIND,
		    cj_arg_span(args, 2), "gather takes a view or registers "
		    "of integers as indices, this is %s",
		    cj_value_what(el, v)), "One row by its number is "
		    "x[i, _]; several in a run are x[a..b, _].");
	return NULL;
}

struct cj_value
cj_builtin_gather(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_value *indices = (struct cj_value *)args->at + 2;
	struct cj_gather *g = CJ_NEW(el->arena, struct cj_gather);
	const struct cj_tuple *shape, *stride;
	struct cj_layout *l;
	struct cj_tensor t;

	(void)row;
	if (indices->kind == CJ_VALUE_PLACE)
		*indices = cj_elab_read(el, cj_arg_span(args, 2), *indices);
	if (!is_memory(el, args) || !is_mode(el, args, &g->mode))
		return cj_value_error();
	shape = shape_of_indices(el, args);
	if (shape == NULL)
		return cj_value_error();
	t = *args->at[0].tensor;
	g->from = args->at[0].tensor;
	g->indices = *indices;
	stride = cj_tuple_get(t.layout->stride, g->mode);
	l = cj_memdup(el->arena, t.layout, sizeof *l);
	l->stride = replaced(el, l->stride, g->mode, steps_of(el, shape,
	    step_name(el, stride, indices), divisor_of(el, stride)));
	l->shape = replaced(el, l->shape, g->mode, shape);
	t.layout = l;
	g->place = cj_cut_new(el, &t);
	if (g->place == NULL)
		return cj_elab_refused(el, args->span, "gather");
	t.gather = g;
	t.cut = t.asked = NULL;
	t.unproved = NULL;
	t.is_guarded = false;
	t.pred = NULL;
	t.is_part = true;
	return cj_value_tensor(el, &t);
}

bool
cj_elab_not_gathered(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const char *what, const char *help)
{
	if (t->gather == NULL)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_GATHERED_VIEW, span,
	    "%s; the elements of a gathered view lie wherever its indices "
	    "say", what), "%s", help != NULL ? help : "Loads, stores, and "
	    "copies by universal_copy, vector and cp_async go through "
	    "indices: copy what is needed to shared memory first.");
	return false;
}

bool
cj_elab_not_guarded(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const char *what, const char *help)
{
	if (!cj_tensor_is_guarded(t))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_KIND, span, "%s, which a "
	    "guard does not go along with", what), "%s", help);
	return false;
}
