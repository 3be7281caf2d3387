/*
 * Words of the text form: one table per enumeration, for printer and reader.
 */
#include "ir_priv.h"

static const char *const specials[] = { "thread_x", "thread_y", "thread_z",
    "block_x", "block_y", "block_z", "block_dim_x", "block_dim_y",
    "block_dim_z", "grid_dim_x", "grid_dim_y", "grid_dim_z", "lane", "warp",
    "block_rank" };
static const char *const devices[] = { "sms", "clusters" };
static const char *const shfls[] = { "idx", "up", "down", "xor" };
static const char *const fences[] = { "mbarrier_init", "async",
    "async_shared", "async_global", "before_sync", "after_sync" };
static const char *const tmem_waits[] = { "load", "store" };
static const char *const spreads[] = { "own", "pairs_02_13", "pairs_01_23",
    "all_four" };
static const char *const objects[] = { "tensor", "workspace", "shared",
    "table", "foreign", "array", "tmem", "slot" };
static const char *const caches[] = { "default", "streaming", "last_use",
    "no_allocate", "read_only" };
static const char *const orders[] = { "weak", "relaxed", "acquire", "release",
    "acq_rel" };
static const char *const scopes[] = { "block", "cluster", "gpu", "system" };
static const char *const atomics[] = { "add", "min", "max", "and", "or",
    "xor", "inc", "dec", "exch", "cas" };
static const char *const generators[] = { "empty", "full", "normal",
    "uniform", "integers", "iota" };
static const char *const arguments[] = { "tensor", "scalar", "none" };
static const char *const leaves[] = { "object", "value", "scalar", "extent",
    "stride", "align", "present" };
static const char *const functions[] = { "host", "device", "test" };
static const char *const copies[] = { "all", "global" };
static const char *const evicts[] = { "normal", "first", "last" };
static const char *const roundings[] = { "even", "zero", "up", "down" };

_Static_assert(CJ_LENGTH(specials) == CJ_SPECIAL_COUNT, "a word for each");
_Static_assert(CJ_LENGTH(devices) == CJ_DEVICE_FACT_COUNT, "a word for each");
_Static_assert(CJ_LENGTH(atomics) == CJ_ATOMIC_COUNT, "a word for each");
_Static_assert(CJ_LENGTH(fences) == CJ_FENCE_COUNT, "a word for each");
_Static_assert(CJ_LENGTH(tmem_waits) == CJ_TMEM_WAIT_COUNT, "a word for each");
_Static_assert(CJ_LENGTH(spreads) == CJ_TMEM_SPREADS, "a word for each");
_Static_assert(CJ_LENGTH(objects) == CJ_OBJECT_SLOT + 1, "a word for each");
_Static_assert(CJ_LENGTH(atomics) == CJ_ATOMIC_CAS + 1, "a word for each");
_Static_assert(CJ_LENGTH(evicts) == CJ_EVICT_COUNT, "a word for each");
_Static_assert(CJ_LENGTH(leaves) == CJ_LEAF_PRESENT + 1, "a word for each");

#define SET(words)	{ words, CJ_LENGTH(words) }
static const struct {
	const char *const *at;
	unsigned count;
} sets[] = {
	[CJ_WORDS_SPECIAL] = SET(specials),
	[CJ_WORDS_DEVICE] = SET(devices),
	[CJ_WORDS_SHFL] = SET(shfls),
	[CJ_WORDS_FENCE] = SET(fences),
	[CJ_WORDS_TMEM_WAIT] = SET(tmem_waits),
	[CJ_WORDS_SPREAD] = SET(spreads),
	[CJ_WORDS_OBJECT] = SET(objects),
	[CJ_WORDS_CACHE] = SET(caches),
	[CJ_WORDS_ORDER] = SET(orders),
	[CJ_WORDS_SCOPE] = SET(scopes),
	[CJ_WORDS_ATOMIC] = SET(atomics),
	[CJ_WORDS_GENERATOR] = SET(generators),
	[CJ_WORDS_ARGUMENT] = SET(arguments),
	[CJ_WORDS_LEAF] = SET(leaves),
	[CJ_WORDS_FUNCTION] = SET(functions),
	[CJ_WORDS_ROUNDING] = SET(roundings),
	[CJ_WORDS_COPY] = SET(copies),
	[CJ_WORDS_EVICT] = SET(evicts),
};
#undef SET

const char *
cj_word(enum cj_words set, unsigned enumerator)
{
	return enumerator < sets[set].count ? sets[set].at[enumerator] : "?";
}

int
cj_word_find(enum cj_words set, const char *text, size_t length)
{
	unsigned i;

	for (i = 0; i < sets[set].count; i++)
		if (strlen(sets[set].at[i]) == length &&
		    memcmp(sets[set].at[i], text, length) == 0)
			return (int)i;
	return -1;
}
