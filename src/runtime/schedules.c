/*
 * Several orders of warps: the same launches again on the same arguments, and
 * whatever comes out otherwise is reported.
 *
 * A result that depends on the order need not be wrong (sums of floats by
 * atomics round as they come), so it is a warning; what races, or is wrong in
 * one of the orders, is an error of its own.
 */
#include "schedules.h"

/* What one object held before the first run, and holds after it. */
struct kept {
	const struct cj_memory *memory;
	const struct cj_object *object;
	char *at;
	uint8_t *written;
	size_t bytes, elements;
	void *before, *after;
	uint8_t *written_before;
};

struct cj_schedules {
	struct cj_work *work;
	struct kept *list;
	uint32_t count;
	bool has_result;
};

static unsigned
bits_of(const struct cj_object *o)
{
	return o->element == CJ_KIND_BOOL ? 8 : cj_kind_bits(o->element);
}

static void
keep(struct cj_schedules *s, const struct cj_object *o,
    const struct cj_memory *m)
{
	struct cj_arena *a = &s->work->arena;
	struct kept *k = &s->list[s->count++];
	int64_t bits = bits_of(o);

	k->memory = m;
	k->object = o;
	k->elements = (size_t)(m->hi - m->lo);
	k->at = m->data + (m->lo * bits >> 3);
	k->bytes = (k->elements * (size_t)bits + 7) / 8;
	k->before = cj_memdup(a, k->at, k->bytes);
	k->after = cj_alloc(a, k->bytes);
	if (m->written != NULL)
		k->written_before = cj_memdup(a, m->written, k->elements);
}

struct cj_schedules *
cj_schedules_begin(struct cj_work *f, const struct cj_module *ir,
    const struct cj_memory *memory)
{
	struct cj_schedules *s = CJ_NEW(&f->arena, struct cj_schedules);
	uint32_t i;

	s->work = f;
	s->list = CJ_NEWS(&f->arena, struct kept, ir->objects.len);
	for (i = 1; i < ir->objects.len; i++) {
		const struct cj_object *o = &ir->objects.at[i];

		if (o->kind == CJ_OBJECT_TENSOR && o->writes
		    && memory[i].hi > memory[i].lo)
			keep(s, o, &memory[i]);
	}
	return s;
}

void
cj_schedules_again(struct cj_schedules *s)
{
	uint32_t i;

	for (i = 0; i < s->count; i++) {
		struct kept *k = &s->list[i];

		memcpy(k->at, k->before, k->bytes);
		if (k->memory->written != NULL)
			memcpy(k->memory->written, k->written_before,
			    k->elements);
	}
}

/* ---- comparing ----------------------------------------------------------- */

static uint64_t
element_at(const struct kept *k, const char *from, size_t i)
{
	unsigned bits = bits_of(k->object);
	uint64_t v = 0;

	if (bits < 8) {
		size_t first = i * bits / 8;
		uint64_t two = (uint8_t)from[first];

		if (first + 1 < k->bytes)
			two |= (uint64_t)(uint8_t)from[first + 1] << 8;
		return two >> i * bits % 8 & (((uint64_t)1 << bits) - 1);
	}
	memcpy(&v, from + i * (bits / 8), bits / 8);
	if (cj_kind_is_signed(k->object->element) && bits < 64
	    && v >> (bits - 1))
		v |= ~(uint64_t)0 << bits;
	return v;
}

static void
compare(struct cj_schedules *s, const struct kept *k, uint64_t first,
    uint64_t seed)
{
	const struct cj_span none = { 0, 0, 0 };
	struct cj_strbuf a, b;
	size_t i, differ = 0, at = 0;

	if (memcmp(k->at, k->after, k->bytes) == 0)
		return;
	for (i = k->elements; i-- > 0;)
		if (element_at(k, k->at, i) != element_at(k, k->after, i)) {
			differ++;
			at = i;
		}
	if (differ == 0)
		return;
	cj_strbuf_init(&a, &s->work->arena);
	cj_strbuf_init(&b, &s->work->arena);
	cj_num_print(&a, k->object->element, element_at(k, k->after, at));
	cj_num_print(&b, k->object->element, element_at(k, k->at, at));
	cj_report(&s->work->diags, CJ_DIAG_NONDETERMINISTIC, none, "\"%s\" "
	    "depends on the order of warps: element %lld is %s with seed "
	    "%llu, and %s with seed %llu; %zu of %zu elements differ",
	    k->object->name == NULL ? "memory" : k->object->name,
	    (long long)(k->memory->lo + (int64_t)at), a.text,
	    (unsigned long long)first, b.text, (unsigned long long)seed,
	    differ, k->elements);
}

bool
cj_schedules_compare(struct cj_schedules *s, uint64_t first, uint64_t seed)
{
	uint32_t i, warnings = s->work->diags.warnings;

	for (i = 0; i < s->count; i++) {
		struct kept *k = &s->list[i];

		if (s->has_result)
			compare(s, k, first, seed);
		else
			memcpy(k->after, k->at, k->bytes);
	}
	s->has_result = true;
	return s->work->diags.warnings == warnings;
}
