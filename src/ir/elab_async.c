/*
 * Pipelines: their stages, and the blocks that fill and read them.
 *
 * A field is one shared object with a member per stage. The name that a block
 * gives to its stage is a tuple of views, whose offset is the number of the
 * stage, the index of the block's region. A view remembers which block it
 * comes from, so that one that escapes is found where it is used.
 *
 * What is refused here is certain by the text. Whether as many stages are
 * read as are filled is counted when the launch is complete
 * (elab_async_check.c).
 */
#include "elab_tiled.h"

/* ---- the pipeline -------------------------------------------------------- */

static bool
stages_of(struct cj_elab *el, const struct cj_node *n, int64_t *stages)
{
	const struct cj_node *item = n->pipeline.items.at[0];
	struct cj_value v = cj_elab_expr(el, item);

	if (!cj_value_to_known(el, item->span, &v, "the number of stages",
	    stages))
		return false;
	if (*stages >= 1 && *stages <= CJ_MAX_STAGES)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_LIMIT, item->span,
	    "a pipeline has 1 to %d stages, this one %lld", CJ_MAX_STAGES,
	    (long long)*stages), "Say pipeline p(%d); more at once are larger "
	    "stages.", *stages < 1 ? 1 : CJ_MAX_STAGES);
	return false;
}

static bool
add_field(struct cj_elab *el, struct cj_pipe *p, const struct cj_node *f)
{
	struct cj_tensor *t = &p->field[p->count];

	if (f->field.is_tmem) {
		cj_elab_error(el, CJ_DIAG_UNSUPPORTED, f->span,
		    "\"tmem\" is not supported by this version");
		return false;
	}
	if (!cj_elab_shared_tensor(el, f, (uint32_t)p->stages, t))
		return false;
	el->m->objects.at[t->object].reads = false;
	el->m->objects.at[t->object].writes = false;
	p->names[p->count++] = f->field.name.name;
	return true;
}

static struct cj_pipe *
new_pipe(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_pipe *p = CJ_NEW(el->arena, struct cj_pipe);
	uint32_t count = n->pipeline.fields.count;

	p->name = n->pipeline.name.name;
	p->span = n->pipeline.name.span;
	p->field = CJ_NEWS(el->arena, struct cj_tensor, count + 1);
	p->names = CJ_NEWS(el->arena, cj_name, count + 1);
	p->read_at = CJ_NEWS(el->arena, struct cj_span, count + 1);
	return p;
}

static bool
make_pipe(struct cj_elab *el, const struct cj_node *n, struct cj_pipe *p)
{
	struct cj_pipeline record = { .name = cj_elab_name(el, p->name),
	    .region = el->em->b.region, .place = el->em->b.place };
	uint32_t *fields, i;

	if (!stages_of(el, n, &p->stages))
		return false;
	for (i = 0; i < n->pipeline.fields.count; i++)
		if (!add_field(el, p, n->pipeline.fields.at[i]))
			return false;
	fields = CJ_NEWS(el->arena, uint32_t, p->count + 1);
	for (i = 0; i < p->count; i++)
		fields[i] = p->field[i].object;
	record.stages = (uint32_t)p->stages;
	record.fields = fields;
	record.field_count = p->count;
	record.is_split = p->is_split = n->pipeline.attrs.count > 0;
	p->number = cj_module_pipeline(el->m, &record);
	return true;
}

void
cj_elab_pipeline(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_pipe *p = new_pipe(el, n);
	struct cj_value v = cj_value_error();

	if (el->time != CJ_TIME_DEVICE)
		cj_elab_error(el, CJ_DIAG_WRONG_TIME, n->span,
		    "a pipeline belongs to device code");
	else if (make_pipe(el, n, p)) {
		v = (struct cj_value){ .kind = CJ_VALUE_PIPELINE,
		    .pipeline = p };
		*cj_push(el->arena, &el->em->pipes) = p;
	}
	cj_env_bind(el, p->name, CJ_BOUND_LET, v, p->span);
}

uint64_t
cj_elab_role_bit(const struct cj_elab *el)
{
	return el->role == NULL ? 1 : (uint64_t)1 << el->em->roles.len;
}

bool
cj_pipe_is_local(const struct cj_pipe *p)
{
	uint64_t all = p->produced_by | p->consumed_by;

	return (all & (all - 1)) == 0;
}

/* ---- stages -------------------------------------------------------------- */

/* The views of a stage by the names of the fields. */
static struct cj_value
stage_value(struct cj_elab *el, const struct cj_pipe *p, cj_ref index,
    const struct cj_open_stage *open)
{
	struct cj_int at = cj_elab_symbol(el, index, "stage", 0,
	    p->stages - 1, 1);
	struct cj_value *views = CJ_NEWS(el->arena, struct cj_value,
	    p->count + 1);
	uint32_t i;

	for (i = 0; i < p->count; i++) {
		struct cj_tensor t = p->field[i];
		int64_t extent = el->m->objects.at[t.object].extent;

		t.offset = cj_int_mul(&el->sym, at, cj_known(extent /
		    p->stages));
		t.stage = open->id;
		views[i] = cj_value_tensor(el, &t);
	}
	return cj_value_tuple(el, views, p->names, p->count);
}

/* The number in ahead(n) or in_flight(n); 0 if it is not there. */
static bool
count_of(struct cj_elab *el, const struct cj_node *n, const char *name,
    const struct cj_pipe *p, uint32_t *out)
{
	const struct cj_node *a = cj_attr_find(&n->stage.attrs,
	    cj_elab_intern(el, name));
	struct cj_value v;
	int64_t count;

	*out = 0;
	if (a == NULL)
		return true;
	v = cj_elab_expr(el, a->attr.items.at[0]);
	if (!cj_value_to_known(el, a->span, &v, cj_printf(el->arena,
	    "\"%s\"", name), &count))
		return false;
	*out = (uint32_t)count;
	if (count >= 0 && count < p->stages)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_BAD_AHEAD, a->span,
	    "%s(%lld) with %lld stages: it must be less than the stages, "
	    "0 to %lld", name, (long long)count, (long long)p->stages,
	    (long long)p->stages - 1),
	    "One stage is read while the others are filled or in flight.");
	return false;
}

/* The innermost loop, if it is a `for` over a range whose body this is. */
static struct cj_jump *
loop_of(struct cj_elab *el)
{
	struct cj_jump *j = el->jump;
	const struct cj_inst *owner;

	if (j == NULL || j->kind != CJ_JUMP_LOOP || j->breaks == 0)
		return NULL;
	owner = cj_inst(el->m, j->breaks);
	return owner->op == CJ_OP_FOR && owner->region == el->em->b.region &&
	    j->env != NULL ? j : NULL;
}

/* A produce that runs ahead hides what belongs to one turn of its loop. */
static bool
enter_ahead(struct cj_elab *el, const struct cj_node *n,
    struct cj_ahead *ahead)
{
	struct cj_jump *j = loop_of(el);

	if (j == NULL) {
		cj_help(cj_elab_report(el, CJ_DIAG_BAD_AHEAD, n->span,
		    "ahead() has no loop to run ahead of"),
		    "It stands in the body of a \"for\" over a range, not in "
		    "a condition, a \"const for\" or a \"while\".");
		return false;
	}
	j->is_ahead = true;
	ahead->inner = el->env;
	ahead->loop = j->env;
	ahead->outer = el->ahead;
	el->ahead = ahead;
	return true;
}

static bool
is_of_turn(const struct cj_ahead *a, const struct cj_bound *name)
{
	const struct cj_env *env;
	const struct cj_bound *b;

	for (env = a->inner; env != a->loop; env = env->parent)
		for (b = env->names; b != NULL; b = b->next)
			if (b == name)
				return true;
	return false;
}

bool
cj_elab_ahead_hides(struct cj_elab *el, const struct cj_bound *name,
    struct cj_span span)
{
	struct cj_diag *d;

	if (!is_of_turn(el->ahead, name) ||
	    name->value.kind == CJ_VALUE_PIPELINE)
		return false;
	d = cj_elab_report(el, CJ_DIAG_BAD_AHEAD, span,
	    "\"%s\" belongs to one turn of the loop, and this produce to a "
	    "later one", cj_elab_name(el, name->name));
	cj_note(d, name->span, "declared here");
	cj_help(d, "Declare it in front of the loop, or inside of the produce "
	    "block.");
	return true;
}

static struct cj_pipe *
pipe_of(struct cj_elab *el, const struct cj_node *n)
{
	struct cj_value v = cj_elab_expr(el, n->stage.path);
	struct cj_pipe *p = NULL;

	if (v.kind == CJ_VALUE_PIPELINE)
		p = v.pipeline;
	else if (v.kind != CJ_VALUE_ERROR)
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, n->stage.path->span,
		    "a pipeline is needed, this is %s",
		    cj_value_what(el, &v));
	return p;
}

/* The block of a stage, whose region is open. */
static void
run_body(struct cj_elab *el, const struct cj_node *n, struct cj_pipe *p,
    cj_ref index)
{
	struct cj_open_stage open = { .outer = el->stage, .pipe = p,
	    .is_produce = n->kind == CJ_NODE_PRODUCE, .span = n->span };

	open.id = ++el->stages;
	el->stage = &open;
	cj_env_push(el);
	cj_env_bind(el, n->stage.name.name, CJ_BOUND_LET,
	    stage_value(el, p, index, &open), n->stage.name.span);
	cj_elab_block(el, n->stage.body);
	cj_env_pop(el);
	el->stage = open.outer;
}

/* A stage that is being filled has to be full before the next one begins. */
static bool
is_filling(struct cj_elab *el, const struct cj_node *n, const struct cj_pipe *p)
{
	const struct cj_open_stage *s = el->stage;
	struct cj_diag *d;

	while (s != NULL && (s->pipe != p || !s->is_produce))
		s = s->outer;
	if (s == NULL)
		return false;
	d = cj_elab_report(el, CJ_DIAG_UNBALANCED, n->span, "a stage of "
	    "\"%s\" is filled inside of a produce block of \"%s\"",
	    cj_elab_name(el, p->name), cj_elab_name(el, p->name));
	cj_note(d, s->span, "the block around, whose stage is not full yet");
	cj_help(d, "End that block first: produce blocks of one pipeline "
	    "stand one after the other.");
	return true;
}

/* Stages that blocks around hold, this one, and those in flight. */
static bool
holds_too_many(struct cj_elab *el, const struct cj_node *n,
    const struct cj_pipe *p, uint32_t in_flight)
{
	const struct cj_open_stage *s;
	int64_t held = 1 + in_flight;

	for (s = el->stage; s != NULL; s = s->outer)
		held += s->pipe == p && !s->is_produce;
	if (held <= p->stages)
		return false;
	cj_help(cj_elab_report(el, CJ_DIAG_UNBALANCED, n->span,
	    "this consume waits for itself: with the blocks around and those "
	    "in flight it holds %lld of the %lld stages of \"%s\"",
	    (long long)held, (long long)p->stages, cj_elab_name(el, p->name)),
	    "Add a stage.");
	return true;
}

void
cj_elab_stage(struct cj_elab *el, const struct cj_node *n)
{
	bool is_produce = n->kind == CJ_NODE_PRODUCE;
	struct cj_pipe *p = pipe_of(el, n);
	struct cj_ahead ahead = { .outer = el->ahead };
	struct cj_stage_use use = { 0 };
	cj_ref owner, index;
	cj_region outer;

	if (p == NULL || !count_of(el, n, is_produce ? "ahead" : "in_flight",
	    p, &use.count) || (is_produce ? is_filling(el, n, p) :
	    holds_too_many(el, n, p, use.count)))
		return;
	use.pipeline = p->number;
	use.keep = cj_attr_find(&n->stage.attrs, cj_elab_intern(el, "keep"))
	    != NULL;
	if (is_produce && use.count > 0 && !enter_ahead(el, n, &ahead))
		return;
	*(is_produce ? &p->is_produced : &p->is_consumed) = true;
	*(is_produce ? &p->produced_by : &p->consumed_by) |=
	    cj_elab_role_bit(el);
	cj_elab_at(el, n->span);
	cj_elab_meet(el, 0, cj_printf(el->arena, "\"%s %s\"", is_produce ?
	    "produce" : "consume", cj_elab_name(el, p->name)));
	owner = cj_emit0(&el->em->b, is_produce ? CJ_OP_PRODUCE :
	    CJ_OP_CONSUME, 0, cj_module_stage_use(el->m, &use));
	outer = cj_elab_enter(el, owner, &index);
	run_body(el, n, p, index);
	cj_elab_leave(el, outer);
	el->ahead = ahead.outer;
}

/* skip(p, n) */
struct cj_value
cj_builtin_skip(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *v = &args->at[0];
	struct cj_stage_use use = { 0 };
	struct cj_int n;
	cj_ref ref;

	(void)row;
	if (v->kind == CJ_VALUE_ERROR ||
	    !cj_value_to_int(el, cj_arg_span(args, 1), &args->at[1], &n))
		return cj_value_error();
	if (v->kind != CJ_VALUE_PIPELINE)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND,
		    cj_arg_span(args, 0), "a pipeline is needed, this is %s",
		    cj_value_what(el, v));
	if (!v->pipeline->is_split) {
		cj_help(cj_elab_report(el, CJ_DIAG_UNBALANCED, args->span,
		    "every role reads all stages of \"%s\"",
		    cj_elab_name(el, v->pipeline->name)), "Where each stage is "
		    "for one of them: pipeline %s(n) split { ... }.",
		    cj_elab_name(el, v->pipeline->name));
		return cj_value_error();
	}
	v->pipeline->consumed_by |= cj_elab_role_bit(el);
	cj_elab_meet(el, 0, "\"skip\"");
	use.pipeline = v->pipeline->number;
	ref = cj_elab_ref_int(el, n);
	cj_emit(&el->em->b, CJ_OP_SKIP, 0, cj_module_stage_use(el->m, &use),
	    &ref, 1);
	return cj_value_none();
}

/* ---- accesses ------------------------------------------------------------ */

static const struct cj_open_stage *
find_open(const struct cj_elab *el, uint32_t id)
{
	const struct cj_open_stage *s = el->stage;

	while (s != NULL && s->id != id)
		s = s->outer;
	return s;
}

bool
cj_elab_stage_allows(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, bool writes)
{
	const struct cj_open_stage *s = find_open(el, t->stage);
	uint32_t i;

	if (t->stage == 0)
		return true;
	if (s == NULL) {
		cj_help(cj_elab_report(el, CJ_DIAG_STAGE_OUTSIDE, span,
		    "\"%s\" is a stage of a pipeline, and its block has "
		    "ended", cj_elab_name(el, t->name)),
		    "Use the stage inside of its produce or consume block.");
		return false;
	}
	if (writes && !s->is_produce) {
		struct cj_diag *d = cj_elab_report(el, CJ_DIAG_STAGE_WRITTEN,
		    span, "\"%s\" is written, but its stage is being consumed",
		    cj_elab_name(el, t->name));

		cj_note(d, s->span, "the consume block");
		cj_help(d, "Change it in the registers that it is read to, or "
		    "hand it on through another pipeline.");
		return false;
	}
	for (i = 0; i < s->pipe->count && !writes; i++)
		if (s->pipe->field[i].object == t->object &&
		    s->pipe->read_at[i].end == 0)
			s->pipe->read_at[i] = span;
	return true;
}

const struct cj_pipe *
cj_elab_pipe_of(const struct cj_elab *el, const struct cj_inst *i)
{
	uint32_t n = el->m->stage_uses.at[i->attr].pipeline, k;

	for (k = 0; k < el->em->pipes.len; k++)
		if (el->em->pipes.at[k]->number == n)
			return el->em->pipes.at[k];
	return NULL;
}
