/*
 * What may stand next: completion, and the parameters of the call around.
 *
 * The text is wrong while it is typed, so the place is read off the tokens in
 * front of it; names come from whatever tree there is. A declaration that is
 * still open at the end of the text is in no tree: then the text up to the
 * place is taken, with what is open closed.
 */
#include <string.h>

#include "lsp.h"

/* Kinds of items in the protocol. */
enum { ITEM_FUNCTION = 3, ITEM_FIELD = 5, ITEM_VARIABLE = 6, ITEM_MODULE = 9,
	ITEM_PROPERTY = 10, ITEM_VALUE = 12, ITEM_KEYWORD = 14,
	ITEM_ENUM_MEMBER = 20, ITEM_CONSTANT = 21, ITEM_TYPE = 25 };

/* Where one types, and what is offered there. */
struct typing {
	struct server *s;
	struct document *d;
	struct view *v;
	size_t at;		/* where the word begins that is being typed */
	uint32_t count;		/* tokens in front of it */
	json_t *items, *seen;
};

/* ---- the place ----------------------------------------------------------- */

/* Kind of the token that is `back` before the place; END: there is none. */
static enum cj_token_kind
kind_at(const struct typing *t, uint32_t back)
{
	return back < t->count ? t->v->tokens.at[t->count - 1 - back].kind :
	    CJ_TOKEN_END;
}

static bool
is_word(enum cj_token_kind kind)
{
	return kind == CJ_TOKEN_NAME || cj_token_is_plain_word(kind);
}

/* The text of the token that is `back` before the place; "": no word. */
static const char *
word_before(const struct typing *t, uint32_t back)
{
	return !is_word(kind_at(t, back)) ? "" : view_text(t->v,
	    t->v->tokens.at[t->count - 1 - back].name);
}

static bool
is_letter(char c)
{
	return c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
	    (c >= '0' && c <= '9');
}

/* Does a comment that begins behind `from` reach over `at`? */
static bool
is_in_comment(const char *text, size_t from, size_t at)
{
	size_t depth = 0;

	while (from + 1 < at) {
		if (depth == 0 && strncmp(text + from, "//", 2) == 0) {
			while (from < at && text[from] != '\n')
				from++;
			if (from == at)
				return true;
		} else if (strncmp(text + from, "/*", 2) == 0) {
			depth++;
			from += 2;
		} else if (strncmp(text + from, "*/", 2) == 0) {
			depth -= depth != 0;
			from += 2;
		} else {
			from++;
		}
	}
	return depth != 0;
}

/* Find the place; false: nothing is completed in comments and texts. */
static bool
locate(struct typing *t, size_t offset)
{
	const struct cj_token *next;
	size_t behind;

	t->at = offset;
	while (t->at > 0 && is_letter(t->d->text[t->at - 1]))
		t->at--;
	t->count = t->at == 0 ? 0 : view_token_at(t->v, t->at);
	next = &t->v->tokens.at[t->count];
	if ((next->kind == CJ_TOKEN_STRING || next->kind ==
	    CJ_TOKEN_CUDA_TEXT) && next->span.begin < t->at)
		return false;
	behind = t->count == 0 ? 0 : t->v->tokens.at[t->count - 1].span.end;
	return !is_in_comment(t->d->text, behind, offset);
}

/*
 * How many tokens back the parenthesis stands that is open around the place;
 * *commas counts those behind it. UINT32_MAX: there is none.
 */
static uint32_t
open_paren(const struct typing *t, uint32_t *commas)
{
	uint32_t back, depth = 0;

	*commas = 0;
	for (back = 0; back < t->count; back++) {
		switch ((int)kind_at(t, back)) {
		case CJ_TOKEN_RPAREN: case CJ_TOKEN_RBRACKET:
		case CJ_TOKEN_RBRACE:
			depth++;
			break;
		case CJ_TOKEN_LPAREN: case CJ_TOKEN_LBRACKET:
		case CJ_TOKEN_LBRACE:
			if (depth == 0)
				return kind_at(t, back) == CJ_TOKEN_LPAREN ?
				    back : UINT32_MAX;
			depth--;
			break;
		case CJ_TOKEN_COMMA:
			*commas += depth == 0;
			break;
		case CJ_TOKEN_SEMICOLON:
			if (depth == 0)
				return UINT32_MAX;
			break;
		}
	}
	return UINT32_MAX;
}

/* The place in attr.def of a statement's first word; NULL: it has none. */
static const char *
place_of(enum cj_token_kind kind)
{
	switch ((int)kind) {
	case CJ_TOKEN_LAUNCH: return "LAUNCH";
	case CJ_TOKEN_FOR: return "LOOP";
	case CJ_TOKEN_WHILE: return "WHILE";
	case CJ_TOKEN_ROLE: return "ROLE";
	case CJ_TOKEN_PRODUCE: return "PRODUCE";
	case CJ_TOKEN_CONSUME: return "CONSUME";
	case CJ_TOKEN_PIPELINE: return "PIPELINE";
	case CJ_TOKEN_SHARED: return "OBJECT";
	case CJ_TOKEN_TMEM: return "OBJECT";
	case CJ_TOKEN_TIME: return "TIME";
	default: return NULL;
	}
}

static bool
ends_operand(enum cj_token_kind kind)
{
	return kind == CJ_TOKEN_RPAREN || kind == CJ_TOKEN_RBRACKET ||
	    kind == CJ_TOKEN_INTEGER || is_word(kind);
}

/* Attributes of a parameter: behind its colon, in kernel k() or fn f(). */
static bool
is_param_place(const struct typing *t)
{
	uint32_t commas, paren = open_paren(t, &commas), back;

	if (paren == UINT32_MAX || (kind_at(t, paren + 2) != CJ_TOKEN_KERNEL
	    && kind_at(t, paren + 2) != CJ_TOKEN_FN))
		return false;
	for (back = 0; back < paren; back++)
		if (kind_at(t, back) == CJ_TOKEN_COLON &&
		    is_word(kind_at(t, back + 1)) && (back + 2 == paren ||
		    kind_at(t, back + 2) == CJ_TOKEN_COMMA))
			return true;
	return false;
}

/* The place in attr.def where attributes may follow here, or NULL. */
static const char *
attribute_place(const struct typing *t)
{
	uint32_t back, depth = 0;

	if (!ends_operand(kind_at(t, 0)))
		return NULL;
	if (is_param_place(t))
		return "PARAM";
	for (back = 0; back < t->count; back++) {
		enum cj_token_kind kind = kind_at(t, back);

		if (kind == CJ_TOKEN_RPAREN || kind == CJ_TOKEN_RBRACKET)
			depth++;
		else if ((kind == CJ_TOKEN_LPAREN ||
		    kind == CJ_TOKEN_LBRACKET) && depth-- == 0)
			return NULL;
		else if (depth == 0 && (kind == CJ_TOKEN_SEMICOLON ||
		    kind == CJ_TOKEN_LBRACE || kind == CJ_TOKEN_RBRACE ||
		    kind == CJ_TOKEN_ASSIGN))
			return NULL;
		else if (depth == 0 && back > 0 && place_of(kind) != NULL)
			return place_of(kind);
	}
	return NULL;
}

/* ---- items --------------------------------------------------------------- */

/* `rank` orders: what is nearest comes first. */
static json_t *
add(struct typing *t, const char *label, int kind, const char *detail,
    char rank)
{
	json_t *item;

	if (json_object_get(t->seen, label) != NULL)
		return NULL;
	json_object_set_new(t->seen, label, json_true());
	item = json_pack("{s:s, s:i, s:o}", "label", label, "kind", kind,
	    "sortText", json_sprintf("%c%s", rank, label));
	if (detail != NULL)
		json_object_set_new(item, "detail", string_of(detail,
		    strlen(detail)));
	json_array_append_new(t->items, item);
	return item;
}

static int
item_kind(const struct symbol *y)
{
	switch (y->kind) {
	case SYMBOL_FN: case SYMBOL_KERNEL: case SYMBOL_ROLE:
		return ITEM_FUNCTION;
	case SYMBOL_CONST:
		return ITEM_CONSTANT;
	case SYMBOL_IMPORT:
		return ITEM_MODULE;
	case SYMBOL_FIELD:
		return ITEM_FIELD;
	case SYMBOL_LET: case SYMBOL_VAR: case SYMBOL_PARAM:
	case SYMBOL_PATTERN: case SYMBOL_LOOP: case SYMBOL_OVER:
	case SYMBOL_SHARED: case SYMBOL_PIPELINE: case SYMBOL_ORDER:
	case SYMBOL_STAGE:
		break;
	}
	return ITEM_VARIABLE;
}

static void
add_symbol(struct typing *t, struct document *d, const struct symbol *y,
    char rank)
{
	struct meaning m = { .document = d, .symbol = y };
	const char *name = view_text(view_of(t->s, d), y->name);

	if (is_of_library(d) && strncmp(name, "__", 2) == 0)
		return;
	add(t, name, item_kind(y), headline(t->s, &m), rank);
}

static void
add_word(struct typing *t, const struct word *w, char rank)
{
	static const int kinds[] = {
		[WORD_KEYWORD] = ITEM_KEYWORD, [WORD_FUNCTION] = ITEM_FUNCTION,
		[WORD_VALUE] = ITEM_VALUE, [WORD_TYPE] = ITEM_TYPE,
		[WORD_ATTRIBUTE] = ITEM_PROPERTY
	};
	json_t *item = add(t, w->name, kinds[w->kind],
	    word_form(&t->s->scratch, w), rank);

	if (item != NULL && word_text(w) != NULL)
		json_object_set_new(item, "documentation",
		    json_string(word_text(w)));
}

/* Words with blanks between. */
static void
add_all(struct typing *t, const char *words, int kind)
{
	while (words != NULL && *words != '\0') {
		size_t n = strcspn(words, " ");

		add(t, cj_strndup(&t->s->scratch, words, n), kind, NULL, '0');
		words += n + (words[n] == ' ');
	}
}

static void
add_exports(struct typing *t, struct document *d, bool are_kernels, char rank)
{
	const struct view *v;
	uint32_t i;

	if (d == NULL)
		return;
	v = view_of(t->s, d);
	for (i = 0; i < v->symbols.len; i++)
		if (v->symbols.at[i].is_file &&
		    v->symbols.at[i].kind != SYMBOL_IMPORT &&
		    (v->symbols.at[i].kind == SYMBOL_KERNEL) == are_kernels)
			add_symbol(t, d, &v->symbols.at[i], rank);
}

static void
add_imported(struct typing *t, bool are_kernels)
{
	const struct cj_list *decls = &t->v->tree->decls;
	uint32_t i;

	for (i = 0; i < decls->count; i++)
		if (decls->at[i]->kind == CJ_NODE_IMPORT &&
		    decls->at[i]->import.alias.name == 0)
			add_exports(t, document_imported(t->s, t->d,
			    decls->at[i]->import.path.bytes), are_kernels,
			    '3');
}

/* Later declarations are the inner ones; they come first. */
static void
add_in_scope(struct typing *t)
{
	uint32_t i;

	for (i = t->v->symbols.len; i-- > 0; ) {
		const struct symbol *y = &t->v->symbols.at[i];

		if (y->kind != SYMBOL_KERNEL && t->at >= y->begin &&
		    t->at < y->end)
			add_symbol(t, t->d, y, y->is_file ? '2' : '1');
	}
}

static void
add_words(struct typing *t)
{
	const struct word *w;
	size_t i;

	for (i = 0; (w = word_at(i)) != NULL; i++)
		if (w->kind != WORD_ATTRIBUTE)
			add_word(t, w, w->kind == WORD_KEYWORD ? '5' : '4');
}

static void
add_attributes(struct typing *t, const char *place)
{
	const struct word *w;
	size_t i;

	for (i = 0; (w = word_at(i)) != NULL; i++)
		if (w->kind == WORD_ATTRIBUTE && word_stands(w->name, place))
			add_word(t, w, '0');
	if (strcmp(place, "PARAM") == 0)
		add(t, "in", ITEM_KEYWORD, NULL, '0');
}

/* ---- behind a point ------------------------------------------------------ */

static void
add_fields(struct typing *t, const struct symbol *stage)
{
	const struct cj_node *p = pipeline_of_stage(t->v, stage);
	uint32_t i;

	for (i = 0; p != NULL && i < p->pipeline.fields.count; i++)
		if (p->pipeline.fields.at[i]->kind == CJ_NODE_FIELD)
			add(t, view_text(t->v, p->pipeline.fields.at[i]->
			    field.name.name), ITEM_FIELD, NULL, '0');
}

static void
add_members_of(struct typing *t, const struct symbol *y)
{
	if (y->kind == SYMBOL_STAGE) {
		add_fields(t, y);
	} else if (y->kind == SYMBOL_ROLE) {
		add_all(t, word_members("role"), ITEM_FIELD);
	} else if (y->kind == SYMBOL_IMPORT) {
		struct document *d = document_imported(t->s, t->d,
		    y->node->import.path.bytes);

		add_exports(t, d, false, '0');
		add_exports(t, d, true, '0');
	}
}

/* NAME. or scope = . */
static void
add_members(struct typing *t)
{
	const struct symbol *y;
	const char *base;

	if (kind_at(t, 1) == CJ_TOKEN_ASSIGN) {
		add_all(t, word_choices(word_before(t, 2)), ITEM_ENUM_MEMBER);
		return;
	}
	base = word_before(t, 1);
	if (*base == '\0')
		return;
	y = view_lookup(t->v, t->v->tokens.at[t->count - 2].name, false,
	    t->at);
	if (y != NULL)
		add_members_of(t, y);
	else if (strcmp(base, "cute") == 0)
		add_words(t);
	else
		add_all(t, word_members(base), ITEM_FIELD);
}

/* ---- calls --------------------------------------------------------------- */

/* What is called by the parenthesis so many tokens back. */
static struct meaning
called(const struct typing *t, uint32_t paren)
{
	bool is_kernel = kind_at(t, paren + 2) == CJ_TOKEN_LAUNCH ||
	    kind_at(t, paren + 2) == CJ_TOKEN_TIME;
	const char *name = word_before(t, paren + 1);
	const struct cj_token *token;
	struct meaning m = { .symbol = NULL };
	const struct use *u;

	if (*name == '\0' || kind_at(t, paren + 2) == CJ_TOKEN_FN ||
	    kind_at(t, paren + 2) == CJ_TOKEN_KERNEL)
		return m;
	token = &t->v->tokens.at[t->count - 2 - paren];
	u = view_use_at(t->v, token->span.begin);
	if (u != NULL)
		return meaning_of(t->s, t->d, u);
	m.symbol = view_lookup(t->v, token->name, is_kernel,
	    token->span.begin);
	if (m.symbol == NULL)
		return meaning_of_foreign(t->s, t->d, name, is_kernel);
	m.document = t->d;
	return m;
}

/* name = for the parameters that may be named here. */
static void
add_arguments(struct typing *t)
{
	uint32_t commas, paren = open_paren(t, &commas), i;
	const struct cj_list *params;
	struct meaning m;

	if (paren == UINT32_MAX || (kind_at(t, 0) != CJ_TOKEN_LPAREN &&
	    kind_at(t, 0) != CJ_TOKEN_COMMA))
		return;
	m = called(t, paren);
	params = params_of(m.symbol);
	for (i = 0; params != NULL && i < params->count; i++) {
		const struct cj_node *p = params->at[i];

		if (p->kind == CJ_NODE_PARAM)
			add(t, cj_printf(&t->s->scratch, "%s = ",
			    view_text(view_of(t->s, m.document),
			    p->param.name.name)), ITEM_PROPERTY, NULL, '0');
	}
	if (m.word != NULL && m.word->named != NULL) {
		const char *at = m.word->named;

		while (*at != '\0') {
			size_t n = strcspn(at, " ");

			add(t, cj_printf(&t->s->scratch, "%.*s = ", (int)n,
			    at), ITEM_PROPERTY, NULL, '0');
			at += n + (at[n] == ' ');
		}
	}
}

/* ---- answers ------------------------------------------------------------- */

static void
add_targets(struct typing *t)
{
	const cutejit_target *target;
	size_t i;

	for (i = 0; (target = cutejit_target_at(i)) != NULL; i++)
		add(t, target->name, ITEM_VALUE, NULL, '0');
}

static void
add_kernels(struct typing *t, bool is_launch)
{
	add_exports(t, t->d, true, '0');
	add_imported(t, true);
	if (is_launch)
		add_attributes(t, "LAUNCH");
}

static void
complete(struct typing *t)
{
	enum cj_token_kind before = kind_at(t, 0);
	const char *place = attribute_place(t);

	if (before == CJ_TOKEN_DOT) {
		add_members(t);
	} else if (before == CJ_TOKEN_TARGET) {
		add_targets(t);
	} else if (before == CJ_TOKEN_LAUNCH || before == CJ_TOKEN_TIME ||
	    before == CJ_TOKEN_TUNE) {
		add_kernels(t, before == CJ_TOKEN_LAUNCH);
	} else if (place != NULL) {
		add_attributes(t, place);
	} else {
		add_arguments(t);
		add_in_scope(t);
		add_imported(t, false);
		add_exports(t, document_of_library(t->s, "cute/prelude.cute"),
		    false, '3');
		add_words(t);
	}
}

/* Is the place in a declaration of the tree, or where none is open? */
static bool
is_covered(const struct typing *t)
{
	const struct cj_list *decls = &t->v->tree->decls;
	uint32_t i, depth = 0;

	for (i = 0; i < decls->count; i++)
		if (decls->at[i]->span.begin <= t->at &&
		    t->at < decls->at[i]->span.end)
			return true;
	for (i = 0; i < t->count; i++) {
		enum cj_token_kind kind = t->v->tokens.at[i].kind;

		if (kind == CJ_TOKEN_LBRACE)
			depth++;
		else if (kind == CJ_TOKEN_RBRACE && depth != 0)
			depth--;
	}
	return depth == 0;
}

/* What closes the brackets that are open at the place. */
static const char *
closers(const struct typing *t)
{
	CJ_VEC(enum cj_token_kind) open = { 0 };
	struct cj_strbuf b;
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		enum cj_token_kind kind = t->v->tokens.at[i].kind;

		if (kind == CJ_TOKEN_LBRACE || kind == CJ_TOKEN_LPAREN ||
		    kind == CJ_TOKEN_LBRACKET)
			*cj_push(&t->s->scratch, &open) = kind;
		else if ((kind == CJ_TOKEN_RBRACE || kind == CJ_TOKEN_RPAREN ||
		    kind == CJ_TOKEN_RBRACKET) && open.len != 0)
			open.len--;
	}
	cj_strbuf_init(&b, &t->s->scratch);
	while (open.len-- != 0)
		cj_strbuf_puts(&b, open.at[open.len] == CJ_TOKEN_LPAREN ?
		    ")" : open.at[open.len] == CJ_TOKEN_LBRACKET ? "]" :
		    ";}");
	return b.text;
}

static void
repair(struct typing *t)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, &t->s->scratch);
	cj_strbuf_write(&b, t->d->text, t->at);
	cj_strbuf_puts(&b, closers(t));
	t->d = document_like(t->s, t->d, b.text, b.len);
	t->v = view_of(t->s, t->d);
}

static bool
begin(struct typing *t, struct server *s, const json_t *params)
{
	size_t offset;

	memset(t, 0, sizeof *t);
	t->s = s;
	t->d = document_param(s, params);
	if (t->d == NULL || !offset_param(s, params, t->d, &offset))
		return false;
	t->v = view_of(s, t->d);
	if (!locate(t, offset))
		return false;
	if (!is_covered(t))
		repair(t);
	return true;
}

json_t *
answer_completion(struct server *s, const json_t *params)
{
	struct typing t;
	bool is_place = begin(&t, s, params);

	if (s->error != 0)
		return NULL;
	t.items = json_array();
	t.seen = json_object();
	if (is_place)
		complete(&t);
	json_decref(t.seen);
	return json_pack("{s:b, s:o}", "isIncomplete", 0, "items", t.items);
}

static json_t *
labels_of(const struct meaning *m)
{
	const struct cj_list *params = params_of(m->symbol);
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; params != NULL && i < params->count; i++) {
		struct cj_span at = params->at[i]->span;

		/* blanks in front of it may belong to a parameter */
		at.begin += (uint32_t)strspn(m->document->text + at.begin,
		    " \t\r\n");
		json_array_append_new(list, json_pack("{s:o}", "label",
		    string_of(m->document->text + at.begin,
		    at.end - at.begin)));
	}
	return list;
}

json_t *
answer_signature(struct server *s, const json_t *params)
{
	struct typing t;
	bool is_place = begin(&t, s, params);
	uint32_t commas = 0, paren;
	struct meaning m;
	const char *head;

	if (s->error != 0)
		return NULL;
	paren = is_place ? open_paren(&t, &commas) : UINT32_MAX;
	if (paren == UINT32_MAX)
		return json_null();
	m = called(&t, paren);
	head = m.symbol == NULL && m.word == NULL ? NULL : headline(s, &m);
	if (head == NULL)
		return json_null();
	return json_pack("{s:[{s:o, s:o}], s:i, s:i}", "signatures", "label",
	    string_of(head, strlen(head)), "parameters", labels_of(&m),
	    "activeSignature", 0, "activeParameter", (int)commas);
}
