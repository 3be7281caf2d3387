/*
 * Digests of what launches of tests have written, to compare devices bit by
 * bit: a line for each launch, in the order of the test.
 *
 * NaN of f64 may have any payload on a GPU, and counts as one.
 */
#include "base/hash.h"
#include "testing.h"

static void
add_wide(struct cj_hasher *h, const struct cj_memory *m)
{
	const uint64_t *at = (const void *)m->data;
	int64_t i;

	for (i = 0; i < m->hi - m->lo; i++)
		cj_hasher_add_u64(h, (at[i] & INT64_MAX) >
		    UINT64_C(0x7ff0000000000000) ? UINT64_MAX : at[i]);
}

static void
add_memory(struct cj_hasher *h, const struct cj_memory *m, enum cj_kind k)
{
	uint64_t bits = k == CJ_KIND_BOOL ? 8 : cj_kind_bits(k);

	if (k == CJ_KIND_F64)
		add_wide(h, m);
	else
		cj_hasher_add(h, m->data, (size_t)(((uint64_t)(m->hi - m->lo)
		    * bits + 7) / 8));
}

/* What a GPU has written comes back first. */
static cutejit_status
bring(struct cj_testing *t, const struct cj_memory *m)
{
	struct cj_block *k = cj_blocks_find(&t->blocks, m->data);
	int rc = k == NULL ? 0 : cj_block_download(&t->blocks, k);

	return rc == 0 ? CUTEJIT_OK : cj_gpu_fail(t->work, t->gpu.cu, rc,
	    "an array cannot be brought back from the GPU");
}

cutejit_status
cj_testing_digest(struct cj_testing *t, const struct cj_module *ir,
    const struct cj_arguments *args)
{
	const cutejit_options *o = &t->work->context->options;
	cutejit_status status = CUTEJIT_OK;
	struct cj_hasher h;
	struct cj_digest d;
	char text[65];
	uint32_t i;

	cj_hasher_init(&h);
	for (i = 1; i < ir->objects.len && status == CUTEJIT_OK; i++) {
		const struct cj_object *a = &ir->objects.at[i];
		const struct cj_view *v;

		if (a->kind != CJ_OBJECT_TENSOR || !a->writes ||
		    !args->actuals[a->parameter].present ||
		    a->member >= args->actuals[a->parameter].count)
			continue;
		v = &args->views[a->parameter][a->member];
		if (v->memory == NULL || v->memory->hi <= v->memory->lo)
			continue;
		status = bring(t, v->memory);
		add_memory(&h, v->memory, v->kind);
	}
	d = cj_hasher_end(&h);
	cj_digest_text(&d, text);
	if (status == CUTEJIT_OK && o->print != NULL)
		o->print(o->user, cj_printf(&t->work->arena,
		    "digest: %s: %u %s %.16s", t->name, t->launches++,
		    ir->name, text));
	return status;
}
