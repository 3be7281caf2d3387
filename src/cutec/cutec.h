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

#define COMMAND(name, synopsis, purpose)				\
	int cmd_##name(int argc, char **argv);
#include "commands.def"
#undef COMMAND

/* ---- messages (message.c) ----------------------------------------------- */

enum report_form { REPORT_TEXT, REPORT_JSON, REPORT_SARIF };

/* "cutec: warning: ..." and "cutec: error: ...", on standard error. */
void caution(const char *text);
int no_memory(void);		/* the code to leave with */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What stands in front of that, with its colour: "cutec: error". */
const char *complainer(void);
/* The same about wrong use, with the subcommand's usage; returns 2. */
int usage_error(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The usage alone, where getopt has said what is wrong. */
int usage_hint(const char *command);
/* Print what --help shows of a subcommand; returns 0. */
int show_help(const char *command);
/* May colour go to this stream? A terminal, and NO_COLOR is not set. */
bool wants_colour(FILE *stream);
/* A report in a form, to be freed; NULL: there is no memory. */
char *report_text(const cutejit_report *report, enum report_form form);
/* On standard error. */
void show_report(const cutejit_report *report, enum report_form form);
bool report_form_find(const char *text, enum report_form *out);

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

/* Codes of long options; above every character. */
enum {
	OPT_HELP = 256, OPT_DIAGNOSTICS, OPT_REMARKS, OPT_DEADLINE, OPT_DEVICE,
	OPT_CHECK, OPT_SCHEDULES, OPT_SEED, OPT_FILTER, OPT_CHECKED,
	OPT_LINEINFO, OPT_EMIT, OPT_ARCH, OPT_TIME, OPT_REPORT, OPT_OUT,
	OPT_PRINT, OPT_JSON, OPT_EVIDENCE, OPT_MF, OPT_MD, OPT_DRAW,
	OPT_MAX_BYTES, OPT_OLDER_THAN, OPT_TRACE, OPT_STOP_AT, OPT_DIGESTS,
	OPT_LAUNCHES, OPT_BUDGET, OPT_JOBS, OPT_GPU, OPT_LIST, OPT_PATIENCE,
	OPT_EXPORT, OPT_STEPS
};
#define COMMON_SHORT	"D:I:O:W:hg"
#define COMMON_LONG							\
	{ "help", no_argument, NULL, OPT_HELP },			\
	{ "diagnostics", required_argument, NULL, OPT_DIAGNOSTICS },	\
	{ "remarks", no_argument, NULL, OPT_REMARKS },			\
	{ "deadline", required_argument, NULL, OPT_DEADLINE },		\
	{ "checked", no_argument, NULL, OPT_CHECKED },			\
	{ "lineinfo", no_argument, NULL, OPT_LINEINFO }
#define RUN_LONG							\
	{ "device", required_argument, NULL, OPT_DEVICE },		\
	{ "check", required_argument, NULL, OPT_CHECK },		\
	{ "schedules", required_argument, NULL, OPT_SCHEDULES },	\
	{ "seed", required_argument, NULL, OPT_SEED },			\
	{ "steps", required_argument, NULL, OPT_STEPS },		\
	{ "filter", required_argument, NULL, OPT_FILTER }

void common_init(struct common *c, const char *command);
/* Take option `code` if it is a common one: 0 taken, else the exit code to
 * leave with (help asked for: -1 for success). `value` is cut in place. */
int common_take(struct common *c, int code, char *value);
bool list_add(struct list *l, const char *text);
bool parse_unsigned(const char *text, uint64_t *out);

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
