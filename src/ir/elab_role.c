/*
 * Roles: warps of a block with a text of their own.
 *
 * Roles stand in the launch block itself. Those that stand side by side run at
 * the same time; what stands behind them begins with a barrier of all threads.
 * `role name[n]` is elaborated n times, once for each number.
 *
 * What `name.` knows are the warps and threads counted from the role's first
 * one. A number of threads of the block is known, so that warps are too.
 */
#include "elab_tiled.h"

enum { WARP = 32, GROUP = 4, LEAST_REGISTERS = 24, MOST_REGISTERS = 256 };

static struct cj_role *
record_of(const struct cj_elab *el, const struct cj_elab_role *r)
{
	return &el->m->roles.at[r->number];
}

int64_t
cj_elab_threads_here(const struct cj_elab *el)
{
	return el->role != NULL ? WARP * record_of(el, el->role)->warps :
	    el->block[0] * el->block[1] * el->block[2];
}

bool
cj_elab_needs_block(struct cj_elab *el, struct cj_span span,
    const char *what)
{
	struct cj_diag *d;

	if (el->role == NULL)
		return true;
	d = cj_elab_report(el, CJ_DIAG_BAD_ROLE, span, "%s is for all threads "
	    "of the block, and \"%s\" is some of them", what,
	    cj_elab_name(el, el->role->name));
	cj_note(d, el->role->span, "the role");
	cj_help(d, "Do it in front of the roles or behind them.");
	return false;
}

/* ---- which warps --------------------------------------------------------- */

/* `name(a..b)` or `name(a)`, times `unit`; false: reported. */
static bool
range_of(struct cj_elab *el, const struct cj_node *a, int64_t unit,
    int64_t *first, int64_t *last)
{
	struct cj_value v = cj_elab_expr(el, a->attr.items.at[0]);

	if (v.kind == CJ_VALUE_RANGE && cj_is_known(v.range->first) &&
	    cj_is_known(v.range->last)) {
		*first = v.range->first.value;
		*last = v.range->last.value;
	} else if (cj_value_to_known(el, a->span, &v,
	    "which warps a role has", first)) {
		*last = *first + (*first < INT64_MAX);
	} else {
		return false;
	}
	if (*first < 0 || *last <= *first || *last > CJ_MAX_BLOCK_THREADS) {
		cj_elab_error(el, CJ_DIAG_BAD_ROLE, a->span,
		    "a role has at least one warp, not %lld..%lld",
		    (long long)*first, (long long)*last);
		return false;
	}
	*first *= unit;
	*last *= unit;
	return true;
}

static const struct cj_node *
attr_of(struct cj_elab *el, const struct cj_node *n, const char *name)
{
	return cj_attr_find(&n->role.attrs, cj_elab_intern(el, name));
}

static bool
warps_of(struct cj_elab *el, const struct cj_node *n, int64_t *first,
    int64_t *last)
{
	const struct cj_node *warps = attr_of(el, n, "warps");
	const struct cj_node *groups = attr_of(el, n, "warpgroups");
	int64_t threads = el->block[0] * el->block[1] * el->block[2];

	if ((warps == NULL) == (groups == NULL)) {
		cj_help(cj_elab_report(el, CJ_DIAG_BAD_ROLE, n->role.name.span,
		    "a role says which warps it has, once"),
		    "role load warps(0) { }, or warpgroups(1..3): four warps "
		    "each.");
		return false;
	}
	if (!range_of(el, warps != NULL ? warps : groups, warps != NULL ? 1 :
	    GROUP, first, last))
		return false;
	if (threads != 0 && el->block[0] == threads && *last * WARP <= threads)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_BAD_ROLE, n->role.name.span,
	    threads == 0 ? "roles need a block of known threads" :
	    el->block[0] != threads ? "roles are for blocks of one dimension" :
	    "\"%s\" has the warps %lld..%lld, the block %lld threads",
	    cj_elab_name(el, n->role.name.name), (long long)*first,
	    (long long)*last, (long long)threads),
	    "Launch it with block(%lld) or more: 32 threads for each warp of "
	    "the roles.", (long long)*last * WARP);
	return false;
}

static bool
count_of(struct cj_elab *el, const struct cj_node *n, int64_t warps,
    int64_t *count)
{
	struct cj_value v;

	*count = 1;
	if (n->role.count == NULL)
		return true;
	v = cj_elab_expr(el, n->role.count);
	if (!cj_value_to_known(el, n->role.count->span, &v,
	    "the number of roles", count))
		return false;
	if (*count >= 1 && warps % *count == 0)
		return true;
	cj_elab_error(el, CJ_DIAG_BAD_ROLE, n->role.count->span,
	    "%lld warps are not the same number for each of %lld roles",
	    (long long)warps, (long long)*count);
	return false;
}

static bool
registers_of(struct cj_elab *el, const struct cj_node *n, uint32_t *out)
{
	const struct cj_node *a = attr_of(el, n, "registers");
	struct cj_value v;
	int64_t registers;

	*out = 0;
	if (a == NULL)
		return true;
	v = cj_elab_expr(el, a->attr.items.at[0]);
	if (!cj_value_to_known(el, a->span, &v, "a number of registers",
	    &registers))
		return false;
	*out = (uint32_t)registers;
	if (el->target != NULL && strcmp(el->target->name, "sm_90a") != 0 &&
	    el->target->number < 100) {
		cj_elab_error(el, CJ_DIAG_BAD_ROLE, a->span, "registers move "
		    "between warps from sm_90a on, not on %s",
		    el->target->name);
		return false;
	}
	if (registers >= LEAST_REGISTERS && registers <= MOST_REGISTERS &&
	    registers % 8 == 0)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_BAD_ROLE, a->span, "a thread has %d "
	    "to %d registers, a multiple of 8, not %lld", LEAST_REGISTERS,
	    MOST_REGISTERS, (long long)registers), "Say registers(%lld).",
	    (long long)(registers < LEAST_REGISTERS ? LEAST_REGISTERS :
	    registers > MOST_REGISTERS ? MOST_REGISTERS : registers -
	    registers % 8));
	return false;
}

/* No warp belongs to two roles. */
static bool
is_apart(struct cj_elab *el, const struct cj_node *n, int64_t first,
    int64_t last)
{
	uint32_t i;

	for (i = 0; i < el->em->roles.len && el->em->is_behind_roles; i++) {
		const struct cj_elab_role *o = el->em->roles.at[i];
		const struct cj_role *r = record_of(el, o);

		if (r->first >= last || r->first + r->warps <= first)
			continue;
		cj_note(cj_elab_report(el, CJ_DIAG_BAD_ROLE,
		    n->role.name.span, "warp %lld belongs to \"%s\" and to "
		    "\"%s\"", (long long)(first > r->first ? first :
		    r->first), cj_elab_name(el, o->name), cj_elab_name(el,
		    n->role.name.name)), o->span, "the other role");
		return false;
	}
	return true;
}

/* ---- one role ------------------------------------------------------------ */

static struct cj_int
number_of(struct cj_elab *el, struct cj_int in_block, int64_t first,
    int64_t count, const char *name)
{
	const cj_type t = cj_type_of(CJ_KIND_INDEX, 1);
	struct cj_int s;
	cj_ref ref;

	if (count == 1)
		return cj_known(0);
	if (first == 0 && cj_int_range(&el->sym, in_block).hi < count)
		return in_block;
	ref = cj_elab_ref_int(el, in_block);
	if (first != 0)
		ref = cj_emit2(&el->em->b, CJ_OP_ADD, t, ref,
		    cj_emit_index(&el->em->b, -first));
	s = cj_elab_symbol(el, ref, name, 0, count - 1, 1);
	cj_elab_symbol_below(el, s, cj_known(count));
	return s;
}

/* What stands behind "name.". */
static struct cj_value
members_of(struct cj_elab *el, const struct cj_elab_role *r)
{
	const struct cj_role *record = record_of(el, r);
	int64_t first = record->first, warps = record->warps;
	const char *name = cj_elab_name(el, r->name);
	struct cj_int thread = number_of(el, cj_elab_special(el,
	    CJ_SPECIAL_THREAD_X), first * WARP, warps * WARP, cj_printf(
	    el->m->arena, "%s.thread", name));
	struct cj_value at[5] = { cj_value_int(thread) };
	cj_name names[5] = { cj_elab_intern(el, "thread"),
	    cj_elab_intern(el, "warp"), cj_elab_intern(el, "warpgroup"),
	    cj_elab_intern(el, "threads"), cj_elab_intern(el, "index") };

	at[1] = cj_value_int(number_of(el, cj_elab_special(el,
	    CJ_SPECIAL_WARP), first, warps, cj_printf(el->m->arena,
	    "%s.warp", name)));
	at[2] = cj_value_int(warps <= GROUP ? cj_known(0) :
	    cj_int_div(&el->sym, thread, cj_known(GROUP * WARP)));
	at[3] = cj_value_known(warps * WARP);
	at[4] = cj_value_known(r->index);
	return cj_value_tuple(el, at, names, 5);
}

static void
run_role(struct cj_elab *el, const struct cj_node *n,
    const struct cj_role *record, int64_t index)
{
	struct cj_elab_role *r = CJ_NEW(el->arena, struct cj_elab_role);
	const struct cj_node *at = attr_of(el, n, "registers");
	cj_ref owner;
	cj_region outer;

	r->number = cj_module_role(el->m, record);
	r->name = n->role.name.name;
	r->span = n->role.name.span;
	r->registers_at = at != NULL ? at->span : r->span;
	r->index = index;
	*cj_push(el->arena, &el->em->roles) = r;
	cj_elab_at(el, n->span);
	owner = cj_emit0(&el->em->b, CJ_OP_ROLE, 0, r->number);
	outer = cj_elab_enter(el, owner, NULL);
	el->role = r;
	cj_env_push(el);
	cj_env_bind(el, r->name, CJ_BOUND_LET, members_of(el, r), r->span);
	cj_elab_block(el, n->role.body);
	cj_env_pop(el);
	el->role = NULL;
	cj_elab_leave(el, outer);
}

static bool
stands_right(struct cj_elab *el, const struct cj_node *n)
{
	if (el->time == CJ_TIME_DEVICE && el->em->b.region ==
	    el->m->functions.at[el->em->function].body)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_BAD_ROLE, n->role.name.span,
	    "a role stands in a launch block itself, not in %s",
	    el->time != CJ_TIME_DEVICE ? "the host part" : el->role != NULL ?
	    "another role" : "a loop, a function that returns early or a "
	    "condition at run time"), el->time != CJ_TIME_DEVICE ?
	    "Let it stand in launch ... { }." : el->role != NULL ?
	    "Let the roles stand side by side, each with warps of its own." :
	    "Let the loop or the condition stand in the role.");
	return false;
}

void
cj_elab_role(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_role record = { .name = cj_elab_name(el,
	    n->role.name.name) };
	int64_t first, last, count, i, each;

	if (!stands_right(el, n) || !warps_of(el, n, &first, &last) ||
	    !count_of(el, n, last - first, &count) ||
	    !registers_of(el, n, &record.registers) ||
	    !is_apart(el, n, first, last))
		return;
	each = (last - first) / count;
	for (i = 0; i < count && !el->has_ended; i++) {
		record.first = (uint32_t)(first + i * each);
		record.warps = (uint32_t)each;
		if (n->role.count != NULL)
			record.name = cj_printf(el->m->arena, "%s[%lld]",
			    cj_elab_name(el, n->role.name.name),
			    (long long)i);
		run_role(el, n, &record, i);
	}
	el->em->is_behind_roles = true;
	el->m->functions.at[el->em->function].has_roles = true;
}

/* ---- behind roles -------------------------------------------------------- */

/* Does the statement do anything by itself? */
static bool
is_passive(const struct cj_node *n)
{
	uint32_t i;

	switch ((unsigned)n->kind) {
	case CJ_NODE_ROLE: case CJ_NODE_BLOCK: case CJ_NODE_CONST:
	case CJ_NODE_FN: case CJ_NODE_ORDER: case CJ_NODE_PIPELINE:
	case CJ_NODE_SHARED: case CJ_NODE_TMEM:
		return true;
	case CJ_NODE_IF:
		for (i = 0; i < n->if_stmt.arms.count; i++)
			if (!n->if_stmt.arms.at[i]->arm.is_const)
				return false;
		return true;
	}
	return false;
}

void
cj_elab_behind_roles(struct cj_elab *el, const struct cj_node *n)
{
	if (el->em == NULL || !el->em->is_behind_roles || el->role != NULL ||
	    is_passive(n))
		return;
	el->em->is_behind_roles = false;
	cj_emit0(&el->em->b, CJ_OP_BARRIER, 0, 0);
}

/* ---- registers ----------------------------------------------------------- */

/* What each thread has at the launch. */
static uint32_t
launched_with(const struct cj_elab *el)
{
	const struct cj_function *f = &el->m->functions.at[el->em->function];
	int64_t blocks = f->min_blocks > 0 ? f->min_blocks : 1;
	int64_t n = 65536 / (f->block[0] * f->block[1] * f->block[2] * blocks);

	return n > 256 ? 256 : (uint32_t)(n / 8 * 8);
}

/* The role of a warp; NULL: none. */
static const struct cj_elab_role *
role_of(const struct cj_elab *el, uint32_t warp)
{
	uint32_t i;

	for (i = 0; i < el->em->roles.len; i++) {
		const struct cj_role *r = record_of(el, el->em->roles.at[i]);

		if (warp >= r->first && warp < r->first + r->warps)
			return el->em->roles.at[i];
	}
	return NULL;
}

static uint32_t
registers_at(const struct cj_elab *el, uint32_t warp)
{
	const struct cj_elab_role *r = role_of(el, warp);

	return r != NULL ? record_of(el, r)->registers : 0;
}

/* Each role of a warpgroup, with what it asks for. */
static void
note_group(struct cj_elab *el, struct cj_diag *d, uint32_t group)
{
	const struct cj_elab_role *last = NULL, *r;
	uint32_t w;

	for (w = group * GROUP; w < (group + 1) * GROUP; w++) {
		r = role_of(el, w);
		if (r != NULL && r != last && registers_at(el, w) != 0)
			cj_note(d, r->span, "\"%s\" asks for %u, from warp %u "
			    "on", record_of(el, r)->name, (unsigned)
			    registers_at(el, w), (unsigned)w);
		else if (r != NULL && r != last)
			cj_note(d, r->span, "\"%s\" asks for none, from warp "
			    "%u on", record_of(el, r)->name, (unsigned)w);
		last = r;
	}
	cj_help(d, "Give roles of one warpgroup the same registers(n), or each "
	    "a warpgroup of its own: warpgroups(0), warpgroups(1..3).");
}

/* The warps of a warpgroup move their registers together. */
static bool
agree(struct cj_elab *el, uint32_t group, uint32_t warps)
{
	uint32_t n = registers_at(el, group * GROUP), w;
	const struct cj_elab_role *r;

	for (w = group * GROUP; w < (group + 1) * GROUP; w++)
		if (w >= warps || registers_at(el, w) != n)
			break;
	if (w == (group + 1) * GROUP || (n == 0 && w >= warps))
		return true;
	r = n != 0 ? role_of(el, group * GROUP) : role_of(el, w);
	note_group(el, cj_elab_report(el, CJ_DIAG_BAD_ROLE, r->registers_at,
	    "registers move in whole warpgroups, and the warps %u to %u do "
	    "not all have the same", (unsigned)(group * GROUP),
	    (unsigned)(group * GROUP + 3)), group);
	return false;
}

static void
check_sum(struct cj_elab *el, uint32_t groups)
{
	uint32_t launched = launched_with(el), sum = 0, g, n, i;
	struct cj_diag *d;

	for (g = 0; g < groups; g++) {
		n = registers_at(el, g * GROUP);
		sum += n != 0 ? n : launched;
	}
	if (sum <= groups * launched)
		return;
	d = cj_elab_report(el, CJ_DIAG_BAD_ROLE,
	    el->em->roles.at[0]->registers_at, "the roles' warpgroups have "
	    "%u registers together, the block has %u: %u warpgroups of %u",
	    (unsigned)sum, (unsigned)(groups * launched), (unsigned)groups,
	    (unsigned)launched);
	for (i = 0; i < el->em->roles.len; i++) {
		const struct cj_role *r = record_of(el, el->em->roles.at[i]);

		n = r->registers != 0 ? r->registers : launched;
		cj_note(d, el->em->roles.at[i]->span, "%u warps of \"%s\" "
		    "with %u", (unsigned)r->warps, r->name, (unsigned)n);
	}
	cj_help(d, "Give the roles that only load fewer, 24 or 40.");
}

static void
check_registers(struct cj_elab *el)
{
	struct cj_function *f = &el->m->functions.at[el->em->function];
	uint32_t warps = (uint32_t)(f->block[0] / WARP), g, i;

	for (i = 0; i < el->em->roles.len; i++)
		if (record_of(el, el->em->roles.at[i])->registers != 0)
			break;
	if (i == el->em->roles.len)
		return;
	for (g = 0; g < (warps + GROUP - 1) / GROUP; g++)
		if (!agree(el, g, warps))
			return;
	if (f->max_registers != 0) {
		cj_elab_error(el, CJ_DIAG_BAD_ROLE,
		    el->em->roles.at[i]->registers_at, "\"registers\" of "
		    "roles and max_registers() of the launch exclude each "
		    "other");
		return;
	}
	if (f->min_blocks == 0)
		f->min_blocks = 1;
	check_sum(el, warps / GROUP);
}

/* ---- numbers of barriers ------------------------------------------------- */

enum { BARRIERS = 16 };		/* 0 is that of the block */

/* Do all threads of the role meet somewhere in it? */
static bool
meets(const struct cj_elab *el, const struct cj_elab_role *r)
{
	const struct cj_module *m = el->m;
	const struct cj_pipe *p;
	cj_ref at = m->regions.at[m->functions.at[el->em->function].body]
	    .first;
	const struct cj_inst *i;
	struct cj_walk w;

	for (; at != 0; at = cj_inst(m, at)->next)
		if (cj_inst(m, at)->op == CJ_OP_ROLE &&
		    cj_inst(m, at)->attr == r->number)
			break;
	if (at == 0 || record_of(el, r)->warps == 1)
		return false;
	w = cj_walk_begin(m, cj_inst(m, at)->region);
	while ((i = cj_walk_inst(&w)) != NULL) {
		p = i->op == CJ_OP_CONSUME ? cj_elab_pipe_of(el, i) :
		    NULL;
		if (i->op == CJ_OP_BARRIER ||
		    (p != NULL && cj_pipe_is_local(p)))
			return true;
	}
	return false;
}

/* Numbers that the program names itself. */
static uint32_t
named_barriers(const struct cj_elab *el)
{
	const struct cj_module *m = el->m;
	struct cj_fact *facts = NULL;
	uint32_t named = 1, n;
	struct cj_walk w;

	for (w = cj_walk_begin(m, m->functions.at[el->em->function].body);
	    cj_walk_next(&w);) {
		const struct cj_fact *f;

		if (w.event != CJ_WALK_INST || (cj_inst(m, w.ref)->op !=
		    CJ_OP_NAMED_BARRIER && cj_inst(m, w.ref)->op !=
		    CJ_OP_NAMED_ARRIVE))
			continue;
		if (facts == NULL)
			facts = cj_facts_compute(el->arena, m,
			    el->em->function);
		f = &facts[cj_operand(m, cj_inst(m, w.ref), 0)];
		for (n = 1; n < BARRIERS; n++)
			if (n >= f->lo && n <= f->hi)
				named |= (uint32_t)1 << n;
	}
	return named;
}

static void
check_barriers(struct cj_elab *el)
{
	uint32_t named = named_barriers(el), taken = 0, need = 0, i;
	struct cj_diag *d;

	for (i = 0; i < BARRIERS; i++)
		taken += named >> i & 1;
	for (i = 0; i < el->em->roles.len; i++)
		need += meets(el, el->em->roles.at[i]);
	if (taken + need <= BARRIERS)
		return;
	d = cj_elab_report(el, CJ_DIAG_BAD_ROLE, el->em->roles.at[0]->span,
	    "the block has %d barriers; %u roles need one each, and %u are "
	    "taken by the block and named_barrier()", BARRIERS,
	    (unsigned)need, (unsigned)taken);
	for (i = 0; i < el->em->roles.len; i++)
		if (meets(el, el->em->roles.at[i]))
			cj_note(d, el->em->roles.at[i]->span, "\"%s\" needs "
			    "one", record_of(el, el->em->roles.at[i])->name);
	cj_help(d, "A role of one warp needs none, and warps that do the same "
	    "can be one role.");
}

/* ---- all of a launch ----------------------------------------------------- */

void
cj_elab_check_roles(struct cj_elab *el)
{
	if (el->errors != 0 || (el->em->roles.len == 0 &&
	    (el->em->pipes.len == 0 || el->cluster_blocks == 1)))
		return;
	check_registers(el);
	cj_elab_check_turns(el);
	check_barriers(el);
	cj_elab_compare_roles(el);
}
