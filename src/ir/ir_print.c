/*
 * IR as text: complete, stable, readable by cj_module_read().
 *
 * Values, targets (^1), regions that objects live in (#1) and places (!1) are
 * numbered in the order of the text, so that what was taken away leaves no
 * gaps and a module read back prints the same. man/cute-ir.7 has the grammar.
 */
#include "ir_print_priv.h"

bool
cj_region_has_index(const struct cj_module *m, cj_region region)
{
	const struct cj_region_info *g = &m->regions.at[region];
	unsigned op = g->owner == 0 ? CJ_OP_NONE : cj_inst(m, g->owner)->op;

	return cj_op_has_index((enum cj_op)op) && g->first != 0 &&
	    cj_inst(m, g->first)->op == CJ_OP_INDEX;
}

/* ---- pieces -------------------------------------------------------------- */

void
cj_printer_number(struct cj_printer *p, const char *text, uint64_t n)
{
	PUTS(p, text);
	cj_strbuf_number(p->out, n);
}

void
cj_printer_text(struct cj_printer *p, const char *text)
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

void
cj_printer_named_text(struct cj_printer *p, const char *name, const char *text)
{
	if (text == NULL)
		return;
	PRINTF(p, " %s ", name);
	cj_printer_text(p, text);
}

static void
print_type(struct cj_printer *p, cj_type t)
{
	PUTS(p, cj_kind_text(cj_type_kind(t)));
	if (cj_type_count(t) != 1) {
		NUMBER(p, "[", cj_type_count(t));
		PUTS(p, "]");
	}
}

/* A number, or its bits where a number would not say them all. */
static void
print_bits(struct cj_printer *p, enum cj_kind k, uint64_t bits)
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

void
cj_printer_bits(struct cj_printer *p, enum cj_kind k,
    const uint64_t *bits, uint64_t count)
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
print_value(struct cj_printer *p, cj_ref r)
{
	if (r < p->m->insts.len && p->value[r] != 0)
		NUMBER(p, "%", p->value[r]);
	else
		NUMBER(p, "%?", r);
}

void
cj_printer_operand(struct cj_printer *p, const struct cj_inst *i, unsigned n)
{
	print_value(p, cj_operand(p->m, i, n));
}

void
cj_printer_operands(struct cj_printer *p, const struct cj_inst *i,
    unsigned from, unsigned to)
{
	unsigned n;

	for (n = from; n < to; n++) {
		if (n != from)
			PUTS(p, ", ");
		cj_printer_operand(p, i, n);
	}
}

/* Number a place after its parents, so that parents come first. */
static uint32_t
number_place(struct cj_printer *p, cj_place place)
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
print_place(struct cj_printer *p, cj_place place)
{
	if (p->place != NULL && place != 0)
		NUMBER(p, " !", number_place(p, place));
}

/* ---- numbering ----------------------------------------------------------- */

static void
number_function(struct cj_printer *p, cj_region body)
{
	uint32_t values = 0, targets = 0;
	const struct cj_inst *i;
	struct cj_walk w = cj_walk_begin(p->m, body);

	while ((i = cj_walk_inst(&w)) != NULL) {
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
number_regions(struct cj_printer *p)
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
init(struct cj_printer *p, struct cj_strbuf *out, const struct cj_module *m)
{
	memset(p, 0, sizeof *p);
	p->out = out;
	p->m = m;
	p->value = CJ_NEWS(out->arena, uint32_t, m->insts.len);
	p->target = CJ_NEWS(out->arena, uint32_t, m->insts.len);
	p->lives = CJ_NEWS(out->arena, uint32_t, m->regions.len);
	number_regions(p);
}

/* ---- instructions and regions -------------------------------------------- */

static void
indent(struct cj_printer *p, uint32_t depth)
{
	for (depth++; depth > 0; depth--)
		PUTS(p, "    ");
}

/* " %7 in": the index of a region, which is not printed again inside. */
static void
print_index(struct cj_printer *p, const struct cj_inst *owner)
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
print_head(struct cj_printer *p, cj_ref r, const struct cj_inst *i)
{
	if (i->type != 0) {
		print_value(p, r);
		PUTS(p, " = ");
	}
	PUTS(p, cj_op_info[i->op].text);
	if (p->target[r] != 0)
		NUMBER(p, " ^", p->target[r]);
	if (i->type != 0) {
		PUTS(p, " ");
		print_type(p, i->type);
	}
}

static void
print_unroll(struct cj_printer *p, const struct cj_inst *i)
{
	if (i->attr != 0)
		NUMBER(p, " unroll ", i->attr);
}

static void
print_inst(struct cj_printer *p, cj_ref r)
{
	const struct cj_inst *i = cj_inst(p->m, r);

	assert(i->op > CJ_OP_NONE && i->op < CJ_OP_COUNT);
	print_head(p, r, i);
	switch ((unsigned)i->op) {
	case CJ_OP_FOR:
		print_index(p, i);
		PUTS(p, " ");
		cj_printer_operand(p, i, 0);
		PUTS(p, "..");
		cj_printer_operand(p, i, 1);
		PUTS(p, " step ");
		cj_printer_operand(p, i, 2);
		print_unroll(p, i);
		break;
	case CJ_OP_LOOP:
		print_unroll(p, i);
		break;
	case CJ_OP_ARRAY_MAP:
	case CJ_OP_EXPECT:
	case CJ_OP_PRODUCE:
	case CJ_OP_CONSUME:
		print_index(p, i);
		if (i->op == CJ_OP_EXPECT)
			PUTS(p, " ");
		cj_printer_attr(p, i);
		break;
	default:
		cj_printer_attr(p, i);
		break;
	}
	print_place(p, i->place);
}

static void
print_event(struct cj_printer *p, const struct cj_walk *w)
{
	switch (w->event) {
	case CJ_WALK_ENTER:
		if (w->depth == 0)
			return;
		PUTS(p, " {");
		if (p->lives[w->region] != 0)
			NUMBER(p, " #", p->lives[w->region]);
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
print_range(struct cj_printer *p, const struct cj_leaf *l)
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
print_leaf(struct cj_printer *p, const struct cj_leaf *l)
{
	PRINTF(p, "    leaf %s ", cj_word(CJ_WORDS_LEAF, l->kind));
	print_type(p, l->type);
	cj_printer_named_text(p, "name", l->name);
	if (l->object != 0)
		NUMBER(p, " @", l->object);
	if (l->parameter != 0 || l->member != 0 || l->mode != 0)
		PRINTF(p, " of %u.%u.%u", l->parameter, l->member, l->mode);
	print_range(p, l);
	PUTS(p, "\n");
}

static void
print_extents(struct cj_printer *p, const char *name, const int64_t extent[3])
{
	if (extent[0] != 0 || extent[1] != 0 || extent[2] != 0)
		PRINTF(p, " %s(%lld, %lld, %lld)", name, (long long)extent[0],
		    (long long)extent[1], (long long)extent[2]);
}

static void
print_function(struct cj_printer *p, uint32_t function)
{
	const struct cj_function *f = &p->m->functions.at[function];
	struct cj_walk w;
	uint32_t n;

	PRINTF(p, "\n%s $%u ", cj_word(CJ_WORDS_FUNCTION, f->kind), function);
	cj_printer_text(p, f->name != NULL ? f->name : "");
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
		NUMBER(p, " #", p->lives[f->body]);
	PUTS(p, "\n");
	for (n = 0; n < f->leaves.len; n++)
		print_leaf(p, &f->leaves.at[n]);
	number_function(p, f->body);
	for (w = cj_walk_begin(p->m, f->body); cj_walk_next(&w);)
		print_event(p, &w);
	PUTS(p, "}\n");
}

static void
print_object(struct cj_printer *p, uint32_t object)
{
	const struct cj_object *o = &p->m->objects.at[object];

	PRINTF(p, "object @%u %s %s", object,
	    cj_word(CJ_WORDS_OBJECT, o->kind), cj_kind_text(o->element));
	if (o->extent < 0)
		PUTS(p, "[?]");
	else
		PRINTF(p, "[%lld]", (long long)o->extent);
	cj_printer_named_text(p, "name", o->name);
	if (o->kind == CJ_OBJECT_TENSOR || o->parameter != 0 ||
	    o->member != 0)
		PRINTF(p, " of %u.%u", o->parameter, o->member);
	if (o->stages != 0)
		NUMBER(p, " stages ", o->stages);
	if (o->freed != 0)
		NUMBER(p, " freed @", o->freed);
	if (o->host != 0)
		PRINTF(p, " over @%u at %u", o->host, o->offset);
	if (o->multiple != 0)
		PRINTF(p, " range 0..%lld by %lld", (long long)o->most,
		    (long long)o->multiple);
	if (o->align != 0)
		NUMBER(p, " align ", o->align);
	PUTS(p, o->reads ? " reads" : "");
	PUTS(p, o->writes ? " writes" : "");
	PUTS(p, o->may_alias ? " alias" : "");
	PUTS(p, o->is_bare ? " bare" : "");
	PUTS(p, o->restored ? " restored" : "");
	if (o->region < p->m->regions.len && p->lives[o->region] != 0)
		NUMBER(p, " in #", p->lives[o->region]);
	cj_printer_named_text(p, "layout", o->layout);
	if (o->data != NULL && o->extent > 0) {
		PUTS(p, " data ");
		cj_printer_bits(p, o->element, o->data, (uint64_t)o->extent);
	}
	print_place(p, o->place);
	PUTS(p, "\n");
}

static void
print_pipeline(struct cj_printer *p, uint32_t number)
{
	const struct cj_pipeline *l = &p->m->pipelines.at[number];
	uint32_t i;

	PRINTF(p, "pipeline %u stages %u", number, l->stages);
	cj_printer_named_text(p, "name", l->name);
	PUTS(p, " fields(");
	for (i = 0; i < l->field_count; i++)
		PRINTF(p, i == 0 ? "@%u" : ", @%u", l->fields[i]);
	PUTS(p, l->is_split ? ") split" : ")");
	if (l->region < p->m->regions.len && p->lives[l->region] != 0)
		NUMBER(p, " in #", p->lives[l->region]);
	print_place(p, l->place);
	PUTS(p, "\n");
}

static void
print_order(struct cj_printer *p, uint32_t number)
{
	const struct cj_turns *o = &p->m->orders.at[number];

	PRINTF(p, "order %u turns %u", number, o->count);
	cj_printer_named_text(p, "name", o->name);
	print_place(p, o->place);
	PUTS(p, "\n");
}

/* What a place means, for readers, where the sources are at hand. */
static void
print_position(struct cj_printer *p, struct cj_span span)
{
	const struct cj_sources *all = p->m->sources;
	const struct cj_source *s;
	struct cj_position at;

	if (all == NULL || span.source == 0 || span.source >= all->all.len)
		return;
	s = cj_source_get(all, span.source);
	at = cj_source_position(s, span.begin);
	PUTS(p, "\t// ");
	PUTS(p, s->name);
	NUMBER(p, ":", at.line);
	NUMBER(p, ":", at.column);
}

static void
print_places(struct cj_printer *p)
{
	uint32_t i;

	if (p->places.len > 0)
		PUTS(p, "\n");
	for (i = 0; i < p->places.len; i++) {
		const struct cj_place_info *info =
		    &p->m->places.at[p->places.at[i]];

		NUMBER(p, "place !", i + 1);
		NUMBER(p, " ", info->span.source);
		NUMBER(p, ":", info->span.begin);
		NUMBER(p, ":", info->span.end);
		if (info->parent != 0)
			NUMBER(p, " in !", p->place[info->parent]);
		if (info->turn >= 0)
			PRINTF(p, " turn %lld", (long long)info->turn);
		print_position(p, info->span);
		PUTS(p, "\n");
	}
}

void
cj_module_print(struct cj_strbuf *out, const struct cj_module *m)
{
	struct cj_printer p;
	uint32_t i;

	init(&p, out, m);
	p.place = CJ_NEWS(out->arena, uint32_t, m->places.len);
	PUTS(&p, "module ");
	cj_printer_text(&p, m->name);
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
	struct cj_printer p;

	assert(function != 0 && function < m->functions.len);
	init(&p, out, m);
	print_function(&p, function);
}
