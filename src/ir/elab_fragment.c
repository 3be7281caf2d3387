/*
 * Fragments: the registers that a thread has of an operand of a tiled MMA, and
 * other orders in which the same registers are seen.
 */
#include "elab_tiled.h"

/* ---- new ones ------------------------------------------------------------ */

static struct cj_value
unwritten(struct cj_elab *el, enum cj_kind k, const struct cj_tuple *shape)
{
	struct cj_value v = { .kind = CJ_VALUE_UNWRITTEN };

	v.scalar = (uint8_t)k;
	v.level = el->em->level;
	v.regs.shape = shape;
	return v;
}


static struct cj_value
fragment(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row, enum cj_operand which)
{
	const struct cj_mma_value *m = cj_arg_mma(el, args, 0);
	const struct cj_value *fill = cj_arg_named(el, args, "fill");
	const struct cj_tuple *tile = cj_arg_tuple(el, args, 1), *shape;
	struct cj_fragment *f = CJ_NEW(el->arena, struct cj_fragment);
	struct cj_value v;
	enum cj_kind k;

	if (m == NULL || tile == NULL)
		return cj_value_error();
	if (el->em == NULL || el->time != CJ_TIME_DEVICE)
		return cj_elab_error(el, CJ_DIAG_WRONG_TIME, args->span,
		    "\"%s\" belongs to device code", row->name);
	if (cj_tuple_rank(tile) != 2 || !cj_tuple_is_known(tile))
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE,
		    cj_arg_span(args, 1), "%s takes a shape of two known "
		    "extents", row->name);
	if (!cj_mma_tile_divides(el, cj_arg_span(args, 1), m, which, tile))
		return cj_value_error();
	shape = cj_tiled_mma_partition_shape(&el->al, &m->tiled, which, tile);
	if (shape == NULL)
		return cj_elab_refused(el, args->span, row->name);
	if (!cj_elab_fits_registers(el, args->span, shape))
		return cj_value_error();
	k = cj_fragment_kind(m, which);
	if (fill == NULL) {
		v = unwritten(el, k, shape);
	} else {
		v = cj_elab_coerce(el, args->span, k, *fill);
		if (v.kind != CJ_VALUE_ERROR)
			v = cj_elab_broadcast(el, args->span, v, shape);
		if (v.kind == CJ_VALUE_ERROR)
			return v;
	}
	f->mma = m;
	f->which = which;
	f->tile = cj_tuple_product_each(&el->al, tile);
	v.fragment = f;
	return v;
}

#define FRAGMENT(name, operand)						\
	struct cj_value							\
	cj_builtin_fragment_##name(struct cj_elab *el,			\
	    struct cj_args *args, const struct cj_builtin *row)		\
	{								\
		return fragment(el, args, row, operand);		\
	}
FRAGMENT(a, CJ_OPERAND_A)
FRAGMENT(b, CJ_OPERAND_B)
FRAGMENT(c, CJ_OPERAND_C)

/* ---- thread and value ---------------------------------------------------- */

/* (thread, (V, (M, N))) as (thread, (V, M, N)). */
static const struct cj_tuple *
flat_values(struct cj_elab *el, const struct cj_tuple *t)
{
	const struct cj_tuple *values = t->at[1], *rest, *at[CJ_MAX_RANK];
	const struct cj_tuple *both[2];
	uint32_t i, n = 0;

	if (cj_is_leaf(values) || values->rank != 2 ||
	    cj_is_leaf(values->at[1]))
		return t;
	rest = values->at[1];
	at[n++] = values->at[0];
	for (i = 0; i < rest->rank && n < CJ_MAX_RANK; i++)
		at[n++] = rest->at[i];
	both[0] = t->at[0];
	both[1] = cj_tuple_make(&el->al, at, n);
	return cj_tuple_make(&el->al, both, 2);
}

const struct cj_layout *
cj_fragment_tv(struct cj_elab *el, struct cj_span span,
    const struct cj_fragment *f)
{
	const struct cj_layout *l;
	struct cj_layout *flat;

	if (f->tile == NULL) {
		cj_elab_error(el, CJ_DIAG_UNKNOWN_MEMBER, span,
		    "this is no fragment of a whole tile: it has no \"tv\"");
		return NULL;
	}
	l = cj_tiled_mma_tv_of(&el->al, &f->mma->tiled, f->which, f->tile);
	if (l == NULL) {
		cj_elab_refused(el, span, "tv");
		return NULL;
	}
	flat = cj_memdup(el->arena, l, sizeof *l);
	flat->shape = flat_values(el, l->shape);
	flat->stride = flat_values(el, l->stride);
	return flat;
}

/* ---- two fragments ------------------------------------------------------- */

/* Where each register of each thread stands in the tile. */
struct places {
	int64_t threads, registers;
	int64_t *at;			/* thread + threads * register */
};

static bool
list_places(struct cj_elab *el, struct cj_span span,
    const struct cj_fragment *f, struct places *p)
{
	const struct cj_layout *tv = cj_fragment_tv(el, span, f);
	size_t count;

	if (tv == NULL)
		return false;
	p->threads = cj_tuple_product(&el->al, tv->shape->at[0]).value;
	p->registers = cj_tuple_product(&el->al, tv->shape->at[1]).value;
	count = (size_t)(p->threads * p->registers);
	p->at = CJ_NEWS(el->arena, int64_t, count + 1);
	if (cj_layout_list(&el->al, tv, p->at, count))
		return true;
	cj_elab_refused(el, span, "tv");
	return false;
}

static const char *
coordinate(struct cj_elab *el, const struct cj_fragment *f, int64_t at)
{
	int64_t rows = cj_tuple_product(&el->al, f->tile->at[0]).value;

	return cj_printf(el->arena, "(%lld, %lld)", (long long)(at % rows),
	    (long long)(at / rows));
}

static bool
is_same_part(struct cj_elab *el, const struct cj_fragment *a,
    const struct cj_fragment *b)
{
	uint32_t i;

	if (a == NULL || b == NULL || a == b || a->tile == NULL ||
	    b->tile == NULL || (a->which == b->which &&
	    strcmp(a->mma->text, b->mma->text) == 0))
		return true;
	for (i = 0; i < 2; i++)
		if (cj_int_equal(&el->sym, cj_tuple_product(&el->al,
		    a->tile->at[i]), cj_tuple_product(&el->al,
		    b->tile->at[i])) != CJ_YES)
			return true;	/* other tiles: nothing to compare */
	return false;
}

static bool
report_parts(struct cj_elab *el, struct cj_span span,
    const struct cj_fragment *const f[2], const struct places p[2], int64_t i)
{
	struct cj_diag *d = cj_elab_report(el, CJ_DIAG_WRONG_FRAGMENT, span,
	    "register %lld of thread %lld is element %s of the tile in one "
	    "fragment, and %s in the other",
	    (long long)(i / p[0].threads), (long long)(i % p[0].threads),
	    coordinate(el, f[0], p[0].at[i]), coordinate(el, f[1],
	    p[1].at[i]));

	cj_note(d, (struct cj_span){ 0 }, "the layouts are %s of %s, and %s "
	    "of %s", cj_layout_text(&el->al, cj_fragment_tv(el, span, f[0])),
	    f[0]->mma->text, cj_layout_text(&el->al, cj_fragment_tv(el, span,
	    f[1])), f[1]->mma->text);
	cj_help(d, "Go through shared memory, or operand_a(mma, f) where a "
	    "result becomes a left operand; reshape(f, shape) says that the "
	    "registers are meant, whatever they are.");
	return false;
}

/* Fragments of other tiles: an extent of 1 would be taken for all of them. */
static bool
have_one_tile(struct cj_elab *el, struct cj_span span,
    const struct cj_fragment *a, const struct cj_fragment *b)
{
	uint32_t i;

	if (a == NULL || b == NULL || a->tile == NULL || b->tile == NULL ||
	    a->which != b->which)
		return true;
	for (i = 0; i < 2; i++)
		if (cj_int_equal(&el->sym, cj_tuple_product(&el->al,
		    a->tile->at[i]), cj_tuple_product(&el->al,
		    b->tile->at[i])) == CJ_NO)
			break;
	if (i == 2)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_FRAGMENT, span,
	    "a fragment of a tile %s meets one of a tile %s",
	    cj_tuple_text(&el->al, a->tile), cj_tuple_text(&el->al,
	    b->tile)), "local_tile(f, tile, coordinate) is what a fragment "
	    "has of a smaller tile; reshape(f, shape) says that the registers "
	    "are meant, whatever they are.");
	return false;
}

bool
cj_fragments_agree(struct cj_elab *el, struct cj_span span,
    const struct cj_fragment *a, const struct cj_fragment *b)
{
	const struct cj_fragment *const f[2] = { a, b };
	struct places p[2];
	int64_t t, r, i;

	if (!have_one_tile(el, span, a, b))
		return false;
	if (is_same_part(el, a, b))
		return true;
	if (!list_places(el, span, a, &p[0]) ||
	    !list_places(el, span, b, &p[1]))
		return false;
	if (p[0].threads != p[1].threads || p[0].registers != p[1].registers)
		return true;		/* shapes differ: said elsewhere */
	for (t = 0; t < p[0].threads; t++)
		for (r = 0; r < p[0].registers; r++) {
			i = t + r * p[0].threads;
			if (p[0].at[i] != p[1].at[i])
				return report_parts(el, span, f, p, i);
		}
	return true;
}

/* ---- other orders -------------------------------------------------------- */

struct cj_value
cj_elab_seen_as(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v, const struct cj_layout *l)
{
	uint32_t count = cj_shape_count(l->shape), *at, i;
	int64_t *places = CJ_NEWS(el->arena, int64_t, count + 1);
	struct cj_value made = *v;
	struct cj_slot *s;

	made.fragment = NULL;
	if (v->kind == CJ_VALUE_PLACE) {
		s = cj_memdup(el->arena, v->slot, sizeof *s);
		s->layout = l;
		made.slot = s;
		return made;
	}
	if (!cj_layout_list(&el->al, l, places, count))
		return cj_elab_refused(el, span, "fragment");
	at = CJ_NEWS(el->arena, uint32_t, count);
	for (i = 0; i < count; i++)
		at[i] = (uint32_t)places[i];
	return cj_value_regs(el, (enum cj_kind)v->scalar, l->shape,
	    cj_elab_permute(el, cj_elab_ref(el, v, CJ_KIND_VOID), at, count));
}

const struct cj_layout *
cj_elab_registers_of(struct cj_elab *el, struct cj_args *args, uint32_t i)
{
	const struct cj_value *v = &args->at[i];

	if (cj_elab_is_registers(v))
		return v->kind == CJ_VALUE_PLACE ? v->slot->layout :
		    cj_layout_make(&el->al, v->regs.shape, NULL);
	if (v->kind != CJ_VALUE_ERROR)
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, cj_arg_span(args, i),
		    "a fragment is needed, this is %s", cj_value_what(el, v));
	return NULL;
}

struct cj_value
cj_builtin_retile(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_copy_value *c = cj_arg_copy(el, args, 0);
	const struct cj_layout *l = cj_elab_registers_of(el, args, 1);

	if (c == NULL || l == NULL)
		return cj_value_error();
	l = c->mma == NULL ? cj_tiled_copy_retile(&el->al, &c->tiled, l) :
	    cj_tiled_copy_retile_of(&el->al, &c->tiled, &c->mma->tiled,
	    c->which, l);
	if (l == NULL)
		return cj_elab_refused(el, args->span, row->name);
	return cj_elab_seen_as(el, args->span, &args->at[1], l);
}

/* Modes of a layout in two lists. */
struct halves {
	const struct cj_tuple *shape[2][CJ_MAX_RANK];
	const struct cj_tuple *stride[2][CJ_MAX_RANK];
	uint32_t count[2];
};

static void
add_mode(struct halves *h, unsigned which, const struct cj_tuple *shape,
    const struct cj_tuple *stride)
{
	assert(which < 2 && h->count[which] < CJ_MAX_RANK);
	h->shape[which][h->count[which]] = shape;
	h->stride[which][h->count[which]++] = stride;
}

/* The atom's values: strides below M go along rows. */
static void
add_values(struct halves *h, const struct cj_tuple *atom,
    const struct cj_tuple *shape, const struct cj_tuple *stride,
    int64_t rows)
{
	uint32_t i;

	if (!cj_is_leaf(shape)) {
		for (i = 0; i < shape->rank; i++)
			add_values(h, cj_is_leaf(atom) ? atom : atom->at[i],
			    shape->at[i], stride->at[i], rows);
		return;
	}
	add_mode(h, atom->kind == CJ_TUPLE_INT && atom->value.value >= rows,
	    shape, stride);
}

static const struct cj_tuple *
list(struct cj_elab *el, const struct cj_tuple *const *at, uint32_t count)
{
	return count == 1 ? at[0] : cj_tuple_make(&el->al, at, count);
}

/* (V, M, N) as (rows, columns). */
static const struct cj_layout *
rows_columns(struct cj_elab *el, const struct cj_mma_atom *atom,
    const struct cj_layout *l)
{
	const struct cj_tuple *shape[2], *stride[2];
	struct halves h = { .count = { 0, 0 } };
	struct cj_layout *made = cj_memdup(el->arena, l, sizeof *l);
	uint32_t i;

	add_values(&h, atom->c->stride->at[1], l->shape->at[0],
	    l->stride->at[0], atom->shape->at[0]->value.value);
	add_mode(&h, 0, l->shape->at[1], l->stride->at[1]);
	add_mode(&h, 1, l->shape->at[2], l->stride->at[2]);
	for (i = 0; i < 2; i++) {
		shape[i] = list(el, h.shape[i], h.count[i]);
		stride[i] = list(el, h.stride[i], h.count[i]);
	}
	made->shape = cj_tuple_make(&el->al, shape, 2);
	made->stride = cj_tuple_make(&el->al, stride, 2);
	return made;
}

struct seen {
	struct cj_elab *el;
	const struct cj_mma_atom *atom;
};

static const struct cj_layout *
do_rows_columns(struct cj_algebra *al, const struct cj_layout *l, void *user)
{
	const struct seen *s = user;

	(void)al;
	return rows_columns(s->el, s->atom, l);
}

static bool
is_accumulator(const struct cj_value *v)
{
	const struct cj_tuple *shape = v->kind == CJ_VALUE_LAYOUT ?
	    v->layout->shape : cj_value_shape(v);

	return v->fragment != NULL && v->fragment->which == CJ_OPERAND_C &&
	    shape != NULL && !cj_is_leaf(shape) && shape->rank == 3;
}

struct cj_value
cj_builtin_row_col(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_value v = args->at[0];
	struct seen seen = { .el = el };
	const struct cj_mma_atom *atom;
	const struct cj_layout *l;

	if (!is_accumulator(&v))
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "row_col takes what fragment_c() or partition_c() made, "
		    "this is %s", cj_value_what(el, &v));
	atom = &v.fragment->mma->atom->mma;
	if (v.kind == CJ_VALUE_LAYOUT)
		return cj_value_layout(rows_columns(el, atom, v.layout));
	if (v.kind == CJ_VALUE_TENSOR) {
		seen.atom = atom;
		return cj_tensor_map(el, args->span, v.tensor,
		    do_rows_columns, &seen, row->name);
	}
	l = cj_elab_registers_of(el, args, 0);
	return l == NULL ? cj_value_error() : cj_elab_seen_as(el, args->span,
	    &v, rows_columns(el, atom, l));
}

/* ---- a result as the next left operand ----------------------------------- */

/* The register of a result for each of the left operand, the same in every
 * thread; false: thread *thread lacks the element *missing. */
static bool
match_registers(const struct places *from, const struct places *to,
    uint32_t *at, int64_t *thread, int64_t *missing)
{
	int64_t t, r, k;

	for (t = 0; t < to->threads; t++)
		for (r = 0; r < to->registers; r++) {
			*thread = t;
			*missing = to->at[t + r * to->threads];
			for (k = 0; t == 0 && k < from->registers; k++)
				if (from->at[k * from->threads] == *missing)
					break;
			if (t == 0)
				at[r] = (uint32_t)k;
			k = at[r];
			if (k >= from->registers ||
			    from->at[t + k * from->threads] != *missing)
				return false;
		}
	return true;
}

static struct cj_value
report_missing(struct cj_elab *el, struct cj_span span,
    const struct cj_fragment *f, int64_t thread, int64_t missing)
{
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "thread %lld does not hold the element %s that it needs for the "
	    "left operand", (long long)thread, coordinate(el, f, missing)),
	    "Both MMAs must lie over the threads in one column: atom "
	    "layout (n, 1, 1), and no permutation of N.");
	return cj_value_error();
}

struct cj_value
cj_builtin_operand_a(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_mma_value *m = cj_arg_mma(el, args, 0);
	struct cj_value v = cj_elab_read(el, args->span, args->at[1]);
	struct cj_fragment *f = CJ_NEW(el->arena, struct cj_fragment);
	const struct cj_tuple *shape;
	struct places from, to;
	int64_t thread = 0, missing = 0;
	uint32_t *at;
	cj_ref ref;

	if (m == NULL || v.kind == CJ_VALUE_ERROR)
		return cj_value_error();
	if (!is_accumulator(&v) || v.kind != CJ_VALUE_REGS ||
	    v.fragment->tile == NULL)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND,
		    cj_arg_span(args, 1), "operand_a takes the result of an "
		    "MMA in registers, this is %s", cj_value_what(el, &v));
	v = cj_elab_coerce(el, cj_arg_span(args, 1), m->atom->a, v);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	*f = (struct cj_fragment){ m, CJ_OPERAND_A, v.fragment->tile };
	shape = cj_tiled_mma_partition_shape(&el->al, &m->tiled, CJ_OPERAND_A,
	    f->tile);
	if (shape == NULL)
		return cj_elab_refused(el, args->span, row->name);
	if (!list_places(el, args->span, v.fragment, &from) ||
	    !list_places(el, args->span, f, &to))
		return cj_value_error();
	if (to.registers != from.registers)
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
		    "the left operand has %lld registers of each thread, the "
		    "result %lld", (long long)to.registers,
		    (long long)from.registers);
	at = CJ_NEWS(el->arena, uint32_t, (size_t)to.registers + 1);
	if (to.threads != from.threads || !match_registers(&from, &to, at,
	    &thread, &missing))
		return report_missing(el, args->span, f, thread, missing);
	ref = cj_elab_ref(el, &v, CJ_KIND_VOID);
	v = cj_value_regs(el, m->atom->a, shape, cj_elab_permute(el, ref,
	    at, (uint32_t)to.registers));
	v.fragment = f;
	return v;
}
