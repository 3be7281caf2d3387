/*
 * copy(c, src, dst): what a thread has of both sides, moved as the atom says.
 *
 * Modes behind the first must have the same extents on both sides; the first
 * holds the values of one round, which an atom may hand to other threads.
 */
#include "elab_access.h"
#include "elab_tiled.h"

/* ---- both sides ---------------------------------------------------------- */

static const char *
side_text(struct cj_elab *el, const struct cj_value *v)
{
	return v->kind == CJ_VALUE_TENSOR
	    ? cj_layout_text(&el->al, v->tensor->layout)
	    : cj_tuple_text(&el->al, cj_value_shape(v));
}

static struct cj_int
mode_size(struct cj_elab *el, const struct cj_tuple *shape, uint32_t mode)
{
	return cj_tuple_product(&el->al, cj_tuple_get(shape, mode));
}

/* Elements of a mode of a tiler. */
static struct cj_int
tile_extent(struct cj_elab *el, const struct cj_tuple *t)
{
	return t->kind == CJ_TUPLE_LAYOUT ? cj_layout_size(&el->al,
	    t->layout) : cj_tuple_product(&el->al, t);
}

/* The first mode, from `first` on, in which the extents differ. */
static uint32_t
disagreement(struct cj_elab *el, const struct cj_tuple *a,
    const struct cj_tuple *b, uint32_t first)
{
	uint32_t rank = cj_tuple_rank(a), i;

	if (rank != cj_tuple_rank(b))
		return rank < cj_tuple_rank(b) ? rank : cj_tuple_rank(b);
	for (i = first; i < rank; i++)
		if (cj_int_equal(&el->sym, mode_size(el, a, i),
		    mode_size(el, b, i)) != CJ_YES)
			return i;
	return UINT32_MAX;
}

static bool
fit_together(struct cj_elab *el, struct cj_span span,
    const struct cj_value *src, const struct cj_value *dst, uint32_t first)
{
	const struct cj_tuple *a = cj_value_shape(src);
	const struct cj_tuple *b = cj_value_shape(dst);
	uint32_t at = disagreement(el, a, b, first);
	struct cj_diag *d;

	if (at == UINT32_MAX)
		return true;
	d = cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "source and destination differ in mode %u: %s and %s", at,
	    side_text(el, src), side_text(el, dst));
	cj_help(d, "Cut both with the same tiled copy, partition_s() and "
	    "partition_d(), from tiles of the same extents.");
	return false;
}

/* The atom that moves as much of these elements. */
static void
help_with_bits(struct cj_diag *d, const struct cj_copy_value *c,
    enum cj_kind k)
{
	unsigned all = c->atom->count * c->bits, bits = cj_kind_bits(k);

	if (c->mma != NULL)
		cj_help(d, "It is a copy for an operand of %s.",
		    c->mma->atom->text);
	else if (c->tma != NULL)
		cj_help(d, "A copy by TMA moves elements of the tensor that "
		    "its map was made for.");
	else if (c->atom->use == CJ_ATOM_UNIVERSAL || all < bits)
		cj_help(d, "Take universal_copy(%s).", cj_kind_text(k));
	else if (c->atom->use == CJ_ATOM_VECTOR ||
	    c->atom->use == CJ_ATOM_CP_ASYNC)
		cj_help(d, "Take %s(%s, %u).", c->atom->use == CJ_ATOM_VECTOR
		    ? "vector" : "cp_async", cj_kind_text(k), all / bits);
}

static bool
check_side(struct cj_elab *el, struct cj_args *args, uint32_t i,
    const struct cj_copy_value *c)
{
	const struct cj_value *v = &args->at[i];
	enum cj_kind k = cj_value_kind_of(v);

	if (v->kind == CJ_VALUE_ERROR)
		return false;
	if (cj_value_shape(v) == NULL) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, cj_arg_span(args, i),
		    "copy moves tensors and fragments, this is %s",
		    cj_value_what(el, v));
		return false;
	}
	if (cj_kind_bits(k) == c->bits)
		return true;
	help_with_bits(cj_elab_report(el, CJ_DIAG_WRONG_KIND,
	    cj_arg_span(args, i), "%s moves elements of %u bits, these are "
	    "%s", c->atom->text, c->bits, cj_kind_text(k)), c, k);
	return false;
}

static bool
is_space(const struct cj_elab *el, const struct cj_value *v, bool is_shared)
{
	return v->kind == CJ_VALUE_TENSOR && !cj_is_tmem(el, v) && is_shared ==
	    (el->m->objects.at[v->tensor->object].kind == CJ_OBJECT_SHARED);
}

static const char *
space_text(struct cj_elab *el, const struct cj_value *v)
{
	return v->kind != CJ_VALUE_TENSOR ? "in registers" :
	    cj_is_tmem(el, v) ? "in tensor memory" :
	    is_space(el, v, true) ? "in shared memory" : "in global memory";
}

/* An atom that moves between two kinds of memory; false: reported. */
static bool
check_spaces(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c, bool ok, const char *from,
    const char *to)
{
	if (ok)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, args->span,
	    "%s copies from %s to %s; here the source lies %s, the "
	    "destination %s", c->atom->text, from, to,
	    space_text(el, &args->at[1]), space_text(el, &args->at[2])),
	    "vector(T, n) and universal_copy(T) copy between any two.");
	return false;
}

/*
 * The copy's tile covers an unguarded view of known extents as often as it
 * fits, and no further: what is beyond would be touched too.
 */
static bool
check_tile(struct cj_elab *el, struct cj_args *args, uint32_t i,
    const struct cj_copy_value *c)
{
	const struct cj_value *v = &args->at[i];
	const struct cj_tuple *tiler = c->tiled.tiler, *along;
	struct cj_int extent, tile;
	uint32_t k;

	if (v->kind != CJ_VALUE_TENSOR || v->tensor->is_guarded ||
	    v->tensor->along == NULL)
		return true;
	along = v->tensor->along;
	for (k = 0; k < cj_tuple_rank(tiler) && k < cj_tuple_rank(along);
	    k++) {
		extent = mode_size(el, along, k);
		tile = tile_extent(el, cj_tuple_get(tiler, k));
		if (!cj_is_known(extent) || !cj_is_known(tile) ||
		    extent.value % tile.value == 0)
			continue;
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE,
		    cj_arg_span(args, i), "the tile of the copy has %lld "
		    "elements along mode %u, the tensor %lld",
		    (long long)tile.value, k, (long long)extent.value),
		    "Let the tile divide the tensor: fewer threads or values "
		    "along this mode; or guard() the view.");
		return false;
	}
	return true;
}

/* ---- what nobody has cut ------------------------------------------------- */

static bool
is_of_thread(const struct cj_symbol_info *s)
{
	return s->source == CJ_SOURCE_REF || (s->source == CJ_SOURCE_SPECIAL &&
	    (s->number <= CJ_SPECIAL_THREAD_Z ||
	    s->number == CJ_SPECIAL_LANE || s->number == CJ_SPECIAL_WARP));
}

/* May it differ between threads? What instructions computed may. */
static bool
of_thread(const struct cj_elab *el, struct cj_int i)
{
	const struct cj_term *t = cj_term_get(&el->sym, i);
	struct cj_int part;
	uint32_t n;

	if (t == NULL)
		return false;
	if (t->kind == CJ_TERM_SYMBOL)
		return is_of_thread(&el->symbols.at[t->symbol]);
	for (n = 0; cj_term_part(t, n, &part); n++)
		if (of_thread(el, part))
			return true;
	return false;
}

/* Is a side what a thread has: registers, what a partition gave, or what was
 * cut by hand, at a place that depends on the thread? */
static bool
is_dealt(const struct cj_elab *el, const struct cj_value *v)
{
	const struct cj_tuple *offset;

	if (v->kind != CJ_VALUE_TENSOR || v->tensor->is_dealt ||
	    of_thread(el, v->tensor->offset))
		return true;
	offset = v->tensor->layout->offset;
	return offset != NULL && offset->kind == CJ_TUPLE_INT &&
	    of_thread(el, offset->value);
}

/* partition_s(c, x, t), or the argument as it stands. */
static const char *
cut_text(struct cj_elab *el, struct cj_args *args, uint32_t i)
{
	const char *side = cj_elab_source_text(el, cj_arg_span(args, i));

	return is_dealt(el, &args->at[i]) ? side :
	    cj_printf(el->arena, "partition_%c(%s, %s, t)", i == 1 ? 's' :
	    'd', cj_elab_source_text(el, cj_arg_span(args, 0)), side);
}

static bool
check_dealt(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c)
{
	struct cj_int threads = cj_tuple_product(&el->al,
	    cj_tuple_get(c->tiled.tv->shape, 0));
	uint32_t i = is_dealt(el, &args->at[1]) ? 2 : 1;
	struct cj_diag *d;

	if (cj_is_value(threads, 1) || is_dealt(el, &args->at[i]))
		return true;
	d = cj_elab_report(el, CJ_DIAG_NOT_PARTITIONED, cj_arg_span(args, i),
	    "nobody has cut the %s for the %lld threads of the copy: each "
	    "would move all of it", i == 1 ? "source" : "destination",
	    (long long)threads.value);
	cj_note(d, args->span, "the tile of the copy is %s, the source %s, "
	    "the destination %s", cj_tuple_text(&el->al, c->tiled.tiler),
	    side_text(el, &args->at[1]), side_text(el, &args->at[2]));
	cj_help(d, "With t, the thread's number: copy(%s, %s, %s).",
	    cj_elab_source_text(el, cj_arg_span(args, 0)),
	    cut_text(el, args, 1), cut_text(el, args, 2));
	return false;
}

/* ---- through registers --------------------------------------------------- */

/* The same registers, in the nesting of another shape of the same sizes. */
static struct cj_value
reshaped(struct cj_elab *el, struct cj_value v, const struct cj_tuple *shape)
{
	return cj_value_regs(el, (enum cj_kind)v.scalar, shape,
	    cj_elab_ref(el, &v, CJ_KIND_VOID));
}

static void
put(struct cj_elab *el, struct cj_span span, const struct cj_value *dst,
    struct cj_value v, const struct cj_how *how)
{
	if (dst->kind == CJ_VALUE_TENSOR)
		cj_tensor_store(el, span, dst->tensor, v, how);
	else
		cj_elab_assign(el, span, *dst, v);
}

static struct cj_value
through_registers(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c)
{
	const struct cj_value *src = &args->at[1], *dst = &args->at[2];
	struct cj_how how = { .scope = CJ_MEMORY_GPU, .who = c->atom->text };
	struct cj_value v;

	if (c->atom->use == CJ_ATOM_VECTOR)
		how.width = c->atom->count;
	if (!fit_together(el, args->span, src, dst, 0))
		return cj_value_error();
	v = src->kind == CJ_VALUE_TENSOR ? cj_tensor_load(el,
	    cj_arg_span(args, 1), src->tensor, &how) :
	    cj_elab_read(el, cj_arg_span(args, 1), *src);
	v = cj_elab_coerce(el, args->span, cj_value_kind_of(dst), v);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	put(el, cj_arg_span(args, 2), dst, reshaped(el, v,
	    cj_value_shape(dst)), &how);
	return cj_value_none();
}

/* ---- cp.async ------------------------------------------------------------ */

static struct cj_value
asynchronous(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c)
{
	const struct cj_value *src = &args->at[1], *dst = &args->at[2];
	struct cj_async_how how = { .count = c->atom->count,
	    .cache = c->atom->cache, .prefetch = c->atom->prefetch };

	if (!check_spaces(el, args, c, is_space(el, src, false) &&
	    is_space(el, dst, true), "global", "shared memory") ||
	    !fit_together(el, args->span, src, dst, 0))
		return cj_value_error();
	return cj_tensor_copy_async(el, args->span, src->tensor, dst->tensor,
	    &how) ? cj_value_none() : cj_value_error();
}

/* ---- matrices ------------------------------------------------------------ */

/* Rows of 16 bytes in shared memory, and registers for them. */
struct rows {
	struct cj_pieces pieces;
	uint32_t access;
	uint32_t count;		/* instructions */
	uint32_t held;		/* registers of each */
};

/* Is each row what a thread has one behind the other? */
bool
cj_pieces_are_rows(const struct cj_pieces *p)
{
	uint32_t r = 0;

	if (cj_pieces_bytes(p) < CJ_MATRIX_ROW_BYTES)
		return false;
	while (r < p->count && p->start[r] + p->lane[r] == r &&
	    p->lane[r] == r % p->width)
		r++;
	return r == p->count;
}

static const char *
why_no_rows(struct cj_elab *el, const struct cj_pieces *p)
{
	if (cj_pieces_bytes(p) == CJ_MATRIX_ROW_BYTES)
		return "has them along another mode, or in another order, "
		    "than the copy";
	return cj_printf(el->arena, "gives accesses of %u: %s",
	    cj_pieces_bytes(p), p->why != NULL ? p->why :
	    "no more neighbours of the thread lie together");
}

static bool
make_rows(struct cj_elab *el, struct cj_span span,
    const struct cj_copy_value *c, const struct cj_tensor *t, struct rows *r)
{
	struct cj_access a = { .object = t->object,
	    .align = CJ_MATRIX_ROW_BYTES,
	    .transposed = c->atom->is_transposed };
	struct cj_pieces *p = &r->pieces;

	if (!cj_tensor_may_touch(el, span, t, c->atom->use ==
	    CJ_ATOM_STMATRIX) ||
	    !cj_pieces_make(el, p, span, t))
		return false;
	if (!cj_pieces_are_rows(p)) {
		cj_help(cj_elab_report(el, CJ_DIAG_UNALIGNED_COPY, span,
		    "%s takes rows of 16 bytes, the layout of shared memory "
		    "%s", c->atom->text, why_no_rows(el, p)),
		    "smem_layout(T, shape, unit = mode) has such rows; for "
		    "an operand whose mode K is %sthe one of stride 1, %s "
		    "transpose = true. Or take universal_copy(%s).",
		    c->atom->is_transposed ? "" : "not ",
		    c->atom->is_transposed ? "leave out" : "say",
		    cj_kind_text(t->element));
		return false;
	}
	cj_elab_warp_access(el, p);
	r->count = p->count / p->width;
	r->held = c->atom->count * 32 / c->bits;
	r->access = cj_module_access(el->m, &a);
	return true;
}

/* As many registers as the instructions hold. */
static bool
registers_fit(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c, const struct rows *r, uint32_t count)
{
	if (r->count * r->held == count)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, args->span,
	    "%u times %s are %u elements of each thread, the fragment has %u",
	    r->count, c->atom->text, r->count * r->held, count),
	    "See the fragment as the copy does: retile(copy, fragment).");
	return false;
}

/* The offset of a row that is always there. */
static bool
row_offset(struct cj_elab *el, const struct rows *r, uint32_t i,
    cj_ref *offset)
{
	uint32_t first = i * r->pieces.width;
	cj_ref mask;

	*offset = cj_pieces_offset(el, &r->pieces, first);
	if (!cj_pieces_mask(el, &r->pieces, first, &mask))
		return false;
	cj_pieces_watch(el, &r->pieces, first, mask);
	if (mask == 0)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_PLACE, r->pieces.span,
	    "matrices are moved whole: guard the copy between global and "
	    "shared memory");
	return false;
}

/* What the instructions give, one behind the other; 0: reported. */
static cj_ref
load_rows(struct cj_elab *el, const struct rows *r)
{
	const struct cj_tensor *t = r->pieces.t;
	cj_ref *held = CJ_NEWS(el->arena, cj_ref, r->count), offset;
	uint32_t i;

	cj_elab_meet(el, 32, "a copy by ldmatrix");
	el->m->objects.at[t->object].reads = true;
	for (i = 0; i < r->count; i++) {
		if (!row_offset(el, r, i, &offset))
			return 0;
		held[i] = cj_emit(&el->em->b, CJ_OP_LDMATRIX,
		    cj_type_of(t->element, r->held), r->access, &offset, 1);
	}
	return r->count == 1 ? held[0] : cj_emit(&el->em->b, CJ_OP_CONCAT,
	    cj_type_of(t->element, r->count * r->held), 0, held, r->count);
}

cj_ref
cj_copy_load_matrices(struct cj_elab *el, struct cj_span span,
    const struct cj_copy_value *c, const struct cj_tensor *t)
{
	struct rows r;

	return make_rows(el, span, c, t, &r) ? load_rows(el, &r) : 0;
}

static struct cj_value
load_matrices(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c)
{
	const struct cj_value *src = &args->at[1], *dst = &args->at[2];
	struct rows r;
	cj_ref all;

	if (!check_spaces(el, args, c, is_space(el, src, true) &&
	    dst->kind == CJ_VALUE_PLACE, "shared memory", "a fragment") ||
	    !fit_together(el, args->span, src, dst, 1) ||
	    !make_rows(el, cj_arg_span(args, 1), c, src->tensor, &r) ||
	    !registers_fit(el, args, c, &r,
	    cj_shape_count(cj_value_shape(dst))))
		return cj_value_error();
	all = load_rows(el, &r);
	if (all == 0)
		return cj_value_error();
	cj_elab_assign(el, args->span, *dst, cj_value_regs(el,
	    cj_value_kind_of(src), cj_value_shape(dst), all));
	return cj_value_none();
}

static struct cj_value
store_matrices(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c)
{
	const struct cj_value *src = &args->at[1], *dst = &args->at[2];
	struct cj_value v;
	uint32_t i, k, *at;
	struct rows r;
	cj_ref refs[2], all;

	if (!check_spaces(el, args, c, is_space(el, dst, true) &&
	    src->kind != CJ_VALUE_TENSOR, "a fragment", "shared memory") ||
	    !fit_together(el, args->span, src, dst, 1) ||
	    !make_rows(el, cj_arg_span(args, 2), c, dst->tensor, &r) ||
	    !registers_fit(el, args, c, &r,
	    cj_shape_count(cj_value_shape(src))))
		return cj_value_error();
	v = cj_elab_read(el, cj_arg_span(args, 1), *src);
	v = cj_elab_coerce(el, args->span, cj_value_kind_of(dst), v);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	cj_elab_meet(el, 32, "a copy by stmatrix");
	el->m->objects.at[dst->tensor->object].writes = true;
	all = cj_elab_ref(el, &v, CJ_KIND_VOID);
	at = CJ_NEWS(el->arena, uint32_t, r.held);
	for (i = 0; i < r.count; i++) {
		if (!row_offset(el, &r, i, &refs[0]))
			return cj_value_error();
		for (k = 0; k < r.held; k++)
			at[k] = i * r.held + k;
		refs[1] = cj_elab_permute(el, all, at, r.held);
		cj_emit(&el->em->b, CJ_OP_STMATRIX, 0, r.access, refs, 2);
	}
	return cj_value_none();
}

/* ---- the built-in -------------------------------------------------------- */

/* Copies by kind of their map, and others. */
enum { OF_BULK = CJ_MAP_ROWS + 1, OF_THREADS };

static unsigned
kind_of_copy(const struct cj_value *v)
{
	if (v->kind != CJ_VALUE_COPY)
		return OF_THREADS;
	return v->copy->tma != NULL ? (unsigned)cj_tma_kind(v->copy->tma) :
	    v->copy->bulk != NULL ? OF_BULK : OF_THREADS;
}

bool
cj_arg_tma_alone(struct cj_elab *el, struct cj_args *args)
{
	enum { TMA = 1 << CJ_MAP_TILES | 1 << CJ_MAP_PIXELS |
	    1 << CJ_MAP_ROWS, UNITS = TMA | 1 << OF_BULK };
	static const struct {
		const char *name, *what;
		unsigned kinds;
	} names[] = {
		{ "map", "copies by TMA", TMA },
		{ "early", "copies by TMA", TMA },
		{ "at", "copies by TMA of pixels or of rows by number",
		    1 << CJ_MAP_PIXELS | 1 << CJ_MAP_ROWS },
		{ "offset", "copies by TMA of pixels", 1 << CJ_MAP_PIXELS },
		{ "rows", "copies by TMA of rows by number",
		    1 << CJ_MAP_ROWS },
		{ "barrier", "copies by TMA and bulk copies", UNITS },
		{ "multicast", "copies by TMA and bulk copies", UNITS },
		{ "raw", "copies by TMA and bulk copies", UNITS },
	};
	const struct cj_value *v = &args->at[0];
	unsigned kind = kind_of_copy(v), i;

	for (i = 0; i < CJ_LENGTH(names) && v->kind != CJ_VALUE_ERROR; i++)
		if (cj_arg_named(el, args, names[i].name) != NULL &&
		    (names[i].kinds >> kind & 1) == 0) {
			cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS,
			    args->span, "\"%s\" is for %s, this is %s",
			    names[i].name, names[i].what,
			    cj_value_what(el, v)), "Leave it out%s.",
			    names[i].kinds == UNITS ? ": what threads copy is "
			    "there behind sync() or cp_async_wait()" : "");
			return false;
		}
	return true;
}

struct cj_value
cj_builtin_copy(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_copy_value *c;

	(void)row;
	if (!cj_arg_tma_alone(el, args))
		return cj_value_error();
	if (args->at[0].kind == CJ_VALUE_COPY &&
	    args->at[0].copy->tma != NULL)
		return check_side(el, args, 1, args->at[0].copy) &&
		    check_side(el, args, 2, args->at[0].copy) ?
		    cj_elab_copy_tma(el, args, args->at[0].copy) :
		    cj_value_error();
	if (args->at[0].kind == CJ_VALUE_COPY &&
	    args->at[0].copy->bulk != NULL)
		return cj_elab_copy_bulk(el, args, args->at[0].copy);
	c = cj_arg_copy(el, args, 0);
	if (c == NULL || !check_side(el, args, 1, c) ||
	    !check_side(el, args, 2, c) || !check_dealt(el, args, c) ||
	    !check_tile(el, args, 1, c) ||
	    !check_tile(el, args, 2, c))
		return cj_value_error();
	switch (c->atom->use) {
	case CJ_ATOM_UNIVERSAL: case CJ_ATOM_VECTOR:
		return through_registers(el, args, c);
	case CJ_ATOM_CP_ASYNC:
		return asynchronous(el, args, c);
	case CJ_ATOM_LDMATRIX:
		return load_matrices(el, args, c);
	case CJ_ATOM_STMATRIX:
		return store_matrices(el, args, c);
	case CJ_ATOM_TMEM_LOAD: case CJ_ATOM_TMEM_STORE:
		return cj_elab_copy_tmem(el, args, c);
	case CJ_ATOM_FMA: case CJ_ATOM_MMA_SYNC: case CJ_ATOM_TMA:
	case CJ_ATOM_WGMMA: case CJ_ATOM_BULK: case CJ_ATOM_TCGEN05:
		break;
	}
	cj_bug(el->recover, "%s copies nothing", c->atom->text);
}
