/*
 * How much memory there is to be had.
 */
#ifndef CJ_ROOM_H
#define CJ_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes that the machine, or the group of processes that we are limited with,
 * can still give; UINT64_MAX: it does not say. Asking costs some microseconds.
 */
uint64_t cj_room(void);
/* Are so many bytes more than there are? Small wishes are not asked about. */
bool cj_room_lacks(size_t bytes);
/* What files of the system say: "MemAvailable: N kB" of one, N of another
 * ("max" or nothing: no limit). */
uint64_t cj_room_meminfo(const char *text);
uint64_t cj_room_number(const char *text);

#endif
