/*
 * Digests, against the published test vectors of BLAKE3: input byte i is
 * i mod 251.
 */
#include "check_main.h"

#include "base/base.h"

static const struct {
	size_t length;
	const char *digest;
} vectors[] = {
	{ 0,
	  "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262" },
	{ 1,
	  "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213" },
	{ 1023,
	  "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11" },
	{ 1024,
	  "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7" },
	{ 1025,
	  "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444" },
};

static void
fill(uint8_t *bytes, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		bytes[i] = (uint8_t)(i % 251);
}

START_TEST(published_vectors)
{
	uint8_t bytes[2048];
	struct cj_digest d;
	char text[65];

	fill(bytes, sizeof bytes);
	d = cj_digest_of(bytes, vectors[_i].length);
	cj_digest_text(&d, text);
	ck_assert_str_eq(text, vectors[_i].digest);
}
END_TEST

START_TEST(pieces_give_the_same_digest)
{
	uint8_t bytes[1025];
	struct cj_hasher h;
	struct cj_digest d;
	char text[65];
	size_t i;

	fill(bytes, sizeof bytes);
	cj_hasher_init(&h);
	for (i = 0; i < sizeof bytes; i++)
		cj_hasher_add(&h, bytes + i, 1);
	cj_hasher_add(&h, NULL, 0);
	d = cj_hasher_end(&h);
	cj_digest_text(&d, text);
	ck_assert_str_eq(text, vectors[4].digest);
}
END_TEST

static struct cj_digest
digest_of_texts(const char *a, const char *b)
{
	struct cj_hasher h;

	cj_hasher_init(&h);
	cj_hasher_add_text(&h, a);
	cj_hasher_add_text(&h, b);
	return cj_hasher_end(&h);
}

START_TEST(neighbours_do_not_run_together)
{
	struct cj_digest a = digest_of_texts("ab", "c");
	struct cj_digest b = digest_of_texts("a", "bc");
	struct cj_digest c = digest_of_texts("ab", "c");

	ck_assert_mem_ne(&a, &b, sizeof a);
	ck_assert_mem_eq(&a, &c, sizeof a);
}
END_TEST

/* A number is hashed as eight bytes, the low one first, on any machine. */
START_TEST(numbers_are_little_endian)
{
	static const uint8_t bytes[8] = { 8, 7, 6, 5, 4, 3, 2, 1 };
	struct cj_digest a = cj_digest_of(bytes, 8), b;
	struct cj_hasher h;

	cj_hasher_init(&h);
	cj_hasher_add_u64(&h, UINT64_C(0x0102030405060708));
	b = cj_hasher_end(&h);
	ck_assert_mem_eq(&a, &b, sizeof a);
}
END_TEST

/* Small numbers and short texts spread over the low bits of a table. */
START_TEST(table_hash_spreads)
{
	enum { SLOTS = 1024 };
	static unsigned used[SLOTS];
	unsigned most = 0;
	char text[16];
	int i;

	for (i = 0; i < 4 * SLOTS; i++) {
		int n = snprintf(text, sizeof text, "x%d", i);
		uint64_t h = cj_hash64(text, (size_t)n);

		if (++used[h % SLOTS] > most)
			most = used[h % SLOTS];
	}
	ck_assert_uint_le(most, 20);
	ck_assert_uint_ne(cj_hash64("a\0", 2), cj_hash64("a", 1));
}
END_TEST

static Suite *
hash_suite(void)
{
	Suite *s = suite_create("hash");
	TCase *t = tcase_create("all");

	tcase_add_loop_test(t, published_vectors, 0, CJ_LENGTH(vectors));
	tcase_add_test(t, pieces_give_the_same_digest);
	tcase_add_test(t, neighbours_do_not_run_together);
	tcase_add_test(t, numbers_are_little_endian);
	tcase_add_test(t, table_hash_spreads);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(hash_suite)
