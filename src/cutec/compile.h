/*
 * Between cmd_compile.c and compile_*.c: one run of `cutec compile`.
 */
#ifndef COMPILE_H
#define COMPILE_H

#include "cutec.h"

enum { EMIT_MAX = 32, JOB_MAX = 1024 };

struct emit {
	const char *kind, *path;	/* path NULL: by the file's name */
	int row;			/* of the table of kinds */
};

enum { CHOICES = 16 };

struct job {
	const char *kernel, *target;
	unsigned member;
	/* consts that the command line leaves open: a value of each */
	cutejit_constant chosen[CHOICES];
	size_t chosen_count;
	cutejit_status status;
	cutejit_kernel *result;
	char *message;			/* if it failed */
	bool lacks_value;
	bool is_alone;			/* -k named this member */
};

struct compile {
	struct common c;
	const char *file, *out, *deps;
	char stem[3072], default_kind[16];
	struct list arches, kernels;
	struct emit emit[EMIT_MAX];
	size_t emit_count;
	bool wants_deps, next_is_deps, wants_time, wants_report;
	cutejit_context *context;
	cutejit_module *module;
	cutejit_until until;
	struct job jobs[JOB_MAX];
	size_t job_count, next;
};

/* ---- jobs (compile_jobs.c) ----------------------------------------------- */

/* What -k, --arch and -D ask for; then all of it is made, and what was not made
 * is dropped and told. Their status is the process's. */
int compile_collect_jobs(struct compile *p, cutejit_module *module);
void compile_run_jobs(struct compile *p);
int compile_drop_unmade(struct compile *p);

/* ---- outputs (compile_output.c, compile_report.c) ------------------------ */

/* Kinds of --emit: what they need, and what their files end in; the last one
 * has no name. */
struct compile_kind {
	const char *kind, *ending;
	bool of_text;			/* made from the text alone */
	cutejit_until until;
};
extern const struct compile_kind compile_kinds[];

/* Row of a kind; "ir:PASS" is the row of "ir". -1: there is none. */
int compile_find_kind(const char *kind);
/* What names begin with: the file's name without folder and ending. */
void compile_set_stem(struct compile *p);
/* What was made of the jobs; of the text: tokens and tree, which may be wrong,
 * and a rule for make, that the output depends on every text. */
int compile_write_outputs(struct compile *p);
int compile_write_text(const struct compile *p, const struct emit *e);
int compile_write_deps(const struct compile *p, const char *path);
/* --report=json on standard output: what was made, and of what size. */
void print_report(const struct compile *p);

#endif
