/*
 * Counts: how often each instruction ran, and what its accesses cost. A region
 * ran once for those who came to it, however many arms or turns it had.
 *
 * Global memory moves in sectors of 32 bytes out of lines of 128; what a warp
 * touches of them at once is counted. Shared memory has 32 banks of 4 bytes:
 * lanes are served in groups of 128 bytes together (all 32 of up to 4 bytes, 16
 * of 8, 8 of 16), and a group takes as many passes as one bank has different
 * words of it. Tensors count as if element 0 stood at a multiple of 128 bytes,
 * wherever the executor has them. Each thread of ours counts for itself; sums
 * are made at the end.
 */
#include "interp_priv.h"

enum { SECTOR = 32, LINE = 128, WORD = 4, MOST_WORDS = 8 };

struct cj_profile *
cj_profile_create(struct cj_arena *a, const struct cj_module *m)
{
	struct cj_profile *p = CJ_NEW(a, struct cj_profile);

	p->at = CJ_NEWS(a, struct cj_count, m->insts.len);
	p->bank = CJ_NEWS(a, struct cj_banks, m->objects.len);
	p->insts = m->insts.len;
	p->objects = m->objects.len;
	return p;
}

void
cj_profile_add(struct cj_profile *to, const struct cj_profile *from)
{
	uint32_t i, b;

	assert(to->insts == from->insts && to->objects == from->objects);
	for (i = 0; i < to->insts; i++) {
		struct cj_count *t = &to->at[i];
		const struct cj_count *f = &from->at[i];

		t->warps += f->warps;
		t->lanes += f->lanes;
		t->bytes += f->bytes;
		t->lines += f->lines;
		t->sectors += f->sectors;
		t->passes += f->passes;
		t->conflicts += f->conflicts;
	}
	for (i = 0; i < to->objects; i++)
		for (b = 0; b < CJ_BANKS; b++)
			to->bank[i].words[b] += from->bank[i].words[b];
}

void
cj_count_step(struct cj_frame *f, const struct cj_step *s)
{
	struct cj_count *c = &f->machine->profile->at[s->ref];
	uint32_t lane, lanes = 0;

	/* arms, turns and ends of a region: nobody comes there */
	if (s->ref == 0 || s != &f->code->steps.at[f->code->first[s->ref]])
		return;
	for (lane = 0; lane < f->lanes; lane++)
		lanes += cj_lane_runs(f, lane);
	c->warps++;
	c->lanes += lanes;
}

/* ---- global memory ------------------------------------------------------- */

/* How many different numbers there are; the list is put in order. */
static uint32_t
count_different(uint64_t *list, uint32_t count)
{
	uint32_t i, j, different = 0;

	for (i = 1; i < count; i++) {
		uint64_t held = list[i];

		for (j = i; j > 0 && list[j - 1] > held; j--)
			list[j] = list[j - 1];
		list[j] = held;
	}
	for (i = 0; i < count; i++)
		different += i == 0 || list[i] != list[i - 1];
	return different;
}

static uint32_t
count_units(const struct cj_touched_lanes *t, uint64_t unit)
{
	uint64_t list[CJ_LANES_WARP * 2];
	uint32_t count = 0, lane;

	for (lane = 0; lane < CJ_LANES_WARP; lane++) {
		if (!t->takes_part[lane])
			continue;
		list[count++] = t->address[lane] / unit;
		list[count++] = (t->address[lane] + t->bytes - 1) / unit;
	}
	return count_different(list, count);
}

/* ---- shared memory ------------------------------------------------------- */

/* The words of one group of lanes, bank by bank. */
static uint32_t
passes_of(const struct cj_touched_lanes *t, uint32_t first, uint32_t lanes,
    struct cj_banks *banks)
{
	uint64_t word[CJ_LANES_WARP * MOST_WORDS];
	uint32_t load[CJ_BANKS] = { 0 }, count = 0, lane, i, most = 0;

	for (lane = first; lane < first + lanes; lane++) {
		uint64_t w = t->address[lane] / WORD;
		uint64_t last = (t->address[lane] + t->bytes - 1) / WORD;

		for (; t->takes_part[lane] && w <= last
		    && count < CJ_LENGTH(word); w++)
			word[count++] = w;
	}
	if (count == 0)
		return 0;
	count_different(word, count);
	for (i = 0; i < count; i++)
		if (i == 0 || word[i] != word[i - 1]) {
			load[word[i] % CJ_BANKS]++;
			banks->words[word[i] % CJ_BANKS]++;
		}
	for (i = 0; i < CJ_BANKS; i++)
		most = load[i] > most ? load[i] : most;
	return most;
}

static void
count_shared(const struct cj_touched_lanes *t, struct cj_count *c,
    struct cj_banks *banks)
{
	uint32_t group = CJ_LANES_WARP, first, passes;

	while (group > 1 && group * t->bytes > CJ_BANKS * WORD)
		group /= 2;
	for (first = 0; first < CJ_LANES_WARP; first += group) {
		passes = passes_of(t, first, group, banks);
		c->passes += passes;
		c->conflicts += passes > 1 ? passes - 1 : 0;
	}
}

void
cj_count_access(struct cj_frame *f, const struct cj_step *s, uint32_t object,
    const struct cj_touched_lanes *t)
{
	struct cj_profile *p = f->machine->profile;
	struct cj_count *c = &p->at[s->ref];
	uint32_t lane;

	assert(f->lanes == CJ_LANES_WARP && t->bytes != 0);
	for (lane = 0; lane < f->lanes; lane++)
		c->bytes += t->takes_part[lane] ? t->bytes : 0;
	if (f->code->module->objects.at[object].kind == CJ_OBJECT_SHARED) {
		count_shared(t, c, &p->bank[object]);
		return;
	}
	c->lines += count_units(t, LINE);
	c->sectors += count_units(t, SECTOR);
}
