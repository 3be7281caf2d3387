/*
 * cutec compile: kernels to PTX, cubin or any stage before.
 *
 * Every kernel (member of a family) for every architecture is a job. Jobs run
 * side by side, since most of a job's time is the assembler's; their outputs
 * are written in order afterwards.
 */
#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"

/* Kinds of --emit: what they need, and what their files end in. */
static const struct {
	const char *kind, *ending;
	bool of_text;			/* made from the text alone */
	cutejit_until until;
} kinds[] = {
	{ "tokens", ".tokens", true, CUTEJIT_UNTIL_IR },
	{ "ast", ".ast", true, CUTEJIT_UNTIL_IR },
	{ "ir", ".ir", false, CUTEJIT_UNTIL_IR },
	{ "host", ".host", false, CUTEJIT_UNTIL_IR },
	{ "llvm", ".ll", false, CUTEJIT_UNTIL_PTX },
	{ "ptx", ".ptx", false, CUTEJIT_UNTIL_PTX },
	{ "cubin", ".cubin", false, CUTEJIT_UNTIL_CUBIN },
	{ "sass", ".sass", false, CUTEJIT_UNTIL_CUBIN },
	{ "deps", ".d", true, CUTEJIT_UNTIL_IR }
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *
emit_kind_at(size_t i)
{
	return i < KINDS ? kinds[i].kind : NULL;
}

/* Row of a kind; "ir:PASS" is the row of "ir". -1: there is none. */
static int
find_kind(const char *kind)
{
	int i;

	for (i = 0; i < KINDS; i++)
		if (strcmp(kind, kinds[i].kind) == 0 ||
		    (strncmp(kind, "ir:", 3) == 0 &&
		    strcmp(kinds[i].kind, "ir") == 0))
			return i;
	return -1;
}

/* ---- reading the command line ------------------------------------------- */

static int
no_kind(const char *item)
{
	char known[120];
	size_t i, n = 0;

	for (i = 0; i < KINDS && n < sizeof known; i++)
		n += (size_t)snprintf(known + n, sizeof known - n, "%s %s",
		    i == 0 ? "" : ",", kinds[i].kind);
	return usage_error("compile", "there is nothing called \"%s\" to emit; "
	    "there are%s", item, known);
}

static int
add_emit(struct compile *p, char *item)
{
	char *equals = strchr(item, '=');
	struct emit *e = &p->emit[p->emit_count];

	if (equals != NULL)
		*equals = '\0';
	if (find_kind(item) < 0)
		return no_kind(item);
	if (p->emit_count == EMIT_MAX)
		return usage_error("compile", "too many kinds to emit");
	e->kind = item;
	e->path = equals != NULL ? equals + 1 : NULL;
	e->row = find_kind(item);
	p->emit_count++;
	return 0;
}

/* A list with commas between, cut in place. */
static int
split(char *value, struct compile *p,
    int (*add)(struct compile *p, char *item))
{
	char *item, *rest;
	int bad = 0;

	if (*value == '\0')
		return usage_error("compile", "a list has no items");
	for (item = strtok_r(value, ",", &rest); item != NULL && bad == 0;
	    item = strtok_r(NULL, ",", &rest))
		bad = add(p, item);
	return bad;
}

static int
add_arch(struct compile *p, char *item)
{
	const cutejit_target *t;
	char known[400];
	size_t i, n;

	for (i = 0; (t = cutejit_target_at(i)) != NULL; i++)
		if (strcmp(t->name, item) == 0)
			return list_add(&p->arches, item) ? 0 :
			    usage_error("compile", "too many targets");
	n = (size_t)snprintf(known, sizeof known, "there are");
	for (i = 0; (t = cutejit_target_at(i)) != NULL && n < sizeof known; i++)
		n += (size_t)snprintf(known + n, sizeof known - n, "%s %s",
		    i == 0 ? "" : ",", t->name);
	return usage_error("compile", "there is no target \"%s\"; %s", item,
	    known);
}

static int
take(struct compile *p, int o, char *value)
{
	switch (o) {
	case 'o':
		p->out = value;
		return 0;
	case 'k':
		return list_add(&p->kernels, value) ? 0 :
		    usage_error("compile", "too many -k");
	case 'M':
		p->wants_deps = true;
		p->next_is_deps = *value == 'F';
		return 0;
	case OPT_EMIT:
		return split(value, p, add_emit);
	case OPT_ARCH:
		return split(value, p, add_arch);
	case OPT_TIME:
		p->wants_time = true;
		return 0;
	case OPT_REPORT:
		p->wants_report = true;
		return 0;
	default:
		return common_take(&p->c, o, value);
	}
}

static int
read_options(struct compile *p, int argc, char **argv)
{
	int o, bad;

	while ((o = option_next("compile", argc, argv)) != -1) {
		bad = take(p, o, optarg);
		if (bad != 0)
			return bad;
		if (p->next_is_deps) {
			if (optind == argc)
				return usage_error("compile",
				    "-MF needs a file");
			p->deps = argv[optind++];
			p->next_is_deps = false;
		}
	}
	if (argc - optind != 1)
		return usage_error("compile", argc == optind ?
		    "a file is needed" : "one file at a time");
	p->file = argv[optind];
	return 0;
}

/* ---- names of outputs --------------------------------------------------- */

/* The file's name without folder and ending. */
static void
set_stem(struct compile *p)
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

/* Without --emit: what the ending of -o says, else PTX. */
static int
default_emit(struct compile *p)
{
	const char *dot = p->out != NULL ? strrchr(p->out, '.') : NULL;
	const char *kind = "ptx";
	int i;

	for (i = 0; dot != NULL && i < KINDS; i++)
		if (strcmp(dot, kinds[i].ending) == 0)
			kind = kinds[i].kind;
	snprintf(p->default_kind, sizeof p->default_kind, "%s", kind);
	return add_emit(p, p->default_kind);
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

	for (i = 0; stem != p->stem && i < KINDS; i++) {
		ending = strlen(kinds[i].ending);
		if (n > ending && strcmp(stem + n - ending,
		    kinds[i].ending) == 0) {
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
	const char *ending = kinds[e->row].ending, *stem;
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

/* ---- jobs --------------------------------------------------------------- */

static cutejit_until
needed(const struct compile *p)
{
	cutejit_until until = CUTEJIT_UNTIL_IR;
	size_t i;

	for (i = 0; i < p->emit_count; i++)
		if (kinds[p->emit[i].row].until > until)
			until = kinds[p->emit[i].row].until;
	return until;
}

/* "relu" or "relu[1]": does -k name this member, and it alone? */
static bool
is_named(const struct compile *p, const cutejit_member *m, bool *alone)
{
	char with_number[512];
	size_t i;

	snprintf(with_number, sizeof with_number, "%s[%u]", m->kernel,
	    m->member);
	*alone = false;
	for (i = 0; i < p->kernels.count; i++) {
		*alone = strcmp(p->kernels.at[i], with_number) == 0;
		if (*alone || strcmp(p->kernels.at[i], m->kernel) == 0)
			return true;
	}
	return p->kernels.count == 0;
}

/* Those of imports are compiled where -k names them. */
static const cutejit_member *
next_member(const struct compile *p, cutejit_module *module, size_t i)
{
	return p->kernels.count != 0 ? any_member(module, i) :
	    cutejit_module_member(module, i);
}

static bool
is_given(const struct compile *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->c.constant_count; i++)
		if (strcmp(p->c.constants[i].name, name) == 0)
			return true;
	return false;
}

/* The next choice of values for a member's open consts: the last runs fastest.
 * `turn` counts for each of them; false: that was the last. */
static bool
next_choice(const cutejit_parameter *const *open, size_t count, size_t *turn)
{
	while (count-- > 0) {
		if (++turn[count] < open[count]->value_count)
			return true;
		turn[count] = 0;
	}
	return false;
}

/* A job for a member, a target and a choice of values. */
static int
add_job(struct compile *p, const cutejit_member *m, const char *target,
    bool alone)
{
	struct job *job = &p->jobs[p->job_count];

	if (p->job_count == JOB_MAX)
		return usage_error("compile", "more than %d kernels; choose "
		    "with -k and -D", JOB_MAX);
	job->kernel = m->kernel;
	job->member = m->member;
	job->is_alone = alone;
	job->target = target;
	p->job_count++;
	return 0;
}

/* One for each value of each const that has a set or a range, and neither a
 * default nor a value of -D. */
static int
add_choices(struct compile *p, const cutejit_member *m, const char *target,
    bool alone)
{
	const cutejit_parameter *open[CHOICES];
	size_t turn[CHOICES] = { 0 }, count = 0, i;
	struct job *job;
	int code;

	for (i = 0; i < m->parameter_count && count < CHOICES; i++)
		if (m->parameters[i].value_count != 0 &&
		    !is_given(p, m->parameters[i].name))
			open[count++] = &m->parameters[i];
	do {
		code = add_job(p, m, target, alone);
		if (code != 0)
			return code;
		job = &p->jobs[p->job_count - 1];
		job->chosen_count = count;
		for (i = 0; i < count; i++) {
			job->chosen[i].name = open[i]->name;
			job->chosen[i].text = open[i]->values[turn[i]];
		}
	} while (next_choice(open, count, turn));
	return 0;
}

static int
collect_jobs(struct compile *p, cutejit_module *module)
{
	size_t arches = p->arches.count != 0 ? p->arches.count : 1, i, a;
	const cutejit_member *m;
	bool alone;
	int code;

	for (i = 0; (m = next_member(p, module, i)) != NULL; i++) {
		if (!is_named(p, m, &alone))
			continue;
		for (a = 0; a < arches; a++) {
			code = add_choices(p, m, p->arches.count != 0 ?
			    p->arches.at[a] : NULL, alone);
			if (code != 0)
				return code;
		}
	}
	if (p->job_count != 0)
		return 0;
	if (p->kernels.count != 0)
		return common_no_kernel(&p->c, p->context, module,
		    p->kernels.at[0]);
	complain("%s: there is no kernel in it", p->file);
	return CUTEJIT_ERROR;
}

static void
run_job(struct compile *p, struct job *job)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_constant *all;
	const cutejit_report *r;
	size_t i;

	o.target = job->target;
	o.until = p->until;
	o.level = p->c.level;
	o.checked = p->c.checked;
	o.lineinfo = p->c.lineinfo;
	o.member = job->member + 1;
	all = calloc(p->c.constant_count + job->chosen_count + 1,
	    sizeof *all);
	if (all == NULL) {
		job->status = CUTEJIT_LIMIT;
		job->message = strdup("cutec: there is no memory\n");
		return;
	}
	for (i = 0; i < p->c.constant_count; i++)
		all[o.constant_count++] = p->c.constants[i];
	for (i = 0; i < job->chosen_count; i++)
		all[o.constant_count++] = job->chosen[i];
	o.constants = all;
	job->status = cutejit_compile(p->module, job->kernel, &o,
	    &job->result);
	free(all);
	if (job->status == CUTEJIT_OK)
		return;
	/* the report belongs to this thread, and ends with it */
	r = cutejit_context_report(p->context);
	job->message = report_text(r, p->c.form);
	for (i = 0; i < cutejit_report_count(r); i++)
		if (strcmp(cutejit_report_at(r, i)->code, "contract") == 0)
			job->lacks_value = true;
}

static void *
work(void *argument)
{
	struct compile *p = argument;

	for (;;) {
		size_t i = __atomic_fetch_add(&p->next, 1, __ATOMIC_RELAXED);

		if (i >= p->job_count)
			return NULL;
		run_job(p, &p->jobs[i]);
	}
}

static void
run_jobs(struct compile *p)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[16];
	size_t n = 0, wanted = p->job_count;

	if (cores > 0 && wanted > (size_t)cores)
		wanted = (size_t)cores;
	if (wanted > 16)
		wanted = 16;
	while (n + 1 < wanted &&
	    pthread_create(&thread[n], NULL, work, p) == 0)
		n++;
	work(p);
	while (n-- > 0)
		pthread_join(thread[n], NULL);
}

/* Why a kernel was not made; without memory there may be no report. */
static void
show_message(const struct job *job)
{
	if (job->message != NULL && *job->message != '\0')
		fputs(job->message, stderr);
	else
		complain("%s: %s", job->kernel,
		    cutejit_status_text(job->status));
}

/*
 * A member whose contract lacks values, or refuses those it has, is passed
 * over if -k did not ask for it alone and another one could be made.
 */
static int
drop_unmade(struct compile *p)
{
	int worst = 0;
	size_t i, n = 0, made = 0;
	bool is_wanted;

	for (i = 0; i < p->job_count; i++)
		made += p->jobs[i].status == CUTEJIT_OK;
	for (i = 0; i < p->job_count; i++) {
		struct job *job = &p->jobs[i];

		if (job->status == CUTEJIT_OK) {
			p->jobs[n++] = *job;
			continue;
		}
		is_wanted = made == 0 || !job->lacks_value || job->is_alone;
		if (is_wanted && (int)job->status > worst)
			worst = (int)job->status;
		if (is_wanted || p->c.remarks)
			show_message(job);
		free(job->message);
	}
	p->job_count = n;
	return worst;
}

/* ---- outputs ------------------------------------------------------------ */

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

static int
write_outputs(struct compile *p)
{
	int code, worst = 0;
	size_t i, k;

	for (i = 0; i < p->job_count; i++) {
		struct job *job = &p->jobs[i];

		/* what is off is not in it */
		show_report(cutejit_kernel_report(job->result), p->c.form);
		for (k = 0; k < p->emit_count; k++) {
			if (kinds[p->emit[k].row].of_text)
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

/* tokens and ast: of the text, right or wrong. */
static int
write_text_stage(const struct compile *p, const struct emit *e)
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
	    kinds[e->row].ending);
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

/* A rule for make: the output depends on every text. */
static int
write_deps(const struct compile *p, const char *path)
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

static int
compile_kernels(struct compile *p)
{
	int code, worst;

	p->until = needed(p);
	code = collect_jobs(p, p->module);
	if (code != 0)
		return code;
	run_jobs(p);
	worst = drop_unmade(p);
	code = write_outputs(p);
	return worst != 0 ? worst : code;
}

static int
compile_file(struct compile *p)
{
	bool wants_kernels = p->wants_report || p->wants_time;
	int code, worst = 0;
	size_t i;

	for (i = 0; i < p->emit_count; i++) {
		const struct emit *e = &p->emit[i];

		if (!kinds[e->row].of_text) {
			wants_kernels = true;
		} else if (strcmp(e->kind, "deps") == 0) {
			p->wants_deps = true;
			p->deps = e->path != NULL ? e->path : p->deps;
		} else {
			code = write_text_stage(p, e);
			if (code != 0)
				worst = code;
		}
	}
	if (worst != 0 || (!wants_kernels && !p->wants_deps))
		return worst;
	p->module = common_module(&p->c, p->context, p->file, &code);
	if (p->module == NULL)
		return code;
	if (p->wants_deps)
		worst = write_deps(p, p->deps);
	if (wants_kernels) {
		code = compile_kernels(p);
		worst = code != 0 ? code : worst;
	}
	cutejit_module_destroy(p->module);
	return worst;
}

int
cmd_compile(int argc, char **argv)
{
	struct compile *p = calloc(1, sizeof *p);
	int code;

	if (p == NULL)
		return no_memory();
	common_init(&p->c, "compile");
	code = read_options(p, argc, argv);
	if (code == 0)
		set_stem(p);
	if (code == 0 && p->emit_count == 0)
		code = default_emit(p);
	if (code == 0) {
		p->context = common_context(&p->c, &code);
		if (p->context != NULL)
			code = compile_file(p);
		cutejit_context_destroy(p->context);
	}
	free(p);
	return code < 0 ? 0 : code;
}
