/*
 * Units: a text with everything it imports, parsed and resolved once.
 *
 * Names of file level go into a table per file. Nothing is evaluated here:
 * constants are, once for each elaboration, when they are first used.
 */
#include "elab_priv.h"
#include "std/std.h"

enum { MAX_FILES = 1000 };

/* A text that is being loaded, and where it is imported. */
struct loading {
	const struct cj_file *file;
	struct cj_span at;
};

struct loader {
	struct cj_unit *u;
	struct cj_diags *ds;
	CJ_VEC(struct loading) stack;
	struct cj_span at;		/* of the import that loads */
};

/* ---- files --------------------------------------------------------------- */

static struct cj_decl *
add_decl(struct loader *l, struct cj_file *f, cj_name name,
    const struct cj_node *n)
{
	struct cj_decl *d = cj_push(l->u->arena, &f->decls);

	*d = (struct cj_decl){ .name = name, .node = n,
	    .index = l->u->decl_count };
	if (cj_name_map_get(&f->by_name, name) == 0)
		cj_name_map_set(l->u->arena, &f->by_name, name, f->decls.len);
	return d;
}

/* A file-level `const` may take a tuple apart: every name refers to it. */
static void
add_binding(struct loader *l, struct cj_file *f, const struct cj_node *b,
    const struct cj_node *n)
{
	uint32_t i;

	if (b->kind == CJ_NODE_NAME)
		add_decl(l, f, b->name.name, n);
	else if (b->kind == CJ_NODE_TUPLE)
		for (i = 0; i < b->tuple.items.count; i++)
			add_binding(l, f, b->tuple.items.at[i], n);
}

/* Makes a file of a text that nobody has read: load(), load_std(). */
typedef struct cj_file *read_text(struct loader *l, const char *name,
    uint32_t source);
static read_text load, load_std;

static struct cj_file *
find_file(const struct cj_unit *u, const char *name)
{
	uint32_t i;

	for (i = 0; i < u->files.len; i++)
		if (strcmp(u->files.at[i]->name, name) == 0)
			return u->files.at[i];
	return NULL;
}

/* a.cute imports b.cute, which imports a.cute: each step is shown. */
static void
report_circle(struct loader *l, uint32_t first, struct cj_span at)
{
	const char *name = l->stack.at[first].file->name;
	struct cj_diag *d;
	uint32_t i;

	if (first + 1 == l->stack.len) {
		cj_report(l->ds, CJ_DIAG_IMPORT, at, "\"%s\" imports itself",
		    name);
		return;
	}
	d = cj_report(l->ds, CJ_DIAG_IMPORT, at,
	    "imports go in a circle: this is \"%s\" again", name);
	for (i = first + 1; i < l->stack.len; i++)
		cj_note(d, l->stack.at[i].at, "\"%s\" imports \"%s\"",
		    l->stack.at[i - 1].file->name, l->stack.at[i].file->name);
	cj_help(d, "What both need belongs into a third text.");
}

static struct cj_file *
again(struct loader *l, struct cj_file *f)
{
	uint32_t i;

	for (i = 0; i < l->stack.len; i++)
		if (l->stack.at[i].file == f) {
			report_circle(l, i, l->at);
			return NULL;
		}
	return f;
}

static struct cj_file *
load_text(struct loader *l, read_text *read, const char *name,
    const char *text, size_t length)
{
	struct cj_file *f = find_file(l->u, name);
	uint32_t source;

	if (f != NULL)
		return again(l, f);
	if (l->u->files.len >= MAX_FILES) {
		cj_report(l->ds, CJ_DIAG_LIMIT, l->at,
		    "a program has at most %d texts", MAX_FILES);
		return NULL;
	}
	source = cj_source_add(l->u->sources, name, text, length);
	if (source == 0) {
		cj_report(l->ds, CJ_DIAG_IMPORT, l->at,
		    "\"%s\" is too long", name);
		return NULL;
	}
	return read(l, name, source);
}

static struct cj_file *
import_std(struct loader *l, const char *path)
{
	const struct cj_std_file *std = cj_std_find(path + strlen("cute/"));
	struct cj_diag *d;
	CJ_VEC(const char *) names = { 0 };
	const char *near;
	unsigned i;

	if (std != NULL)
		return load_text(l, load_std, path, std->text, std->length);
	d = cj_report(l->ds, CJ_DIAG_IMPORT, l->at,
	    "the standard library has no \"%s\"", path);
	for (i = 0; i < cj_std_count; i++)
		*cj_push(l->u->arena, &names) = cj_printf(l->u->arena,
		    "cute/%s", cj_std_files[i].name);
	near = cj_nearest(path, names.at, names.len);
	if (near != NULL)
		cj_help(d, "Did you mean \"%s\"?", near);
	return NULL;
}

static void
report_missing(struct loader *l, const struct cj_node *n, const char *path,
    const char *why)
{
	struct cj_diag *d = cj_report(l->ds, CJ_DIAG_IMPORT,
	    n->import.path_span, "\"%s\" cannot be read%s%s", path,
	    why == NULL ? "" : ": ", why == NULL ? "" : why);

	if (path[0] != '/')
		cj_help(d, "Texts are looked for beside the one that imports "
		    "them, then in the folders of -I.");
}

static void
do_import(struct loader *l, struct cj_file *f, const struct cj_node *n)
{
	const char *path = n->import.path.bytes, *name, *text = NULL;
	struct cj_file *got = NULL;
	size_t length;

	l->at = n->import.path_span;
	if (strncmp(path, "cute/", 5) == 0) {
		got = import_std(l, path);
	} else if (l->u->import == NULL || !l->u->import(l->u->user, f->name,
	    path, &name, &text, &length)) {
		report_missing(l, n, path, text);
	} else {
		got = load_text(l, load, name, text, length);
	}
	if (got == NULL)
		return;
	if (n->import.alias.name == 0) {
		*cj_push(l->u->arena, &f->opened) = got;
	} else {
		struct cj_alias *as = cj_push(l->u->arena, &f->aliases);

		as->name = n->import.alias.name;
		as->file = got;
	}
}

/* ---- texts of other languages -------------------------------------------- */

static struct cj_extern_text *
new_extern(struct loader *l, const struct cj_node *n, const char *name)
{
	struct cj_extern_text *t = cj_push(l->u->arena, &l->u->extern_texts);

	memset(t, 0, sizeof *t);
	t->is_bitcode = n->kind == CJ_NODE_EXTERN_BITCODE;
	t->name = name;
	t->span = n->span;
	t->line = 1;
	return t;
}

static void
add_extern(struct loader *l, const struct cj_node *n, struct cj_span span,
    struct cj_text text)
{
	const struct cj_source *s = cj_source_get(l->u->sources, span.source);
	struct cj_extern_text *t = new_extern(l, n, s->name);

	t->line = cj_source_position(s, span.begin).line;
	t->text = text.bytes;
	t->length = text.length;
}

/* A file is a text of the unit: it counts where texts are compared. */
static void
add_extern_file(struct loader *l, struct cj_file *f, const struct cj_node *n,
    const char *path)
{
	const char *name, *text = NULL;
	struct cj_extern_text *t;
	uint32_t source;
	size_t length;

	if (l->u->import == NULL || !l->u->import(l->u->user, f->name, path,
	    &name, &text, &length)) {
		cj_report(l->ds, CJ_DIAG_IMPORT, n->span,
		    "\"%s\" cannot be read%s%s", path, text == NULL ? "" :
		    ": ", text == NULL ? "" : text);
		return;
	}
	source = cj_source_add(l->u->sources, name, text, length);
	if (source == 0) {
		cj_report(l->ds, CJ_DIAG_IMPORT, n->span,
		    "\"%s\" is too long", name);
		return;
	}
	*cj_push(l->u->arena, &l->u->source_list) = source;
	t = new_extern(l, n, name);
	t->text = text;
	t->length = length;
}

static void
declare(struct loader *l, struct cj_file *f, const struct cj_node *n)
{
	l->u->decl_count++;
	if (n->kind == CJ_NODE_CONST)
		add_binding(l, f, n->let.binding, n);
	else if (n->kind == CJ_NODE_FN)
		add_decl(l, f, n->fn.name.name, n);
	else if (n->kind == CJ_NODE_KERNEL)
		cj_name_map_set(l->u->arena, &f->kernels,
		    n->kernel.name.name, 1);
	else if (n->kind == CJ_NODE_IMPORT)
		do_import(l, f, n);
	else if (n->kind == CJ_NODE_EXTERN_CUDA && !n->cuda.is_file)
		add_extern(l, n, n->cuda.text_span, n->cuda.text);
	else if (n->kind == CJ_NODE_EXTERN_CUDA)
		add_extern_file(l, f, n, n->cuda.text.bytes);
	else if (n->kind == CJ_NODE_EXTERN_BITCODE)
		add_extern_file(l, f, n, n->bitcode.path.bytes);
}

struct cj_file *
cj_unit_add_file(struct cj_unit *u, const char *name, uint32_t source)
{
	struct cj_file *f = CJ_NEW(u->arena, struct cj_file);

	f->unit = u;
	f->name = cj_strdup(u->arena, name);
	f->source = source;
	*cj_push(u->arena, &u->files) = f;
	*cj_push(u->arena, &u->source_list) = source;
	return f;
}

/* The names that stand behind those of imports, as they are written here. */
static struct cj_words
words_of(struct loader *l, const struct cj_file *f)
{
	struct cj_words w = *l->u->words;
	CJ_VEC(const char *) behind = { 0 };
	uint32_t i, k;

	for (i = 0; i < f->aliases.len; i++) {
		const struct cj_alias *as = &f->aliases.at[i];

		for (k = 0; k < as->file->decls.len; k++)
			*cj_push(l->u->arena, &behind) = cj_printf(
			    l->u->arena, "%s.%s", cj_name_text(l->u->names,
			    as->name), cj_name_text(l->u->names,
			    as->file->decls.at[k].name));
	}
	w.behind = behind.at;
	w.behind_count = behind.len;
	return w;
}

/* Declares what the file's tree has: the text is on the stack meanwhile. */
static void
declare_all(struct loader *l, struct cj_file *f)
{
	uint32_t i;

	*cj_push(l->u->arena, &l->stack) = (struct loading){ f, l->at };
	for (i = 0; i < f->tree->decls.count; i++)
		declare(l, f, f->tree->decls.at[i]);
	l->stack.len--;
}

static struct cj_file *
load(struct loader *l, const char *name, uint32_t source)
{
	struct cj_words words;
	struct cj_unit *u = l->u;
	struct cj_file *f = cj_unit_add_file(u, name, source);

	f->tree = cj_parse(u->arena, u->names, u->sources, source, l->ds);
	if (f->tree->is_broken)
		return f;
	declare_all(l, f);
	words = words_of(l, f);
	cj_resolve(f->tree, u->names, l->ds, &words);
	return f;
}

/* A text of the library: the tree has what cannot wait. */
static struct cj_file *
load_std(struct loader *l, const char *name, uint32_t source)
{
	struct cj_unit *u = l->u;
	struct cj_file *f = cj_unit_add_file(u, name, source);
	struct cj_std_part part = { .text = { source, 0, 0 } };
	CJ_VEC(struct cj_node *) now = { 0 };

	while (cj_std_next(u->sources, &part)) {
		if (part.name == NULL) {
			*cj_push(u->arena, &now) = cj_std_read(u, part.text);
			continue;
		}
		u->decl_count++;
		add_decl(l, f, cj_intern(u->names, part.name, part.length),
		    NULL)->text = part.text;
	}
	f->tree = CJ_NEW(u->arena, struct cj_tree);
	*f->tree = (struct cj_tree){ .arena = u->arena, .source = source,
	    .decls = { now.at, now.len } };
	declare_all(l, f);
	return f;
}

/* ---- what is in the main text -------------------------------------------- */

static void
list_decl(struct cj_unit *u, const struct cj_node *n)
{
	if (n->kind == CJ_NODE_TEST || n->kind == CJ_NODE_BENCH) {
		struct cj_test_info info = {
			.name = n->test.title.bytes,
			.node = n,
			.span = n->test.title_span,
			.is_bench = n->kind == CJ_NODE_BENCH
		};

		*cj_push(u->arena, &u->tests) = info;
	} else if (n->kind == CJ_NODE_TUNE) {
		struct cj_tune_info info = {
			.kernel = cj_name_text(u->names, n->tune.name.name),
			.node = n,
			.span = n->tune.name.span
		};

		*cj_push(u->arena, &u->tunes) = info;
	}
}

struct cj_unit *
cj_unit_load(struct cj_arena *a, const struct cj_unit_text *t,
    struct cj_diags *ds)
{
	struct cj_unit *u = CJ_NEW(a, struct cj_unit);
	struct loader l = { .u = u, .ds = ds };
	uint32_t i;

	u->arena = a;
	u->names = t->names;
	u->sources = t->sources;
	u->import = t->import;
	u->user = t->user;
	cj_prelude_share(u, t->prelude);
	u->main = load(&l, cj_source_get(t->sources, t->source)->name,
	    t->source);
	for (i = 0; i < u->main->tree->decls.count; i++)
		list_decl(u, u->main->tree->decls.at[i]);
	cj_families_list(u);
	cj_families_list_tunes(u);
	u->errors = ds->errors;
	return u;
}

uint32_t
cj_unit_sources(const struct cj_unit *u, const uint32_t **sources)
{
	*sources = u->source_list.at;
	return u->source_list.len;
}

uint32_t
cj_unit_prelude(const struct cj_unit *u)
{
	return u->prelude->source;
}

uint32_t
cj_unit_tests(const struct cj_unit *u, const struct cj_test_info **tests)
{
	*tests = u->tests.at;
	return u->tests.len;
}
