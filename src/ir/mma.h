/*
 * MMA instructions of a warp, for the operation `mma`: rows of
 * layout/atoms.def that are one mma.sync, with types and places of registers
 * worked out. What an atom's name means is decided here for all of ir/ and
 * codegen/.
 */
#ifndef CJ_MMA_H
#define CJ_MMA_H

#include "type.h"

enum cj_mma_how {
	CJ_MMA_MULTIPLY,
	CJ_MMA_XOR_POPC,	/* bits: count where they differ */
	CJ_MMA_AND_POPC		/* bits: count where both are set */
};		/* of bools, or of u8, which are eight bits along K each */

/* Limits of all rows: numbers in an operand. */
enum { CJ_MMA_MOST_A = 16 * 256, CJ_MMA_MOST_B = 8 * 256,
    CJ_MMA_MOST_C = 256 };

struct cj_mma {
	const char *name;	/* the atom's */
	int needs;		/* number of the first target that has it */
	enum cj_mma_how how;
	bool saturate;		/* integers: clamp the sum, else wrap */
	bool a_by_column, b_by_row;	/* SM70 alone has both ways */
	uint32_t m, n, k;
	/* A as it is stored has half of k; 0: A is whole, else how many words
	 * of metadata the lanes of an instruction have room for */
	uint32_t selectors;
	uint32_t groups;	/* of lanes that each compute one: 1 or 4 */
	enum cj_kind d, a, b, c;
	uint32_t a_count, b_count, c_count;	/* registers of a lane */
	/*
	 * Where register r of a lane stands, at [r * 32 + lane]: A at
	 * m + k * M, B at n + k * N, C and D at m + n * M; groups one after
	 * the other.
	 */
	const uint16_t *a_at, *b_at, *c_at;
};

/* NULL, or why the name is no such instruction. */
const char *cj_mma_find(struct cj_arena *a, const char *name,
    struct cj_mma *out);

/*
 * Metadata of a sparse A: four bits for each chunk, of four numbers of A (8
 * bits, 16 bits), of two (tf32) or of four pairs (4 bits): the places of the
 * two that are stored, the first one in the low bits; of tf32 those of its
 * halves, 0100 or 1110. Chunk `chunk` of row `row` is in the word of the lane
 * 4 * (row % 8) + *quad, from bit *shift on.
 */
struct cj_sparse {
	enum cj_kind a;
	uint32_t k;		/* of the instruction */
	uint32_t selector;
};
uint32_t cj_chunks(enum cj_kind a, uint32_t k);	/* of a row */
void cj_metadata_at(const struct cj_sparse *s, uint32_t row, uint32_t chunk,
    uint32_t *quad, uint32_t *shift);

const char *cj_atom_type(enum cj_kind kind);	/* NULL: of no atom */
/* The first target of an `arch` of atoms.def: 80 for sm80, 0 for any. */
int cj_atom_needs(const char *arch);

/* ldmatrix and stmatrix: 8 rows of 16 bytes are a matrix. */
enum { CJ_MATRIX_ROWS = 8, CJ_MATRIX_ROW_BYTES = 16 };

#endif
