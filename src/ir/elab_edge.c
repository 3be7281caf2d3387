/*
 * copy(load, guard(tile, fill = 0), s.a) where the tile is of a slice that may
 * end in front of its tensor's end: TMA knows the tensor's alone.
 *
 *	all of the tile is inside	the copy, as ever
 *	a part of it			the copy comes to an mbarrier of the
 *					role's own; who waits for it clears the
 *					rest
 *	nothing				the stage is cleared
 *
 * What threads write and copies bring are two ways to fill the stage, each of
 * which pipelines count. A store of such a tile is TMA's where all of it is
 * inside; else the threads of the role store what is.
 */
#include "elab_gather.h"
#include "elab_tma.h"

/* What a role has for it. */
struct cj_edge {
	uint32_t function, role;	/* UINT32_MAX: the whole block */
	uint32_t barrier;		/* access */
	struct cj_value phase;		/* a slot */
};

/* ---- the role's own barrier ---------------------------------------------- */

/* The region of the launch; with `in_role` that of the role that is open. */
static cj_region
outermost(const struct cj_elab *el, bool in_role)
{
	cj_region g = el->em->b.region;
	cj_ref owner;

	while ((owner = el->m->regions.at[g].owner) != 0) {
		if (in_role && cj_inst(el->m, owner)->op == CJ_OP_ROLE)
			break;
		g = el->m->regions.at[g].parent;
	}
	return g;
}

static struct cj_builder
at_start(const struct cj_elab *el, cj_region g)
{
	struct cj_builder b = el->em->b;

	b.region = g;
	b.before = el->m->regions.at[g].first;
	return b;
}

static cj_ref
is_at(struct cj_builder *b, enum cj_special what, int64_t value)
{
	return cj_emit2(b, CJ_OP_EQ, cj_type_of(CJ_KIND_BOOL, 1),
	    cj_emit0(b, CJ_OP_SPECIAL, cj_type_of(CJ_KIND_INDEX, 1), what),
	    cj_emit_index(b, value));
}

/* In front of everything, one thread makes it, and all see it. Each warp of the
 * role arrives in each phase, so that none is a phase behind. */
static void
make_barrier(struct cj_elab *el, struct cj_edge *e)
{
	cj_region g = outermost(el, false);
	struct cj_object o = { .kind = CJ_OBJECT_SHARED, .align = 8,
	    .element = CJ_KIND_MBARRIER, .extent = 1, .reads = true,
	    .writes = true, .name = "edge", .region = g,
	    .place = el->em->b.place };
	struct cj_access a = { .object = cj_module_object(el->m, &o),
	    .align = 8, .scope = CJ_MEMORY_BLOCK };
	struct cj_builder b = at_start(el, g), in;
	cj_ref refs[2], owner, first;

	e->barrier = cj_module_access(el->m, &a);
	first = cj_emit2(&b, CJ_OP_AND, cj_type_of(CJ_KIND_BOOL, 1),
	    is_at(&b, CJ_SPECIAL_LANE, 0), is_at(&b, CJ_SPECIAL_WARP, 0));
	owner = cj_emit(&b, CJ_OP_IF, 0, 0, &first, 1);
	in = b;
	in.region = cj_region_add(&b, owner, NULL);
	in.before = 0;
	refs[0] = cj_emit_index(&in, 0);
	refs[1] = cj_emit_index(&in, (cj_elab_threads_here(el) + 31) / 32);
	cj_emit(&in, CJ_OP_MBARRIER_INIT, 0, e->barrier, refs, 2);
	cj_emit0(&in, CJ_OP_FENCE, 0, CJ_FENCE_MBARRIER_INIT);
	cj_emit0(&b, CJ_OP_BARRIER, 0, 0);
}

/* Which phase is next lives as long as the role. */
static void
make_phase(struct cj_elab *el, struct cj_span span, struct cj_edge *e)
{
	struct cj_builder outer = el->em->b;

	el->em->b = at_start(el, outermost(el, true));
	e->phase = cj_elab_slot(el, span, cj_elab_intern(el, "phase"),
	    cj_value_known(0));
	el->em->b = outer;
}

static struct cj_edge *
edge_here(struct cj_elab *el, struct cj_span span)
{
	uint32_t role = el->role == NULL ? UINT32_MAX : el->role->number, i;
	struct cj_edge *e;

	for (i = 0; i < el->edges.len; i++)
		if (el->edges.at[i].role == role &&
		    el->edges.at[i].function == el->em->function)
			return &el->edges.at[i];
	e = cj_push(el->arena, &el->edges);
	e->role = role;
	e->function = el->em->function;
	make_barrier(el, e);
	make_phase(el, span, e);
	return e;
}

/* ---- what is inside ------------------------------------------------------ */

enum { ALL, SOME };

static cj_ref
both(struct cj_elab *el, cj_ref a, cj_ref b)
{
	return a == 0 ? b : cj_emit2(&el->em->b, CJ_OP_AND,
	    cj_type_of(CJ_KIND_BOOL, 1), a, b);
}

/* Is all of the tile in front of the slice's end, or some of it? */
static cj_ref
is_inside(struct cj_elab *el, const struct cj_tma_value *t,
    const struct cj_tma_place *to, int how_much)
{
	cj_ref all = 0;
	uint32_t m;

	for (m = 0; m < t->rank; m++)
		if (to->is_limited[m])
			all = both(el, all, cj_emit2(&el->em->b, CJ_OP_LE,
			    cj_type_of(CJ_KIND_BOOL, 1), cj_elab_ref_int(el,
			    cj_known(how_much == ALL ? (t->extent[m] - 1) *
			    t->step[m] + 1 : 1)), cj_elab_ref_int(el,
			    to->left[m])));
	return all;
}

static cj_ref
negated(struct cj_elab *el, cj_ref c)
{
	return cj_emit1(&el->em->b, CJ_OP_NOT, cj_type_of(CJ_KIND_BOOL, 1),
	    c);
}

static cj_region
enter_if(struct cj_elab *el, cj_ref c)
{
	return cj_elab_enter(el, cj_emit(&el->em->b, CJ_OP_IF, 0, 0, &c, 1),
	    NULL);
}

/* ---- element by element -------------------------------------------------- */

/* A loop of the role's threads over the elements of the tile. */
struct each {
	cj_region outer;
	const struct cj_tuple *at;	/* of the tile, by mode */
	const struct cj_tuple *stepped;	/* of the tensor's view */
	struct cj_int by_mode[CJ_MAP_MODES];
};

static struct cj_int
thread_here(struct cj_elab *el)
{
	struct cj_int warp = cj_elab_special(el, CJ_SPECIAL_WARP);

	if (el->role != NULL)
		warp = cj_int_sub(&el->sym, warp, cj_known(
		    el->m->roles.at[el->role->number].first));
	return cj_int_add(&el->sym, cj_int_mul(&el->sym, warp, cj_known(32)),
	    cj_elab_special(el, CJ_SPECIAL_LANE));
}

/* alone: this thread does all of it. */
static void
begin_each(struct cj_elab *el, const struct cj_tma_value *t, bool alone,
    struct each *e)
{
	const struct cj_tuple *at[CJ_MAP_MODES], *to[CJ_MAP_MODES];
	int64_t size = 1;
	cj_ref bounds[3], index;
	struct cj_int i;
	uint32_t m;

	for (m = 0; m < t->rank; m++)
		size *= t->extent[m];
	bounds[0] = cj_elab_ref_int(el, alone ? cj_known(0) :
	    thread_here(el));
	bounds[1] = cj_emit_index(&el->em->b, size);
	bounds[2] = cj_emit_index(&el->em->b, alone ? 1 :
	    cj_elab_threads_here(el));
	e->outer = cj_elab_enter(el, cj_emit(&el->em->b, CJ_OP_FOR, 0, 0,
	    bounds, 3), &index);
	i = cj_elab_symbol(el, index, "i", 0, size - 1, 1);
	for (m = 0; m < t->rank; m++) {
		e->by_mode[m] = cj_int_mod(&el->sym, i,
		    cj_known(t->extent[m]));
		i = cj_int_div(&el->sym, i, cj_known(t->extent[m]));
		at[m] = cj_tuple_int(&el->al, e->by_mode[m]);
		to[m] = cj_tuple_int(&el->al, cj_int_mul(&el->sym,
		    e->by_mode[m], cj_known(t->step[m])));
	}
	e->at = t->rank == 1 ? at[0] : cj_tuple_make(&el->al, at, t->rank);
	e->stepped = t->rank == 1 ? to[0] : cj_tuple_make(&el->al, to,
	    t->rank);
}

static void
end_each(struct cj_elab *el, const struct each *e)
{
	cj_elab_leave(el, e->outer);
}

/* Behind the slice's end is what the map fills with; whatever unit reads or
 * fills the stage next comes behind it. */
static void
clear_rest(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, const struct cj_tma_place *to,
    const struct cj_tensor *shared)
{
	const struct cj_how plain = { .scope = CJ_MEMORY_GPU };
	struct cj_value fill = cj_value_scalar(shared->element,
	    cj_map_fill(&el->m->maps.at[t->record], shared->element)), element;
	cj_region outer;
	cj_ref inside = 0;
	struct each e;
	uint32_t m;

	begin_each(el, t, false, &e);
	for (m = 0; m < t->rank; m++)
		if (to->is_limited[m])
			inside = both(el, inside, cj_emit2(&el->em->b,
			    CJ_OP_LT, cj_type_of(CJ_KIND_BOOL, 1),
			    cj_elab_ref_int(el, cj_int_mul(&el->sym,
			    e.by_mode[m], cj_known(t->step[m]))),
			    cj_elab_ref_int(el, to->left[m])));
	outer = enter_if(el, negated(el, inside));
	element = cj_tensor_element(el, span, shared, e.at);
	if (element.kind == CJ_VALUE_TENSOR)
		cj_tensor_store(el, span, element.tensor, fill, &plain);
	cj_elab_leave(el, outer);
	end_each(el, &e);
	cj_emit0(&el->em->b, CJ_OP_FENCE, 0, CJ_FENCE_ASYNC_SHARED);
}

/* The guard of the view leaves out what is not inside. */
static void
store_each(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, bool alone)
{
	const struct cj_how plain = { .scope = CJ_MEMORY_GPU };
	const struct cj_tensor *shared = args->at[1].tensor;
	struct cj_tensor global = *args->at[2].tensor;
	struct cj_value from, to;
	struct each e;

	global.is_guarded = true;
	begin_each(el, t, alone, &e);
	from = cj_tensor_element(el, cj_arg_span(args, 1), shared, e.at);
	to = cj_tensor_element(el, cj_arg_span(args, 2), &global, e.stepped);
	if (from.kind == CJ_VALUE_TENSOR && to.kind == CJ_VALUE_TENSOR)
		cj_tensor_store(el, args->span, to.tensor, cj_tensor_load(el,
		    args->span, from.tensor, &plain), &plain);
	end_each(el, &e);
}

/* ---- copies -------------------------------------------------------------- */

static int64_t
bytes_of(const struct cj_tma_value *t)
{
	int64_t bytes = cj_kind_bits(t->tensor->element) / 8;
	uint32_t m;

	for (m = 0; m < t->rank; m++)
		bytes *= t->extent[m];
	return bytes;
}

/* The first lanes of the role's other warps. */
static void
arrive_with(struct cj_elab *el, const struct cj_edge *e)
{
	cj_ref refs[2] = { cj_emit_index(&el->em->b, 0),
	    cj_emit_index(&el->em->b, 1) };
	cj_region outer;

	if (cj_elab_threads_here(el) <= 32)
		return;
	outer = enter_if(el, both(el, cj_emit2(&el->em->b, CJ_OP_EQ,
	    cj_type_of(CJ_KIND_BOOL, 1), cj_elab_ref_int(el,
	    cj_elab_special(el, CJ_SPECIAL_LANE)), refs[0]), negated(el,
	    cj_emit2(&el->em->b, CJ_OP_EQ, cj_type_of(CJ_KIND_BOOL, 1),
	    cj_elab_ref_int(el, thread_here(el)), refs[0]))));
	cj_emit(&el->em->b, CJ_OP_MBARRIER_ARRIVE, 0, e->barrier, refs, 2);
	cj_elab_leave(el, outer);
}

/* The boxes come to the role's own barrier, and all of its threads wait. */
static void
load_to_own(struct cj_elab *el, struct cj_span span,
    const struct cj_tma_value *t, const struct cj_tma_boxes *boxes,
    const struct cj_tma_place *to)
{
	struct cj_edge *e = edge_here(el, span);
	struct cj_tma_boxes own = *boxes;
	cj_region outer;
	cj_ref refs[2];
	struct cj_value phase;
	struct cj_int n;

	outer = enter_if(el, cj_emit2(&el->em->b, CJ_OP_EQ,
	    cj_type_of(CJ_KIND_BOOL, 1), cj_elab_ref_int(el,
	    thread_here(el)), cj_emit_index(&el->em->b, 0)));
	own.copy.signal = e->barrier;
	own.signal = refs[0] = cj_emit_index(&el->em->b, 0);
	refs[1] = cj_emit_index(&el->em->b, bytes_of(t));
	cj_emit(&el->em->b, CJ_OP_MBARRIER_EXPECT, 0, e->barrier, refs, 2);
	cj_tma_emit_boxes(el, t, &own, to);
	cj_elab_leave(el, outer);
	arrive_with(el, e);
	phase = cj_elab_read(el, span, e->phase);
	if (!cj_value_to_int(el, span, &phase, &n))
		return;
	refs[0] = cj_emit_index(&el->em->b, 0);
	refs[1] = cj_elab_ref_int(el, n);
	cj_emit(&el->em->b, CJ_OP_MBARRIER_WAIT, 0, e->barrier, refs, 2);
	cj_elab_assign(el, span, e->phase, cj_value_int(cj_int_sub(&el->sym,
	    cj_known(1), n)));
}

static void
load_edge(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, const struct cj_tma_boxes *boxes,
    const struct cj_tma_place *to)
{
	struct cj_span span = cj_arg_span(args, 2);
	cj_region outer, inner;

	outer = enter_if(el, is_inside(el, t, to, ALL));
	cj_tma_emit_boxes(el, t, boxes, to);
	cj_elab_leave(el, outer);
	outer = enter_if(el, negated(el, is_inside(el, t, to, ALL)));
	inner = enter_if(el, is_inside(el, t, to, SOME));
	load_to_own(el, span, t, boxes, to);
	cj_elab_leave(el, inner);
	clear_rest(el, span, t, to, args->at[2].tensor);
	cj_elab_leave(el, outer);
}

static void
store_edge(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, const struct cj_tma_boxes *boxes,
    const struct cj_tma_place *to, bool alone)
{
	cj_region outer;

	outer = enter_if(el, is_inside(el, t, to, ALL));
	cj_tma_emit_boxes(el, t, boxes, to);
	cj_elab_leave(el, outer);
	outer = enter_if(el, negated(el, is_inside(el, t, to, ALL)));
	store_each(el, args, t, alone);
	cj_elab_leave(el, outer);
}

struct cj_value
cj_elab_copy_edge(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, const struct cj_tma_boxes *boxes,
    const struct cj_tma_place *to, bool is_staged)
{
	if (!to->has_end) {		/* its tensor's end, inside 16 bytes */
		if (t->reduces)
			cj_tma_emit_boxes(el, t, boxes, to);
		else
			store_edge(el, args, t, boxes, to, !is_staged);
		return cj_value_none();
	}
	if (!is_staged || boxes->copy.share != 0 || t->reduces) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, args->span,
		    "the end of this slice is not that of its tensor, and %s",
		    !is_staged ? "no stage of a pipeline is copied" :
		    t->reduces ? "the copy combines" :
		    "blocks share the copy"),
		    "TMA knows the tensor's end alone: in a stage of a "
		    "pipeline the threads do the rest.");
		return cj_value_error();
	}
	if (t->stores)
		store_edge(el, args, t, boxes, to, false);
	else
		load_edge(el, args, t, boxes, to);
	return cj_value_none();
}
