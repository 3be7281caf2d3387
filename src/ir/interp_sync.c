/*
 * Releases and acquires: who learns of what by an address.
 *
 * They meet in a table by address. A release publishes for threads of its
 * block, its cluster or all, as its scope says; an acquire takes what is
 * published for those its scope reaches. An atomic update keeps what earlier
 * releases published, a store replaces it.
 */
#include "interp_race.h"

struct sync {				/* what releases left at an address */
	uintptr_t address;
	uint64_t owner;			/* the block, for its shared memory */
	struct {
		uint64_t group;		/* block or cluster that it is for */
		const struct cj_past *past;
	} level[3];			/* block, cluster, all */
	struct sync *next;
};

struct cj_sync_table {
	struct { atomic_flag lock; struct sync *first; } bucket[1024];
};

struct cj_sync_table *
cj_sync_create(struct cj_arena *a)
{
	struct cj_sync_table *t = CJ_NEW(a, struct cj_sync_table);
	unsigned i;

	for (i = 0; i < CJ_LENGTH(t->bucket); i++)
		atomic_flag_clear_explicit(&t->bucket[i].lock,
		    memory_order_relaxed);
	return t;
}

/* The blocks that a scope reaches, as a number: alike for all of them. */
uint64_t
cj_scope_group(const struct cj_kernel_launch *l, uint64_t block,
    enum cj_memory_scope scope)
{
	uint64_t group = 0, rest = block, at, extent;
	int axis;

	if (scope == CJ_MEMORY_BLOCK)
		return block;
	for (axis = 0; scope == CJ_MEMORY_CLUSTER && axis < 3; axis++) {
		extent = l->cluster[axis] < 1 ? 1 : (uint64_t)l->cluster[axis];
		at = rest % (uint64_t)l->grid[axis];
		rest /= (uint64_t)l->grid[axis];
		group = group * (uint64_t)l->grid[axis] + at / extent;
	}
	return group;
}

static unsigned
level_of(enum cj_memory_scope scope)
{
	return scope == CJ_MEMORY_BLOCK ? 0 : scope == CJ_MEMORY_CLUSTER ? 1
	    : 2;
}

static const enum cj_memory_scope scope_at[3] = { CJ_MEMORY_BLOCK,
    CJ_MEMORY_CLUSTER, CJ_MEMORY_GPU };

static struct sync *
find(struct sync **first, const struct cj_ordered *o)
{
	struct sync *s;

	for (s = *first; s != NULL; s = s->next)
		if (s->address == o->address && s->owner == o->owner)
			return s;
	return NULL;
}

static struct sync *
add(struct cj_frame *f, struct sync **first, const struct cj_ordered *o)
{
	struct sync *s = CJ_NEW(f->machine->arena, struct sync);

	s->address = o->address;
	s->owner = o->owner;
	s->next = *first;
	*first = s;
	return s;
}

static void
leave_behind(struct cj_frame *f, struct sync *s, enum cj_memory_scope scope,
    const struct cj_past *p)
{
	const struct cj_block *b = f->machine->block;
	unsigned i;

	for (i = 0; i <= level_of(scope); i++) {
		uint64_t group = cj_scope_group(b->launch, b->number,
		    scope_at[i]);

		if (s->level[i].group != group)
			s->level[i].past = NULL;
		s->level[i].group = group;
		s->level[i].past = cj_past_join(f, s->level[i].past, p);
	}
}

/* In front of a write: what it publishes. One step publishes once. */
void
cj_clock_release(struct cj_frame *f, const struct cj_ordered *o,
    const struct cj_past **published)
{
	bool releases = o->order == CJ_ORDER_RELEASE
	    || o->order == CJ_ORDER_ACQ_REL;
	struct cj_race *r = f->machine->race;
	struct sync *s;
	unsigned at, i;

	if (r == NULL || !r->run->orders)
		return;
	if (releases && *published == NULL)
		*published = cj_clock_publish(f);
	if (f->machine->race == NULL)
		return;
	at = o->address / 4 % CJ_LENGTH(r->run->syncs->bucket);
	while (atomic_flag_test_and_set(&r->run->syncs->bucket[at].lock))
		;
	s = find(&r->run->syncs->bucket[at].first, o);
	if (s != NULL && !o->is_update)
		for (i = 0; i < 3; i++)
			s->level[i].past = NULL;
	if (releases) {
		if (s == NULL)
			s = add(f, &r->run->syncs->bucket[at].first, o);
		leave_behind(f, s, o->scope, *published);
	}
	atomic_flag_clear(&r->run->syncs->bucket[at].lock);
}

/* Behind a read. */
void
cj_clock_acquire(struct cj_frame *f, const struct cj_ordered *o)
{
	struct cj_race *r = f->machine->race;
	const struct cj_block *b = f->machine->block;
	const struct cj_past *got[3] = { NULL, NULL, NULL };
	struct sync *s;
	unsigned at, i;

	if (r == NULL || (o->order != CJ_ORDER_ACQUIRE
	    && o->order != CJ_ORDER_ACQ_REL))
		return;
	at = o->address / 4 % CJ_LENGTH(r->run->syncs->bucket);
	while (atomic_flag_test_and_set(&r->run->syncs->bucket[at].lock))
		;
	s = find(&r->run->syncs->bucket[at].first, o);
	for (i = 0; s != NULL && i <= level_of(o->scope); i++)
		if (s->level[i].group == cj_scope_group(b->launch, b->number,
		    scope_at[i]))
			got[i] = s->level[i].past;
	atomic_flag_clear(&r->run->syncs->bucket[at].lock);
	for (i = 0; i < 3; i++)
		cj_clock_join(f, got[i]);
}
