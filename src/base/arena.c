/*
 * Arenas: a list of chunks, allocation by moving a pointer.
 */
#include "arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recover.h"
#include "room.h"

struct cj_chunk {
	struct cj_chunk *older;
	char *end;
	max_align_t memory[];
};

enum {
	ALIGNMENT = _Alignof(max_align_t),
	FIRST_CHUNK = 16 << 10,
	LARGEST_CHUNK = 4 << 20,
	FIRST_POLLED = 1 << 20		/* small arenas look at no clock */
};

/* A chunk for one large allocation comes zeroed: pages that nobody touches are
 * not touched here either. */
static void *
take(struct cj_arena *a, size_t bytes, bool *is_zeroed)
{
	*is_zeroed = a->mem.alloc == NULL && bytes > LARGEST_CHUNK;
	if (a->mem.alloc != NULL)
		return a->mem.alloc(a->mem.user, bytes);
	if (cj_room_lacks(bytes))
		return NULL;
	return *is_zeroed ? calloc(1, bytes) : malloc(bytes);
}

static void
give(struct cj_arena *a, void *memory)
{
	if (a->mem.release != NULL)
		a->mem.release(a->mem.user, memory);
	else
		free(memory);
}

void
cj_arena_init(struct cj_arena *a, struct cj_recover *recover,
    const struct cj_allocator *mem)
{
	memset(a, 0, sizeof *a);
	a->recover = recover;
	if (mem != NULL)
		a->mem = *mem;
}

void
cj_arena_fini(struct cj_arena *a)
{
	struct cj_mark start = { NULL, NULL };

	cj_arena_release(a, start);
}

struct cj_mark
cj_arena_mark(const struct cj_arena *a)
{
	struct cj_mark m = { a->chunks, a->next };

	return m;
}

void
cj_arena_release(struct cj_arena *a, struct cj_mark m)
{
	while (a->chunks != m.chunk) {
		struct cj_chunk *c = a->chunks;

		a->chunks = c->older;
		a->bytes -= (size_t)(c->end - (char *)c);
		give(a, c);
	}
	a->next = m.next;
	a->end = m.chunk != NULL ? m.chunk->end : NULL;
}

/* Chunks double until they are large, so that small arenas stay small. Says
 * whether the new one is zeroed. */
static bool
add_chunk(struct cj_arena *a, size_t bytes)
{
	size_t size = FIRST_CHUNK;
	struct cj_chunk *c;
	bool is_zeroed;

	if (a->bytes >= FIRST_POLLED)
		cj_poll(a->recover);
	while (size < LARGEST_CHUNK && size < a->bytes)
		size *= 2;
	if (size < bytes + sizeof *c)
		size = bytes + sizeof *c;
	if (a->limit != 0 && (size > a->limit || a->bytes > a->limit - size))
		cj_leave(a->recover, CJ_WHY_MEMORY,
		    "more than the limit of %zu bytes is needed", a->limit);
	c = take(a, size, &is_zeroed);
	if (c == NULL)
		cj_leave(a->recover, CJ_WHY_MEMORY,
		    "there is no memory for %zu more bytes", size);
	c->older = a->chunks;
	c->end = (char *)c + size;
	a->chunks = c;
	a->bytes += size;
	a->next = (char *)c->memory;
	a->end = c->end;
	return is_zeroed;
}

/* What an allocation of so many bytes takes from its chunk. */
static size_t
rounded(struct cj_arena *a, size_t bytes)
{
	if (bytes > SIZE_MAX / 2)
		cj_leave(a->recover, CJ_WHY_MEMORY,
		    "there is no memory for %zu bytes", bytes);
	if (bytes == 0)
		return ALIGNMENT;
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void *
cj_alloc(struct cj_arena *a, size_t bytes)
{
	bool is_zeroed = false;
	char *p;

	bytes = rounded(a, bytes);
	if (a->next == NULL || bytes > (size_t)(a->end - a->next))
		is_zeroed = add_chunk(a, bytes);
	p = a->next;
	a->next += bytes;
	return is_zeroed ? p : memset(p, 0, bytes);
}

void *
cj_alloc_array(struct cj_arena *a, size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / 2 / size)
		cj_leave(a->recover, CJ_WHY_MEMORY,
		    "there is no memory for %zu elements of %zu bytes", count,
		    size);
	return cj_alloc(a, count * size);
}

void *
cj_regrow(struct cj_arena *a, void *old, size_t old_bytes, size_t new_bytes)
{
	size_t had = rounded(a, old_bytes), needs = rounded(a, new_bytes);
	char *p = old;

	if (p != NULL && p + had == a->next && needs >= had
	    && needs - had <= (size_t)(a->end - a->next)) {
		memset(p + old_bytes, 0, needs - old_bytes);
		a->next += needs - had;
		return p;
	}
	p = cj_alloc(a, new_bytes);
	if (old_bytes != 0)
		memcpy(p, old, old_bytes < new_bytes ? old_bytes : new_bytes);
	return p;
}

void *
cj_memdup(struct cj_arena *a, const void *from, size_t bytes)
{
	void *p = cj_alloc(a, bytes);

	return bytes != 0 ? memcpy(p, from, bytes) : p;
}

char *
cj_strndup(struct cj_arena *a, const char *from, size_t length)
{
	char *p = cj_alloc(a, length + 1);

	if (length != 0)
		memcpy(p, from, length);
	return p;
}

char *
cj_strdup(struct cj_arena *a, const char *from)
{
	return cj_strndup(a, from, strlen(from));
}

char *
cj_printf(struct cj_arena *a, const char *format, ...)
{
	va_list ap, again;
	int length;
	char *p;

	va_start(ap, format);
	va_copy(again, ap);
	length = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	p = cj_alloc(a, length < 0 ? 1 : (size_t)length + 1);
	if (length > 0)
		vsnprintf(p, (size_t)length + 1, format, again);
	va_end(again);
	return p;
}
