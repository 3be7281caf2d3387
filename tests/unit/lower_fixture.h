/*
 * For tests of lowered pipelines: passes by name, a kernel run on arrays of
 * ours through its host function, and its synchronisation taken out.
 */
#ifndef CJ_LOWER_FIXTURE_H
#define CJ_LOWER_FIXTURE_H

#include "elab_fixture.h"

enum { MOST_ARRAYS = 4, MOST_OBJECTS = 128, MOST_ELEMENTS = 1 << 15 };

/* A tensor, all of its rows contiguous. */
struct array {
	enum cj_kind kind;
	int64_t extents[2];
	uint32_t rank;
	bool is_result;
};

struct run {
	const struct cj_module *m;
	const struct array *arrays;
	struct cj_run_options options;
	struct cj_memory memory[MOST_OBJECTS];
	uint64_t faults;
	bool is_endless;
};

static char array_data[MOST_ARRAYS][MOST_ELEMENTS * 4];

static inline void
pass(struct cj_module *m, const char *name)
{
	unsigned i;

	for (i = 0; i < cj_pass_count; i++)
		if (strcmp(cj_passes[i].name, name) == 0)
			cj_passes[i].run(m);
	ck_assert_ptr_null(cj_module_verify(m));
}

/* Pipelines, roles and turns are gone. */
static inline void
lower(struct cj_module *m)
{
	pass(m, "ahead");
	pass(m, "wgmma_wait");
	pass(m, "lower_async");
}

/* ---- arrays -------------------------------------------------------------- */

static inline int64_t
elements_of(const struct array *a)
{
	return a->extents[0] * (a->rank > 1 ? a->extents[1] : 1);
}

/* Small numbers, exact in every kind; results hold what no kernel writes. */
static inline void
fill_arrays(const struct array *arrays, uint32_t count)
{
	uint32_t i;
	int64_t k;

	for (i = 0; i < count; i++)
		for (k = 0; k < elements_of(&arrays[i]); k++) {
			float v = arrays[i].is_result ? -777 :
			    (float)((k * 7 + k / 64) % 13 - 6) / 8;
			uint64_t bits = cj_num_from_f64(arrays[i].kind,
			    (double)v);

			memcpy(array_data[i] + k *
			    (int64_t)cj_kind_bytes(arrays[i].kind), &bits,
			    cj_kind_bytes(arrays[i].kind));
		}
}

static inline void
actuals_of(const struct array *arrays, uint32_t count,
    struct cj_actual *actuals, int64_t (*strides)[2])
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		strides[i][0] = arrays[i].rank > 1 ? arrays[i].extents[1] : 1;
		strides[i][1] = 1;
		actuals[i] = tensor(arrays[i].kind, arrays[i].rank,
		    arrays[i].extents, strides[i]);
	}
}

static inline const float *
f32_of(uint32_t array)
{
	return (const float *)(const void *)array_data[array];
}

/* ---- run ----------------------------------------------------------------- */

static inline bool
on_workspace(void *user, uint32_t object, int64_t elements, bool has_fill,
    uint64_t fill)
{
	struct run *r = user;
	enum cj_kind k = r->m->objects.at[object].element;
	size_t bytes = (size_t)elements * (k == CJ_KIND_MAP ? 128 : 8);

	(void)has_fill;
	ck_assert_uint_eq(fill, 0);
	r->memory[object] = (struct cj_memory){ .data = cj_alloc(&arena,
	    bytes), .hi = elements, .readable = true, .writable = true };
	memset(r->memory[object].data, 0, bytes);
	return true;
}

static inline bool
on_launch(void *user, const struct cj_kernel_launch *k,
    const struct cj_launch *attributes)
{
	struct run *r = user;
	struct cj_kernel_launch launch = *k;
	struct cj_outcome outcome = { 0 };

	(void)attributes;
	launch.memory = r->memory;
	cj_interp_kernel(&arena, r->m, &launch, &r->options, &diags,
	    &outcome);
	r->faults += outcome.faults;
	r->is_endless |= outcome.is_endless;
	return true;
}

static inline int64_t
on_device(void *user, struct cj_device_ask ask)
{
	(void)user;
	(void)ask;
	return 8;
}

static inline uint64_t
leaf_value(const struct run *r, const struct cj_leaf *l)
{
	const struct array *a = &r->arrays[l->parameter];

	switch (l->kind) {
	case CJ_LEAF_EXTENT: return (uint64_t)a->extents[l->mode];
	case CJ_LEAF_STRIDE:
		return a->rank > 1 && l->mode == 0 ? (uint64_t)a->extents[1] :
		    1;
	case CJ_LEAF_ALIGN: return 256;
	case CJ_LEAF_PRESENT: return 1;
	case CJ_LEAF_OBJECT: case CJ_LEAF_VALUE: case CJ_LEAF_SCALAR: break;
	}
	return 0;
}

static inline void
begin_run(struct run *r, const struct cj_module *m,
    const struct array *arrays, uint32_t count, uint64_t seed)
{
	uint32_t i, p;

	memset(r, 0, sizeof *r);
	r->m = m;
	r->arrays = arrays;
	r->options = (struct cj_run_options){ .checks = CJ_CHECK_ALL,
	    .workers = 1, .seed = seed, .step_limit = 200000 };
	fill_arrays(arrays, count);
	ck_assert_uint_lt(m->objects.len, MOST_OBJECTS);
	for (i = 1; i < m->objects.len; i++) {
		p = m->objects.at[i].parameter;
		if (m->objects.at[i].kind == CJ_OBJECT_TENSOR)
			r->memory[i] = (struct cj_memory){
			    .data = array_data[p],
			    .hi = elements_of(&arrays[p]), .readable = true,
			    .writable = true };
	}
}

/* One block of a kernel whose device function has no values. */
static inline uint64_t
run_block(const struct cj_module *m, const struct array *arrays,
    uint32_t count, uint64_t seed)
{
	static struct run r;
	const struct cj_function *f = &m->functions.at[2];
	struct cj_kernel_launch k = { .function = 2, .grid = { 1, 1, 1 },
	    .block = { f->block[0], 1, 1 }, .cluster = { 1, 1, 1 } };

	begin_run(&r, m, arrays, count, seed);
	on_launch(&r, &k, NULL);
	return r.faults;
}

/* Number of faults; what the kernel left is in the arrays. */
static inline uint64_t
run_all(const struct cj_module *m, const struct array *arrays, uint32_t count,
    uint64_t seed)
{
	static struct run r;
	const struct cj_function *f = &m->functions.at[1];
	struct cj_host_hooks hooks = { .user = &r, .launch = on_launch,
	    .workspace = on_workspace, .device = on_device };
	struct cj_host_outcome outcome = { 0 };
	uint64_t *values = cj_alloc(&arena, (f->leaves.len + 1) * 8);
	uint32_t i;

	begin_run(&r, m, arrays, count, seed);
	for (i = 0; i < f->leaves.len; i++)
		values[i] = leaf_value(&r, &f->leaves.at[i]);
	cj_interp_host(&arena, m, 1, values, &hooks, &diags, &outcome);
	ck_assert_uint_eq(outcome.require, 0);
	return r.faults;
}

/* ---- synchronisation ----------------------------------------------------- */

/* Instruction number n of the device function of which `is` holds, and its
 * region; 0: no more. */
static inline cj_ref
find_nth(const struct cj_module *m, bool (*is)(const struct cj_inst *),
    unsigned n, cj_region *region)
{
	struct cj_walk w;

	for (w = cj_walk_begin(m, m->functions.at[2].body);
	    cj_walk_next(&w);) {
		if (w.event != CJ_WALK_INST || !is(cj_inst(m, w.ref)))
			continue;
		*region = w.region;
		if (n-- == 0)
			return w.ref;
	}
	return 0;
}

#endif
