/*
 * Arenas: memory that is released by lifetime, never piece by piece.
 *
 * An arena hands out zeroed memory and never returns NULL. When the system or
 * the arena's own limit has no more, control leaves by the arena's recovery
 * point (recover.h), which the public entry has set. Not thread-safe: one
 * arena belongs to one thread at a time.
 */
#ifndef CJ_ARENA_H
#define CJ_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct cj_recover;

/* Where arenas get their chunks; NULL members mean malloc and free. */
struct cj_allocator {
	void *(*alloc)(void *user, size_t bytes);
	void (*release)(void *user, void *memory);
	void *user;
};

struct cj_arena {
	struct cj_chunk *chunks;	/* newest first */
	char *next, *end;		/* free part of the newest chunk */
	size_t bytes;			/* taken from the allocator */
	size_t limit;			/* 0: none */
	struct cj_allocator mem;
	struct cj_recover *recover;	/* never NULL */
};

/* A position to release to; everything allocated after it goes. */
struct cj_mark {
	struct cj_chunk *chunk;
	char *next;
};

void cj_arena_init(struct cj_arena *a, struct cj_recover *recover,
    const struct cj_allocator *mem);
void cj_arena_fini(struct cj_arena *a);

struct cj_mark cj_arena_mark(const struct cj_arena *a);
void cj_arena_release(struct cj_arena *a, struct cj_mark m);

/* `bytes` zeroed bytes, aligned for any type. 0 bytes give a valid pointer. */
void *cj_alloc(struct cj_arena *a, size_t bytes);

/* `count` zeroed elements of `size` bytes; the product is checked. */
void *cj_alloc_array(struct cj_arena *a, size_t count, size_t size);

/* A larger copy of an array; in place where it was the last allocation. */
void *cj_regrow(struct cj_arena *a, void *old, size_t old_bytes,
    size_t new_bytes);

/* Copies. The result of cj_strndup is terminated. */
void *cj_memdup(struct cj_arena *a, const void *from, size_t bytes);
char *cj_strndup(struct cj_arena *a, const char *from, size_t length);
char *cj_strdup(struct cj_arena *a, const char *from);
char *cj_printf(struct cj_arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define CJ_NEW(arena, type)	((type *)cj_alloc((arena), sizeof(type)))
#define CJ_NEWS(arena, type, count)	\
	((type *)cj_alloc_array((arena), (count), sizeof(type)))

#endif
