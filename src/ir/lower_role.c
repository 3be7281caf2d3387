/*
 * Roles and turns: conditions on the warp, and mbarriers that go around.
 *
 * A role of whose work nothing is done by each thread (copies by TMA, stages
 * left out, scalar loads, control) is run by the first lane of its first warp;
 * the others go around it. Registers move first of all, by all warps.
 *
 * An order has an mbarrier for each turn, which counts the warps of the turn
 * before it. The turn 0 is there from the beginning: a new mbarrier counts its
 * phase of parity 1 as ended.
 */
#include "lower_priv.h"

/* ---- who they are -------------------------------------------------------- */

static bool
is_of_lane(const struct cj_lower *l, cj_ref r)
{
	const struct cj_inst *i = cj_inst(l->m, r);
	uint32_t role = l->s.role_of[r];
	const struct cj_channel *c;

	switch ((unsigned)i->op) {
	case CJ_OP_PRODUCE:
		c = &l->s.channels[cj_lower_use(l, r)->pipeline];
		return c->is_channel && (c->writes[role] == CJ_BY_TMA ||
		    c->writes[role] == CJ_BY_LANE);
	case CJ_OP_CONSUME:
		c = &l->s.channels[cj_lower_use(l, r)->pipeline];
		return c->is_channel && (c->reads[role] == CJ_BY_TMA ||
		    c->reads[role] == CJ_BY_THREAD);
	case CJ_OP_TMA_LOAD: case CJ_OP_TMA_STORE:
		return cj_site_of(&l->s, r, 0) != 0;
	case CJ_OP_ATOMIC: case CJ_OP_STORE:
		return cj_site_is_lane(&l->s, r);
	case CJ_OP_SKIP: case CJ_OP_SETTLE: case CJ_OP_RELEASE:
	case CJ_OP_DRAIN: case CJ_OP_SLOT_GET: case CJ_OP_SLOT_SET:
	case CJ_OP_LOAD: case CJ_OP_IF: case CJ_OP_FOR: case CJ_OP_LOOP:
	case CJ_OP_SCOPE: case CJ_OP_YIELD: case CJ_OP_BREAK:
	case CJ_OP_CONTINUE:
		return true;
	}
	return cj_op_info[i->op].effects == CJ_EFFECTS_PURE &&
	    cj_op_info[i->op].scope == CJ_SCOPE_THREAD;
}

static void
find_role(struct cj_lower *l, cj_ref op)
{
	uint32_t number = cj_inst(l->m, op)->attr;
	const struct cj_role *record = &l->m->roles.at[number];
	struct cj_lower_role *role = &l->roles[number];
	cj_ref r;

	role->op = op;
	role->region = cj_inst(l->m, op)->region;
	role->first = record->first;
	role->warps = record->warps;
	for (r = 1; r < l->s.count; r++)
		if (l->s.home[r] != 0 && l->s.role_of[r] == number &&
		    !is_of_lane(l, r))
			return;
	role->is_single = l->m->regions.at[role->region].first != 0;
}

/* Numbers of barriers that the program names. */
static void
take_barrier(struct cj_lower *l, const struct cj_fact *facts, cj_ref r)
{
	const struct cj_fact *f = &facts[cj_operand(l->m, cj_inst(l->m, r),
	    0)];
	int64_t n;

	for (n = 1; n < 16; n++)
		if (n >= f->lo && n <= f->hi)
			l->barriers_taken |= (uint32_t)1 << n;
}

void
cj_lower_find_roles(struct cj_lower *l)
{
	struct cj_module *m = l->m;
	const struct cj_function *f = &m->functions.at[l->s.function];
	struct cj_fact *facts = NULL;
	cj_ref r;

	l->roles = CJ_NEWS(m->arena, struct cj_lower_role, m->roles.len);
	l->roles[0].region = f->body;
	l->roles[0].warps = (uint32_t)((f->block[0] * f->block[1] *
	    f->block[2] + 31) / 32);
	for (r = 1; r < l->s.count; r++) {
		if (l->s.home[r] == 0)
			continue;
		if (cj_inst(m, r)->op == CJ_OP_ROLE)
			find_role(l, r);
		if (cj_inst(m, r)->op != CJ_OP_NAMED_BARRIER &&
		    cj_inst(m, r)->op != CJ_OP_NAMED_ARRIVE)
			continue;
		if (facts == NULL)
			facts = cj_facts_compute(m->arena, m, l->s.function);
		take_barrier(l, facts, r);
	}
}

/* ---- turns --------------------------------------------------------------- */

enum { GROUP = 4, MOST_TURNS = 16 };

struct order {
	uint32_t object;
	uint32_t warps[MOST_TURNS];	/* of who takes each turn */
};

/* A known number is the role's; any other one is of a warpgroup. */
static void
note_turn(struct cj_lower *l, struct order *orders, cj_ref r)
{
	const struct cj_inst *i = cj_inst(l->m, r);
	const struct cj_constant *c = cj_constant_of(l->m, cj_operand(l->m, i,
	    0));
	const struct cj_turns *t = &l->m->orders.at[i->attr];
	uint32_t n;

	for (n = 0; n < t->count && n < MOST_TURNS; n++)
		if (c == NULL)
			orders[i->attr].warps[n] = GROUP;
		else if (c->bits[0] == n)
			orders[i->attr].warps[n] =
			    l->roles[l->s.role_of[r]].warps;
}

static void
make_order(struct cj_lower *l, struct order *o, uint32_t number)
{
	const struct cj_turns *t = &l->m->orders.at[number];
	uint32_t n, before;

	o->object = cj_lower_mbarriers(l, t->place, t->name, t->count, 0);
	for (n = 0; n < t->count; n++) {
		before = o->warps[(n + t->count - 1) % t->count];
		cj_lower_init(l, o->object, n, before != 0 ? before : 1);
	}
}

/* The slot holds how often the turn was taken, as a parity. */
static void
lower_turn(struct cj_lower *l, const struct order *o, cj_ref r, uint32_t slot)
{
	const cj_type t = cj_type_of(CJ_KIND_INDEX, 1);
	struct cj_module *m = l->m;
	const struct cj_turns *turns = &m->orders.at[cj_inst(m, r)->attr];
	cj_ref number = cj_operand(m, cj_inst(m, r), 0), taken, other, next;
	cj_region g = cj_inst(m, r)->region;
	struct cj_builder b = cj_lower_at(l, g, cj_lower_first(m, g), r);

	taken = cj_lower_get(&b, slot);
	other = cj_emit2(&b, CJ_OP_SUB, t, cj_emit_index(&b, 1), taken);
	cj_lower_on(&b, CJ_OP_MBARRIER_WAIT, o->object, number,
	    cj_lower_choose(&b, cj_lower_compare(&b, CJ_OP_EQ, number,
	    cj_emit_index(&b, 0)), other, taken));
	b.before = 0;
	cj_lower_set(&b, slot, other);
	next = cj_lower_choose(&b, cj_lower_compare(&b, CJ_OP_EQ, number,
	    cj_emit_index(&b, turns->count - 1)), cj_emit_index(&b, 0),
	    cj_emit2(&b, CJ_OP_ADD, t, number, cj_emit_index(&b, 1)));
	cj_lower_if(&b, cj_lower_is_lane0(&b));
	cj_lower_on(&b, CJ_OP_MBARRIER_ARRIVE, o->object, next,
	    cj_emit_index(&b, 1));
	cj_inst(m, r)->op = CJ_OP_SCOPE;
	cj_inst(m, r)->operand_count = 0;
	cj_inst(m, r)->attr = 0;
}

void
cj_lower_orders(struct cj_lower *l)
{
	struct cj_module *m = l->m;
	struct order *orders = CJ_NEWS(m->arena, struct order, m->orders.len);
	uint32_t *slots = CJ_NEWS(m->arena, uint32_t, m->orders.len *
	    m->roles.len), *slot, number;
	cj_ref r;

	for (r = 1; r < l->s.count; r++)
		if (l->s.home[r] != 0 && cj_inst(m, r)->op == CJ_OP_TURN)
			note_turn(l, orders, r);
	for (r = 1; r < l->s.count; r++) {
		if (l->s.home[r] == 0 || cj_inst(m, r)->op != CJ_OP_TURN)
			continue;
		number = cj_inst(m, r)->attr;
		if (orders[number].object == 0)
			make_order(l, &orders[number], number);
		slot = &slots[number * m->roles.len + l->s.role_of[r]];
		if (*slot == 0)
			*slot = cj_lower_slot(l, l->roles[l->s.role_of[r]]
			    .region, cj_inst(m, r)->place, cj_printf(m->arena,
			    "%s.taken", m->orders.at[number].name), 1, 0);
		lower_turn(l, &orders[number], r, *slot);
	}
}

/* ---- roles --------------------------------------------------------------- */

/* Registers that each thread has at the launch. */
static uint32_t
launched_with(const struct cj_lower *l)
{
	const struct cj_function *f = &l->m->functions.at[l->s.function];
	int64_t blocks = f->min_blocks > 0 ? f->min_blocks : 1;
	int64_t n = 65536 / (f->block[0] * f->block[1] * f->block[2] * blocks);

	return n > 256 ? 256 : (uint32_t)(n / 8 * 8);
}

/* first <= warp && warp < first + warps, as far as it says anything */
static cj_ref
is_in_role(const struct cj_lower *l, struct cj_builder *b,
    const struct cj_lower_role *role)
{
	const cj_type t = cj_type_of(CJ_KIND_BOOL, 1);
	uint32_t behind = role->first + role->warps;
	cj_ref warp = cj_emit0(b, CJ_OP_SPECIAL, cj_type_of(CJ_KIND_INDEX,
	    1), CJ_SPECIAL_WARP), low = 0, high = 0;

	if (role->warps == 1)
		return cj_lower_compare(b, CJ_OP_EQ, warp, cj_emit_index(b,
		    role->first));
	if (role->first != 0)
		low = cj_lower_compare(b, CJ_OP_LE, cj_emit_index(b,
		    role->first), warp);
	if (behind != l->roles[0].warps)
		high = cj_lower_compare(b, CJ_OP_LT, warp, cj_emit_index(b,
		    behind));
	if (low != 0 && high != 0)
		return cj_emit2(b, CJ_OP_AND, t, low, high);
	return low != 0 ? low : high != 0 ? high : cj_emit_bool(b, true);
}

/* Roles stand side by side: what stands behind all of them? 0: nothing. */
static cj_ref
behind_roles(const struct cj_module *m, cj_ref role)
{
	cj_ref r = role;

	while ((r = cj_inst(m, r)->next) != 0)
		if (cj_inst(m, r)->op == CJ_OP_BARRIER)
			break;
	return r;
}

static void
move_registers(struct cj_lower *l, const struct cj_lower_role *role,
    uint32_t number, cj_ref behind)
{
	uint32_t n = l->m->roles.at[number].registers;
	uint32_t launched = launched_with(l);
	struct cj_builder b = cj_lower_at(l, role->region,
	    cj_lower_first(l->m, role->region), role->op);

	if (n == 0 || n == launched)
		return;
	cj_emit0(&b, n < launched ? CJ_OP_REGISTERS_DOWN :
	    CJ_OP_REGISTERS_UP, 0, n);
	if (behind == 0)
		return;
	if (n > launched) {
		b.before = 0;
		cj_emit0(&b, CJ_OP_REGISTERS_DOWN, 0, launched);
	} else {
		b = cj_lower_at(l, l->s.home[role->op],
		    cj_inst(l->m, behind)->next, behind);
		cj_lower_if(&b, is_in_role(l, &b, role));
		cj_emit0(&b, CJ_OP_REGISTERS_UP, 0, launched);
	}
}

/* What stands in it goes into a condition for one lane. */
static void
make_single(struct cj_lower *l, uint32_t number)
{
	const struct cj_lower_role *role = &l->roles[number];
	struct cj_builder b = cj_lower_at(l, role->region,
	    cj_lower_first(l->m, role->region), role->op);
	cj_ref owner = cj_lower_if(&b, cj_lower_is_leader(l, &b, number));

	cj_lower_move(l, role->region, cj_inst(l->m, owner)->next, b.region);
}

static void
lower_role(struct cj_lower *l, uint32_t number)
{
	struct cj_lower_role *role = &l->roles[number];
	struct cj_module *m = l->m;
	cj_ref behind = behind_roles(m, role->op), condition;
	struct cj_builder b = cj_lower_at(l, l->s.home[role->op], role->op,
	    role->op);
	struct cj_inst *i;

	if (role->is_single)
		make_single(l, number);
	move_registers(l, role, number, behind);
	condition = is_in_role(l, &b, role);
	i = cj_inst(m, role->op);
	*cj_push(m->arena, &m->pool) = condition;
	i->operands = m->pool.len - 1;
	i->operand_count = 1;
	i->op = CJ_OP_IF;
	i->attr = 0;
}

/* sync() in a role is for its threads. */
static void
narrow_barriers(struct cj_lower *l)
{
	struct cj_builder b;
	cj_ref r;

	for (r = 1; r < l->s.count; r++) {
		if (l->s.home[r] == 0 || l->s.role_of[r] == 0 ||
		    cj_inst(l->m, r)->op != CJ_OP_BARRIER)
			continue;
		b = cj_lower_at(l, l->s.home[r], r, r);
		cj_lower_barrier(l, &b, l->s.role_of[r]);
		cj_inst_remove(l->m, l->s.home[r], r);
	}
}

void
cj_lower_roles(struct cj_lower *l)
{
	uint32_t i;

	if (!l->s.has_roles)
		return;
	narrow_barriers(l);
	for (i = 1; i < l->m->roles.len; i++)
		if (l->roles[i].op != 0)
			lower_role(l, i);
}
