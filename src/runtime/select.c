/*
 * Selecting: member by member, the program and the plan, until the contract
 * holds.
 *
 * Pattern and target are cheap to try. The rest of a contract is in the host
 * function, so the member is elaborated (or found on disk, image and all), and
 * its host function run; code is generated only for the one that fits.
 */
#include "select.h"

#include "cache.h"
#include "program.h"
#include "tune.h"

static int
level_of(cutejit_level level)
{
	return level == CUTEJIT_LEVEL_DEFAULT ? 3
	    : (int)level - (int)CUTEJIT_LEVEL_0;
}

cutejit_status
cj_recipe_begin(struct cj_work *f, const cutejit_compile_options *o,
    struct cj_recipe *r)
{
	memset(r, 0, sizeof *r);
	r->level = level_of(o->level);
	r->ptx = o->ptx;
	r->checked = o->checked != 0;
	r->lineinfo = o->lineinfo != 0;
	r->target = cj_target_default(f, o->target);
	return r->target != NULL ? CUTEJIT_OK : CUTEJIT_ERROR;
}

cutejit_status
cj_select_arguments(struct cj_work *f, struct cutejit_module *m,
    const char *kernel, const cutejit_argument *given, size_t count,
    struct cj_arguments *out)
{
	const struct cj_member_info *family;
	uint32_t members;

	memset(out, 0, sizeof *out);
	out->arena = &f->arena;
	family = cj_module_family(f, m, kernel, &members);
	if (family == NULL)
		return CUTEJIT_ERROR;
	if (count == 0)
		return CUTEJIT_OK;
	return cj_arguments_read(f, m, &family[0], given, count, out);
}

static void
drop(void *program)
{
	cj_program_drop(program);
}

enum verdict { TAKEN, PASSED, FAILED };

static enum verdict
try(struct cj_work *f, const struct cj_request *q, struct cj_choice *c,
    struct cj_selected *out)
{
	struct cj_misfit misfit;

	if (q->arguments == NULL)
		return TAKEN;
	switch (cj_plan_make(f, &f->arena, out->program, q->arguments,
	    q->on, &out->plan, &misfit)) {
	case CJ_FITS:
		return TAKEN;
	case CJ_FITS_NOT:
		cj_choice_pass(f, c, misfit.code, misfit.why);
		return PASSED;
	case CJ_FIT_FAILED:
		break;
	}
	return FAILED;
}

/* Code for the one that fits. */
static cutejit_status
generate(struct cj_work *f, struct cutejit_module *m,
    const struct cj_request *q, struct cj_selected *out)
{
	cutejit_status status = cj_program_advance(f, m, &out->recipe,
	    q->stage, out->program);

	if (status == CUTEJIT_OK && q->stage == CJ_STAGE_IMAGE)
		status = cj_spills_tell(f, out->program);
	return status;
}

/* A plan that left something open, with what its image helps to know. */
static enum verdict
try_again(struct cj_work *f, const struct cj_request *q,
    struct cj_choice *c, struct cj_selected *out, cutejit_status *status)
{
	if (q->on == NULL || q->stage != CJ_STAGE_IMAGE
	    || out->plan.open.len == 0)
		return TAKEN;
	*status = cj_image_load(f, q->on->cu, out->program);
	if (*status != CUTEJIT_OK)
		return FAILED;
	cj_resident_learn(f, q->on, out->program, &out->plan);
	return try(f, q, c, out);
}

/*
 * A member that has errors is none for arguments that its contract refuses: it
 * is passed over without a word, and the next one may take them. Where it
 * alone is meant they are told, whatever the arguments.
 */
static bool
refuses(struct cj_work *f, struct cutejit_module *m,
    const struct cj_request *q, struct cj_choice *c,
    const struct cj_recipe *r, const struct cj_diags *before)
{
	struct cj_plan plan = { 0 };
	struct cj_misfit misfit = { 0 };
	struct cj_program *p;
	enum cj_fit fit = CJ_FIT_FAILED;

	if (q->arguments == NULL || c->count == 1 || c->member >= 0
	    || f->diags.errors == before->errors)
		return false;
	p = cj_program_of_contract(f, m, r);
	if (p->ir != NULL)
		fit = cj_plan_make(f, &f->arena, p, q->arguments, q->on, &plan,
		    &misfit);
	if (fit == CJ_FITS_NOT) {
		cj_forget_messages(f, before);
		cj_choice_pass(f, c, misfit.code, misfit.why);
	}
	cj_undefer(f);
	cj_program_drop(p);
	return fit == CJ_FITS_NOT;
}

/* One member: 0 with the program held, or what became of it. */
static enum verdict
take(struct cj_work *f, struct cutejit_module *m, const struct cj_request *q,
    struct cj_choice *c, struct cj_selected *out, cutejit_status *status)
{
	bool early = q->arguments != NULL && q->stage > CJ_STAGE_IR;
	const struct cj_diags before = f->diags;
	enum verdict v;

	out->recipe.look_on_disk = early;
	*status = cj_program_get(f, m, &out->recipe, early ? CJ_STAGE_IR
	    : q->stage, &out->program);
	if (*status != CUTEJIT_OK)
		return *status == CUTEJIT_ERROR && refuses(f, m, q, c,
		    &out->recipe, &before) ? PASSED : FAILED;
	cj_defer(f, drop, out->program);
	memset(&out->plan, 0, sizeof out->plan);
	v = try(f, q, c, out);
	if (v == TAKEN) {
		*status = generate(f, m, q, out);
		v = *status == CUTEJIT_OK ? try_again(f, q, c, out, status)
		    : FAILED;
		if (v == TAKEN)
			return TAKEN;
	}
	if (v == FAILED && *status == CUTEJIT_OK)
		*status = CUTEJIT_ERROR;
	cj_undefer(f);
	cj_program_drop(out->program);
	return v;
}

static void
set_origin(struct cj_work *f, uint64_t hits, struct cj_selected *out)
{
	out->origin = atomic_load(&f->context->store->memory_hits) != hits
	    ? CUTEJIT_ORIGIN_MEMORY : out->program->origin;
}

cutejit_status
cj_select_from(struct cj_work *f, struct cutejit_module *m,
    const struct cj_request *q, struct cj_choice *choice,
    struct cj_selected *out)
{
	uint64_t hits = atomic_load(&f->context->store->memory_hits);
	cutejit_status status;

	out->recipe.is_fresh = q->is_fresh;
	choice->arguments = q->arguments;
	while (cj_choice_next(f, m, choice, &out->recipe, &status)) {
		switch (take(f, m, q, choice, out, &status)) {
		case TAKEN:
			set_origin(f, hits, out);
			return CUTEJIT_OK;
		case PASSED:
			break;
		case FAILED:
			return status;
		}
	}
	return status != CUTEJIT_OK ? status : cj_choice_fail(f, choice);
}

static cutejit_status
begin(struct cj_work *f, struct cutejit_module *m,
    const struct cj_request *q, const cutejit_compile_options *o,
    struct cj_choice *choice, struct cj_selected *out)
{
	cutejit_status status = cj_recipe_begin(f, o, &out->recipe);

	out->recipe.watched = q->watched;
	if (status != CUTEJIT_OK)
		return status;
	status = cj_choice_begin(f, m, q->kernel, o, choice);
	if (q->on_cpu)
		choice->target_is_given = false;
	return status;
}

static cutejit_status
select_and_note(struct cj_work *f, struct cutejit_module *m,
    const struct cj_request *q, struct cj_choice *choice,
    struct cj_selected *out)
{
	out->consts = choice->consts;
	out->const_count = choice->const_count;
	return cj_select_from(f, m, q, choice, out);
}

/* With the values that a search has found; without them if they do not fit. */
cutejit_status
cj_select(struct cj_work *f, struct cutejit_module *m,
    const struct cj_request *q, const cutejit_compile_options *o,
    struct cj_selected *out)
{
	const struct cj_diags before = f->diags;
	struct cj_choice choice;
	cutejit_status status = begin(f, m, q, o, &choice, out);

	if (status != CUTEJIT_OK)
		return status;
	if (q->gpu == NULL || q->arguments == NULL
	    || !cj_tuned_add(f, m, &choice, q->arguments, q->gpu))
		return select_and_note(f, m, q, &choice, out);
	status = select_and_note(f, m, q, &choice, out);
	if (status != CUTEJIT_ERROR)
		return status;
	cj_tuned_pass_over(f, m, &before, q->kernel);
	status = begin(f, m, q, o, &choice, out);
	return status != CUTEJIT_OK ? status
	    : select_and_note(f, m, q, &choice, out);
}

void
cj_select_end(struct cj_work *f, struct cj_selected *s)
{
	cj_undefer(f);
	cj_program_drop(s->program);
}
