/*
 * Atoms, tiled MMAs and tiled copies as values, and the fragments that belong
 * to an MMA.
 *
 * An atom is a row of layout/atoms.def, or one element, or a vector. What is
 * cut by a tiled MMA carries a struct cj_fragment, in whatever kind of value:
 * a view, registers, a `var`, a layout of coordinates. Registers of a fragment
 * lie in the order of its shape (V, M, N), first modes first; V is in the
 * order of the atom's values.
 */
#ifndef CJ_ELAB_TILED_H
#define CJ_ELAB_TILED_H

#include "elab_priv.h"
#include "layout/atom.h"

enum cj_atom_use { CJ_ATOM_FMA, CJ_ATOM_MMA_SYNC, CJ_ATOM_UNIVERSAL,
    CJ_ATOM_VECTOR, CJ_ATOM_CP_ASYNC, CJ_ATOM_LDMATRIX, CJ_ATOM_STMATRIX,
    CJ_ATOM_TMA, CJ_ATOM_WGMMA, CJ_ATOM_BULK, CJ_ATOM_TCGEN05,
    CJ_ATOM_TMEM_LOAD, CJ_ATOM_TMEM_STORE };

struct cj_atom_value {
	enum cj_atom_use use;
	const char *text;		/* as the program writes it */
	enum cj_kind a, b, c;		/* an MMA's elements */
	enum cj_kind element;		/* a copy's; VOID: of any of 16 bits */
	uint32_t count;			/* elements at once, or matrices */
	bool is_transposed;
	uint32_t lanes, bits;		/* of tensor memory; count: repeats */
	bool packs;
	enum cj_copy_cache cache;
	uint32_t prefetch;		/* bytes for L2, by cp_async */
	struct cj_mma_atom mma;
	struct cj_copy_atom copy;	/* layouts of bits */
};

struct cj_mma_value {
	const struct cj_atom_value *atom;
	struct cj_tiled_mma tiled;
	const char *text;
};

struct cj_copy_value {
	const struct cj_atom_value *atom;
	struct cj_tiled_copy tiled;
	uint32_t bits;			/* of an element */
	const struct cj_mma_value *mma;	/* of tiled_copy_a/b/c, and whose: */
	enum cj_operand which;
	const struct cj_tma_value *tma;	/* tma_load, tma_store: no tiles */
	const struct cj_bulk_copy *bulk;	/* bulk_copy: neither */
	const char *text;
};

/* Whose part of which operand: made by partition_a/b/c and fragment_a/b/c. */
struct cj_fragment {
	const struct cj_mma_value *mma;
	enum cj_operand which;
	/* the tile that all threads have together (two modes); NULL: some
	 * view, not known to be one */
	const struct cj_tuple *tile;
};

static inline bool
cj_atom_is_mma(const struct cj_atom_value *a)
{
	return a->use == CJ_ATOM_FMA || a->use == CJ_ATOM_MMA_SYNC ||
	    a->use == CJ_ATOM_WGMMA || a->use == CJ_ATOM_TCGEN05;
}

/* A kind in the names of layout/atoms.def's MMAs; NULL: in none. */
const char *cj_elab_atom_word(enum cj_kind k);

/* A copy by tma_load() or tma_store() (elab_tma.c). */
struct cj_value cj_elab_copy_tma(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c);
/* Are arguments that only copies by tensor maps take, of some kind, given to
 * such a one? False: reported. */
bool cj_arg_tma_alone(struct cj_elab *el, struct cj_args *args);
enum cj_map_kind cj_tma_kind(const struct cj_tma_value *t);
/* A copy by bulk_copy() (elab_bulk.c), and what both have in common: what is
 * combined and how (false: reported), what L2 is told, the bits of the blocks
 * that a load goes to (0: its own), and whether the copy says how it ends. */
struct cj_value cj_elab_copy_bulk(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c);
bool cj_arg_reduction(struct cj_elab *el, struct cj_args *args,
    bool *reduces, enum cj_atomic *how);
bool cj_arg_evict(struct cj_elab *el, struct cj_args *args,
    enum cj_evict *out);
bool cj_arg_ranks(struct cj_elab *el, struct cj_args *args, cj_ref *ranks);
bool cj_arg_completes(struct cj_elab *el, struct cj_args *args, bool signals,
    const char *what);
bool cj_elab_can_combine(struct cj_elab *el, struct cj_span span,
    enum cj_kind k, enum cj_atomic how, bool goes_to_shared);
/* A product of warpgroups, operands in shared memory (elab_wgmma.c). */
struct cj_value cj_elab_gemm_wgmma(struct cj_elab *el, struct cj_args *args,
    const struct cj_mma_value *m);
/* metadata = e of a sparse A, and of no other: for each `selectors` atoms along
 * K those along M, one after the other; selectors 0: not sparse. False:
 * reported. */
bool cj_elab_metadata(struct cj_elab *el, struct cj_args *args,
    const struct cj_mma_value *mma, uint32_t selectors, uint32_t m,
    uint32_t k, cj_ref *out);
/* "name": true or false and known; false if it is not given. */
bool cj_arg_flag(struct cj_elab *el, struct cj_args *args, const char *name,
    bool *out);
/* An operand in shared memory that a product reads as a whole (elab_matrix.c);
 * rows, k: of one instruction, which is `who`'s. False: reported. */
/* What products there are of operands of these types, as a sentence. */
const char *cj_wgmma_products(struct cj_elab *el, enum cj_kind a,
    enum cj_kind b, bool is_sparse);
/* The same of an atom's like; NULL: of no kind that is told apart. */
const char *cj_atom_products(struct cj_elab *el, enum cj_atom_use use,
    enum cj_kind k);
struct cj_smem_operand {
	const char *who;
	struct cj_span span;
	const struct cj_layout *plain;	/* without its swizzle */
	enum cj_kind kind;
	int64_t rows, depth;		/* of the tile */
	struct cj_operand_desc desc;
	struct cj_int at;		/* where it begins */
	uint32_t access;
	uint32_t object;
};
bool cj_smem_operand_make(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v, const char *who, enum cj_kind kind,
    int64_t rows, int64_t k, struct cj_smem_operand *o);
cj_ref cj_smem_operand_offset(struct cj_elab *el,
    const struct cj_smem_operand *o, struct cj_int row, int64_t row_known,
    int64_t k);
bool cj_is_shared(struct cj_elab *el, const struct cj_value *v);
/* Tensor memory (elab_tmem.c): copies, and a product into it. */
bool cj_is_tmem(const struct cj_elab *el, const struct cj_value *v);
struct cj_value cj_elab_copy_tmem(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c);
struct cj_value cj_elab_gemm_tcgen05(struct cj_elab *el, struct cj_args *args,
    const struct cj_mma_value *m);
/* The address of an object, and the offset of a place in it. */
cj_ref cj_tmem_address(struct cj_elab *el, uint32_t object);
/* The layout without its swizzle and offset; the offset of a step in it. */
const struct cj_layout *cj_unswizzled(struct cj_elab *el,
    const struct cj_layout *l);
int64_t cj_mode_step(struct cj_elab *el, const struct cj_layout *l,
    uint32_t mode, int64_t i);
/* The swizzle of a layout as tensor maps and products have it. */
bool cj_swizzle_of_map(const struct cj_layout *l, enum cj_kind k,
    enum cj_map_swizzle *out);
/* Where a view of shared memory begins, without the swizzle; aligns its
 * object. False: reported. */
bool cj_swizzled_place(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *v, struct cj_int *at);
/* "name(argument, ...)": how a value prints that a call made. */
const char *cj_elab_call_text(struct cj_elab *el, const char *name,
    const struct cj_args *args);
/* The argument of that kind; NULL: reported. */
const struct cj_mma_value *cj_arg_mma(struct cj_elab *el,
    struct cj_args *args, uint32_t i);
const struct cj_copy_value *cj_arg_copy(struct cj_elab *el,
    struct cj_args *args, uint32_t i);
/* An argument's place in the text, for messages about it alone. */
struct cj_span cj_arg_span(const struct cj_args *args, uint32_t i);
/* Do the instructions of a copy go into the values of a thread, of type k?
 * False: reported. */
bool cj_copy_values_fit(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c, const struct cj_copy_atom *atom,
    enum cj_kind k, int64_t values);
/* ldmatrix or stmatrix of another number of matrices, as a program writes. */
const char *cj_atom_matrices_text(struct cj_elab *el,
    const struct cj_atom_value *like, uint32_t count);
/* f.tv: (thread, (V, M, N)) -> index in the tile; NULL: reported. */
const struct cj_layout *cj_fragment_tv(struct cj_elab *el,
    struct cj_span span, const struct cj_fragment *f);
enum cj_kind cj_fragment_kind(const struct cj_mma_value *mma,
    enum cj_operand which);
/* Of a sparse A half is stored along K; a help that says so, where it is. */
void cj_mma_help_sparse(struct cj_elab *el, struct cj_diag *d,
    const struct cj_mma_value *mma);
/* A register tensor, a value or a place: where its registers are (NULL:
 * reported), and the same ones under another layout of register numbers. */
bool cj_elab_is_registers(const struct cj_value *v);
const struct cj_layout *cj_elab_registers_of(struct cj_elab *el,
    struct cj_args *args, uint32_t i);
struct cj_value cj_elab_seen_as(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v, const struct cj_layout *l);
/* A layout, or a view, divided by a tile; a tile NULL was reported. */
struct cj_value cj_elab_divide(struct cj_elab *el, struct cj_args *args,
    enum cj_divide form, const struct cj_tuple *tile, const char *name);
/* ... composed with a layout. */
struct cj_value cj_elab_compose(struct cj_elab *el, struct cj_args *args,
    const struct cj_layout *with, const char *name);
/* local_tile of one (elab_part.c). */
struct cj_value cj_elab_tile_registers(struct cj_elab *el,
    struct cj_args *args, const struct cj_tuple *tile,
    const struct cj_tuple *coord);
/* A tile of an operand holds the MMA's own tile as often as it fits, and no
 * more; false: reported. */
bool cj_mma_tile_divides(struct cj_elab *el, struct cj_span span,
    const struct cj_mma_value *mma, enum cj_operand which,
    const struct cj_tuple *shape);
/*
 * What can never work (elab_tiled_check.c); false: reported. The layout of
 * atoms, threads or values counts up to `most` of them, each once; the
 * permutation of an MMA holds its atoms.
 */
enum { CJ_MOST_THREADS = 1024, CJ_MOST_VALUES = 8192 };
bool cj_elab_check_numbering(struct cj_elab *el, struct cj_span span,
    const struct cj_layout *l, int64_t most, const char *what);
bool cj_elab_check_permutation(struct cj_elab *el, struct cj_span span,
    const struct cj_mma_value *m);
/* A copy's tile divides the known extents of a tensor. */
bool cj_copy_tile_divides(struct cj_elab *el, struct cj_span span,
    const struct cj_copy_value *c, const struct cj_tuple *shape);
/* The extents, in what the view was cut from, along which the first `rank`
 * modes of the view go; 0: of several, or of none. */
const struct cj_tuple *cj_tensor_extents_along(struct cj_elab *el,
    const struct cj_tensor *t, uint32_t rank);
/* A view that is dealt out in tiles, or by the indices of a layout (thread,
 * value): with what tells whether a part leaves it (elab_within.c). NULL: one
 * certainly does, which is reported. */
const struct cj_tensor *cj_tensor_in_tiles(struct cj_elab *el,
    struct cj_span span, const struct cj_tensor *t,
    const struct cj_tuple *tile, const char *whose);
/* The same of one that is cut into tiles, of which one is taken. */
const struct cj_tensor *cj_tensor_cut_in_tiles(struct cj_elab *el,
    const struct cj_tensor *t, const struct cj_tuple *tile);
const struct cj_tensor *cj_tensor_in_order(struct cj_elab *el,
    struct cj_span span, const struct cj_tensor *t,
    const struct cj_layout *tv);
/* Threads of the launch; 0: not known. Are they as many as `what` is for? */
int64_t cj_elab_block_threads(const struct cj_elab *el);
bool cj_elab_has_threads(struct cj_elab *el, struct cj_span span,
    int64_t need, const char *what);
bool cj_elab_has_warpgroups(struct cj_elab *el, struct cj_span span,
    int64_t need);
/* What a thread has of a view. */
struct cj_value cj_copy_partition_source(struct cj_elab *el,
    struct cj_span span, const struct cj_copy_value *copy,
    const struct cj_tensor *t, struct cj_int thread);
struct cj_value cj_mma_partition(struct cj_elab *el, struct cj_span span,
    const struct cj_mma_value *mma, enum cj_operand which,
    const struct cj_tensor *t, struct cj_int thread);
/* All matrices of a thread's part, in the order of the copy; 0: reported. */
cj_ref cj_copy_load_matrices(struct cj_elab *el, struct cj_span span,
    const struct cj_copy_value *c, const struct cj_tensor *t);
const struct cj_atom_value *cj_atom_ldmatrix(struct cj_elab *el,
    uint32_t count, bool is_transposed);

/*
 * An operand A or B of gemm(), read step by step along K: registers that are
 * there, or a whole tile in shared memory (elab_operand.c).
 */
struct cj_steps {
	struct cj_span span;
	const struct cj_mma_value *mma;
	enum cj_operand which;
	const struct cj_tuple *shape;	/* (V, M or N, K) of a thread */
	uint32_t step;			/* registers of a step */
	cj_ref whole;			/* all registers, or 0: */
	const struct cj_copy_value *copy;	/* by ldmatrix, or NULL */
	const struct cj_tensor *part;	/* what the thread reads */
	const struct cj_layout *order;	/* of registers, as the copy has them */
};

bool cj_steps_are_tile(const struct cj_elab *el, const struct cj_value *v);
/* Of a tile in shared memory; false: reported. */
bool cj_steps_make(struct cj_elab *el, struct cj_steps *s,
    const struct cj_tensor *tile);
/* The registers of step k; 0: reported. */
cj_ref cj_steps_at(struct cj_elab *el, const struct cj_steps *s,
    uint32_t k);

/*
 * Shared memory is read or written as the view has it, by `who` ("wgmma", NULL:
 * threads); and, when the launch is complete: is it read as it was written?
 */
void cj_elab_touch(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, bool writes, const char *who);
void cj_elab_check_touches(struct cj_elab *el);

#endif
