/*
 * Names: equal texts have equal small numbers.
 *
 * A table may be used from several threads; what it hands out lives as long
 * as the table. 0 is no name.
 */
#ifndef CJ_INTERN_H
#define CJ_INTERN_H

#include <pthread.h>

#include "arena.h"

typedef uint32_t cj_name;

struct cj_names {
	struct cj_arena *arena;
	pthread_mutex_t lock;
	const char **text;	/* by name */
	uint32_t count, cap;
	uint32_t *slots;	/* open addressing, a power of two */
	uint32_t slot_count;
};

void cj_names_init(struct cj_names *n, struct cj_arena *a);
/* The names of `from` with their numbers; its texts must outlive the copy.
 * Nobody may be adding to `from`. */
void cj_names_copy(struct cj_names *n, struct cj_arena *a,
    const struct cj_names *from);
void cj_names_fini(struct cj_names *n);
cj_name cj_intern(struct cj_names *n, const char *text, size_t length);
cj_name cj_intern_str(struct cj_names *n, const char *text);
const char *cj_name_text(struct cj_names *n, cj_name name);

#endif
