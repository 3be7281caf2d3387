/*
 * BLAKE3, after its specification: a binary tree over chunks of 1 KiB, each
 * chunk a chain of blocks of 64 bytes.
 *
 *	       root			a tree over n chunks has the largest
 *	     /      \			power of two below n on its left
 *	   (0 1)    (2 3)   ...
 *
 * Complete trees wait on a stack for their right neighbours: after n chunks
 * there is one for each bit of n. Nothing is compressed before more bytes
 * follow, since the last compression of all is the root's, which is marked.
 * Four whole chunks at a time go through the lanes of a vector.
 */
#include "hash.h"

#include <assert.h>
#include <string.h>

enum { BLOCK = 64, CHUNK = 1024, ROUNDS = 7, LANES = 4 };
enum { CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8 };

static const uint32_t initial[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
};

/* Which word of a block comes when: each round permutes the one before. */
static const unsigned char order[ROUNDS][16] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8 },
	{ 3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1 },
	{ 10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6 },
	{ 12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4 },
	{ 9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7 },
	{ 11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13 }
};

/* The same steps for words and for vectors of words. */
#define TURN(x, n)	((x) >> (n) | (x) << (32 - (n)))
#define MIX(v, a, b, c, d, x, y) do {					\
	(v)[a] += (v)[b] + (x);						\
	(v)[d] = TURN((v)[d] ^ (v)[a], 16);				\
	(v)[c] += (v)[d];						\
	(v)[b] = TURN((v)[b] ^ (v)[c], 12);				\
	(v)[a] += (v)[b] + (y);						\
	(v)[d] = TURN((v)[d] ^ (v)[a], 8);				\
	(v)[c] += (v)[d];						\
	(v)[b] = TURN((v)[b] ^ (v)[c], 7);				\
} while (0)
#define ROUND(v, m, w) do {						\
	MIX(v, 0, 4, 8, 12, (m)[(w)[0]], (m)[(w)[1]]);			\
	MIX(v, 1, 5, 9, 13, (m)[(w)[2]], (m)[(w)[3]]);			\
	MIX(v, 2, 6, 10, 14, (m)[(w)[4]], (m)[(w)[5]]);			\
	MIX(v, 3, 7, 11, 15, (m)[(w)[6]], (m)[(w)[7]]);			\
	MIX(v, 0, 5, 10, 15, (m)[(w)[8]], (m)[(w)[9]]);			\
	MIX(v, 1, 6, 11, 12, (m)[(w)[10]], (m)[(w)[11]]);		\
	MIX(v, 2, 7, 8, 13, (m)[(w)[12]], (m)[(w)[13]]);		\
	MIX(v, 3, 4, 9, 14, (m)[(w)[14]], (m)[(w)[15]]);		\
} while (0)

/* Written out, so that the order is known where the words are used. */
#define ALL_ROUNDS(v, m) do {						\
	ROUND(v, m, order[0]);						\
	ROUND(v, m, order[1]);						\
	ROUND(v, m, order[2]);						\
	ROUND(v, m, order[3]);						\
	ROUND(v, m, order[4]);						\
	ROUND(v, m, order[5]);						\
	ROUND(v, m, order[6]);						\
} while (0)

static uint32_t
word_at(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16
	    | (uint32_t)p[3] << 24;
}

/* ---- one block ----------------------------------------------------------- */

static void
compress(const uint32_t chain[8], const uint32_t m[16], uint64_t counter,
    uint32_t length, uint32_t flags, uint32_t out[8])
{
	uint32_t v[16];
	int i;

	memcpy(v, chain, 8 * sizeof *v);
	memcpy(v + 8, initial, 4 * sizeof *v);
	v[12] = (uint32_t)counter;
	v[13] = (uint32_t)(counter >> 32);
	v[14] = length;
	v[15] = flags;
	ALL_ROUNDS(v, m);
	for (i = 0; i < 8; i++)
		out[i] = v[i] ^ v[i + 8];
}

static void
compress_bytes(const uint32_t chain[8], const unsigned char block[BLOCK],
    uint64_t counter, uint32_t length, uint32_t flags, uint32_t out[8])
{
	uint32_t m[16];
	int i;

	for (i = 0; i < 16; i++)
		m[i] = word_at(block + 4 * i);
	compress(chain, m, counter, length, flags, out);
}

static void
join(const uint32_t left[8], const uint32_t right[8], uint32_t flags,
    uint32_t out[8])
{
	uint32_t m[16];

	memcpy(m, left, 8 * sizeof *m);
	memcpy(m + 8, right, 8 * sizeof *m);
	compress(initial, m, 0, BLOCK, PARENT | flags, out);
}

/* ---- four chunks --------------------------------------------------------- */

typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));

static lanes
all_lanes(uint32_t x)
{
	return (lanes){ x, x, x, x };
}

static void
four_blocks(lanes chain[8], const unsigned char *bytes, lanes low, lanes high,
    uint32_t flags)
{
	lanes v[16], m[16];
	int i;

	for (i = 0; i < 16; i++)
		m[i] = (lanes){ word_at(bytes + 4 * i),
		    word_at(bytes + CHUNK + 4 * i),
		    word_at(bytes + 2 * CHUNK + 4 * i),
		    word_at(bytes + 3 * CHUNK + 4 * i) };
	for (i = 0; i < 8; i++)
		v[i] = chain[i];
	for (i = 0; i < 4; i++)
		v[8 + i] = all_lanes(initial[i]);
	v[12] = low;
	v[13] = high;
	v[14] = all_lanes(BLOCK);
	v[15] = all_lanes(flags);
	ALL_ROUNDS(v, m);
	for (i = 0; i < 8; i++)
		chain[i] = v[i] ^ v[i + 8];
}

static void
four_chunks(const unsigned char *bytes, uint64_t first,
    uint32_t out[LANES][8])
{
	lanes chain[8], low, high;
	int i, k;

	for (k = 0; k < LANES; k++) {
		low[k] = (uint32_t)(first + (uint64_t)k);
		high[k] = (uint32_t)((first + (uint64_t)k) >> 32);
	}
	for (i = 0; i < 8; i++)
		chain[i] = all_lanes(initial[i]);
	for (i = 0; i < CHUNK / BLOCK; i++)
		four_blocks(chain, bytes + i * BLOCK, low, high,
		    (i == 0 ? CHUNK_START : 0)
		    | (i == CHUNK / BLOCK - 1 ? CHUNK_END : 0));
	for (k = 0; k < LANES; k++)
		for (i = 0; i < 8; i++)
			out[k][i] = chain[i][k];
}

/* ---- the tree ------------------------------------------------------------ */

static void
begin_chunk(struct cj_hasher *h)
{
	memcpy(h->chain, initial, sizeof h->chain);
	h->filled = h->blocks = 0;
}

void
cj_hasher_init(struct cj_hasher *h)
{
	h->chunk = 0;
	h->depth = 0;
	begin_chunk(h);
}

/* A chunk is complete, and more bytes follow. */
static void
push(struct cj_hasher *h, const uint32_t chain[8])
{
	uint64_t count = ++h->chunk;
	uint32_t top[8];

	memcpy(top, chain, sizeof top);
	for (; (count & 1) == 0; count >>= 1)
		join(h->stack[--h->depth], top, 0, top);
	assert(h->depth < CJ_HASH_DEEPEST && "2^64 bytes are not reached");
	memcpy(h->stack[h->depth++], top, sizeof top);
}

static uint32_t
chunk_flags(const struct cj_hasher *h)
{
	return h->blocks == 0 ? CHUNK_START : 0;
}

/* The block is full, and more bytes follow. */
static void
flush_block(struct cj_hasher *h)
{
	uint32_t end = h->blocks == CHUNK / BLOCK - 1 ? CHUNK_END : 0;

	compress_bytes(h->chain, h->block, h->chunk, BLOCK,
	    chunk_flags(h) | end, h->chain);
	h->blocks++;
	h->filled = 0;
	if (end != 0) {
		push(h, h->chain);
		begin_chunk(h);
	}
}

static size_t
add_chunks(struct cj_hasher *h, const unsigned char *p, size_t length)
{
	uint32_t chains[LANES][8];
	size_t done = 0;
	int k;

	for (; length - done > LANES * CHUNK; done += LANES * CHUNK) {
		four_chunks(p + done, h->chunk, chains);
		for (k = 0; k < LANES; k++)
			push(h, chains[k]);
	}
	return done;
}

void
cj_hasher_add(struct cj_hasher *h, const void *bytes, size_t length)
{
	const unsigned char *p = bytes;
	size_t n;

	while (length != 0) {
		if (h->filled == BLOCK)
			flush_block(h);
		if (h->filled == 0 && h->blocks == 0) {
			n = add_chunks(h, p, length);
			p += n;
			length -= n;
		}
		n = BLOCK - h->filled;
		n = n < length ? n : length;
		memcpy(h->block + h->filled, p, n);
		h->filled += (uint32_t)n;
		p += n;
		length -= n;
	}
}

/* From the chunk under way up along the stack; the last step is the root. */
struct cj_digest
cj_hasher_end(struct cj_hasher *h)
{
	struct cj_digest d;
	uint32_t top[8], depth = h->depth;
	int i;

	memset(h->block + h->filled, 0, BLOCK - h->filled);
	compress_bytes(h->chain, h->block, h->chunk, h->filled,
	    chunk_flags(h) | CHUNK_END | (depth == 0 ? ROOT : 0), top);
	while (depth != 0) {
		depth--;
		join(h->stack[depth], top, depth == 0 ? ROOT : 0, top);
	}
	for (i = 0; i < 32; i++)
		d.byte[i] = (uint8_t)(top[i / 4] >> 8 * (i % 4));
	return d;
}
