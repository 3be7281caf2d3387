/*
 * Traces: each line that one block's warps run, and what it reads and writes.
 *
 *	block (0, 0, 0) warp 1: reverse.cute:9: y[t] = s[63 - t];
 *	    s[63 - t] = 0.5, 0.25, 2, 1, 0, 3, 4, 7, ...
 *	    y[t] = s[63 - t]; stores 0.5, 0.25, 2, 1, 0, 3, 4, 7, ...
 *
 * An expression's text is that of its place. Lanes that do not take part are
 * left out.
 */
#include "interp_priv.h"

enum { SHOWN_LANES = 8, SHOWN_REGISTERS = 4, LONGEST = 60 };

static bool
is_traced(const struct cj_frame *f)
{
	const struct cj_trace *t = f->machine->trace;
	const struct cj_block *b = f->machine->block;

	return b != NULL && b->number == t->block
	    && (t->warp == CJ_TRACE_ALL || t->warp == f->warp);
}

static cj_place
place_of(const struct cj_frame *f, const struct cj_step *s)
{
	return s->ref == 0 ? 0 : cj_step_inst(f, s)->place;
}

/* The text of a place: one line, not too long; NULL: there is none. */
static const struct cj_source *
source_of(const struct cj_frame *f, cj_place place, struct cj_span *span)
{
	const struct cj_module *m = f->code->module;

	if (place == 0 || m->sources == NULL)
		return NULL;
	*span = m->places.at[place].span;
	return span->source == 0 ? NULL
	    : cj_source_get(m->sources, span->source);
}

static void
put_text(struct cj_strbuf *out, const char *text, size_t length)
{
	size_t i, n = length < LONGEST ? length : LONGEST;

	for (i = 0; i < n && text[i] != '\n'; i++)
		cj_strbuf_putc(out, text[i]);
	if (i < length)
		cj_strbuf_puts(out, " ...");
}

/* ---- lines --------------------------------------------------------------- */

static void
show_line(struct cj_frame *f, cj_place place)
{
	const struct cj_block *b = f->machine->block;
	struct cj_span span = { 0, 0, 0 };
	const struct cj_source *s = source_of(f, place, &span);
	struct cj_strbuf out;
	const char *text;
	uint32_t line, length;

	if (s == NULL)
		return;
	line = cj_source_position(s, span.begin).line;
	if (f->traced_source == span.source && f->traced_line == line)
		return;
	f->traced_source = span.source;
	f->traced_line = line;
	text = cj_source_line(s, line, &length);
	while (length != 0 && (*text == ' ' || *text == '\t')) {
		text++;
		length--;
	}
	cj_strbuf_init(&out, f->machine->arena);
	cj_strbuf_printf(&out, "block (%lld, %lld, %lld) warp %u: %s:%u: ",
	    (long long)b->at[0], (long long)b->at[1], (long long)b->at[2],
	    (unsigned)f->warp, s->name, (unsigned)line);
	cj_strbuf_printf(&out, "%.*s", (int)length, text);
	cj_print_line(f, out.text);
}

/* ---- values -------------------------------------------------------------- */

static void
put_lane(struct cj_strbuf *out, const struct cj_frame *f, cj_type t,
    uint32_t offset, uint32_t lane)
{
	uint32_t count = cj_type_count(t), r;

	if (count != 1)
		cj_strbuf_putc(out, '[');
	for (r = 0; r < count && r < SHOWN_REGISTERS; r++) {
		if (r != 0)
			cj_strbuf_puts(out, ", ");
		cj_num_print(out, cj_type_kind(t), cj_reg_get(f->regs
		    + offset, r * f->lanes + lane, cj_type_kind(t)));
	}
	if (count > SHOWN_REGISTERS)
		cj_strbuf_puts(out, ", ...");
	if (count != 1)
		cj_strbuf_putc(out, ']');
}

static bool
is_same(const struct cj_frame *f, cj_type t, uint32_t offset, uint32_t a,
    uint32_t b)
{
	enum cj_kind k = cj_type_kind(t);
	uint32_t r;

	for (r = 0; r < cj_type_count(t); r++)
		if (cj_reg_get(f->regs + offset, r * f->lanes + a, k)
		    != cj_reg_get(f->regs + offset, r * f->lanes + b, k))
			return false;
	return true;
}

static void
put_lanes(struct cj_strbuf *out, const struct cj_frame *f, cj_type t,
    uint32_t offset)
{
	uint32_t first = cj_first_lane(f), lane, shown = 0;
	bool same = true;

	for (lane = first; lane < f->lanes; lane++)
		same &= !cj_lane_runs(f, lane)
		    || is_same(f, t, offset, first, lane);
	if (same) {
		put_lane(out, f, t, offset, first);
		cj_strbuf_puts(out, f->full ? " in all lanes"
		    : " in all lanes here");
		return;
	}
	for (lane = first; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane))
			continue;
		if (shown != 0)
			cj_strbuf_puts(out, ", ");
		if (shown++ == SHOWN_LANES) {
			cj_strbuf_puts(out, "...");
			return;
		}
		put_lane(out, f, t, offset, lane);
	}
}

static void
show_value(struct cj_frame *f, const struct cj_step *s, cj_place place)
{
	const struct cj_inst *i = cj_step_inst(f, s);
	struct cj_span span = { 0, 0, 0 };
	const struct cj_source *source = source_of(f, place, &span);
	struct cj_strbuf out;
	uint32_t offset = s->op == CJ_OP_STORE ? s->b : s->dst;
	cj_type t = s->op == CJ_OP_STORE ? cj_inst(f->code->module,
	    cj_operand(f->code->module, i, 1))->type : i->type;

	if (source == NULL || t == 0 || offset == CJ_NO_OFFSET || !f->any
	    || i->region != 0)
		return;
	cj_strbuf_init(&out, f->machine->arena);
	cj_strbuf_puts(&out, "    ");
	put_text(&out, source->text + span.begin, span.end - span.begin);
	cj_strbuf_puts(&out, s->op == CJ_OP_STORE ? " stores " : " = ");
	put_lanes(&out, f, t, offset);
	cj_print_line(f, out.text);
}

/* ---- steps --------------------------------------------------------------- */

static bool
is_at_line(const struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_trace *t = f->machine->trace;
	struct cj_span span = { 0, 0, 0 };
	const struct cj_source *source = source_of(f, place_of(f, s), &span);

	return source != NULL && span.source == t->stop_source &&
	    cj_source_position(source, span.begin).line == t->stop_line;
}

static bool
is_pure(const struct cj_step *s)
{
	return cj_op_info[s->op].effects == CJ_EFFECTS_PURE;
}

/* Pure operations move; they stand for a line that has nothing else. */
static bool
stands_for_line(const struct cj_frame *f, const struct cj_step *s)
{
	uint32_t i;

	for (i = 0; is_pure(s) && i < f->code->steps.len; i++)
		if (!is_pure(&f->code->steps.at[i]) &&
		    is_at_line(f, &f->code->steps.at[i]))
			return false;
	return true;
}

/* The first warp that comes to the line stops the run. */
static void
stop_at(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_trace *t = f->machine->trace;

	if (*t->reached || !f->any || !is_at_line(f, s) ||
	    !stands_for_line(f, s))
		return;
	*t->reached = true;
	show_line(f, place_of(f, s));
	cj_stop_show(f, s);
	cj_frame_stop(f);
}

void
cj_trace_before(struct cj_frame *f, const struct cj_step *s)
{
	if (f->machine->trace->stop_line != 0) {
		if (is_traced(f) && s->op != CJ_OP_CONST)
			stop_at(f, s);
		return;
	}
	if (is_traced(f) && s->op != CJ_OP_CONST)
		show_line(f, place_of(f, s));
}

/* Only what meets memory or other lanes gives what its text says: parts of
 * pure expressions move. */
static bool
is_telling(const struct cj_step *s)
{
	enum cj_effects e = cj_op_info[s->op].effects;

	return s->op != CJ_OP_SLOT_GET && s->op != CJ_OP_SLOT_SET
	    && (e == CJ_EFFECTS_READ || e == CJ_EFFECTS_WRITE
	    || e == CJ_EFFECTS_SYNC);
}

void
cj_trace_after(struct cj_frame *f, const struct cj_step *s)
{
	cj_place place = place_of(f, s);

	if (place != 0 && is_traced(f) && is_telling(s) &&
	    f->machine->trace->stop_line == 0)
		show_value(f, s, place);
}
