/*
 * What launches of tests were given: a line for each, in the order of the test,
 * with type, layout and place of every tensor, what its numbers hold that is
 * not finite, and whether any grid is launched for them at all.
 */
#include <float.h>

#include "base/strbuf.h"
#include "ir/num.h"
#include "testing.h"

static void
add_numbers(struct cj_strbuf *s, const int64_t *at, uint32_t count)
{
	uint32_t i;

	cj_strbuf_puts(s, "(");
	for (i = 0; i < count; i++)
		cj_strbuf_printf(s, "%s%lld", i == 0 ? "" : ",",
		    (long long)at[i]);
	cj_strbuf_puts(s, ")");
}

/* Infinities and NaN among the elements that the view reaches. */
static void
add_special(struct cj_strbuf *s, const struct cj_view *v)
{
	bool high = false, low = false, none = false;
	unsigned bytes = cj_kind_bits(v->kind) / 8;
	int64_t i;

	if (!cj_kind_is_float(v->kind) || cj_kind_bits(v->kind) % 8 != 0)
		return;
	for (i = v->lo; i < v->hi; i++) {
		uint64_t bits = 0;
		double x;

		memcpy(&bits, v->data + i * (int64_t)bytes, bytes);
		x = cj_num_to_f64(v->kind, bits);
		high |= x > DBL_MAX;
		low |= x < -DBL_MAX;
		none |= x != x;
	}
	cj_strbuf_printf(s, "%s%s%s", high ? " inf" : "", low ? " -inf" : "",
	    none ? " nan" : "");
}

/* What the kernel knows of a tensor; NULL: it does not touch it. */
static const struct cj_object *
object_of(const struct cj_module *ir, uint32_t parameter, uint32_t member)
{
	uint32_t i;

	for (i = 1; i < ir->objects.len; i++) {
		const struct cj_object *o = &ir->objects.at[i];

		if (o->kind == CJ_OBJECT_TENSOR && o->parameter == parameter
		    && o->member == member)
			return o;
	}
	return NULL;
}

static void
add_view(struct cj_strbuf *s, const char *name, const struct cj_view *v,
    const struct cj_object *o)
{
	cj_strbuf_printf(s, "; %s %s ", name, cj_kind_text(v->kind));
	add_numbers(s, v->extents, v->rank);
	cj_strbuf_puts(s, ":");
	add_numbers(s, v->strides, v->rank);
	cj_strbuf_printf(s, " at %u", (unsigned)((uintptr_t)v->data % 16));
	if (o != NULL && o->reads)
		add_special(s, v);
	if (o != NULL && o->writes)
		cj_strbuf_puts(s, " written");
}

static bool
launches_nothing(const struct cj_plan *p)
{
	uint32_t i;

	for (i = 0; i < p->steps.len; i++)
		if (p->steps.at[i].kind == CJ_STEP_LAUNCH)
			return false;
	return true;
}

void
cj_testing_tell(struct cj_testing *t, const struct cj_selected *chosen,
    const struct cj_arguments *args)
{
	const cutejit_options *o = &t->work->context->options;
	struct cj_strbuf s;
	uint32_t i, k;

	if (o->print == NULL)
		return;
	cj_strbuf_init(&s, &t->work->arena);
	cj_strbuf_printf(&s, "launch: %s: %s[%u]", t->name,
	    chosen->program->kernel, chosen->program->member);
	for (i = 0; i < args->count; i++)
		for (k = 0; args->views[i] != NULL && args->actuals[i].present
		    && k < args->actuals[i].count; k++)
			add_view(&s, args->names[i], &args->views[i][k],
			    object_of(chosen->program->ir, i, k));
	if (launches_nothing(&chosen->plan))
		cj_strbuf_puts(&s, "; nothing is launched");
	o->print(o->user, s.text);
}
