/*
 * Host memory with a mirror on a GPU, each brought up to date when it is
 * looked at (buffer.c). For tests, benches and runs of tools.
 */
#ifndef CJ_BUFFER_H
#define CJ_BUFFER_H

#include "device.h"

struct cj_block {
	char *host;
	size_t bytes;
	bool is_ours;			/* the host memory */
	uint64_t device;		/* 0: no mirror yet */
	bool host_newer, device_newer;
	struct cj_block *next;
};

struct cj_blocks {
	struct cj_work *work;
	struct cutejit_context *context;
	const struct cj_cuda *cu;	/* NULL: no GPU in use */
	struct cj_block *first;
};

/* All memory goes at the end, or if control leaves, so `b` must not lie on the
 * stack of the work. With a GPU its context must be current until then. */
void cj_blocks_begin(struct cj_work *f, struct cj_blocks *b,
    const struct cj_cuda *cu);
void cj_blocks_end(struct cj_work *f, struct cj_blocks *b);

/* New zeroed memory; NULL: none. */
void *cj_blocks_take(struct cj_blocks *b, size_t bytes);
/* Memory of the caller's. */
struct cj_block *cj_blocks_add(struct cj_blocks *b, void *host, size_t bytes);
/* The block that holds an address, or NULL. */
struct cj_block *cj_blocks_find(struct cj_blocks *b, const void *at);

/* 0, or an error of the driver. */
int cj_block_upload(struct cj_blocks *b, struct cj_block *k);
int cj_block_download(struct cj_blocks *b, struct cj_block *k);

/*
 * The arguments with addresses of the mirrors, brought up to date. Views must
 * lie in blocks. 0, or an error of the driver.
 */
int cj_blocks_to_device(struct cj_blocks *b, struct cj_arena *a,
    const struct cj_arguments *host, struct cj_arguments *device);
/* The kernel has written what its module may write. */
void cj_blocks_written(struct cj_blocks *b, const struct cj_module *ir,
    const struct cj_arguments *host);

#endif
