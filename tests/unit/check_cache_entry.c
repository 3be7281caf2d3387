/*
 * Entries of the cache as bytes: what is written reads back, and a file with
 * any one bit changed, cut off anywhere, or longer, does not.
 */
#include "check_main.h"

#include "runtime/cache.h"

static struct cj_recover recover;
static struct cj_arena arena;
static struct cj_digest key;

static void
setup(void)
{
	cj_arena_init(&arena, &recover, NULL);
	key = cj_digest_of("key", 3);
}

static void
teardown(void)
{
	cj_arena_fini(&arena);
}

static void
fill(struct cj_record *r)
{
	static const char *const texts[CJ_SECTION_COUNT] = {
		"relu", "T=f16", "sm_90a", "ptxas 13.0.88", "build", "",
		"module", ".version 8.0", "\177ELF", "(C7507) ...\n"
	};
	int i;

	for (i = 0; i < CJ_SECTION_COUNT; i++) {
		r->section[i].bytes = texts[i];
		r->section[i].length = strlen(texts[i]);
	}
}

START_TEST(test_round_trip)
{
	struct cj_record in, out;
	size_t length;
	char *bytes;
	int i;

	CJ_CHECK_RECOVER(&recover);
	fill(&in);
	bytes = cj_record_encode(&arena, &key, &in, &length);
	ck_assert_ptr_null(cj_record_decode(bytes, length, &key, true, &out));
	for (i = 0; i < CJ_SECTION_COUNT; i++) {
		ck_assert_uint_eq(out.section[i].length,
		    in.section[i].length);
		ck_assert_mem_eq(out.section[i].bytes, in.section[i].bytes,
		    in.section[i].length);
		ck_assert_int_eq(out.section[i].bytes[out.section[i].length],
		    '\0');
	}
}
END_TEST

START_TEST(test_every_byte_counts)
{
	struct cj_record in, out;
	size_t length, i;
	char *bytes;

	CJ_CHECK_RECOVER(&recover);
	fill(&in);
	bytes = cj_record_encode(&arena, &key, &in, &length);
	for (i = 0; i < length; i++) {
		int bit;

		for (bit = 0; bit < 8; bit++) {
			bytes[i] = (char)(bytes[i] ^ 1 << bit);
			ck_assert_msg(cj_record_decode(bytes, length, &key,
			    true, &out) != NULL, "byte %zu bit %d", i, bit);
			bytes[i] = (char)(bytes[i] ^ 1 << bit);
		}
	}
	ck_assert_ptr_null(cj_record_decode(bytes, length, &key, true, &out));
}
END_TEST

START_TEST(test_every_length_counts)
{
	struct cj_record in, out;
	size_t length, i;
	char *bytes, *longer;

	CJ_CHECK_RECOVER(&recover);
	fill(&in);
	bytes = cj_record_encode(&arena, &key, &in, &length);
	for (i = 0; i < length; i++)
		ck_assert_msg(cj_record_decode(bytes, i, &key, true, &out)
		    != NULL, "length %zu", i);
	longer = cj_alloc(&arena, length + 8);
	memcpy(longer, bytes, length);
	for (i = 1; i <= 8; i++)
		ck_assert_ptr_nonnull(cj_record_decode(longer, length + i,
		    &key, true, &out));
}
END_TEST

START_TEST(test_key_counts)
{
	struct cj_digest other = cj_digest_of("other", 5);
	struct cj_record in, out;
	size_t length;
	char *bytes;

	CJ_CHECK_RECOVER(&recover);
	fill(&in);
	bytes = cj_record_encode(&arena, &key, &in, &length);
	ck_assert_ptr_nonnull(cj_record_decode(bytes, length, &other, true,
	    &out));
	ck_assert_ptr_null(cj_record_decode(bytes, length, NULL, true, &out));
}
END_TEST

/* Sections that point outside the file, under a header that is right. */
START_TEST(test_wild_sections)
{
	enum { AT_SECTIONS = 56, SECTION = 56, DIGEST = 32 };
	static const uint64_t wild[] = { 0, 1, UINT64_MAX, UINT64_MAX - 600,
	    1 << 20 };
	struct cj_record in, out;
	size_t length, i, header = AT_SECTIONS + CJ_SECTION_COUNT * SECTION;
	struct cj_digest d;
	char *bytes;

	CJ_CHECK_RECOVER(&recover);
	fill(&in);
	bytes = cj_record_encode(&arena, &key, &in, &length);
	for (i = 0; i < 2 * CJ_LENGTH(wild); i++) {
		char saved[8], *at = bytes + AT_SECTIONS + SECTION
		    + (i % 2 ? 8 : 16);

		memcpy(saved, at, sizeof saved);
		memcpy(at, &wild[i / 2], 8);
		d = cj_digest_of(bytes, header);
		memcpy(bytes + header, d.byte, DIGEST);
		ck_assert_ptr_nonnull(cj_record_decode(bytes, length, &key,
		    true, &out));
		memcpy(at, saved, sizeof saved);
	}
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("cache_entry");
	TCase *t = tcase_create("bytes");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_round_trip);
	tcase_add_test(t, test_every_byte_counts);
	tcase_add_test(t, test_every_length_counts);
	tcase_add_test(t, test_key_counts);
	tcase_add_test(t, test_wild_sections);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
