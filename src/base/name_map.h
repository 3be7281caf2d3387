/*
 * From names, or other numbers that are not 0, to numbers; for whoever has many
 * of them.
 *
 * An open-addressing table on an arena; all zero is an empty one. 0 is what a
 * name has that was never set. Nothing is taken out again.
 */
#ifndef CJ_NAME_MAP_H
#define CJ_NAME_MAP_H

#include "arena.h"
#include "intern.h"

struct cj_name_map {
	struct cj_name_slot {
		cj_name name;
		uint32_t value;
	} *slots;
	uint32_t slot_count;		/* a power of two, or 0 */
	uint32_t count;
};

uint32_t cj_name_map_get(const struct cj_name_map *m, cj_name name);
/* In place of what it had; not 0. */
void cj_name_map_set(struct cj_arena *a, struct cj_name_map *m, cj_name name,
    uint32_t value);

#endif
