/*
 * Front header of cutec/: the command, a client of cutejit.h and of nothing
 * else of the product.
 *
 * main.c finds the subcommand in commands.def and calls cmd_<name>, which
 * returns the exit code: the numbers of cutejit_status.
 */
#ifndef CUTEC_H
#define CUTEC_H

#include <stdbool.h>
#include <stdio.h>

#include "cutejit.h"

#define COMMAND(name, operands, synopsis, purpose)			\
	int cmd_##name(int argc, char **argv);
#include "commands.def"
#undef COMMAND

/* ---- messages (message.c) ----------------------------------------------- */

enum report_form { REPORT_TEXT, REPORT_JSON, REPORT_SARIF };

/* "cutec: warning: ..." and "cutec: error: ...", on standard error. */
void caution(const char *text);
int no_memory(void);		/* the code to leave with */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same about wrong use, and where to read of it; returns 2. */
int usage_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Print what --help shows of a subcommand; returns 0. */
int show_help(const char *command);
/* May colour go to this stream? A terminal, and NO_COLOR is not set. */
bool wants_colour(FILE *stream);
/* A report in a form, to be freed; NULL: there is no memory. */
char *report_text(const cutejit_report *report, enum report_form form);
/* On standard error. */
void show_report(const cutejit_report *report, enum report_form form);
enum report_form report_form_of(const char *word);

/* ---- options (options.c, options.def) ------------------------------------ */

/* Codes of options without a letter; above every character. */
enum {
	OPT_FIRST = 256, OPT_DIAGNOSTICS = OPT_FIRST, OPT_REMARKS,
	OPT_DEADLINE, OPT_DEVICE, OPT_CHECK, OPT_SCHEDULES, OPT_SEED,
	OPT_FILTER, OPT_CHECKED, OPT_EMIT, OPT_ARCH, OPT_TIME, OPT_REPORT,
	OPT_OUT, OPT_PRINT, OPT_JSON, OPT_EVIDENCE, OPT_DRAW, OPT_MAX_BYTES,
	OPT_OLDER_THAN, OPT_TRACE, OPT_STOP_AT, OPT_DIGESTS, OPT_LAUNCHES,
	OPT_BUDGET, OPT_JOBS, OPT_GPU, OPT_LIST, OPT_PATIENCE, OPT_EXPORT,
	OPT_STEPS, OPT_STDIO
};

struct cutec_option {
	int code;			/* its letter, or OPT_... */
	const char *word;		/* "device"; NULL: a letter alone */
	const char *argument;		/* NULL: it takes none */
	const char *purpose;
};

/* Option `i` of a command, NULL behind the last. */
const struct cutec_option *option_at(const char *command, size_t i);
/* Is its value one of some words? *length: of what names them. */
bool option_choices(const struct cutec_option *o, size_t *length);
/* Word `i` of "a|b|c", n bytes; NULL behind the last. */
const char *option_choice(const char *choices, size_t length, size_t i,
    size_t *n);
/* A line for each on standard output. */
void show_options(const char *command);
/*
 * As getopt_long(), of argv behind its first: the next option's code, -1 where
 * there is none. What is wrong was complained of: '?'.
 */
int option_next(const char *command, int argc, char **argv);

/* ---- options that several subcommands share (common.c) ------------------ */

enum { LIST_MAX = 256 };

struct list {
	const char *at[LIST_MAX];
	size_t count;
};

struct common {
	const char *command;
	struct list warnings, folders;
	cutejit_constant constants[LIST_MAX];
	size_t constant_count;
	enum report_form form;
	bool remarks;
	unsigned deadline_ms;
	cutejit_run_options run;
	cutejit_level level;
	bool checked, lineinfo;
};

/* Kind `i` of --emit (compile_output.c); NULL behind the last. */
const char *emit_kind_at(size_t i);

void common_init(struct common *c, const char *command);
/* Take option `code` if it is a common one: 0 taken, else the exit code to
 * leave with (help asked for: -1 for success). `value` is cut in place. */
int common_take(struct common *c, int code, char *value);
bool list_add(struct list *l, const char *text);
bool parse_unsigned(const char *text, uint64_t *out);
/* The number of an option, or the code to leave with. */
int take_number(const struct common *c, const char *what, const char *value,
    uint64_t most, uint64_t *out);

/* A context by the options; NULL: the exit code is in *code. */
cutejit_context *common_context(const struct common *c, int *code);
/* The module of a file ("-": standard input), with its report shown. */
cutejit_module *common_module(const struct common *c,
    cutejit_context *context, const char *path, int *code);
/* Show the report of a call that gave `status`; returns it. */
int common_status(const struct common *c, cutejit_context *context,
    cutejit_status status);

/*
 * Each file's module goes to `each`, whose code counts; the worst code of all
 * is returned.
 */
typedef int module_fn(const struct common *c, cutejit_context *context,
    cutejit_module *module, const char *path, void *user);
int common_modules(const struct common *c, char **files, int count,
    module_fn *each, void *user);
/* The code to leave with where nothing was run: a filter that nothing has in
 * its name is a mistake. */
int common_found(const struct common *c, const char *what, int code);
/* Kernel declaration i: the module's own, then those of its imports. */
const cutejit_member *any_member(const cutejit_module *module, size_t i);
/* Says why no kernel of the module has that name. */
int common_no_kernel(const struct common *c, cutejit_context *context,
    cutejit_module *module, const char *kernel);

/* {"schema": 1, KEY: list} to a file; false: complained. */
struct json_t;
bool write_json(const char *path, const char *key, struct json_t *list);

/* The whole of a file ("-": standard input), terminated; NULL: complained. */
char *read_file(const char *path, size_t *length);
/* Write a file by renaming a finished one ("-": standard output): what can be
 * made again; and a text of the user's, which stays through a loss of power. */
bool write_file(const char *path, const void *bytes, size_t length);
bool write_text(const char *path, const char *text, size_t length);

/* ---- arrays (npy.c) ----------------------------------------------------- */

/*
 * Read a .npy file. The tensor's memory, shape and strides belong to it until
 * npy_free. false: complained. numpy has no bf16 and no 8-bit floats: those are
 * read from and written as raw bytes of their width ('V2', 'V1'), whose type
 * is what `type` says ("" leaves them refused).
 */
int npy_read(const char *path, const char *type, cutejit_tensor *out);
void npy_free(cutejit_tensor *tensor);
bool npy_write(const char *path, const cutejit_tensor *tensor);

#endif
