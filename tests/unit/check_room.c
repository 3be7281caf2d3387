/*
 * How much memory there is.
 */
#include "check_main.h"

#include "base/room.h"

START_TEST(texts)
{
	ck_assert(cj_room_number("123\n") == 123);
	ck_assert(cj_room_number("max\n") == UINT64_MAX);
	ck_assert(cj_room_number("") == UINT64_MAX);
	ck_assert(cj_room_meminfo("MemTotal: 9 kB\nMemFree: 1 kB\n"
	    "MemAvailable:      7 kB\nBuffers: 2 kB\n") == 7 * 1024);
	ck_assert(cj_room_meminfo("MemTotal: 9 kB\n") == UINT64_MAX);
	ck_assert(cj_room_meminfo("MemAvailable: 99999999999999999999 kB")
	    == UINT64_MAX);
}
END_TEST

START_TEST(here)
{
	ck_assert(cj_room() > 0);
	ck_assert(!cj_room_lacks(1000));
	ck_assert(cj_room() == UINT64_MAX || cj_room_lacks(SIZE_MAX));
}
END_TEST

static Suite *
room_suite(void)
{
	Suite *s = suite_create("room");
	TCase *t = tcase_create("room");

	tcase_add_test(t, texts);
	tcase_add_test(t, here);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(room_suite)
