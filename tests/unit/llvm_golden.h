/*
 * The cases of tests/golden/llvm and the facts in front of them.
 */
#ifndef CJ_LLVM_GOLDEN_H
#define CJ_LLVM_GOLDEN_H

#include "ir/ir.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

struct cj_golden_fact {
	const char *target;	/* NULL: all */
	const char *verb;	/* "has", "lacks", "shared" */
	const char *text;
	int count;		/* -1: at least once */
};

struct cj_golden {
	const char *name, *text;
	size_t length;
	bool checked, lineinfo;
	int grid;		/* blocks to run, 0: none */
	int needs;		/* number of the first target, 0: any */
	CJ_VEC(struct cj_golden_fact) facts;
};

struct cj_golden_cases {
	struct cj_golden *at;
	uint32_t len, cap;
};

/* One line behind "//: ", which is cut into words. */
static inline void
cj_golden_line(struct cj_arena *a, struct cj_golden *c, char *line)
{
	struct cj_golden_fact f = { .count = -1 };
	char *rest = NULL, *word = strtok_r(line, " ", &rest);

	if (word == NULL)
		return;
	c->checked |= strcmp(word, "checked") == 0;
	c->lineinfo |= strcmp(word, "lineinfo") == 0;
	if (strcmp(word, "checked") == 0 || strcmp(word, "lineinfo") == 0)
		return;
	if (strcmp(word, "needs") == 0) {
		c->needs = atoi(rest + strlen("sm_"));
		return;
	}
	if (strcmp(word, "run") == 0) {
		c->grid = atoi(rest);
		return;
	}
	if (strcmp(word, "shared") == 0) {
		f.verb = word;
		f.count = atoi(rest);
	} else {
		f.target = strcmp(word, "*") == 0 ? NULL : word;
		f.verb = strtok_r(NULL, " ", &rest);
		if (strcmp(f.verb, "has") == 0) {
			word = strtok_r(NULL, " ", &rest);
			f.count = strcmp(word, "+") == 0 ? -1 : atoi(word);
		}
		f.text = rest;
	}
	*cj_push(a, &c->facts) = f;
}

static inline struct cj_golden
cj_golden_read(struct cj_arena *a, const char *path, const char *name)
{
	struct cj_golden c = { .name = cj_strdup(a, name) };
	FILE *f = fopen(path, "r");
	char *text, *p, *end;
	size_t room = 1 << 16;

	if (f == NULL)
		return c;
	text = cj_alloc(a, room);
	c.length = fread(text, 1, room - 1, f);
	fclose(f);
	c.text = text;
	for (p = cj_strdup(a, text); *p != '\0'; p = end + 1) {
		end = strchr(p, '\n');
		if (end == NULL)
			break;
		*end = '\0';
		if (strncmp(p, "//: ", 4) == 0)
			cj_golden_line(a, &c, p + 4);
	}
	return c;
}

/* All cases in the folder. */
static inline struct cj_golden_cases
cj_golden_find(struct cj_arena *a)
{
	const char *folder = getenv("CJ_GOLDEN_LLVM");
	struct cj_golden_cases cases = { 0 };
	struct dirent *e;
	size_t length;
	DIR *d;

	if (folder == NULL)
		folder = CJ_SRCDIR "/tests/golden/llvm";
	d = opendir(folder);
	while (d != NULL && (e = readdir(d)) != NULL) {
		length = strlen(e->d_name);
		if (length > 3 && strcmp(e->d_name + length - 3, ".ir") == 0)
			*cj_push(a, &cases) = cj_golden_read(a, cj_printf(a,
			    "%s/%s", folder, e->d_name), e->d_name);
	}
	if (d != NULL)
		closedir(d);
	return cases;
}

/* The case's module, verified, for a target. */
static inline struct cj_module *
cj_golden_module(struct cj_arena *a, const struct cj_golden *c,
    const struct cj_target *target)
{
	struct cj_strbuf error;
	struct cj_module *m;
	const char *wrong;

	cj_strbuf_init(&error, a);
	m = cj_module_read(a, c->text, c->length, &error);
	if (m == NULL)
		ck_abort_msg("%s: %s", c->name, error.text);
	if (target->number < m->target->number ||
	    (m->target->suffix[0] != '\0' &&
	    strcmp(target->name, m->target->name) != 0))
		return NULL;
	m->target = target;
	wrong = cj_module_verify(m);
	if (wrong != NULL)
		ck_abort_msg("%s: %s", c->name, wrong);
	return m;
}

#endif
