/*
 * Digests: BLAKE3 as LLVM carries it, so that no second library is needed.
 */
#include "hash.h"

#include <assert.h>
#include <string.h>

#include <llvm-c/blake3.h>

static_assert(sizeof(llvm_blake3_hasher) <= sizeof(struct cj_hasher),
    "the state fits");
static_assert(_Alignof(llvm_blake3_hasher) <= _Alignof(struct cj_hasher),
    "the state is aligned");

static llvm_blake3_hasher *
state(struct cj_hasher *h)
{
	return (llvm_blake3_hasher *)(void *)h->state;
}

void
cj_hasher_init(struct cj_hasher *h)
{
	llvm_blake3_hasher_init(state(h));
}

void
cj_hasher_add(struct cj_hasher *h, const void *bytes, size_t length)
{
	if (length != 0)
		llvm_blake3_hasher_update(state(h), bytes, length);
}

void
cj_hasher_add_text(struct cj_hasher *h, const char *text)
{
	size_t length = strlen(text);

	cj_hasher_add_u64(h, length);
	cj_hasher_add(h, text, length);
}

void
cj_hasher_add_u64(struct cj_hasher *h, uint64_t value)
{
	uint8_t bytes[8];
	int i;

	for (i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	cj_hasher_add(h, bytes, sizeof bytes);
}

struct cj_digest
cj_hasher_end(struct cj_hasher *h)
{
	struct cj_digest d;

	llvm_blake3_hasher_finalize(state(h), d.byte, sizeof d.byte);
	return d;
}

struct cj_digest
cj_digest_of(const void *bytes, size_t length)
{
	struct cj_hasher h;

	cj_hasher_init(&h);
	cj_hasher_add(&h, bytes, length);
	return cj_hasher_end(&h);
}

void
cj_digest_text(const struct cj_digest *d, char text[65])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < sizeof d->byte; i++) {
		text[2 * i] = digits[d->byte[i] >> 4];
		text[2 * i + 1] = digits[d->byte[i] & 15];
	}
	text[64] = '\0';
}

/* Multiply and fold the high half down, so that low bits are good too. */
static uint64_t
mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

uint64_t
cj_hash64(const void *bytes, size_t length)
{
	const unsigned char *p = bytes;
	uint64_t h = mix(UINT64_C(0x243f6a8885a308d3), length);
	uint64_t word;

	for (; length >= sizeof word; length -= sizeof word) {
		memcpy(&word, p, sizeof word);
		h = mix(h, word);
		p += sizeof word;
	}
	word = 0;
	if (length != 0)
		memcpy(&word, p, length);
	return mix(mix(h, word), 0);
}
