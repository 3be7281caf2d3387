/*
 * Between cmd_compile.c and compile_report.c: one run of `cutec compile`.
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

/* --report=json on standard output: what was made, and of what size. */
void print_report(const struct compile *p);

#endif
