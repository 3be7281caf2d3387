/*
 * Why is this not known? A term says it itself: the first of its symbols that
 * a name of the program stands for is the culprit. Of other values the names
 * in their expression are asked, and the expressions of those that `let`
 * declared.
 */
#include "elab_origin.h"

enum { MOST_STEPS = 4 };

struct origin {
	struct cj_elab *el;
	struct cj_diag *d;
	bool is_found;
	unsigned steps;			/* of `let`s gone through */
};

static void explain(struct origin *o, const struct cj_bound *b);

/* ---- terms --------------------------------------------------------------- */

/* One symbol of a term, the first; 0: there is none. */
static uint32_t
first_symbol(const struct cj_symtab *t, struct cj_int i)
{
	const struct cj_term *x = cj_term_get(t, i);
	uint32_t found = 0, n;
	struct cj_int part;

	if (x == NULL)
		return 0;
	if (x->kind == CJ_TERM_SYMBOL)
		return i.term;
	for (n = 0; found == 0 && cj_term_part(x, n, &part); n++)
		found = first_symbol(t, part);
	return found;
}

static void
explain_int(struct origin *o, struct cj_int i)
{
	uint32_t symbol = first_symbol(&o->el->sym, i);
	const struct cj_bound *b;
	cj_name name;

	if (symbol == 0)
		return;
	name = o->el->sym.terms.at[symbol].name;
	b = name == 0 ? NULL : cj_env_find(o->el->env, name);
	if (b != NULL)
		explain(o, b);
}

static void
explain_tuple(struct origin *o, const struct cj_tuple *t)
{
	uint32_t i;

	if (t->kind == CJ_TUPLE_INT)
		explain_int(o, t->value);
	else if (t->kind == CJ_TUPLE_TUPLE)
		for (i = 0; !o->is_found && i < t->rank; i++)
			explain_tuple(o, t->at[i]);
}

/* What the value itself says; nothing, if it is no term. */
static void
explain_value(struct origin *o, const struct cj_value *v)
{
	uint32_t i;

	switch ((unsigned)v->kind) {
	case CJ_VALUE_INT:
		explain_int(o, v->i);
		break;
	case CJ_VALUE_RANGE:
		explain_int(o, v->range->first);
		if (!o->is_found)
			explain_int(o, v->range->last);
		break;
	case CJ_VALUE_LAYOUT:
		explain_tuple(o, v->layout->shape);
		if (!o->is_found)
			explain_tuple(o, v->layout->stride);
		break;
	case CJ_VALUE_TUPLE:
		for (i = 0; !o->is_found && i < v->tuple->count; i++)
			explain_value(o, &v->tuple->at[i]);
		break;
	}
}

/* ---- names in an expression ---------------------------------------------- */

static void
ask(void *context, struct cj_node *n)
{
	struct origin *o = context;
	const struct cj_bound *b;

	if (o->is_found || n->kind == CJ_NODE_LAMBDA)
		return;
	if (n->kind != CJ_NODE_NAME) {
		cj_node_visit(n, ask, o);
		return;
	}
	b = cj_env_find(o->el->env, n->name.name);
	if (b != NULL && !cj_value_is_known(&b->value))
		explain(o, b);
}

/* ---- declarations -------------------------------------------------------- */

struct search {
	struct cj_span span;
	const struct cj_node *found;	/* the innermost declaration */
};

static bool
covers(struct cj_span outer, struct cj_span inner)
{
	return outer.source == inner.source && outer.begin <= inner.begin &&
	    outer.end >= inner.end;
}

static void
search(void *context, struct cj_node *n)
{
	struct search *s = context;

	if (!covers(n->span, s->span))
		return;
	if (n->kind == CJ_NODE_LET || n->kind == CJ_NODE_FOR ||
	    n->kind == CJ_NODE_PARAM)
		s->found = n;
	cj_node_visit(n, search, s);
}

/* The `let`, `for` or parameter that declares a name; NULL: none of these. */
static const struct cj_node *
declaration(const struct cj_elab *el, struct cj_span span)
{
	struct search s = { .span = span };
	const struct cj_file *f = el->env->file;
	uint32_t i;

	if (f->source != span.source)
		return NULL;
	for (i = 0; i < f->tree->decls.count; i++)
		search(&s, f->tree->decls.at[i]);
	for (i = 0; i < f->decls.len; i++)	/* of the library */
		if (f->decls.at[i].node != NULL)
			cj_node_visit(f->decls.at[i].node, search, &s);
	return s.found;
}

/* Extents, strides and scalars of the call, by the names that patterns give
 * them. */
static bool
is_of_call(const struct origin *o, const struct cj_bound *b)
{
	const struct cj_symtab *t = &o->el->sym;
	const struct cj_term *x;

	if (b->value.kind != CJ_VALUE_INT || cj_is_known(b->value.i))
		return false;
	x = cj_term_get(t, b->value.i);
	return x->kind == CJ_TERM_SYMBOL &&
	    o->el->symbols.at[x->symbol].source == CJ_SOURCE_LEAF;
}

static void
explain_let(struct origin *o, const struct cj_bound *b,
    const struct cj_node *let)
{
	const char *name = cj_elab_name(o->el, b->name);

	cj_note(o->d, b->span, "\"%s\" gets its value here, at run time",
	    name);
	if (o->steps++ < MOST_STEPS && let->let.init != NULL) {
		o->is_found = false;
		ask(o, let->let.init);
		o->is_found = true;
	}
}

static void
explain(struct origin *o, const struct cj_bound *b)
{
	const char *name = cj_elab_name(o->el, b->name);
	const struct cj_node *n = declaration(o->el, b->span);

	o->is_found = true;
	if (b->kind == CJ_BOUND_VAR)
		cj_note(o->d, b->span, "\"%s\" is a \"var\": its numbers are "
		    "known at run time alone", name);
	else if (b->value.kind == CJ_VALUE_TENSOR)
		cj_note(o->d, b->span, "\"%s\" is declared here: its elements, "
		    "and extents without \"const\", are known at run time "
		    "alone", name);
	else if (is_of_call(o, b))
		cj_note(o->d, b->span, "\"%s\" is a number of each call; "
		    "\"const %s\" would be one of compile time", name, name);
	else if (n != NULL && n->kind == CJ_NODE_FOR)
		cj_note(o->d, b->span, "\"%s\" counts at run time; \"const "
		    "for\" counts at compile time", name);
	else if (n != NULL && n->kind == CJ_NODE_LET)
		explain_let(o, b, n);
	else
		cj_note(o->d, b->span, "\"%s\" is declared here, and has a "
		    "value of run time", name);
}

/* ---- the face ------------------------------------------------------------ */

void
cj_elab_note_origin(struct cj_elab *el, struct cj_diag *d,
    const struct cj_value *v, const struct cj_node *n)
{
	struct origin o = { .el = el, .d = d };

	explain_value(&o, v);
	if (!o.is_found && n != NULL)
		ask(&o, (struct cj_node *)(uintptr_t)n);
}

void
cj_elab_note_tuple(struct cj_elab *el, struct cj_diag *d,
    const struct cj_tuple *t)
{
	struct origin o = { .el = el, .d = d };

	explain_tuple(&o, t);
}

void
cj_elab_note_int(struct cj_elab *el, struct cj_diag *d, struct cj_int i)
{
	struct origin o = { .el = el, .d = d };

	explain_int(&o, i);
}

void
cj_elab_note_var(struct cj_elab *el, struct cj_diag *d, struct cj_int i)
{
	uint32_t symbol = first_symbol(&el->sym, i);
	cj_name name = symbol == 0 ? 0 : el->sym.terms.at[symbol].name;
	const struct cj_bound *b = name == 0 ? NULL :
	    cj_env_find(el->env, name);

	if (symbol == i.term && b != NULL && b->kind == CJ_BOUND_VAR)
		cj_note(d, b->span, "\"%s\" is an int, as it begins with one: "
		    "\"var %s = 0.0\" is an f32", cj_elab_name(el, name),
		    cj_elab_name(el, name));
}
