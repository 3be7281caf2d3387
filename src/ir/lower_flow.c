/*
 * Where rings of one role need waits and barriers.
 *
 * One forward walk over the regions of a function, loops until nothing
 * changes. For each pipeline it knows of the last fills, newest first, whether
 * ordinary stores have touched them since the last barrier, and, if they come
 * by cp.async, how many groups were committed behind theirs; of the last
 * reads, newest first, whether they have happened since the last barrier. How
 * many stages are full is the same on all ways (elaboration has seen to it),
 * so that the fill a consume reads and the read a produce overwrites have a
 * known place in these rows.
 *
 *	produce		a store of its stage by TMA may still read: the lane
 *			that issued it waits; then, or if the stage was read
 *			since the last barrier: a barrier
 *	consume		its fill in flight: wait, then a barrier always; written
 *			since the last barrier: a barrier
 *
 * A state is a pair: `all` of every way, and `on` of the ways that go on to
 * another turn of the innermost loop, as far as a condition k + step < end
 * tells. Decisions follow `all`; the back edge of the loop takes `on`.
 *
 * The walk is repeated for each wait that may stand elsewhere, and most
 * instructions compute: what it has to look at is listed before the first one.
 */
#include "lower_priv.h"

struct ring {
	int full;			/* stages */
	int open[CJ_MAX_STAGES];	/* by age of the fill: groups behind
					   its own; -1: landed */
	uint32_t written;		/* by age of the fill, a bit each */
	uint64_t read;			/* bit 0: by keep, the stage to be
					   consumed next; 1 + age of the read */
	int stored[CJ_MAX_STAGES + 1];	/* the same, of reads by TMA: groups of
					   stores behind; -1: ended */
};

/* NULL: nobody comes here. */
struct state {
	struct ring *all, *on;
};

/* What a walk looks at, and where it keeps states meanwhile. */
struct cj_lower_steps {
	cj_ref *first;			/* by region */
	cj_ref *next;			/* by instruction, in its region */
	bool *stores;			/* by consume block: it sends its stage
					   away by TMA */
	struct state *left;		/* by region op: of who leaves it, */
	struct state *again;		/* goes on with it */
};

/* A produce or consume block around the place in work. */
struct block {
	cj_ref op;
	uint32_t pipeline;
	int count;			/* of fills or reads, at its own */
	unsigned epoch;
	struct block *outer;
};

struct flow {
	struct cj_lower *l;
	uint32_t pipelines;		/* + 1 */
	int *fills, *reads;		/* by pipeline: so far, since `epoch` */
	unsigned *epoch;		/* changes where the count is lost */
	struct block *block;
	cj_ref loop;			/* the innermost FOR */
	struct state *left, *again;	/* of the steps */
	unsigned depth;			/* of loops */
	uint64_t cost;
};

/* ---- states -------------------------------------------------------------- */

static struct ring *
copy(const struct flow *f, const struct ring *from)
{
	return from == NULL ? NULL : cj_memdup(f->l->m->arena, from,
	    f->pipelines * sizeof *from);
}

static struct state
copy_state(const struct flow *f, struct state s)
{
	return (struct state){ copy(f, s.all), copy(f, s.on) };
}

static int
nearer(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

/* Into `a`, which is the result unless nobody came there. */
static struct ring *
join(const struct flow *f, struct ring *a, const struct ring *b)
{
	uint32_t p, i;

	if (a == NULL || b == NULL)
		return a == NULL ? copy(f, b) : a;
	for (p = 1; p < f->pipelines; p++) {
		if (a[p].full != b[p].full)
			cj_bug(f->l->m->arena->recover,
			    "the stages of \"%s\" are not in step",
			    f->l->m->pipelines.at[p].name);
		for (i = 0; i < CJ_MAX_STAGES; i++)
			a[p].open[i] = nearer(a[p].open[i], b[p].open[i]);
		for (i = 0; i <= CJ_MAX_STAGES; i++)
			a[p].stored[i] = nearer(a[p].stored[i],
			    b[p].stored[i]);
		a[p].written |= b[p].written;
		a[p].read |= b[p].read;
	}
	return a;
}

static struct state
join_states(const struct flow *f, struct state a, struct state b)
{
	return (struct state){ join(f, a.all, b.all), join(f, a.on, b.on) };
}

static bool
is_same(const struct flow *f, const struct ring *a, const struct ring *b)
{
	return memcmp(a, b, f->pipelines * sizeof *a) == 0;
}

/* ---- what instructions do to one half ------------------------------------ */

static void
pass_barrier(const struct flow *f, struct ring *r)
{
	uint32_t p;

	for (p = 1; r != NULL && p < f->pipelines; p++) {
		r[p].written = 0;
		r[p].read = 0;
	}
}

/* All but the newest n groups have landed, for the thread that waited. */
static void
pass_wait(const struct flow *f, struct ring *r, int n)
{
	uint32_t p, i;

	for (p = 1; r != NULL && p < f->pipelines; p++)
		for (i = 0; i < CJ_MAX_STAGES; i++)
			if (r[p].open[i] >= n) {
				r[p].open[i] = -1;
				r[p].written |= (uint32_t)1 << i;
			}
}

static void
pass_commit(const struct flow *f, struct ring *r)
{
	uint32_t p, i;

	for (p = 1; r != NULL && p < f->pipelines; p++)
		for (i = 0; i < CJ_MAX_STAGES; i++)
			r[p].open[i] += r[p].open[i] >= 0;
}

static void
begin_fill(struct ring *r)
{
	if (r == NULL)
		return;
	memmove(r->open + 1, r->open, sizeof r->open - sizeof r->open[0]);
	r->open[0] = -1;
	r->written <<= 1;
	r->full++;
}

static void
begin_read(struct ring *r, uint32_t stages)
{
	if (r == NULL)
		return;
	r->read = (r->read << 1) & (((uint64_t)2 << stages) - 1);
	memmove(r->stored + 1, r->stored, sizeof r->stored -
	    sizeof r->stored[0]);
	r->stored[0] = -1;
	r->full--;
}

/* The newest n fills were dropped: nobody filled a stage. */
static void
settle(struct ring *r, uint32_t n)
{
	uint32_t i;

	if (r == NULL)
		return;
	for (i = 0; i < CJ_MAX_STAGES; i++)
		r->open[i] = i + n < CJ_MAX_STAGES ? r->open[i + n] : -1;
	r->written >>= n;
	r->full -= (int)n;
}

/* ---- what must stand in front -------------------------------------------- */

static void
add_cost(struct flow *f, uint64_t each)
{
	unsigned d;

	for (d = 0; d < f->depth && d < 8; d++)
		each *= 16;
	f->cost += each;
}

static void
need_barrier(struct flow *f, struct state *s, cj_ref at)
{
	f->l->needs[at].barrier = true;
	add_cost(f, 4);
	pass_barrier(f, s->all);
	pass_barrier(f, s->on);
}

static void
need_wait(struct flow *f, struct state *s, cj_ref at, int n)
{
	struct cj_need *need = &f->l->needs[at];

	need->wait = nearer(need->wait, n);
	add_cost(f, 1);
	pass_wait(f, s->all, n);
	pass_wait(f, s->on, n);
}

/* Stores but the newest n have read; the lane that waits knows, not others. */
static void
pass_stores(const struct flow *f, struct ring *r, int n)
{
	uint32_t p, i;

	for (p = 1; r != NULL && p < f->pipelines; p++)
		for (i = 0; i <= CJ_MAX_STAGES; i++)
			if (r[p].stored[i] >= n) {
				r[p].stored[i] = -1;
				r[p].read |= (uint64_t)1 << i;
			}
}

static void
need_stores(struct flow *f, struct state *s, cj_ref at, int n)
{
	struct cj_need *need = &f->l->needs[at];

	need->stores = nearer(need->stores, n);
	add_cost(f, 1);
	pass_stores(f, s->all, n);
	pass_stores(f, s->on, n);
}

/* The next stage to be read is there, for all threads. */
static void
acquire(struct flow *f, struct state *s, cj_ref at, uint32_t p)
{
	int age = s->all[p].full - 1;

	if (age < 0 || age >= CJ_MAX_STAGES)
		return;
	if (s->all[p].open[age] >= 0)
		need_wait(f, s, at, s->all[p].open[age]);
	if (s->all[p].written >> age & 1)
		need_barrier(f, s, at);
}

static void
try_moves(struct flow *f, struct state *s, cj_ref at)
{
	uint32_t i;

	for (i = 0; i < f->l->tries.len; i++)
		if (f->l->tries.at[i].is_on && f->l->tries.at[i].at == at)
			acquire(f, s, at, f->l->tries.at[i].pipeline);
}

/* ---- accesses to stages -------------------------------------------------- */

static const struct block *
find_block(const struct flow *f, cj_ref op)
{
	const struct block *b = f->block;

	while (b != NULL && b->op != op)
		b = b->outer;
	return b;
}

static void
note_read(const struct flow *f, struct ring *r, uint32_t p, cj_ref op)
{
	const struct block *b = op == 0 ? NULL : find_block(f, op);
	int bit;

	if (r == NULL)
		return;
	if (b == NULL || b->epoch != f->epoch[p]) {
		r[p].read = ~(uint64_t)0;
		return;
	}
	bit = f->reads[p] - b->count;
	r[p].read |= (uint64_t)1 << bit;
}

static void
note_write(const struct flow *f, struct ring *r, uint32_t p, cj_ref op)
{
	const struct block *b = op == 0 ? NULL : find_block(f, op);

	if (r == NULL)
		return;
	if (b == NULL || b->epoch != f->epoch[p])
		r[p].written = ~(uint32_t)0;
	else
		r[p].written |= (uint32_t)1 << (f->fills[p] - b->count);
}

/* The offset says which block's stage it is. */
static void
note_accesses(const struct flow *f, struct state *s, cj_ref r)
{
	const struct cj_inst *i = cj_inst(f->l->m, r);
	struct cj_touch touches[CJ_TOUCHES];
	unsigned n = cj_touches(f->l->m, i, touches), k;

	/* land with their groups */
	if (i->op == CJ_OP_CP_ASYNC || i->op == CJ_OP_TMA_STORE)
		return;
	for (k = 0; k < n; k++) {
		uint32_t p = f->l->s.owner[touches[k].access->object];
		cj_ref op = cj_site_of(&f->l->s, r, k);

		if (p == 0 || f->l->s.channels[p].is_channel)
			continue;
		if (touches[k].writes) {
			note_write(f, s->all, p, op);
			note_write(f, s->on, p, op);
		} else {
			note_read(f, s->all, p, op);
			note_read(f, s->on, p, op);
		}
	}
}

static void
commit_stores(const struct flow *f, struct ring *r, uint32_t p, int age)
{
	uint32_t q, i;

	if (r == NULL)
		return;
	for (q = 1; q < f->pipelines; q++)
		for (i = 0; i <= CJ_MAX_STAGES; i++)
			r[q].stored[i] += r[q].stored[i] >= 0;
	r[p].stored[age] = 0;
}

/* ---- regions ------------------------------------------------------------- */

static struct state walk(struct flow *f, cj_region g, struct state s);

static const struct cj_stage_use *
use_of(const struct flow *f, cj_ref r)
{
	return &f->l->m->stage_uses.at[cj_inst(f->l->m, r)->attr];
}

static struct state
walk_block(struct flow *f, cj_ref r, struct state s, int count)
{
	struct block b = { .op = r, .pipeline = use_of(f, r)->pipeline,
	    .count = count, .outer = f->block };

	b.epoch = f->epoch[b.pipeline];
	f->block = &b;
	s = walk(f, cj_inst(f->l->m, r)->region, s);
	f->block = b.outer;
	return s;
}

static void
commit_fill(const struct flow *f, struct state *s, uint32_t p)
{
	if (!f->l->has_copies[p])
		return;
	pass_commit(f, s->all);
	pass_commit(f, s->on);
	if (s->all != NULL)
		s->all[p].open[0] = 0;
	if (s->on != NULL)
		s->on[p].open[0] = 0;
}

static struct state
produce(struct flow *f, cj_ref r, struct state s)
{
	uint32_t p = use_of(f, r)->pipeline;
	int stages = (int)f->l->m->pipelines.at[p].stages;
	struct state skipped = { NULL, NULL };

	try_moves(f, &s, r);
	if (s.all[p].stored[stages - s.all[p].full] >= 0)
		need_stores(f, &s, r,
		    s.all[p].stored[stages - s.all[p].full]);
	if (s.all[p].read >> (stages - s.all[p].full) & 1)
		need_barrier(f, &s, r);
	begin_fill(&s.all[p]);
	if (s.on != NULL)
		begin_fill(&s.on[p]);
	if (cj_inst(f->l->m, r)->operand_count > 0)
		skipped = copy_state(f, s);
	f->fills[p]++;
	s = walk_block(f, r, s, f->fills[p]);
	s = join_states(f, s, skipped);
	commit_fill(f, &s, p);
	return s;
}

static struct state
consume(struct flow *f, cj_ref r, struct state s)
{
	const struct cj_stage_use *u = use_of(f, r);
	uint32_t p = u->pipeline;
	unsigned epoch;
	int count;

	acquire(f, &s, r, p);
	if (u->keep)			/* bit 0 is its read */
		return walk_block(f, r, s, f->reads[p]);
	begin_read(&s.all[p], f->l->m->pipelines.at[p].stages);
	if (s.on != NULL)
		begin_read(&s.on[p], f->l->m->pipelines.at[p].stages);
	f->reads[p]++;
	count = f->reads[p] - 1;
	epoch = f->epoch[p];
	s = walk_block(f, r, s, count);
	if (f->l->steps->stores[r]) {
		int age = epoch == f->epoch[p] ? f->reads[p] - count : 1;

		commit_stores(f, s.all, p, age);
		commit_stores(f, s.on, p, age);
	}
	return s;
}

/* Counts across a region that not every way goes through are lost. */
static void
lose_counts(struct flow *f, cj_ref r)
{
	const bool *moves = f->l->moves[r];
	uint32_t p;

	for (p = 1; moves != NULL && p < f->pipelines; p++)
		if (moves[p])
			f->epoch[p]++;
}

static bool
is_same_value(const struct cj_module *m, cj_ref a, cj_ref b)
{
	const struct cj_constant *x = cj_constant_of(m, a);
	const struct cj_constant *y = cj_constant_of(m, b);
	const struct cj_inst *i = cj_inst(m, a), *j = cj_inst(m, b);

	if (x != NULL && y != NULL)
		return x->type == y->type && x->bits[0] == y->bits[0];
	return a == b || (i->op == CJ_OP_PARAM && j->op == CJ_OP_PARAM &&
	    i->attr == j->attr);
}

/* k + step < end of the loop: true means another turn. */
static bool
asks_for_turn(const struct flow *f, cj_ref condition)
{
	const struct cj_module *m = f->l->m;
	const struct cj_inst *lt = cj_inst(m, condition), *loop, *sum;
	cj_ref k, left, right;

	if (f->loop == 0 || lt->op != CJ_OP_LT)
		return false;
	loop = cj_inst(m, f->loop);
	k = m->regions.at[loop->region].first;
	sum = cj_inst(m, cj_operand(m, lt, 0));
	if (sum->op != CJ_OP_ADD || !is_same_value(m, cj_operand(m, lt, 1),
	    cj_operand(m, loop, 1)))
		return false;
	left = cj_operand(m, sum, 0);
	right = cj_operand(m, sum, 1);
	return (left == k && is_same_value(m, right, cj_operand(m, loop, 2)))
	    || (right == k && is_same_value(m, left, cj_operand(m, loop, 2)));
}

static struct state
branch(struct flow *f, cj_ref r, struct state s)
{
	const struct cj_module *m = f->l->m;
	cj_region then = cj_inst(m, r)->region;
	cj_region other = m->regions.at[then].next;
	struct state a = walk(f, then, copy_state(f, s)), b = s;

	lose_counts(f, r);
	if (other != 0)
		b = walk(f, other, s);
	lose_counts(f, r);
	if (asks_for_turn(f, cj_operand(m, cj_inst(m, r), 0)))
		b.on = NULL;
	return join_states(f, a, b);
}

static struct state
loop(struct flow *f, cj_ref r, struct state s)
{
	const struct cj_inst *i = cj_inst(f->l->m, r);
	cj_ref outer = f->loop;
	struct ring *head, *back, *old;
	struct state end;

	try_moves(f, &s, r);
	head = copy(f, s.all);
	f->loop = i->op == CJ_OP_FOR ? r : 0;
	f->depth++;
	do {
		uint64_t cost = f->cost;

		old = copy(f, head);
		f->left[r] = f->again[r] = (struct state){ NULL, NULL };
		lose_counts(f, r);
		end = walk(f, i->region, (struct state){ copy(f, head),
		    copy(f, head) });
		back = join(f, copy(f, end.on), f->again[r].on);
		head = join(f, head, back);
		if (is_same(f, head, old))
			break;
		f->cost = cost;
	} while (true);
	f->depth--;
	f->loop = outer;
	lose_counts(f, r);
	if (i->op == CJ_OP_FOR) {
		s.all = join(f, s.all, end.all);
		s.all = join(f, s.all, f->again[r].all);
		s.all = join(f, s.all, f->left[r].all);
	} else
		s.all = f->left[r].all;
	s.on = copy(f, s.all);
	return s;
}

static struct state
scope(struct flow *f, cj_ref r, struct state s)
{
	f->left[r] = (struct state){ NULL, NULL };
	s = walk(f, cj_inst(f->l->m, r)->region, s);
	lose_counts(f, r);
	return join_states(f, s, f->left[r]);
}

/* What one of them does not end is no matter of the next one. */
static struct state
role(struct flow *f, cj_ref r, struct state s)
{
	struct state end = walk(f, cj_inst(f->l->m, r)->region,
	    copy_state(f, s));

	return end.all != NULL ? end : s;
}

static struct state
leave(struct flow *f, struct state *at, struct state s)
{
	*at = join_states(f, *at, s);
	return (struct state){ NULL, NULL };
}

static struct state
step(struct flow *f, cj_ref r, struct state s)
{
	const struct cj_inst *i = cj_inst(f->l->m, r);

	switch ((unsigned)i->op) {
	case CJ_OP_PRODUCE:
		if (f->l->s.channels[use_of(f, r)->pipeline].is_channel)
			return i->operand_count > 0 ? branch(f, r, s) :
			    walk(f, i->region, s);
		return produce(f, r, s);
	case CJ_OP_CONSUME:
		if (f->l->s.channels[use_of(f, r)->pipeline].is_channel)
			return walk(f, i->region, s);
		return consume(f, r, s);
	case CJ_OP_TURN: return walk(f, i->region, s);
	case CJ_OP_ROLE: return role(f, r, s);
	case CJ_OP_SETTLE:
		if (f->l->s.channels[use_of(f, r)->pipeline].is_channel)
			return s;
		settle(&s.all[use_of(f, r)->pipeline], use_of(f, r)->count);
		if (s.on != NULL)
			settle(&s.on[use_of(f, r)->pipeline],
			    use_of(f, r)->count);
		return s;
	case CJ_OP_IF: return branch(f, r, s);
	case CJ_OP_FOR: case CJ_OP_LOOP: return loop(f, r, s);
	case CJ_OP_SCOPE: return scope(f, r, s);
	case CJ_OP_BREAK: return leave(f, &f->left[i->attr], s);
	case CJ_OP_CONTINUE: return leave(f, &f->again[i->attr], s);
	case CJ_OP_RETURN: return (struct state){ NULL, NULL };
	case CJ_OP_BARRIER:
		pass_barrier(f, s.all);
		pass_barrier(f, s.on);
		return s;
	case CJ_OP_CP_COMMIT:
		pass_commit(f, s.all);
		pass_commit(f, s.on);
		return s;
	case CJ_OP_CP_WAIT:
		pass_wait(f, s.all, i->attr == CJ_WAIT_ALL ? 0 : (int)i->attr);
		pass_wait(f, s.on, i->attr == CJ_WAIT_ALL ? 0 : (int)i->attr);
		return s;
	}
	note_accesses(f, &s, r);
	return s;
}

static struct state
walk(struct flow *f, cj_region g, struct state s)
{
	const struct cj_lower_steps *steps = f->l->steps;
	cj_ref r;

	for (r = steps->first[g]; r != 0 && s.all != NULL;
	    r = steps->next[r], f->l->walked++) {
		/* a loop is walked several times: the last one counts */
		f->l->needs[r] = (struct cj_need){ -1, -1, false };
		s = step(f, r, s);
	}
	return s;
}

/* ---- what to look at ----------------------------------------------------- */

static bool
touches_ring(const struct cj_lower *l, const struct cj_inst *i)
{
	struct cj_touch touches[CJ_TOUCHES];
	unsigned n = cj_touches(l->m, i, touches), k;

	for (k = 0; k < n; k++) {
		uint32_t p = l->s.owner[touches[k].access->object];

		if (p != 0 && !l->s.channels[p].is_channel)
			return true;
	}
	return false;
}

static bool
is_step(const struct cj_lower *l, const struct cj_inst *i)
{
	switch (cj_op_info[i->op].effects) {
	case CJ_EFFECTS_PURE:
		return cj_op_info[i->op].attr == CJ_ATTR_ACCESS &&
		    touches_ring(l, i);
	case CJ_EFFECTS_READ:
	case CJ_EFFECTS_WRITE:
		return touches_ring(l, i);
	case CJ_EFFECTS_SYNC:
	case CJ_EFFECTS_IO:
	case CJ_EFFECTS_EXIT:
	case CJ_EFFECTS_REGION:
		break;
	}
	return true;
}

void
cj_lower_begin_analyses(struct cj_lower *l)
{
	const struct cj_module *m = l->m;
	struct cj_lower_steps *s = CJ_NEW(m->arena, struct cj_lower_steps);
	cj_ref *last = CJ_NEWS(m->arena, cj_ref, m->regions.len);
	struct cj_walk w;
	cj_ref r;

	l->steps = s;
	l->needs = CJ_NEWS(m->arena, struct cj_need, m->insts.len);
	s->first = CJ_NEWS(m->arena, cj_ref, m->regions.len);
	s->next = CJ_NEWS(m->arena, cj_ref, m->insts.len);
	s->stores = CJ_NEWS(m->arena, bool, m->insts.len);
	s->left = CJ_NEWS(m->arena, struct state, m->insts.len);
	s->again = CJ_NEWS(m->arena, struct state, m->insts.len);
	for (r = 0; r < m->insts.len; r++)
		l->needs[r] = (struct cj_need){ -1, -1, false };
	for (w = cj_walk_begin(m, m->functions.at[l->s.function].body);
	    cj_walk_next(&w);) {
		if (w.event != CJ_WALK_INST)
			continue;
		if (cj_inst(m, w.ref)->op == CJ_OP_TMA_STORE)
			s->stores[cj_site_of(&l->s, w.ref, 0)] = true;
		if (!is_step(l, cj_inst(m, w.ref)))
			continue;
		if (last[w.region] == 0)
			s->first[w.region] = w.ref;
		else
			s->next[last[w.region]] = w.ref;
		last[w.region] = w.ref;
	}
}

static struct ring *
nothing_open(const struct flow *f)
{
	struct ring *start = CJ_NEWS(f->l->m->arena, struct ring,
	    f->pipelines);
	uint32_t p, i;

	for (p = 0; p < f->pipelines; p++)
		for (i = 0; i <= CJ_MAX_STAGES; i++) {
			if (i < CJ_MAX_STAGES)
				start[p].open[i] = -1;
			start[p].stored[i] = -1;
		}
	return start;
}

uint64_t
cj_lower_analyse(struct cj_lower *l)
{
	struct cj_arena *a = l->m->arena;
	struct cj_mark mark = cj_arena_mark(a);
	struct flow f = { .l = l, .pipelines = l->m->pipelines.len,
	    .left = l->steps->left, .again = l->steps->again };

	f.fills = CJ_NEWS(a, int, f.pipelines);
	f.reads = CJ_NEWS(a, int, f.pipelines);
	f.epoch = CJ_NEWS(a, unsigned, f.pipelines);
	walk(&f, l->m->functions.at[l->s.function].body,
	    (struct state){ nothing_open(&f), NULL });
	cj_arena_release(a, mark);
	return f.cost;
}
