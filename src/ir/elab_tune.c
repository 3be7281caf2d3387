/*
 * `tune`: the candidates of a search, as compile-time arguments.
 *
 * Each combination of the values that `where` lets through is one. Values are
 * given as texts of the language, as the command and the library take them, so
 * that a winner can be kept in a file.
 */
#include "elab_contract.h"
#include "elab_over.h"

enum { MOST = 1 << 16 };

static void
print_names(const struct cj_unit *u, struct cj_strbuf *b,
    const struct cj_node *binding)
{
	uint32_t i;

	if (binding->kind == CJ_NODE_NAME)
		cj_strbuf_printf(b, "%s%s", b->len == 0 ? "" : ", ",
		    cj_name_text(u->names, binding->name.name));
	else if (binding->kind == CJ_NODE_TUPLE)
		for (i = 0; i < binding->tuple.items.count; i++)
			print_names(u, b, binding->tuple.items.at[i]);
}

const char *
cj_tune_names(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_tune_info *t)
{
	const struct cj_list *over = &t->node->tune.over;
	struct cj_strbuf b;
	uint32_t i;

	cj_strbuf_init(&b, a);
	for (i = 0; i < over->count; i++)
		print_names(u, &b, over->at[i]->each.binding);
	return b.text;
}

uint32_t
cj_unit_tunes(const struct cj_unit *u, const struct cj_tune_info **tunes)
{
	*tunes = u->tunes.at;
	return u->tunes.len;
}

static uint32_t
count_names(const struct cj_node *binding)
{
	uint32_t i, n = 0;

	if (binding->kind == CJ_NODE_NAME)
		return 1;
	if (binding->kind == CJ_NODE_TUPLE)
		for (i = 0; i < binding->tuple.items.count; i++)
			n += count_names(binding->tuple.items.at[i]);
	return n;
}

struct taking {
	struct cj_elab *el;
	struct cj_const_argument *at;
	uint32_t count;
};

/* The names of a binding, which are bound, with their values. */
static void
take(struct taking *t, const struct cj_node *binding)
{
	struct cj_strbuf b;
	uint32_t i;

	if (binding->kind == CJ_NODE_NAME) {
		const struct cj_bound *bound = cj_env_find(t->el->env,
		    binding->name.name);

		assert(bound != NULL && "a name of `over` is bound");
		cj_strbuf_init(&b, t->el->arena);
		cj_value_print(t->el, &b, &bound->value);
		t->at[t->count].name = cj_elab_name(t->el,
		    binding->name.name);
		t->at[t->count++].text = b.text;
	}
	if (binding->kind == CJ_NODE_TUPLE)
		for (i = 0; i < binding->tuple.items.count; i++)
			take(t, binding->tuple.items.at[i]);
}

static void
set_candidate(struct cj_elab *el, const struct cj_over *o,
    struct cj_candidate *out)
{
	struct taking t = { .el = el };
	struct cj_strbuf text;
	uint32_t i, n = 0;

	for (i = 0; i < o->count; i++)
		n += count_names(o->at[i].binding);
	t.at = CJ_NEWS(el->arena, struct cj_const_argument, n);
	for (i = 0; i < o->count; i++)
		take(&t, o->at[i].binding);
	cj_strbuf_init(&text, el->arena);
	for (i = 0; i < n; i++)
		cj_strbuf_printf(&text, "%s%s=%s", i == 0 ? "" : "; ",
		    t.at[i].name, t.at[i].text);
	out->consts = t.at;
	out->count = n;
	out->text = text.text;
}

/* Does `where` let the names through as they are bound? False with an error
 * where it cannot be known. */
static bool
is_let_through(struct cj_elab *el, const struct cj_list *where)
{
	uint32_t i;

	for (i = 0; i < where->count; i++) {
		struct cj_value v = cj_elab_known(el, where->at[i],
		    "a condition of `tune`");

		if (v.kind == CJ_VALUE_ERROR)
			return false;
		if (v.kind != CJ_VALUE_BOOL) {
			cj_elab_report(el, CJ_DIAG_WRONG_KIND,
			    where->at[i]->span, "a condition is needed, this "
			    "is %s", cj_value_what(el, &v));
			return false;
		}
		if (!v.truth)
			return false;
	}
	return true;
}

bool
cj_elab_tune(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_tune_info *t, struct cj_candidate **out, uint32_t *count,
    struct cj_diags *ds)
{
	const struct cj_node_tune *n = &t->node->tune;
	uint32_t errors = ds->errors, i;
	struct cj_over over;
	struct cj_elab el;

	*count = 0;
	cj_elab_init(&el, a, u, cj_target_find("sm_90a"), ds);
	cj_over_names(&el);
	if (!cj_over_read(&el, &n->over, &over))
		return false;
	if (over.combinations > MOST) {
		cj_elab_report(&el, CJ_DIAG_LIMIT, t->span,
		    "more than %d candidates", MOST);
		return false;
	}
	*out = CJ_NEWS(a, struct cj_candidate, over.combinations);
	for (i = 0; i < over.combinations; i++) {
		cj_over_names(&el);
		cj_over_bind(&el, "", &over, i);
		if (is_let_through(&el, &n->where))
			set_candidate(&el, &over, &(*out)[(*count)++]);
		if (ds->errors != errors)
			return false;
	}
	return true;
}

/* ---- what was bound ------------------------------------------------------ */

static bool
names(const struct cj_node *binding, cj_name name)
{
	uint32_t i;

	if (binding->kind == CJ_NODE_NAME)
		return binding->name.name == name;
	for (i = 0; binding->kind == CJ_NODE_TUPLE &&
	    i < binding->tuple.items.count; i++)
		if (names(binding->tuple.items.at[i], name))
			return true;
	return false;
}

static bool
searches(const struct cj_unit *u, const char *kernel, cj_name name)
{
	uint32_t i, k;

	for (i = 0; i < u->tunes.len; i++) {
		const struct cj_list *over = &u->tunes.at[i].node->tune.over;

		for (k = 0; k < over->count; k++)
			if (strcmp(u->tunes.at[i].kernel, kernel) == 0 &&
			    names(over->at[k]->each.binding, name))
				return true;
	}
	return false;
}

const char *
cj_tune_bound(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_binding *b, const char *kernel)
{
	struct cj_diags quiet;
	struct cj_strbuf out;
	struct cj_elab el;
	uint32_t i;

	cj_diags_init(&quiet, a, u->sources);
	cj_elab_init(&el, a, u, NULL, &quiet);
	cj_strbuf_init(&out, a);
	for (i = 0; i < b->consts.len; i++) {
		const struct cj_bound_name *c = &b->consts.at[i];

		if (!searches(u, kernel, c->name))
			continue;
		cj_strbuf_printf(&out, "%s%s=", out.len == 0 ? "" : "; ",
		    cj_elab_name(&el, c->name));
		cj_value_print(&el, &out, &c->value);
	}
	return out.text == NULL ? "" : out.text;
}

const char *
cj_const_text(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_const_argument *c)
{
	struct cj_diags quiet;
	struct cj_strbuf b;
	struct cj_elab el;

	if (c->text != NULL)
		return c->text;
	cj_diags_init(&quiet, a, u->sources);
	cj_elab_init(&el, a, u, cj_target_find("sm_90a"), &quiet);
	cj_strbuf_init(&b, a);
	cj_value_print(&el, &b, c->value);
	return b.text;
}
