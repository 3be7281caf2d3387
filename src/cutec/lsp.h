/*
 * The language server: what its files share.
 *
 *	wire      messages over a pair of files	lsp_wire.c
 *	lines     offsets and positions		lsp_lines.c
 *	document  a text, open or of a file	lsp_document.c
 *	view      its tree, names and uses	lsp_view.c
 *	child     a process for the compiler	lsp_child.c
 *	check     messages of the library	lsp_check.c
 *	answers   one function per request	lsp_hover.c, ...
 *
 * Positions are LSP's: lines from 0, characters in UTF-16. Offsets are bytes.
 * A view's memory is an arena that goes when the text changes; one recovery
 * point, set for each message, serves all arenas. What a request allocates
 * for itself it takes from the server's scratch arena.
 */
#ifndef LSP_H
#define LSP_H

#include <jansson.h>

#include "cutec.h"
#include "parser/parser.h"

/* ---- wire ---------------------------------------------------------------- */

/* Longest message that is read; the next one is found all the same. */
#define LSP_MESSAGE_MAX	(64u << 20)

struct wire {
	int in, out;
	char *buffer;			/* bytes read and not yet taken */
	size_t begin, end, room;
	bool is_at_end;			/* no more will come */
	bool is_lost;			/* looking for the next header */
	bool is_broken;			/* nobody reads what is written */
};

enum wire_result {
	WIRE_MESSAGE,
	WIRE_BAD,			/* *why says what came instead */
	WIRE_END
};

void wire_init(struct wire *w, int in, int out);
void wire_fini(struct wire *w);

/* The next body; it lies in the buffer until the next call. */
enum wire_result wire_read(struct wire *w, const char **body, size_t *length,
    const char **why);

/* Does anything come within so many milliseconds? */
bool wire_waits(const struct wire *w, int ms);

/* Send a message; takes the reference. */
void wire_write(struct wire *w, json_t *message);

/* ---- lines --------------------------------------------------------------- */

/* Where the lines of a text begin; the text is somebody else's. */
struct lines {
	const char *text;
	size_t length;
	size_t *at;			/* offsets; malloc */
	size_t count;
};

/* false: no memory. */
bool lines_init(struct lines *l, const char *text, size_t length);
void lines_fini(struct lines *l);

json_t *lines_range(const struct lines *l, size_t begin, size_t end);

/* Positions behind an end are that end. false: it is no position. */
bool lines_offset(const struct lines *l, const json_t *position,
    size_t *offset);

/* Any bytes as a string; what is no UTF-8 shows as question marks. */
json_t *string_of(const char *bytes, size_t length);

/* ---- documents ----------------------------------------------------------- */

struct document {
	struct document *next;
	char *uri;
	char *path;			/* of file URIs; else NULL */
	char *text;			/* terminated; never NULL */
	size_t length;
	struct lines lines;
	bool is_open;			/* the client has it; else a file */
	bool is_dirty;			/* open, and not checked since */
	bool is_stale;			/* of a file that has changed */
	json_t *version;		/* may be NULL */
	json_t *fixes;			/* [{diagnostic, edits, title}] */
	struct view *view;		/* NULL: not yet */
	long long seconds;		/* of the file; with its length, */
	long nanoseconds;		/* whether it is still the same */
};

struct server;

/* The name by which the library knows a document. */
const char *document_name(const struct document *d);

/* An open document by its URI, or NULL. */
struct document *document_open_at(struct server *s, const char *uri);

/* By path: an open one, else the file as it is now. NULL: cannot be read. */
struct document *document_at_path(struct server *s, const char *path);

/* Another text in the place of a document, for this message only. */
struct document *document_like(struct server *s, const struct document *d,
    const char *text, size_t length);

/* Is it a text of the standard library? They are no files. */
bool is_of_library(const struct document *d);

/* A text of the standard library, "cute/prelude.cute"; NULL: none. */
struct document *document_of_library(struct server *s, const char *name);

/* The text that an import of `from` means, or NULL. */
struct document *document_imported(struct server *s,
    const struct document *from, const char *path);

/* Make or replace an open document. false: no memory. */
bool document_set(struct server *s, const char *uri, const json_t *version,
    const char *text, size_t length);

/* Replace a part of an open document by other text. false: no memory. */
bool document_splice(struct server *s, struct document *d, size_t begin,
    size_t end, const char *text, size_t length);
void document_close(struct server *s, struct document *d);

/* Drop what was made of every text. */
void documents_forget(struct server *s);

/* Drop stale texts: between messages, when nobody looks at them. */
void documents_sweep(struct server *s);
void documents_fini(struct server *s);

/* The library's question for imported texts (user: the server). */
cutejit_import_fn import_open;

/* ---- views --------------------------------------------------------------- */

enum symbol_kind {
	SYMBOL_FN, SYMBOL_KERNEL, SYMBOL_CONST, SYMBOL_LET, SYMBOL_VAR,
	SYMBOL_PARAM, SYMBOL_PATTERN, SYMBOL_LOOP, SYMBOL_OVER,
	SYMBOL_IMPORT, SYMBOL_SHARED, SYMBOL_PIPELINE, SYMBOL_FIELD,
	SYMBOL_ORDER, SYMBOL_ROLE, SYMBOL_STAGE
};

/* A declared name. */
struct symbol {
	enum symbol_kind kind;
	cj_name name;
	struct cj_span span;		/* of the name */
	uint32_t begin, end;		/* where it is known; 0, 0: nowhere */
	bool is_file;			/* known in the whole file */
	bool is_const;			/* PATTERN: `const N` */
	const struct cj_node *node;	/* what declares it */
	const struct cj_node *owner;	/* PARAM, PATTERN: kernel, fn, fn(x) */
};

enum use_kind {
	USE_DECLARED,			/* the name of symbol `symbol` */
	USE_NAME, USE_KERNEL,		/* a name to look up */
	USE_MEMBER,			/* node: MEMBER */
	USE_ARGUMENT,			/* node: NAMED, above: its call */
	USE_ATTRIBUTE,			/* node: ATTR */
	USE_CHOICE,			/* node: CHOICE */
	USE_IMPORT			/* node: IMPORT; the path */
};

/* A place where a name stands, in order of the text. */
struct use {
	enum use_kind kind;
	cj_name name;
	struct cj_span span;
	uint32_t symbol;		/* DECLARED */
	const struct cj_node *node, *above;
};

struct view {
	struct cj_arena arena;
	struct cj_names names;
	struct cj_sources sources;
	struct cj_diags diags;
	struct document *document;
	uint32_t source;
	struct cj_tree *tree;
	CJ_VEC(struct symbol) symbols;
	CJ_VEC(struct use) uses;	/* by place, once the view is made */
	CJ_VEC(struct cj_token) tokens;
};

/* The view of a document, made when first asked for. */
struct view *view_of(struct server *s, struct document *d);
void view_drop(struct view *v);
/* Its symbols and uses, from its tree (lsp_walk.c). */
void view_collect(struct view *v);

/* What stands at an offset (or ends there), or NULL. */
const struct use *view_use_at(const struct view *v, size_t offset);

/* The symbol that a name means at a place, or NULL. */
const struct symbol *view_lookup(const struct view *v, cj_name name,
    bool is_kernel, size_t offset);

/* A declaration of the file itself by its text, or NULL. */
const struct symbol *view_export(const struct view *v, const char *name,
    bool is_kernel);

const char *view_text(const struct view *v, cj_name name);

/* Index of the first token that ends behind an offset. */
uint32_t view_token_at(const struct view *v, size_t offset);

/* ---- meanings ------------------------------------------------------------ */

struct word;

/* What a use means: a symbol of some document, else a word, else nothing. */
struct meaning {
	struct document *document;	/* of the symbol */
	const struct symbol *symbol;
	const struct word *word;
	struct document *target;	/* of an import's path or alias */
};

struct meaning meaning_of(struct server *s, struct document *d,
    const struct use *u);

/* What a name that the text does not declare means there. */
struct meaning meaning_of_foreign(struct server *s, struct document *d,
    const char *name, bool is_kernel);

/* The pipeline of a stage's name: its declaration, or NULL. */
const struct cj_node *pipeline_of_stage(const struct view *v,
    const struct symbol *stage);

/* The parameters of a function or kernel; NULL for anything else. */
const struct cj_list *params_of(const struct symbol *symbol);

/* ---- words --------------------------------------------------------------- */

enum word_kind {
	WORD_KEYWORD, WORD_FUNCTION, WORD_VALUE, WORD_TYPE, WORD_ATTRIBUTE
};

/* A word of the language itself. */
struct word {
	enum word_kind kind;
	const char *name;
	const char *form;		/* "shfl(v, lane)"; NULL: by arity */
	const char *text;		/* a sentence; NULL: none */
	unsigned least, most;		/* FUNCTION: arguments by position */
	const char *named;		/* FUNCTION: and by name */
};

const struct word *word_at(size_t i);	/* NULL behind the last */
const struct word *word_find(const char *name, bool is_attribute);

/* "name(2 arguments)", or the form. On the arena. */
const char *word_form(struct cj_arena *a, const struct word *w);
const char *word_text(const struct word *w);	/* or NULL */

/* Members of a value ("thread_idx", a role as "role"), and choices of an
 * argument ("scope"), with blanks between; NULL: none are known. */
const char *word_members(const char *of);
const char *word_choices(const char *argument);

/* Whether an attribute may stand in a place of attr.def ("LAUNCH"). */
bool word_stands(const char *attribute, const char *place);

/* ---- children ------------------------------------------------------------ */

enum child_end {
	CHILD_DONE,
	CHILD_UNWANTED,			/* a message came */
	CHILD_LATE, CHILD_DIED
};

typedef json_t *child_fn(void *argument);

/*
 * The result of fn(argument), computed in a child process; NULL, with the
 * reason, if there is none. `yields`: give up when a message comes.
 */
json_t *child_run(struct server *s, child_fn *fn, void *argument, bool yields,
    int limit_ms, enum child_end *end);

/* ---- server -------------------------------------------------------------- */

enum { LSP_PARSE_ERROR = -32700, LSP_INVALID_REQUEST = -32600,
	LSP_METHOD_NOT_FOUND = -32601, LSP_INVALID_PARAMS = -32602,
	LSP_INTERNAL_ERROR = -32603, LSP_NOT_INITIALIZED = -32002,
	LSP_REQUEST_FAILED = -32803 };

struct server {
	struct wire wire;
	struct cj_recover recover;
	struct cj_arena scratch;	/* of the message in work */
	const struct list *folders;	/* -I */
	cutejit_context *context;
	struct document *documents;
	bool is_initialized, is_shut_down;
	int error;			/* of the request in work; 0: none */
	const char *why;
};

/* Answer a request with an error: returns NULL. */
json_t *refuse(struct server *s, int code, const char *why);

/* The open document and the offset that params name; refuse()s if wrong. */
struct document *document_param(struct server *s, const json_t *params);
bool offset_param(struct server *s, const json_t *params,
    const struct document *d, size_t *offset);

/* Check what changed and publish it, until there is input. */
void check_documents(struct server *s);

/* The library's value of an expression in the names of a document, on the
 * scratch arena; NULL: it has none. */
const char *value_of(struct server *s, const struct document *d,
    const char *expression);

/* Its first line: "fn f(x, y)", "const N = 8". */
const char *headline(struct server *s, const struct meaning *m);

/* Requests: a result, or NULL after refuse(). */
typedef json_t *answer_fn(struct server *s, const json_t *params);
answer_fn answer_hover, answer_definition, answer_references,
    answer_highlight, answer_prepare_rename, answer_rename, answer_completion,
    answer_signature, answer_symbols, answer_folding, answer_format,
    answer_actions;

#endif
