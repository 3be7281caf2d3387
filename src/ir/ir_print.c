/*
 * IR as text: complete, stable, readable by cj_module_read().
 *
 * Values, targets (^1), regions that objects live in (#1) and places (!1) are
 * numbered in the order of the text, so that what was taken away leaves no
 * gaps and a module read back prints the same. man/cute-ir.7 has the grammar.
 */
#include "ir_priv.h"

/* Numbers given out so far; 0: none yet. */
struct printer {
	struct cj_strbuf *out;
	const struct cj_module *m;
	uint32_t *value;	/* by instruction, within its function */
	uint32_t *target;	/* by instruction that something leaves */
	uint32_t *lives;	/* by region that an object lives in */
	uint32_t *place;	/* by place; NULL: places are not printed */
	CJ_VEC(cj_place) places;	/* in order of number, from 1 */
};

#define PUTS(p, text)	cj_strbuf_puts((p)->out, (text))
#define PRINTF(p, ...)	cj_strbuf_printf((p)->out, __VA_ARGS__)

bool
cj_region_has_index(const struct cj_module *m, cj_region region)
{
	const struct cj_region_info *g = &m->regions.at[region];
	unsigned op = g->owner == 0 ? CJ_OP_NONE : cj_inst(m, g->owner)->op;

	return cj_op_has_index((enum cj_op)op) && g->first != 0 &&
	    cj_inst(m, g->first)->op == CJ_OP_INDEX;
}

/* ---- pieces -------------------------------------------------------------- */

static void
print_text(struct printer *p, const char *text)
{
	cj_strbuf_putc(p->out, '"');
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			PRINTF(p, "\\%c", c);
		else if (c == '\n')
			PUTS(p, "\\n");
		else if (c < ' ' || c == 0x7f)
			PRINTF(p, "\\x%02x", c);
		else
			cj_strbuf_putc(p->out, (char)c);
	}
	cj_strbuf_putc(p->out, '"');
}

static void
print_named_text(struct printer *p, const char *name, const char *text)
{
	if (text == NULL)
		return;
	PRINTF(p, " %s ", name);
	print_text(p, text);
}

static void
print_type(struct printer *p, cj_type t)
{
	PUTS(p, cj_kind_text(cj_type_kind(t)));
	if (cj_type_count(t) != 1)
		PRINTF(p, "[%u]", cj_type_count(t));
}

/* A number, or its bits where a number would not say them all. */
static void
print_bits(struct printer *p, enum cj_kind k, uint64_t bits)
{
	size_t before = p->out->len;
	uint64_t back;

	cj_num_print(p->out, k, bits);
	if (cj_num_read(k, p->out->text + before, p->out->len - before,
	    &back) && back == bits)
		return;
	p->out->len = before;
	PRINTF(p, "0x%llx", (unsigned long long)bits);
}

/* One number if all are the same, else all in braces. */
static void
print_many_bits(struct printer *p, enum cj_kind k, const uint64_t *bits,
    uint64_t count)
{
	uint64_t i = 1;

	assert(count > 0);
	while (i < count && bits[i] == bits[0])
		i++;
	if (i == count) {
		print_bits(p, k, bits[0]);
		return;
	}
	for (i = 0; i < count; i++) {
		PUTS(p, i == 0 ? "{" : ", ");
		print_bits(p, k, bits[i]);
	}
	PUTS(p, "}");
}

static void
print_value(struct printer *p, cj_ref r)
{
	if (r < p->m->insts.len && p->value[r] != 0)
		PRINTF(p, "%%%u", p->value[r]);
	else
		PRINTF(p, "%%?%u", r);
}

static void
print_operand(struct printer *p, const struct cj_inst *i, unsigned n)
{
	print_value(p, cj_operand(p->m, i, n));
}

/* Operands from .. to - 1, with commas between. */
static void
print_operands(struct printer *p, const struct cj_inst *i, unsigned from,
    unsigned to)
{
	unsigned n;

	for (n = from; n < to; n++) {
		if (n != from)
			PUTS(p, ", ");
		print_operand(p, i, n);
	}
}

/* Number a place after its parents, so that parents come first. */
static uint32_t
number_place(struct printer *p, cj_place place)
{
	CJ_VEC(cj_place) chain = { 0 };

	while (place != 0 && place < p->m->places.len &&
	    p->place[place] == 0) {
		*cj_push(p->out->arena, &chain) = place;
		p->place[place] = UINT32_MAX;	/* ends a circle */
		place = p->m->places.at[place].parent;
	}
	while (chain.len > 0) {
		place = chain.at[--chain.len];
		*cj_push(p->out->arena, &p->places) = place;
		p->place[place] = p->places.len;
	}
	return place < p->m->places.len ? p->place[place] : 0;
}

static void
print_place(struct printer *p, cj_place place)
{
	if (p->place != NULL && place != 0)
		PRINTF(p, " !%u", number_place(p, place));
}

/* ---- numbering ----------------------------------------------------------- */

static void
number_function(struct printer *p, cj_region body)
{
	uint32_t values = 0, targets = 0;
	struct cj_walk w;

	for (w = cj_walk_begin(p->m, body); cj_walk_next(&w);) {
		const struct cj_inst *i;

		if (w.event != CJ_WALK_INST)
			continue;
		i = cj_inst(p->m, w.ref);
		if (i->type != 0)
			p->value[w.ref] = ++values;
		if (i->op < CJ_OP_COUNT && cj_op_info[i->op].attr ==
		    CJ_ATTR_TARGET && i->attr < p->m->insts.len)
			p->target[i->attr] = 1;
	}
	for (w = cj_walk_begin(p->m, body); cj_walk_next(&w);)
		if (w.event == CJ_WALK_INST && p->target[w.ref] != 0)
			p->target[w.ref] = ++targets;
}

static void
number_regions(struct printer *p)
{
	const struct cj_module *m = p->m;
	uint32_t i, count = 0;
	struct cj_walk w;

	assert(p->lives != NULL);
	for (i = 1; i < m->objects.len; i++)
		if (m->objects.at[i].region < m->regions.len)
			p->lives[m->objects.at[i].region] = UINT32_MAX;
	for (i = 1; i < m->pipelines.len; i++)
		if (m->pipelines.at[i].region < m->regions.len)
			p->lives[m->pipelines.at[i].region] = UINT32_MAX;
	for (i = 1; i < m->functions.len; i++)
		for (w = cj_walk_begin(m, m->functions.at[i].body);
		    cj_walk_next(&w);)
			if (w.event == CJ_WALK_ENTER &&
			    p->lives[w.region] != 0)
				p->lives[w.region] = ++count;
	for (i = 0; i < m->regions.len; i++)
		if (p->lives[i] == UINT32_MAX)	/* nowhere in the text */
			p->lives[i] = 0;
}

static void
init(struct printer *p, struct cj_strbuf *out, const struct cj_module *m)
{
	memset(p, 0, sizeof *p);
	p->out = out;
	p->m = m;
	p->value = CJ_NEWS(out->arena, uint32_t, m->insts.len);
	p->target = CJ_NEWS(out->arena, uint32_t, m->insts.len);
	p->lives = CJ_NEWS(out->arena, uint32_t, m->regions.len);
	number_regions(p);
}

/* ---- attributes ---------------------------------------------------------- */

static void
print_how(struct printer *p, const struct cj_access *a)
{
	if (a->transposed)
		PUTS(p, " transposed");
	if (a->align != 0)
		PRINTF(p, " align %u", a->align);
	if (a->cache != CJ_CACHE_DEFAULT)
		PRINTF(p, " cache %s", cj_word(CJ_WORDS_CACHE, a->cache));
	if (a->order != CJ_ORDER_WEAK)
		PRINTF(p, " order %s", cj_word(CJ_WORDS_ORDER, a->order));
	if (a->scope != CJ_MEMORY_BLOCK)
		PRINTF(p, " scope %s", cj_word(CJ_WORDS_SCOPE, a->scope));
	print_named_text(p, "why", a->why);
}

static void
print_access(struct printer *p, const struct cj_inst *i)
{
	const struct cj_access *a = &p->m->accesses.at[i->attr];
	unsigned values = 1, n = i->operand_count;

	if (i->op == CJ_OP_ATOMIC) {
		PRINTF(p, " %s", cj_word(CJ_WORDS_ATOMIC, a->atomic));
		values = a->atomic == CJ_ATOMIC_CAS ? 2 : 1;
	}
	PRINTF(p, " @%u", a->object);
	if (i->op == CJ_OP_SLOT_GET || i->op == CJ_OP_SLOT_SET) {
		PRINTF(p, "[%u]", a->position);
		values = n;
	} else if (i->op == CJ_OP_WORKSPACE) {
		PUTS(p, " ");
		print_operands(p, i, 0, n);
		print_how(p, a);
		return;
	} else {
		PUTS(p, "[");
		print_operand(p, i, 0);
		PUTS(p, "]");
		values = i->op == CJ_OP_LOAD || i->op == CJ_OP_PREFETCH ||
		    i->op == CJ_OP_LDMATRIX ? 1 :
		    i->op == CJ_OP_REMOTE_STORE ||
		    i->op == CJ_OP_MBARRIER_ARRIVE ||
		    i->op == CJ_OP_MBARRIER_EXPECT ? 3 : values + 1;
	}
	if (values > n)
		values = n;
	n = i->op == CJ_OP_SLOT_SET ? 0 : 1;
	if (n < values) {
		PUTS(p, ", ");
		print_operands(p, i, n, values);
	}
	if (i->operand_count > values) {
		PUTS(p, " mask ");
		print_operand(p, i, values);
	}
	if (i->operand_count > values + 1) {
		PUTS(p, " fill ");
		print_operand(p, i, values + 1);
	}
	print_how(p, a);
}

static void
print_copy(struct printer *p, const struct cj_inst *i)
{
	const struct cj_copy *c = &p->m->copies.at[i->attr];
	const struct cj_access *to = &p->m->accesses.at[c->to];
	const struct cj_access *from = &p->m->accesses.at[c->from];

	PRINTF(p, " @%u[", to->object);
	print_operand(p, i, 0);
	PUTS(p, "]");
	print_how(p, to);
	PRINTF(p, " from @%u[", from->object);
	print_operand(p, i, 1);
	PUTS(p, "]");
	print_how(p, from);
	PRINTF(p, " count %u", c->count);
	if (i->operand_count > 2) {
		PUTS(p, " mask ");
		print_operand(p, i, 2);
	}
	if (c->cache != CJ_COPY_ALL)
		PRINTF(p, " by %s", cj_word(CJ_WORDS_COPY, c->cache));
	if (c->prefetch != 0)
		PRINTF(p, " prefetch %u", c->prefetch);
}

/* "@1 box (64, 128) swizzle 128" */
static void
print_map(struct printer *p, const struct cj_map *map)
{
	uint32_t i;

	PRINTF(p, "@%u box (", map->object);
	for (i = 0; i < map->rank; i++)
		PRINTF(p, "%s%u", i == 0 ? "" : ", ", map->box[i]);
	PRINTF(p, ") swizzle %u", map->swizzle == CJ_MAP_PLAIN ? 0 :
	    16u << map->swizzle);
	if (map->promote != CJ_MAP_PROMOTE)
		PRINTF(p, " promote %u", map->promote);
}

static void
print_combining(struct printer *p, bool reduces, enum cj_atomic how,
    enum cj_evict evict)
{
	if (reduces)
		PRINTF(p, " reduce %s", cj_word(CJ_WORDS_ATOMIC, how));
	if (evict != CJ_EVICT_NORMAL)
		PRINTF(p, " evict %s", cj_word(CJ_WORDS_EVICT, evict));
}

static void
print_tma(struct printer *p, const struct cj_inst *i)
{
	const struct cj_tma_copy *c = &p->m->tmas.at[i->attr];
	unsigned next = 2;

	PRINTF(p, " @%u[", p->m->accesses.at[c->shared].object);
	print_operand(p, i, 0);
	PUTS(p, "] map ");
	print_operand(p, i, 1);
	if (c->signal != 0) {
		PRINTF(p, " signal @%u[", p->m->accesses.at[c->signal].object);
		print_operand(p, i, next++);
		PUTS(p, "]");
	}
	PUTS(p, " of ");
	print_map(p, &p->m->maps.at[c->map]);
	PUTS(p, " at ");
	print_operands(p, i, next, next + p->m->maps.at[c->map].rank);
	next += p->m->maps.at[c->map].rank;
	if (i->operand_count > next) {
		PUTS(p, " ranks ");
		print_operand(p, i, next);
	}
	if (c->share != 0)
		PRINTF(p, " share %u", c->share);
	print_combining(p, c->reduces, c->how, c->evict);
}

static void
print_spot(struct printer *p, const struct cj_inst *i, unsigned operand,
    uint32_t access)
{
	PRINTF(p, "@%u[", p->m->accesses.at[access].object);
	print_operand(p, i, operand);
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
print_bulk(struct printer *p, const struct cj_inst *i)
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
	print_operand(p, i, i->op == CJ_OP_BULK_COPY ? 2 : 1);
	if (i->op == CJ_OP_SEND) {
		PUTS(p, " value ");
		print_operand(p, i, 2);
	}
	if (c->signal != 0) {
		PUTS(p, " signal ");
		print_spot(p, i, signal, c->signal);
	}
	if (i->operand_count > rank && i->op == CJ_OP_BULK_COPY) {
		PUTS(p, is_bits(p->m, i, rank) ? " ranks " : " rank ");
		print_operand(p, i, rank);
	}
	print_combining(p, c->reduces, c->how, c->evict);
}

static void
print_matrix(struct printer *p, const struct cj_inst *i, unsigned operand,
    uint32_t access, const struct cj_operand_desc *d)
{
	PRINTF(p, " @%u[", p->m->accesses.at[access].object);
	print_operand(p, i, operand);
	PRINTF(p, "] leading %u stride %u swizzle %u%s", d->leading,
	    d->stride, d->swizzle == CJ_MAP_PLAIN ? 0 : 16u << d->swizzle,
	    d->by_column ? " by_column" : "");
}

static void
print_wgmma(struct printer *p, const struct cj_inst *i)
{
	const struct cj_wgmma *w = &p->m->wgmmas.at[i->attr];
	const struct cj_access *sum = &p->m->accesses.at[w->sum];
	unsigned b = cj_wgmma_has_offset(p->m, w) ? 1 : 0;

	PUTS(p, " ");
	print_text(p, w->name);
	PRINTF(p, " @%u[%u]", sum->object, sum->position);
	PUTS(p, " a");
	if (b != 0)
		print_matrix(p, i, 0, w->a_at, &w->a_desc);
	else
		PRINTF(p, " @%u[%u]", p->m->accesses.at[w->a_at].object,
		    p->m->accesses.at[w->a_at].position);
	PUTS(p, " b");
	print_matrix(p, i, b, w->b_at, &w->b_desc);
	if (i->operand_count > b + 1) {
		PUTS(p, " accumulate ");
		print_operand(p, i, b + 1);
	}
}

static void
print_stage_use(struct printer *p, const struct cj_inst *i)
{
	const struct cj_stage_use *u = &p->m->stage_uses.at[i->attr];

	PRINTF(p, " pipeline %u", u->pipeline);
	if (u->count != 0)
		PRINTF(p, " %s %u", i->op == CJ_OP_PRODUCE ||
		    i->op == CJ_OP_SETTLE ? "ahead" : "in_flight", u->count);
	if (u->keep)
		PUTS(p, " keep");
	if (i->operand_count > 0) {
		PUTS(p, i->op == CJ_OP_SKIP ? " by " : " when ");
		print_operand(p, i, 0);
	}
}

static void
print_role(struct printer *p, const struct cj_role *r)
{
	PUTS(p, " ");
	print_text(p, r->name != NULL ? r->name : "");
	PRINTF(p, " warps %u to %u", r->first, r->first + r->warps);
	if (r->registers != 0)
		PRINTF(p, " registers %u", r->registers);
}

static void
print_int(struct printer *p, const struct cj_inst *i)
{
	switch ((unsigned)i->op) {
	case CJ_OP_SPECIAL:
		PRINTF(p, " %s", cj_word(CJ_WORDS_SPECIAL, i->attr));
		return;
	case CJ_OP_DEVICE:
		PRINTF(p, " %s", cj_word(CJ_WORDS_DEVICE, i->attr));
		return;
	case CJ_OP_BULK_WAIT: case CJ_OP_BULK_WAIT_READ:
	case CJ_OP_WGMMA_WAIT: case CJ_OP_PARAM:
	case CJ_OP_REGISTERS_DOWN: case CJ_OP_REGISTERS_UP:
		PRINTF(p, " %u", i->attr);
		return;
	case CJ_OP_FENCE:
		PRINTF(p, " %s", cj_word(CJ_WORDS_FENCE, i->attr));
		return;
	case CJ_OP_CP_WAIT:
		if (i->attr == CJ_WAIT_ALL)
			PUTS(p, " all");
		else
			PRINTF(p, " %u", i->attr);
		return;
	case CJ_OP_REDUX:
		PRINTF(p, " %s ", cj_word(CJ_WORDS_ATOMIC, i->attr));
		print_operands(p, i, 0, i->operand_count);
		return;
	case CJ_OP_SHFL:
		PRINTF(p, " %s ", cj_word(CJ_WORDS_SHFL, i->attr));
		print_operands(p, i, 0, i->operand_count);
		return;
	default:
		PUTS(p, " ");
		print_operands(p, i, 0, i->operand_count);
		PRINTF(p, " at %u", i->attr);
		return;
	}
}

static void
print_positions(struct printer *p, const struct cj_positions *at)
{
	uint32_t n;

	PUTS(p, " [");
	for (n = 0; n < at->count; n++)
		PRINTF(p, n == 0 ? "%u" : ", %u", at->at[n]);
	PUTS(p, "]");
}

static void
print_conversion(struct printer *p, uint32_t attr)
{
	const struct cj_conversion *c = &p->m->conversions.at[attr];

	if (c->is_default)
		return;
	PRINTF(p, " round %s", cj_word(CJ_WORDS_ROUNDING, c->rounding));
	if (c->saturate)
		PUTS(p, " saturate");
}

static void
print_launch(struct printer *p, const struct cj_inst *i)
{
	const struct cj_launch *l = &p->m->launches.at[i->attr];

	PRINTF(p, " $%u grid(", l->function);
	print_operands(p, i, 0, 3);
	PUTS(p, ") block(");
	print_operands(p, i, 3, 6);
	PUTS(p, ") cluster(");
	print_operands(p, i, 6, 9);
	PUTS(p, ") with(");
	print_operands(p, i, 9, i->operand_count);
	PUTS(p, ")");
	if (l->cooperative)
		PUTS(p, " cooperative");
	if (l->dependent)
		PUTS(p, " dependent");
}

static void
print_require(struct printer *p, const struct cj_inst *i)
{
	const struct cj_require *r = &p->m->requires.at[i->attr];

	PUTS(p, " ");
	print_operands(p, i, 0, i->operand_count);
	print_named_text(p, "parameter", r->parameter);
	print_named_text(p, "need", r->need);
	print_named_text(p, "names", r->names);
	if (r->code != CJ_DIAG_NONE)
		PRINTF(p, " code %s", cj_code_text(r->code));
}

static void
print_expect(struct printer *p, const struct cj_inst *i)
{
	const struct cj_expect *e = &p->m->expects.at[i->attr];

	print_operands(p, i, 0, i->operand_count);
	print_named_text(p, "text", e->text);
	print_named_text(p, "left", e->left);
	print_named_text(p, "right", e->right);
}

static void
print_call(struct printer *p, const struct cj_inst *i)
{
	const struct cj_call *c = &p->m->calls.at[i->attr];
	uint32_t n;

	PUTS(p, c->is_time ? " time" : " launch");
	if (c->kernel != NULL) {
		PUTS(p, " ");
		print_text(p, c->kernel);
	}
	if (c->member >= 0)
		PRINTF(p, " member %d", c->member);
	print_named_text(p, "refused", c->refusal);
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
	print_operands(p, i, 0, i->operand_count);
	PUTS(p, ")");
}

static void
print_attr(struct printer *p, const struct cj_inst *i)
{
	switch (cj_op_info[i->op].attr) {
	case CJ_ATTR_NONE:
	case CJ_ATTR_CONVERSION:
	case CJ_ATTR_POSITIONS:
		if (i->operand_count > 0)
			PUTS(p, " ");
		print_operands(p, i, 0, i->operand_count);
		if (cj_op_info[i->op].attr == CJ_ATTR_CONVERSION)
			print_conversion(p, i->attr);
		else if (cj_op_info[i->op].attr == CJ_ATTR_POSITIONS)
			print_positions(p, &p->m->positions.at[i->attr]);
		return;
	case CJ_ATTR_CONSTANT:
		PUTS(p, " ");
		print_many_bits(p, cj_type_kind(i->type),
		    p->m->constants.at[i->attr].bits, cj_type_count(i->type));
		return;
	case CJ_ATTR_ACCESS:
		print_access(p, i);
		return;
	case CJ_ATTR_INT:
		print_int(p, i);
		return;
	case CJ_ATTR_TARGET:
		PRINTF(p, " ^%u", p->target[i->attr]);
		return;
	case CJ_ATTR_LAUNCH:
		print_launch(p, i);
		return;
	case CJ_ATTR_REQUIRE:
		print_require(p, i);
		return;
	case CJ_ATTR_TEXT:
		PUTS(p, " ");
		print_text(p, p->m->texts.at[i->attr]);
		if (i->operand_count > 0)
			PUTS(p, " ");
		print_operands(p, i, 0, i->operand_count);
		return;
	case CJ_ATTR_EXPECT:
		print_expect(p, i);
		return;
	case CJ_ATTR_CALL:
		print_call(p, i);
		return;
	case CJ_ATTR_ARRAY:
		PRINTF(p, " @%u %s ", p->m->arrays.at[i->attr].object,
		    cj_word(CJ_WORDS_GENERATOR,
		    p->m->arrays.at[i->attr].generator));
		print_operands(p, i, 0, i->operand_count);
		return;
	case CJ_ATTR_COPY:
		print_copy(p, i);
		return;
	case CJ_ATTR_MAP:
		PUTS(p, " ");
		print_map(p, &p->m->maps.at[i->attr]);
		PUTS(p, " of ");
		print_operands(p, i, 0, i->operand_count);
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
	case CJ_ATTR_MMA:
		PUTS(p, " ");
		print_text(p, p->m->mmas.at[i->attr]->name);
		PUTS(p, " ");
		print_operands(p, i, 0, i->operand_count);
		return;
	case CJ_ATTR_STAGE:
		print_stage_use(p, i);
		return;
	case CJ_ATTR_ROLE:
		print_role(p, &p->m->roles.at[i->attr]);
		return;
	case CJ_ATTR_ORDER:
		PRINTF(p, " order %u as ", i->attr);
		print_operand(p, i, 0);
		return;
	}
}

/* ---- instructions and regions -------------------------------------------- */

static void
indent(struct printer *p, uint32_t depth)
{
	for (depth++; depth > 0; depth--)
		PUTS(p, "    ");
}

/* " %7 in": the index of a region, which is not printed again inside. */
static void
print_index(struct printer *p, const struct cj_inst *owner)
{
	cj_region g = owner->region;
	cj_ref index;

	if (g == 0 || !cj_region_has_index(p->m, g))
		return;
	index = p->m->regions.at[g].first;
	PUTS(p, " ");
	print_value(p, index);
	if (cj_inst(p->m, index)->place != owner->place)
		print_place(p, cj_inst(p->m, index)->place);
	PUTS(p, " in");
}

static void
print_head(struct printer *p, cj_ref r, const struct cj_inst *i)
{
	if (i->type != 0) {
		print_value(p, r);
		PUTS(p, " = ");
	}
	PUTS(p, cj_op_info[i->op].text);
	if (p->target[r] != 0)
		PRINTF(p, " ^%u", p->target[r]);
	if (i->type != 0) {
		PUTS(p, " ");
		print_type(p, i->type);
	}
}

static void
print_inst(struct printer *p, cj_ref r)
{
	const struct cj_inst *i = cj_inst(p->m, r);

	assert(i->op > CJ_OP_NONE && i->op < CJ_OP_COUNT);
	print_head(p, r, i);
	switch ((unsigned)i->op) {
	case CJ_OP_FOR:
		print_index(p, i);
		PUTS(p, " ");
		print_operand(p, i, 0);
		PUTS(p, "..");
		print_operand(p, i, 1);
		PUTS(p, " step ");
		print_operand(p, i, 2);
		if (i->attr != 0)
			PRINTF(p, " unroll %u", i->attr);
		break;
	case CJ_OP_ARRAY_MAP:
	case CJ_OP_EXPECT:
	case CJ_OP_PRODUCE:
	case CJ_OP_CONSUME:
		print_index(p, i);
		if (i->op == CJ_OP_EXPECT)
			PUTS(p, " ");
		print_attr(p, i);
		break;
	default:
		print_attr(p, i);
		break;
	}
	print_place(p, i->place);
}

static void
print_event(struct printer *p, const struct cj_walk *w)
{
	switch (w->event) {
	case CJ_WALK_ENTER:
		if (w->depth == 0)
			return;
		PUTS(p, " {");
		if (p->lives[w->region] != 0)
			PRINTF(p, " #%u", p->lives[w->region]);
		PUTS(p, "\n");
		return;
	case CJ_WALK_INST:
		if (cj_region_has_index(p->m, w->region) &&
		    p->m->regions.at[w->region].first == w->ref)
			return;
		indent(p, w->depth);
		print_inst(p, w->ref);
		if (cj_inst(p->m, w->ref)->region == 0)
			PUTS(p, "\n");
		return;
	case CJ_WALK_LEAVE:
		if (w->depth == 0)
			return;
		indent(p, w->depth - 1);
		PUTS(p, p->m->regions.at[w->region].next != 0 ? "} else" :
		    "}\n");
		return;
	}
}

/* ---- functions, objects, modules ----------------------------------------- */

/* Nothing where nothing is known; ends that are open stay away. */
static void
print_range(struct printer *p, const struct cj_leaf *l)
{
	bool is_open = l->lo == INT64_MIN && l->hi == INT64_MAX;

	if ((l->lo == 0 && l->hi == 0 && l->divisor == 0) ||
	    (is_open && l->divisor <= 1))
		return;
	PUTS(p, " range ");
	if (l->lo != INT64_MIN)
		PRINTF(p, "%lld", (long long)l->lo);
	PUTS(p, "..");
	if (l->hi != INT64_MAX)
		PRINTF(p, "%lld", (long long)l->hi);
	if (l->divisor != 1)
		PRINTF(p, " by %lld", (long long)l->divisor);
}

static void
print_leaf(struct printer *p, const struct cj_leaf *l)
{
	PRINTF(p, "    leaf %s ", cj_word(CJ_WORDS_LEAF, l->kind));
	print_type(p, l->type);
	print_named_text(p, "name", l->name);
	if (l->object != 0)
		PRINTF(p, " @%u", l->object);
	if (l->parameter != 0 || l->member != 0 || l->mode != 0)
		PRINTF(p, " of %u.%u.%u", l->parameter, l->member, l->mode);
	print_range(p, l);
	PUTS(p, "\n");
}

static void
print_extents(struct printer *p, const char *name, const int64_t extent[3])
{
	if (extent[0] != 0 || extent[1] != 0 || extent[2] != 0)
		PRINTF(p, " %s(%lld, %lld, %lld)", name, (long long)extent[0],
		    (long long)extent[1], (long long)extent[2]);
}

static void
print_function(struct printer *p, uint32_t function)
{
	const struct cj_function *f = &p->m->functions.at[function];
	struct cj_walk w;
	uint32_t n;

	PRINTF(p, "\n%s $%u ", cj_word(CJ_WORDS_FUNCTION, f->kind), function);
	print_text(p, f->name != NULL ? f->name : "");
	print_extents(p, "block", f->block);
	print_extents(p, "cluster", f->cluster);
	if (f->min_blocks != 0)
		PRINTF(p, " min_blocks %lld", (long long)f->min_blocks);
	if (f->max_registers != 0)
		PRINTF(p, " max_registers %lld", (long long)f->max_registers);
	if (f->has_roles)
		PUTS(p, " roles");
	print_place(p, f->place);
	PUTS(p, " {");
	if (p->lives[f->body] != 0)
		PRINTF(p, " #%u", p->lives[f->body]);
	PUTS(p, "\n");
	for (n = 0; n < f->leaves.len; n++)
		print_leaf(p, &f->leaves.at[n]);
	number_function(p, f->body);
	for (w = cj_walk_begin(p->m, f->body); cj_walk_next(&w);)
		print_event(p, &w);
	PUTS(p, "}\n");
}

static void
print_object(struct printer *p, uint32_t object)
{
	const struct cj_object *o = &p->m->objects.at[object];

	PRINTF(p, "object @%u %s %s", object,
	    cj_word(CJ_WORDS_OBJECT, o->kind), cj_kind_text(o->element));
	if (o->extent < 0)
		PUTS(p, "[?]");
	else
		PRINTF(p, "[%lld]", (long long)o->extent);
	print_named_text(p, "name", o->name);
	if (o->kind == CJ_OBJECT_TENSOR || o->parameter != 0 ||
	    o->member != 0)
		PRINTF(p, " of %u.%u", o->parameter, o->member);
	if (o->stages != 0)
		PRINTF(p, " stages %u", o->stages);
	if (o->host != 0)
		PRINTF(p, " over @%u at %u", o->host, o->offset);
	if (o->multiple != 0)
		PRINTF(p, " range 0..%lld by %lld", (long long)o->most,
		    (long long)o->multiple);
	if (o->align != 0)
		PRINTF(p, " align %u", o->align);
	PUTS(p, o->reads ? " reads" : "");
	PUTS(p, o->writes ? " writes" : "");
	PUTS(p, o->may_alias ? " alias" : "");
	if (o->region < p->m->regions.len && p->lives[o->region] != 0)
		PRINTF(p, " in #%u", p->lives[o->region]);
	print_named_text(p, "layout", o->layout);
	if (o->data != NULL && o->extent > 0) {
		PUTS(p, " data ");
		print_many_bits(p, o->element, o->data, (uint64_t)o->extent);
	}
	print_place(p, o->place);
	PUTS(p, "\n");
}

static void
print_pipeline(struct printer *p, uint32_t number)
{
	const struct cj_pipeline *l = &p->m->pipelines.at[number];
	uint32_t i;

	PRINTF(p, "pipeline %u stages %u", number, l->stages);
	print_named_text(p, "name", l->name);
	PUTS(p, " fields(");
	for (i = 0; i < l->field_count; i++)
		PRINTF(p, i == 0 ? "@%u" : ", @%u", l->fields[i]);
	PUTS(p, l->is_split ? ") split" : ")");
	if (l->region < p->m->regions.len && p->lives[l->region] != 0)
		PRINTF(p, " in #%u", p->lives[l->region]);
	print_place(p, l->place);
	PUTS(p, "\n");
}

static void
print_order(struct printer *p, uint32_t number)
{
	const struct cj_turns *o = &p->m->orders.at[number];

	PRINTF(p, "order %u turns %u", number, o->count);
	print_named_text(p, "name", o->name);
	print_place(p, o->place);
	PUTS(p, "\n");
}

/* What a place means, for readers, where the sources are at hand. */
static void
print_position(struct printer *p, struct cj_span span)
{
	const struct cj_sources *all = p->m->sources;
	const struct cj_source *s;
	struct cj_position at;

	if (all == NULL || span.source == 0 || span.source >= all->all.len)
		return;
	s = cj_source_get(all, span.source);
	at = cj_source_position(s, span.begin);
	PRINTF(p, "\t// %s:%u:%u", s->name, at.line, at.column);
}

static void
print_places(struct printer *p)
{
	uint32_t i;

	if (p->places.len > 0)
		PUTS(p, "\n");
	for (i = 0; i < p->places.len; i++) {
		const struct cj_place_info *info =
		    &p->m->places.at[p->places.at[i]];

		PRINTF(p, "place !%u %u:%u:%u", i + 1, info->span.source,
		    info->span.begin, info->span.end);
		if (info->parent != 0)
			PRINTF(p, " in !%u", p->place[info->parent]);
		if (info->turn >= 0)
			PRINTF(p, " turn %lld", (long long)info->turn);
		print_position(p, info->span);
		PUTS(p, "\n");
	}
}

void
cj_module_print(struct cj_strbuf *out, const struct cj_module *m)
{
	struct printer p;
	uint32_t i;

	init(&p, out, m);
	p.place = CJ_NEWS(out->arena, uint32_t, m->places.len);
	PUTS(&p, "module ");
	print_text(&p, m->name);
	if (m->target != NULL)
		PRINTF(&p, " %s", m->target->name);
	PUTS(&p, "\n");
	for (i = 1; i < m->objects.len; i++) {
		if (i == 1)
			PUTS(&p, "\n");
		print_object(&p, i);
	}
	for (i = 1; i < m->pipelines.len; i++)
		print_pipeline(&p, i);
	for (i = 1; i < m->orders.len; i++)
		print_order(&p, i);
	for (i = 1; i < m->functions.len; i++)
		print_function(&p, i);
	print_places(&p);
}

void
cj_function_print(struct cj_strbuf *out, const struct cj_module *m,
    uint32_t function)
{
	struct printer p;

	assert(function != 0 && function < m->functions.len);
	init(&p, out, m);
	print_function(&p, function);
}
