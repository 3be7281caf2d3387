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
	{ 64,
	  "4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98" },
	{ 65,
	  "de1e5fa0be70df6d2be8fffd0e99ceaa8eb6e8c93a63f2d8d1c30ecb6b263dee" },
	{ 2048,
	  "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a" },
	{ 2049,
	  "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030" },
	{ 3072,
	  "b98cb0ff3623be03326b373de6b9095218513e64f1ee2edd2525c7ad1e5cffd2" },
	{ 4096,
	  "015094013f57a5277b59d8475c0501042c0b642e531b0a1c8f58d2163229e969" },
	{ 4097,
	  "9b4052b38f1c5fc8b1f9ff7ac7b27cd242487b3d890d15c96a1c25b8aa0fb995" },
	{ 5120,
	  "9cadc15fed8b5d854562b26a9536d9707cadeda9b143978f319ab34230535833" },
	{ 8192,
	  "aae792484c8efe4f19e2ca7d371d8c467ffb10748d8a5a1ae579948f718a2a63" },
	{ 8193,
	  "bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b" },
	{ 16384,
	  "f875d6646de28985646f34ee13be9a576fd515f76b5b0a26bb324735041ddde4" },
	{ 31744,
	  "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47" },
	{ 102400,
	  "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085" },
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
	static uint8_t bytes[102400];
	struct cj_digest d;
	char text[65];

	fill(bytes, sizeof bytes);
	d = cj_digest_of(bytes, vectors[_i].length);
	cj_digest_text(&d, text);
	ck_assert_str_eq(text, vectors[_i].digest);
}
END_TEST

/* However a text is cut, chunks are the same: also those that go four at a
 * time, and an end that is asked for twice. */
START_TEST(cuts_do_not_matter)
{
	static uint8_t bytes[102400];
	size_t length = vectors[_i].length, at, n, step;
	struct cj_hasher h;
	struct cj_digest d;
	char text[65];

	fill(bytes, sizeof bytes);
	for (step = 1; step < 9000; step = step * 3 + 1) {
		cj_hasher_init(&h);
		for (at = 0; at < length; at += n) {
			n = length - at < step ? length - at : step;
			cj_hasher_add(&h, bytes + at, n);
		}
		(void)cj_hasher_end(&h);
		d = cj_hasher_end(&h);
		cj_digest_text(&d, text);
		ck_assert_str_eq(text, vectors[_i].digest);
	}
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
	tcase_add_loop_test(t, cuts_do_not_matter, 0, CJ_LENGTH(vectors));
	tcase_add_test(t, pieces_give_the_same_digest);
	tcase_add_test(t, neighbours_do_not_run_together);
	tcase_add_test(t, numbers_are_little_endian);
	tcase_add_test(t, table_hash_spreads);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(hash_suite)
