/*
 * Copies of boxes through tensor maps: copy() with what tma_load(), tma_store()
 * and their kin have made.
 */
#include "elab_gather.h"
#include "elab_tma.h"

/* ---- boxes --------------------------------------------------------------- */
/* Of rows by number: a column, and four of them for each box. */
static unsigned
add_rows(struct cj_elab *el, const struct cj_tma_value *t, uint32_t b,
    const struct cj_tma_place *to, cj_ref *refs, unsigned n)
{
	uint32_t i;

	refs[n++] = cj_elab_ref_int(el, cj_int_add(&el->sym, to->at[0],
	    cj_known(t->start[b][0])));
	for (i = 0; i < CJ_MAP_ROW_COUNT; i++)
		refs[n++] = cj_elab_ref_int(el, to->rows[t->start[b][1] + i]);
	return n;
}

/* coordinates of box b behind refs[n] */
static unsigned
add_coordinates(struct cj_elab *el, const struct cj_tma_value *t, uint32_t b,
    const struct cj_tma_place *to, cj_ref *refs, unsigned n)
{
	bool has_pixels = t->kind == CJ_MAP_PIXELS;
	uint32_t i;

	if (t->kind == CJ_MAP_ROWS)
		return add_rows(el, t, b, to, refs, n);
	for (i = 0; i < t->rank; i++)
		refs[n++] = cj_elab_ref_int(el, cj_int_add(&el->sym,
		    to->at[has_pixels ? i : t->mode[i]], cj_known(
		    t->start[b][i] * (has_pixels ? 1 :
		    t->step[t->mode[i]]))));
	for (i = t->rank; has_pixels && i < 2 * t->rank - 2; i++)
		refs[n++] = cj_elab_ref_int(el, to->at[i]);
	return n;
}

/* Into a stage that is filled, or out of one that is read: pipelines see to
 * the rest. */
static bool
is_staged(struct cj_elab *el, struct cj_args *args,
    const struct cj_tensor *shared, bool stores)
{
	const struct cj_open_stage *s = el->stage;

	while (s != NULL && s->id != shared->stage)
		s = s->outer;
	return shared->stage != 0 && s != NULL && s->is_produce == !stores &&
	    cj_arg_named(el, args, "raw") == NULL &&
	    cj_arg_named(el, args, "barrier") == NULL;
}

/* The map itself, or one that map = m names; 0: reported. */
static cj_ref
map_of(struct cj_elab *el, struct cj_args *args, const struct cj_tma_value *t)
{
	const struct cj_value *v = cj_arg_named(el, args, "map");

	if (v == NULL)
		return cj_elab_ref(el, &t->map, CJ_KIND_VOID);
	return cj_elab_map_at(el, args->span, v);
}

void
cj_tma_emit_boxes(struct cj_elab *el, const struct cj_tma_value *t,
    const struct cj_tma_boxes *boxes, const struct cj_tma_place *to)
{
	cj_ref refs[4 + CJ_MAP_NUMBERS];
	uint32_t b;
	unsigned n;

	for (b = 0; b < t->boxes; b++) {
		n = 0;
		refs[n++] = cj_elab_ref_int(el, cj_int_add(&el->sym,
		    boxes->place, cj_known(t->place[b])));
		refs[n++] = boxes->map;
		if (boxes->copy.signal != 0)
			refs[n++] = boxes->signal;
		n = add_coordinates(el, t, b, to, refs, n);
		if (boxes->ranks != 0)
			refs[n++] = boxes->ranks;
		cj_emit(&el->em->b, t->stores ? CJ_OP_TMA_STORE :
		    CJ_OP_TMA_LOAD, 0, cj_module_tma(el->m, &boxes->copy),
		    refs, n);
	}
}

/* ---- what will be loaded soon -------------------------------------------- */

/* Which boxes of a tile come to L2, with no place in shared memory. */
struct cj_value
cj_tma_ask(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t)
{
	const struct cj_value *tile = &args->at[1];
	struct cj_tma_place to = { .rows = NULL };
	cj_ref refs[1 + CJ_MAP_NUMBERS];
	uint32_t b;

	if (tile->kind == CJ_VALUE_ERROR)
		return *tile;
	if (tile->kind != CJ_VALUE_TENSOR || t->stores)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "a tile comes to L2 by what tma_load() or its like made of "
		    "its tensor");
	if ((t->kind == CJ_MAP_ROWS && !cj_rows_can(el, args->span,
	    "tma_prefetch of rows", CJ_ROWS_ASKED)) ||
	    !cj_elab_not_gathered(el, cj_arg_span(args, 1), tile->tensor,
	    "TMA moves boxes of neighbours", NULL) ||
	    !cj_tma_guard_fits(el, cj_arg_span(args, 1), t, tile->tensor) ||
	    !cj_tma_place_in_tensor(el, args, t, &to) ||
	    !cj_tma_begins_at_unit(el, args, t, &to))
		return cj_value_error();
	refs[0] = cj_elab_ref(el, &t->map, CJ_KIND_VOID);
	for (b = 0; b < t->boxes; b++)
		cj_emit(&el->em->b, CJ_OP_TMA_PREFETCH, 0,
		    t->record, refs,
		    add_coordinates(el, t, b, &to, refs, 1));
	return cj_value_none();
}

/* ---- the copy ------------------------------------------------------------ */

/* A copy as it is written, and what becomes of it. */
struct call {
	struct cj_elab *el;
	struct cj_args *args;
	const struct cj_copy_value *copy;
	const struct cj_tma_value *t;
	const struct cj_value *global, *shared, *barrier;
	uint32_t shared_at;		/* which argument that is */
	bool is_staged;
	struct cj_tma_boxes boxes;
	struct cj_tma_place to;
};

static bool
check_sides(struct call *c)
{
	struct cj_elab *el = c->el;
	bool *is_early = &c->boxes.copy.is_early;

	if (c->global->kind != CJ_VALUE_TENSOR || c->shared->kind !=
	    CJ_VALUE_TENSOR || el->m->objects.at[c->shared->tensor->object].kind
	    != CJ_OBJECT_SHARED) {
		cj_elab_error(el, CJ_DIAG_WRONG_PLACE, c->args->span,
		    "%s copies %s", c->copy->text, c->t->stores ?
		    "from shared to global memory" :
		    "from global to shared memory");
		return false;
	}
	if (!cj_arg_flag(el, c->args, "early", is_early))
		return false;
	if (*is_early && c->t->stores)
		cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, c->args->span,
		    "a store waits for the launch in front");
	return !*is_early || !c->t->stores;
}

/* Whoever fills or reads a stage of a pipeline names no barrier. */
static bool
check_stage(struct call *c)
{
	struct cj_elab *el = c->el;

	c->is_staged = is_staged(el, c->args, c->shared->tensor,
	    c->t->stores);
	if (!c->is_staged)
		return cj_arg_completes(el, c->args, !c->t->stores,
		    "a copy by TMA");
	if (cj_elab_threads_here(el) == 0) {
		cj_elab_error(el, CJ_DIAG_NOT_KNOWN, c->args->span,
		    "stages that TMA fills or reads need a block of known "
		    "threads");
		return false;
	}
	if (cj_arg_named(el, c->args, "multicast") != NULL) {
		cj_elab_error(el, CJ_DIAG_UNSUPPORTED, c->args->span,
		    "loads to several blocks into stages are not supported by "
		    "this version: say barrier = b[i]");
		return false;
	}
	el->m->objects.at[c->shared->tensor->object].reads |= c->t->stores;
	return true;
}

static bool
is_own_memory(struct call *c)
{
	if (!c->shared->tensor->is_remote && (!c->t->stores ||
	    cj_arg_named(c->el, c->args, "multicast") == NULL))
		return true;
	cj_help(cj_elab_report(c->el, CJ_DIAG_WRONG_PLACE, c->args->span,
	    "TMA copies to and from the memory of the own block"),
	    "A load goes to several blocks, the same place of each, by "
	    "multicast = bits of their ranks.");
	return false;
}

static bool
are_alike(struct call *c, struct cj_span span)
{
	enum cj_kind map = c->t->tensor->element;
	enum cj_kind memory = c->shared->tensor->element;

	if (memory == map)
		return true;
	cj_help(cj_elab_report(c->el, CJ_DIAG_MIXED_TYPES, span,
	    "a copy by TMA converts nothing: the tensor of its map has "
	    "elements of %s, the shared memory of %s", cj_kind_text(map),
	    cj_kind_text(memory)), "Declare the shared memory with elements "
	    "of %s.", cj_kind_text(map));
	return false;
}

static bool
find_places(struct call *c)
{
	struct cj_elab *el = c->el;
	struct cj_span span = cj_arg_span(c->args, c->shared_at);
	uint32_t i;

	for (i = 1; i <= 2; i++)
		if (!cj_elab_not_gathered(el, cj_arg_span(c->args, i),
		    c->args->at[i].tensor, "TMA moves boxes of neighbours",
		    NULL))
			return false;
	return are_alike(c, span) &&
	    cj_tma_guard_fits(el, cj_arg_span(c->args, 3 - c->shared_at),
	    c->t, c->global->tensor) &&
	    cj_tma_place_in_tensor(el, c->args, c->t, &c->to) &&
	    cj_tma_begins_at_unit(el, c->args, c->t, &c->to) &&
	    cj_tma_place_in_shared(el, span, c->t, c->shared->tensor,
	    &c->boxes.place)
	    && cj_elab_stage_allows(el, span, c->shared->tensor,
	    !c->t->stores);
}

static bool
name_signal(struct call *c)
{
	if (c->barrier == NULL)
		return true;
	c->boxes.copy.signal = cj_arg_mbarrier(c->el, c->args->span,
	    c->barrier, c->shared->tensor, &c->boxes.signal);
	return c->boxes.copy.signal != 0 &&
	    cj_arg_ranks(c->el, c->args, &c->boxes.ranks);
}

struct cj_value
cj_elab_copy_tma(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *copy)
{
	const struct cj_tma_value *t = copy->tma;
	struct call c = { .el = el, .args = args, .copy = copy, .t = t,
	    .global = &args->at[t->stores ? 2 : 1],
	    .shared = &args->at[t->stores ? 1 : 2],
	    .shared_at = t->stores ? 1 : 2,
	    .barrier = cj_arg_named(el, args, "barrier"),
	    .boxes = { .copy = { .map = t->record, .evict = t->evict,
	    .reduces = t->reduces, .how = t->how } } };
	struct cj_access access = { .align = 128 };

	if (!check_sides(&c) || !check_stage(&c) || !is_own_memory(&c) ||
	    !find_places(&c))
		return cj_value_error();
	cj_elab_touch(el, cj_arg_span(args, c.shared_at), c.shared->tensor,
	    !t->stores, t->stores ? "tma_store" : "tma_load");
	c.boxes.map = map_of(el, args, t);
	if (c.boxes.map == 0)
		return cj_value_error();
	access.object = c.shared->tensor->object;
	if (!t->stores)
		el->m->objects.at[access.object].writes = true;
	c.boxes.copy.shared = cj_module_access(el->m, &access);
	if (!name_signal(&c) || !cj_tma_share_load(el, args->span, t, &c.boxes,
	    &c.to))
		return cj_value_error();
	/* a map of the device's has its own end: the executor asks */
	if (c.to.has_end || (c.to.has_rest && cj_arg_named(el, args, "map") ==
	    NULL))
		return cj_elab_copy_edge(el, args, t, &c.boxes, &c.to,
		    c.is_staged);
	cj_tma_emit_boxes(el, t, &c.boxes, &c.to);
	return cj_value_none();
}
