/*
 * Let shared objects that are never alive together share memory.
 *
 * An object is alive from its first access to its last, and through the whole
 * of a loop around them that it is carried through. Of two whose lives do not
 * meet, the smaller one may lie in the memory of the larger one, if a barrier
 * stands between the last access of the first and the first access of the
 * second; in a loop that both belong to, another one on the way back. Where
 * none stands, outside of loops, one is put there if either object is large.
 * What does not fit in may hang over the end, where that saves enough:
 *
 *	sums  |------------------------|
 *	a, b  |------------|------------|
 *
 * What other blocks may touch, mbarriers, and what copies may still fill when
 * the accesses are over, keep memory of their own.
 *
 * Where warps run different parts of the function at once, the order of the
 * text says nothing: there all objects keep their own memory.
 *
 * needs: verified, lowered IR.   keeps: order; adds barriers.
 */
#include "ir_priv.h"

enum { WORTH_A_BARRIER = 8192 };	/* bytes saved */

struct life {
	bool is_used, is_alone;
	uint32_t first, last;		/* places in the order of the text */
	cj_region first_region;		/* of what begins its life */
	bool has_copies;
	int64_t bytes;
};

struct barrier {
	uint32_t at;
	cj_region region;
};

struct share {
	struct cj_module *m;
	cj_region body;
	uint32_t *at, *end;		/* by instruction: place; of its end */
	cj_region *home;		/* by instruction: stands in */
	cj_ref *by_place;
	struct life *lives;		/* by object */
	CJ_VEC(struct barrier) barriers, waits;
	bool returns;			/* some threads alone */
	bool is_trial;			/* nothing is put in */
	int64_t worth;			/* bytes that a barrier must save */
};

static bool
is_around(const struct cj_module *m, cj_region outer, cj_region g)
{
	while (g != 0 && g != outer)
		g = m->regions.at[g].parent;
	return g != 0;
}

static bool
is_loop(const struct cj_inst *i)
{
	return i->op == CJ_OP_FOR || i->op == CJ_OP_LOOP;
}

/* ---- lives --------------------------------------------------------------- */

int64_t
cj_object_bytes(const struct cj_object *o)
{
	const int64_t most = INT64_MAX / 256;
	int64_t bits = o->element == CJ_KIND_BOOL ? 8 :
	    cj_kind_bits(o->element);

	return o->extent > most ? most : (o->extent * bits + 7) / 8;
}

int64_t
cj_shared_reach(const struct cj_module *m, uint32_t host)
{
	int64_t reach = cj_object_bytes(&m->objects.at[host]), end;
	uint32_t o;

	for (o = 1; o < m->objects.len; o++) {
		if (m->objects.at[o].host != host)
			continue;
		end = (int64_t)m->objects.at[o].offset +
		    cj_object_bytes(&m->objects.at[o]);
		if (end > reach)
			reach = end;
	}
	return reach;
}

/* The outermost loop around `r` that the object lives through, or r. */
static cj_ref
carried_through(const struct share *s, cj_ref r, cj_region home)
{
	cj_region g = s->home[r];
	cj_ref owner, found = r;

	while (g != home && (owner = s->m->regions.at[g].owner) != 0) {
		if (is_loop(cj_inst(s->m, owner)))
			found = owner;
		g = s->home[owner];
	}
	return found;
}

static void
extend(struct share *s, struct life *l, cj_ref r)
{
	if (!l->is_used || s->at[r] < l->first) {
		l->first = s->at[r];
		l->first_region = s->home[r];
	}
	if (!l->is_used || s->end[r] > l->last)
		l->last = s->end[r];
	l->is_used = true;
}

static bool
is_plain(enum cj_op op)
{
	return op == CJ_OP_LOAD || op == CJ_OP_STORE || op == CJ_OP_ATOMIC ||
	    op == CJ_OP_CP_ASYNC || op == CJ_OP_LDMATRIX ||
	    op == CJ_OP_STMATRIX;
}

static void
note_touches(struct share *s, cj_ref r)
{
	const struct cj_inst *i = cj_inst(s->m, r);
	struct cj_touch touches[CJ_TOUCHES];
	unsigned n = cj_touches(s->m, i, touches), k;

	for (k = 0; k < n; k++) {
		uint32_t object = touches[k].access->object;
		const struct cj_object *o = &s->m->objects.at[object];
		struct life *l = &s->lives[object];

		if (o->kind != CJ_OBJECT_SHARED)
			continue;
		extend(s, l, carried_through(s, r, o->region));
		l->is_alone |= !is_plain(i->op);
		l->has_copies |= i->op == CJ_OP_CP_ASYNC && o->stages == 0;
	}
}

static void
number(struct share *s)
{
	struct cj_walk w;
	uint32_t next = 0;

	for (w = cj_walk_begin(s->m, s->body); cj_walk_next(&w);) {
		cj_ref owner = s->m->regions.at[w.region].owner;

		next += 2;		/* barriers go between */
		if (w.event == CJ_WALK_LEAVE && owner != 0)
			s->end[owner] = next;
		if (w.event != CJ_WALK_INST)
			continue;
		s->home[w.ref] = w.region;
		s->at[w.ref] = s->end[w.ref] = next;
		s->by_place[next] = w.ref;
	}
}

static void
collect(struct share *s)
{
	struct cj_walk w = cj_walk_begin(s->m, s->body);
	const struct cj_inst *i;

	while ((i = cj_walk_inst(&w)) != NULL) {
		struct barrier b = { s->at[w.ref], w.region };

		note_touches(s, w.ref);
		if (i->op == CJ_OP_BARRIER)
			*cj_push(s->m->arena, &s->barriers) = b;
		if (i->op == CJ_OP_CP_WAIT && (i->attr == 0 ||
		    i->attr == CJ_WAIT_ALL))
			*cj_push(s->m->arena, &s->waits) = b;
	}
}

/* Copies into an object may land until a wait for all behind the last one. */
static void
settle_copies(struct share *s, struct life *l)
{
	uint32_t i;

	for (i = 0; i < s->waits.len; i++)
		if (s->waits.at[i].at > l->last &&
		    s->waits.at[i].region == s->body) {
			l->last = s->waits.at[i].at;
			return;
		}
	l->is_alone = true;
}

/* ---- what stands between ------------------------------------------------- */

static bool
stands_between(const struct share *s, uint32_t from, uint32_t to,
    cj_region region)
{
	uint32_t i;

	for (i = 0; i < s->barriers.len; i++)
		if (s->barriers.at[i].at > from && s->barriers.at[i].at < to &&
		    is_around(s->m, s->barriers.at[i].region, region))
			return true;
	return false;
}

/* The innermost loop around both beginnings, or 0. */
static cj_ref
common_loop(const struct share *s, const struct life *a,
    const struct life *b)
{
	cj_region g = a->first_region;
	cj_ref owner;

	while ((owner = s->m->regions.at[g].owner) != 0) {
		if (is_loop(cj_inst(s->m, owner)) &&
		    is_around(s->m, g, b->first_region))
			return owner;
		g = s->home[owner];
	}
	return 0;
}

static bool
continues(const struct share *s, cj_ref loop)
{
	cj_ref r;

	for (r = 1; r < s->m->insts.len; r++)
		if (s->home[r] != 0 && cj_inst(s->m, r)->op == CJ_OP_CONTINUE
		    && cj_inst(s->m, r)->attr == loop)
			return true;
	return false;
}

/* From the end of b around the loop to the beginning of a. */
static bool
has_way_back(const struct share *s, cj_ref loop, const struct life *a,
    const struct life *b)
{
	cj_region body = cj_inst(s->m, loop)->region;
	uint32_t i;

	for (i = 0; i < s->barriers.len; i++) {
		const struct barrier *k = &s->barriers.at[i];

		if (k->at > s->at[loop] && k->at < a->first &&
		    is_around(s->m, body, k->region) &&
		    is_around(s->m, k->region, a->first_region))
			return true;
		if (k->at > b->last && k->at < s->end[loop] &&
		    k->region == body && !continues(s, loop))
			return true;
	}
	return false;
}

/* The instruction of the function's body that a place belongs to. */
static cj_ref
top_of(const struct share *s, uint32_t place)
{
	cj_ref r = s->by_place[place];

	while (s->home[r] != s->body)
		r = s->m->regions.at[s->home[r]].owner;
	return r;
}

/* Two objects over each other. A barrier is put if the larger one is worth it.
 * It saves the smaller one alone: asked of that, long rows of layernorm and
 * rmsnorm would have a barrier less in each launch and some bytes more, which
 * nobody has measured. */
enum way { NEVER, FREELY, BY_BARRIER };

static void
in_order(const struct share *s, uint32_t x, uint32_t y,
    const struct life **a, const struct life **b)
{
	bool swap = s->lives[x].first > s->lives[y].first;

	*a = &s->lives[swap ? y : x];
	*b = &s->lives[swap ? x : y];
}

static enum way
way_of(const struct share *s, uint32_t x, uint32_t y)
{
	const struct life *a, *b;
	cj_ref loop;

	in_order(s, x, y, &a, &b);
	if (a->last >= b->first)
		return NEVER;
	loop = common_loop(s, a, b);
	if (loop != 0 && !has_way_back(s, loop, a, b))
		return NEVER;
	if (stands_between(s, a->last, b->first, b->first_region))
		return FREELY;
	if (loop != 0 || s->returns || (a->bytes < s->worth &&
	    b->bytes < s->worth))
		return NEVER;
	return s->at[top_of(s, b->first)] > a->last ? BY_BARRIER : NEVER;
}

/* In front of what begins the life of the later one. */
static void
put_barrier(struct share *s, uint32_t x, uint32_t y)
{
	const struct life *a, *b;
	struct cj_builder at = { .module = s->m, .region = s->body };
	struct barrier made = { 0, s->body };

	in_order(s, x, y, &a, &b);
	at.before = top_of(s, b->first);
	at.place = cj_inst(s->m, at.before)->place;
	made.at = s->at[at.before] - 1;
	assert(made.at > a->last && made.at < b->first);
	if (!s->is_trial)
		cj_emit0(&at, CJ_OP_BARRIER, 0, 0);
	*cj_push(s->m->arena, &s->barriers) = made;
}

/* ---- the layout ---------------------------------------------------------- */

static bool
meets(const struct share *s, uint32_t x, int64_t at, uint32_t y)
{
	const struct cj_object *o = &s->m->objects.at[y];

	return at < (int64_t)o->offset + s->lives[y].bytes &&
	    (int64_t)o->offset < at + s->lives[x].bytes;
}

static bool
is_in(const struct share *s, uint32_t o, uint32_t host)
{
	return s->lives[o].is_used && (o == host ||
	    s->m->objects.at[o].host == host);
}

/* Is `o` in the memory of `host` where x would lie? */
static bool
is_under(const struct share *s, uint32_t x, int64_t at, uint32_t host,
    uint32_t o)
{
	return is_in(s, o, host) && meets(s, x, at, o);
}

static bool
fits(const struct share *s, uint32_t x, uint32_t host, int64_t at)
{
	uint32_t o;

	for (o = 1; o < s->m->objects.len; o++)
		if (is_under(s, x, at, host, o) && way_of(s, x, o) == NEVER)
			return false;
	return true;
}

static void
lay_over(struct share *s, uint32_t x, uint32_t host, int64_t at)
{
	uint32_t o;

	for (o = 1; o < s->m->objects.len; o++)
		if (is_under(s, x, at, host, o) &&
		    way_of(s, x, o) == BY_BARRIER)
			put_barrier(s, x, o);
	s->m->objects.at[x].host = host;
	s->m->objects.at[x].offset = (uint32_t)at;
}

/* The next place in the memory of `host` where one ends; its end: none. */
static int64_t
place_behind(const struct share *s, uint32_t host, int64_t at, int64_t align)
{
	int64_t next = cj_shared_reach(s->m, host), end;
	uint32_t o;

	for (o = 1; o < s->m->objects.len; o++) {
		if (!is_in(s, o, host))
			continue;
		end = (int64_t)s->m->objects.at[o].offset + s->lives[o].bytes;
		end = (end + align - 1) / align * align;
		if (end > at && end < next)
			next = end;
	}
	return next;
}

struct spot {
	uint32_t host;
	int64_t at, growth;	/* bytes by which the host's memory grows */
};

/* The first place in the memory of `host`, if it is better than the best. */
static void
find_spot(const struct share *s, uint32_t x, uint32_t host,
    struct spot *best)
{
	const struct cj_object *o = &s->m->objects.at[x];
	int64_t align = o->align < 16 ? 16 : o->align, at, growth;
	int64_t end = cj_shared_reach(s->m, host);

	if (s->m->objects.at[host].align < o->align)
		return;
	for (at = 0; at < end; at = place_behind(s, host, at, align)) {
		growth = at + s->lives[x].bytes - end;
		if (growth < 0)
			growth = 0;
		if (growth < best->growth && fits(s, x, host, at))
			*best = (struct spot){ host, at, growth };
	}
}

static void
place(struct share *s, uint32_t x, const uint32_t *hosts, uint32_t count)
{
	struct spot best = { .growth = s->lives[x].bytes - s->worth + 1 };
	uint32_t i;

	if (best.growth <= 0)
		best.growth = 1;
	for (i = 0; i < count && best.growth > 0; i++)
		find_spot(s, x, hosts[i], &best);
	if (best.host != 0)
		lay_over(s, x, best.host, best.at);
}

/* The largest ones first; what finds no host is one. */
static void
place_all(struct share *s)
{
	uint32_t count = 0, done, o, best;
	uint32_t *hosts = CJ_NEWS(s->m->arena, uint32_t, s->m->objects.len);
	bool *placed = CJ_NEWS(s->m->arena, bool, s->m->objects.len);

	for (done = 0;; done++) {
		best = 0;
		for (o = 1; o < s->m->objects.len; o++)
			if (s->lives[o].is_used && !s->lives[o].is_alone &&
			    !placed[o] && (best == 0 || s->lives[o].bytes >
			    s->lives[best].bytes))
				best = o;
		if (best == 0 || s->lives[best].bytes == 0)
			break;
		placed[best] = true;
		place(s, best, hosts, count);
		if (s->m->objects.at[best].host == 0)
			hosts[count++] = best;
	}
}

/* Returns, under conditions that threads do not share: then not all would come
 * to a barrier behind it. */
static bool
parts_threads(const struct share *s, cj_ref r, const struct cj_fact *facts)
{
	cj_region g = s->home[r];
	cj_ref owner;
	unsigned n;

	for (; (owner = s->m->regions.at[g].owner) != 0; g = s->home[owner]) {
		const struct cj_inst *i = cj_inst(s->m, owner);

		if (i->op == CJ_OP_LOOP)
			return true;
		for (n = 0; n < i->operand_count; n++)
			if (facts[cj_operand(s->m, i, n)].uniform <
			    CJ_SCOPE_BLOCK)
				return true;
	}
	return false;
}

static void
init(struct share *s, struct cj_module *m, uint32_t function)
{
	struct cj_fact *facts = cj_facts_compute(m->arena, m, function);
	uint32_t o;
	cj_ref r;

	s->m = m;
	s->body = m->functions.at[function].body;
	s->at = CJ_NEWS(m->arena, uint32_t, m->insts.len);
	s->end = CJ_NEWS(m->arena, uint32_t, m->insts.len);
	s->home = CJ_NEWS(m->arena, cj_region, m->insts.len);
	s->by_place = CJ_NEWS(m->arena, cj_ref, 2 * m->insts.len +
	    4 * m->regions.len + 4);
	s->lives = CJ_NEWS(m->arena, struct life, m->objects.len);
	number(s);
	collect(s);
	for (r = 1; r < m->insts.len; r++)
		if (s->home[r] != 0 && cj_inst(m, r)->op == CJ_OP_RETURN &&
		    parts_threads(s, r, facts))
			s->returns = true;
	for (o = 1; o < m->objects.len; o++) {
		struct life *l = &s->lives[o];

		l->bytes = l->is_used ? cj_object_bytes(&m->objects.at[o]) : 0;
		l->is_alone |= cj_kind_is_place(m->objects.at[o].element);
		if (l->has_copies)
			settle_copies(s, l);
	}
}

/* Bytes of what lies in memory of its own. */
static int64_t
total(const struct share *s)
{
	int64_t bytes = 0, align;
	uint32_t o;

	for (o = 1; o < s->m->objects.len; o++)
		if (s->lives[o].is_used && s->m->objects.at[o].host == 0) {
			align = s->m->objects.at[o].align;
			bytes = (bytes + align - 1) / align * align +
			    cj_shared_reach(s->m, o);
		}
	return bytes;
}

int64_t
cj_share_least(struct cj_module *m, uint32_t function)
{
	struct share s = { .worth = 1, .is_trial = true };
	int64_t bytes;
	uint32_t o;

	init(&s, m, function);
	if (!m->functions.at[function].has_roles)
		place_all(&s);
	bytes = total(&s);
	for (o = 1; o < m->objects.len; o++)
		if (s.lives[o].is_used)
			m->objects.at[o].host = 0;
	return bytes;
}

static void
share_function(struct cj_module *m, uint32_t function)
{
	struct share s = { .worth = WORTH_A_BARRIER };

	init(&s, m, function);
	if (m->target != NULL && total(&s) > m->target->shared_bytes)
		s.worth = 1;
	place_all(&s);
}

void
cj_opt_share(struct cj_module *m)
{
	uint32_t f;

	for (f = 1; f < m->functions.len; f++)
		if (m->functions.at[f].kind == CJ_FUNCTION_DEVICE &&
		    !m->functions.at[f].has_roles)
			share_function(m, f);
}
