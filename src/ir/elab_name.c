/*
 * Names: blocks and what they bind, then the file, its imports, the prelude,
 * and what the language itself declares, in this order.
 */
#include "elab_priv.h"

enum { FEW_NAMES = 16 };		/* that a list is good enough for */

struct cj_env *
cj_env_push(struct cj_elab *el)
{
	struct cj_env *env = CJ_NEW(el->arena, struct cj_env);

	env->parent = el->env;
	env->file = el->env != NULL ? el->env->file : el->unit->main;
	el->env = env;
	return env;
}

void
cj_env_pop(struct cj_elab *el)
{
	assert(el->env != NULL && "a block is left that was entered");
	el->env = el->env->parent;
}

/* A block of many names: from here on they are found by a table. */
static void
index_name(struct cj_elab *el, struct cj_env *env, struct cj_bound *b)
{
	*cj_push(el->arena, &env->bounds) = b;
	if (b->name != 0)
		cj_name_map_set(el->arena, &env->by_name, b->name,
		    env->bounds.len);
}

static void
index_names(struct cj_elab *el, struct cj_env *env)
{
	struct cj_bound *at[FEW_NAMES], *b = env->names;
	unsigned n = FEW_NAMES;

	assert(env->count == FEW_NAMES);
	for (; b != NULL; b = b->next)
		at[--n] = b;
	while (n < FEW_NAMES)
		index_name(el, env, at[n++]);
}

struct cj_bound *
cj_env_bind(struct cj_elab *el, cj_name name, enum cj_binding_kind kind,
    struct cj_value v, struct cj_span span)
{
	struct cj_bound *b = CJ_NEW(el->arena, struct cj_bound);

	assert(el->env != NULL);
	b->name = name;
	b->kind = kind;
	b->value = v;
	b->span = span;
	b->next = el->env->names;
	if (el->env->count == FEW_NAMES)
		index_names(el, el->env);
	if (el->env->count++ >= FEW_NAMES)
		index_name(el, el->env, b);
	el->env->names = b;
	return b;
}

struct cj_bound *
cj_env_find(struct cj_env *env, cj_name name)
{
	struct cj_bound *b;
	uint32_t at;

	for (; env != NULL; env = env->parent) {
		if (env->count > FEW_NAMES) {
			at = cj_name_map_get(&env->by_name, name);
			if (at != 0)
				return env->bounds.at[at - 1];
			continue;
		}
		for (b = env->names; b != NULL; b = b->next)
			if (b->name == name)
				return b;
	}
	return NULL;
}

/* ---- file level ---------------------------------------------------------- */

/* The element of the constant's value that `name` is bound to. */
static bool
find_in_binding(const struct cj_node *b, cj_name name, struct cj_value v,
    struct cj_value *out)
{
	uint32_t i;

	if (b->kind == CJ_NODE_NAME && b->name.name == name) {
		*out = v;
		return true;
	}
	if (b->kind != CJ_NODE_TUPLE || v.kind != CJ_VALUE_TUPLE)
		return false;
	for (i = 0; i < b->tuple.items.count && i < v.tuple->count; i++)
		if (find_in_binding(b->tuple.items.at[i], name,
		    v.tuple->at[i], out))
			return true;
	return false;
}

/* Constants of file level see their file alone, at compile time. */
static struct cj_value
evaluate(struct cj_elab *el, const struct cj_file *f, const struct cj_node *n)
{
	struct cj_env env = { .file = f }, *saved_env = el->env;
	struct cj_emitter *em = el->em;
	enum cj_time time = el->time;
	struct cj_value v;

	assert(n->kind == CJ_NODE_CONST && f != NULL);
	el->env = CJ_NEW(el->arena, struct cj_env);
	*el->env = env;
	el->em = NULL;
	el->time = CJ_TIME_CONST;
	v = cj_elab_typed(el, n, cj_elab_known(el, n->let.init,
	    "a constant"));
	el->env = saved_env;
	el->em = em;
	el->time = time;
	return v;
}

static struct cj_global *
global_of(struct cj_elab *el, const struct cj_decl *d)
{
	uint32_t at = cj_name_map_get(&el->global_of, d->index);

	if (at == 0) {
		*cj_push(el->arena, &el->globals) = CJ_NEW(el->arena,
		    struct cj_global);
		at = el->globals.len;
		cj_name_map_set(el->arena, &el->global_of, d->index, at);
	}
	return el->globals.at[at - 1];
}

static struct cj_value
declared(struct cj_elab *el, const struct cj_file *f, struct cj_decl *d,
    struct cj_span span)
{
	const struct cj_node *n = cj_unit_read(f, d);
	struct cj_global *g;
	struct cj_value v;

	assert(d->index <= el->unit->decl_count);
	if (n->kind == CJ_NODE_FN) {
		struct cj_function_value *fv = CJ_NEW(el->arena,
		    struct cj_function_value);

		*fv = (struct cj_function_value){ .node = n, .file = f,
		    .name = d->name };
		v.kind = CJ_VALUE_FUNCTION;
		v.level = v.scalar = 0;
		v.function = fv;
		return v;
	}
	g = global_of(el, d);
	if (g->state == 1)
		return cj_elab_error(el, CJ_DIAG_CYCLE, span,
		    "the constant \"%s\" is defined by itself",
		    cj_elab_name(el, d->name));
	if (g->state == 0) {
		g->state = 1;
		g->value = evaluate(el, f, n);
		g->state = 2;
	}
	if (!find_in_binding(n->let.binding, d->name, g->value, &v))
		v = cj_value_error();
	return v;
}

struct cj_decl *
cj_file_find(const struct cj_file *f, cj_name name)
{
	uint32_t at = cj_name_map_get(&f->by_name, name);

	return at != 0 ? &f->decls.at[at - 1] : NULL;
}

static struct cj_value
file_value(const struct cj_file *f)
{
	struct cj_value v = { .kind = CJ_VALUE_FILE, .file = f };

	return v;
}

/* Looks in the imports without a name; false: none declares it. */
static bool
find_opened(struct cj_elab *el, const struct cj_file *f, cj_name name,
    struct cj_span span, struct cj_value *out)
{
	const struct cj_file *found = NULL;
	struct cj_decl *d = NULL;
	uint32_t i;

	for (i = 0; i < f->opened.len; i++) {
		struct cj_decl *got = cj_file_find(f->opened.at[i], name);

		if (got == NULL || f->opened.at[i] == found)
			continue;
		if (found != NULL) {
			*out = cj_elab_error(el, CJ_DIAG_AMBIGUOUS_NAME, span,
			    "\"%s\" is declared in \"%s\" and in \"%s\"",
			    cj_elab_name(el, name), found->name,
			    f->opened.at[i]->name);
			return true;
		}
		found = f->opened.at[i];
		d = got;
	}
	if (found == NULL)
		return false;
	*out = declared(el, found, d, span);
	return true;
}

static bool
find_in_file(struct cj_elab *el, const struct cj_file *f, cj_name name,
    struct cj_span span, struct cj_value *out)
{
	struct cj_decl *d = cj_file_find(f, name);
	uint32_t i;

	if (d != NULL) {
		*out = declared(el, f, d, span);
		return true;
	}
	for (i = 0; i < f->aliases.len; i++)
		if (f->aliases.at[i].name == name) {
			*out = file_value(f->aliases.at[i].file);
			return true;
		}
	return find_opened(el, f, name, span, out);
}

/* ---- the language's own -------------------------------------------------- */

/* Mbarriers and tensor maps are no values: their types are named where memory
 * for them is declared, and nowhere else. */
static struct cj_value
place_type(struct cj_elab *el, enum cj_kind k, struct cj_span span)
{
	const struct cj_span *at = &el->mbarriers;

	if ((span.source == at->source && span.begin == at->begin &&
	    span.end == at->end) || (k == CJ_KIND_MAP &&
	    el->time == CJ_TIME_HOST))
		return cj_value_type(el, k);
	if (k == CJ_KIND_MAP) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_KIND, span,
		    "a tensor map is no value: \"shared\" memory and "
		    "workspaces hold them"), "Declare some, shared m: "
		    "tensor(tensormap, n:1); and name one, m[i].");
		return cj_value_error();
	}
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_KIND, span,
	    "an mbarrier is no value: only \"shared\" memory outside of "
	    "pipelines holds them"), "Declare some, shared b: "
	    "tensor(mbarrier, n:1); and name one, b[i].");
	return cj_value_error();
}

static bool
find_builtin(struct cj_elab *el, cj_name name, struct cj_span span,
    struct cj_value *out)
{
	const char *text = cj_elab_name(el, name);
	enum cj_kind k = cj_kind_find(text);
	const struct cj_builtin *b;
	struct cj_value v = { .kind = CJ_VALUE_BUILTIN };

	if (cj_kind_is_place(k)) {
		*out = place_type(el, k, span);
		return true;
	}
	if (k != CJ_KIND_VOID && cj_kind_class(k) != CJ_CLASS_OTHER) {
		*out = cj_value_type(el, k);
		return true;
	}
	if (strcmp(text, "type") == 0) {
		struct cj_type_value *t = CJ_NEW(el->arena,
		    struct cj_type_value);

		t->is_type = true;
		v.kind = CJ_VALUE_TYPE;
		v.type = t;
		*out = v;
		return true;
	}
	if (strcmp(text, "cute") == 0) {
		*out = file_value(NULL);
		return true;
	}
	b = cj_builtin_lookup(text);
	if (b == NULL)
		return false;
	v.builtin = b;
	*out = b->make != NULL ? b->make(el, span) : v;
	return true;
}

static void
suggest(struct cj_elab *el, struct cj_diag *d, cj_name name)
{
	CJ_VEC(const char *) words = { 0 };
	const struct cj_env *env;
	const struct cj_bound *b;
	const struct cj_file *f = el->env->file;
	const char *near;
	uint32_t i;

	for (env = el->env; env != NULL; env = env->parent)
		for (b = env->names; b != NULL; b = b->next)
			*cj_push(el->arena, &words) =
			    cj_elab_name(el, b->name);
	for (i = 0; i < f->decls.len; i++)
		*cj_push(el->arena, &words) =
		    cj_elab_name(el, f->decls.at[i].name);
	for (i = 0; i < cj_builtin_count; i++)
		*cj_push(el->arena, &words) = cj_builtins[i].name;
	near = cj_nearest(cj_elab_name(el, name), words.at, words.len);
	if (near != NULL)
		cj_help(d, "Did you mean \"%s\"?", near);
}

bool
cj_elab_find(struct cj_elab *el, cj_name name, struct cj_span span,
    struct cj_value *out)
{
	const struct cj_bound *b = cj_env_find(el->env, name);
	const struct cj_file *f = el->env->file;

	assert(f != NULL && "names belong to a file");
	if (b != NULL) {
		*out = b->value;
		if (el->ahead != NULL && cj_elab_ahead_hides(el, b, span))
			*out = cj_value_error();
		return true;
	}
	return find_in_file(el, f, name, span, out) ||
	    (el->unit->prelude != NULL && f != el->unit->prelude &&
	    find_in_file(el, el->unit->prelude, name, span, out)) ||
	    find_builtin(el, name, span, out);
}

struct cj_value
cj_elab_lookup(struct cj_elab *el, cj_name name, struct cj_span span)
{
	struct cj_value v;

	if (cj_elab_find(el, name, span, &v))
		return v;
	suggest(el, cj_elab_report(el, CJ_DIAG_UNKNOWN_NAME, span,
	    "\"%s\" is not declared", cj_elab_name(el, name)), name);
	return cj_value_error();
}

/* What the text in hand calls an import; NULL: it has no name here. */
static const char *
alias_of(struct cj_elab *el, const struct cj_file *f)
{
	const struct cj_file *here = el->env->file;
	uint32_t i;

	for (i = 0; i < here->aliases.len; i++)
		if (here->aliases.at[i].file == f)
			return cj_elab_name(el, here->aliases.at[i].name);
	return NULL;
}

/* lib.k(x), where k is a kernel, or no name of that text at all. */
static struct cj_value
no_member(struct cj_elab *el, const struct cj_file *f, cj_name name,
    struct cj_span span)
{
	const char *text = cj_elab_name(el, name), *alias = alias_of(el, f);
	CJ_VEC(const char *) words = { 0 };
	const char *near;
	struct cj_diag *d;
	uint32_t i;

	for (i = 0; i < f->tree->decls.count; i++) {
		const struct cj_node *n = f->tree->decls.at[i];

		if (n->kind != CJ_NODE_KERNEL || n->kernel.name.name != name)
			continue;
		d = cj_elab_report(el, CJ_DIAG_MISPLACED_STATEMENT, span,
		    "\"%s\" is a kernel, and kernels are no functions", text);
		cj_note(d, n->kernel.name.span, "it is declared here");
		cj_help(d, "Tests and benches start it: launch %s%s%s(...).",
		    alias == NULL ? "" : alias, alias == NULL ? "" : ".",
		    text);
		return cj_value_error();
	}
	d = cj_elab_report(el, CJ_DIAG_UNKNOWN_NAME, span,
	    "\"%s\" declares no \"%s\"", f->name, text);
	for (i = 0; i < f->decls.len; i++)
		*cj_push(el->arena, &words) = cj_elab_name(el,
		    f->decls.at[i].name);
	near = cj_nearest(text, words.at, words.len);
	if (near != NULL) {
		cj_help(d, "Did you mean \"%s\"?", near);
		cj_fixit(d, span, "%s", near);
	}
	return cj_value_error();
}

/* `file.name`; `cute.name` is what the language declares. */
struct cj_value
cj_elab_file_member(struct cj_elab *el, const struct cj_file *f, cj_name name,
    struct cj_span span)
{
	struct cj_decl *d;
	struct cj_value v;

	if (f == NULL) {
		if (find_builtin(el, name, span, &v))
			return v;
		d = el->unit->prelude == NULL ? NULL :
		    cj_file_find(el->unit->prelude, name);
		if (d != NULL)
			return declared(el, el->unit->prelude, d, span);
		return cj_elab_error(el, CJ_DIAG_UNKNOWN_NAME, span,
		    "the language declares no \"%s\"", cj_elab_name(el, name));
	}
	d = cj_file_find(f, name);
	return d != NULL ? declared(el, f, d, span) :
	    no_member(el, f, name, span);
}
