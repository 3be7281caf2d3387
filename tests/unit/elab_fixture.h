/*
 * For tests of elaboration: a unit from text, tensors as a caller has them.
 */
#ifndef CJ_ELAB_FIXTURE_H
#define CJ_ELAB_FIXTURE_H

#include "check_main.h"

#include "ir/elab.h"
#include "ir/interp.h"

static struct cj_recover point;
static struct cj_arena arena;
static struct cj_names names;
static struct cj_sources sources;
static struct cj_diags diags;
static struct cj_unit_text text_of_unit = { .names = &names,
    .sources = &sources };
static struct cj_unit *unit;
static const char *why;

static void
set_up(void)
{
	CJ_CHECK_RECOVER(&point);
	cj_arena_init(&arena, &point, NULL);
	text_of_unit.prelude = cj_prelude_load(&arena);
	cj_unit_begin(&text_of_unit, &arena);
	cj_diags_init(&diags, &arena, &sources);
}

static void
tear_down(void)
{
	cj_names_fini(&names);
	cj_arena_fini(&arena);
}

static inline const char *
messages(void)
{
	struct cj_strbuf out;

	cj_strbuf_init(&out, &arena);
	cj_diags_print(&out, &diags, false);
	return out.text;
}

static inline void
load(const char *text)
{
	text_of_unit.source = cj_source_add(&sources, "test.cute", text,
	    strlen(text));
	unit = cj_unit_load(&arena, &text_of_unit, &diags);
	ck_assert_msg(diags.errors == 0, "%s", messages());
}

static inline const struct cj_member_info *
member(uint32_t i)
{
	const struct cj_member_info *m;

	ck_assert_uint_lt(i, cj_unit_members(unit, &m));
	return &m[i];
}

/* A tensor of rank 1 or 2. */
static inline struct cj_actual
tensor(enum cj_kind k, uint32_t rank, const int64_t *extents,
    const int64_t *strides)
{
	struct cj_actual a = { .present = true, .is_tensor = true, .kind = k,
	    .rank = rank, .extents = extents, .strides = strides,
	    .count = 1 };

	return a;
}

static inline const struct cj_binding *
bind(uint32_t m, const struct cj_actual *actuals, uint32_t count,
    const struct cj_const_argument *consts, uint32_t const_count)
{
	struct cj_span span;

	return cj_bind(&arena, unit, member(m), consts, const_count, actuals,
	    count, &diags, &why, &span);
}

static inline struct cj_module *
elaborate(uint32_t m, const struct cj_binding *b)
{
	struct cj_module *module;

	ck_assert_msg(b != NULL, "does not fit: %s", why);
	module = cj_elab_kernel(&arena, unit, member(m), b, &(struct cj_aim){
	    .target = cj_target_find("sm_90a") }, &diags);
	ck_assert_msg(module != NULL, "%s", messages());
	return module;
}

#endif
