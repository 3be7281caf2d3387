/*
 * Numbers that blocks draw from a counter while they run, of which all roles of
 * a block see the same: what dynamic_tiles() takes its tiles with.
 *
 * The first role that draws also fetches. It adds to the counter one number
 * ahead and hands it on through a pipeline of the launch's own, whose stages
 * every role that draws reads, itself too; one lane fills them. The number that
 * says that there are no more goes the same way, and is the last one.
 */
#include "elab_tiled.h"

enum { STAGES = 2, WARP = 32, MOST_DRAWS = 2 };

/* What draws from one counter in the launch. */
struct cj_draws {
	uint32_t counter;		/* object */
	struct cj_pipe *pipe;
	uint32_t number;		/* object: the pipeline's field */
	const struct cj_elab_role *fetcher;	/* NULL: no role */
	CJ_VEC(struct drawn) by_role;
};

struct drawn {
	const struct cj_elab_role *role;
	unsigned times;			/* in its text */
	struct cj_span span;
};

static uint32_t
make_field(struct cj_elab *el)
{
	struct cj_object o = { .kind = CJ_OBJECT_SHARED, .align = 16,
	    .element = CJ_KIND_I32, .extent = STAGES, .stages = STAGES,
	    .reads = true, .writes = true, .place = el->em->b.place,
	    .name = "number", .region = el->m->functions.at[
	    el->em->function].body };

	return cj_module_object(el->m, &o);
}

static struct cj_draws *
make(struct cj_elab *el, uint32_t counter, struct cj_span span)
{
	struct cj_draws *d = CJ_NEW(el->arena, struct cj_draws);
	struct cj_pipe *p = CJ_NEW(el->arena, struct cj_pipe);
	struct cj_pipeline record = { .name = "tiles", .stages = STAGES,
	    .region = el->m->functions.at[el->em->function].body,
	    .place = el->em->b.place, .field_count = 1 };
	uint32_t *field = CJ_NEW(el->m->arena, uint32_t);

	*field = d->number = make_field(el);
	record.fields = field;
	p->name = cj_elab_intern(el, record.name);
	p->span = span;
	p->stages = STAGES;
	p->is_drawn = true;
	p->number = cj_module_pipeline(el->m, &record);
	d->counter = counter;
	d->pipe = p;
	d->fetcher = el->role;
	*cj_push(el->arena, &el->em->pipes) = p;
	*cj_push(el->arena, &el->em->draws) = d;
	return d;
}

static struct cj_draws *
find(struct cj_elab *el, uint32_t counter, struct cj_span span)
{
	uint32_t i;

	for (i = 0; i < el->em->draws.len; i++)
		if (el->em->draws.at[i]->counter == counter)
			return el->em->draws.at[i];
	return make(el, counter, span);
}

static struct drawn *
find_drawn(struct cj_elab *el, struct cj_draws *d)
{
	uint32_t i;

	for (i = 0; i < d->by_role.len; i++)
		if (d->by_role.at[i].role == el->role)
			return &d->by_role.at[i];
	*cj_push(el->arena, &d->by_role) = (struct drawn){ .role = el->role };
	return &d->by_role.at[d->by_role.len - 1];
}

/* ---- what is refused ----------------------------------------------------- */

/* Is the place passed once by all threads of the role? */
static bool
is_passed_once(const struct cj_elab *el)
{
	const struct cj_module *m = el->m;
	cj_region g = el->em->b.region;
	cj_ref owner;

	while ((owner = m->regions.at[g].owner) != 0) {
		if (cj_inst(m, owner)->op == CJ_OP_ROLE)
			return true;
		if (cj_inst(m, owner)->op != CJ_OP_SCOPE)
			return false;
		g = m->regions.at[g].parent;
	}
	return true;
}

/* A loop draws once in front of its turns and once behind each. */
static bool
may_draw(struct cj_elab *el, const struct cj_draws *d, struct drawn *r,
    struct cj_span span)
{
	struct cj_diag *diag;

	if (r->times == 0 && !is_passed_once(el)) {
		cj_help(cj_elab_report(el, CJ_DIAG_UNEQUAL_ROLES, span,
		    "tiles that are drawn at run time are gone through once, "
		    "and this loop may run again or not at all"),
		    "Put the loop over them outermost in its role.");
		return false;
	}
	if (r->times >= MOST_DRAWS) {
		diag = cj_elab_report(el, CJ_DIAG_UNEQUAL_ROLES, span,
		    "these tiles are gone through twice, and the first loop "
		    "has drawn all of them");
		cj_note(diag, r->span, "the first loop");
		cj_help(diag, "Do both in one loop, or make another "
		    "dynamic_tiles().");
		return false;
	}
	if ((d->fetcher == NULL) == (el->role == NULL))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_UNEQUAL_ROLES, span, "these tiles "
	    "are drawn by all threads of the block and by a role"),
	    "Make another dynamic_tiles() for what stands outside of the "
	    "roles.");
	return false;
}

/* ---- fetch --------------------------------------------------------------- */

static cj_ref
is_special(struct cj_elab *el, enum cj_special what, int64_t value)
{
	struct cj_builder *b = &el->em->b;

	return cj_emit2(b, CJ_OP_EQ, cj_type_of(CJ_KIND_BOOL, 1),
	    cj_elab_ref_int(el, cj_elab_special(el, what)),
	    cj_emit_index(b, value));
}

static cj_ref
is_first_thread(struct cj_elab *el)
{
	int64_t warp = el->role == NULL ? 0 :
	    el->m->roles.at[el->role->number].first;

	return cj_emit2(&el->em->b, CJ_OP_AND, cj_type_of(CJ_KIND_BOOL, 1),
	    is_special(el, CJ_SPECIAL_LANE, 0),
	    is_special(el, CJ_SPECIAL_WARP, warp));
}

/* Who draws when does not matter: nothing is told or seen by it. */
static cj_ref
add_to_counter(struct cj_elab *el, const struct cj_tensor *counter)
{
	const cj_type i32 = cj_type_of(CJ_KIND_I32, 1);
	struct cj_access a = { .object = counter->object, .align = 4,
	    .atomic = CJ_ATOMIC_ADD, .order = CJ_ORDER_WEAK,
	    .scope = CJ_MEMORY_GPU };
	cj_ref refs[2];

	cj_elab_object_leaf(el, counter->object);
	el->m->objects.at[counter->object].reads = true;
	el->m->objects.at[counter->object].writes = true;
	refs[0] = cj_elab_ref_int(el, counter->offset);
	refs[1] = cj_emit_bits(&el->em->b, i32, 1);
	return cj_emit(&el->em->b, CJ_OP_ATOMIC, i32, cj_module_access(el->m,
	    &a), refs, 2);
}

static void
fetch(struct cj_elab *el, const struct cj_draws *d,
    const struct cj_tensor *counter)
{
	struct cj_stage_use use = { .pipeline = d->pipe->number,
	    .by_lane = true };
	struct cj_access a = { .object = d->number, .align = 4 };
	cj_region outer, block;
	cj_ref index, refs[2];

	cj_elab_meet(el, 0, "a loop over drawn tiles");
	d->pipe->is_produced = true;
	d->pipe->produced_by |= cj_elab_role_bit(el);
	outer = cj_elab_enter(el, cj_emit0(&el->em->b, CJ_OP_PRODUCE, 0,
	    cj_module_stage_use(el->m, &use)), &index);
	refs[0] = is_first_thread(el);
	block = cj_elab_enter(el, cj_emit(&el->em->b, CJ_OP_IF, 0, 0, refs,
	    1), NULL);
	refs[0] = index;
	refs[1] = add_to_counter(el, counter);
	cj_emit(&el->em->b, CJ_OP_STORE, 0, cj_module_access(el->m, &a), refs,
	    2);
	cj_elab_leave(el, block);
	cj_elab_leave(el, outer);
}

/* ---- take ---------------------------------------------------------------- */

/* Not negative, so that what is computed of it is known not to be. */
static struct cj_int
number_in(struct cj_elab *el, const struct cj_draws *d, cj_ref index)
{
	const cj_type i32 = cj_type_of(CJ_KIND_I32, 1);
	struct cj_builder *b = &el->em->b;
	struct cj_access a = { .object = d->number, .align = 4 };
	cj_ref n = cj_emit(b, CJ_OP_LOAD, i32, cj_module_access(el->m, &a),
	    &index, 1);

	n = cj_emit2(b, CJ_OP_AND, i32, n, cj_emit_bits(b, i32, INT32_MAX));
	n = cj_emit1(b, CJ_OP_CONVERT, cj_type_of(CJ_KIND_INDEX, 1), n);
	return cj_elab_symbol(el, n, "tile", 0, INT32_MAX, 1);
}

static struct cj_value
take(struct cj_elab *el, const struct cj_draws *d, struct cj_span span)
{
	struct cj_stage_use use = { .pipeline = d->pipe->number };
	struct cj_value slot = cj_elab_slot(el, span, cj_elab_intern(el,
	    "tile"), cj_value_known(0));
	cj_region outer;
	cj_ref index;

	cj_elab_meet(el, 0, "a loop over drawn tiles");
	d->pipe->is_consumed = true;
	d->pipe->consumed_by |= cj_elab_role_bit(el);
	outer = cj_elab_enter(el, cj_emit0(&el->em->b, CJ_OP_CONSUME, 0,
	    cj_module_stage_use(el->m, &use)), &index);
	cj_elab_assign(el, span, slot, cj_value_int(number_in(el, d, index)));
	cj_elab_leave(el, outer);
	return cj_elab_read(el, span, slot);
}

/* The next one, ahead; a stage is full on every way. Behind the last number
 * nobody reads it: in a cluster, where it would come from another block that
 * may have ended, there is none. */
static void
fetch_next(struct cj_elab *el, const struct cj_draws *d,
    const struct cj_tensor *counter, struct cj_int now, struct cj_int count)
{
	struct cj_builder *b = &el->em->b;
	cj_region outer;
	cj_ref more;

	if (el->cluster_blocks <= 1) {
		fetch(el, d, counter);
		return;
	}
	more = cj_emit2(b, CJ_OP_LT, cj_type_of(CJ_KIND_BOOL, 1),
	    cj_elab_ref_int(el, now), cj_elab_ref_int(el, count));
	outer = cj_elab_enter(el, cj_emit(b, CJ_OP_IF, 0, 0, &more, 1), NULL);
	fetch(el, d, counter);
	cj_elab_leave(el, outer);
}

static bool
is_counter(const struct cj_elab *el, const struct cj_value *v)
{
	return v->kind == CJ_VALUE_TENSOR && v->tensor->element ==
	    CJ_KIND_I32 && el->m->objects.at[v->tensor->object].kind ==
	    CJ_OBJECT_WORKSPACE;
}

/* draw(counter, count): below `count`, or the loop ends */
struct cj_value
cj_builtin_draw(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_draws *d;
	struct drawn *r;
	struct cj_int count, now;
	struct cj_value v;

	if (args->at[0].kind == CJ_VALUE_ERROR ||
	    !cj_value_to_int(el, cj_arg_span(args, 1), &args->at[1], &count))
		return cj_value_error();
	if (!is_counter(el, &args->at[0]))
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND,
		    cj_arg_span(args, 0), "%s counts in a workspace of i32, "
		    "this is %s", row->name, cj_value_what(el, &args->at[0]));
	d = find(el, args->at[0].tensor->object, args->span);
	r = find_drawn(el, d);
	if (!may_draw(el, d, r, args->span))
		return cj_value_error();
	if (r->times++ == 0)
		r->span = cj_elab_users_span(el, args->span);
	if (r->times == 1 && d->fetcher == el->role)
		fetch(el, d, args->at[0].tensor);
	v = take(el, d, args->span);
	if (!cj_value_to_int(el, args->span, &v, &now))
		return cj_value_error();
	if (d->fetcher == el->role)
		fetch_next(el, d, args->at[0].tensor, now, count);
	return v;
}
