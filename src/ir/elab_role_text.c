/*
 * Roles as programs: what each does to pipelines and orders, over values.
 *
 * One walk over each role, in the order of its text, knows the value of every
 * integer: a term over leaves (parameters, constants, indices of loops, loads
 * from memory that nobody writes). Equal operations on equal values are equal,
 * in whatever role; loops of one depth over one range have one index. What
 * depends on the thread, or on memory that is written, is equal to nothing.
 *
 * A `var` that a loop assigns begins each turn as an unknown, which is the same
 * in all roles whose variables have this name and begin alike. That it goes on
 * alike is assumed, and seen when each role has been read; where it is not so,
 * all is read again without that assumption.
 */
#include "elab_role_priv.h"

enum { MOST_STEPS = 200000 };	/* of ways that exits part */

/* Where a way goes on when a region has ended: frames, innermost first. */
struct frame {
	cj_ref owner;		/* whose region ends here; a loop's: it turns */
	cj_ref next;		/* behind it */
	struct frame *outer;
};

/* ---- what is done -------------------------------------------------------- */

static void
add(struct cj_role_reader *r, struct cj_deeds *to, struct cj_deed d)
{
	*cj_push(r->c->el->arena, to) = cj_memdup(r->c->el->arena, &d,
	    sizeof d);
}

struct state {
	struct cj_int *slots;
	bool *has_slot;
};

static struct state
save(struct cj_role_reader *r)
{
	uint32_t n = r->m->objects.len;

	return (struct state){ cj_memdup(r->c->el->arena, r->slots,
	    n * sizeof *r->slots), cj_memdup(r->c->el->arena, r->has_slot,
	    n * sizeof *r->has_slot) };
}

static void
restore(struct cj_role_reader *r, struct state s)
{
	struct state own = s;

	r->slots = own.slots;
	r->has_slot = own.has_slot;
}

/* Another way ends with other values. */
static void
merge(struct cj_role_reader *r, const struct cj_cond *cond, struct state other)
{
	struct cj_role_atom *a;
	struct cj_int s;
	uint32_t o;

	for (o = 1; o < r->m->objects.len; o++) {
		if (!r->has_slot[o] || !other.has_slot[o]) {
			r->has_slot[o] = false;
			continue;
		}
		if (cj_int_same(r->slots[o], other.slots[o]))
			continue;
		s = cj_role_symbol(r->c, cj_printf(r->c->el->arena,
		    "select %u %s %s", (unsigned)cond->number,
		    cj_role_key(r, r->slots[o]),
		    cj_role_key(r, other.slots[o])),
		    "a variable", INT64_MIN, INT64_MAX);
		a = cj_role_atom_of(r->c, s);
		a->of[0] = r->slots[o];
		a->of[1] = other.slots[o];
		a->count = 2;
		a->cond = cond;
		r->slots[o] = s;
	}
}

static bool
has_exit(const struct cj_module *m, cj_ref owner)
{
	struct cj_walk w;
	cj_region g;

	for (g = cj_inst(m, owner)->region; g != 0; g = m->regions.at[g].next)
		for (w = cj_walk_begin(m, g); cj_walk_next(&w);)
			if (w.event == CJ_WALK_INST && (cj_inst(m, w.ref)->op
			    == CJ_OP_BREAK || cj_inst(m, w.ref)->op ==
			    CJ_OP_CONTINUE))
				return true;
	return false;
}

static void read_from(struct cj_role_reader *r, cj_ref at, struct frame *f,
    struct cj_deeds *to);

static void
read_region(struct cj_role_reader *r, cj_region g, struct frame *f,
    struct cj_deeds *to)
{
	read_from(r, g == 0 ? 0 : r->m->regions.at[g].first, f, to);
}

/* A region without exits, by itself. */
static void
read_alone(struct cj_role_reader *r, cj_region g, struct cj_deeds *to)
{
	read_region(r, g, NULL, to);
}

/* What a region that has been read yields. */
static struct cj_role_value
yielded(const struct cj_role_reader *r, cj_region g)
{
	cj_ref last = r->m->regions.at[g].last;

	if (last == 0 || cj_inst(r->m, last)->op != CJ_OP_YIELD ||
	    cj_inst(r->m, last)->operand_count != 1)
		return (struct cj_role_value){ .is_known = false };
	return r->values[cj_operand(r->m, cj_inst(r->m, last), 0)];
}

/* One of two values: equal to the same choice between equal ones. */
static struct cj_role_value
chosen(struct cj_role_reader *r, const struct cj_cond *cond,
    struct cj_role_value x, struct cj_role_value y)
{
	struct cj_symtab *t = &r->c->sym;
	struct cj_role_atom *a;
	struct cj_range u, v;
	struct cj_int s, p, q;

	if (!x.is_known || !y.is_known)
		return (struct cj_role_value){ .is_known = false };
	p = cj_role_int(r, x);
	q = cj_role_int(r, y);
	if (cj_int_same(p, q))
		return x;
	u = cj_int_range(t, p);
	v = cj_int_range(t, q);
	s = cj_role_symbol(r->c, cj_printf(r->c->el->arena,
	    "select %u %s %s", (unsigned)cond->number, cj_role_key(r, p),
	    cj_role_key(r, q)), "a choice", u.lo < v.lo ? u.lo : v.lo,
	    u.hi > v.hi ? u.hi : v.hi);
	a = cj_role_atom_of(r->c, s);
	a->of[0] = p;
	a->of[1] = q;
	a->count = 2;
	a->cond = cond;
	return cj_role_of_int(s);
}

static void
branch(struct cj_role_reader *r, const struct cj_inst *i, cj_ref at,
    struct cj_deeds *to)
{
	struct cj_deed d = { .kind = CJ_DEED_IF, .at = at,
	    .cond = cj_role_cond(r, cj_role_operand(r, i, 0)) };
	struct state before = save(r), after;

	read_alone(r, i->region, &d.then);
	after = save(r);
	restore(r, before);
	read_alone(r, r->m->regions.at[i->region].next, &d.other);
	before = save(r);
	restore(r, after);
	merge(r, d.cond, before);
	r->values[at] = (struct cj_role_value){ .is_known = false };
	if (i->type != 0)
		r->values[at] = chosen(r, d.cond, yielded(r, i->region),
		    yielded(r, r->m->regions.at[i->region].next));
	if (d.then.len > 0 || d.other.len > 0)
		add(r, to, d);
}

/* Ways that part for good: each takes what stands behind along. */
static void
part(struct cj_role_reader *r, const struct cj_inst *i, cj_ref at,
    struct frame *f, struct cj_deeds *to)
{
	struct frame behind = { at, i->next, f };
	struct cj_deed d = { .kind = CJ_DEED_IF, .at = at,
	    .cond = cj_role_cond(r, cj_role_operand(r, i, 0)) };
	struct state before = save(r);

	read_region(r, i->region, &behind, &d.then);
	restore(r, before);
	read_region(r, r->m->regions.at[i->region].next, &behind, &d.other);
	add(r, to, d);
}

/* ---- loops --------------------------------------------------------------- */

/* Objects that a loop assigns. */
static bool *
assigned(struct cj_role_reader *r, cj_region g)
{
	bool *is = CJ_NEWS(r->c->el->arena, bool, r->m->objects.len);
	struct cj_walk w;

	for (w = cj_walk_begin(r->m, g); cj_walk_next(&w);)
		if (w.event == CJ_WALK_INST && cj_inst(r->m, w.ref)->op ==
		    CJ_OP_SLOT_SET)
			is[r->m->accesses.at[cj_inst(r->m, w.ref)->attr]
			    .object] = true;
	return is;
}

static struct cj_role_var *
carried(struct cj_role_reader *r, const char *key)
{
	struct cj_compare *c = r->c;
	uint32_t i;

	for (i = 0; i < c->carried.len; i++)
		if (strcmp(c->carried.at[i].key, key) == 0)
			return &c->carried.at[i];
	*cj_push(c->el->arena, &c->carried) = (struct cj_role_var){
	    .key = key };
	return &c->carried.at[c->carried.len - 1];
}

static const char *
carried_key(struct cj_role_reader *r, uint32_t o, const char *loop)
{
	const char *name = r->m->objects.at[o].name;

	return cj_printf(r->c->el->arena, "carried %s %s %s", loop,
	    name != NULL ? name : "", cj_role_key(r, r->slots[o]));
}

/* Each turn begins with what the last one ended with. */
static void
begin_turn(struct cj_role_reader *r, const bool *is, const char *loop,
    struct cj_int index, const char **keys)
{
	struct cj_role_atom *a;
	struct cj_role_var *v;
	uint32_t o;

	for (o = 1; o < r->m->objects.len; o++) {
		if (!is[o] || !r->has_slot[o])
			continue;
		keys[o] = carried_key(r, o, loop);
		v = carried(r, keys[o]);
		v->loop = loop;
		v->first = r->slots[o];
		r->slots[o] = v->is_bad ?
		    cj_role_unlike(r, "a variable") : cj_role_symbol(r->c,
		    keys[o], r->m->objects.at[o].name != NULL ?
		    r->m->objects.at[o].name : "a variable", INT64_MIN,
		    INT64_MAX);
		v->now = r->slots[o];
		a = cj_role_atom_of(r->c, r->slots[o]);
		a->of[0] = index;
		a->count = 1;
	}
}

static void
end_turn(struct cj_role_reader *r, const char **keys)
{
	struct cj_role_var *k;
	uint32_t o;

	for (o = 1; o < r->m->objects.len; o++) {
		if (keys[o] == NULL)
			continue;
		k = carried(r, keys[o]);
		if (!r->some_end || !r->has_end[o])
			k->is_bad = true;
		else if (!k->is_known)
			k->next = r->end[o];
		else if (!cj_int_same(k->next, r->end[o]))
			k->is_bad = true;
		k->is_known = true;
	}
}

/* A way has come to the loop's end. */
static void
reach_end(struct cj_role_reader *r)
{
	uint32_t o;

	for (o = 1; o < r->m->objects.len; o++) {
		if (!r->some_end) {
			r->end[o] = r->slots[o];
			r->has_end[o] = r->has_slot[o];
		} else if (!r->has_slot[o] ||
		    !cj_int_same(r->end[o], r->slots[o])) {
			r->has_end[o] = false;
		}
	}
	r->some_end = true;
}

static void
read_turn(struct cj_role_reader *r, const struct cj_inst *i, cj_ref at,
    const char *loop, struct cj_int index, struct cj_deeds *to)
{
	uint32_t n = r->m->objects.len, o;
	struct cj_role_reader outer = *r;
	bool *is = assigned(r, i->region);
	const char **keys = CJ_NEWS(r->c->el->arena, const char *, n);
	struct state before = save(r);
	struct frame f = { at, 0, NULL };

	r->end = CJ_NEWS(r->c->el->arena, struct cj_int, n);
	r->has_end = CJ_NEWS(r->c->el->arena, bool, n);
	r->some_end = false;
	r->depth++;
	begin_turn(r, is, loop, index, keys);
	read_region(r, i->region, &f, to);
	end_turn(r, keys);
	r->depth--;
	r->end = outer.end;
	r->has_end = outer.has_end;
	r->some_end = outer.some_end;
	restore(r, before);
	for (o = 1; o < n; o++)
		if (is[o])
			r->has_slot[o] = false;
}

static void
loop(struct cj_role_reader *r, const struct cj_inst *i, cj_ref at,
    struct cj_deeds *to)
{
	struct cj_deed d = { .kind = i->op == CJ_OP_FOR ? CJ_DEED_FOR :
	    CJ_DEED_WHILE, .at = at };
	const char *key = cj_printf(r->c->el->arena, "while %u", r->depth);
	struct cj_range a, b;

	if (i->op == CJ_OP_FOR) {
		d.lo = cj_role_int(r, cj_role_operand(r, i, 0));
		d.hi = cj_role_int(r, cj_role_operand(r, i, 1));
		d.step = cj_role_int(r, cj_role_operand(r, i, 2));
		key = cj_printf(r->c->el->arena, "for %u %s %s %s", r->depth,
		    cj_role_key(r, d.lo), cj_role_key(r, d.hi),
		    cj_role_key(r, d.step));
		a = cj_int_range(&r->c->sym, d.lo);
		b = cj_int_range(&r->c->sym, d.hi);
		d.index = cj_role_symbol(r->c, key, "the index", a.lo,
		    b.hi > a.lo && b.hi < INT64_MAX ? b.hi - 1 : b.hi >
		    a.lo ? INT64_MAX : a.lo);
		r->values[r->m->regions.at[i->region].first] =
		    cj_role_of_int(d.index);
	}
	d.loop = key;
	read_turn(r, i, at, key, d.index, &d.then);
	if (d.then.len > 0)
		add(r, to, d);
}

/* ---- all instructions ---------------------------------------------------- */

static void
set(struct cj_role_reader *r, const struct cj_inst *i)
{
	uint32_t o = r->m->accesses.at[i->attr].object;
	struct cj_role_value v = cj_role_operand(r, i, 0);

	r->has_slot[o] = r->m->objects.at[o].extent == 1 && v.is_known;
	if (r->has_slot[o])
		r->slots[o] = cj_role_int(r, v);
}

static void
use_stage(struct cj_role_reader *r, const struct cj_inst *i, cj_ref at,
    struct cj_deeds *to)
{
	const struct cj_stage_use *u = &r->m->stage_uses.at[i->attr];
	struct cj_deed d = { .kind = CJ_DEED_OP, .at = at,
	    .pipeline = u->pipeline };

	if (i->op == CJ_OP_SKIP) {
		d.kind = CJ_DEED_SKIP;
		d.n = cj_role_int(r, cj_role_operand(r, i, 0));
	}
	if (!u->keep && !cj_role_is_drawn(r, u->pipeline))
		add(r, to, d);
}

/* Leave outward, to `target`; what is behind it goes on. */
static void
leave(struct cj_role_reader *r, const struct cj_inst *i, cj_ref at,
    struct frame *f, struct cj_deeds *to)
{
	while (f != NULL && f->owner != i->attr)
		f = f->outer;
	if (f != NULL && cj_inst(r->m, f->owner)->op == CJ_OP_SCOPE) {
		read_from(r, f->next, f->outer, to);
	} else if (i->op == CJ_OP_CONTINUE && f != NULL) {
		reach_end(r);
	} else {		/* of a loop, or out of several */
		add(r, to, (struct cj_deed){ .kind = CJ_DEED_EXIT,
		    .at = at });
	}
}

/* One instruction; true: the way has gone on elsewhere. */
static bool
step(struct cj_role_reader *r, cj_ref at, struct frame *f, struct cj_deeds *to)
{
	const struct cj_inst *i = cj_inst(r->m, at);
	struct frame behind = { at, i->next, f };
	cj_ref index;

	switch ((unsigned)i->op) {
	case CJ_OP_PRODUCE: case CJ_OP_CONSUME:
		use_stage(r, i, at, to);
		index = r->m->regions.at[i->region].first;
		r->values[index] = (struct cj_role_value){ .is_known = false };
		read_region(r, i->region, &behind, to);
		return true;
	case CJ_OP_SKIP: use_stage(r, i, at, to); return false;
	case CJ_OP_TURN:
		add(r, to, (struct cj_deed){ .kind = CJ_DEED_OP, .at = at,
		    .order = i->attr });
		read_region(r, i->region, &behind, to);
		return true;
	case CJ_OP_SCOPE:
		read_region(r, i->region, &behind, to);
		return true;
	case CJ_OP_IF:
		if (has_exit(r->m, at)) {
			part(r, i, at, f, to);
			return true;
		}
		branch(r, i, at, to);
		return false;
	case CJ_OP_FOR: case CJ_OP_LOOP: loop(r, i, at, to); return false;
	case CJ_OP_BREAK: case CJ_OP_CONTINUE:
		leave(r, i, at, f, to);
		return true;
	case CJ_OP_SLOT_SET: set(r, i); return false;
	case CJ_OP_ROLE: return false;
	}
	r->values[at] = cj_role_evaluate(r, i);
	return false;
}

static void
read_from(struct cj_role_reader *r, cj_ref at, struct frame *f,
    struct cj_deeds *to)
{
	cj_ref next;

	for (;;) {
		for (; at != 0; at = next) {
			next = cj_inst(r->m, at)->next;
			if (++r->steps > MOST_STEPS)
				return;
			if (step(r, at, f, to))
				return;
		}
		if (f == NULL)
			return;
		if (f->next == 0 && f->outer == NULL && (cj_inst(r->m,
		    f->owner)->op == CJ_OP_FOR || cj_inst(r->m, f->owner)->op
		    == CJ_OP_LOOP)) {
			reach_end(r);
			return;
		}
		at = f->next;
		f = f->outer;
	}
}

/* ---- all roles ----------------------------------------------------------- */

static void
read_all(struct cj_compare *c)
{
	struct cj_elab *el = c->el;
	const struct cj_module *m = el->m;
	struct cj_role_reader r = { .c = c, .m = m };
	struct cj_role_text *text;
	cj_ref at;

	r.values = CJ_NEWS(el->arena, struct cj_role_value, m->insts.len);
	r.slots = CJ_NEWS(el->arena, struct cj_int, m->objects.len);
	r.has_slot = CJ_NEWS(el->arena, bool, m->objects.len);
	r.end = CJ_NEWS(el->arena, struct cj_int, m->objects.len);
	r.has_end = CJ_NEWS(el->arena, bool, m->objects.len);
	*cj_push(el->arena, &c->roles) = (struct cj_role_text){ 0 };
	for (at = m->regions.at[m->functions.at[el->em->function].body].first;
	    at != 0; at = cj_inst(m, at)->next) {
		const struct cj_inst *i = cj_inst(m, at);
		struct state before = save(&r);
		struct cj_deeds deeds = { 0 };

		r.role = i->op == CJ_OP_ROLE ? i->attr : 0;
		r.draws.len = 0;
		if (i->op != CJ_OP_ROLE) {
			step(&r, at, NULL, &c->roles.at[0].deeds);
			continue;
		}
		read_region(&r, i->region, NULL, &deeds);
		restore(&r, before);
		text = cj_push(el->arena, &c->roles);
		text->number = i->attr;
		text->deeds = deeds;
	}
}

static uint32_t
count_bad(const struct cj_compare *c)
{
	uint32_t i, n = 0;

	for (i = 0; i < c->carried.len; i++)
		n += c->carried.at[i].is_bad;
	return n;
}

/* Until nothing that was assumed of variables is found wrong. */
void
cj_roles_read(struct cj_compare *c)
{
	uint32_t bad, i;

	do {
		bad = count_bad(c);
		c->roles.len = 0;
		for (i = 0; i < c->carried.len; i++)
			c->carried.at[i].is_known = false;
		read_all(c);
	} while (count_bad(c) > bad);
}
