/*
 * How much memory there is to be had: a wish that is larger would be granted
 * all the same, and end the process when the memory is touched.
 *
 * Linux says what is available without swapping in /proc/meminfo, and what a
 * control group may have in memory.max, less memory.current; of version 1 in
 * memory.limit_in_bytes and memory.usage_in_bytes.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "room.h"

enum { SMALL = 1 << 26, LONGEST = 4096 };

uint64_t
cj_room_number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	return end == text ? UINT64_MAX : n;
}

uint64_t
cj_room_meminfo(const char *text)
{
	static const char name[] = "MemAvailable:";
	const char *at = strstr(text, name);
	uint64_t n = at == NULL ? UINT64_MAX :
	    cj_room_number(at + sizeof name - 1);

	return n > UINT64_MAX / 1024 ? UINT64_MAX : n * 1024;
}

/* The beginning of a file; empty if there is none. */
static const char *
read_text(const char *path, char text[LONGEST])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, LONGEST - 1);

	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

/* What a control group may still have. */
static uint64_t
group_room(const char *most, const char *used)
{
	char text[LONGEST];
	uint64_t limit = cj_room_number(read_text(most, text)), now;

	if (limit == UINT64_MAX)
		return limit;
	now = cj_room_number(read_text(used, text));
	return now >= limit ? 0 : limit - now;
}

uint64_t
cj_room(void)
{
	static const char *const groups[][2] = {
		{ "/sys/fs/cgroup/memory.max",
		    "/sys/fs/cgroup/memory.current" },
		{ "/sys/fs/cgroup/memory/memory.limit_in_bytes",
		    "/sys/fs/cgroup/memory/memory.usage_in_bytes" }
	};
	char text[LONGEST];
	uint64_t room = cj_room_meminfo(read_text("/proc/meminfo", text));
	size_t i;

	for (i = 0; i < sizeof groups / sizeof groups[0]; i++) {
		uint64_t n = group_room(groups[i][0], groups[i][1]);

		room = n < room ? n : room;
	}
	return room;
}

bool
cj_room_lacks(size_t bytes)
{
	return bytes > SMALL && bytes > cj_room();
}
