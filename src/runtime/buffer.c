/*
 * Mirrors of host memory on a GPU.
 */
#include "buffer.h"

static void
release(void *object)
{
	struct cj_blocks *b = object;

	while (b->first != NULL) {
		struct cj_block *k = b->first;

		b->first = k->next;
		if (k->device != 0)
			b->cu->MemFree(k->device);
		if (k->is_ours)
			cj_give_back(b->context, k->host);
		cj_give_back(b->context, k);
	}
}

void
cj_blocks_begin(struct cj_work *f, struct cj_blocks *b,
    const struct cj_cuda *cu)
{
	memset(b, 0, sizeof *b);
	b->work = f;
	b->context = f->context;
	b->cu = cu;
	cj_defer(f, release, b);
}

void
cj_blocks_end(struct cj_work *f, struct cj_blocks *b)
{
	cj_undefer(f);
	release(b);
}

struct cj_block *
cj_blocks_add(struct cj_blocks *b, void *host, size_t bytes)
{
	struct cj_block *k = cj_take(b->context, sizeof *k);

	if (k == NULL)
		return NULL;
	k->host = host;
	k->bytes = bytes;
	k->host_newer = true;
	k->next = b->first;
	b->first = k;
	return k;
}

void *
cj_blocks_take(struct cj_blocks *b, size_t bytes)
{
	void *host = cj_take(b->context, bytes != 0 ? bytes : 1);
	struct cj_block *k;

	if (host == NULL)
		return NULL;
	k = cj_blocks_add(b, host, bytes);
	if (k == NULL) {
		cj_give_back(b->context, host);
		return NULL;
	}
	k->is_ours = true;
	return host;
}

/* An address just behind the end belongs to an empty view of the block. */
struct cj_block *
cj_blocks_find(struct cj_blocks *b, const void *at)
{
	const char *p = at;
	struct cj_block *k, *end = NULL;

	for (k = b->first; k != NULL; k = k->next) {
		if (p >= k->host && p < k->host + k->bytes)
			return k;
		if (p == k->host + k->bytes)
			end = k;
	}
	return end;
}

int
cj_block_upload(struct cj_blocks *b, struct cj_block *k)
{
	int rc = 0;

	if (k->device == 0)
		rc = b->cu->MemAlloc(&k->device,
		    k->bytes != 0 ? k->bytes : 1);
	if (rc == 0 && k->host_newer && k->bytes != 0)
		rc = b->cu->MemcpyHtoD(k->device, k->host, k->bytes);
	if (rc == 0)
		k->host_newer = false;
	return rc;
}

int
cj_block_download(struct cj_blocks *b, struct cj_block *k)
{
	int rc = 0;

	if (k->device_newer && k->bytes != 0)
		rc = b->cu->MemcpyDtoH(k->host, k->device, k->bytes);
	if (rc == 0)
		k->device_newer = false;
	return rc;
}

static struct cj_block *
block_of(struct cj_blocks *b, const struct cj_view *v)
{
	const char *first = v->data
	    + (v->lo * (int64_t)cj_kind_bits(v->kind) >> 3);

	return cj_blocks_find(b, v->lo < v->hi ? first : v->data);
}

static int
move_view(struct cj_blocks *b, struct cj_view *v)
{
	struct cj_block *k = block_of(b, v);
	int rc;

	assert(k != NULL && "a view lies in a block");
	rc = cj_block_upload(b, k);
	v->data = (char *)(uintptr_t)(k->device
	    + (uint64_t)(v->data - k->host));
	v->device_type = CUTEJIT_DL_CUDA;
	v->memory = NULL;
	return rc;
}

int
cj_blocks_to_device(struct cj_blocks *b, struct cj_arena *a,
    const struct cj_arguments *host, struct cj_arguments *device)
{
	uint32_t i, k;
	int rc = 0;

	*device = *host;
	device->views = CJ_NEWS(a, struct cj_view *, host->count);
	for (i = 0; i < host->count; i++) {
		const struct cj_actual *x = &host->actuals[i];

		if (!x->present || !x->is_tensor)
			continue;
		device->views[i] = cj_memdup(a, host->views[i],
		    x->count * sizeof *host->views[i]);
		for (k = 0; k < x->count && rc == 0; k++)
			rc = move_view(b, &device->views[i][k]);
	}
	return rc;
}

/* Nobody on the GPU says which elements were written: all may have been. */
void
cj_blocks_written(struct cj_blocks *b, const struct cj_module *ir,
    const struct cj_arguments *host)
{
	uint32_t i;

	for (i = 1; i < ir->objects.len; i++) {
		const struct cj_object *o = &ir->objects.at[i];
		struct cj_view *v;
		struct cj_block *k;

		if (o->kind != CJ_OBJECT_TENSOR || !o->writes
		    || !host->actuals[o->parameter].present
		    || o->member >= host->actuals[o->parameter].count)
			continue;
		v = &host->views[o->parameter][o->member];
		k = block_of(b, v);
		if (k == NULL)
			continue;
		k->device_newer = true;
		if (v->memory != NULL && v->memory->written != NULL)
			memset(v->memory->written, 1,
			    (size_t)(v->memory->hi - v->memory->lo));
	}
}
