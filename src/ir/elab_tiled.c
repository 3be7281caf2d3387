/*
 * Tiled MMAs and tiled copies: making them, and what a thread has of a tensor
 * that they cut. Views keep their coordinates (elab_tensor.c), so that guards
 * and coordinate tensors are cut the same way.
 */
#include "elab_tiled.h"

/* ---- arguments ----------------------------------------------------------- */

static const struct cj_atom_value *
atom_arg(struct cj_elab *el, struct cj_args *args, uint32_t i, bool is_mma)
{
	const struct cj_value *v = &args->at[i];

	if (v->kind == CJ_VALUE_ATOM && cj_atom_is_mma(v->atom) == is_mma)
		return v->atom;
	if (v->kind != CJ_VALUE_ERROR)
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, cj_arg_span(args, i),
		    "an atom that %s is needed, this is %s", is_mma ?
		    "multiplies" : "copies", cj_value_what(el, v));
	return NULL;
}

const struct cj_mma_value *
cj_arg_mma(struct cj_elab *el, struct cj_args *args, uint32_t i)
{
	const struct cj_value *v = &args->at[i];

	if (v->kind == CJ_VALUE_MMA)
		return v->mma;
	if (v->kind != CJ_VALUE_ERROR)
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_KIND,
		    cj_arg_span(args, i), "a tiled MMA is needed, this is %s",
		    cj_value_what(el, v)), "Make one: tiled_mma(atom, "
		    "(m, n, k)).");
	return NULL;
}

const struct cj_copy_value *
cj_arg_copy(struct cj_elab *el, struct cj_args *args, uint32_t i)
{
	const struct cj_value *v = &args->at[i];

	if (v->kind == CJ_VALUE_COPY && v->copy->tma == NULL)
		return v->copy;
	if (v->kind != CJ_VALUE_ERROR)
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_KIND,
		    cj_arg_span(args, i), "a tiled copy is needed, this is %s",
		    cj_value_what(el, v)), "Make one: tiled_copy(atom, "
		    "threads, values).");
	return NULL;
}

/* ---- making -------------------------------------------------------------- */

struct cj_value
cj_builtin_tiled_mma(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_mma_value *m = CJ_NEW(el->arena, struct cj_mma_value);
	const struct cj_layout *atoms;
	const struct cj_tuple *permutation = NULL;

	m->atom = atom_arg(el, args, 0, true);
	if (m->atom == NULL)
		return cj_value_error();
	atoms = cj_arg_layout(el, args, 1);
	if (args->count > 2)
		permutation = cj_arg_tuple(el, args, 2);
	if (atoms == NULL || (args->count > 2 && permutation == NULL) ||
	    !cj_elab_check_numbering(el, cj_arg_span(args, 1), atoms,
	    CJ_MOST_THREADS / cj_layout_size(&el->al,
	    m->atom->mma.threads).value, "atoms"))
		return cj_value_error();
	if (!cj_tiled_mma_make(&el->al, &m->atom->mma, atoms, permutation,
	    &m->tiled))
		return cj_elab_refused(el, args->span, row->name);
	if (!cj_elab_check_permutation(el, cj_arg_span(args, args->count > 2 ?
	    2 : 0), m))
		return cj_value_error();
	if (cj_tiled_mma_tile(&el->al, &m->tiled) == NULL)
		return cj_elab_refused(el, args->span, row->name);
	m->text = cj_elab_call_text(el, row->name, args);
	return (struct cj_value){ .kind = CJ_VALUE_MMA, .mma = m };
}

static struct cj_value
copy_value(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row, const struct cj_copy_value *made, bool ok)
{
	struct cj_copy_value *c;

	if (!ok)
		return cj_elab_refused(el, args->span, row->name);
	c = cj_memdup(el->arena, made, sizeof *made);
	c->text = cj_elab_call_text(el, row->name, args);
	return (struct cj_value){ .kind = CJ_VALUE_COPY, .copy = c };
}

/* The atom with layouts of elements; false: reported. */
static bool
begin_copy(struct cj_elab *el, struct cj_args *args, enum cj_kind k,
    struct cj_copy_value *c, struct cj_copy_atom *atom)
{
	c->atom = atom_arg(el, args, 0, false);
	if (c->atom == NULL)
		return false;
	if (c->atom->element != CJ_KIND_VOID)
		k = c->atom->element;
	c->bits = cj_kind_bits(k);
	if (cj_copy_atom_values(&el->al, &c->atom->copy, (int)c->bits, atom)) {
		atom->name = c->atom->text;
		return true;
	}
	cj_elab_error(el, CJ_DIAG_NO_ATOM, args->span,
	    "%s cannot move elements of %u bits", c->atom->text, c->bits);
	return false;
}

/* tiled_copy(atom, t): of tensor memory that lies as t. */
static struct cj_value
tmem_copy(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_copy_value c = { 0 };
	const struct cj_value *t = &args->at[1];
	struct cj_copy_atom atom;
	bool ok;

	if (t->kind == CJ_VALUE_ERROR)
		return cj_value_error();
	c.atom = atom_arg(el, args, 0, false);
	if (c.atom == NULL)
		return cj_value_error();
	if (!cj_is_tmem(el, t) || (c.atom->use != CJ_ATOM_TMEM_LOAD &&
	    c.atom->use != CJ_ATOM_TMEM_STORE)) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS,
		    args->span, "tiled_copy(atom, t) is for tmem_load() or "
		    "tmem_store(), and t in tensor memory"),
		    "Others: tiled_copy(atom, threads, values).");
		return cj_value_error();
	}
	c.bits = cj_kind_bits(t->tensor->element);
	if (c.atom->packs && c.bits != 16)
		return cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "%s is for elements of 16 bits, these are %s",
		    c.atom->text, cj_kind_text(t->tensor->element));
	ok = cj_copy_atom_values(&el->al, &c.atom->copy, (int)c.bits, &atom)
	    && cj_tmem_copy_make(&el->al, &atom, (int)c.bits,
	    t->tensor->layout, &c.tiled);
	return copy_value(el, args, row, &c, ok);
}

struct cj_value
cj_builtin_tiled_copy(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_copy_value c = { 0 };
	struct cj_copy_atom atom;
	const struct cj_layout *threads, *values;

	if (args->count == 2)
		return tmem_copy(el, args, row);
	if (!begin_copy(el, args, CJ_KIND_F16, &c, &atom))
		return cj_value_error();
	threads = cj_arg_layout(el, args, 1);
	values = cj_arg_layout(el, args, 2);
	if (threads == NULL || values == NULL ||
	    !cj_elab_check_numbering(el, cj_arg_span(args, 1), threads,
	    CJ_MOST_THREADS, "threads") || !cj_elab_check_numbering(el,
	    cj_arg_span(args, 2), values, CJ_MOST_VALUES, "values") ||
	    !cj_copy_values_fit(el, args, &c, &atom, c.atom->element,
	    cj_layout_size(&el->al, values).value))
		return cj_value_error();
	return copy_value(el, args, row, &c, cj_tiled_copy_make(&el->al,
	    &atom, threads, values, &c.tiled));
}

enum cj_kind
cj_fragment_kind(const struct cj_mma_value *mma, enum cj_operand which)
{
	switch (which) {
	case CJ_OPERAND_A: return mma->atom->a;
	case CJ_OPERAND_B: return mma->atom->b;
	case CJ_OPERAND_C: break;
	}
	return mma->atom->c;
}

/* Matrices are turned by 16 bits, which an operand has as one element. */
static bool
may_turn(struct cj_elab *el, struct cj_args *args,
    const struct cj_atom_value *a, enum cj_kind k)
{
	if (!a->is_transposed || cj_kind_bits(k) == 16)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_NO_ATOM, cj_arg_span(args, 0),
	    "%s turns elements of 16 bits, the operand has %s", a->text,
	    cj_kind_text(k)), "Where K is not the mode of stride 1, "
	    "universal_copy(%s) takes its elements one by one.",
	    cj_kind_text(k));
	return false;
}

static struct cj_value
copy_for_mma(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row, enum cj_operand which)
{
	const struct cj_mma_value *m = cj_arg_mma(el, args, 1);
	struct cj_copy_value c = { 0 };
	struct cj_copy_atom atom;
	const struct cj_layout *tv;
	enum cj_kind k;

	if (m == NULL)
		return cj_value_error();
	c.mma = m;
	c.which = which;
	k = cj_fragment_kind(m, which);
	/* results are converted to a narrow type before they are stored */
	if (which == CJ_OPERAND_C && cj_kind_bits(k) > 16)
		k = CJ_KIND_F16;
	if (!begin_copy(el, args, k, &c, &atom) ||
	    !may_turn(el, args, c.atom, k))
		return cj_value_error();
	tv = cj_tiled_mma_tv(&el->al, &m->tiled, which);
	if (tv != NULL && !cj_copy_values_fit(el, args, &c, &atom, k,
	    cj_tuple_product(&el->al, cj_tuple_get(tv->shape, 1)).value))
		return cj_value_error();
	return copy_value(el, args, row, &c, cj_tiled_copy_for_mma(&el->al,
	    &atom, &m->tiled, which, &c.tiled));
}

struct cj_value
cj_builtin_tiled_copy_a(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return copy_for_mma(el, args, row, CJ_OPERAND_A);
}

struct cj_value
cj_builtin_tiled_copy_b(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return copy_for_mma(el, args, row, CJ_OPERAND_B);
}

struct cj_value
cj_builtin_tiled_copy_c(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return copy_for_mma(el, args, row, CJ_OPERAND_C);
}

/* ---- cutting ------------------------------------------------------------- */

/* One of both. */
struct cut {
	const struct cj_mma_value *mma;
	enum cj_operand which;
	const struct cj_copy_value *copy;
	enum cj_side side;
	/* what was cut when it was looked at: of a view and its coordinates */
	const struct cj_layout *whole[2], *made[2];
};

static const struct cj_layout *
do_cut(struct cj_algebra *al, const struct cj_layout *l, void *user)
{
	const struct cut *c = user;
	unsigned i;

	if (c->mma != NULL)
		return cj_tiled_mma_thrfrg(al, &c->mma->tiled, c->which, l);
	for (i = 0; i < CJ_LENGTH(c->whole); i++)
		if (c->whole[i] == l && c->made[i] != NULL)
			return c->made[i];
	return cj_tiled_copy_thrfrg(al, &c->copy->tiled, c->side, l);
}

/* Is it refused because the copy's tile does not divide? Says so. */
static bool
is_misfit(struct cj_elab *el, struct cj_span span, struct cut *c, unsigned i,
    const struct cj_layout *whole)
{
	if (c->copy == NULL)
		return false;
	c->whole[i] = whole;
	c->made[i] = do_cut(&el->al, whole, c);
	return c->made[i] == NULL &&
	    !cj_copy_tile_divides(el, span, c->copy, whole->shape);
}

/* The view, which holds whole tiles or says where it ends; NULL: reported. */
static const struct cj_tensor *
in_tiles(struct cj_elab *el, struct cj_span span, const struct cj_tensor *t,
    const struct cut *c)
{
	return c->copy != NULL ? cj_tensor_in_tiles(el, span, t,
	    c->copy->tiled.tiler, "the tile of the copy") :
	    cj_tensor_in_tiles(el, span, t, cj_tiled_mma_operand(&el->al,
	    &c->mma->tiled, c->which), "the tile of the MMA");
}

/* What one thread has, of all threads' `shape`. */
static const struct cj_tuple *
thread_coord(struct cj_elab *el, const struct cut *c,
    const struct cj_tuple *shape, uint32_t rank, struct cj_int thread)
{
	if (c->mma != NULL)
		return cj_tiled_mma_coord(&el->al, &c->mma->tiled, c->which,
		    shape, thread);
	return cj_tiled_copy_coord(&el->al, rank, thread);
}

static struct cj_value
cut_layout(struct cj_elab *el, struct cj_span span,
    const struct cj_layout *whole, struct cut *c, struct cj_int thread,
    const char *name)
{
	const struct cj_layout *l;
	const struct cj_tuple *coord;

	if (is_misfit(el, span, c, 0, whole))
		return cj_value_error();
	l = do_cut(&el->al, whole, c);
	if (l == NULL)
		return cj_elab_refused(el, span, name);
	coord = thread_coord(el, c, l->shape, cj_layout_rank(whole), thread);
	l = coord == NULL ? NULL : cj_layout_view(&el->al, l, coord);
	return l == NULL ? cj_elab_refused(el, span, name) :
	    cj_value_layout(l);
}

/* A thread's part of the view `t`. */
static struct cj_value
dealt(struct cj_elab *el, struct cj_value part, const struct cj_tensor *t,
    const struct cut *c)
{
	struct cj_tensor *made;

	if (part.kind != CJ_VALUE_TENSOR)
		return part;
	made = cj_memdup(el->arena, part.tensor, sizeof *made);
	made->is_dealt = true;
	made->along = c->copy == NULL ? NULL : cj_tensor_extents_along(el, t,
	    cj_tuple_rank(c->copy->tiled.tiler));
	part.tensor = made;
	return part;
}

static struct cj_value
cut_tensor(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, struct cut *c, struct cj_int thread,
    const char *name)
{
	const struct cj_tuple *coord;
	struct cj_value z;

	if (is_misfit(el, span, c, 0, t->layout) ||
	    is_misfit(el, span, c, 1, cj_tensor_coords(el, t)))
		return cj_value_error();
	t = in_tiles(el, span, t, c);
	if (t == NULL)
		return cj_value_error();
	z = cj_tensor_cut(el, span, t, do_cut, c, name);
	if (z.kind == CJ_VALUE_ERROR)
		return z;
	coord = thread_coord(el, c, z.tensor->layout->shape,
	    cj_layout_rank(t->layout), thread);
	if (coord == NULL)
		return cj_elab_refused(el, span, name);
	return dealt(el, cj_tensor_slice(el, span, z.tensor, coord), t, c);
}

struct cj_value
cj_copy_partition_source(struct cj_elab *el, struct cj_span span,
    const struct cj_copy_value *copy, const struct cj_tensor *t,
    struct cj_int thread)
{
	struct cut c = { .copy = copy, .side = CJ_SIDE_SOURCE };

	return cut_tensor(el, span, t, &c, thread, "partition_s");
}

struct cj_value
cj_mma_partition(struct cj_elab *el, struct cj_span span,
    const struct cj_mma_value *mma, enum cj_operand which,
    const struct cj_tensor *t, struct cj_int thread)
{
	struct cut c = { .mma = mma, .which = which };

	return cut_tensor(el, span, t, &c, thread, "gemm");
}

/* The first two modes, where they are known: the tile of a fragment. */
static const struct cj_tuple *
tile_of(struct cj_elab *el, const struct cj_tuple *shape)
{
	const struct cj_tuple *at[2];

	if (cj_is_leaf(shape) || shape->rank != 2 ||
	    !cj_tuple_is_known(shape))
		return NULL;
	at[0] = cj_tuple_int(&el->al, cj_tuple_product(&el->al,
	    shape->at[0]));
	at[1] = cj_tuple_int(&el->al, cj_tuple_product(&el->al,
	    shape->at[1]));
	return cj_tuple_make(&el->al, at, 2);
}

/*
 * The parts of all threads, by a number that names them: a thread of the block
 * takes one, unless it goes through several of them.
 */
static bool
has_takers(struct cj_elab *el, struct cj_args *args, const struct cut *c,
    struct cj_int thread)
{
	struct cj_range r = cj_int_range(&el->sym, thread);
	int64_t need = c->mma != NULL ? cj_layout_size(&el->al,
	    c->mma->tiled.vmnk).value : cj_tuple_product(&el->al,
	    cj_tuple_get(c->copy->tiled.tv->shape, 0)).value;

	return cj_is_known(thread) || r.hi >= need - 1 ||
	    cj_elab_has_threads(el, args->span, need, c->mma != NULL ?
	    "the tiled MMA" : "the tiled copy");
}

/* An unguarded view of known extents holds whole tiles of the MMA alone. */
static bool
holds_tiles(struct cj_elab *el, struct cj_args *args, const struct cut *c)
{
	const struct cj_tensor *t = args->at[1].tensor;
	const struct cj_tuple *shape = t->layout->shape;

	if (c->mma == NULL || t->is_guarded || cj_tuple_rank(shape) < 2 ||
	    !cj_tuple_is_known(cj_tuple_get(shape, 0)) ||
	    !cj_tuple_is_known(cj_tuple_get(shape, 1)))
		return true;
	return cj_mma_tile_divides(el, cj_arg_span(args, 1), c->mma, c->which,
	    shape);
}

static struct cj_value
partition(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row, struct cut *c)
{
	struct cj_value v = args->at[1];
	const struct cj_tuple *shape;
	const struct cj_layout *l;
	struct cj_fragment *f;
	struct cj_int thread;

	if (!cj_value_to_int(el, cj_arg_span(args, 2), &args->at[2], &thread))
		return cj_value_error();
	if (v.kind == CJ_VALUE_TENSOR) {
		if (!has_takers(el, args, c, thread) ||
		    !holds_tiles(el, args, c))
			return cj_value_error();
		shape = v.tensor->layout->shape;
		v = cut_tensor(el, args->span, v.tensor, c, thread,
		    row->name);
	} else if (v.kind == CJ_VALUE_LAYOUT || v.kind == CJ_VALUE_TUPLE) {
		l = cj_arg_layout(el, args, 1);
		if (l == NULL)
			return cj_value_error();
		shape = l->shape;
		v = cut_layout(el, args->span, l, c, thread, row->name);
	} else {
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND,
		    cj_arg_span(args, 1), "%s cuts a tensor, this is %s",
		    row->name, cj_value_what(el, &v));
	}
	if (c->mma == NULL || v.kind == CJ_VALUE_ERROR)
		return v;
	f = CJ_NEW(el->arena, struct cj_fragment);
	f->mma = c->mma;
	f->which = c->which;
	f->tile = tile_of(el, shape);
	v.fragment = f;
	return v;
}

#define MMA_PARTITION(name, operand)					\
	struct cj_value							\
	cj_builtin_partition_##name(struct cj_elab *el,			\
	    struct cj_args *args, const struct cj_builtin *row)		\
	{								\
		struct cut c = { .which = operand };			\
									\
		c.mma = cj_arg_mma(el, args, 0);			\
		return c.mma == NULL ? cj_value_error() :		\
		    partition(el, args, row, &c);			\
	}
MMA_PARTITION(a, CJ_OPERAND_A)
MMA_PARTITION(b, CJ_OPERAND_B)
MMA_PARTITION(c, CJ_OPERAND_C)

#define COPY_PARTITION(name, of)					\
	struct cj_value							\
	cj_builtin_partition_##name(struct cj_elab *el,			\
	    struct cj_args *args, const struct cj_builtin *row)		\
	{								\
		struct cut c = { .side = of };				\
									\
		c.copy = cj_arg_copy(el, args, 0);			\
		return c.copy == NULL ? cj_value_error() :		\
		    partition(el, args, row, &c);			\
	}
COPY_PARTITION(s, CJ_SIDE_SOURCE)
COPY_PARTITION(d, CJ_SIDE_TARGET)

void
cj_mma_help_sparse(struct cj_elab *el, struct cj_diag *d,
    const struct cj_mma_value *mma)
{
	struct cj_int whole = cj_tuple_product(&el->al, cj_tuple_get(
	    cj_tiled_mma_tile(&el->al, &mma->tiled), 2));
	struct cj_int stored = cj_tuple_product(&el->al, cj_tuple_get(
	    cj_tiled_mma_operand(&el->al, &mma->tiled, CJ_OPERAND_A), 1));

	if (!cj_int_same(whole, stored))
		cj_help(d, "Of the sparse a half is stored: it has M x K / 2 "
		    "where b has N x K. compress() of cute/sparse.cute makes "
		    "it.");
}

bool
cj_mma_tile_divides(struct cj_elab *el, struct cj_span span,
    const struct cj_mma_value *mma, enum cj_operand which,
    const struct cj_tuple *shape)
{
	const struct cj_tuple *tile = cj_tiled_mma_tile(&el->al, &mma->tiled);
	const struct cj_tuple *part = cj_tiled_mma_operand(&el->al,
	    &mma->tiled, which);
	const uint32_t modes[2] = { which == CJ_OPERAND_B ? 1 : 0,
	    which == CJ_OPERAND_C ? 1 : 2 };
	struct cj_int have, need;
	struct cj_diag *d;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		have = cj_tuple_product(&el->al, cj_tuple_get(shape, i));
		need = cj_tuple_product(&el->al, cj_tuple_get(part, i));
		if (cj_int_divisible(&el->sym, have, need.value))
			continue;
		d = cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
		    "the shape %s is no multiple of the MMA's tile: it has "
		    "%lld along %c, of %s along (M, N, K)",
		    cj_tuple_text(&el->al, shape), (long long)need.value,
		    "MNK"[modes[i]], cj_tuple_text(&el->al, tile));
		cj_help(d, "Take larger tiles and guard() what is outside, "
		    "fewer atoms, or a smaller permutation.");
		if (which == CJ_OPERAND_A)
			cj_mma_help_sparse(el, d, mma);
		return false;
	}
	return true;
}

/* ---- shared memory ------------------------------------------------------- */

static struct cj_int
extent_of(struct cj_elab *el, const struct cj_tuple *shape, uint32_t mode)
{
	return cj_tuple_product(&el->al, cj_tuple_get(shape, mode));
}

/* Both extents are multiples of the atom's. */
static bool
divides(struct cj_elab *el, const struct cj_layout *atom,
    const struct cj_tuple *shape)
{
	uint32_t i;

	for (i = 0; i < 2; i++)
		if (!cj_is_value(cj_int_mod(&el->sym, extent_of(el, shape, i),
		    extent_of(el, atom->shape, i)), 0))
			return false;
	return true;
}

/* The unit mode first, the others in their order. */
static const struct cj_layout *
compact(struct cj_elab *el, const struct cj_tuple *shape, uint32_t unit)
{
	const struct cj_tuple *at[CJ_MAX_RANK];
	uint32_t i, rank = cj_tuple_rank(shape);

	for (i = 0; i < rank; i++)
		at[i] = cj_tuple_known(&el->al, i == unit ? 0 : i + 1);
	return cj_layout_ordered(&el->al, shape, cj_tuple_make(&el->al, at,
	    rank));
}

static const struct cj_layout *
widest_swizzle(struct cj_elab *el, const struct cj_tuple *shape,
    uint32_t unit, enum cj_kind k)
{
	static const enum cj_smem_mode modes[] = { CJ_SMEM_SW128,
	    CJ_SMEM_SW64, CJ_SMEM_SW32, CJ_SMEM_INTER };
	enum cj_major major = unit == 1 ? CJ_MAJOR_K : CJ_MAJOR_MN;
	const struct cj_layout *atom;
	unsigned i;

	for (i = 0; unit < 2 && i < CJ_LENGTH(modes); i++) {
		atom = cj_smem_atom(&el->al, major, modes[i],
		    (int)cj_kind_bits(k));
		if (atom != NULL && divides(el, atom, shape))
			return cj_layout_tile_to_shape(&el->al, atom, shape,
			    NULL);
	}
	return compact(el, shape, unit);
}

struct cj_value
cj_builtin_smem_layout(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *unit = cj_arg_named(el, args, "unit");
	const struct cj_value *type = &args->at[0];
	const struct cj_tuple *shape = cj_arg_tuple(el, args, 1);
	int64_t mode;

	if (shape == NULL)
		return cj_value_error();
	if (type->kind != CJ_VALUE_TYPE || type->type->scalar ==
	    CJ_KIND_VOID)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND,
		    cj_arg_span(args, 0), "smem_layout takes a number type "
		    "first, this is %s", cj_value_what(el, type));
	if (cj_tuple_rank(shape) < 2 || !cj_tuple_is_known(shape))
		return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE,
		    cj_arg_span(args, 1), "smem_layout takes a shape of two "
		    "known extents or more");
	mode = 1;
	if (unit != NULL && !cj_value_to_known(el, args->span, unit,
	    "the mode of stride 1", &mode))
		return cj_value_error();
	if (mode < 0 || mode >= cj_tuple_rank(shape))
		return cj_elab_error(el, CJ_DIAG_WRONG_INDEX, args->span,
		    "there is no mode %lld in a shape of rank %u",
		    (long long)mode, cj_tuple_rank(shape));
	return cj_arg_result(el, args->span, widest_swizzle(el, shape,
	    (uint32_t)mode, type->type->scalar), row->name);
}
