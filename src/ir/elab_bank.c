/*
 * Bank conflicts of shared memory, as a remark.
 *
 * Shared memory has 32 banks of 4 bytes. A warp's access goes in rounds: of 32
 * threads for up to 4 bytes each, of 16 for 8 bytes, of 8 for 16. In a round,
 * different words of one bank wait for each other. The offsets of the first
 * warp follow from the term of the view's offset; what else is in it is taken
 * as 0, since it moves all threads alike.
 */
#include "elab_access.h"

enum { WARP = 32, BANKS = 32, WORD = 4 };

struct lane {
	const struct cj_elab *el;
	int64_t number;		/* in the block */
};

static int64_t
extent(const struct cj_elab *el, int mode)
{
	return el->block[mode] > 0 ? el->block[mode] : INT32_MAX;
}

static int64_t
value_of(void *user, uint32_t symbol)
{
	const struct lane *l = user;
	const struct cj_symbol_info *s = &l->el->symbols.at[symbol];

	if (s->source != CJ_SOURCE_SPECIAL)
		return 0;
	switch (s->number) {
	case CJ_SPECIAL_THREAD_X:
		return l->number % extent(l->el, 0);
	case CJ_SPECIAL_THREAD_Y:
		return l->number / extent(l->el, 0) % extent(l->el, 1);
	case CJ_SPECIAL_THREAD_Z:
		return l->number / extent(l->el, 0) / extent(l->el, 1);
	case CJ_SPECIAL_LANE:
		return l->number % WARP;
	}
	return 0;
}

/* Byte offset of each thread; how many threads there are, 0: not known. */
static unsigned
byte_offsets(struct cj_elab *el, const struct cj_pieces *p, int64_t *out)
{
	struct cj_int term = cj_pieces_term(el, p, 0);
	int64_t threads = extent(el, 0) * (el->block[1] > 0 ? el->block[1] :
	    1) * (el->block[2] > 0 ? el->block[2] : 1);
	struct lane l = { .el = el };
	unsigned count = threads < WARP ? (unsigned)threads : WARP;

	for (l.number = 0; l.number < count; l.number++) {
		if (!cj_int_eval(&el->sym, term, value_of, &l,
		    &out[l.number]))
			return 0;
		out[l.number] = out[l.number] * p->bits / 8;
	}
	return count;
}

/* How many words of thread `at`'s bank others of the round before it touch
 * besides; *with is one of them. */
static unsigned
words_before(const int64_t *bytes, unsigned first, unsigned at,
    unsigned *with)
{
	int64_t word = bytes[at] / WORD, other;
	unsigned i, k, n = 0;

	for (i = first; i < at; i++) {
		other = bytes[i] / WORD;
		for (k = first; k < i; k++)
			if (bytes[k] / WORD == other)
				break;
		if (k < i || (other - word) % BANKS != 0)
			continue;
		if (other == word)
			return 0;
		*with = i;
		n++;
	}
	return n;
}

void
cj_elab_bank_conflict(struct cj_elab *el, const struct cj_pieces *p)
{
	const struct cj_object *o = &el->m->objects.at[p->t->object];
	unsigned width = cj_pieces_bytes(p), round, at, count, with = 0;
	unsigned worst = 0, n, one = 0, other = 0;
	int64_t bytes[WARP];

	if (o->kind != CJ_OBJECT_SHARED || el->time != CJ_TIME_DEVICE ||
	    el->ds->off[CJ_DIAG_BANK_CONFLICT])
		return;
	round = width <= WORD ? WARP : WARP * WORD / width;
	count = byte_offsets(el, p, bytes);
	for (at = 0; at < count; at++) {
		n = words_before(bytes, at / round * round, at, &with);
		if (n <= worst)
			continue;
		worst = n;
		one = with;
		other = at;
	}
	if (worst == 0)
		return;
	cj_help(cj_elab_report(el, CJ_DIAG_BANK_CONFLICT, p->span,
	    "accesses of %u bytes to \"%s\" take %u times as long: threads %u "
	    "and %u want different words of bank %lld", width,
	    o->name == NULL ? "shared memory" : o->name, worst + 1, one,
	    other, (long long)(bytes[other] / WORD % BANKS)),
	    "A swizzle spreads rows over the banks (smem_layout, "
	    "composition(swizzle(B, M, S), layout)), and so does a longer "
	    "stride between them.");
}
