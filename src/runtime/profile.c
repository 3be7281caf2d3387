/*
 * Counts of instructions become costs of lines, and JSON.
 */
#include <stdlib.h>

#include "profile.h"

/* ---- lines --------------------------------------------------------------- */

static struct cj_line_cost *
line_of(struct cj_profiled *p, struct cj_span span)
{
	const struct cj_source *s = cj_source_get(p->ir->sources,
	    span.source);
	uint32_t line = cj_source_position(s, span.begin).line, i;
	struct cj_line_cost *c;

	for (i = 0; i < p->lines.len; i++) {
		c = &p->lines.at[i];
		if (c->source == span.source && c->line == line)
			return c;
	}
	c = cj_push(p->arena, &p->lines);
	memset(c, 0, sizeof *c);
	c->source = span.source;
	c->line = line;
	return c;
}

static void
add(struct cj_line_cost *to, const struct cj_count *c, unsigned op)
{
	to->sum.bytes += c->bytes;
	to->sum.lines += c->lines;
	to->sum.sectors += c->sectors;
	to->sum.passes += c->passes;
	to->sum.conflicts += c->conflicts;
	switch (op) {
	case CJ_OP_BARRIER: case CJ_OP_CLUSTER_BARRIER:
	case CJ_OP_NAMED_BARRIER: case CJ_OP_NAMED_ARRIVE:
	case CJ_OP_MBARRIER_ARRIVE: case CJ_OP_MBARRIER_EXPECT:
	case CJ_OP_MBARRIER_WAIT:
		to->barriers += c->warps;
		break;
	case CJ_OP_MMA: case CJ_OP_MMA_SPARSE: case CJ_OP_WGMMA:
		to->products += c->warps;
		break;
	case CJ_OP_CP_ASYNC: case CJ_OP_TMA_LOAD: case CJ_OP_TMA_STORE:
	case CJ_OP_BULK_COPY:
		to->copies += c->warps;
		break;
	}
	if (c->warps > to->sum.warps || (c->warps == to->sum.warps
	    && c->lanes > to->sum.lanes)) {
		to->sum.warps = c->warps;
		to->sum.lanes = c->lanes;
	}
}

static int
compare(const void *a, const void *b)
{
	const struct cj_line_cost *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

void
cj_profile_lines(struct cj_profiled *p)
{
	const struct cj_module *m = p->ir;
	uint32_t i;

	for (i = 1; i < m->insts.len; i++) {
		const struct cj_count *c = &p->counts->at[i];
		const struct cj_inst *inst = &m->insts.at[i];
		struct cj_span span;

		if (c->warps == 0 || inst->op == CJ_OP_CONST)
			continue;
		add(&p->total, c, inst->op);
		if (inst->place == 0 || m->sources == NULL)
			continue;
		span = m->places.at[inst->place].span;
		if (span.source != 0)
			add(line_of(p, span), c, inst->op);
	}
	if (p->lines.len != 0)
		qsort(p->lines.at, p->lines.len, sizeof *p->lines.at,
		    compare);
}

/* ---- JSON ---------------------------------------------------------------- */

void
cj_profile_text(struct cj_strbuf *out, const char *text)
{
	cj_strbuf_putc(out, '"');
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			cj_strbuf_printf(out, "\\%c", c);
		else if (c < 0x20)
			cj_strbuf_printf(out, "\\u%04x", c);
		else
			cj_strbuf_putc(out, (char)c);
	}
	cj_strbuf_putc(out, '"');
}

static void
put_cost(struct cj_strbuf *out, const struct cj_line_cost *c)
{
	const struct {
		const char *name;
		uint64_t value;
	} all[] = {
		{ "warps", c->sum.warps }, { "lanes", c->sum.lanes },
		{ "bytes", c->sum.bytes }, { "global_lines", c->sum.lines },
		{ "global_sectors", c->sum.sectors },
		{ "shared_passes", c->sum.passes },
		{ "bank_conflicts", c->sum.conflicts },
		{ "barriers", c->barriers }, { "products", c->products },
		{ "copies", c->copies }
	};
	size_t i;

	for (i = 0; i < CJ_LENGTH(all); i++)
		cj_strbuf_printf(out, "%s\"%s\": %llu", i == 0 ? "" : ", ",
		    all[i].name, (unsigned long long)all[i].value);
}

static void
put_launches(struct cj_strbuf *out, const struct cj_profiled *p)
{
	const char *between = "";
	uint32_t i;

	for (i = 0; i < p->plan->steps.len; i++) {
		const struct cj_plan_step *s = &p->plan->steps.at[i];

		if (s->kind != CJ_STEP_LAUNCH)
			continue;
		cj_strbuf_printf(out, "%s\n    {\"grid\": [%lld, %lld, %lld],"
		    " \"block\": [%lld, %lld, %lld]}", between,
		    (long long)s->grid[0], (long long)s->grid[1],
		    (long long)s->grid[2], (long long)s->block[0],
		    (long long)s->block[1], (long long)s->block[2]);
		between = ",";
	}
}

static void
put_shared(struct cj_strbuf *out, const struct cj_profiled *p)
{
	const char *between = "";
	uint32_t i, b;

	for (i = 1; i < p->ir->objects.len; i++) {
		const struct cj_object *o = &p->ir->objects.at[i];

		if (o->kind != CJ_OBJECT_SHARED)
			continue;
		cj_strbuf_printf(out, "%s\n    {\"name\": ", between);
		cj_profile_text(out, o->name == NULL ? "" : o->name);
		cj_strbuf_puts(out, ", \"layout\": ");
		cj_profile_text(out, o->layout == NULL ? "" : o->layout);
		cj_strbuf_puts(out, ", \"words_by_bank\": [");
		for (b = 0; b < CJ_BANKS; b++)
			cj_strbuf_printf(out, b == 0 ? "%llu" : ", %llu",
			    (unsigned long long)
			    p->counts->bank[i].words[b]);
		cj_strbuf_puts(out, "]}");
		between = ",";
	}
}

static void
put_lines(struct cj_strbuf *out, const struct cj_profiled *p)
{
	uint32_t i;

	for (i = 0; i < p->lines.len; i++) {
		const struct cj_line_cost *c = &p->lines.at[i];

		cj_strbuf_puts(out, i == 0 ? "\n    {\"file\": "
		    : ",\n    {\"file\": ");
		cj_profile_text(out, cj_source_get(p->ir->sources,
		    c->source)->name);
		cj_strbuf_printf(out, ", \"line\": %u, ", (unsigned)c->line);
		put_cost(out, c);
		cj_strbuf_putc(out, '}');
	}
}

void
cj_profile_json(struct cj_strbuf *out, const struct cj_profiled *p)
{
	cj_strbuf_puts(out, "{\n  \"kernel\": ");
	cj_profile_text(out, p->kernel);
	cj_strbuf_puts(out, ",\n  \"launches\": [");
	put_launches(out, p);
	cj_strbuf_puts(out, "\n  ],\n  \"total\": {");
	put_cost(out, &p->total);
	cj_strbuf_puts(out, "},\n  \"lines\": [");
	put_lines(out, p);
	cj_strbuf_puts(out, "\n  ],\n  \"shared\": [");
	put_shared(out, p);
	cj_strbuf_puts(out, "\n  ]\n}\n");
}
