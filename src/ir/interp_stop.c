/*
 * Stopping at a line: what the first warp that comes there holds, as tables.
 *
 *	variables	registers of each lane that runs
 *	shared memory	by coordinates, where the layout is known; '.' has not
 *			been written by anybody, '~' a copy is on its way there
 *	mbarriers	phases, and what they lack
 *
 * Then the run ends, with nothing wrong.
 */
#include "interp_tma.h"
#include "layout/layout.h"

enum { MOST_COLUMNS = 32, MOST_ROWS = 64, WIDTH = 9 };

static void
put_line(struct cj_frame *f, const struct cj_strbuf *out)
{
	cj_print_line(f, out->text);
}

/* A number, right-aligned in a column. */
static void
put_cell(struct cj_strbuf *out, struct cj_arena *a, enum cj_kind k,
    uint64_t bits)
{
	struct cj_strbuf text;

	cj_strbuf_init(&text, a);
	cj_num_print(&text, k, bits);
	if (text.len >= WIDTH && cj_kind_is_float(k))
		text.text = (char *)cj_printf(a, "%.*g", WIDTH - 6,
		    cj_num_to_f64(k, bits));
	cj_strbuf_printf(out, " %*s", WIDTH - 1, text.text);
}

/* ---- registers ----------------------------------------------------------- */

static cj_region
region_of(const struct cj_frame *f, cj_ref r)
{
	const struct cj_module *m = f->code->module;
	struct cj_walk w;

	for (w = cj_walk_begin(m, m->functions.at[f->code->function].body);
	    cj_walk_next(&w);)
		if (w.event == CJ_WALK_INST && w.ref == r)
			return w.region;
	return 0;
}

static bool
is_alive(const struct cj_module *m, const struct cj_object *o, cj_region at)
{
	for (; at != 0; at = m->regions.at[at].parent)
		if (o->region == at)
			return true;
	return false;
}

static void
put_variable(struct cj_frame *f, uint32_t object)
{
	const struct cj_object *o = &f->code->module->objects.at[object];
	struct cj_arena *a = f->machine->arena;
	uint32_t shown = o->extent < MOST_COLUMNS ? (uint32_t)o->extent :
	    MOST_COLUMNS, lane, i;
	struct cj_strbuf out;

	cj_strbuf_init(&out, a);
	cj_strbuf_printf(&out, "var %s: %s, %lld registers", o->name,
	    cj_kind_text(o->element), (long long)o->extent);
	if (shown < o->extent)
		cj_strbuf_printf(&out, ", the first %u", (unsigned)shown);
	put_line(f, &out);
	cj_strbuf_init(&out, a);
	cj_strbuf_puts(&out, "    lane");
	for (i = 0; i < shown; i++)
		cj_strbuf_printf(&out, " %*u", WIDTH - 1, (unsigned)i);
	put_line(f, &out);
	for (lane = 0; lane < f->lanes; lane++) {
		if (!cj_lane_runs(f, lane))
			continue;
		cj_strbuf_init(&out, a);
		cj_strbuf_printf(&out, "    %4u", (unsigned)lane);
		for (i = 0; i < shown; i++)
			put_cell(&out, a, o->element, cj_reg_get(f->regs +
			    f->code->slot[object], i * f->lanes + lane,
			    o->element));
		put_line(f, &out);
	}
}

static void
put_variables(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_module *m = f->code->module;
	cj_region at = region_of(f, s->ref);
	uint32_t o;

	for (o = 1; o < m->objects.len; o++)
		if (m->objects.at[o].kind == CJ_OBJECT_SLOT &&
		    m->objects.at[o].name != NULL &&
		    f->code->slot[o] != CJ_NO_OFFSET &&
		    is_alive(m, &m->objects.at[o], at))
			put_variable(f, o);
}

/* ---- shared memory ------------------------------------------------------- */

struct grid {
	struct cj_frame *f;
	uint32_t object;
	struct cj_algebra al;
	const struct cj_layout *layout;		/* NULL: by elements */
	int64_t rows, columns;
};

static int64_t
element_at(struct grid *g, int64_t row, int64_t column)
{
	struct cj_int offset;

	if (g->layout == NULL)
		return row * g->columns + column;
	if (!cj_layout_offset(&g->al, g->layout, cj_tuple_known(&g->al,
	    row + column * g->rows), &offset) || !cj_is_known(offset))
		return -1;
	return offset.value;
}

static void
put_element(struct cj_strbuf *out, struct grid *g, int64_t at)
{
	const struct cj_machine *m = g->f->machine;
	const struct cj_memory *memory = &m->memory[g->object];
	enum cj_kind k = g->f->code->module->objects.at[g->object].element;

	if (at < memory->lo || at >= memory->hi)
		cj_strbuf_printf(out, " %*s", WIDTH - 1, "");
	else if (m->async != NULL && m->async->late[g->object] != NULL &&
	    m->async->late[g->object][at])
		cj_strbuf_printf(out, " %*s", WIDTH - 1, "~");
	else if (memory->written != NULL && !memory->written[at])
		cj_strbuf_printf(out, " %*s", WIDTH - 1, ".");
	else
		put_cell(out, m->arena, k, cj_memory_get(memory, k, at));
}

static void
put_rows(struct grid *g)
{
	int64_t shown = g->columns < MOST_COLUMNS ? g->columns : MOST_COLUMNS;
	int64_t row, i;
	struct cj_strbuf out;

	cj_strbuf_init(&out, g->f->machine->arena);
	cj_strbuf_puts(&out, "        ");
	for (i = 0; i < shown; i++)
		cj_strbuf_printf(&out, " %*lld", WIDTH - 1, (long long)i);
	put_line(g->f, &out);
	for (row = 0; row < g->rows && row < MOST_ROWS; row++) {
		cj_strbuf_init(&out, g->f->machine->arena);
		cj_strbuf_printf(&out, "%8lld", (long long)row);
		for (i = 0; i < shown; i++)
			put_element(&out, g, element_at(g, row, i));
		if (shown < g->columns)
			cj_strbuf_puts(&out, " ...");
		put_line(g->f, &out);
	}
	if (row < g->rows)
		cj_print_line(g->f, cj_printf(g->f->machine->arena,
		    "     and %lld rows more", (long long)(g->rows - row)));
}

/* Mode 0 goes down, all others to the right. */
static void
put_shared(struct cj_frame *f, uint32_t object)
{
	const struct cj_object *o = &f->code->module->objects.at[object];
	struct cj_arena *a = f->machine->arena;
	struct grid g = { .f = f, .object = object, .rows = 1,
	    .columns = o->extent };
	struct cj_names names;
	struct cj_symtab syms;

	cj_names_init(&names, a);
	cj_symtab_init(&syms, a, &names);
	cj_algebra_init(&g.al, a, &syms);
	if (o->layout != NULL)
		g.layout = cj_layout_read(&g.al, o->layout,
		    strlen(o->layout));
	if (g.layout != NULL && cj_layout_rank(g.layout) > 1) {
		g.rows = cj_layout_size(&g.al, cj_layout_get(&g.al, g.layout,
		    0)).value;
		g.columns = cj_layout_size(&g.al, g.layout).value / g.rows;
	} else {
		g.layout = NULL;
		g.columns = MOST_COLUMNS / 2;
		g.rows = (o->extent + g.columns - 1) / g.columns;
	}
	cj_print_line(f, cj_printf(a, "shared %s: %s %s", o->name != NULL ?
	    o->name : "", cj_kind_text(o->element), o->layout != NULL ?
	    o->layout : ""));
	put_rows(&g);
	cj_names_fini(&names);
}

static void
put_mbarriers(struct cj_frame *f, uint32_t object)
{
	const struct cj_object *o = &f->code->module->objects.at[object];
	struct cj_arena *a = f->machine->arena;
	int64_t i;

	cj_print_line(f, cj_printf(a, "mbarriers %s", o->name));
	for (i = 0; i < o->extent; i++) {
		struct cj_mbarrier_state b = cj_mbarrier_look(f, object, i);

		cj_print_line(f, b.count == 0 ? cj_printf(a,
		    "%8lld  not initialised", (long long)i) : cj_printf(a,
		    "%8lld  phase %llu lacks %u of %u arrivals, %lld bytes",
		    (long long)i, (unsigned long long)b.phase,
		    (unsigned)b.pending, (unsigned)b.count,
		    (long long)b.tx));
	}
}

void
cj_stop_show(struct cj_frame *f, const struct cj_step *s)
{
	const struct cj_module *m = f->code->module;
	uint32_t o;

	put_variables(f, s);
	for (o = 1; o < m->objects.len; o++) {
		if (m->objects.at[o].kind != CJ_OBJECT_SHARED ||
		    f->machine->memory[o].data == NULL)
			continue;
		if (m->objects.at[o].element == CJ_KIND_MBARRIER)
			put_mbarriers(f, o);
		else
			put_shared(f, o);
	}
}
