/*
 * Front header of layout/: CuTe's layout algebra.
 *
 * Notation: shape:stride, as CuTe prints it; (4) in the vectors and (4,) in
 * the language is a tuple of one, 4 a scalar. Modes are numbered from 0,
 * coordinates run colexicographically (mode 0 fastest). Integers are known or
 * symbolic (sym.h). Everything lives on the arena of its `struct cj_algebra`
 * and is immutable.
 *
 * An operation either gives the exact function the definition asks for, or
 * refuses: it returns NULL (or false) and `why` in the algebra says which
 * mode, which extent, which step, and what would be legal.
 */
#ifndef CJ_LAYOUT_H
#define CJ_LAYOUT_H

#include "sym.h"

enum {
	CJ_MAX_DEPTH = 16,	/* nesting of tuples */
	CJ_MAX_RANK = 1024,	/* modes at one level */
	CJ_MAX_PATH = 8,	/* length of a basis path */
	CJ_MAX_LEAVES = 1 << 16	/* integers in one tuple */
};

/* Why an operation refused; names of the vectors' error kinds. */
enum cj_refusal {
	CJ_REFUSED_NOT,
	CJ_REFUSED_STRIDE_DIV, CJ_REFUSED_SHAPE_DIV, CJ_REFUSED_NONINJECTIVE,
	CJ_REFUSED_LEFT_INVERSE_DIV, CJ_REFUSED_UPCAST_DIV,
	CJ_REFUSED_NOT_CONTIGUOUS, CJ_REFUSED_TILE_DIV, CJ_REFUSED_RANK,
	CJ_REFUSED_SWIZZLE, CJ_REFUSED_OVERFLOW, CJ_REFUSED_LIMIT,
	CJ_REFUSED_SYMBOLIC,	/* needs an integer that is not known */
	CJ_REFUSED_KIND		/* an operand of the wrong kind */
};

struct cj_why_not {
	enum cj_refusal kind;
	const char *text;	/* a message as style.md has it */
	const char *help;	/* what would be legal, or NULL */
};

struct cj_algebra {
	struct cj_arena *arena;
	struct cj_symtab *sym;
	struct cj_why_not why;	/* of the newest refusal */
	/*
	 * Answer wherever CuTe answers, though what it gives there is not
	 * what the definition asks for: only for checking against it.
	 */
	bool as_cute;
};

void cj_algebra_init(struct cj_algebra *al, struct cj_arena *a,
    struct cj_symtab *t);

/* ---- tuples ------------------------------------------------------------ */

enum cj_tuple_kind {
	CJ_TUPLE_INT,		/* value */
	CJ_TUPLE_ANY,		/* `_`, in coordinates and tilers */
	CJ_TUPLE_BASIS,		/* value * 1@path, in strides */
	CJ_TUPLE_LAYOUT,	/* a layout, in tilers only */
	CJ_TUPLE_TUPLE		/* at[0..rank) */
};

struct cj_layout;

struct cj_tuple {
	enum cj_tuple_kind kind;
	struct cj_int value;
	uint32_t rank;
	const struct cj_tuple *const *at;
	/* path[0] is the outermost mode: CuTe's 1@2@0 (print order, the last
	 * number is outermost) is { 0, 2 } */
	uint8_t path[CJ_MAX_PATH], path_length;
	const struct cj_layout *layout;
	uint8_t has;		/* enum cj_has of this and all below */
	uint8_t depth;		/* 0 for a leaf */
	uint32_t leaves;
};

/* What a tuple has somewhere below. */
enum cj_has {
	CJ_HAS_SYMBOL = 1, CJ_HAS_ANY = 2, CJ_HAS_BASIS = 4, CJ_HAS_LAYOUT = 8
};

const struct cj_tuple *cj_tuple_int(struct cj_algebra *al, struct cj_int i);
const struct cj_tuple *cj_tuple_known(struct cj_algebra *al, int64_t value);
const struct cj_tuple *cj_tuple_any(struct cj_algebra *al);
const struct cj_tuple *cj_tuple_basis(struct cj_algebra *al, struct cj_int
    scale, const uint8_t *path, unsigned length);
const struct cj_tuple *cj_tuple_layout(struct cj_algebra *al,
    const struct cj_layout *l);
/* Copies the array of pointers. NULL when a limit is passed. */
const struct cj_tuple *cj_tuple_make(struct cj_algebra *al,
    const struct cj_tuple *const *at, uint32_t rank);

static inline bool
cj_is_leaf(const struct cj_tuple *t)
{
	return t->kind != CJ_TUPLE_TUPLE;
}

/* Rank of a leaf is 1; its mode 0 is itself. */
uint32_t cj_tuple_rank(const struct cj_tuple *t);
uint32_t cj_tuple_depth(const struct cj_tuple *t);
const struct cj_tuple *cj_tuple_get(const struct cj_tuple *t, uint32_t mode);
struct cj_int cj_tuple_product(struct cj_algebra *al, const struct cj_tuple *t);
bool cj_tuple_same(const struct cj_tuple *a, const struct cj_tuple *b);
bool cj_tuple_congruent(const struct cj_tuple *a, const struct cj_tuple *b);
bool cj_tuple_weakly_congruent(const struct cj_tuple *a,
    const struct cj_tuple *b);
enum cj_truth cj_tuple_compatible(struct cj_algebra *al,
    const struct cj_tuple *a, const struct cj_tuple *b);
bool cj_tuple_is_known(const struct cj_tuple *t);
const struct cj_tuple *cj_tuple_flatten(struct cj_algebra *al,
    const struct cj_tuple *t);

/* ceil(a / b) by mode; an integer b is divided away from left to right. */
const struct cj_tuple *cj_tuple_ceil_div(struct cj_algebra *al,
    const struct cj_tuple *a, const struct cj_tuple *b);
/* The same where one has to be a multiple of the other. */
const struct cj_tuple *cj_tuple_shape_div(struct cj_algebra *al,
    const struct cj_tuple *a, const struct cj_tuple *b);
const struct cj_tuple *cj_tuple_round_up(struct cj_algebra *al,
    const struct cj_tuple *a, const struct cj_tuple *b);
/* The size of each mode. */
const struct cj_tuple *cj_tuple_product_each(struct cj_algebra *al,
    const struct cj_tuple *t);
enum cj_truth cj_tuple_elem_less(struct cj_algebra *al,
    const struct cj_tuple *a, const struct cj_tuple *b);
enum cj_truth cj_tuple_evenly_divides(struct cj_algebra *al,
    const struct cj_tuple *shape, const struct cj_tuple *tiler);

/* ---- layouts ----------------------------------------------------------- */

/* XOR the `bits` bits at base + shift into those at base (CuTe's Sw<B,M,S>).
 * bits 0 is the identity. */
struct cj_swizzle {
	int bits, base, shift;
};

/*
 * c -> swizzle(offset + stride . c). Plain layouts have swizzle.bits == 0 and
 * offset NULL. One type for both, so that every operation says itself what it
 * does with a swizzle.
 */
struct cj_layout {
	const struct cj_tuple *shape, *stride;	/* congruent */
	struct cj_swizzle swizzle;
	/* an integer, or a coordinate of basis layouts; NULL is 0 */
	const struct cj_tuple *offset;
	bool is_composed;	/* printed and treated as Sw o offset o l */
};

/* stride NULL: compact, column-major. NULL unless congruent. */
const struct cj_layout *cj_layout_make(struct cj_algebra *al,
    const struct cj_tuple *shape, const struct cj_tuple *stride);
const struct cj_layout *cj_layout_composed(struct cj_algebra *al,
    struct cj_swizzle swizzle, const struct cj_tuple *offset,
    const struct cj_layout *l);
const struct cj_layout *cj_layout_row_major(struct cj_algebra *al,
    const struct cj_tuple *shape);
const struct cj_layout *cj_layout_ordered(struct cj_algebra *al,
    const struct cj_tuple *shape, const struct cj_tuple *order);
const struct cj_layout *cj_layout_identity(struct cj_algebra *al,
    const struct cj_tuple *shape);
/* A compact layout of the same order of strides; stride 0 modes keep 0. */
const struct cj_layout *cj_layout_like(struct cj_algebra *al,
    const struct cj_layout *l);

struct cj_int cj_layout_size(struct cj_algebra *al, const struct cj_layout *l);
struct cj_int cj_layout_cosize(struct cj_algebra *al,
    const struct cj_layout *l);
/* Elements of the memory that the layout lies in: cosize, which says nothing of
 * a swizzle or an offset, and what these lead to beyond it (swizzle.c). */
struct cj_int cj_layout_extent(struct cj_algebra *al,
    const struct cj_layout *l);
uint32_t cj_layout_rank(const struct cj_layout *l);
const struct cj_layout *cj_layout_get(struct cj_algebra *al,
    const struct cj_layout *l, uint32_t mode);
const struct cj_layout *cj_layout_select(struct cj_algebra *al,
    const struct cj_layout *l, const uint32_t *modes, uint32_t count);
const struct cj_layout *cj_layout_flatten(struct cj_algebra *al,
    const struct cj_layout *l);
const struct cj_layout *cj_layout_coalesce(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_tuple *profile /* or NULL */);
const struct cj_layout *cj_layout_filter(struct cj_algebra *al,
    const struct cj_layout *l);
const struct cj_layout *cj_layout_group(struct cj_algebra *al,
    const struct cj_layout *l, uint32_t begin, uint32_t end);
const struct cj_layout *cj_layout_append(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_layout *x);
const struct cj_layout *cj_layout_prepend(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_layout *x);
/* Append x until the rank is at least `rank`. */
const struct cj_layout *cj_layout_append_to(struct cj_algebra *al,
    const struct cj_layout *l, uint32_t rank, const struct cj_layout *x);
/* 1:0 */
const struct cj_layout *cj_layout_unit(struct cj_algebra *al);
const struct cj_layout *cj_layout_replace(struct cj_algebra *al,
    const struct cj_layout *l, uint32_t mode, const struct cj_layout *x);
/* Modes begin..end-1; an empty range is refused. */
const struct cj_layout *cj_layout_take(struct cj_algebra *al,
    const struct cj_layout *l, uint32_t begin, uint32_t end);
/* Extents whose stride is 0 become 1; the strides stay. */
const struct cj_layout *cj_layout_filter_zeros(struct cj_algebra *al,
    const struct cj_layout *l);
const struct cj_layout *cj_layout_filter_profile(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_tuple *profile /* or NULL */);
/* A flat layout in the nesting of `profile`. */
const struct cj_layout *cj_layout_unflatten(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_tuple *profile);
/* (a, b) with the modes of each level paired: ((a0, b0), (a1, b1), ...). */
const struct cj_layout *cj_layout_zip(struct cj_algebra *al,
    const struct cj_layout *a, const struct cj_layout *b);
/* One layout of the layouts as modes. */
const struct cj_layout *cj_layout_concat(struct cj_algebra *al,
    const struct cj_layout *const *at, uint32_t count);

/* Value at a coordinate (an index, or a tuple weakly congruent to the shape).
 * Plain layouts give an integer, basis layouts a coordinate. */
const struct cj_tuple *cj_layout_at(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_tuple *coord);
/* The same where the value must be an integer; false when refused. */
bool cj_layout_offset(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *coord, struct cj_int *out);
/* The same for all its coordinates, first modes first: `count` numbers. False
 * unless they are so many and all known. Much faster than one by one. */
bool cj_layout_list(struct cj_algebra *al, const struct cj_layout *l,
    int64_t *out, size_t count);
const struct cj_tuple *cj_idx2crd(struct cj_algebra *al, struct cj_int index,
    const struct cj_tuple *shape);
bool cj_crd2idx(struct cj_algebra *al, const struct cj_tuple *coord,
    const struct cj_tuple *shape, const struct cj_tuple *stride,
    struct cj_int *out);

/* Modes (index / stride) % extent, for compact strides. */
const struct cj_tuple *cj_idx2crd_stride(struct cj_algebra *al,
    const struct cj_tuple *index, const struct cj_tuple *shape,
    const struct cj_tuple *stride);
/* The colexicographic index of a coordinate in a shape. */
bool cj_crd2idx_shape(struct cj_algebra *al, const struct cj_tuple *coord,
    const struct cj_tuple *shape, struct cj_int *out);
/* The coordinate in shape `to` of the same index in shape `from`. */
const struct cj_tuple *cj_crd2crd(struct cj_algebra *al,
    const struct cj_tuple *coord, const struct cj_tuple *from,
    const struct cj_tuple *to);

/*
 * Fix the coordinates that are not `_`: the rest as a layout, and the offset;
 * l(c) = *offset + rest(what is left of c). Where l has a swizzle or an offset
 * of its own the offset is inside `rest`, before the swizzle, and *offset is 0.
 */
bool cj_layout_slice(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *coord, const struct cj_layout **rest,
    const struct cj_tuple **offset);

/* The modes beside integers instead of `_`; no offset. */
const struct cj_layout *cj_layout_dice(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_tuple *coord);

/* ---- swizzles ---------------------------------------------------------- */

struct cj_int cj_swizzle_apply(struct cj_algebra *al, struct cj_swizzle s,
    struct cj_int offset);

/* One swizzle that does `inner`, then `outer`. */
bool cj_swizzle_compose(struct cj_algebra *al, struct cj_swizzle outer,
    struct cj_swizzle inner, struct cj_swizzle *out);

/* ---- algebra ----------------------------------------------------------- */

const struct cj_layout *cj_layout_compose(struct cj_algebra *al,
    const struct cj_layout *a, const struct cj_layout *b);
/* By mode with a tiler: tuple of integers, layouts, `_`, nested. */
const struct cj_layout *cj_layout_compose_tiler(struct cj_algebra *al,
    const struct cj_layout *a, const struct cj_tuple *tiler);
const struct cj_layout *cj_layout_complement(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_tuple *cotarget /* or NULL */);
const struct cj_layout *cj_layout_right_inverse(struct cj_algebra *al,
    const struct cj_layout *l);
const struct cj_layout *cj_layout_left_inverse(struct cj_algebra *al,
    const struct cj_layout *l);
const struct cj_layout *cj_layout_nullspace(struct cj_algebra *al,
    const struct cj_layout *l);

enum cj_divide { CJ_DIVIDE_LOGICAL, CJ_DIVIDE_ZIPPED, CJ_DIVIDE_TILED,
    CJ_DIVIDE_FLAT };
const struct cj_layout *cj_layout_divide(struct cj_algebra *al,
    enum cj_divide form, const struct cj_layout *l,
    const struct cj_tuple *tiler);

enum cj_product { CJ_PRODUCT_LOGICAL, CJ_PRODUCT_ZIPPED, CJ_PRODUCT_TILED,
    CJ_PRODUCT_FLAT, CJ_PRODUCT_BLOCKED, CJ_PRODUCT_RAKED };
const struct cj_layout *cj_layout_product(struct cj_algebra *al,
    enum cj_product form, const struct cj_layout *block,
    const struct cj_tuple *tiler);
const struct cj_layout *cj_layout_tile_to_shape(struct cj_algebra *al,
    const struct cj_layout *block, const struct cj_tuple *shape,
    const struct cj_tuple *order /* or NULL */);

enum cj_cast { CJ_CAST_UP, CJ_CAST_DOWN };
/* n elements become one, or one becomes n. */
const struct cj_layout *cj_layout_cast(struct cj_algebra *al,
    const struct cj_layout *l, int64_t n, enum cj_cast cast);
bool cj_swizzle_recast(struct cj_algebra *al, struct cj_swizzle *s, int64_t n,
    enum cj_cast cast);
/* Elements of other width: `bits` of an element before and after. */
const struct cj_layout *cj_layout_recast(struct cj_algebra *al,
    const struct cj_layout *l, int64_t old_bits, int64_t new_bits);

/* Longest run of indices 0, 1, 2 ... on which both are the same contiguous
 * function (CuTe's max_common_vector). */
struct cj_int cj_layout_max_common_vector(struct cj_algebra *al,
    const struct cj_layout *a, const struct cj_layout *b);
const struct cj_layout *cj_layout_max_common_layout(struct cj_algebra *al,
    const struct cj_layout *a, const struct cj_layout *b);

/*
 * Local views, each with its offset in it (cj_layout_slice). local_tile cuts
 * out the tile at `coord` of the tiles: trailing modes that coord does not
 * name stay. local_partition gives thread `index` its elements, for threads
 * laid out as `threads` says (coordinate -> thread).
 */
const struct cj_layout *cj_layout_local_tile(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_tuple *tiler,
    const struct cj_tuple *coord);
const struct cj_layout *cj_layout_local_partition(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_layout *threads,
    struct cj_int index);
/* The same for any tiler; `coord` is within the tile. */
const struct cj_layout *cj_layout_outer_partition(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_tuple *tiler,
    const struct cj_tuple *coord);

/* The coordinate, an index for each mode, of a value of a compact layout. */
const struct cj_tuple *cj_layout_flat_coord(struct cj_algebra *al,
    const struct cj_layout *l, struct cj_int index);
/* The slice of l with its offset inside. */
const struct cj_layout *cj_layout_view(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_tuple *coord);

bool cj_layout_same(const struct cj_layout *a, const struct cj_layout *b);
/* As functions. */
enum cj_truth cj_layout_equivalent(struct cj_algebra *al,
    const struct cj_layout *a, const struct cj_layout *b);
enum cj_truth cj_layout_injective(struct cj_algebra *al,
    const struct cj_layout *l);

/*
 * Which element of `n` neighbours thread t holds: layout
 * ((threads), (v, rounds)) -> index, v neighbours per thread and round; n need
 * not be a multiple: the last round reaches beyond and is guarded by the user.
 */
const struct cj_layout *cj_layout_thread_value(struct cj_algebra *al,
    struct cj_int threads, struct cj_int n, struct cj_int v);

/* A compact layout for registers: mode 0 column-major, as it is an atom's,
 * the others in the order of l's strides; stride 0 modes keep 0. */
const struct cj_layout *cj_layout_fragment_like(struct cj_algebra *al,
    const struct cj_layout *l);
/* Take `n` elements evenly from the modes of a shape, first modes first. */
const struct cj_layout *cj_layout_domain_distribute(struct cj_algebra *al,
    const struct cj_tuple *shape, int64_t n);
/*
 * Threads and values as layouts (coordinate -> thread, coordinate -> value):
 * the tile they cover together, *tiler its extents, and (thread, value) ->
 * index in the tile (CuTe's make_layout_tv).
 */
const struct cj_layout *cj_layout_tv(struct cj_algebra *al,
    const struct cj_layout *threads, const struct cj_layout *values,
    const struct cj_tuple **tiler);
/* l moved by a coordinate: c -> l(c + coord). */
const struct cj_layout *cj_layout_domain_offset(struct cj_algebra *al,
    const struct cj_layout *l, const struct cj_tuple *coord);
/* The first mode of stride 1, or the rank. */
uint32_t cj_layout_leading_dim(const struct cj_layout *l);
/* A bit for each value of the slice at `coord`; values below 16. */
bool cj_layout_image_mask(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *coord, uint16_t *out);
/* Largest n by which cj_layout_cast can widen (CuTe's max_alignment). */
bool cj_layout_max_alignment(struct cj_algebra *al,
    const struct cj_layout *l, int64_t *out);

/* ---- text -------------------------------------------------------------- */

enum cj_layout_style {
	CJ_STYLE_LANGUAGE,	/* (4,) is a tuple of one, symbols by name */
	CJ_STYLE_VECTORS	/* (4), Sw<B,M,S> o offset o layout */
};
void cj_tuple_print(struct cj_strbuf *out, const struct cj_symtab *t,
    const struct cj_tuple *tuple, enum cj_layout_style style);
void cj_layout_print(struct cj_strbuf *out, const struct cj_symtab *t,
    const struct cj_layout *l, enum cj_layout_style style);
/* As the language writes them. */
const char *cj_tuple_text(struct cj_algebra *al, const struct cj_tuple *t);
const char *cj_layout_text(struct cj_algebra *al, const struct cj_layout *l);

/* Read what cj_layout_print writes, in either style, if all integers are
 * known. NULL, perhaps with `why`, for other text. */
const struct cj_layout *cj_layout_read(struct cj_algebra *al,
    const char *text, size_t length);
/* The same; of a shape alone the compact layout. */
const struct cj_layout *cj_layout_or_shape_read(struct cj_algebra *al,
    const char *text, size_t length);

/* ---- the calculator ----------------------------------------------------- */

/* A line each: size, cosize, injective, bijective (onto 0 .. size - 1),
 * contiguous (0, 1, 2 ... in order), the largest vector in elements. */
void cj_layout_facts(struct cj_strbuf *out, struct cj_algebra *al,
    const struct cj_layout *l);
enum cj_truth cj_layout_bijective(struct cj_algebra *al,
    const struct cj_layout *l);

/*
 * `cutec layout --check`: run each line of a vector file. Every line that
 * differs is described in `out`; returns false if the file has a line that
 * cannot be read (then `out` says so).
 */
struct cj_check_counts {
	uint64_t passed, failed;
	uint64_t refused;	/* of passed: refused, since the reference's
				   answer does not meet the definition */
};
bool cj_layout_check(struct cj_arena *a, const char *text, size_t length,
    const char *file, struct cj_strbuf *out, struct cj_check_counts *counts);

#endif
