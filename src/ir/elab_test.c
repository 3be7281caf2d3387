/*
 * Tests and benches: from a block of the text to a test function.
 *
 * A block with `over` is elaborated once for each combination of its values,
 * which are known while it is: the last name runs fastest. Whole-array work is
 * in elab_array.c, `expect` in elab_expect.c, calls of kernels in
 * elab_test_call.c.
 */
#include "elab_test_priv.h"

#include "parser/parser.h"

enum { MAX_COMBINATIONS = 1 << 20 };

/* The values of one `over` name. */
struct domain {
	const struct cj_node *binding;
	uint32_t count;
	const struct cj_value *at;	/* NULL: first, first + 1 ... */
	int64_t first;
};

static bool
set_domain(struct cj_elab *el, const struct cj_list *items, struct domain *d)
{
	struct cj_value *at = CJ_NEWS(el->arena, struct cj_value,
	    items->count);
	uint32_t i;

	for (i = 0; i < items->count; i++) {
		at[i] = cj_elab_known(el, items->at[i], "a value of `over`");
		if (at[i].kind == CJ_VALUE_ERROR)
			return false;
	}
	d->at = at;
	d->count = items->count;
	return true;
}

static bool
range_domain(struct cj_elab *el, const struct cj_node *n, struct domain *d)
{
	struct cj_value v = cj_elab_known(el, n, "a range of `over`");
	int64_t last;

	if (v.kind == CJ_VALUE_ERROR)
		return false;
	if (v.kind != CJ_VALUE_RANGE || !cj_is_known(v.range->first) ||
	    !cj_is_known(v.range->last)) {
		cj_elab_report(el, CJ_DIAG_WRONG_KIND, n->span,
		    "`over` needs a set {...} or a known range a..b, not %s",
		    cj_value_what(el, &v));
		return false;
	}
	d->first = v.range->first.value;
	last = v.range->last.value;
	if (last > d->first && last - d->first > MAX_COMBINATIONS) {
		cj_elab_report(el, CJ_DIAG_LIMIT, n->span,
		    "more than %d values", MAX_COMBINATIONS);
		return false;
	}
	d->count = last > d->first ? (uint32_t)(last - d->first) : 0;
	return true;
}

static struct cj_value
domain_value(const struct domain *d, uint32_t i)
{
	return d->at != NULL ? d->at[i] :
	    cj_value_known(d->first + (int64_t)i);
}

static void
print_binding(struct cj_elab *el, struct cj_strbuf *out,
    const struct cj_node *b)
{
	uint32_t i;

	if (b->kind == CJ_NODE_NAME) {
		cj_strbuf_puts(out, cj_elab_name(el, b->name.name));
	} else if (b->kind == CJ_NODE_TUPLE) {
		cj_strbuf_putc(out, '(');
		for (i = 0; i < b->tuple.items.count; i++) {
			if (i != 0)
				cj_strbuf_puts(out, ", ");
			print_binding(el, out, b->tuple.items.at[i]);
		}
		cj_strbuf_putc(out, ')');
	} else {
		cj_strbuf_putc(out, '_');
	}
}

/* Bind the values of combination `which`; the name that shows them. */
static const char *
bind_combination(struct cj_elab *el, const char *title,
    const struct domain *d, uint32_t count, uint32_t which)
{
	struct cj_strbuf name;
	uint32_t i, after = 1;

	cj_strbuf_init(&name, el->arena);
	cj_strbuf_puts(&name, title);
	for (i = 0; i < count; i++)
		after *= d[i].count;
	for (i = 0; i < count; i++) {
		struct cj_value v;

		after /= d[i].count;
		v = domain_value(&d[i], which / after % d[i].count);
		cj_strbuf_puts(&name, i == 0 ? " [" : ", ");
		print_binding(el, &name, d[i].binding);
		cj_strbuf_putc(&name, '=');
		cj_value_print(el, &name, &v);
		cj_elab_bind(el, d[i].binding, CJ_BOUND_CONST, v);
	}
	if (count != 0)
		cj_strbuf_putc(&name, ']');
	return name.text;
}

static struct domain *
read_domains(struct cj_elab *el, const struct cj_list *over, uint32_t *total)
{
	struct domain *d = CJ_NEWS(el->arena, struct domain, over->count);
	uint64_t product = 1;
	uint32_t i;

	for (i = 0; i < over->count; i++) {
		const struct cj_node_each *e = &over->at[i]->each;
		bool good;

		d[i].binding = e->binding;
		good = e->domain->kind == CJ_NODE_SET ?
		    set_domain(el, &e->domain->set.items, &d[i]) :
		    range_domain(el, e->domain, &d[i]);
		if (!good)
			return NULL;
		product *= d[i].count;
		if (product > MAX_COMBINATIONS) {
			cj_elab_report(el, CJ_DIAG_LIMIT, over->at[i]->span,
			    "more than %d combinations", MAX_COMBINATIONS);
			return NULL;
		}
	}
	*total = (uint32_t)product;
	return d;
}

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

static void
begin_names(struct cj_elab *el, struct cj_env *root)
{
	memset(root, 0, sizeof *root);
	root->file = el->unit->main;
	root->is_function = true;
	el->env = root;
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
    const struct cj_test_info *t, uint32_t i, uint32_t *count,
    struct cj_diags *ds)
{
	const struct cj_node_test *test = &t->node->test;
	uint32_t errors = ds->errors;
	struct cj_emitter em;
	struct cj_elab el;
	struct cj_env root;
	struct domain *d;

	*count = 0;
	cj_elab_init(&el, a, u, cj_target_find("sm_90a"), ds);
	begin_names(&el, &root);
	d = read_domains(&el, &test->over, count);
	if (d == NULL || i >= *count)
		return NULL;
	begin_function(&el, &em, t->name);
	el.m->name = bind_combination(&el, t->name, d, test->over.count, i);
	cj_elab_block(&el, test->body);
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
	struct cj_env root;
	struct cj_value v;

	if (n == NULL)
		return NULL;
	cj_elab_init(&el, a, u, cj_target_find("sm_90a"), ds);
	begin_names(&el, &root);
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
