/*
 * Faults of the program and lines of print: kept per thread of ours, brought
 * into the order of blocks at the end, so that the output is the same however
 * the blocks were spread.
 *
 * A fault is kept once per code and place, the first one with its text, the
 * others as a number; at most KEPT_PLACES places of a code are kept.
 */
#include "interp_priv.h"

enum {
	KEPT_PLACES = 20, LONGEST_TRAIL = 16,
	MOST_FAULTS = 1 << 20		/* then races are no longer watched */
};

void
cj_fault_list_init(struct cj_fault_list *l, struct cj_arena *a)
{
	memset(l, 0, sizeof *l);
	l->arena = a;
}

/* ---- who ----------------------------------------------------------------- */

const char *
cj_who(struct cj_arena *a, const struct cj_frame *f, uint32_t lane)
{
	const struct cj_block *b = f->machine->block;
	uint32_t t = f->warp * CJ_LANES_WARP + lane;

	if (b != NULL && f->lanes == CJ_LANES_WARP)
		return cj_printf(a, "block (%lld, %lld, %lld) thread "
		    "(%lld, %lld, %lld)", (long long)b->at[0],
		    (long long)b->at[1], (long long)b->at[2],
		    (long long)b->thread[0][t], (long long)b->thread[1][t],
		    (long long)b->thread[2][t]);
	if (f->lanes == CJ_LANES_MAP)
		return cj_printf(a, "element %lld",
		    (long long)(f->base + lane));
	return "";
}

/* ---- collecting ---------------------------------------------------------- */

static struct cj_span
span_of(const struct cj_module *m, cj_place place)
{
	const struct cj_span none = { 0, 0, 0 };

	return place == 0 ? none : m->places.at[place].span;
}

static bool
is_at(const struct cj_fault *p, const struct cj_module *m, cj_ref ref)
{
	struct cj_span a, b;

	if (p->ref == 0 || ref == 0)
		return p->ref == ref;
	a = span_of(m, cj_inst(m, p->ref)->place);
	b = span_of(m, cj_inst(m, ref)->place);
	return a.source != 0 && a.source == b.source && a.begin == b.begin
	    && a.end == b.end;
}

/* What a line does is said once, however many equal instructions became of it:
 * elements of a vector, turns of a static loop. */
static struct cj_fault *
find(const struct cj_fault_list *l, const struct cj_module *m,
    enum cj_code code, cj_ref ref)
{
	struct cj_fault *p;

	for (p = l->first; p != NULL; p = p->next)
		if (p->code == code && (p->ref == ref || (is_at(p, m, ref) &&
		    cj_inst(m, p->ref)->op == cj_inst(m, ref)->op)))
			return p;
	return NULL;
}

/* A new entry, or NULL if the code has enough places. */
static struct cj_fault *
add(struct cj_fault_list *l, enum cj_code code, cj_ref ref)
{
	struct cj_fault *p;

	assert(code != CJ_DIAG_NONE && code < CJ_DIAG_COUNT);
	if (l->places[code] == KEPT_PLACES)
		return NULL;
	l->places[code]++;
	p = CJ_NEW(l->arena, struct cj_fault);
	p->code = code;
	p->ref = ref;
	p->next = l->first;
	l->first = p;
	return p;
}

/* Who it was stands where the text has CJ_WHO, or at its end. */
static const char *
with_who(struct cj_arena *a, const char *text, const char *who)
{
	const char *at = strchr(text, CJ_WHO[0]);

	if (at == NULL)
		return *who == '\0' ? text
		    : cj_printf(a, "%s, in %s", text, who);
	return cj_printf(a, "%.*s%s%s%s", (int)(at - text), text,
	    *who == '\0' ? "" : " in ", who, at + 1);
}

bool
cj_fault_again(struct cj_frame *f, const struct cj_step *s, enum cj_code code)
{
	struct cj_fault_list *l = f->machine->faults;
	struct cj_fault *p = find(l, f->code->module, code, s->ref);

	if (p == NULL && l->places[code] < KEPT_PLACES)
		return false;
	l->total++;
	if (l->total == MOST_FAULTS)
		cj_race_give_up(f, "it has more than 2^20 faults");
	if (p != NULL)
		p->count++;
	else
		l->unkept[code]++;
	return true;
}

struct cj_fault *
cj_fault_at(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    enum cj_code code, const char *format, ...)
{
	struct cj_fault_list *l = f->machine->faults;
	struct cj_fault *p;
	struct cj_strbuf text;
	const char *whole;
	va_list ap;

	if (f->machine->host != NULL)
		cj_frame_stop(f);	/* nothing is launched then */
	if (cj_fault_again(f, s, code))
		return NULL;
	cj_strbuf_init(&text, l->arena);
	va_start(ap, format);
	cj_strbuf_vprintf(&text, format, ap);
	va_end(ap);
	whole = with_who(l->arena, text.text, cj_who(l->arena, f, lane));
	l->total++;
	p = add(l, code, s->ref);	/* memory may end in front of it */
	p->text = whole;
	p->count = 1;
	p->block = f->machine->block != NULL ? f->machine->block->number
	    : (uint64_t)f->base;
	p->order = l->order++;
	return p;
}

static bool
is_earlier(const struct cj_fault *a, const struct cj_fault *b)
{
	return a->block != b->block ? a->block < b->block
	    : a->order < b->order;
}

static void
take_over(struct cj_fault_list *to, struct cj_fault *p,
    const struct cj_fault *q)
{
	uint64_t count = p->count + q->count;

	assert(p->code == q->code);
	if (p->count == 0 || is_earlier(q, p)) {
		p->ref = q->ref;
		p->block = q->block;
		p->order = q->order;
		p->other = q->other;
		p->text = cj_strdup(to->arena, q->text);
		p->note = q->note == NULL ? NULL
		    : cj_strdup(to->arena, q->note);
	}
	p->count = count;
}

void
cj_fault_merge(struct cj_fault_list *to, const struct cj_module *m,
    const struct cj_fault_list *from)
{
	const struct cj_fault *q;
	unsigned code;

	if (from->total == 0)
		return;
	to->total += from->total;
	for (code = 0; code < CJ_DIAG_COUNT; code++)
		to->unkept[code] += from->unkept[code];
	for (q = from->first; q != NULL; q = q->next) {
		struct cj_fault *p = find(to, m, q->code, q->ref);

		if (p == NULL)
			p = add(to, q->code, q->ref);
		if (p == NULL)
			to->unkept[q->code] += q->count;
		else
			take_over(to, p, q);
	}
}

/* ---- reporting ----------------------------------------------------------- */

/* The calls and turns of static loops that led to a place. */
static void
add_trail(struct cj_diag *d, const struct cj_module *m, cj_place place)
{
	unsigned n = 0;

	while (place != 0 && m->places.at[place].parent != 0) {
		const struct cj_place_info *p;

		if (n++ == LONGEST_TRAIL) {
			cj_note(d, span_of(m, place), "and so on");
			return;
		}
		place = m->places.at[place].parent;
		p = &m->places.at[place];
		if (p->turn >= 0)
			cj_note(d, p->span, "in turn %lld of this loop",
			    (long long)p->turn);
		else
			cj_note(d, p->span, "called from here");
	}
}

/* What is touched out of bounds is the cause of much else. */
static bool
is_cause(const struct cj_fault *p)
{
	return p->code == CJ_DIAG_OUT_OF_BOUNDS;
}

static bool
may_follow(const struct cj_fault *p)
{
	return p->code == CJ_DIAG_RACE || p->code == CJ_DIAG_DEADLOCK ||
	    p->code == CJ_DIAG_NEVER_WRITTEN || p->code == CJ_DIAG_IN_FLIGHT;
}

static bool
comes_first(const struct cj_fault *a, const struct cj_fault *b)
{
	return is_cause(a) != is_cause(b) ? is_cause(a) : is_earlier(a, b);
}

/* Causes, then in the order of blocks; selection, since there are few. */
static struct cj_fault *
take_first(struct cj_fault_list *l)
{
	struct cj_fault **best = &l->first, **at, *p;

	if (l->first == NULL)
		return NULL;
	for (at = &l->first->next; *at != NULL; at = &(*at)->next)
		if (comes_first(*at, *best))
			best = at;
	p = *best;
	*best = p->next;
	return p;
}

/* By a comment at its line, or at that of the other side. */
static bool
is_allowed(const struct cj_fault *p, const struct cj_module *m,
    const struct cj_diags *ds)
{
	return (p->ref != 0 && cj_diag_is_allowed(ds, p->code,
	    span_of(m, cj_inst(m, p->ref)->place)))
	    || (p->other != 0 && cj_diag_is_allowed(ds, p->code,
	    span_of(m, cj_inst(m, p->other)->place)));
}

static void
report(const struct cj_fault *p, const struct cj_module *m,
    struct cj_diags *ds, bool follows)
{
	cj_place place = p->ref == 0 ? 0 : cj_inst(m, p->ref)->place;
	struct cj_span none = { 0, 0, 0 };
	struct cj_diag *d = cj_report(ds, p->code, span_of(m, place), "%s",
	    p->text);

	if (p->other != 0)
		cj_note(d, span_of(m, cj_inst(m, p->other)->place),
		    "%s", p->note != NULL ? p->note : "the other side is here");
	else if (p->note != NULL)
		cj_note(d, none, "%s", p->note);
	if (p->count > 1)
		cj_note(d, none, "and %llu more at this place",
		    (unsigned long long)(p->count - 1));
	if (follows)
		cj_note(d, none, "it and what is below may follow from what "
		    "is out of bounds");
	add_trail(d, m, place);
}

uint64_t
cj_fault_report(struct cj_fault_list *l, const struct cj_module *m,
    struct cj_diags *ds)
{
	struct cj_span none = { 0, 0, 0 };
	struct cj_fault *p;
	uint32_t limit = ds->limit;
	bool has_cause = false, follows, is_told = false;
	unsigned code;

	/* each kind has its own, KEPT_PLACES, and says how many it left out */
	ds->limit = UINT32_MAX;
	while ((p = take_first(l)) != NULL) {
		if (is_allowed(p, m, ds)) {
			l->total -= p->count;
			continue;
		}
		follows = has_cause && may_follow(p);
		report(p, m, ds, follows && !is_told);
		is_told = is_told || follows;
		has_cause = has_cause || is_cause(p);
	}
	for (code = 0; code < CJ_DIAG_COUNT; code++)
		if (l->unkept[code] != 0)
			cj_report(ds, (enum cj_code)code, none,
			    "and %llu more of this kind at other places",
			    (unsigned long long)l->unkept[code]);
	ds->limit = limit;
	return l->total;
}

bool
cj_fault_is_known(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_module *m = f->code->module;
	const struct cj_fault *p;

	for (p = f->machine->faults->first; p != NULL; p = p->next)
		if (p->code == CJ_DIAG_OUT_OF_BOUNDS && is_at(p, m, s->ref) &&
		    cj_inst(m, p->ref)->op == CJ_OP_INSIDE)
			return true;
	return false;
}

/* ---- print --------------------------------------------------------------- */

void
cj_print_line(struct cj_frame *f, const char *text)
{
	struct cj_machine *m = f->machine;
	struct cj_lines *l = m->lines;
	struct cj_line *line;

	if (m->print == NULL)
		return;
	if (l == NULL) {
		m->print(m->print_user, text);
		return;
	}
	if (l->kept == CJ_MAX_LINES) {
		l->lost++;
		return;
	}
	l->kept++;
	line = CJ_NEW(l->arena, struct cj_line);
	line->block = m->block == NULL ? (uint64_t)f->base : m->block->number;
	line->text = text;
	*l->last = line;
	l->last = &line->next;
}

void
cj_lines_print(struct cj_lines **all, unsigned count,
    void (*print)(void *user, const char *text), void *user)
{
	uint64_t lost = 0;
	char text[64];
	unsigned i;

	for (;;) {			/* the block that comes first */
		struct cj_lines *best = NULL;

		for (i = 0; i < count; i++)
			if (all[i]->first != NULL && (best == NULL
			    || all[i]->first->block < best->first->block))
				best = all[i];
		if (best == NULL)
			break;
		print(user, best->first->text);
		best->first = best->first->next;
	}
	for (i = 0; i < count; i++)
		lost += all[i]->lost;
	if (lost == 0)
		return;
	snprintf(text, sizeof text, "%llu more lines were lost",
	    (unsigned long long)lost);
	print(user, text);
}

/* One operand of one lane: a number, or [a, b] for several registers. */
static void
print_operand(struct cj_strbuf *out, const struct cj_frame *f, cj_ref v,
    uint32_t offset, uint32_t lane)
{
	cj_type t = cj_inst(f->code->module, v)->type;
	uint32_t count = cj_type_count(t), r;

	if (count != 1)
		cj_strbuf_putc(out, '[');
	for (r = 0; r < count; r++) {
		if (r != 0)
			cj_strbuf_puts(out, ", ");
		cj_num_print(out, cj_type_kind(t), cj_reg_get(f->regs + offset,
		    r * f->lanes + lane, cj_type_kind(t)));
	}
	if (count != 1)
		cj_strbuf_putc(out, ']');
}

static const char *
format_line(struct cj_frame *f, const struct cj_step *s, uint32_t lane)
{
	const struct cj_module *m = f->code->module;
	const struct cj_inst *i = cj_step_inst(f, s);
	const char *text = m->texts.at[i->attr];
	/* a line without operands may have no list at all */
	const uint32_t *at = i->operand_count == 0 ? NULL :
	    &f->code->lists.at[s->a];
	struct cj_strbuf out;
	const char *who = cj_who(f->machine->arena, f, lane);
	unsigned n = 0;

	cj_strbuf_init(&out, f->machine->arena);
	if (*who != '\0' && f->machine->block != NULL)
		cj_strbuf_printf(&out, "%s: ", who);
	for (; *text != '\0'; text++) {
		if (text[0] != '{' || text[1] != '}'
		    || n == i->operand_count) {
			cj_strbuf_putc(&out, *text);
			continue;
		}
		print_operand(&out, f, cj_operand(m, i, n), at[n], lane);
		n++;
		text++;
	}
	return out.text;
}

/* a: the operands' offsets in `lists`. */
static void
step_print(struct cj_frame *f, const struct cj_step *s)
{
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++)
		if (cj_lane_runs(f, lane) && f->machine->print != NULL)
			cj_print_line(f, format_line(f, s, lane));
}

void
cj_interp_PRINT(struct cj_decoder *d, cj_ref r)
{
	uint32_t at = cj_decode_list(d, r, 0);

	cj_step_add(d, r, step_print)->a = at;
}

/* ---- assert -------------------------------------------------------------- */

/* A host or test function ends there; threads are reported one and all, then
 * the launch ends. a: condition. */
static void
step_assert(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_module *m = f->code->module;
	const uint8_t *condition = cj_mask(f, s->a);
	uint32_t lane;
	bool failed = false;

	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane) || condition[lane])
			continue;
		cj_fault_at(f, s, lane, CJ_DIAG_ASSERTION,
		    "assertion failed: %s",
		    m->texts.at[cj_step_inst(f, s)->attr]);
		failed = true;
	}
	if (failed)
		cj_frame_stop(f);
}

/* a: coordinate, b: extent of its mode. The access itself follows. */
static void
step_inside(struct cj_frame *f, const struct cj_step *s)
{
	const int64_t *at = CJ_AT(f, int64_t, s->a);
	const int64_t *extent = CJ_AT(f, int64_t, s->b);
	uint64_t outside = 0;
	uint32_t lane;

	for (lane = 0; lane < f->lanes; lane++)
		outside |= (uint64_t)((at[lane] < 0) |
		    (at[lane] >= extent[lane])) & f->regs[CJ_FRAME_MASK +
		    lane];
	if (outside == 0 || !(f->machine->checks & CJ_CHECK_BOUNDS))
		return;
	for (lane = 0; lane < f->lanes; lane++)
		if (cj_lane_runs(f, lane) && (at[lane] < 0 ||
		    at[lane] >= extent[lane]) && !cj_fault_again(f, s,
		    CJ_DIAG_OUT_OF_BOUNDS))
			cj_fault_at(f, s, lane, CJ_DIAG_OUT_OF_BOUNDS,
			    "%s is touched at %lld" CJ_WHO ", outside 0..%lld",
			    f->code->module->texts.at[cj_step_inst(f,
			    s)->attr], (long long)at[lane],
			    (long long)extent[lane]);
}

void
cj_interp_INSIDE(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_inside);
}

void
cj_interp_ASSERT(struct cj_decoder *d, cj_ref r)
{
	uint32_t at = cj_decode_operand(d, r, 0);

	cj_step_add(d, r, step_assert)->a = at;
}
