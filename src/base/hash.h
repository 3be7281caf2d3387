/*
 * Digests of content: BLAKE3, 32 bytes.
 */
#ifndef CJ_HASH_H
#define CJ_HASH_H

#include <stddef.h>
#include <stdint.h>

struct cj_digest {
	uint8_t byte[32];
};

struct cj_hasher {
	_Alignas(8) unsigned char state[2048];
};

void cj_hasher_init(struct cj_hasher *h);
void cj_hasher_add(struct cj_hasher *h, const void *bytes, size_t length);

/* A text with its length in front, so that neighbours cannot run together. */
void cj_hasher_add_text(struct cj_hasher *h, const char *text);
void cj_hasher_add_u64(struct cj_hasher *h, uint64_t value);
struct cj_digest cj_hasher_end(struct cj_hasher *h);

struct cj_digest cj_digest_of(const void *bytes, size_t length);

/* 64 lower-case digits and a terminator. */
void cj_digest_text(const struct cj_digest *d, char text[65]);

/* A fast hash for tables in memory; not stable between versions. */
uint64_t cj_hash64(const void *bytes, size_t length);

#endif
