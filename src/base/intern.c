/*
 * Names: an open-addressing table from texts to numbers, and an array back.
 */
#include "intern.h"

#include <assert.h>
#include <string.h>

#include "hash.h"
#include "recover.h"

enum { FIRST_SLOTS = 256, FIRST_TEXTS = 128 };

void
cj_names_init(struct cj_names *n, struct cj_arena *a)
{
	memset(n, 0, sizeof *n);
	n->arena = a;
	pthread_mutex_init(&n->lock, NULL);
	n->slot_count = FIRST_SLOTS;
	n->slots = CJ_NEWS(a, uint32_t, n->slot_count);
	n->cap = FIRST_TEXTS;
	n->text = CJ_NEWS(a, const char *, n->cap);
	n->text[0] = "";
	n->count = 1;
}

void
cj_names_copy(struct cj_names *n, struct cj_arena *a,
    const struct cj_names *from)
{
	*n = *from;
	n->arena = a;
	n->slots = cj_memdup(a, from->slots,
	    from->slot_count * sizeof *n->slots);
	n->text = cj_memdup(a, from->text, from->cap * sizeof *n->text);
	pthread_mutex_init(&n->lock, NULL);
}

void
cj_names_fini(struct cj_names *n)
{
	pthread_mutex_destroy(&n->lock);
}

/* The slot that holds the text, or the empty one where it belongs. */
static uint32_t
find_slot(const struct cj_names *n, const char *text, size_t length)
{
	uint32_t mask = n->slot_count - 1;
	uint32_t i = (uint32_t)cj_hash64(text, length) & mask;

	assert((n->slot_count & mask) == 0);
	for (; n->slots[i] != 0; i = (i + 1) & mask) {
		const char *there = n->text[n->slots[i]];

		if (strncmp(there, text, length) == 0
		    && there[length] == '\0')
			break;
	}
	return i;
}

static void
grow_slots(struct cj_names *n)
{
	uint32_t i;

	n->slots = CJ_NEWS(n->arena, uint32_t, n->slot_count * 2);
	n->slot_count *= 2;
	for (i = 1; i < n->count; i++)
		n->slots[find_slot(n, n->text[i], strlen(n->text[i]))] = i;
}

static cj_name
add(struct cj_names *n, const char *text, size_t length)
{
	char *copy = cj_strndup(n->arena, text, length);

	if (n->count == n->cap) {
		n->text = cj_regrow(n->arena, n->text,
		    n->cap * sizeof *n->text, 2 * n->cap * sizeof *n->text);
		n->cap *= 2;
	}
	if (n->count >= n->slot_count / 2)
		grow_slots(n);
	n->text[n->count] = copy;
	n->slots[find_slot(n, text, length)] = n->count;
	return n->count++;
}

/*
 * Add under the lock. Where memory ends, the lock is given back before control
 * leaves by the arena's own recovery point.
 */
static cj_name
add_or_leave(struct cj_names *n, const char *text, size_t length)
{
	struct cj_recover *outer = n->arena->recover;
	struct cj_recover inner = { 0 };
	cj_name name;

	if (CJ_RECOVER(&inner)) {
		n->arena->recover = outer;
		pthread_mutex_unlock(&n->lock);
		cj_leave(outer, inner.why, "%s", inner.text);
	}
	n->arena->recover = &inner;
	name = add(n, text, length);
	n->arena->recover = outer;
	return name;
}

cj_name
cj_intern(struct cj_names *n, const char *text, size_t length)
{
	cj_name name;

	assert(memchr(text, '\0', length) == NULL && "a name holds no NUL");
	pthread_mutex_lock(&n->lock);
	name = n->slots[find_slot(n, text, length)];
	if (name == 0)
		name = add_or_leave(n, text, length);
	pthread_mutex_unlock(&n->lock);
	return name;
}

cj_name
cj_intern_str(struct cj_names *n, const char *text)
{
	return cj_intern(n, text, strlen(text));
}

const char *
cj_name_text(struct cj_names *n, cj_name name)
{
	const char *text;

	pthread_mutex_lock(&n->lock);
	assert(name < n->count && "a name of this table");
	text = n->text[name];
	pthread_mutex_unlock(&n->lock);
	return text;
}
