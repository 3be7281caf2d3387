/*
 * Which member of a family: the first whose target and pattern fit.
 *
 * Members that do not are remembered with their reason. The search can go on
 * behind a member whose contract turns out not to hold.
 */
#include "device.h"
#include "runtime.h"

const struct cj_target *
cj_target_default(struct cj_work *f, const char *name)
{
	const struct cj_target *t;
	cutejit_gpu gpu;

	if (name == NULL) {
		if (cj_gpu_probe(f, 0, &gpu) && gpu.target[0] != '\0')
			return cj_target_find(gpu.target);
		t = cj_target_find("sm_90a");
		assert(t != NULL && "a row of target.def");
		return t;
	}
	t = cj_target_find(name);
	if (t == NULL) {
		cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_UNKNOWN_TARGET,
		    "there is no target \"%s\"", name);
		cj_say_help(f, "\"cutec targets\" lists those there are.");
	}
	return t;
}

static void
set_consts(struct cj_work *f, const cutejit_compile_options *o,
    struct cj_choice *out)
{
	size_t i;

	out->const_count = (uint32_t)o->constant_count;
	out->consts = CJ_NEWS(&f->arena, struct cj_const_argument,
	    o->constant_count);
	for (i = 0; i < o->constant_count; i++) {
		out->consts[i].name = o->constants[i].name;
		out->consts[i].text = o->constants[i].text;
	}
}

static bool
consts_are_right(const cutejit_compile_options *o)
{
	size_t i;

	if (o->constant_count > 65535
	    || (o->constants == NULL && o->constant_count != 0))
		return false;
	for (i = 0; i < o->constant_count; i++)
		if (o->constants[i].name == NULL
		    || o->constants[i].text == NULL)
			return false;
	return true;
}

cutejit_status
cj_choice_begin(struct cj_work *f, struct cutejit_module *m,
    const char *kernel, const cutejit_compile_options *o,
    struct cj_choice *out)
{
	memset(out, 0, sizeof *out);
	out->kernel = kernel;
	out->member = (int)o->member - 1;
	out->target_is_given = o->target != NULL;
	out->family = cj_module_family(f, m, kernel, &out->count);
	if (out->family == NULL)
		return CUTEJIT_ERROR;
	if (!consts_are_right(o))
		return cj_fail(f, CUTEJIT_USAGE, CJ_DIAG_USAGE,
		    "a compile-time argument has no name or no text");
	if (o->member > out->count)
		return cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_UNKNOWN_KERNEL,
		    "the family \"%s\" has %u member%s, there is no number %u",
		    kernel, out->count, out->count == 1 ? "" : "s",
		    o->member - 1);
	set_consts(f, o, out);
	return CUTEJIT_OK;
}

/* ---- targets of a member ------------------------------------------------- */

static bool
serves(struct cutejit_module *m, const struct cj_member_info *member,
    const struct cj_target *target)
{
	const struct cj_list *list = &member->node->kernel.targets;
	uint32_t i;

	for (i = 0; i < list->count; i++)
		if (cj_target_serves(target, cj_name_text(&m->names,
		    list->at[i]->name.name)))
			return true;
	return list->count == 0;
}

/* A target that the member names and that we know. */
static const struct cj_target *
own_target(struct cutejit_module *m, const struct cj_member_info *member)
{
	const struct cj_list *list = &member->node->kernel.targets;
	const struct cj_target *t = NULL;
	uint32_t i;

	for (i = 0; i < list->count && t == NULL; i++)
		t = cj_target_find(cj_name_text(&m->names,
		    list->at[i]->name.name));
	return t;
}

static const char *
target_text(struct cj_work *f, struct cutejit_module *m,
    const struct cj_member_info *member, const struct cj_target *target)
{
	const struct cj_list *list = &member->node->kernel.targets;
	struct cj_strbuf b;
	uint32_t i;

	cj_strbuf_init(&b, &f->arena);
	cj_strbuf_puts(&b, "needs target ");
	for (i = 0; i < list->count; i++)
		cj_strbuf_printf(&b, "%s%s", i != 0 ? " or " : "",
		    cj_name_text(&m->names, list->at[i]->name.name));
	cj_strbuf_printf(&b, ", got %s", target->name);
	return b.text;
}

/* ---- the search ---------------------------------------------------------- */

static struct cj_misfit_note *
pass_over(struct cj_work *f, struct cj_choice *c, uint32_t member,
    struct cj_span span, enum cj_code code, const char *why)
{
	struct cj_misfit_note *n = cj_push(&f->arena, &c->misfits);

	n->member = member;
	n->span = span;
	n->code = code;
	n->why = why;
	n->is_target = false;
	return n;
}

void
cj_choice_pass(struct cj_work *f, struct cj_choice *c, enum cj_code code,
    const char *why)
{
	assert(c->next > 0 && "a member was chosen");
	pass_over(f, c, c->next - 1, c->family[c->next - 1].span, code, why);
}

static const struct cj_binding *
bind(struct cj_work *f, struct cutejit_module *m, const struct cj_choice *c,
    const struct cj_member_info *member, const char **why,
    struct cj_span *span)
{
	const struct cj_arguments *a = c->arguments;
	const struct cj_binding *b;

	*why = NULL;
	*span = member->span;
	cj_module_enter(f, m);
	b = cj_bind(&f->arena, m->unit, member, c->consts, c->const_count,
	    a != NULL ? a->actuals : NULL, a != NULL ? a->count : 0,
	    &f->diags, why, span);
	cj_module_leave(f, m);
	return b;
}

static bool
try_member(struct cj_work *f, struct cutejit_module *m, struct cj_choice *c,
    uint32_t i, struct cj_recipe *r)
{
	const struct cj_member_info *member = &c->family[i];
	const struct cj_target *target = r->target;
	struct cj_span span;
	const char *why;

	if (!serves(m, member, target)) {
		if (!c->target_is_given)
			target = own_target(m, member);
		if (target == NULL || c->target_is_given) {
			pass_over(f, c, i, member->span, CJ_DIAG_CONTRACT,
			    target_text(f, m, member, r->target))
			    ->is_target = true;
			return false;
		}
	}
	r->binding = bind(f, m, c, member, &why, &span);
	if (r->binding == NULL) {
		pass_over(f, c, i, span, CJ_DIAG_CONTRACT, why != NULL ? why
		    : "its compile-time arguments are wrong");
		return false;
	}
	r->target = target;
	r->member = member;
	r->binding_text = cj_binding_text(r->binding);
	return true;
}

bool
cj_choice_next(struct cj_work *f, struct cutejit_module *m,
    struct cj_choice *c, struct cj_recipe *r, cutejit_status *status)
{
	const struct cj_target *target = r->target;
	uint32_t errors = f->diags.errors;

	*status = CUTEJIT_OK;
	while (c->next < c->count) {
		uint32_t i = c->next++;

		if (c->member >= 0 && i != (uint32_t)c->member)
			continue;
		r->target = target;
		if (try_member(f, m, c, i, r))
			return true;
		if (f->diags.errors != errors) {
			*status = CUTEJIT_ERROR;
			return false;
		}
		cj_check_time(f);
	}
	return false;
}

/* The first misfit from `i` on, or the end, whose reason is `why` (is_same), or
 * is not. */
static uint32_t
next_misfit(const struct cj_choice *c, uint32_t i, const char *why,
    bool is_same)
{
	while (i < c->misfits.len &&
	    (strcmp(c->misfits.at[i].why, why) == 0) != is_same)
		i++;
	return i;
}

/* "member 3", "members 0 to 26, 28": all that have the reason of number i. */
static const char *
alike_misfits(struct cj_work *f, const struct cj_choice *c, uint32_t i)
{
	const char *why = c->misfits.at[i].why;
	struct cj_strbuf b;
	uint32_t end;

	cj_strbuf_init(&b, &f->arena);
	cj_strbuf_puts(&b, next_misfit(c, i + 1, why, true) < c->misfits.len ?
	    "members" : "member");
	for (; i < c->misfits.len; i = next_misfit(c, end, why, true)) {
		end = next_misfit(c, i, why, false);
		cj_strbuf_printf(&b, "%s %u", b.len > strlen("members") ? "," :
		    "", c->misfits.at[i].member);
		if (end - i > 1)
			cj_strbuf_printf(&b, end - i > 2 ? " to %u" : ", %u",
			    c->misfits.at[end - 1].member);
	}
	return b.text;
}

/* A note for each reason, at the first member that has it. */
static void
note_misfits(struct cj_work *f, struct cj_choice *c, struct cj_diag *d)
{
	uint32_t i;

	for (i = 0; i < c->misfits.len; i++)
		if (next_misfit(c, 0, c->misfits.at[i].why, true) == i)
			cj_note(d, c->misfits.at[i].span, "%s: %s",
			    alike_misfits(f, c, i), c->misfits.at[i].why);
}

cutejit_status
cj_choice_fail(struct cj_work *f, struct cj_choice *c)
{
	struct cj_span nowhere = { 0 };

	if (f->diags.errors != 0)
		return CUTEJIT_ERROR;
	if (c->misfits.len == 1) {
		const struct cj_misfit_note *n = &c->misfits.at[0];

		cj_report(&f->diags, n->code, n->span, "kernel \"%s\": %s",
		    c->kernel, n->why);
		return CUTEJIT_ERROR;
	}
	note_misfits(f, c, cj_report(&f->diags, CJ_DIAG_NO_MEMBER, nowhere,
	    "no member of \"%s\" accepts these arguments", c->kernel));
	return CUTEJIT_ERROR;
}
