/*
 * `over`: the values of each name, and their combinations, the last name
 * fastest.
 */
#include "elab_over.h"

enum { MAX_COMBINATIONS = 1 << 20 };

static bool
set_domain(struct cj_elab *el, const struct cj_list *items, struct cj_domain *d)
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
range_domain(struct cj_elab *el, const struct cj_node *n, struct cj_domain *d)
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
value_at(const struct cj_domain *d, uint32_t i)
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

/* Number in each domain of combination `which`. */
static struct cj_value
value_of(const struct cj_over *o, uint32_t which, uint32_t name)
{
	uint32_t i, after = 1;

	for (i = name + 1; i < o->count; i++)
		after *= o->at[i].count;
	return value_at(&o->at[name], which / after % o->at[name].count);
}

const char *
cj_over_bind(struct cj_elab *el, const char *title, const struct cj_over *o,
    uint32_t which)
{
	struct cj_strbuf name;
	uint32_t i;

	cj_strbuf_init(&name, el->arena);
	cj_strbuf_puts(&name, title);
	for (i = 0; i < o->count; i++) {
		struct cj_value v = value_of(o, which, i);

		cj_strbuf_puts(&name, i == 0 ? " [" : ", ");
		print_binding(el, &name, o->at[i].binding);
		cj_strbuf_putc(&name, '=');
		cj_value_print(el, &name, &v);
		cj_elab_bind(el, o->at[i].binding, CJ_BOUND_CONST, v);
	}
	if (o->count != 0)
		cj_strbuf_putc(&name, ']');
	return name.text;
}

bool
cj_over_read(struct cj_elab *el, const struct cj_list *list,
    struct cj_over *out)
{
	uint64_t product = 1;
	uint32_t i;

	out->count = list->count;
	out->at = CJ_NEWS(el->arena, struct cj_domain, list->count);
	for (i = 0; i < list->count; i++) {
		const struct cj_node_each *e = &list->at[i]->each;
		struct cj_domain *d = &out->at[i];

		d->binding = e->binding;
		if (!(e->domain->kind == CJ_NODE_SET
		    ? set_domain(el, &e->domain->set.items, d)
		    : range_domain(el, e->domain, d)))
			return false;
		if (d->count == 0) {
			cj_elab_report(el, CJ_DIAG_WRONG_INDEX,
			    e->domain->span, "there is no value in %s",
			    cj_elab_source_text(el, e->domain->span));
			return false;
		}
		product *= d->count;
		if (product > MAX_COMBINATIONS) {
			cj_elab_report(el, CJ_DIAG_LIMIT, list->at[i]->span,
			    "more than %d combinations", MAX_COMBINATIONS);
			return false;
		}
	}
	out->combinations = (uint32_t)product;
	return true;
}

void
cj_over_names(struct cj_elab *el)
{
	/* functions that are values outlive the caller, with what they see */
	struct cj_env *root = CJ_NEW(el->arena, struct cj_env);

	root->file = el->unit->main;
	root->is_function = true;
	el->env = root;
}
