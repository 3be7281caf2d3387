/*
 * Jobs of `cutec compile`: every kernel (member of a family) for every
 * architecture and choice of open consts is one. They run side by side, since
 * most of a job's time is the assembler's.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"

static cutejit_until
needed(const struct compile *p)
{
	cutejit_until until = CUTEJIT_UNTIL_IR;
	size_t i;

	for (i = 0; i < p->emit_count; i++)
		if (compile_kinds[p->emit[i].row].until > until)
			until = compile_kinds[p->emit[i].row].until;
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

int
compile_collect_jobs(struct compile *p, cutejit_module *module)
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

void
compile_run_jobs(struct compile *p)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[16];
	size_t n = 0, wanted = p->job_count;

	p->until = needed(p);
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
int
compile_drop_unmade(struct compile *p)
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
