/*
 * Wait for products of warpgroups before what they use is touched, and find
 * where the stages of channels go back.
 *
 * Products between two commits are a group; groups end in order. One forward
 * walk over the regions, loops until nothing changes, knows for each commit
 * the least number of groups behind its newest one, over all ways. A wait that
 * leaves as many open stands in front of
 *
 *	an access to an accumulator, by anything but products of its shape
 *	a write of registers that a product has as its left operand
 *	the end of a consume block whose stage a group reads
 *	a condition under which such an access stands
 *
 * A stage goes back at the first place behind its last reader that every way
 * through its block passes, and where no group that reads it is open; at the
 * latest at the block's end. Blocks inside that are entered for certain (other
 * stages, turns) are on that way. With in_flight(n) the stage of n blocks ago
 * goes back at the end of each block, the rest behind the innermost loop, and
 * behind a turn that this loop ends.
 *
 * needs: verified IR.   keeps: regions, order.
 */
#include "wgmma_flow.h"

/* ---- what groups do ------------------------------------------------------ */

const struct cj_stage_use *
cj_flow_use(const struct cj_flow *f, cj_ref r)
{
	return &f->m->stage_uses.at[cj_inst(f->m, r)->attr];
}

bool
cj_flow_is_channel(const struct cj_flow *f, cj_ref block)
{
	return f->s.channels[cj_flow_use(f, block)->pipeline].is_channel;
}

static void
begin_group(struct cj_flow *f, struct group *g)
{
	g->commit = 0;
	g->sums = CJ_NEWS(f->m->arena, bool, f->m->objects.len);
	g->lefts = CJ_NEWS(f->m->arena, bool, f->m->objects.len);
	g->stages = CJ_NEWS(f->m->arena, bool, f->s.count);
}

/* Its slot, or what holds it in shared memory. */
static uint32_t
left_of(const struct cj_flow *f, cj_ref product)
{
	return f->m->accesses.at[f->m->wgmmas.at[cj_inst(f->m, product)->attr]
	    .a_at].object;
}

static void
add_product(const struct cj_flow *f, struct group *g, cj_ref r)
{
	const struct cj_inst *i = cj_inst(f->m, r);
	struct cj_touch touches[CJ_TOUCHES];
	unsigned n = cj_touches(f->m, i, touches), k;

	g->sums[touches[0].access->object] = true;
	g->lefts[left_of(f, r)] = true;
	for (k = 1; k < n; k++)
		g->stages[cj_site_of(&f->s, r, k)] |=
		    f->s.owner[touches[k].access->object] != 0;
	g->stages[0] = false;
}

static void
find_groups(struct cj_flow *f)
{
	uint32_t commits = 0;
	struct group now;
	const struct cj_inst *i;
	struct cj_walk w;
	cj_ref r;

	for (r = 1; r < f->s.count; r++)
		commits += f->s.home[r] != 0 &&
		    cj_inst(f->m, r)->op == CJ_OP_WGMMA_COMMIT;
	f->group = CJ_NEWS(f->m->arena, struct group, commits + 1);
	begin_group(f, &now);
	w = cj_walk_begin(f->m, f->m->functions.at[f->s.function].body);
	while ((i = cj_walk_inst(&w)) != NULL) {
		if (i->op == CJ_OP_WGMMA)
			add_product(f, &now, w.ref);
		if (i->op != CJ_OP_WGMMA_COMMIT)
			continue;
		now.commit = w.ref;
		f->group[f->count++] = now;
		f->number[w.ref] = f->count;
		begin_group(f, &now);
	}
}

/* ---- the way through a block --------------------------------------------- */

/* Is it entered for certain, and left at its end? */
static bool
is_on_way(const struct cj_inst *i)
{
	return i->op == CJ_OP_CONSUME || i->op == CJ_OP_TURN ||
	    (i->op == CJ_OP_PRODUCE && i->operand_count == 0);
}

/* What on the way through `block` an instruction is, or stands in. */
cj_ref
cj_flow_on_way(const struct cj_flow *f, cj_ref r, cj_ref block)
{
	cj_ref found = r, at = r;

	while (at != 0 && at != block) {
		if (at != r && !is_on_way(cj_inst(f->m, at)))
			found = at;
		at = f->m->regions.at[f->s.home[at]].owner;
	}
	return at == block ? found : 0;
}

/* A product is read when its group is committed. */
static cj_ref
commit_of(const struct cj_flow *f, cj_ref r)
{
	while (r != 0 && cj_inst(f->m, r)->op != CJ_OP_WGMMA_COMMIT)
		r = cj_inst(f->m, r)->next;
	return r;
}

static void
note_reader(struct cj_flow *f, cj_ref r)
{
	const struct cj_inst *i = cj_inst(f->m, r);
	struct cj_touch touches[CJ_TOUCHES];
	unsigned n = cj_touches(f->m, i, touches), k;
	cj_ref block, at;

	for (k = 0; k < n; k++) {
		block = cj_site_of(&f->s, r, k);
		if (block == 0 || cj_inst(f->m, block)->op != CJ_OP_CONSUME)
			continue;
		at = i->op == CJ_OP_WGMMA ? commit_of(f, r) : r;
		f->last[block] = cj_flow_on_way(f, at != 0 ? at : r, block);
	}
}

static void
find_readers(struct cj_flow *f)
{
	struct cj_walk w;

	for (w = cj_walk_begin(f->m, f->m->functions.at[f->s.function].body);
	    cj_walk_next(&w);)
		if (w.event == CJ_WALK_INST)
			note_reader(f, w.ref);
}

/* ---- states -------------------------------------------------------------- */

static groups
copy(const struct cj_flow *f, const int8_t *from)
{
	return from == NULL ? NULL : cj_memdup(f->m->arena, from,
	    f->count + 1);
}

/* Into `a`, which is the result unless nobody came there. */
static groups
join(const struct cj_flow *f, groups a, const int8_t *b)
{
	uint32_t i;

	if (a == NULL || b == NULL)
		return a == NULL ? copy(f, b) : a;
	for (i = 0; i < f->count; i++)
		if (a[i] == NOBODY || (b[i] != NOBODY && b[i] < a[i]))
			a[i] = b[i];
	return a;
}

static void
pass_wait(const struct cj_flow *f, groups at, int n)
{
	uint32_t i;

	for (i = 0; i < f->count; i++)
		if (at[i] >= n)
			at[i] = NOBODY;
}

static void
pass_commit(const struct cj_flow *f, groups at, cj_ref commit)
{
	uint32_t i;

	for (i = 0; i < f->count; i++)
		if (at[i] != NOBODY && at[i] < INT8_MAX)
			at[i]++;
	at[f->number[commit] - 1] = 0;
}

static int
nearer(int a, int b)
{
	if (a == NOBODY || b == NOBODY)
		return a == NOBODY ? b : a;
	return a < b ? a : b;
}

/* Groups behind the newest one that adds to an object, or (to write it) reads
 * it; NOBODY: none is. */
static int
open_slot(const struct cj_flow *f, groups at, uint32_t object, bool writes)
{
	int n = NOBODY;
	uint32_t i;

	for (i = 0; i < f->count; i++)
		if (at[i] != NOBODY && object < f->m->objects.len &&
		    (f->group[i].sums[object] ||
		    (writes && f->group[i].lefts[object])))
			n = nearer(n, at[i]);
	return n;
}

static int
open_stage(const struct cj_flow *f, groups at, cj_ref block)
{
	int n = NOBODY;
	uint32_t i;

	for (i = 0; i < f->count; i++)
		if (at[i] != NOBODY && f->group[i].stages[block])
			n = nearer(n, at[i]);
	return n;
}

static void
need_wait(struct cj_flow *f, groups at, cj_ref r, int n)
{
	if (n == NOBODY)
		return;
	n = n < MOST_OPEN ? n : MOST_OPEN;
	f->wait[r] = nearer(f->wait[r], n);
	pass_wait(f, at, n);
}

/* ---- regions ------------------------------------------------------------- */

static groups walk(struct cj_flow *f, cj_region g, groups at);

/* Another product of this shape adds behind the open ones. */
static int
open_other_shape(const struct cj_flow *f, groups at, cj_ref r)
{
	const struct cj_wgmma *w =
	    &f->m->wgmmas.at[cj_inst(f->m, r)->attr];
	uint32_t object = f->m->accesses.at[w->sum].object, i;
	cj_ref other;
	int n = NOBODY;

	for (i = 0; i < f->count; i++) {
		if (at[i] == NOBODY || !f->group[i].sums[object])
			continue;
		for (other = f->group[i].commit; other != 0 &&
		    cj_inst(f->m, other)->op != CJ_OP_WGMMA;)
			other = cj_inst(f->m, other)->prev;
		if (other != 0 && strcmp(f->m->wgmmas.at[cj_inst(f->m,
		    other)->attr].name, w->name) != 0)
			n = nearer(n, at[i]);
	}
	return n;
}

static groups
branch(struct cj_flow *f, cj_ref r, groups at)
{
	cj_region then = cj_inst(f->m, r)->region;
	cj_region other = f->m->regions.at[then].next;
	groups a = walk(f, then, copy(f, at));
	groups b = other != 0 ? walk(f, other, at) : at;

	return join(f, a, b);
}

/* A wait under a condition would not be one for what follows: what touches
 * slots of open groups there is waited for in front. */
static void
wait_in_front(struct cj_flow *f, cj_ref r, groups at)
{
	cj_region g = cj_inst(f->m, r)->region;
	const struct cj_inst *i;
	struct cj_walk w;
	int n = NOBODY;

	for (; g != 0; g = f->m->regions.at[g].next) {
		w = cj_walk_begin(f->m, g);
		while ((i = cj_walk_inst(&w)) != NULL) {
			if (i->op == CJ_OP_SLOT_GET || i->op == CJ_OP_SLOT_SET)
				n = nearer(n, open_slot(f, at,
				    f->m->accesses.at[i->attr].object,
				    i->op == CJ_OP_SLOT_SET));
		}
	}
	need_wait(f, at, r, n);
}

static groups
loop(struct cj_flow *f, cj_ref r, groups at)
{
	const struct cj_inst *i = cj_inst(f->m, r);
	groups head = copy(f, at), old, end;

	do {
		old = copy(f, head);
		f->left[r] = f->again[r] = NULL;
		end = walk(f, i->region, copy(f, head));
		head = join(f, head, end);
		head = join(f, head, f->again[r]);
	} while (memcmp(old, head, f->count + 1) != 0);
	if (i->op == CJ_OP_FOR)
		return join(f, head, f->left[r]);
	return f->left[r];
}

static groups
scope(struct cj_flow *f, cj_ref r, groups at)
{
	f->left[r] = NULL;
	at = walk(f, cj_inst(f->m, r)->region, at);
	return join(f, at, f->left[r]);
}

/* At the end of its region, or in front of an exit. */
static int
wait_of_end(const struct cj_flow *f, groups at, cj_ref block)
{
	int n = open_stage(f, at, block);

	return n < MOST_OPEN ? n : MOST_OPEN;
}

static groups
consume(struct cj_flow *f, cj_ref r, groups at)
{
	struct open o = { .op = r, .outer = f->open };
	cj_region g = cj_inst(f->m, r)->region;

	f->back[r] = (struct back){ 0, 0, NOBODY };
	o.is_back = f->in_flight[r];
	o.was_read = f->last[r] == 0;
	o.is_on_way = true;
	f->open = &o;
	at = walk(f, g, at);
	f->open = o.outer;
	if (at == NULL || o.is_back)
		return at;
	f->back[r] = (struct back){ 0, g, wait_of_end(f, at, r) };
	if (f->back[r].wait != NOBODY)
		pass_wait(f, at, f->back[r].wait);
	return at;
}

/* All blocks around are passed by another way than their own one. */
static groups
aside(struct cj_flow *f, cj_ref r, groups at,
    groups (*inside)(struct cj_flow *f, cj_ref r, groups at))
{
	struct open *o, *outer = f->open;
	bool was[64];
	unsigned n = 0;

	for (o = outer; o != NULL && n < CJ_LENGTH(was); o = o->outer) {
		was[n++] = o->is_on_way;
		o->is_on_way = false;
	}
	at = inside(f, r, at);
	for (o = outer, n = 0; o != NULL && n < CJ_LENGTH(was); o = o->outer)
		o->is_on_way = was[n++];
	return at;
}

static groups
condition(struct cj_flow *f, cj_ref r, groups at)
{
	wait_in_front(f, r, at);
	return aside(f, r, at, branch);
}

static void
leave_blocks(struct cj_flow *f, cj_ref exit, groups at)
{
	const struct open *o;
	int n = NOBODY;

	f->exit_backs[exit].len = 0;
	for (o = f->open; o != NULL; o = o->outer) {
		if (o->is_back || !cj_flow_leaves(f, exit, o->op))
			continue;
		n = nearer(n, wait_of_end(f, at, o->op));
		*cj_push(f->m->arena, &f->exit_backs[exit]) = o->op;
	}
	need_wait(f, at, exit, n);
}

static groups
leave(struct cj_flow *f, cj_ref exit, groups *to, groups at)
{
	leave_blocks(f, exit, at);
	if (to != NULL)
		*to = join(f, *to, at);
	return NULL;
}

/* The stages that may go back in front of r. */
static void
give_back(struct cj_flow *f, cj_ref r, groups at)
{
	struct open *o;

	for (o = f->open; o != NULL; o = o->outer) {
		if (o->is_back || !o->is_on_way || !o->was_read ||
		    cj_flow_reads(f, o->op) & CJ_BY_TMA ||
		    open_stage(f, at, o->op) != NOBODY)
			continue;
		f->back[o->op] = (struct back){ r, f->s.home[r], NOBODY };
		o->is_back = true;
	}
}

static void
note_read(struct cj_flow *f, cj_ref r)
{
	struct open *o;

	for (o = f->open; o != NULL; o = o->outer)
		o->was_read |= f->last[o->op] == r;
}

static groups
step(struct cj_flow *f, cj_ref r, groups at)
{
	const struct cj_inst *i = cj_inst(f->m, r);

	switch ((unsigned)i->op) {
	case CJ_OP_CONSUME: return consume(f, r, at);
	case CJ_OP_PRODUCE:
		return i->operand_count == 0 ? walk(f, i->region, at) :
		    aside(f, r, at, branch);
	case CJ_OP_TURN: return walk(f, i->region, at);
	case CJ_OP_ROLE: return join(f, copy(f, at), walk(f, i->region, at));
	case CJ_OP_IF: return condition(f, r, at);
	case CJ_OP_FOR: case CJ_OP_LOOP: return aside(f, r, at, loop);
	case CJ_OP_SCOPE: return aside(f, r, at, scope);
	case CJ_OP_BREAK: return leave(f, r, &f->left[i->attr], at);
	case CJ_OP_CONTINUE: return leave(f, r, &f->again[i->attr], at);
	case CJ_OP_RETURN: return leave(f, r, NULL, at);
	case CJ_OP_WGMMA:
		need_wait(f, at, r, nearer(open_other_shape(f, at, r),
		    open_slot(f, at, left_of(f, r), false)));
		return at;
	case CJ_OP_WGMMA_COMMIT:
		pass_commit(f, at, r);
		return at;
	case CJ_OP_WGMMA_WAIT:
		pass_wait(f, at, (int)i->attr);
		return at;
	case CJ_OP_SLOT_GET: case CJ_OP_SLOT_SET:
		need_wait(f, at, r, open_slot(f, at,
		    f->m->accesses.at[i->attr].object,
		    i->op == CJ_OP_SLOT_SET));
		return at;
	}
	return at;
}

static groups
walk(struct cj_flow *f, cj_region g, groups at)
{
	cj_ref r;

	for (r = f->m->regions.at[g].first; r != 0 && at != NULL;
	    r = cj_inst(f->m, r)->next) {
		/* a loop is walked several times: the last one counts */
		f->wait[r] = NOBODY;
		if (cj_inst(f->m, r)->op != CJ_OP_INDEX)
			give_back(f, r, at);
		at = step(f, r, at);
		note_read(f, r);
	}
	return at;
}

/* ---- all of a function --------------------------------------------------- */

static void
put_back(struct cj_flow *f, cj_region region, cj_ref before, cj_ref block,
    int wait)
{
	struct cj_builder b = cj_flow_builder(f, region, before, block);
	struct cj_stage_use use = *cj_flow_use(f, block);

	use.count = 0;
	if (wait != NOBODY)
		cj_emit0(&b, CJ_OP_WGMMA_WAIT, 0, (uint32_t)wait);
	if (cj_flow_is_channel(f, block) && !use.keep)
		cj_emit0(&b, CJ_OP_RELEASE, 0, cj_module_stage_use(f->m,
		    &use));
}

static void
put(struct cj_flow *f, uint32_t count)
{
	struct cj_builder b;
	uint32_t i;
	cj_ref r;

	for (r = 1; r < count; r++) {
		if (f->s.home[r] == 0)
			continue;
		b = cj_flow_builder(f, f->s.home[r], r, r);
		if (f->wait[r] != NOBODY)
			cj_emit0(&b, CJ_OP_WGMMA_WAIT, 0,
			    (uint32_t)f->wait[r]);
		for (i = 0; i < f->exit_backs[r].len; i++)
			put_back(f, f->s.home[r], r, f->exit_backs[r].at[i],
			    NOBODY);
	}
	for (r = 1; r < count; r++)
		if (f->back[r].region != 0)
			put_back(f, f->back[r].region, f->back[r].before, r,
			    f->back[r].wait);
}

static void
make_tables(struct cj_flow *f)
{
	struct cj_arena *a = f->m->arena;
	uint32_t n = f->m->insts.len, i;

	f->left = CJ_NEWS(a, groups, n);
	f->again = CJ_NEWS(a, groups, n);
	f->wait = CJ_NEWS(a, int, n);
	f->back = CJ_NEWS(a, struct back, n);
	f->exit_backs = cj_alloc(a, n * sizeof *f->exit_backs);
	for (i = 0; i < n; i++)
		f->wait[i] = NOBODY;
}

/* What was put there for in_flight has its home too. */
static void
find_homes(struct cj_flow *f)
{
	struct cj_walk w;

	f->s.home = CJ_NEWS(f->m->arena, cj_region, f->m->insts.len);
	for (w = cj_walk_begin(f->m, f->m->functions.at[f->s.function].body);
	    cj_walk_next(&w);)
		if (w.event == CJ_WALK_INST)
			f->s.home[w.ref] = w.region;
}

/* What is read of a slot to ask for its shape is used by nobody: it goes, for
 * nothing is to be waited for there. */
static void
drop_unused(struct cj_flow *f)
{
	bool *is_used = CJ_NEWS(f->m->arena, bool, f->m->insts.len);
	const struct cj_inst *i;
	struct cj_walk w;
	unsigned n;
	cj_ref r;

	w = cj_walk_begin(f->m, f->m->functions.at[f->s.function].body);
	while ((i = cj_walk_inst(&w)) != NULL) {
		for (n = 0; n < i->operand_count; n++)
			is_used[cj_operand(f->m, i, n)] = true;
	}
	for (r = 1; r < f->s.count; r++) {
		if (f->s.home[r] == 0 || is_used[r] ||
		    cj_inst(f->m, r)->op != CJ_OP_SLOT_GET)
			continue;
		cj_inst_remove(f->m, f->s.home[r], r);
		f->s.home[r] = 0;
	}
}

static void
run(struct cj_flow *f)
{
	uint32_t n = f->m->insts.len, count;
	groups start;

	f->number = CJ_NEWS(f->m->arena, uint32_t, n);
	f->last = CJ_NEWS(f->m->arena, cj_ref, n);
	f->in_flight = CJ_NEWS(f->m->arena, bool, n);
	drop_unused(f);
	find_groups(f);
	find_readers(f);
	cj_flow_find_in_flight(f);
	find_homes(f);
	count = f->m->insts.len;
	make_tables(f);
	start = cj_alloc(f->m->arena, f->count + 1);
	memset(start, NOBODY, f->count + 1);
	walk(f, f->m->functions.at[f->s.function].body, start);
	put(f, count);
}

/* Nothing to do without products and channels. */
static bool
is_needed(const struct cj_flow *f)
{
	uint32_t p, r;

	for (p = 1; p < f->m->pipelines.len; p++)
		if (f->s.channels[p].is_channel)
			return true;
	for (r = 1; r < f->s.count; r++)
		if (f->s.home[r] != 0 &&
		    cj_inst(f->m, r)->op == CJ_OP_WGMMA_COMMIT)
			return true;
	return false;
}

void
cj_opt_wgmma_wait(struct cj_module *m)
{
	uint32_t i;

	for (i = 1; i < m->functions.len; i++) {
		struct cj_flow f = { .m = m };

		if (m->functions.at[i].kind != CJ_FUNCTION_DEVICE)
			continue;
		cj_sites_find(&f.s, m, i);
		if (is_needed(&f))
			run(&f);
	}
}
