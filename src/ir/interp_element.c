/*
 * One element in memory: read, written, combined with a value as one step.
 *
 * Elements below 8 bits are packed, the first one in the low bits of a byte;
 * truth values have a byte each. Where several threads of ours run blocks, a
 * lock of the element's 64 bytes makes the step one.
 */
#include "interp_priv.h"

size_t
cj_memory_bytes(enum cj_kind k, int64_t elements)
{
	assert(elements >= 0);
	return ((size_t)elements * cj_stored_bits(k) + 7) / 8;
}

static uint64_t
packed_get(const char *data, unsigned bits, int64_t i)
{
	uint64_t out = 0;
	unsigned b;

	for (b = 0; b < bits; b++) {
		int64_t at = i * bits + b;

		out |= (uint64_t)((uint8_t)data[at >> 3] >> (at & 7) & 1) << b;
	}
	return out;
}

static void
packed_set(char *data, unsigned bits, int64_t i, uint64_t value)
{
	unsigned b;

	for (b = 0; b < bits; b++) {
		int64_t at = i * bits + b;
		uint8_t bit = (uint8_t)(1u << (at & 7));
		uint8_t old = (uint8_t)data[at >> 3];

		data[at >> 3] = (char)(value >> b & 1 ? old | bit
		    : old & (uint8_t)~bit);
	}
}

uint64_t
cj_memory_get(const struct cj_memory *m, enum cj_kind k, int64_t i)
{
	unsigned bits = cj_stored_bits(k);
	uint64_t v;

	assert(i >= m->lo && i < m->hi);
	if (bits < 8) {
		v = packed_get(m->data, bits, i);
		return cj_kind_is_signed(k) && v >> (bits - 1)
		    ? v | ~(uint64_t)0 << bits : v;
	}
	v = cj_reg_get(m->data + i * (int64_t)(bits / 8), 0, k);
	return k == CJ_KIND_BOOL ? v != 0 : v;
}

void
cj_memory_set(const struct cj_memory *m, enum cj_kind k, int64_t i,
    uint64_t value)
{
	unsigned bits = cj_stored_bits(k);

	assert(i >= m->lo && i < m->hi);
	if (bits < 8)
		packed_set(m->data, bits, i, value);
	else
		cj_reg_set(m->data + i * (int64_t)(bits / 8), 0, k, value);
}

void
cj_memory_forget(const struct cj_memory *m, int64_t at, int64_t count)
{
	uint8_t *mark = m->written + (at - m->lo);
	int64_t i;

	assert(at >= m->lo && count <= m->hi - at);
	for (i = 0; i < count; i++)
		mark[i] &= CJ_WRITTEN_PADDING;
}

/* ---- atomics ------------------------------------------------------------- */

static uint64_t
combine(enum cj_atomic what, enum cj_kind k, uint64_t old, uint64_t value,
    uint64_t expected)
{
	switch (what) {
	case CJ_ATOMIC_ADD:
		return cj_num_apply(CJ_OP_ADD, k, old, value, 0);
	case CJ_ATOMIC_MIN:
		return cj_num_apply(CJ_OP_MIN, k, old, value, 0);
	case CJ_ATOMIC_MAX:
		return cj_num_apply(CJ_OP_MAX, k, old, value, 0);
	case CJ_ATOMIC_AND:
		return cj_num_apply(CJ_OP_AND, k, old, value, 0);
	case CJ_ATOMIC_OR:
		return cj_num_apply(CJ_OP_OR, k, old, value, 0);
	case CJ_ATOMIC_XOR:
		return cj_num_apply(CJ_OP_XOR, k, old, value, 0);
	case CJ_ATOMIC_INC:
		return old >= value ? 0 : old + 1;
	case CJ_ATOMIC_DEC:
		return old == 0 || old > value ? value : old - 1;
	case CJ_ATOMIC_EXCH:
		return value;
	case CJ_ATOMIC_CAS:
		return old == expected ? value : old;
	case CJ_ATOMIC_COUNT:
		break;
	}
	return old;
}

static atomic_flag *
lock_of(struct cj_frame *f, const struct cj_memory *m, enum cj_kind k,
    int64_t at)
{
	struct cj_locks *l = f->machine->locks;
	unsigned bytes = cj_stored_bits(k) / 8;

	if (l == NULL)
		return NULL;
	return &l->at[((uintptr_t)m->data / 64
	    + (uintptr_t)at * bytes / 64) % CJ_LENGTH(l->at)];
}

uint64_t
cj_memory_update(struct cj_frame *f, const struct cj_memory *m,
    enum cj_kind k, int64_t at, enum cj_atomic how, uint64_t value,
    uint64_t expected)
{
	atomic_flag *lock = lock_of(f, m, k, at);
	uint64_t old;

	while (lock != NULL && atomic_flag_test_and_set(lock))
		;
	old = cj_memory_get(m, k, at);
	cj_memory_set(m, k, at, combine(how, k, old, value, expected));
	if (lock != NULL)
		atomic_flag_clear(lock);
	return old;
}

void
cj_memory_combine(struct cj_frame *f, const struct cj_memory *m,
    enum cj_kind k, int64_t at, enum cj_atomic how, uint64_t value)
{
	cj_memory_update(f, m, k, at, how, value, 0);
}
