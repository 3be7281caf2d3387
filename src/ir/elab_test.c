/*
 * Tests and benches: from a block of the text to a test function.
 *
 * A block with `over` is elaborated once for each combination of its values,
 * which are known while it is: the last name runs fastest. Whole-array work is
 * in elab_array.c, `expect` in elab_expect.c, calls of kernels in
 * elab_test_call.c.
 */
#include "elab_over.h"
#include "elab_test_priv.h"

#include "parser/parser.h"

/* A module with an empty test function, which `em` emits to. */
static void
begin_function(struct cj_elab *el, struct cj_emitter *em, const char *name)
{
	struct cj_module *m = cj_module_create(el->arena, name, el->target);

	m->sources = el->unit->sources;
	el->m = m;
	memset(em, 0, sizeof *em);
	em->function = cj_module_function(m, CJ_FUNCTION_TEST, name);
	em->level = 1;
	em->b.module = m;
	em->b.region = m->functions.at[em->function].body;
	el->em = el->host = em;
	el->time = CJ_TIME_TEST;
}

static struct cj_module *
finish(struct cj_elab *el, uint32_t errors)
{
	const char *fault;

	if (el->errors != 0 || el->ds->errors != errors)
		return NULL;
	fault = cj_module_verify(el->m);
	if (fault != NULL)
		cj_bug(el->recover, "test \"%s\": %s", el->m->name, fault);
	return el->m;
}

struct cj_module *
cj_elab_test(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_test_info *t, struct cj_combination *c,
    struct cj_diags *ds)
{
	const struct cj_node_test *test = &t->node->test;
	uint32_t errors = ds->errors;
	struct cj_emitter em;
	struct cj_elab el;
	struct cj_over over;

	c->count = 0;
	c->name = t->name;
	cj_elab_init(&el, a, u, cj_target_find("sm_90a"), ds);
	el.bounds = CJ_BOUNDS_MODES;	/* the executor runs it, always */
	cj_over_names(&el);
	if (!cj_over_read(&el, &test->over, &over))
		return NULL;
	c->count = over.combinations;
	if (c->number >= c->count)
		return NULL;
	begin_function(&el, &em, t->name);
	c->name = cj_over_bind(&el, t->name, &over, c->number);
	el.m->name = c->name;
	cj_elab_body(&el, test->body);
	return finish(&el, errors);
}

struct cj_module *
cj_elab_array(struct cj_arena *a, const struct cj_unit *u, const char *text,
    struct cj_diags *ds)
{
	uint32_t errors = ds->errors;
	uint32_t source = cj_source_add(u->sources, "argument", text,
	    strlen(text));
	const struct cj_node *n = source == 0 ? NULL :
	    cj_parse_value(a, u->names, u->sources, source, ds);
	struct cj_emitter em;
	struct cj_elab el;
	struct cj_value v;

	if (n == NULL)
		return NULL;
	cj_elab_init(&el, a, u, cj_target_find("sm_90a"), ds);
	el.bounds = CJ_BOUNDS_MODES;	/* the executor runs it, always */
	cj_over_names(&el);
	begin_function(&el, &em, "argument");
	cj_elab_at(&el, n->span);
	v = cj_elab_expr(&el, n);
	if (v.kind == CJ_VALUE_ERROR)
		return NULL;
	if (!cj_elab_is_array(&el, &v)) {
		cj_elab_report(&el, CJ_DIAG_WRONG_KIND, n->span,
		    "an array is needed, this is %s", cj_value_what(&el, &v));
		return NULL;
	}
	cj_elab_hand_over(&el, n->span, v.tensor);
	return finish(&el, errors);
}
