/*
 * Attributes as text: what an instruction has besides its name and type, with
 * its operands where they belong among the words of the attribute.
 */
#include "ir_print_priv.h"

static void
print_how(struct cj_printer *p, const struct cj_access *a)
{
	if (a->transposed)
		PUTS(p, " transposed");
	if (a->align != 0)
		NUMBER(p, " align ", a->align);
	if (a->cache != CJ_CACHE_DEFAULT)
		PRINTF(p, " cache %s", cj_word(CJ_WORDS_CACHE, a->cache));
	if (a->order != CJ_ORDER_WEAK)
		PRINTF(p, " order %s", cj_word(CJ_WORDS_ORDER, a->order));
	if (a->scope != CJ_MEMORY_BLOCK)
		PRINTF(p, " scope %s", cj_word(CJ_WORDS_SCOPE, a->scope));
	if (a->is_early)
		PUTS(p, " early");
	cj_printer_named_text(p, "why", a->why);
}

static void
print_access(struct cj_printer *p, const struct cj_inst *i)
{
	const struct cj_access *a = &p->m->accesses.at[i->attr];
	unsigned values = 1, n = i->operand_count;

	if (cj_op_is_atomic(i->op)) {
		PRINTF(p, " %s", cj_word(CJ_WORDS_ATOMIC, a->atomic));
		values = a->atomic == CJ_ATOMIC_CAS ? 2 : 1;
		values += i->op == CJ_OP_REMOTE_ATOMIC;
	}
	NUMBER(p, " @", a->object);
	if (i->op == CJ_OP_SLOT_GET || i->op == CJ_OP_SLOT_SET) {
		NUMBER(p, "[", a->position);
		PUTS(p, "]");
		values = n;
	} else if (i->op == CJ_OP_WORKSPACE) {
		PUTS(p, " ");
		cj_printer_operands(p, i, 0, n);
		print_how(p, a);
		return;
	} else {
		PUTS(p, "[");
		cj_printer_operand(p, i, 0);
		PUTS(p, "]");
		values = i->op == CJ_OP_LOAD || i->op == CJ_OP_PREFETCH ||
		    i->op == CJ_OP_LDMATRIX ? 1 :
		    i->op == CJ_OP_REMOTE_STORE ||
		    i->op == CJ_OP_MAP_REPLACE ||
		    i->op == CJ_OP_MBARRIER_ARRIVE ||
		    i->op == CJ_OP_MBARRIER_EXPECT ? 3 :
		    i->op == CJ_OP_FILL ? 4 : values + 1;
	}
	if (values > n)
		values = n;
	n = i->op == CJ_OP_SLOT_SET ? 0 : 1;
	if (n < values) {
		PUTS(p, ", ");
		cj_printer_operands(p, i, n, values);
	}
	if (i->operand_count > values) {
		PUTS(p, " mask ");
		cj_printer_operand(p, i, values);
	}
	if (i->operand_count > values + 1) {
		PUTS(p, " fill ");
		cj_printer_operand(p, i, values + 1);
	}
	print_how(p, a);
}

static void
print_copy(struct cj_printer *p, const struct cj_inst *i)
{
	const struct cj_copy *c = &p->m->copies.at[i->attr];
	const struct cj_access *to = &p->m->accesses.at[c->to];
	const struct cj_access *from = &p->m->accesses.at[c->from];

	PRINTF(p, " @%u[", to->object);
	cj_printer_operand(p, i, 0);
	PUTS(p, "]");
	print_how(p, to);
	PRINTF(p, " from @%u[", from->object);
	cj_printer_operand(p, i, 1);
	PUTS(p, "]");
	print_how(p, from);
	NUMBER(p, " count ", c->count);
	if (i->operand_count > 2) {
		PUTS(p, " mask ");
		cj_printer_operand(p, i, 2);
	}
	if (c->cache != CJ_COPY_ALL)
		PRINTF(p, " by %s", cj_word(CJ_WORDS_COPY, c->cache));
	if (c->prefetch != 0)
		NUMBER(p, " prefetch ", c->prefetch);
}

/* "@1 box (64, 128) swizzle 128" */
static void
print_map(struct cj_printer *p, const struct cj_map *map)
{
	uint32_t i;

	PRINTF(p, "@%u box (", map->object);
	for (i = 0; i < map->rank; i++)
		PRINTF(p, "%s%u", i == 0 ? "" : ", ", map->box[i]);
	NUMBER(p, ") swizzle ", map->swizzle == CJ_MAP_PLAIN ? 0 :
	    16u << map->swizzle);
	if (map->promote != CJ_MAP_PROMOTE)
		NUMBER(p, " promote ", map->promote);
	if (map->fills_nan)
		PUTS(p, " nans");
	if (map->compares)
		PUTS(p, " compares");
	if (map->kind == CJ_MAP_ROWS)
		PUTS(p, " rows");
	for (i = 0; map->kind == CJ_MAP_PIXELS && i < map->rank - 2; i++)
		PRINTF(p, " pixels %d to %d by %d", (int)map->lower[i],
		    (int)map->upper[i], (int)map->step[i + 1]);
	for (i = 1; map->kind == CJ_MAP_TILES && i < map->rank; i++)
		if (map->step[i] != 1)
			PRINTF(p, " mode %u by %d", (unsigned)i,
			    (int)map->step[i]);
}

static void
print_combining(struct cj_printer *p, bool reduces, enum cj_atomic how,
    enum cj_evict evict)
{
	if (reduces)
		PRINTF(p, " reduce %s", cj_word(CJ_WORDS_ATOMIC, how));
	if (evict != CJ_EVICT_NORMAL)
		PRINTF(p, " evict %s", cj_word(CJ_WORDS_EVICT, evict));
}

static void
print_tma(struct cj_printer *p, const struct cj_inst *i)
{
	const struct cj_tma_copy *c = &p->m->tmas.at[i->attr];
	unsigned next = 2, count;

	PRINTF(p, " @%u[", p->m->accesses.at[c->shared].object);
	cj_printer_operand(p, i, 0);
	PUTS(p, "] map ");
	cj_printer_operand(p, i, 1);
	if (c->signal != 0) {
		PRINTF(p, " signal @%u[", p->m->accesses.at[c->signal].object);
		cj_printer_operand(p, i, next++);
		PUTS(p, "]");
	}
	PUTS(p, " of ");
	print_map(p, &p->m->maps.at[c->map]);
	PUTS(p, " at ");
	count = cj_map_numbers(&p->m->maps.at[c->map]);
	cj_printer_operands(p, i, next, next + count);
	next += count;
	if (i->operand_count > next) {
		PUTS(p, " ranks ");
		cj_printer_operand(p, i, next);
	}
	if (c->share != 0)
		PRINTF(p, " share %u cut %u", c->share, c->cut);
	if (c->is_early)
		PUTS(p, " early");
	print_combining(p, c->reduces, c->how, c->evict);
}

static void
print_spot(struct cj_printer *p, const struct cj_inst *i, unsigned operand,
    uint32_t access)
{
	PRINTF(p, "@%u[", p->m->accesses.at[access].object);
	cj_printer_operand(p, i, operand);
	PUTS(p, "]");
}

static bool
is_bits(const struct cj_module *m, const struct cj_inst *i, unsigned operand)
{
	return cj_inst(m, cj_operand(m, i, operand))->type ==
	    cj_type_of(CJ_KIND_U32, 1);
}

/* " @1[%2] from @3[%4] count %5 signal @6[%7] rank %8 reduce add" */
static void
print_bulk(struct cj_printer *p, const struct cj_inst *i)
{
	const struct cj_bulk_copy *c = &p->m->bulks.at[i->attr];
	unsigned signal = 3, rank = i->op == CJ_OP_SEND ? 1 : 4;

	PUTS(p, " ");
	print_spot(p, i, 0, c->to);
	if (i->op == CJ_OP_BULK_COPY) {
		PUTS(p, " from ");
		print_spot(p, i, 1, c->from);
	}
	PUTS(p, i->op == CJ_OP_BULK_COPY ? " count " : " rank ");
	cj_printer_operand(p, i, i->op == CJ_OP_BULK_COPY ? 2 : 1);
	if (i->op == CJ_OP_SEND) {
		PUTS(p, " value ");
		cj_printer_operand(p, i, 2);
	}
	if (c->signal != 0) {
		PUTS(p, " signal ");
		print_spot(p, i, signal, c->signal);
	}
	if (i->operand_count > rank && i->op == CJ_OP_BULK_COPY) {
		PUTS(p, is_bits(p->m, i, rank) ? " ranks " : " rank ");
		cj_printer_operand(p, i, rank);
	}
	print_combining(p, c->reduces, c->how, c->evict);
}

static void
print_matrix(struct cj_printer *p, const struct cj_inst *i, unsigned operand,
    uint32_t access, const struct cj_operand_desc *d)
{
	PRINTF(p, " @%u[", p->m->accesses.at[access].object);
	cj_printer_operand(p, i, operand);
	PRINTF(p, "] leading %u stride %u swizzle %u%s", d->leading,
	    d->stride, d->swizzle == CJ_MAP_PLAIN ? 0 : 16u << d->swizzle,
	    d->by_column ? " by_column" : "");
}

static void
print_wgmma(struct cj_printer *p, const struct cj_inst *i)
{
	const struct cj_wgmma *w = &p->m->wgmmas.at[i->attr];
	const struct cj_access *sum = &p->m->accesses.at[w->sum];
	unsigned b = cj_wgmma_has_offset(p->m, w) ? 1 : 0;

	PUTS(p, " ");
	cj_printer_text(p, w->name);
	PRINTF(p, " @%u[%u]", sum->object, sum->position);
	PUTS(p, " a");
	if (b != 0)
		print_matrix(p, i, 0, w->a_at, &w->a_desc);
	else
		PRINTF(p, " @%u[%u]", p->m->accesses.at[w->a_at].object,
		    p->m->accesses.at[w->a_at].position);
	PUTS(p, " b");
	print_matrix(p, i, b, w->b_at, &w->b_desc);
	if (w->selectors != 0) {
		PUTS(p, " metadata ");
		cj_printer_operand(p, i, ++b);
		NUMBER(p, " selector ", w->selector);
	}
	if (i->operand_count > b + 1) {
		PUTS(p, " accumulate ");
		cj_printer_operand(p, i, b + 1);
	}
}

/* "@3 at %1[%2]": operands n and, if there is one, n + 1. */
static void
print_tmem(struct cj_printer *p, const struct cj_inst *i, unsigned n,
    uint32_t access, bool has_offset)
{
	PRINTF(p, " @%u at ", p->m->accesses.at[access].object);
	cj_printer_operand(p, i, n);
	if (!has_offset)
		return;
	PUTS(p, "[");
	cj_printer_operand(p, i, n + 1);
	PUTS(p, "]");
}

static void
print_tmem_use(struct cj_printer *p, const struct cj_inst *i)
{
	const struct cj_tmem_use *u = &p->m->tmem_uses.at[i->attr];
	const struct cj_access *other = &p->m->accesses.at[u->other];

	if (i->op == CJ_OP_TMEM_ALLOC) {
		PRINTF(p, " @%u at @%u[", p->m->accesses.at[u->tmem].object,
		    other->object);
		cj_printer_operand(p, i, 0);
		PUTS(p, "]");
		return;
	}
	print_tmem(p, i, 0, u->tmem, i->op != CJ_OP_TMEM_DEALLOC);
	if (i->op == CJ_OP_TMEM_LOAD) {
		PRINTF(p, " to @%u[%u]", other->object, other->position);
	} else if (i->op == CJ_OP_TMEM_STORE) {
		PUTS(p, " from ");
		cj_printer_operand(p, i, 2);
	} else if (i->op == CJ_OP_TMEM_COPY) {
		PUTS(p, " from");
		print_matrix(p, i, 2, u->other, &u->desc);
	}
	if (u->lanes != 0)
		PRINTF(p, " lanes %u bits %u", u->lanes, u->bits);
	if (u->repeat != 0)
		PRINTF(p, " repeat %u%s", u->repeat, u->packs ? " packs" : "");
	if (i->op == CJ_OP_TMEM_COPY)
		PRINTF(p, " spread %s", cj_word(CJ_WORDS_SPREAD, u->spread));
}

static void
print_tcgen05(struct cj_printer *p, const struct cj_inst *i)
{
	const struct cj_tcgen05 *t = &p->m->tcgen05s.at[i->attr];
	bool in_tmem = cj_tcgen05_is_left_in_tmem(p->m, t);
	unsigned b = in_tmem ? 4 : 3;

	PRINTF(p, " %u %u %u %s %s %s", t->m, t->n, t->k, cj_kind_text(t->d),
	    cj_kind_text(t->a), cj_kind_text(t->b));
	print_tmem(p, i, 0, t->d_at, true);
	PUTS(p, " a");
	if (in_tmem)
		print_tmem(p, i, 2, t->a_at, true);
	else
		print_matrix(p, i, 2, t->a_at, &t->a_desc);
	PUTS(p, " b");
	print_matrix(p, i, b, t->b_at, &t->b_desc);
	if (i->operand_count > b + 1) {
		PUTS(p, " accumulate ");
		cj_printer_operand(p, i, b + 1);
	}
}

static void
print_stage_use(struct cj_printer *p, const struct cj_inst *i)
{
	const struct cj_stage_use *u = &p->m->stage_uses.at[i->attr];

	NUMBER(p, " pipeline ", u->pipeline);
	if (u->count != 0)
		PRINTF(p, " %s %u", i->op == CJ_OP_PRODUCE ||
		    i->op == CJ_OP_SETTLE ? "ahead" : "in_flight", u->count);
	if (u->keep)
		PUTS(p, " keep");
	if (u->by_lane)
		PUTS(p, " lane");
	if (i->operand_count > 0) {
		PUTS(p, i->op == CJ_OP_SKIP ? " by " : " when ");
		cj_printer_operand(p, i, 0);
	}
}

static void
print_role(struct cj_printer *p, const struct cj_role *r)
{
	PUTS(p, " ");
	cj_printer_text(p, r->name != NULL ? r->name : "");
	PRINTF(p, " warps %u to %u", r->first, r->first + r->warps);
	if (r->registers != 0)
		NUMBER(p, " registers ", r->registers);
}

static void
print_device(struct cj_printer *p, struct cj_device_ask ask)
{
	PRINTF(p, " %s", cj_word(CJ_WORDS_DEVICE, ask.fact));
	if (ask.fact == CJ_DEVICE_CLUSTERS)
		PRINTF(p, " %u per_sm %u", ask.blocks, ask.per_sm);
}

static void
print_int(struct cj_printer *p, const struct cj_inst *i)
{
	switch ((unsigned)i->op) {
	case CJ_OP_SPECIAL:
		PRINTF(p, " %s", cj_word(CJ_WORDS_SPECIAL, i->attr));
		return;
	case CJ_OP_DEVICE:
		print_device(p, cj_device_ask(i->attr));
		return;
	case CJ_OP_BULK_WAIT: case CJ_OP_BULK_WAIT_READ:
	case CJ_OP_WGMMA_WAIT: case CJ_OP_PARAM:
	case CJ_OP_REGISTERS_DOWN: case CJ_OP_REGISTERS_UP:
		NUMBER(p, " ", i->attr);
		return;
	case CJ_OP_TMEM_WAIT:
		PRINTF(p, " %s", cj_word(CJ_WORDS_TMEM_WAIT, i->attr));
		return;
	case CJ_OP_FENCE:
		PRINTF(p, " %s", cj_word(CJ_WORDS_FENCE, i->attr));
		return;
	case CJ_OP_CP_WAIT:
		if (i->attr == CJ_WAIT_ALL)
			PUTS(p, " all");
		else
			NUMBER(p, " ", i->attr);
		return;
	case CJ_OP_REDUX:
		PRINTF(p, " %s ", cj_word(CJ_WORDS_ATOMIC, i->attr));
		cj_printer_operands(p, i, 0, i->operand_count);
		return;
	case CJ_OP_SHFL:
		PRINTF(p, " %s ", cj_word(CJ_WORDS_SHFL, i->attr));
		cj_printer_operands(p, i, 0, i->operand_count);
		return;
	default:
		PUTS(p, " ");
		cj_printer_operands(p, i, 0, i->operand_count);
		NUMBER(p, " at ", i->attr);
		return;
	}
}

static void
print_positions(struct cj_printer *p, const struct cj_positions *at)
{
	uint32_t n;

	PUTS(p, " [");
	for (n = 0; n < at->count; n++)
		PRINTF(p, n == 0 ? "%u" : ", %u", at->at[n]);
	PUTS(p, "]");
}

static void
print_conversion(struct cj_printer *p, uint32_t attr)
{
	const struct cj_conversion *c = &p->m->conversions.at[attr];

	if (c->is_default)
		return;
	PRINTF(p, " round %s", cj_word(CJ_WORDS_ROUNDING, c->rounding));
	if (c->saturate)
		PUTS(p, " saturate");
}

static void
print_launch(struct cj_printer *p, const struct cj_inst *i)
{
	const struct cj_launch *l = &p->m->launches.at[i->attr];

	PRINTF(p, " $%u grid(", l->function);
	cj_printer_operands(p, i, 0, 3);
	PUTS(p, ") block(");
	cj_printer_operands(p, i, 3, 6);
	PUTS(p, ") cluster(");
	cj_printer_operands(p, i, 6, 9);
	PUTS(p, ") with(");
	cj_printer_operands(p, i, 9, i->operand_count);
	PUTS(p, ")");
	if (l->cooperative)
		PUTS(p, " cooperative");
	if (l->dependent)
		PUTS(p, " dependent");
}

static void
print_require(struct cj_printer *p, const struct cj_inst *i)
{
	const struct cj_require *r = &p->m->requires.at[i->attr];

	PUTS(p, " ");
	cj_printer_operands(p, i, 0, i->operand_count);
	cj_printer_named_text(p, "parameter", r->parameter);
	cj_printer_named_text(p, "need", r->need);
	cj_printer_named_text(p, "names", r->names);
	if (r->code != CJ_DIAG_NONE)
		PRINTF(p, " code %s", cj_code_text(r->code));
}

static void
print_expect(struct cj_printer *p, const struct cj_inst *i)
{
	const struct cj_expect *e = &p->m->expects.at[i->attr];

	cj_printer_operands(p, i, 0, i->operand_count);
	cj_printer_named_text(p, "text", e->text);
	cj_printer_named_text(p, "left", e->left);
	cj_printer_named_text(p, "right", e->right);
}

static void
print_call(struct cj_printer *p, const struct cj_inst *i)
{
	const struct cj_call *c = &p->m->calls.at[i->attr];
	uint32_t n;

	PUTS(p, c->is_time ? " time" : " launch");
	if (c->kernel != NULL) {
		PUTS(p, " ");
		cj_printer_text(p, c->kernel);
	}
	if (c->member >= 0)
		PRINTF(p, " member %d", c->member);
	cj_printer_named_text(p, "refused", c->refusal);
	PUTS(p, " arguments(");
	for (n = 0; n < c->count; n++) {
		const struct cj_argument *a = &c->argument[n];

		PRINTF(p, "%s%s %u.%u", n == 0 ? "" : ", ",
		    cj_word(CJ_WORDS_ARGUMENT, a->kind), a->parameter,
		    a->member);
		if (a->kind != CJ_ARGUMENT_NONE)
			PRINTF(p, " %s", cj_kind_text(a->element));
		if (a->kind == CJ_ARGUMENT_TENSOR)
			PRINTF(p, " @%u rank %u", a->object, a->rank);
	}
	PUTS(p, ") with(");
	cj_printer_operands(p, i, 0, i->operand_count);
	PUTS(p, ")");
}

/* Operands behind a blank, where there are any. */
static void
print_operands(struct cj_printer *p, const struct cj_inst *i)
{
	if (i->operand_count > 0)
		PUTS(p, " ");
	cj_printer_operands(p, i, 0, i->operand_count);
}

static void
print_constant(struct cj_printer *p, const struct cj_inst *i)
{
	PUTS(p, " ");
	cj_printer_bits(p, cj_type_kind(i->type),
	    p->m->constants.at[i->attr].bits, cj_type_count(i->type));
}

static void
print_text(struct cj_printer *p, const char *text, const struct cj_inst *i)
{
	PUTS(p, " ");
	cj_printer_text(p, text);
	print_operands(p, i);
}

static void
print_array(struct cj_printer *p, const struct cj_inst *i)
{
	const struct cj_array *a = &p->m->arrays.at[i->attr];

	PRINTF(p, " @%u %s ", a->object, cj_word(CJ_WORDS_GENERATOR,
	    a->generator));
	cj_printer_operands(p, i, 0, i->operand_count);
}

static void
print_map_of(struct cj_printer *p, const struct cj_inst *i)
{
	PUTS(p, " ");
	print_map(p, &p->m->maps.at[i->attr]);
	PUTS(p, " of ");
	cj_printer_operands(p, i, 0, i->operand_count);
}

void
cj_printer_attr(struct cj_printer *p, const struct cj_inst *i)
{
	switch (cj_op_info[i->op].attr) {
	case CJ_ATTR_NONE:
		print_operands(p, i);
		return;
	case CJ_ATTR_CONVERSION:
		print_operands(p, i);
		print_conversion(p, i->attr);
		return;
	case CJ_ATTR_POSITIONS:
		print_operands(p, i);
		print_positions(p, &p->m->positions.at[i->attr]);
		return;
	case CJ_ATTR_CONSTANT:
		print_constant(p, i);
		return;
	case CJ_ATTR_ACCESS:
		print_access(p, i);
		return;
	case CJ_ATTR_INT:
		print_int(p, i);
		return;
	case CJ_ATTR_TARGET:
		NUMBER(p, " ^", p->target[i->attr]);
		return;
	case CJ_ATTR_LAUNCH:
		print_launch(p, i);
		return;
	case CJ_ATTR_REQUIRE:
		print_require(p, i);
		return;
	case CJ_ATTR_TEXT:
		print_text(p, p->m->texts.at[i->attr], i);
		return;
	case CJ_ATTR_EXPECT:
		print_expect(p, i);
		return;
	case CJ_ATTR_CALL:
		print_call(p, i);
		return;
	case CJ_ATTR_ARRAY:
		print_array(p, i);
		return;
	case CJ_ATTR_COPY:
		print_copy(p, i);
		return;
	case CJ_ATTR_MAP:
		print_map_of(p, i);
		return;
	case CJ_ATTR_TMA:
		print_tma(p, i);
		return;
	case CJ_ATTR_BULK:
		print_bulk(p, i);
		return;
	case CJ_ATTR_WGMMA:
		print_wgmma(p, i);
		return;
	case CJ_ATTR_TMEM:
		print_tmem_use(p, i);
		return;
	case CJ_ATTR_TCGEN05:
		print_tcgen05(p, i);
		return;
	case CJ_ATTR_MMA:
		print_text(p, p->m->mmas.at[i->attr]->name, i);
		return;
	case CJ_ATTR_STAGE:
		print_stage_use(p, i);
		return;
	case CJ_ATTR_ROLE:
		print_role(p, &p->m->roles.at[i->attr]);
		return;
	case CJ_ATTR_ORDER:
		PRINTF(p, " order %u as ", i->attr);
		cj_printer_operand(p, i, 0);
		return;
	}
}
