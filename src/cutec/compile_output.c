/*
 * What `cutec compile` writes: kinds, names of files, artifacts and rules for
 * make.
 */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"

const struct compile_kind compile_kinds[] = {
	{ "tokens", ".tokens", true, CUTEJIT_UNTIL_IR },
	{ "ast", ".ast", true, CUTEJIT_UNTIL_IR },
	{ "ir", ".ir", false, CUTEJIT_UNTIL_IR },
	{ "host", ".host", false, CUTEJIT_UNTIL_IR },
	{ "llvm", ".ll", false, CUTEJIT_UNTIL_PTX },
	{ "ptx", ".ptx", false, CUTEJIT_UNTIL_PTX },
	{ "cubin", ".cubin", false, CUTEJIT_UNTIL_CUBIN },
	{ "sass", ".sass", false, CUTEJIT_UNTIL_CUBIN },
	{ "deps", ".d", true, CUTEJIT_UNTIL_IR },
	{ NULL, NULL, false, CUTEJIT_UNTIL_IR }
};

const char *
emit_kind_at(size_t i)
{
	return compile_kinds[i].kind;
}

int
compile_find_kind(const char *kind)
{
	int i;

	for (i = 0; compile_kinds[i].kind != NULL; i++)
		if (strcmp(kind, compile_kinds[i].kind) == 0 ||
		    (strncmp(kind, "ir:", 3) == 0 &&
		    strcmp(compile_kinds[i].kind, "ir") == 0))
			return i;
	return -1;
}

/* ---- names of outputs --------------------------------------------------- */

void
compile_set_stem(struct compile *p)
{
	const char *slash = strrchr(p->file, '/');
	const char *name = slash != NULL ? slash + 1 : p->file;
	char *dot;

	snprintf(p->stem, sizeof p->stem, "%s",
	    strcmp(p->file, "-") == 0 ? "stdin" : name);
	dot = strrchr(p->stem, '.');
	if (dot != NULL && dot != p->stem)
		*dot = '\0';
}

/* What names of several files begin with, and how much of it: what the user
 * named goes without an ending of ours. */
static const char *
stem_for(const struct compile *p, const char *given, int *length)
{
	const char *stem = given != NULL ? given :
	    p->out != NULL ? p->out : p->stem;
	size_t n = strlen(stem), ending;
	int i;

	for (i = 0; stem != p->stem && compile_kinds[i].kind != NULL; i++) {
		ending = strlen(compile_kinds[i].ending);
		if (n > ending && strcmp(stem + n - ending,
		    compile_kinds[i].ending) == 0) {
			n -= ending;
			break;
		}
	}
	*length = n > INT_MAX ? INT_MAX : (int)n;
	return stem;
}

/* relu, relu_m1, relu_m1.stages_2: what a file name bears of a value. */
static void
entry_name(const struct job *job, char *out, size_t room)
{
	size_t i, at;
	const char *c;

	snprintf(out, room, job->member == 0 ? "%s" : "%s_m%u", job->kernel,
	    job->member);
	for (i = 0; i < job->chosen_count; i++) {
		at = strlen(out);
		snprintf(out + at, room - at, ".%s_", job->chosen[i].name);
		at = strlen(out);
		for (c = job->chosen[i].text; *c != '\0' && at + 1 < room;
		    c++)
			if (isalnum((unsigned char)*c) || *c == '-')
				out[at++] = *c;
			else if (at > 0 && out[at - 1] != '_')
				out[at++] = '_';
		out[at] = '\0';
	}
}

/* STEM.ptx; with several jobs STEM.KERNEL.sm_90a.ptx, as far as they differ. */
static void
output_name(const struct compile *p, const struct emit *e,
    const struct job *job, char *name, size_t room)
{
	const char *given = e->path != NULL ? e->path :
	    p->emit_count == 1 ? p->out : NULL;
	const char *ending = compile_kinds[e->row].ending, *stem;
	char entry[1024];
	int n;

	if (given != NULL && (p->job_count == 1 || strcmp(given, "-") == 0)) {
		snprintf(name, room, "%s", given);
		return;
	}
	stem = stem_for(p, given, &n);
	entry_name(job, entry, sizeof entry);
	if (p->job_count == 1)
		snprintf(name, room, "%.*s%s", n, stem, ending);
	else if (p->arches.count > 1)
		snprintf(name, room, "%.*s.%s.%s%s", n, stem, entry,
		    job->target, ending);
	else
		snprintf(name, room, "%.*s.%s%s", n, stem, entry, ending);
}

/* ---- writing ------------------------------------------------------------ */

static int
write_artifact(const struct compile *p, const struct emit *e, struct job *job)
{
	const void *bytes;
	char name[4096];
	size_t length;
	int code = common_status(&p->c, p->context,
	    cutejit_kernel_artifact(job->result, e->kind, &bytes, &length));

	if (code != 0)
		return code;
	output_name(p, e, job, name, sizeof name);
	return write_file(name, bytes, length) ? 0 : CUTEJIT_MISSING;
}

static void
show_times(const struct job *job)
{
	const cutejit_kernel_info *about = cutejit_kernel_about(job->result);
	const cutejit_phase *phase;
	size_t i;

	fprintf(stderr, "%s[%u] %s:", job->kernel, job->member,
	    about->target);
	for (i = 0; (phase = cutejit_kernel_phase(job->result, i)) != NULL;
	    i++)
		fprintf(stderr, " %s %.2f ms", phase->name, phase->ms);
	fputc('\n', stderr);
}

int
compile_write_outputs(struct compile *p)
{
	int code, worst = 0;
	size_t i, k;

	for (i = 0; i < p->job_count; i++) {
		struct job *job = &p->jobs[i];

		/* what is off is not in it */
		show_report(cutejit_kernel_report(job->result), p->c.form);
		for (k = 0; k < p->emit_count; k++) {
			if (compile_kinds[p->emit[k].row].of_text)
				continue;
			code = write_artifact(p, &p->emit[k], job);
			if (code != 0)
				worst = code;
		}
		if (p->wants_time)
			show_times(job);
	}
	if (p->wants_report)
		print_report(p);
	for (i = 0; i < p->job_count; i++)
		cutejit_kernel_destroy(p->jobs[i].result);
	return worst;
}

int
compile_write_text(const struct compile *p, const struct emit *e)
{
	const char *out;
	char name[4096];
	size_t length;
	char *text = read_file(p->file, &length);
	int code;

	if (text == NULL)
		return CUTEJIT_MISSING;
	code = common_status(&p->c, p->context, cutejit_emit_text(p->context,
	    strcmp(p->file, "-") == 0 ? "<stdin>" : p->file, text, length,
	    e->kind, &out));
	free(text);
	if (out == NULL)
		return code;
	snprintf(name, sizeof name, "%s%s", e->path != NULL ? e->path :
	    p->out != NULL && p->emit_count == 1 ? p->out : p->stem,
	    e->path != NULL || (p->out != NULL && p->emit_count == 1) ? "" :
	    compile_kinds[e->row].ending);
	if (!write_file(name, out, strlen(out)))
		return CUTEJIT_MISSING;
	return code;
}

/* A name as make(1) reads it in a rule. */
static void
put_name(FILE *f, const char *name)
{
	for (; *name != '\0'; name++) {
		if (*name == ' ' || *name == '\t' || *name == '#')
			fputc('\\', f);
		if (*name == '$')
			fputc('$', f);
		fputc(*name, f);
	}
}

int
compile_write_deps(const struct compile *p, const char *path)
{
	char name[4096], *rule = NULL;
	const char *file;
	size_t length, i;
	bool good;
	FILE *f = open_memstream(&rule, &length);

	if (f == NULL)
		return no_memory();
	put_name(f, p->out != NULL ? p->out : p->stem);
	fputs(p->out != NULL ? ":" : ".ptx:", f);
	for (i = 0; (file = cutejit_module_file(p->module, i)) != NULL; i++) {
		fputs(" \\\n  ", f);
		put_name(f, file);
	}
	fputc('\n', f);
	good = !ferror(f);
	good = fclose(f) == 0 && good && rule != NULL;
	snprintf(name, sizeof name, "%s%s", path != NULL ? path : p->stem,
	    path != NULL ? "" : ".d");
	if (good && !write_file(name, rule, length)) {
		free(rule);
		return CUTEJIT_MISSING;
	}
	free(rule);
	return good ? 0 : no_memory();
}
