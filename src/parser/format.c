/*
 * cutec fmt: the same tokens and comments, laid out anew.
 *
 * Lines stay as the author broke them; what is set anew is their indentation,
 * the blanks between tokens, the column of comments at the end of lines, and
 * blank lines (one at most). Inside a block a line stands four columns in;
 * inside parentheses under what follows the open one, or four columns in if
 * nothing does; what goes on from the line before, four columns in. All of it
 * depends on tokens and lines alone, so formatting twice changes nothing.
 */
#include "format_priv.h"

enum { STEP = 4 };

struct bracket {
	const struct cj_format_item *item;
	uint32_t indent;	/* of the line it stands on */
	uint32_t inside;	/* of lines inside it */
	const struct cj_format_item *first;	/* of the statement around it */
	uint32_t first_indent;
};

struct line {
	const char *code;
	size_t code_length;		/* zero bytes may stand in comments */
	uint32_t width;			/* of the code's last line */
	const char *comment;		/* at the end; NULL: none */
	uint32_t comment_length;
	bool has_blank_before;
	bool is_single;			/* the code is one line */
};

struct format {
	struct cj_arena *arena;
	struct cj_format_items items;
	CJ_VEC(struct bracket) open;
	CJ_VEC(struct line) lines;
	struct cj_strbuf code;		/* of the line under construction */
	uint32_t indent;		/* its own */
	uint32_t column;
	const struct cj_format_item *first;	/* of this statement, or NULL */
	uint32_t first_indent;
};

/* Columns of a text: characters, not bytes. */
static uint32_t
width_of(const char *text, size_t length)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < length; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

static const struct bracket *
innermost(const struct format *f)
{
	return f->open.len > 0 ? &f->open.at[f->open.len - 1] : NULL;
}

static bool
is_block(const struct cj_format_item *t)
{
	return (t->token == CJ_TOKEN_LBRACE || t->token == CJ_TOKEN_RBRACE) &&
	    !t->is_set;
}

static bool
is_bracket(const struct cj_format_item *t, bool is_open)
{
	if (is_open)
		return t->token == CJ_TOKEN_LPAREN ||
		    t->token == CJ_TOKEN_LBRACKET ||
		    t->token == CJ_TOKEN_LBRACE;
	return t->token == CJ_TOKEN_RPAREN ||
	    t->token == CJ_TOKEN_RBRACKET || t->token == CJ_TOKEN_RBRACE;
}

/* ---- indentation --------------------------------------------------------- */

/* Inside a block, or outside of all: where a line goes on, it is deeper. */
static uint32_t
statement_indent(const struct format *f, const struct cj_format_item *t)
{
	const struct bracket *b = innermost(f);
	uint32_t base = b != NULL ? b->inside : 0;

	if (f->first == NULL)
		return base;
	if (t->token == CJ_TOKEN_LBRACE && !t->is_set)
		return f->first_indent;
	if ((t->token == CJ_TOKEN_WHERE || t->token == CJ_TOKEN_TARGET) &&
	    f->first->token == CJ_TOKEN_KERNEL)
		return f->first_indent;
	if (t->token == CJ_TOKEN_ELSE && (f->first->token == CJ_TOKEN_IF ||
	    f->first->token == CJ_TOKEN_CONST))
		return f->first_indent;
	return f->first_indent + STEP;
}

/* Where a line that begins with item t stands. */
static uint32_t
indent_of(const struct format *f, const struct cj_format_item *t)
{
	const struct bracket *b = innermost(f);

	if (b != NULL && is_bracket(t, false))
		return is_block(b->item) || b->inside == b->indent + STEP ?
		    b->indent : b->inside;
	if (b == NULL || is_block(b->item))
		return statement_indent(f, t);
	return b->inside;
}

/* Whether the token behind item i stands on a later line. */
static bool
is_last_on_line(const struct format *f, uint32_t i)
{
	while (++i < f->items.len) {
		if (f->items.at[i].lines_before > 0)
			return true;
		if (f->items.at[i].kind == CJ_FORMAT_TOKEN)
			return false;
	}
	return true;
}

static void
open_bracket(struct format *f, uint32_t i)
{
	const struct cj_format_item *t = &f->items.at[i];
	const struct bracket *around = innermost(f);
	bool is_stmt = around == NULL || is_block(around->item);
	uint32_t indent = is_block(t) && is_stmt ? f->first_indent : f->indent;
	struct bracket *b = cj_push(f->arena, &f->open);

	*b = (struct bracket){ t, indent, indent + STEP, f->first,
	    f->first_indent };
	if (is_block(t))
		f->first = NULL;
	else if (!is_last_on_line(f, i))
		b->inside = f->column;
}

/* Behind the bracket that ends with item i; blocks end statements. */
static void
close_bracket(struct format *f, uint32_t i)
{
	const struct bracket *b = innermost(f);
	const struct cj_format_item *next = &f->items.at[i];
	bool ends_block = is_block(b->item);

	f->first = b->first;
	f->first_indent = b->first_indent;
	f->open.len--;
	if (!ends_block || (f->open.len > 0 && !is_block(innermost(f)->item)))
		return;
	do
		next++;
	while (next->kind != CJ_FORMAT_TOKEN);
	if (next->token != CJ_TOKEN_ELSE && next->token != CJ_TOKEN_SEMICOLON &&
	    (next->token < CJ_TOKEN_RPAREN || next->token > CJ_TOKEN_SHR_SET ||
	    next->token == CJ_TOKEN_LBRACE || next->token == CJ_TOKEN_RBRACE ||
	    next->is_prefix))
		f->first = NULL;
}

/* ---- lines --------------------------------------------------------------- */

static void
end_line(struct format *f, const struct cj_format_item *comment)
{
	struct line *l;

	if (f->lines.len == 0)
		return;
	l = &f->lines.at[f->lines.len - 1];
	l->code = f->code.text;
	l->code_length = f->code.len;
	l->width = f->column;
	l->is_single = memchr(f->code.text, '\n', f->code.len) == NULL;
	if (comment != NULL) {
		l->comment = comment->text;
		l->comment_length = comment->length;
	}
}

/* Begin the line of item i, behind a blank one where the author left it. */
static void
begin_line(struct format *f, uint32_t i)
{
	const struct cj_format_item *t = &f->items.at[i];
	const struct cj_format_item *last = i > 0 ? t - 1 : NULL;
	struct line *l;

	end_line(f, NULL);
	l = cj_push(f->arena, &f->lines);
	l->has_blank_before = t->lines_before > 1 && last != NULL &&
	    !(is_bracket(last, true) && last->kind == CJ_FORMAT_TOKEN) &&
	    !is_bracket(t, false);
	cj_strbuf_init(&f->code, f->arena);
	f->indent = indent_of(f, t);
	f->column = f->indent;
	cj_strbuf_printf(&f->code, "%*s", (int)f->indent, "");
}

static void
put(struct format *f, const struct cj_format_item *t)
{
	const char *end = t->text + t->length, *p = end;

	cj_strbuf_write(&f->code, t->text, t->length);
	while (p > t->text && p[-1] != '\n')
		p--;
	f->column = (p > t->text ? 0 : f->column) +
	    width_of(p, (size_t)(end - p));
}

static bool
begins_line(const struct format *f, uint32_t i)
{
	const struct cj_format_item *t = &f->items.at[i];

	return i == 0 || t->lines_before > 0 ||
	    (t - 1)->kind == CJ_FORMAT_LINE_COMMENT;
}

static void
add_item(struct format *f, uint32_t i)
{
	const struct cj_format_item *t = &f->items.at[i];

	if (begins_line(f, i))
		begin_line(f, i);
	else if (t->kind == CJ_FORMAT_LINE_COMMENT) {
		end_line(f, t);
		return;
	} else if (cj_format_is_apart(t - 1, t)) {
		cj_strbuf_putc(&f->code, ' ');
		f->column++;
	}
	if (t->kind == CJ_FORMAT_TOKEN && f->first == NULL &&
	    t->token != CJ_TOKEN_RBRACE) {
		f->first = t;
		f->first_indent = f->indent;
	}
	put(f, t);
	if (t->kind != CJ_FORMAT_TOKEN)
		return;
	if (is_bracket(t, true))
		open_bracket(f, i);
	else if (is_bracket(t, false))
		close_bracket(f, i);
	else if ((t->token == CJ_TOKEN_SEMICOLON ||
	    t->token == CJ_TOKEN_CUDA_TEXT) &&
	    (innermost(f) == NULL || is_block(innermost(f)->item)))
		f->first = NULL;
}

/* ---- output -------------------------------------------------------------- */

/* Comments that end neighbouring lines stand in one column. */
static uint32_t
comment_column(const struct format *f, uint32_t i)
{
	uint32_t first = i, column = 0;

	while (first > 0 && f->lines.at[first - 1].comment != NULL &&
	    !f->lines.at[first].has_blank_before)
		first--;
	for (i = first; i < f->lines.len; i++) {
		const struct line *l = &f->lines.at[i];

		if (l->comment == NULL || (i > first && l->has_blank_before))
			break;
		if (l->width > column)
			column = l->width;
	}
	return column + 2;
}

static void
write_lines(struct cj_strbuf *out, const struct format *f)
{
	uint32_t i, column = 0;

	for (i = 0; i < f->lines.len; i++) {
		const struct line *l = &f->lines.at[i];

		if (l->has_blank_before)
			cj_strbuf_putc(out, '\n');
		cj_strbuf_write(out, l->code, l->code_length);
		if (l->comment != NULL) {
			if (i == 0 || f->lines.at[i - 1].comment == NULL ||
			    l->has_blank_before)
				column = comment_column(f, i);
			cj_strbuf_printf(out, "%*s",
			    (int)(column - l->width), "");
			cj_strbuf_write(out, l->comment, l->comment_length);
		}
		cj_strbuf_putc(out, '\n');
	}
}

void
cj_format(struct cj_strbuf *out, struct cj_names *names,
    const struct cj_sources *sources, const struct cj_tree *tree)
{
	struct format f = { .arena = out->arena };
	uint32_t i;

	assert(!tree->is_broken);
	cj_format_read(f.arena, names, sources, tree, &f.items);
	for (i = 0; i + 1 < f.items.len; i++)	/* END is no part of it */
		add_item(&f, i);
	end_line(&f, NULL);
	write_lines(out, &f);
}
