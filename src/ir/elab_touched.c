/*
 * Shared memory that is read by another layout than it was written by.
 *
 * A copy by TMA, a product and a view of threads each say where an element of a
 * tile lies. make_tensor() lets memory be seen by any layout, so two of them
 * may disagree, and what is read is a mixture of the right elements. Each use
 * is noted; when the launch is complete, whoever reads an object has to agree
 * with someone who writes it:
 *
 *	threads		by the swizzle: their own steps are theirs to choose
 *	copies, products	by the whole tile, where copies alone write it
 *			and both have its shape, in any order of modes
 *
 * make_tensor(..., raw = true) means the bytes, and is not noted.
 */
#include "elab_tiled.h"

enum { MOST_USES = 4096, MOST_ELEMENTS = 1 << 20, MOST_MODES = 5 };

struct cj_shared_use {
	uint32_t object;
	bool writes;
	const char *who;		/* NULL: threads */
	const struct cj_layout *layout;
	struct cj_int offset;
	struct cj_span span;
	cj_place place;
};

/* ---- noting -------------------------------------------------------------- */

static bool
has_swizzle(const struct cj_shared_use *a, const struct cj_shared_use *b)
{
	const struct cj_swizzle x = a->layout->swizzle,
	    y = b->layout->swizzle;

	return x.bits == y.bits && (x.bits == 0 || (x.base == y.base &&
	    x.shift == y.shift));
}

static bool
is_same(struct cj_elab *el, const struct cj_shared_use *a,
    const struct cj_shared_use *b)
{
	return a->object == b->object && a->writes == b->writes &&
	    (a->who == NULL) == (b->who == NULL) && has_swizzle(a, b) &&
	    (a->who == NULL ||
	    (cj_layout_same(a->layout, b->layout) &&
	    cj_int_equal(&el->sym, a->offset, b->offset) == CJ_YES));
}

void
cj_elab_touch(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, bool writes, const char *who)
{
	const struct cj_tuple *inner = t->layout->offset;
	struct cj_shared_use use = { t->object, writes, who, who == NULL ?
	    t->seen : t->layout, t->offset, span, el->em->b.place };
	uint32_t i;

	if (t->is_raw || use.layout == NULL || el->touches.len ==
	    MOST_USES || el->m->objects.at[t->object].kind != CJ_OBJECT_SHARED)
		return;
	if (inner != NULL && inner->kind == CJ_TUPLE_INT)
		use.offset = cj_int_add(&el->sym, t->offset, inner->value);
	for (i = 0; i < el->touches.len; i++)
		if (is_same(el, &el->touches.at[i], &use))
			return;
	*cj_push(el->arena, &el->touches) = use;
}

/* ---- tiles --------------------------------------------------------------- */

/* Modes longer than 1, known: extents, and where their steps lie before the
 * swizzle. */
struct tile {
	const struct cj_shared_use *touch;
	uint32_t rank, mode[MOST_MODES];
	int64_t extent[MOST_MODES], *step[MOST_MODES], size;
};

static int64_t *
steps_of(struct cj_elab *el, const struct cj_layout *plain, uint32_t mode,
    int64_t count)
{
	int64_t *at = CJ_NEWS(el->arena, int64_t, count), i;

	for (i = 0; i < count; i++)
		at[i] = cj_mode_step(el, plain, mode, i);
	return at;
}

static bool
make_tile(struct cj_elab *el, const struct cj_shared_use *touch, struct tile *t)
{
	const struct cj_layout *l = touch->layout;
	const struct cj_layout *plain = cj_unswizzled(el, l);
	uint32_t m, rank = cj_layout_rank(l);

	*t = (struct tile){ .touch = touch, .size = 1 };
	for (m = 0; m < rank; m++) {
		struct cj_int n = cj_tuple_product(&el->al,
		    cj_tuple_get(l->shape, m));

		if (!cj_is_known(n) || n.value > MOST_ELEMENTS)
			return false;
		if (n.value == 1)
			continue;
		if (t->rank == MOST_MODES)
			return false;
		t->mode[t->rank] = m;
		t->step[t->rank] = steps_of(el, plain, m, n.value);
		t->extent[t->rank++] = n.value;
		t->size *= n.value;
		if (t->size > MOST_ELEMENTS)
			return false;
	}
	return true;
}

/* Element `at` of modes in the order of `order`, before the swizzle. */
static int64_t
linear(const struct tile *t, const uint32_t *order, int64_t at)
{
	int64_t sum = 0;
	uint32_t i;

	for (i = 0; i < t->rank; i++) {
		sum += t->step[order[i]][at % t->extent[order[i]]];
		at /= t->extent[order[i]];
	}
	return sum;
}

static int64_t
swizzled(struct cj_elab *el, const struct cj_layout *l, int64_t at)
{
	return cj_swizzle_apply(&el->al, l->swizzle, cj_known(at)).value;
}

static const uint32_t straight[MOST_MODES] = { 0, 1, 2, 3, 4 };

static bool
has_steps(const struct tile *w, const struct tile *r, const uint32_t *order)
{
	uint32_t i;

	for (i = 0; i < w->rank; i++)
		if (memcmp(w->step[i], r->step[order[i]],
		    w->extent[i] * sizeof *w->step[i]) != 0)
			return false;
	return true;
}

/* The first element that is written and read at different places, when modes of
 * the reader are in this order; -1: none. */
static int64_t
first_apart(struct cj_elab *el, const struct tile *w, const struct tile *r,
    const uint32_t *order)
{
	int64_t i;

	if (has_swizzle(w->touch, r->touch) && has_steps(w, r, order))
		return -1;
	for (i = 0; i < w->size; i++)
		if (swizzled(el, w->touch->layout, linear(w, straight, i)) !=
		    swizzled(el, r->touch->layout, linear(r, order, i)))
			return i;
	return -1;
}

static bool
next_order(uint32_t *order, uint32_t n)
{
	uint32_t i, k, held;

	for (i = n; i-- > 1 && order[i - 1] > order[i];)
		;
	if (n < 2 || i == 0 || order[i - 1] > order[i])
		return false;
	for (k = n - 1; order[k] < order[i - 1]; k--)
		;
	held = order[k];
	order[k] = order[i - 1];
	order[i - 1] = held;
	for (k = n - 1; i < k; i++, k--) {
		held = order[i];
		order[i] = order[k];
		order[k] = held;
	}
	return true;
}

static bool
has_shape(const struct tile *w, const struct tile *r, const uint32_t *order)
{
	uint32_t i;

	for (i = 0; i < w->rank; i++)
		if (w->extent[i] != r->extent[order[i]])
			return false;
	return true;
}

/* Both begin at whole tiles, which is the same place of different stages. */
static bool
begin_alike(struct cj_elab *el, const struct tile *w, const struct tile *r)
{
	const struct cj_int a = w->touch->offset, b = r->touch->offset;

	return (cj_is_value(a, 0) || cj_int_divisor(&el->sym, a) % w->size ==
	    0) && (cj_is_value(b, 0) || cj_int_divisor(&el->sym, b) %
	    w->size == 0);
}

/* ---- comparing ----------------------------------------------------------- */

/* Where they are apart: element `at` of the writer's tile. */
struct apart {
	const struct cj_shared_use *writer;
	int64_t at, written, read;	/* places, in elements */
};

/*
 * By the swizzle alone: a place of the writer's tile that the reader looks for
 * elsewhere. A tile that is not known is as large as its object.
 */
static bool
swizzles_agree(struct cj_elab *el, const struct cj_shared_use *w,
    const struct cj_shared_use *r, struct apart *out)
{
	const struct cj_object *o = &el->m->objects.at[w->object];
	int64_t count = o->extent / (o->stages < 2 ? 1 : o->stages), i, at;
	struct tile t;
	bool is_tile;

	if (has_swizzle(w, r))
		return true;
	is_tile = w->who != NULL && make_tile(el, w, &t);
	for (i = 0; i < (is_tile ? t.size : count); i++) {
		at = is_tile ? linear(&t, straight, i) : i;
		*out = (struct apart){ w, i, swizzled(el, w->layout, at),
		    swizzled(el, r->layout, at) };
		if (out->written != out->read)
			return false;
	}
	return true;
}

static bool
tiles_agree(struct cj_elab *el, const struct cj_shared_use *w,
    const struct cj_shared_use *r, struct apart *out)
{
	uint32_t order[MOST_MODES];
	struct tile from, to;
	bool is_shape = false;
	int64_t i;

	if (has_swizzle(w, r) && cj_layout_same(w->layout, r->layout))
		return true;
	if (!make_tile(el, w, &from) || !make_tile(el, r, &to) ||
	    from.rank != to.rank || from.size != to.size ||
	    !begin_alike(el, &from, &to))
		return swizzles_agree(el, w, r, out);
	memcpy(order, straight, sizeof order);
	do {
		if (!has_shape(&from, &to, order))
			continue;
		i = first_apart(el, &from, &to, order);
		if (i < 0)
			return true;
		if (!is_shape)
			*out = (struct apart){ w, i, swizzled(el, w->layout,
			    linear(&from, straight, i)), swizzled(el,
			    r->layout, linear(&to, order, i)) };
		is_shape = true;
	} while (next_order(order, to.rank));
	return is_shape ? false : swizzles_agree(el, w, r, out);
}

/* "(0, 8)", or its number where the tile is not known. */
static const char *
element_text(struct cj_elab *el, const struct apart *a)
{
	struct cj_strbuf b;
	struct tile t;
	int64_t at = a->at;
	uint32_t m, i = 0, rank = cj_layout_rank(a->writer->layout);

	if (a->writer->who == NULL || !make_tile(el, a->writer, &t))
		return cj_printf(el->arena, "%lld", (long long)at);
	cj_strbuf_init(&b, el->arena);
	for (m = 0; m < rank; m++) {
		bool is_long = i < t.rank && t.mode[i] == m;

		cj_strbuf_printf(&b, "%s%lld", m == 0 ? "(" : ", ", is_long ?
		    (long long)(at % t.extent[i]) : 0);
		if (is_long)
			at /= t.extent[i++];
	}
	cj_strbuf_puts(&b, ")");
	return b.text;
}

static void
report(struct cj_elab *el, const struct cj_shared_use *r, const struct apart *a)
{
	const struct cj_object *o = &el->m->objects.at[r->object];
	const char *name = o->name == NULL ? "shared memory" :
	    cj_printf(el->arena, "\"%s\"", o->name);
	long long bits = cj_kind_bits(o->element);
	cj_place place = el->em->b.place;
	struct cj_diag *d;

	el->em->b.place = r->place;
	d = cj_elab_report(el, CJ_DIAG_WRONG_LAYOUT, r->span, "%s read%s %s "
	    "by another layout than %s wrote it: element %s was put at byte "
	    "%lld, and is looked for at byte %lld", r->who == NULL ?
	    "threads" : r->who, r->who == NULL ? "" : "s", name,
	    a->writer->who == NULL ? "threads" : a->writer->who,
	    element_text(el, a), (long long)a->written * bits / 8,
	    (long long)a->read * bits / 8);
	cj_note(d, a->writer->span, "written here as %s",
	    cj_layout_text(&el->al, a->writer->layout));
	cj_note(d, r->span, "read as %s", cj_layout_text(&el->al, r->layout));
	cj_help(d, "Give the copy and the memory the layout that it is read "
	    "by: smem_layout(T, shape) is one that products take. Where bytes "
	    "are meant, whatever they are: make_tensor(place, layout, raw = "
	    "true).");
	el->em->b.place = place;
}

/* Somebody writes what is read here, as it is read? */
static bool
finds_writer(struct cj_elab *el, const struct cj_shared_use *r,
    struct apart *out)
{
	bool is_written = false, by_threads = false;
	const struct cj_shared_use *w;
	struct apart a = { 0 };
	uint32_t i;

	for (i = 0; i < el->touches.len; i++)
		by_threads |= el->touches.at[i].object == r->object &&
		    el->touches.at[i].writes && el->touches.at[i].who == NULL;
	for (i = 0; i < el->touches.len; i++) {
		w = &el->touches.at[i];
		if (!w->writes || w->object != r->object)
			continue;
		if ((r->who != NULL && !by_threads ? tiles_agree :
		    swizzles_agree)(el, w, r, &a))
			return true;
		if (!is_written)
			*out = a;
		is_written = true;
	}
	return !is_written;
}

void
cj_elab_check_touches(struct cj_elab *el)
{
	struct apart a = { 0 };
	uint32_t i;

	/* where they are too many, one that agrees may be missing */
	for (i = 0; i < el->touches.len && el->touches.len < MOST_USES; i++)
		if (!el->touches.at[i].writes &&
		    !finds_writer(el, &el->touches.at[i], &a))
			report(el, &el->touches.at[i], &a);
	el->touches.len = 0;
}
