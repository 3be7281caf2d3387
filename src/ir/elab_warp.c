/*
 * What a warp does at once, as remarks.
 *
 * The offsets of the first warp follow from the term of the view's offset, in
 * the first turn of loops. What moves all threads alike is taken as 0; what
 * memory or a `var` says may move them in any way, and nothing is said then.
 *
 * Shared memory has 32 banks of 4 bytes. A warp's access goes in rounds: of 32
 * threads for up to 4 bytes each, of 16 for 8 bytes, of 8 for 16. In a round,
 * different words of one bank wait for each other. Global memory moves in
 * sectors of 32 bytes.
 */
#include "elab_access.h"

enum { WARP = 32, BANKS = 32, WORD = 4, SECTOR = 32, DEPTH_MAX = 32 };

struct lane {
	const struct cj_elab *el;
	int64_t number;		/* in the block */
	int64_t rest;		/* for each value that run time knows */
	bool is_open;		/* one of them may differ among threads */
};

/* One access of the first warp. */
struct warp {
	const struct cj_pieces *p;
	const char *name;
	unsigned threads, width;	/* bytes of each */
	int64_t bytes[WARP];		/* offset of each thread */
	bool is_open;			/* memory or a `var` says them */
};

static int64_t
extent(const struct cj_elab *el, int mode)
{
	return el->block[mode] > 0 ? el->block[mode] : INT32_MAX;
}

/* The instruction whose region, an open one, has this index; 0: not found. */
static cj_ref
owner_of(const struct cj_elab *el, cj_ref index)
{
	cj_region g;

	for (g = el->em->b.region; g != 0; g = el->m->regions.at[g].parent)
		if (el->m->regions.at[g].first == index)
			return el->m->regions.at[g].owner;
	return 0;
}

static bool is_alike(const struct cj_elab *el, cj_ref r, unsigned depth);

static bool
operands_alike(const struct cj_elab *el, const struct cj_inst *i,
    unsigned depth)
{
	unsigned n;

	for (n = 0; n < i->operand_count; n++)
		if (!is_alike(el, cj_operand(el->m, i, n), depth + 1))
			return false;
	return true;
}

/* Have all threads of a warp this value, for certain? */
static bool
is_alike(const struct cj_elab *el, cj_ref r, unsigned depth)
{
	const struct cj_inst *i = cj_inst(el->m, r);

	if (depth > DEPTH_MAX)
		return false;
	switch (i->op) {
	case CJ_OP_SPECIAL:
		return i->attr > CJ_SPECIAL_THREAD_Z &&
		    i->attr != CJ_SPECIAL_LANE;
	case CJ_OP_INDEX:
		r = owner_of(el, r);
		return r != 0 && (cj_inst(el->m, r)->op != CJ_OP_FOR ||
		    operands_alike(el, cj_inst(el->m, r), depth));
	case CJ_OP_LOAD:
		return operands_alike(el, i, depth);
	default:
		return cj_op_info[i->op].effects == CJ_EFFECTS_PURE &&
		    operands_alike(el, i, depth);
	}
}

static int64_t value_of(void *user, uint32_t symbol);

/* In the first turn, and as much later as `rest` says. */
static int64_t
index_of(struct lane *l, const struct cj_symbol_info *s)
{
	const struct cj_module *m = l->el->m;
	cj_ref loop = owner_of(l->el, s->ref);
	int64_t first;

	if (loop == 0 || !is_alike(l->el, cj_operand(m, cj_inst(m, loop), 2),
	    0) || !cj_int_eval(&l->el->sym, s->first, value_of, l, &first)) {
		l->is_open = true;
		return 0;
	}
	return first;
}

static int64_t
value_of(void *user, uint32_t symbol)
{
	struct lane *l = user;
	const struct cj_symbol_info *s = &l->el->symbols.at[symbol];
	int64_t rest = l->rest * (symbol + 1);

	if (s->source == CJ_SOURCE_REF && s->counts)
		return index_of(l, s) + rest;
	if (s->source == CJ_SOURCE_REF && s->level == 2 &&
	    !is_alike(l->el, s->ref, 0))
		l->is_open = true;
	if (s->source != CJ_SOURCE_SPECIAL)
		return rest;
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

/* false: not known, some threads are as far apart as run time says. */
static bool
offsets(struct cj_elab *el, const struct cj_pieces *p, int64_t rest,
    struct warp *w)
{
	struct cj_int term = cj_pieces_term(el, p, 0);
	struct lane l = { .el = el, .rest = rest };

	for (l.number = 0; l.number < w->threads; l.number++) {
		int64_t *at = &w->bytes[l.number];

		if (!cj_int_eval(&el->sym, term, value_of, &l, at))
			return false;
		w->is_open = l.is_open;
		if (w->is_open)
			return false;
		*at = *at * p->bits / 8;
	}
	return true;
}

/* false: distances of threads depend on what run time knows. */
static bool
make_warp(struct cj_elab *el, const struct cj_pieces *p, struct warp *w)
{
	enum { LARGE = 4096 };
	const struct cj_object *o = &el->m->objects.at[p->t->object];
	int64_t threads = extent(el, 0) * (el->block[1] > 0 ? el->block[1] :
	    1) * (el->block[2] > 0 ? el->block[2] : 1);
	struct warp other;
	unsigned i;

	w->p = p;
	w->name = o->name == NULL ? "a tensor" :
	    cj_printf(el->arena, "\"%s\"", o->name);
	w->threads = threads < WARP ? (unsigned)threads : WARP;
	w->width = cj_pieces_bytes(p);
	w->is_open = false;
	other = *w;
	if (!offsets(el, p, 0, w) || !offsets(el, p, LARGE, &other))
		return false;
	for (i = 1; i < w->threads; i++)
		if (w->bytes[i] - w->bytes[0] !=
		    other.bytes[i] - other.bytes[0])
			return false;
	return true;
}

/* ---- banks --------------------------------------------------------------- */

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

static void
remark_banks(struct cj_elab *el, const struct warp *w)
{
	unsigned round, at, with = 0, worst = 0, n, one = 0, other = 0;

	round = w->width <= WORD ? WARP : WARP * WORD / w->width;
	for (at = 0; at < w->threads; at++) {
		n = words_before(w->bytes, at / round * round, at, &with);
		if (n <= worst)
			continue;
		worst = n;
		one = with;
		other = at;
	}
	if (worst == 0) {
		cj_elab_report(el, CJ_DIAG_ACCESS, w->p->span, "a warp "
		    "touches %u bytes of %s in each thread, without a "
		    "conflict of banks", w->width, w->name);
		return;
	}
	cj_help(cj_elab_report(el, CJ_DIAG_BANK_CONFLICT, w->p->span,
	    "accesses of %u bytes to %s take %u times as long: threads %u "
	    "and %u want different words of bank %lld", w->width, w->name,
	    worst + 1, one, other, (long long)(w->bytes[other] / WORD % BANKS)),
	    "A swizzle spreads rows over the banks (smem_layout, "
	    "composition(swizzle(B, M, S), layout)), and so does another "
	    "stride between them.");
}

/* ---- sectors ------------------------------------------------------------- */

static int64_t
floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* Has thread `at` the byte, or a sector, first? */
static bool
is_first(const struct warp *w, unsigned at, int64_t sector)
{
	unsigned i;

	for (i = 0; i < at; i++)
		if (floor_div(w->bytes[i], SECTOR) <= sector && sector <=
		    floor_div(w->bytes[i] + w->width - 1, SECTOR))
			return false;
	return true;
}

static unsigned
sectors_of(const struct warp *w)
{
	unsigned at, n = 0;
	int64_t s;

	for (at = 0; at < w->threads; at++)
		for (s = floor_div(w->bytes[at], SECTOR); s <=
		    floor_div(w->bytes[at] + w->width - 1, SECTOR); s++)
			n += is_first(w, at, s);
	return n;
}

/* Bytes, each counted once: threads may share them. */
static unsigned
bytes_of(const struct warp *w)
{
	unsigned at, i, n = 0;

	for (at = 0; at < w->threads; at++) {
		for (i = 0; i < at && w->bytes[i] != w->bytes[at];)
			i++;
		n += i == at ? w->width : 0;
	}
	return n;
}

static void
remark_sectors(struct cj_elab *el, const struct warp *w)
{
	unsigned sectors = sectors_of(w), bytes = bytes_of(w);
	unsigned least = (bytes + SECTOR - 1) / SECTOR, i;
	struct cj_diag *d;

	d = cj_elab_report(el, CJ_DIAG_ACCESS, w->p->span, "a warp touches "
	    "%u bytes of %s in each thread: %u sector%s of 32 bytes%s",
	    w->width, w->name, sectors, sectors == 1 ? "" : "s",
	    sectors == least ?
	    ", all that it needs" : cj_printf(el->arena,
	    " for %u bytes that would fit in %u", bytes, least));
	if (sectors == least)
		return;
	for (i = 1; i + 1 < w->threads && w->bytes[i] == w->bytes[0];)
		i++;
	cj_help(d, "Threads 0 and %u are %lld bytes apart: let "
	    "neighbouring threads have neighbouring elements.", i,
	    (long long)(w->bytes[i] - w->bytes[0]));
}

void
cj_elab_warp_access(struct cj_elab *el, const struct cj_pieces *p)
{
	const struct cj_object *o = &el->m->objects.at[p->t->object];
	bool is_shared = o->kind == CJ_OBJECT_SHARED;
	struct cj_diag *d;
	struct warp w;

	if (el->time != CJ_TIME_DEVICE || el->reads_index)
		return;
	if (el->ds->off[CJ_DIAG_ACCESS] && (!is_shared ||
	    el->ds->off[CJ_DIAG_BANK_CONFLICT]))
		return;
	if (make_warp(el, p, &w)) {
		(is_shared ? remark_banks : remark_sectors)(el, &w);
		return;
	}
	d = cj_elab_report(el, CJ_DIAG_ACCESS, p->span, "a warp touches %u "
	    "bytes of %s in each thread; how far they are apart is known at "
	    "run time", w.width, w.name);
	if (!w.is_open)
		cj_help(d, "A contract that names the stride, as in x: "
		    "tensor(f32, N:1), lets it be known here.");
}
