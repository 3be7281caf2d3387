/*
 * cutec lsp: a language server on standard input and output.
 *
 * One message after the other; when none waits, the texts that changed are
 * checked. The compiler runs in child processes alone; here texts are only
 * parsed. Whatever a client sends is answered as the protocol wants it and
 * never ends the server, except `exit` and the end of the input.
 *
 * Nothing but messages goes to standard output: whoever else writes there
 * writes to standard error.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lsp.h"

/* How long typing must pause before texts are checked. */
enum { PAUSE_MS = 100 };

/* ---- parameters ---------------------------------------------------------- */

json_t *
refuse(struct server *s, int code, const char *why)
{
	if (s->error == 0) {
		s->error = code;
		s->why = why;
	}
	return NULL;
}

static const char *
uri_param(const json_t *params)
{
	return json_string_value(json_object_get(json_object_get(params,
	    "textDocument"), "uri"));
}

struct document *
document_param(struct server *s, const json_t *params)
{
	const char *uri = uri_param(params);
	struct document *d = uri != NULL ? document_open_at(s, uri) : NULL;

	if (uri == NULL)
		refuse(s, LSP_INVALID_PARAMS, "params need a textDocument "
		    "with a uri");
	else if (d == NULL)
		refuse(s, LSP_INVALID_PARAMS, "this document is not open");
	return d;
}

bool
offset_param(struct server *s, const json_t *params,
    const struct document *d, size_t *offset)
{
	if (lines_offset(&d->lines, json_object_get(params, "position"),
	    offset))
		return true;
	refuse(s, LSP_INVALID_PARAMS, "params need a position");
	return false;
}

/* ---- life of the server -------------------------------------------------- */

static json_t *
answer_initialize(struct server *s, const json_t *params)
{
	(void)params;
	if (s->is_initialized)
		return refuse(s, LSP_INVALID_REQUEST, "already initialized");
	s->is_initialized = true;
	return json_pack("{s:{s:s, s:{s:b, s:i, s:b}, s:b, s:b, s:b, s:b, "
	    "s:{s:b}, s:{s:[s,s], s:b}, s:{s:[s,s]}, s:b, s:b, s:b, "
	    "s:{s:[s]}}, s:{s:s, s:s}}", "capabilities",
	    "positionEncoding", "utf-16", "textDocumentSync", "openClose", 1,
	    "change", 2, "save", 1, "hoverProvider", 1, "definitionProvider",
	    1, "referencesProvider", 1, "documentHighlightProvider", 1,
	    "renameProvider", "prepareProvider", 1, "completionProvider",
	    "triggerCharacters", ".", " ", "resolveProvider", 0,
	    "signatureHelpProvider", "triggerCharacters", "(", ",",
	    "documentSymbolProvider", 1, "foldingRangeProvider", 1,
	    "documentFormattingProvider", 1, "codeActionProvider",
	    "codeActionKinds", "quickfix", "serverInfo", "name", "cutec",
	    "version", cutejit_version());
}

static json_t *
answer_shutdown(struct server *s, const json_t *params)
{
	(void)params;
	s->is_shut_down = true;
	return json_null();
}

/* ---- documents ----------------------------------------------------------- */

static void
show_wrong(const char *what)
{
	fprintf(stderr, "cutec lsp: %s\n", what);
}

static json_t *
did_open(struct server *s, const json_t *params)
{
	const json_t *d = json_object_get(params, "textDocument");
	const json_t *text = json_object_get(d, "text");
	const char *uri = uri_param(params);

	if (uri == NULL || !json_is_string(text))
		show_wrong("didOpen needs uri and text");
	else if (!document_set(s, uri, json_object_get(d, "version"),
	    json_string_value(text), json_string_length(text)))
		show_wrong("no room for a text");
	return NULL;
}

/* One change: the whole text, or a range of it. */
static bool
change(struct server *s, struct document *d, const json_t *c)
{
	const json_t *text = json_object_get(c, "text");
	const json_t *range = json_object_get(c, "range");
	size_t begin = 0, end = d->length;

	if (!json_is_string(text))
		return false;
	if (range != NULL && (!lines_offset(&d->lines, json_object_get(range,
	    "start"), &begin) || !lines_offset(&d->lines,
	    json_object_get(range, "end"), &end) || end < begin))
		return false;
	return document_splice(s, d, begin, end, json_string_value(text),
	    json_string_length(text));
}

static json_t *
did_change(struct server *s, const json_t *params)
{
	const json_t *changes = json_object_get(params, "contentChanges");
	const json_t *version = json_object_get(json_object_get(params,
	    "textDocument"), "version");
	struct document *d = document_param(s, params);
	size_t i;

	if (d == NULL)
		return NULL;
	for (i = 0; i < json_array_size(changes); i++)
		if (!change(s, d, json_array_get(changes, i)))
			show_wrong("didChange has a change without text or "
			    "with a wrong range");
	json_decref(d->version);
	d->version = json_deep_copy(version);
	return NULL;
}

/* Files that others import may have changed with this one. */
static json_t *
did_save(struct server *s, const json_t *params)
{
	struct document *d;

	(void)params;
	for (d = s->documents; d != NULL; d = d->next)
		if (d->is_open)
			d->is_dirty = true;
	return NULL;
}

static json_t *
did_close(struct server *s, const json_t *params)
{
	struct document *d = document_param(s, params);

	if (d == NULL)
		return NULL;
	wire_write(&s->wire, json_pack("{s:s, s:s, s:{s:s, s:[]}}",
	    "jsonrpc", "2.0", "method", "textDocument/publishDiagnostics",
	    "params", "uri", d->uri, "diagnostics"));
	document_close(s, d);
	return NULL;
}

/* ---- messages ------------------------------------------------------------ */

enum method_kind { REQUEST, NOTICE };

static const struct method {
	const char *name;
	enum method_kind kind;
	answer_fn *answer;		/* NULL: nothing is done */
} methods[] = {
	{ "initialize", REQUEST, answer_initialize },
	{ "shutdown", REQUEST, answer_shutdown },
	{ "textDocument/hover", REQUEST, answer_hover },
	{ "textDocument/definition", REQUEST, answer_definition },
	{ "textDocument/references", REQUEST, answer_references },
	{ "textDocument/documentHighlight", REQUEST, answer_highlight },
	{ "textDocument/prepareRename", REQUEST, answer_prepare_rename },
	{ "textDocument/rename", REQUEST, answer_rename },
	{ "textDocument/completion", REQUEST, answer_completion },
	{ "textDocument/signatureHelp", REQUEST, answer_signature },
	{ "textDocument/documentSymbol", REQUEST, answer_symbols },
	{ "textDocument/foldingRange", REQUEST, answer_folding },
	{ "textDocument/formatting", REQUEST, answer_format },
	{ "textDocument/codeAction", REQUEST, answer_actions },
	{ "textDocument/didOpen", NOTICE, did_open },
	{ "textDocument/didChange", NOTICE, did_change },
	{ "textDocument/didSave", NOTICE, did_save },
	{ "textDocument/didClose", NOTICE, did_close },
	{ "workspace/didChangeWatchedFiles", NOTICE, did_save }
};

static const struct method *
find_method(const char *name, enum method_kind kind)
{
	size_t i;

	for (i = 0; i < sizeof methods / sizeof *methods; i++)
		if (methods[i].kind == kind &&
		    strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

/* `id` is NULL where it could not be read. */
static void
send_error(struct server *s, json_t *id, int code, const char *why)
{
	wire_write(&s->wire, json_pack("{s:s, s:o, s:{s:i, s:o}}", "jsonrpc",
	    "2.0", "id", id != NULL ? json_incref(id) : json_null(), "error",
	    "code", code, "message", string_of(why, strlen(why))));
}

static bool
may_answer(struct server *s, const char *method)
{
	if (!s->is_initialized && strcmp(method, "initialize") != 0)
		refuse(s, LSP_NOT_INITIALIZED, "initialize comes first");
	else if (s->is_shut_down)
		refuse(s, LSP_INVALID_REQUEST, "the server is shut down");
	return s->error == 0;
}

static void
handle_request(struct server *s, json_t *id, const char *method,
    const json_t *params)
{
	const struct method *m = find_method(method, REQUEST);
	json_t *result = NULL;

	if (!json_is_integer(id) && !json_is_string(id)) {
		send_error(s, NULL, LSP_INVALID_REQUEST,
		    "an id is a number or a text");
		return;
	}
	if (!may_answer(s, method)) {
		send_error(s, id, s->error, s->why);
		return;
	}
	if (m == NULL) {
		send_error(s, id, LSP_METHOD_NOT_FOUND, cj_printf(&s->scratch,
		    "there is no method \"%.200s\"", method));
		return;
	}
	result = m->answer(s, params);
	if (result == NULL)
		send_error(s, id, s->error != 0 ? s->error :
		    LSP_INTERNAL_ERROR, s->why != NULL ? s->why :
		    "no answer");
	else
		wire_write(&s->wire, json_pack("{s:s, s:O, s:o}", "jsonrpc",
		    "2.0", "id", id, "result", result));
}

static void
handle_notice(struct server *s, const char *method, const json_t *params)
{
	const struct method *m = find_method(method, NOTICE);

	if (m != NULL && s->is_initialized && !s->is_shut_down)
		(void)m->answer(s, params);
}

/* Requests have an id, notices none; an answer to us would have no method. */
static void
handle_object(struct server *s, json_t *message)
{
	json_t *id = json_object_get(message, "id");
	const char *method = json_string_value(json_object_get(message,
	    "method"));
	const json_t *params = json_object_get(message, "params");

	if (!json_is_object(message))
		send_error(s, NULL, LSP_INVALID_REQUEST,
		    "a message is an object");
	else if (method == NULL && json_object_get(message, "result") == NULL
	    && json_object_get(message, "error") == NULL)
		send_error(s, json_is_integer(id) || json_is_string(id) ? id :
		    NULL, LSP_INVALID_REQUEST, "a message needs a method");
	else if (method != NULL && id != NULL)
		handle_request(s, id, method, params);
	else if (method != NULL)
		handle_notice(s, method, params);
}

/*
 * Leaving by the recovery point: memory has run out, or it is a fault of
 * ours. What was made of the texts is dropped and made again when asked for.
 */
static void
handle(struct server *s, json_t *message)
{
	struct cj_mark mark = cj_arena_mark(&s->scratch);

	s->error = 0;
	s->why = NULL;
	if (CJ_RECOVER(&s->recover)) {
		documents_forget(s);
		show_wrong(s->recover.text);
		send_error(s, json_object_get(message, "id"),
		    LSP_INTERNAL_ERROR, s->recover.text);
	} else {
		handle_object(s, message);
	}
	cj_arena_release(&s->scratch, mark);
	documents_sweep(s);
}

static void
check(struct server *s)
{
	struct cj_mark mark = cj_arena_mark(&s->scratch);
	struct document *d;

	if (CJ_RECOVER(&s->recover)) {
		documents_forget(s);
		show_wrong(s->recover.text);
		for (d = s->documents; d != NULL; d = d->next)
			d->is_dirty = false;
	} else {
		check_documents(s);
	}
	cj_arena_release(&s->scratch, mark);
	documents_sweep(s);
}

/* ---- the loop ------------------------------------------------------------ */

static bool
is_exit(const json_t *message)
{
	const char *method = json_string_value(json_object_get(message,
	    "method"));

	return method != NULL && strcmp(method, "exit") == 0;
}

/* false: the client wants us to end. */
static bool
take_message(struct server *s, const char *body, size_t length)
{
	json_error_t error;
	json_t *message = json_loadb(body, length, JSON_ALLOW_NUL, &error);
	bool is_last = is_exit(message);

	if (message == NULL)
		send_error(s, NULL, LSP_PARSE_ERROR, error.text);
	else if (!is_last)
		handle(s, message);
	json_decref(message);
	return !is_last;
}

static int
serve(struct server *s)
{
	const char *body, *why;
	size_t length;

	for (;;) {
		if (!wire_waits(&s->wire, PAUSE_MS))
			check(s);
		switch (wire_read(&s->wire, &body, &length, &why)) {
		case WIRE_MESSAGE:
			if (!take_message(s, body, length))
				return s->is_shut_down ? 0 : CUTEJIT_ERROR;
			break;
		case WIRE_BAD:
			send_error(s, NULL, LSP_PARSE_ERROR, why);
			break;
		case WIRE_END:
			return s->is_shut_down ? 0 : CUTEJIT_ERROR;
		}
		if (s->wire.is_broken)
			return CUTEJIT_MISSING;
	}
}

static int
create_context(struct server *s)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_status status;

	o.cache = CUTEJIT_CACHE_OFF;
	o.include_folders = s->folders->at;
	o.include_count = s->folders->count;
	o.import = import_open;
	o.user = s;
	status = cutejit_context_create(&o, &s->context);
	if (status != CUTEJIT_OK)
		complain("%s", cutejit_status_text(status));
	return (int)status;
}

/* Standard output for messages alone; whoever prints gets standard error. */
static int
take_output(void)
{
	int fd;

	fflush(stdout);
	fd = dup(STDOUT_FILENO);
	if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return STDOUT_FILENO;
	return fd;
}

static int
run(const struct list *folders)
{
	struct server *s = calloc(1, sizeof *s);
	int code;

	if (s == NULL)
		return no_memory();
	signal(SIGPIPE, SIG_IGN);	/* the client may go at any time */
	s->folders = folders;
	wire_init(&s->wire, STDIN_FILENO, take_output());
	cj_arena_init(&s->scratch, &s->recover, NULL);
	code = create_context(s);
	if (code == 0)
		code = serve(s);
	documents_fini(s);
	cutejit_context_destroy(s->context);
	cj_arena_fini(&s->scratch);
	wire_fini(&s->wire);
	free(s);
	return code;
}

int
cmd_lsp(int argc, char **argv)
{
	struct list folders = { .count = 0 };
	int o;

	while ((o = option_next("lsp", argc, argv)) != -1) {
		if (o == 'h')
			return show_help("lsp");
		if (o == '?')
			return CUTEJIT_USAGE;
		if (o == 'I' && !list_add(&folders, optarg))
			return usage_error("lsp", "too many -I");
	}
	if (optind != argc)
		return usage_error("lsp", "it takes no files");
	return run(&folders);
}
