/*
 * What device code is given: values that the host computed arrive as leaves of
 * its function.
 *
 * Room for parameters is short: behind so many of them, symbols alone arrive,
 * and device code computes the rest itself.
 */
#include "elab_pass.h"

/* Of them; a divisor is as long as two. */
enum { MOST_PASSED = 256, MOST_DIVIDED = 128 };

static const struct cj_passed no_pass;

/* ---- leaves -------------------------------------------------------------- */

bool
cj_elab_is_open(const struct cj_elab *el, cj_region region)
{
	cj_region r = el->em->b.region;

	for (; r != 0; r = el->m->regions.at[r].parent)
		if (r == region)
			return true;
	return false;
}

/* The PARAM of a leaf in the current function. */
static cj_ref
leaf_ref(struct cj_elab *el, uint32_t leaf)
{
	struct cj_function *f = &el->m->functions.at[el->em->function];
	struct cj_memo *m;

	assert(leaf < f->leaves.len);
	while (el->em->leaves.len <= leaf)
		memset(cj_push(el->arena, &el->em->leaves), 0, sizeof *m);
	m = &el->em->leaves.at[leaf];
	if (m->ref == 0 || !cj_elab_is_open(el, m->region)) {
		m->ref = cj_emit0(&el->em->b, CJ_OP_PARAM,
		    f->leaves.at[leaf].type, leaf);
		m->region = el->em->b.region;
	}
	return m->ref;
}

static uint32_t
add_leaf(struct cj_elab *el, const struct cj_leaf *leaf,
    const struct cj_passed *p)
{
	struct cj_function *f = &el->m->functions.at[el->em->function];

	*cj_push(el->m->arena, &f->leaves) = *leaf;
	*cj_push(el->arena, &el->em->passed) = *p;
	return f->leaves.len - 1;
}

cj_ref
cj_elab_host_leaf(struct cj_elab *el, const struct cj_leaf *leaf)
{
	struct cj_function *f = &el->m->functions.at[el->em->function];
	uint32_t i;

	for (i = 0; i < f->leaves.len; i++) {
		const struct cj_leaf *l = &f->leaves.at[i];

		if (l->kind == leaf->kind && l->parameter ==
		    leaf->parameter && l->member == leaf->member &&
		    l->mode == leaf->mode)
			return leaf_ref(el, i);
	}
	return leaf_ref(el, add_leaf(el, leaf, &no_pass));
}

void
cj_elab_object_leaf(struct cj_elab *el, uint32_t object)
{
	struct cj_function *f = &el->m->functions.at[el->em->function];
	const struct cj_object *o = &el->m->objects.at[object];
	struct cj_leaf leaf = { .kind = CJ_LEAF_OBJECT,
	    .type = cj_type_of(CJ_KIND_PTR, 1), .object = object,
	    .parameter = o->parameter, .member = o->member, .lo = INT64_MIN,
	    .hi = INT64_MAX, .divisor = 1, .name = o->name };
	uint32_t i;

	if (o->kind == CJ_OBJECT_SHARED || o->kind == CJ_OBJECT_SLOT ||
	    o->kind == CJ_OBJECT_TABLE || el->em->level != 2)
		return;
	for (i = 0; i < f->leaves.len; i++)
		if (f->leaves.at[i].kind == CJ_LEAF_OBJECT &&
		    f->leaves.at[i].object == object)
			return;
	add_leaf(el, &leaf, &no_pass);
}

/* ---- values of the outer function ---------------------------------------- */

/* Work in the outer function for a while. */
static struct cj_emitter *
go_out(struct cj_elab *el)
{
	struct cj_emitter *inner = el->em;

	assert(inner->level == 2 && el->host != NULL);
	el->em = el->host;
	el->em->b.place = inner->b.place;
	return inner;
}

static uint32_t
find_passed(const struct cj_elab *el, const struct cj_passed *p)
{
	uint32_t i;

	for (i = 0; i < el->em->passed.len; i++) {
		const struct cj_passed *q = &el->em->passed.at[i];

		if (cj_int_same(p->i, q->i) && p->ref == q->ref &&
		    p->is_divisor == q->is_divisor && p->slot == q->slot &&
		    p->position == q->position && p->count == q->count &&
		    (q->i.term != 0 || q->ref != 0 || q->slot != 0))
			return i;
	}
	return UINT32_MAX;
}

/* A new leaf of the launch that holds the outer function's `ref`. */
static cj_ref
pass(struct cj_elab *el, const struct cj_passed *p, cj_ref ref,
    const char *name)
{
	struct cj_leaf leaf = { .kind = CJ_LEAF_VALUE, .lo = INT64_MIN,
	    .hi = INT64_MAX, .divisor = 1, .name = name };

	leaf.type = cj_inst(el->m, ref)->type;
	assert(leaf.type != 0 && "only values are passed");
	if (!cj_is_known(p->i) && !p->is_divisor) {
		struct cj_range r = cj_int_range(&el->sym, p->i);

		leaf.lo = r.lo;
		leaf.hi = r.hi;
		leaf.divisor = cj_int_divisor(&el->sym, p->i);
	}
	*cj_push(el->arena, &el->em->operands) = ref;
	return leaf_ref(el, add_leaf(el, &leaf, p));
}

bool
cj_elab_arrives(struct cj_elab *el, struct cj_int i)
{
	struct cj_passed p = { .i = i };

	return el->em->level == 2 && cj_elab_int_level(el, i) == 1 &&
	    (el->em->passed.len < MOST_PASSED ||
	    cj_term_get(&el->sym, i)->kind == CJ_TERM_SYMBOL ||
	    find_passed(el, &p) != UINT32_MAX);
}

cj_ref
cj_elab_pass_int(struct cj_elab *el, struct cj_int i)
{
	struct cj_passed p = { .i = i };
	uint32_t found = find_passed(el, &p);
	struct cj_emitter *inner;
	cj_ref ref;

	if (found != UINT32_MAX)
		return leaf_ref(el, found);
	inner = go_out(el);
	ref = cj_elab_ref_int(el, i);
	el->em = inner;
	return pass(el, &p, ref, cj_elab_int_text(el, i));
}

cj_ref
cj_elab_pass_divisor(struct cj_elab *el, struct cj_int i)
{
	struct cj_passed p = { .i = i, .is_divisor = true };
	uint32_t found = find_passed(el, &p);
	struct cj_emitter *inner;
	cj_ref ref;

	if (found != UINT32_MAX)
		return leaf_ref(el, found);
	inner = go_out(el);
	ref = cj_emit1(&el->em->b, CJ_OP_DIVISOR, cj_type_of(CJ_KIND_U64, 2),
	    cj_elab_ref_int(el, i));
	el->em = inner;
	return pass(el, &p, ref, cj_printf(el->arena, "divisor of %s",
	    cj_elab_int_text(el, i)));
}

/* Of a scalar argument; others have no name. */
static const char *
ref_name(const struct cj_elab *el, cj_ref ref)
{
	const struct cj_inst *i = cj_inst(el->m, ref);

	if (i->op != CJ_OP_PARAM)
		return NULL;
	return el->m->functions.at[el->host->function].leaves.at[i->attr].name;
}

cj_ref
cj_elab_pass(struct cj_elab *el, cj_ref ref, unsigned level)
{
	struct cj_passed p = { .ref = ref };
	const struct cj_constant *c;
	uint32_t found;

	assert(el->em != NULL);
	if (level >= el->em->level)
		return ref;
	c = cj_constant_of(el->m, ref);
	if (c != NULL)
		return cj_emit0(&el->em->b, CJ_OP_CONST, c->type,
		    cj_inst(el->m, ref)->attr);
	found = find_passed(el, &p);
	if (found != UINT32_MAX)
		return leaf_ref(el, found);
	return pass(el, &p, ref, ref_name(el, ref));
}

cj_ref
cj_elab_pass_slot(struct cj_elab *el, uint32_t object, uint32_t position,
    uint32_t count)
{
	struct cj_passed p = { .slot = object, .position = position,
	    .count = count };
	const struct cj_object *o = &el->m->objects.at[object];
	struct cj_access access = { .object = object, .position = position };
	uint32_t found = find_passed(el, &p);
	struct cj_emitter *inner;
	cj_ref ref;

	if (found != UINT32_MAX)
		return leaf_ref(el, found);
	inner = go_out(el);
	ref = cj_emit0(&el->em->b, CJ_OP_SLOT_GET,
	    cj_type_of(o->element, count), cj_module_access(el->m, &access));
	el->em = inner;
	return pass(el, &p, ref, o->name);
}

/* The formula of a prepared divisor serves where b is not negative
 * (cj_num_divisor). */
bool
cj_elab_is_prepared(struct cj_elab *el, struct cj_int b)
{
	return el->em->level == 2 && !cj_is_known(b) &&
	    cj_elab_int_level(el, b) == 1 &&
	    cj_int_range(&el->sym, b).lo >= 0 &&
	    el->em->passed.len < MOST_DIVIDED;
}
