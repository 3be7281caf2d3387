/*
 * The formatter's input: tokens and comments in order, and which blanks
 * belong between two of them.
 *
 * Comments are what lies between two tokens. A colon in front of a type is
 * told from one in a layout by the tree, which knows where types begin.
 */
#include <stdlib.h>

#include "format_priv.h"

struct read {
	struct cj_arena *arena;
	const struct cj_source *source;
	struct cj_format_items *items;
	CJ_VEC(uint32_t) types;		/* where types begin, sorted */
	CJ_VEC(bool) braces;		/* open ones: is it a set? */
};

/* ---- types --------------------------------------------------------------- */

static void
find_types(void *context, struct cj_node *n)
{
	struct read *r = context;
	const struct cj_node *type = NULL;

	if (n->kind == CJ_NODE_PARAM)
		type = n->param.type;
	else if (n->kind == CJ_NODE_CONST || n->kind == CJ_NODE_LET ||
	    n->kind == CJ_NODE_VAR)
		type = n->let.type;
	else if (n->kind == CJ_NODE_FIELD || n->kind == CJ_NODE_SHARED ||
	    n->kind == CJ_NODE_TMEM)
		type = n->field.type;
	if (type != NULL)
		*cj_push(r->arena, &r->types) = type->span.begin;
	if (n->kind == CJ_NODE_BINARY) {	/* chains may be long */
		for (; n->kind == CJ_NODE_BINARY; n = n->binary.left)
			find_types(r, n->binary.right);
		find_types(r, n);
		return;
	}
	cj_node_visit(n, find_types, context);
}

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static bool
is_type_begin(const struct read *r, uint32_t begin)
{
	return r->types.len > 0 && bsearch(&begin, r->types.at, r->types.len,
	    sizeof begin, compare) != NULL;
}

/* ---- comments ------------------------------------------------------------ */

static struct cj_format_item *
add(struct read *r, const struct cj_format_item *item)
{
	struct cj_format_item *p = cj_push(r->arena, r->items);

	*p = *item;
	return p;
}

/* Behind the comment that begins at `p`. */
static const char *
comment_end(const char *p, const char *end)
{
	unsigned depth = 0;

	if (p[1] == '/') {
		while (p < end && *p != '\n')
			p++;
		while (p[-1] == ' ' || p[-1] == '\t' || p[-1] == '\r')
			p--;
		return p;
	}
	do {
		if (p[0] == '/' && p[1] == '*')
			depth++, p++;
		else if (p[0] == '*' && p[1] == '/')
			depth--, p++;
		p++;
	} while (depth > 0 && p < end);
	return p;
}

/* Comments of the gap in front of a token; `next` takes what is left of it. */
static void
read_gap(struct read *r, const char *p, const char *end,
    struct cj_format_item *next)
{
	while (p < end) {
		struct cj_format_item *c;
		const char *from = p;

		if (*p != '/') {
			next->lines_before += *p == '\n';
			next->has_space = true;
			p++;
			continue;
		}
		p = comment_end(p, end);
		c = add(r, next);
		c->kind = from[1] == '/' ? CJ_FORMAT_LINE_COMMENT :
		    CJ_FORMAT_COMMENT;
		c->token = CJ_TOKEN_END;
		c->text = from;
		c->length = (uint32_t)(p - from);
		next->lines_before = 0;
		next->has_space = false;
	}
}

/* ---- tokens -------------------------------------------------------------- */

/* Whether an operand ends with this token, so that an operator may follow. */
static bool
ends_operand(const struct cj_format_item *t)
{
	switch ((int)t->token) {
	case CJ_TOKEN_NAME:
	case CJ_TOKEN_INTEGER:
	case CJ_TOKEN_NUMBER:
	case CJ_TOKEN_STRING:
	case CJ_TOKEN_TRUE:
	case CJ_TOKEN_FALSE:
	case CJ_TOKEN_ANY:
	case CJ_TOKEN_RPAREN:
	case CJ_TOKEN_RBRACKET:
	case CJ_TOKEN_RBRACE:
		return true;
	default:
		return cj_token_is_plain_word(t->token);
	}
}

static const struct cj_format_item *
last_token(const struct read *r)
{
	uint32_t i;

	for (i = r->items->len; i-- > 0;)
		if (r->items->at[i].kind == CJ_FORMAT_TOKEN)
			return &r->items->at[i];
	return NULL;
}

static void
classify(struct read *r, struct cj_format_item *t,
    const struct cj_format_item *last)
{
	bool is_operand_before = last != NULL && ends_operand(last);

	switch ((int)t->token) {
	case CJ_TOKEN_MINUS:
	case CJ_TOKEN_STAR:
		t->is_prefix = !is_operand_before;
		break;
	case CJ_TOKEN_DOT:
		/* a word may be a word, `where .x`; then it has a blank */
		t->is_prefix = !is_operand_before || (t->has_space &&
		    cj_token_is_plain_word(last->token));
		break;
	case CJ_TOKEN_NOT:
	case CJ_TOKEN_BIT_NOT:
		t->is_prefix = true;
		break;
	case CJ_TOKEN_LBRACE:
		t->is_set = last != NULL && last->token == CJ_TOKEN_IN;
		*cj_push(r->arena, &r->braces) = t->is_set;
		break;
	case CJ_TOKEN_RBRACE:
		assert(r->braces.len > 0);
		t->is_set = r->braces.at[--r->braces.len];
		break;
	default:
		break;
	}
}

void
cj_format_read(struct cj_arena *a, struct cj_names *names,
    const struct cj_sources *sources, const struct cj_tree *tree,
    struct cj_format_items *items)
{
	struct read r = { .arena = a, .items = items };
	struct cj_diags ignored;
	struct cj_lexer *lx;
	struct cj_token t;
	uint32_t i, end = 0;

	r.source = cj_source_get(sources, tree->source);
	for (i = 0; i < tree->decls.count; i++)
		find_types(&r, tree->decls.at[i]);
	if (r.types.len > 0)
		qsort(r.types.at, r.types.len, sizeof *r.types.at, compare);
	cj_diags_init(&ignored, a, sources);
	lx = cj_lexer_create(a, names, sources, tree->source, &ignored);
	if (r.source->length >= 3 &&
	    memcmp(r.source->text, "\xef\xbb\xbf", 3) == 0)
		end = 3;
	do {
		struct cj_format_item item = { .kind = CJ_FORMAT_TOKEN };
		const struct cj_format_item *last = last_token(&r);
		bool is_type;

		t = cj_lexer_next(lx);
		is_type = is_type_begin(&r, t.span.begin);
		if (is_type && last != NULL && last->token == CJ_TOKEN_COLON)
			items->at[last - items->at].is_type_colon = true;
		read_gap(&r, r.source->text + end,
		    r.source->text + t.span.begin, &item);
		item.token = t.kind;
		item.text = r.source->text + t.span.begin;
		item.length = t.span.end - t.span.begin;
		classify(&r, &item, last_token(&r));
		add(&r, &item);
		end = t.span.end;
	} while (t.kind != CJ_TOKEN_END);
}

/* ---- blanks -------------------------------------------------------------- */

static bool
is_opening(const struct cj_format_item *t)
{
	return t->token == CJ_TOKEN_LPAREN || t->token == CJ_TOKEN_LBRACKET ||
	    (t->token == CJ_TOKEN_LBRACE && t->is_set);
}

static bool
is_closing(const struct cj_format_item *t)
{
	return t->token == CJ_TOKEN_RPAREN || t->token == CJ_TOKEN_RBRACKET ||
	    (t->token == CJ_TOKEN_RBRACE && t->is_set);
}

/* f( and t[ stand together; a word that is no name stands apart. */
static bool
is_apart_from_bracket(const struct cj_format_item *left,
    const struct cj_format_item *right)
{
	if (cj_token_is_plain_word(left->token))
		return right->has_space || right->lines_before > 0;
	if (left->token == CJ_TOKEN_FN || left->token == CJ_TOKEN_ANY)
		return false;
	if (cj_token_is_reserved(left->token) &&
	    left->token != CJ_TOKEN_TRUE && left->token != CJ_TOKEN_FALSE)
		return true;
	return !ends_operand(left) || left->token == CJ_TOKEN_RBRACE;
}

bool
cj_format_is_apart(const struct cj_format_item *left,
    const struct cj_format_item *right)
{
	if (left->kind != CJ_FORMAT_TOKEN || right->kind != CJ_FORMAT_TOKEN)
		return !is_opening(left) && (right->kind != CJ_FORMAT_TOKEN ||
		    (!is_closing(right) && right->token != CJ_TOKEN_COMMA &&
		    right->token != CJ_TOKEN_SEMICOLON));
	if (is_opening(left) || is_closing(right) || left->is_prefix)
		return false;
	if (right->token == CJ_TOKEN_COMMA ||
	    right->token == CJ_TOKEN_SEMICOLON)
		return false;
	if (right->token == CJ_TOKEN_DOT)
		return right->is_prefix && left->token != CJ_TOKEN_RANGE;
	if (left->token == CJ_TOKEN_DOT)
		return false;
	if (right->token == CJ_TOKEN_COLON || left->token == CJ_TOKEN_RANGE ||
	    right->token == CJ_TOKEN_RANGE)
		return false;
	if (left->token == CJ_TOKEN_COLON)
		return left->is_type_colon;
	if (right->token == CJ_TOKEN_LPAREN ||
	    right->token == CJ_TOKEN_LBRACKET)
		return is_apart_from_bracket(left, right);
	return true;
}
