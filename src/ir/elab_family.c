/*
 * Families: kernels of one name in one text, and what the main text calls
 * them.
 *
 * Its own have their names. Those of a text that it imports have theirs, too,
 * unless an own kernel hides them or a second import has one of that name; an
 * import with a name of its own puts it in front, "lib.gemm". Only imports of
 * the main text itself count, as for functions.
 */
#include "elab_priv.h"

/* ---- what there is ------------------------------------------------------- */

static const struct cj_family *
find_family(const struct cj_unit *u, const char *kernel)
{
	uint32_t at = cj_name_map_get(&u->family_of,
	    cj_intern_str(u->names, kernel));

	return at != 0 ? &u->families.at[at - 1] : NULL;
}

static const struct cj_member_info *
find_name(const struct cj_unit *u, const char *kernel)
{
	const struct cj_family *f = find_family(u, kernel);

	return f != NULL ? &u->members.at[f->first] : NULL;
}

/* One more member: its number in its family. */
static uint32_t
join_family(struct cj_unit *u, const char *kernel)
{
	cj_name name = cj_intern_str(u->names, kernel);
	uint32_t at = cj_name_map_get(&u->family_of, name);

	if (at == 0) {
		*cj_push(u->arena, &u->families) =
		    (struct cj_family){ .first = u->members.len };
		at = u->families.len;
		cj_name_map_set(u->arena, &u->family_of, name, at);
	}
	return u->families.at[at - 1].count++;
}

static void
add_member(struct cj_unit *u, const struct cj_file *f,
    const struct cj_node *n, const char *kernel)
{
	struct cj_member_info info = {
		.kernel = kernel,
		.member = join_family(u, kernel),
		.file = f,
		.node = n,
		.span = n->kernel.name.span,
		.is_imported = f != u->main
	};

	*cj_push(u->arena, &u->members) = info;
}

static bool
has_kernel(const struct cj_file *f, cj_name name)
{
	return cj_name_map_get(&f->kernels, name) != 0;
}

/* Another text among the imports without a name that has it, too. */
static const struct cj_file *
rival(const struct cj_unit *u, const struct cj_file *f, cj_name name)
{
	uint32_t i;

	for (i = 0; i < u->main->opened.len; i++)
		if (u->main->opened.at[i] != f &&
		    has_kernel(u->main->opened.at[i], name))
			return u->main->opened.at[i];
	return NULL;
}

static const struct cj_kernel_clash *
find_clash(const struct cj_unit *u, const char *kernel)
{
	uint32_t i;

	for (i = 0; i < u->clashes.len; i++)
		if (strcmp(cj_name_text(u->names, u->clashes.at[i].name),
		    kernel) == 0)
			return &u->clashes.at[i];
	return NULL;
}

static void
add_clash(struct cj_unit *u, cj_name name, const struct cj_file *first,
    const struct cj_file *second)
{
	struct cj_kernel_clash clash = { name, first, second };

	if (find_clash(u, cj_name_text(u->names, name)) == NULL)
		*cj_push(u->arena, &u->clashes) = clash;
}

static void
list_opened(struct cj_unit *u, const struct cj_file *f)
{
	const struct cj_file *other;
	uint32_t i;

	for (i = 0; i < f->tree->decls.count; i++) {
		const struct cj_node *n = f->tree->decls.at[i];

		if (n->kind != CJ_NODE_KERNEL ||
		    has_kernel(u->main, n->kernel.name.name))
			continue;
		other = rival(u, f, n->kernel.name.name);
		if (other != NULL)
			add_clash(u, n->kernel.name.name, f, other);
		else
			add_member(u, f, n,
			    cj_name_text(u->names, n->kernel.name.name));
	}
}

static void
list_alias(struct cj_unit *u, const struct cj_alias *as)
{
	const struct cj_list *decls = &as->file->tree->decls;
	uint32_t i;

	for (i = 0; i < decls->count; i++)
		if (decls->at[i]->kind == CJ_NODE_KERNEL)
			add_member(u, as->file, decls->at[i],
			    cj_printf(u->arena, "%s.%s",
			    cj_name_text(u->names, as->name),
			    cj_name_text(u->names,
			    decls->at[i]->kernel.name.name)));
}

/* A text that is imported twice brings its kernels once. */
static bool
is_earlier(const struct cj_file *f, uint32_t import)
{
	uint32_t i;

	for (i = 0; i < import; i++)
		if (f->opened.at[i] == f->opened.at[import])
			return true;
	return false;
}

void
cj_families_list(struct cj_unit *u)
{
	const struct cj_file *f = u->main;
	uint32_t i;

	for (i = 0; i < f->tree->decls.count; i++)
		if (f->tree->decls.at[i]->kind == CJ_NODE_KERNEL)
			add_member(u, f, f->tree->decls.at[i],
			    cj_name_text(u->names,
			    f->tree->decls.at[i]->kernel.name.name));
	for (i = 0; i < f->opened.len; i++)
		if (!is_earlier(f, i))
			list_opened(u, f->opened.at[i]);
	for (i = 0; i < f->aliases.len; i++)
		list_alias(u, &f->aliases.at[i]);
}

/* What the text of an imported kernel says about searching it. */
static void
list_tunes(struct cj_unit *u, const struct cj_member_info *m)
{
	const struct cj_list *decls = &m->file->tree->decls;
	uint32_t i;

	for (i = 0; i < decls->count; i++) {
		const struct cj_node *n = decls->at[i];
		struct cj_tune_info info = { .kernel = m->kernel, .node = n,
		    .is_imported = true };

		if (n->kind != CJ_NODE_TUNE ||
		    n->tune.name.name != m->node->kernel.name.name)
			continue;
		info.span = n->tune.name.span;
		*cj_push(u->arena, &u->tunes) = info;
	}
}

void
cj_families_list_tunes(struct cj_unit *u)
{
	uint32_t i;

	for (i = 0; i < u->members.len; i++)
		if (u->members.at[i].is_imported &&
		    u->members.at[i].member == 0)
			list_tunes(u, &u->members.at[i]);
}

uint32_t
cj_unit_members(const struct cj_unit *u, const struct cj_member_info **members)
{
	*members = u->members.at;
	return u->members.len;
}

bool
cj_unit_clash(const struct cj_unit *u, const char *kernel, const char **first,
    const char **second)
{
	const struct cj_kernel_clash *clash = find_clash(u, kernel);

	if (clash == NULL)
		return false;
	*first = clash->first->name;
	*second = clash->second->name;
	return true;
}

/* ---- what a launch names ------------------------------------------------- */

static void
report_clash(struct cj_elab *el, const struct cj_kernel_clash *clash,
    struct cj_span span)
{
	const char *kernel = cj_elab_name(el, clash->name);

	cj_help(cj_elab_report(el, CJ_DIAG_AMBIGUOUS_NAME, span,
	    "the kernel \"%s\" is declared in \"%s\" and in \"%s\"", kernel,
	    clash->first->name, clash->second->name),
	    "Give one of the imports a name, import \"...\" as other; and "
	    "launch other.%s(...).", kernel);
}

/* A kernel of this name in a text of the unit; NULL: there is none. */
static const struct cj_node *
find_anywhere(const struct cj_unit *u, cj_name name)
{
	uint32_t i, k;

	for (i = 0; i < u->files.len; i++)
		for (k = 0; k < u->files.at[i]->tree->decls.count; k++) {
			const struct cj_node *n =
			    u->files.at[i]->tree->decls.at[k];

			if (n->kind == CJ_NODE_KERNEL &&
			    n->kernel.name.name == name)
				return n;
		}
	return NULL;
}

/* How the main text can name that declaration; NULL: it cannot. */
static const char *
name_here(const struct cj_unit *u, const struct cj_node *kernel)
{
	uint32_t i;

	for (i = 0; i < u->members.len; i++)
		if (u->members.at[i].node == kernel)
			return u->members.at[i].kernel;
	return NULL;
}

static void
help_unknown(struct cj_elab *el, struct cj_diag *d, cj_name name,
    struct cj_span span)
{
	const struct cj_unit *u = el->unit;
	const struct cj_node *there = find_anywhere(u, name);
	const char **all, *near;
	uint32_t i;

	near = there == NULL ? NULL : name_here(u, there);
	if (near != NULL) {
		cj_note(d, there->kernel.name.span, "it is declared here");
		cj_help(d, "Here it is called %s.", near);
		cj_fixit(d, span, "%s", near);
		return;
	}
	if (there != NULL) {
		cj_note(d, there->kernel.name.span, "one of an import's "
		    "import is declared here");
		cj_help(d, "Import that text here, too.");
		return;
	}
	all = CJ_NEWS(el->arena, const char *, u->members.len);
	for (i = 0; i < u->members.len; i++)
		all[i] = u->members.at[i].kernel;
	near = cj_nearest(cj_elab_name(el, name), all, u->members.len);
	if (near != NULL) {
		cj_help(d, "Did you mean \"%s\"?", near);
		cj_fixit(d, span, "%s", near);
	}
}

/* "launch f(x)" of a function, "launch lib(x)" of an import. */
static bool
report_other_kind(struct cj_elab *el, const char *name,
    const struct cj_value *v, struct cj_span span)
{
	struct cj_diag *d;

	if (v->kind == CJ_VALUE_FILE) {
		d = cj_elab_report(el, CJ_DIAG_MISPLACED_STATEMENT, span,
		    "\"%s\" is an import, not a kernel", name);
		cj_help(d, "A kernel of it is started so: launch %s.k(...).",
		    name);
		return true;
	}
	if (v->kind != CJ_VALUE_FUNCTION && v->kind != CJ_VALUE_BUILTIN)
		return false;
	d = cj_elab_report(el, CJ_DIAG_MISPLACED_STATEMENT, span,
	    "\"%s\" is a function, not a kernel", name);
	if (v->kind == CJ_VALUE_FUNCTION && !v->function->file->is_prelude)
		cj_note(d, v->function->node->kind == CJ_NODE_FN ?
		    v->function->node->fn.name.span :
		    v->function->node->span, "it is declared here");
	cj_help(d, "A function is called without \"launch\": %s(...).",
	    name);
	return true;
}

static const struct cj_member_info *
find_plain(struct cj_elab *el, const struct cj_node *n)
{
	const char *kernel = cj_elab_name(el, n->name.name);
	const struct cj_member_info *m = find_name(el->unit, kernel);
	const struct cj_kernel_clash *clash;
	struct cj_value other;

	if (m != NULL)
		return m;
	clash = find_clash(el->unit, kernel);
	if (clash != NULL)
		report_clash(el, clash, n->span);
	else if (!cj_elab_find(el, n->name.name, n->span, &other) ||
	    !report_other_kind(el, kernel, &other, n->span))
		help_unknown(el, cj_elab_report(el, CJ_DIAG_UNKNOWN_NAME,
		    n->span, "there is no kernel \"%s\"", kernel),
		    n->name.name, n->span);
	return NULL;
}

static void
report_not_in(struct cj_elab *el, const struct cj_file *f,
    const struct cj_node *n)
{
	cj_name name = n->member.name.name;
	struct cj_span span = n->member.name.span;
	const struct cj_unit *u = el->unit;
	const char **all = CJ_NEWS(el->arena, const char *, u->members.len);
	const char *near;
	struct cj_diag *d;
	uint32_t i, count = 0;

	for (i = 0; f != NULL && i < f->decls.len; i++)
		if (f->decls.at[i].name == name) {
			struct cj_value v = cj_elab_file_member(el, f, name,
			    span);

			if (report_other_kind(el, cj_elab_source_text(el,
			    n->span), &v, n->span))
				return;
		}
	for (i = 0; i < u->members.len; i++)
		if (u->members.at[i].file == f)
			all[count++] = cj_elab_name(el,
			    u->members.at[i].node->kernel.name.name);
	d = cj_elab_report(el, CJ_DIAG_UNKNOWN_NAME, span,
	    "\"%s\" has no kernel \"%s\"", f == NULL ? "cute" : f->name,
	    cj_elab_name(el, name));
	near = cj_nearest(cj_elab_name(el, name), all, count);
	if (near != NULL) {
		cj_help(d, "Did you mean \"%s\"?", near);
		cj_fixit(d, span, "%s", near);
	}
}

/* lib.gemm */
static const struct cj_member_info *
find_in_import(struct cj_elab *el, const struct cj_node *n)
{
	const struct cj_unit *u = el->unit;
	struct cj_value v = cj_elab_expr(el, n->member.base);
	cj_name name = n->member.name.name;
	uint32_t i;

	if (v.kind == CJ_VALUE_ERROR)
		return NULL;
	if (v.kind != CJ_VALUE_FILE) {
		cj_elab_report(el, CJ_DIAG_WRONG_KIND, n->member.base->span,
		    "in front of a kernel's name stands that of an import, "
		    "this is %s", cj_value_what(el, &v));
		return NULL;
	}
	for (i = 0; i < u->members.len; i++)
		if (u->members.at[i].file == v.file &&
		    u->members.at[i].node->kernel.name.name == name)
			return &u->members.at[i];
	report_not_in(el, v.file, n);
	return NULL;
}

const struct cj_member_info *
cj_family_find(struct cj_elab *el, const struct cj_node *name)
{
	if (name->kind == CJ_NODE_NAME)
		return find_plain(el, name);
	if (name->kind == CJ_NODE_MEMBER)
		return find_in_import(el, name);
	cj_elab_report(el, CJ_DIAG_WRONG_KIND, name->span,
	    "a kernel's name is needed");
	return NULL;
}

uint32_t
cj_family_count(const struct cj_unit *u, const struct cj_member_info *family)
{
	return find_family(u, family->kernel)->count;
}
