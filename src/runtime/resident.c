/*
 * How many clusters a GPU runs at once.
 *
 * The blocks of a cluster lie in one part of the GPU, and parts have different
 * numbers of multiprocessors, so that no division of all of them tells. The
 * driver counts for a kernel: any of the program that asks will do, with one
 * warp and so much shared memory that as many blocks as are asked about fill a
 * multiprocessor.
 *
 * A plan is made before there is an image. What nobody has asked before is
 * left open in it; once the image is loaded the driver is asked, and the plan
 * made again. The answer stays, by device.
 */
#include "device.h"
#include "program.h"

struct cj_resident {
	struct cj_resident *next;
	int ordinal;
	struct cj_device_ask ask;
	int64_t count;
};

int64_t
cj_resident_of(int64_t sms, struct cj_device_ask ask)
{
	int64_t n = sms * ask.per_sm / ask.blocks;

	return n > 1 ? n : 1;
}

/* ---- what is known ------------------------------------------------------- */

/* 0: nothing */
static int64_t
find(struct cutejit_context *c, int ordinal, struct cj_device_ask ask)
{
	const struct cj_resident *r;
	int64_t count = 0;

	pthread_mutex_lock(&c->lock);
	for (r = c->resident; r != NULL && count == 0; r = r->next)
		if (r->ordinal == ordinal && r->ask.blocks == ask.blocks
		    && r->ask.per_sm == ask.per_sm)
			count = r->count;
	pthread_mutex_unlock(&c->lock);
	return count;
}

static void
keep(struct cutejit_context *c, int ordinal, struct cj_device_ask ask,
    int64_t count)
{
	struct cj_resident *r = cj_take(c, sizeof *r);

	if (r == NULL)
		return;
	r->ordinal = ordinal;
	r->ask = ask;
	r->count = count;
	pthread_mutex_lock(&c->lock);
	r->next = c->resident;
	c->resident = r;
	pthread_mutex_unlock(&c->lock);
}

void
cj_resident_fini(struct cutejit_context *c)
{
	while (c->resident != NULL) {
		struct cj_resident *r = c->resident;

		c->resident = r->next;
		cj_give_back(c, r);
	}
}

bool
cj_resident_on(struct cj_work *f, const struct cj_gpu *g,
    struct cj_device_ask ask, int64_t *count)
{
	*count = ask.blocks == 1 ? 0 : find(f->context, g->ordinal, ask);
	if (*count != 0)
		return true;
	*count = cj_resident_of(cj_gpu_sms(g), ask);
	return ask.blocks == 1;
}

/* ---- asking the driver --------------------------------------------------- */

/* Dynamic shared memory with which so many blocks of a kernel have room and no
 * more; 0: there are always fewer. */
static int
filling_bytes(const struct cj_cuda *cu, void *kernel, int device,
    unsigned per_sm)
{
	int all = 0, most = 0, reserved = 0, own = 0, n;

	cu->DeviceGetAttribute(&all, CJ_CUDA_SHARED_PER_SM, device);
	cu->DeviceGetAttribute(&most, CJ_CUDA_SHARED_PER_BLOCK, device);
	cu->DeviceGetAttribute(&reserved, CJ_CUDA_SHARED_RESERVED, device);
	cu->KernelGetAttribute(&own, CJ_CUDA_SHARED_BYTES, kernel, device);
	n = all / (int)per_sm - reserved;
	n = ((n < most ? n : most) & ~127) - own;
	return n > 0 ? n : 0;
}

/* 0: the driver does not say */
static int
count(const struct cj_cuda *cu, void *kernel, int device, const int64_t n[3],
    unsigned per_sm)
{
	struct cj_cuda_attribute cluster = { .id = CJ_CUDA_CLUSTER,
	    .value.extents = { (unsigned)n[0], (unsigned)n[1],
	    (unsigned)n[2] } };
	struct cj_cuda_config c = { .grid = { (unsigned)n[0],
	    (unsigned)n[1], (unsigned)n[2] }, .block = { 32, 1, 1 },
	    .attributes = &cluster, .count = 1 };
	int clusters = 0, bytes = filling_bytes(cu, kernel, device, per_sm);

	c.shared_bytes = (unsigned)bytes;
	if (bytes == 0 || cu->KernelSetAttribute(CJ_CUDA_MAX_DYNAMIC, bytes,
	    kernel, device) != 0)
		return 0;
	cu->KernelSetAttribute(CJ_CUDA_WIDE_CLUSTER, 1, kernel, device);
	return cu->OccupancyMaxActiveClusters(&clusters, kernel, &c) == 0
	    && clusters > 0 ? clusters : 0;
}

/* By an entry that has such clusters, or none of its own. */
static int
count_by(const struct cj_gpu *g, const struct cj_program *p, uint32_t entry,
    struct cj_device_ask ask)
{
	const struct cj_function *fn =
	    &p->ir->functions.at[p->functions[entry]];
	int64_t own = fn->cluster[0] * fn->cluster[1] * fn->cluster[2];
	const int64_t plain[3] = { ask.blocks, 1, 1 };
	void *kernel = p->image->kernels[entry];
	int device, n;

	if ((own > 1 && own != ask.blocks)
	    || g->cu->DeviceGet(&device, g->ordinal) != 0)
		return 0;
	n = count(g->cu, kernel, device, own > 1 ? fn->cluster : plain,
	    ask.per_sm);
	g->cu->KernelSetAttribute(CJ_CUDA_MAX_DYNAMIC,
	    (int)p->image->dynamic[entry], kernel, device);
	return n;
}

void
cj_resident_learn(struct cj_work *f, const struct cj_gpu *g,
    struct cj_program *p, const struct cj_plan *plan)
{
	uint32_t i, entry;
	int n;

	cj_defer_lock(f, &p->lock);	/* one at a time changes attributes */
	for (i = 0; i < plan->open.len; i++) {
		n = 0;
		for (entry = 0; n == 0 && entry < p->entry_count; entry++)
			n = count_by(g, p, entry, plan->open.at[i]);
		if (n != 0)
			keep(f->context, g->ordinal, plan->open.at[i], n);
	}
	cj_undefer_lock(f);
}
