/*
 * Maps of names: linear probing; names are dense numbers, spread by a
 * multiplication. At most half of the slots are taken.
 */
#include "name_map.h"

#include <assert.h>

enum { FIRST_SLOTS = 32 };

static struct cj_name_slot *
find(const struct cj_name_map *m, cj_name name)
{
	uint32_t mask = m->slot_count - 1;
	uint32_t i = (name * 0x9e3779b1u >> 7) & mask;

	while (m->slots[i].name != 0 && m->slots[i].name != name)
		i = (i + 1) & mask;
	return &m->slots[i];
}

static void
grow(struct cj_arena *a, struct cj_name_map *m)
{
	struct cj_name_map old = *m;
	uint32_t i;

	m->slot_count = old.slot_count != 0 ? 2 * old.slot_count : FIRST_SLOTS;
	m->slots = CJ_NEWS(a, struct cj_name_slot, m->slot_count);
	for (i = 0; i < old.slot_count; i++)
		if (old.slots[i].name != 0)
			*find(m, old.slots[i].name) = old.slots[i];
}

uint32_t
cj_name_map_get(const struct cj_name_map *m, cj_name name)
{
	return m->count == 0 ? 0 : find(m, name)->value;
}

void
cj_name_map_set(struct cj_arena *a, struct cj_name_map *m, cj_name name,
    uint32_t value)
{
	struct cj_name_slot *slot;

	assert(name != 0 && value != 0);
	if (2 * m->count >= m->slot_count)
		grow(a, m);
	slot = find(m, name);
	m->count += slot->name == 0;
	slot->name = name;
	slot->value = value;
}
