/*
 * What there is to say about a name: its declaration as written, what it is,
 * its value where that is known, and the comment in front of it.
 *
 * Values are the library's. A local name is none of the file's, so what is
 * evaluated is its expression with all local names in it replaced by theirs;
 * for compile-time parameters the default stands in, and the answer says so.
 */
#include <string.h>

#include "lsp.h"

/* Longest expression that is put together, and longest text that is shown. */
enum { EXPRESSION_MAX = 4096, SHOWN_MAX = 600, DEPTH_MAX = 32 };

/* ---- declarations as written --------------------------------------------- */

static uint32_t
headline_end(const struct symbol *y, const struct document *d)
{
	const struct cj_node *n = y->node, *body = NULL;
	uint32_t end = n->span.end;

	switch (y->kind) {
	case SYMBOL_FN:
		body = n->fn.body;
		break;
	case SYMBOL_KERNEL:
		body = n->kernel.body;
		break;
	case SYMBOL_LOOP:
		body = n->for_stmt.body;
		break;
	case SYMBOL_ROLE:
		body = n->role.body;
		break;
	case SYMBOL_STAGE:
		body = n->stage.body;
		break;
	case SYMBOL_CONST: case SYMBOL_LET: case SYMBOL_VAR:
	case SYMBOL_PARAM: case SYMBOL_PATTERN: case SYMBOL_OVER:
	case SYMBOL_IMPORT: case SYMBOL_SHARED: case SYMBOL_PIPELINE:
	case SYMBOL_FIELD: case SYMBOL_ORDER:
		break;
	}
	if (body != NULL && (y->kind != SYMBOL_FN ||
	    body->kind == CJ_NODE_BLOCK))
		end = body->span.begin;
	while (end > n->span.begin && strchr(" \t\r\n;", d->text[end - 1])
	    != NULL)
		end--;
	return end;
}

const char *
headline(struct server *s, const struct meaning *m)
{
	const struct document *d = m->document;
	uint32_t begin, length;
	const char *text;

	if (m->word != NULL)
		return word_form(&s->scratch, m->word);
	if (m->symbol == NULL)
		return m->target != NULL ? document_name(m->target) : NULL;
	begin = m->symbol->node->span.begin;
	begin += (uint32_t)strspn(d->text + begin, " \t\r\n");
	length = headline_end(m->symbol, d) - begin;
	if (length <= SHOWN_MAX)
		return cj_strndup(&s->scratch, d->text + begin, length);
	text = cj_strndup(&s->scratch, d->text + begin, SHOWN_MAX);
	return cj_printf(&s->scratch, "%.*s ...", (int)cj_utf8_check(text,
	    SHOWN_MAX), text);
}

/* ---- what it is ---------------------------------------------------------- */

static const char *
param_text(const struct symbol *y)
{
	bool is_kernel = y->owner != NULL && y->owner->kind == CJ_NODE_KERNEL;

	switch (y->node->param.mode) {
	case CJ_MODE_CONST:
		return is_kernel ? "compile-time parameter of the kernel" :
		    "parameter that must be known at compile time";
	case CJ_MODE_VAR:
		return "parameter, passed in and out";
	case CJ_MODE_PLAIN:
		break;
	}
	return is_kernel ? "parameter of the kernel" : y->node->param.type ==
	    NULL ? "parameter of any type" : "parameter";
}

static const char *
kind_text(const struct symbol *y)
{
	switch (y->kind) {
	case SYMBOL_FN:
		return y->node->fn.is_extern ? "external function" :
		    "function";
	case SYMBOL_KERNEL:
		return "kernel";
	case SYMBOL_CONST:
		return "known at compile time";
	case SYMBOL_LET:
		return "name of a value";
	case SYMBOL_VAR:
		return "variable";
	case SYMBOL_PARAM:
		return param_text(y);
	case SYMBOL_PATTERN:
		return y->is_const ? "bound at compile time by the argument" :
		    "bound by the argument";
	case SYMBOL_LOOP:
		return y->node->for_stmt.is_const ?
		    "variable of a loop that is done at compile time" :
		    "variable of the loop";
	case SYMBOL_OVER:
		return "takes each of these values";
	case SYMBOL_IMPORT:
		return "import";
	case SYMBOL_SHARED:
		return y->node->field.is_tmem || y->node->kind == CJ_NODE_TMEM
		    ? "tensor memory" : "shared memory of the block";
	case SYMBOL_PIPELINE:
		return "pipeline: a ring of stages";
	case SYMBOL_FIELD:
		return "field of each stage";
	case SYMBOL_ORDER:
		return "order of turns";
	case SYMBOL_ROLE:
		return "role of some warps";
	case SYMBOL_STAGE:
		return y->node->kind == CJ_NODE_PRODUCE ?
		    "stage that is filled" : "stage that is read";
	}
	return "";
}

/* "member 1 of 3" of a family. */
static const char *
family_text(struct server *s, const struct meaning *m)
{
	const struct view *v = view_of(s, m->document);
	uint32_t i, count = 0, which = 0;

	for (i = 0; i < v->symbols.len; i++) {
		const struct symbol *y = &v->symbols.at[i];

		if (y->kind != SYMBOL_KERNEL || y->name != m->symbol->name)
			continue;
		if (y->node == m->symbol->node)
			which = count;
		count++;
	}
	return count < 2 ? "" : cj_printf(&s->scratch,
	    ", member %u of a family of %u", which, count);
}

/* ---- values -------------------------------------------------------------- */

/* An expression being put together from the text of others. */
struct joining {
	struct server *s;
	struct document *d;
	const struct view *v;
	struct cj_strbuf out;
	struct cj_strbuf given;		/* "T = f16": defaults in use */
	unsigned depth;
	bool has_failed;
};

static void join(struct joining *j, const struct cj_node *n);

/* The expression of a name that a binding takes apart: (e)[1]. */
static bool
join_part(struct joining *j, const struct cj_node *binding, cj_name name)
{
	uint32_t i;

	if (binding->kind == CJ_NODE_NAME)
		return binding->name.name == name;
	for (i = 0; binding->kind == CJ_NODE_TUPLE &&
	    i < binding->tuple.items.count; i++) {
		size_t before = j->out.len;

		cj_strbuf_printf(&j->out, "[%u]", i);
		if (join_part(j, binding->tuple.items.at[i], name))
			return true;
		j->out.len = before;
		j->out.text[before] = '\0';
	}
	return false;
}

static void
note_default(struct joining *j, const struct cj_node_param *p)
{
	struct cj_span at = p->init->span;
	const char *text = cj_printf(&j->s->scratch, "%s = %.*s",
	    view_text(j->v, p->name.name), (int)(at.end - at.begin),
	    j->d->text + at.begin);

	if (strstr(j->given.text, text) != NULL)
		return;
	if (j->given.len != 0)
		cj_strbuf_puts(&j->given, ", ");
	cj_strbuf_puts(&j->given, text);
}

/* A local name: its own expression in its place. */
static void
join_local(struct joining *j, const struct symbol *y)
{
	const struct cj_node *n = y->node;

	if ((y->kind == SYMBOL_CONST || y->kind == SYMBOL_LET)) {
		cj_strbuf_putc(&j->out, '(');
		join(j, n->let.init);
		cj_strbuf_putc(&j->out, ')');
		if (!join_part(j, n->let.binding, y->name))
			j->has_failed = true;
	} else if (y->kind == SYMBOL_PARAM && n->param.init != NULL &&
	    n->param.mode == CJ_MODE_CONST) {
		cj_strbuf_putc(&j->out, '(');
		join(j, n->param.init);
		cj_strbuf_putc(&j->out, ')');
		note_default(j, &n->param);
	} else {
		j->has_failed = true;
	}
}

/* The text of an expression, its local names replaced. */
static void
join(struct joining *j, const struct cj_node *n)
{
	uint32_t at = n->span.begin, i;

	if (j->depth == DEPTH_MAX || j->out.len > EXPRESSION_MAX)
		j->has_failed = true;
	if (j->has_failed)
		return;
	j->depth++;
	for (i = 0; i < j->v->uses.len && !j->has_failed; i++) {
		const struct use *u = &j->v->uses.at[i];
		const struct symbol *y;

		if (u->kind != USE_NAME || u->span.begin < at ||
		    u->span.end > n->span.end)
			continue;
		y = view_lookup(j->v, u->name, false, u->span.begin);
		if (y == NULL || y->is_file ||
		    (y->span.begin >= n->span.begin &&
		    y->span.end <= n->span.end))
			continue;
		cj_strbuf_write(&j->out, j->d->text + at, u->span.begin - at);
		join_local(j, y);
		at = u->span.end;
	}
	cj_strbuf_write(&j->out, j->d->text + at, n->span.end - at);
	j->depth--;
}

/* "8", "8 where T = f16"; NULL: it is not known. */
static const char *
value_text(struct server *s, const struct meaning *m)
{
	struct joining j = { .s = s, .d = m->document,
	    .v = view_of(s, m->document) };
	const struct symbol *y = m->symbol;
	const char *value;

	if (y->kind != SYMBOL_CONST && y->kind != SYMBOL_LET)
		return NULL;
	cj_strbuf_init(&j.out, &s->scratch);
	cj_strbuf_init(&j.given, &s->scratch);
	if (y->is_file)
		cj_strbuf_puts(&j.out, view_text(j.v, y->name));
	else
		join_local(&j, y);
	if (j.has_failed || is_of_library(m->document))
		return NULL;
	value = value_of(s, m->document, j.out.text);
	if (value == NULL || j.given.len == 0)
		return value;
	return cj_printf(&s->scratch, "%s` where `%s", value, j.given.text);
}

/* ---- comments ------------------------------------------------------------ */

/* Begin of the line in front of the one that begins at `at`. */
static uint32_t
line_before(const char *text, uint32_t at)
{
	assert(at > 0);
	for (at--; at > 0 && text[at - 1] != '\n'; at--)
		continue;
	return at;
}

/* The lines // directly in front of a declaration, without their marks. */
static const char *
comment_of(struct server *s, const struct meaning *m)
{
	const char *text = m->document->text;
	uint32_t at = m->symbol->node->span.begin, first, begin;
	struct cj_strbuf b;

	cj_strbuf_init(&b, &s->scratch);
	if (!m->symbol->is_file)
		return b.text;
	while (at > 0 && text[at - 1] != '\n')
		at--;
	for (first = at; first > 0; first = begin) {
		begin = line_before(text, first);
		if (strncmp(text + begin, "//", 2) != 0)
			break;
	}
	for (; first < at; first++) {
		begin = first + (uint32_t)strspn(text + first, "/ \t");
		while (first < at && text[first] != '\n')
			first++;
		if (begin < first)
			cj_strbuf_write(&b, text + begin, first - begin);
		cj_strbuf_putc(&b, '\n');
	}
	return b.text;
}

/* ---- answers ------------------------------------------------------------- */

static void
describe_symbol(struct server *s, const struct meaning *m,
    struct cj_strbuf *b)
{
	const char *value = value_text(s, m), *comment = comment_of(s, m);

	cj_strbuf_puts(b, kind_text(m->symbol));
	if (m->symbol->kind == SYMBOL_KERNEL)
		cj_strbuf_puts(b, family_text(s, m));
	if (is_of_library(m->document))
		cj_strbuf_puts(b, " of the standard library");
	if (value != NULL)
		cj_strbuf_printf(b, "\n\nvalue `%s`", value);
	if (*comment != '\0')
		cj_strbuf_printf(b, "\n\n%s", comment);
}

static const char *
word_kind_text(const struct word *w)
{
	switch (w->kind) {
	case WORD_KEYWORD: return "word of the language";
	case WORD_FUNCTION: return "built-in function";
	case WORD_VALUE: return "built-in value";
	case WORD_TYPE: return "type";
	case WORD_ATTRIBUTE: return "attribute";
	}
	return "";
}

/* Markdown about a meaning, or NULL. */
static const char *
describe(struct server *s, const struct meaning *m)
{
	const char *head = headline(s, m);
	struct cj_strbuf b;

	if (head == NULL)
		return NULL;
	cj_strbuf_init(&b, &s->scratch);
	cj_strbuf_printf(&b, "```cute\n%s\n```\n\n", head);
	if (m->symbol != NULL)
		describe_symbol(s, m, &b);
	else if (m->word == NULL)
		cj_strbuf_puts(&b, "imported text");
	else
		cj_strbuf_puts(&b, word_kind_text(m->word));
	if (m->word != NULL && word_text(m->word) != NULL)
		cj_strbuf_printf(&b, "\n\n%s", word_text(m->word));
	return b.text;
}

json_t *
answer_hover(struct server *s, const json_t *params)
{
	struct document *d = document_param(s, params);
	const char *text = NULL;
	const struct use *u;
	struct meaning m;
	size_t offset;

	if (d == NULL || !offset_param(s, params, d, &offset))
		return NULL;
	u = view_use_at(view_of(s, d), offset);
	if (u != NULL) {
		m = meaning_of(s, d, u);
		text = describe(s, &m);
	}
	if (text == NULL)
		return json_null();
	return json_pack("{s:{s:s, s:o}, s:o}", "contents", "kind",
	    "markdown", "value", string_of(text, strlen(text)), "range",
	    lines_range(&d->lines, u->span.begin, u->span.end));
}
