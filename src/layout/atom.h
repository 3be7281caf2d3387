/*
 * Atoms, tiled MMAs and tiled copies.
 *
 * Notation as CuTe's: a TV layout maps (thread, value) to an index of the
 * tile; a tiler cuts a tensor into tiles; VMNK are the threads of a tiled MMA:
 * V within the atom, M, N, K over atoms.
 */
#ifndef CJ_ATOM_H
#define CJ_ATOM_H

#include "layout.h"

enum cj_mma_kind { CJ_MMA_SIMT, CJ_MMA_MMA_SYNC, CJ_MMA_WGMMA,
    CJ_MMA_TCGEN05 };
enum cj_copy_kind { CJ_COPY_UNIVERSAL, CJ_COPY_VECTOR, CJ_COPY_CP_ASYNC,
    CJ_COPY_BULK, CJ_COPY_TMA, CJ_COPY_SHUFFLE, CJ_COPY_LDMATRIX,
    CJ_COPY_STMATRIX, CJ_COPY_TMEM, CJ_COPY_UTCCP };

struct cj_mma_atom {
	enum cj_mma_kind kind;
	const char *name, *arch;
	const struct cj_tuple *shape;		/* (M, N, K) */
	const char *d_type, *a_type, *b_type, *c_type;
	const struct cj_layout *threads;	/* index -> thread */
	const struct cj_layout *a, *b, *c;	/* TV layouts */
	int sparsity;		/* K over what is stored of A along it: 1, 2 */
};

struct cj_copy_atom {
	enum cj_copy_kind kind;
	const char *name, *arch;
	const struct cj_layout *threads;
	const struct cj_layout *source, *target, *reference;	/* of bits */
	/* bit of the atom -> bit of tensor memory, else NULL */
	const struct cj_layout *address;
};

/* False with `why` set where no row has the name. */
bool cj_mma_atom_find(struct cj_algebra *al, const char *name,
    struct cj_mma_atom *out);
bool cj_copy_atom_find(struct cj_algebra *al, const char *name,
    struct cj_copy_atom *out);

/* Width of a type by its name (f16, e4m3, u8 ...); 0 for no type. */
int cj_atom_type_bits(const char *type);

/* An atom's layouts per value of `bits`. */
bool cj_copy_atom_values(struct cj_algebra *al,
    const struct cj_copy_atom *atom, int bits, struct cj_copy_atom *out);

enum cj_operand { CJ_OPERAND_A, CJ_OPERAND_B, CJ_OPERAND_C };

struct cj_tiled_mma {
	struct cj_mma_atom atom;
	const struct cj_layout *atoms;	/* (M, N, K) -> index of the atom */
	const struct cj_tuple *permutation;	/* (M, N, K), `_` for none */
	const struct cj_layout *vmnk;	/* (V, M, N, K) -> thread */
};

/* `permutation` may be NULL. */
bool cj_tiled_mma_make(struct cj_algebra *al, const struct cj_mma_atom *atom,
    const struct cj_layout *atoms, const struct cj_tuple *permutation,
    struct cj_tiled_mma *out);
/* The tile of all threads: (M, N, K). */
const struct cj_tuple *cj_tiled_mma_tile(struct cj_algebra *al,
    const struct cj_tiled_mma *mma);
/* What is stored of an operand of it: of a sparse A half along K. */
const struct cj_tuple *cj_tiled_mma_operand(struct cj_algebra *al,
    const struct cj_tiled_mma *mma, enum cj_operand which);
/* (thread, value) -> index in the tile of the operand. */
const struct cj_layout *cj_tiled_mma_tv(struct cj_algebra *al,
    const struct cj_tiled_mma *mma, enum cj_operand which);
/* The same for a tile of `shape`: (thread, (V, (RestM, RestN))). */
const struct cj_layout *cj_tiled_mma_tv_of(struct cj_algebra *al,
    const struct cj_tiled_mma *mma, enum cj_operand which,
    const struct cj_tuple *shape);
/* ((ThrV, (ThrM, ThrN)), (FrgV, (RestM, RestN))) of a tensor's layout. */
const struct cj_layout *cj_tiled_mma_thrfrg(struct cj_algebra *al,
    const struct cj_tiled_mma *mma, enum cj_operand which,
    const struct cj_layout *tensor);
/* Thread `index` of what thrfrg gave with this shape; `_` for its values. */
const struct cj_tuple *cj_tiled_mma_coord(struct cj_algebra *al,
    const struct cj_tiled_mma *mma, enum cj_operand which,
    const struct cj_tuple *shape, struct cj_int index);
/* What thread `index` has of the tensor: (V, RestM, RestN), offset inside. */
const struct cj_layout *cj_tiled_mma_partition(struct cj_algebra *al,
    const struct cj_tiled_mma *mma, enum cj_operand which,
    const struct cj_layout *tensor, struct cj_int index);
/* Shape of each thread's part of a tile of `shape`. */
const struct cj_tuple *cj_tiled_mma_partition_shape(struct cj_algebra *al,
    const struct cj_tiled_mma *mma, enum cj_operand which,
    const struct cj_tuple *shape);
/* Registers for a partition. */
const struct cj_layout *cj_tiled_mma_fragment(struct cj_algebra *al,
    enum cj_operand which, const struct cj_layout *partition);

struct cj_tiled_copy {
	struct cj_copy_atom atom;	/* layouts of values */
	const struct cj_layout *tv;	/* (thread, value) -> index in tile */
	const struct cj_tuple *tiler;
};

/* From threads and values as layouts of coordinates. */
bool cj_tiled_copy_make(struct cj_algebra *al, const struct cj_copy_atom *atom,
    const struct cj_layout *threads, const struct cj_layout *values,
    struct cj_tiled_copy *out);
/* For an operand of a tiled MMA; `atom_only`: of one atom's values of C. */
bool cj_tiled_copy_for_mma(struct cj_algebra *al,
    const struct cj_copy_atom *atom, const struct cj_tiled_mma *mma,
    enum cj_operand which, struct cj_tiled_copy *out);
bool cj_tiled_copy_c_atom(struct cj_algebra *al,
    const struct cj_copy_atom *atom, const struct cj_tiled_mma *mma,
    struct cj_tiled_copy *out);
/* From (thread, value) -> address, for data laid out as `data`. */
bool cj_cotiled_copy_make(struct cj_algebra *al,
    const struct cj_copy_atom *atom, const struct cj_layout *atom_tv,
    const struct cj_layout *data, struct cj_tiled_copy *out);

enum cj_side { CJ_SIDE_SOURCE, CJ_SIDE_TARGET };
const struct cj_layout *cj_tiled_copy_tv(struct cj_algebra *al,
    const struct cj_tiled_copy *copy, enum cj_side side);
/* ((thread, values), tiles) of a tensor's layout. */
const struct cj_layout *cj_tiled_copy_thrfrg(struct cj_algebra *al,
    const struct cj_tiled_copy *copy, enum cj_side side,
    const struct cj_layout *tensor);
/* The coordinate of a thread in it, `rank` that of the tensor. */
const struct cj_tuple *cj_tiled_copy_coord(struct cj_algebra *al,
    uint32_t rank, struct cj_int thread);
const struct cj_layout *cj_tiled_copy_partition(struct cj_algebra *al,
    const struct cj_tiled_copy *copy, enum cj_side side,
    const struct cj_layout *tensor, struct cj_int thread);
/* A fragment (V, ...) of an MMA as this copy's values. */
const struct cj_layout *cj_tiled_copy_retile(struct cj_algebra *al,
    const struct cj_tiled_copy *copy, const struct cj_layout *fragment);
/* The same where the copy is one for an operand of that MMA: also where its
 * permutation changes the order of atoms. */
const struct cj_layout *cj_tiled_copy_retile_of(struct cj_algebra *al,
    const struct cj_tiled_copy *copy, const struct cj_tiled_mma *mma,
    enum cj_operand which, const struct cj_layout *fragment);

/*
 * Tensor memory: lanes times columns of 32 bits. An address of elements of
 * `bits` bits is lane * (65536 * 32 / bits) + column * (32 / bits).
 *
 * The accumulator of a tcgen05 atom (one thread, or a pair of blocks) for a
 * tile of `shape` (M, N): ((M of the atom, N), rest of M, rest of N).
 */
const struct cj_layout *cj_tmem_accumulator(struct cj_algebra *al,
    const struct cj_mma_atom *atom, const struct cj_tuple *shape);
/* The copy by four warps of elements of `bits` bits that lie as `tmem`. */
bool cj_tmem_copy_make(struct cj_algebra *al, const struct cj_copy_atom *atom,
    int bits, const struct cj_layout *tmem, struct cj_tiled_copy *out);

/*
 * Shared memory for wgmma and tcgen05: rows of 16, 32, 64 or 128 bytes along
 * the major mode, 8 rows to an atom, swizzled in units of 16 bytes (SW128_32B:
 * 4 rows, units of 32).
 */
enum cj_major { CJ_MAJOR_K, CJ_MAJOR_MN };
enum cj_smem_mode { CJ_SMEM_INTER, CJ_SMEM_SW32, CJ_SMEM_SW64, CJ_SMEM_SW128,
    CJ_SMEM_SW128_32B };
/* The swizzle of byte addresses. */
struct cj_swizzle cj_smem_swizzle(enum cj_smem_mode mode);
/* The atom's layout (MN, K) in elements of `bits` bits, without the swizzle,
 * and with it (in elements; plain where there is none). */
const struct cj_layout *cj_smem_atom_plain(struct cj_algebra *al,
    enum cj_major major, enum cj_smem_mode mode, int bits);
const struct cj_layout *cj_smem_atom(struct cj_algebra *al,
    enum cj_major major, enum cj_smem_mode mode, int bits);

/* How an operand in shared memory is described to the instruction. */
struct cj_matrix_desc {
	uint64_t bits;			/* with start address 0 */
	unsigned layout_type;
	unsigned leading, stride;	/* byte offsets in units of 16 */
	const struct cj_layout *fragment;	/* descriptors: (1, M, K), in
						   units of 16 bytes */
};
/* For the operand's tile `shape` (MN, K), tiled by the smem atom. */
bool cj_matrix_desc_make(struct cj_algebra *al,
    const struct cj_mma_atom *atom, enum cj_operand which,
    enum cj_major major, enum cj_smem_mode mode,
    const struct cj_tuple *shape, struct cj_matrix_desc *out);

/*
 * A TMA copy of a tile of a tensor in global memory to shared memory: one
 * instruction copies a box, as large as the two layouts have in common.
 */
struct cj_tma {
	int64_t elements;		/* of one instruction, all blocks */
	const struct cj_layout *box;	/* extents of the box : tensor's modes,
					   the fastest first */
	/* for each mode of the tensor: the box's coordinate it moves */
	const struct cj_tuple *coords;
	const struct cj_layout *tv;	/* (block, value) -> index in tile */
};
/* `tensor` and `smem` without swizzle; `tile` as a tiler of the tensor; the
 * box is shared by `multicast` blocks. */
bool cj_tma_make(struct cj_algebra *al, const struct cj_layout *tensor,
    int bits, const struct cj_layout *smem, const struct cj_tuple *tile,
    int64_t multicast, struct cj_tma *out);

#endif
