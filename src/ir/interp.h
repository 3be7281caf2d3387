/*
 * The executor: runs IR on the CPU and says where a program is wrong.
 *
 * It defines what an operation means (interp_op.c over num.c). A function is
 * decoded once into flat code; a warp runs it in lockstep, every operation as
 * a loop over its lanes under a mask; warps of a block take turns at barriers.
 * Host and test functions run with one lane, an array_map with a batch of
 * indices as lanes.
 *
 * Faults of the program (out of bounds, never-written read, ...) are reported
 * as diagnostics with source line, thread, block and index, at most 20 of a
 * kind with a count of the rest, and the run goes on where that is harmless:
 * a load out of bounds gives 0, a store is dropped.
 */
#ifndef CJ_INTERP_H
#define CJ_INTERP_H

#include <stdatomic.h>

#include "ir.h"

/*
 * Decoded code of a function: immutable, may be run by many threads at once.
 * Who runs a function often (a host function at each launch) decodes it once.
 * It refers to the module, which must outlive it.
 */
struct cj_decoded *cj_interp_decode(struct cj_arena *a,
    const struct cj_module *m, uint32_t function);

/*
 * What the operation `divisor` computes, and `divide_by` is given, stands with
 * its formula at cj_num_divisor() in num.h; code generation emits exactly
 * that. It serves for every a and d >= 0, so the elaborator emits `divide_by`
 * where d is known not to be negative. The executor divides, and checks that
 * the formula gives the same.
 */

/* What a value of kind tensormap points to, and what memory of such elements
 * holds: a map_encode of a host function, with the numbers of this call, or a
 * changed copy. Offset and strides are in elements. */
struct cj_tensor_map {
	const struct cj_map *map;
	int64_t offset, extent[CJ_MAP_MODES], stride[CJ_MAP_MODES];
	uint32_t object;	/* of which it shows memory; 0: of none */
	uint32_t home;		/* object in which it was published; 0: none, */
	int64_t home_at;	/* element there, */
	uint64_t version;	/* how many times something was published */
};

/* What is known of an element that can be read. Padding is what a thread has
 * stored of a number that is the same everywhere: it outlives the fill of a
 * stage that it was made in, as no copy has come there since. */
enum cj_written { CJ_WRITTEN_NOT, CJ_WRITTEN_DATA, CJ_WRITTEN_PADDING };

/* Memory of an object during a run. Elements lo .. hi - 1 exist, element 0 is
 * at `data` (lo may be negative). Kinds under 8 bits are packed. */
struct cj_memory {
	char *data;
	int64_t lo, hi;
	uint8_t *written;	/* cj_written of each element, from lo; NULL:
				   all are */
	bool readable, writable;
	/* of the tensor, for reports; rank 0: not known */
	const int64_t *extents, *strides;
	uint32_t rank;
};

enum cj_check {
	CJ_CHECK_BOUNDS = 1, CJ_CHECK_WRITTEN = 2, CJ_CHECK_RACE = 4,
	CJ_CHECK_BARRIER = 8, CJ_CHECK_ALL = 15
};

/* What the executor counts, on demand: of each instruction, over all warps. */
struct cj_count {
	uint64_t warps, lanes;	/* how often; lanes that took part */
	uint64_t bytes;		/* that lanes asked for */
	uint64_t lines, sectors;	/* global memory: of 128, 32 bytes */
	uint64_t passes;	/* shared memory: turns of the banks */
	uint64_t conflicts;	/* of them, those beyond the first of a group */
};
enum { CJ_BANKS = 32 };
struct cj_banks {
	uint64_t words[CJ_BANKS];
};
struct cj_profile {
	struct cj_count *at;	/* by instruction */
	struct cj_banks *bank;	/* by object, those in shared memory */
	uint32_t insts, objects;
};
struct cj_profile *cj_profile_create(struct cj_arena *a,
    const struct cj_module *m);
void cj_profile_add(struct cj_profile *to, const struct cj_profile *from);

/* Lines and values of one block's warps go to print. */
#define CJ_TRACE_ALL	UINT32_MAX
struct cj_trace {
	uint64_t block;		/* linear */
	uint32_t warp;		/* or all */
	/* not 0: no lines, but what the first warp that comes to this line of
	 * a text holds; there the run ends, and *reached is set */
	uint32_t stop_source, stop_line;
	bool *reached;
};

/* When what waits, multiplies and copies in one block began and ended, in steps
 * of warps that run side by side (interp_timeline.c); oldest by their issue. */
enum cj_slice_kind { CJ_SLICE_WAIT, CJ_SLICE_PRODUCT, CJ_SLICE_COPY,
    CJ_SLICE_KINDS };
struct cj_slice {
	enum cj_slice_kind kind;
	uint32_t warp;
	cj_ref ref;
	uint64_t from, to;
};
enum { CJ_MOST_SLICES = 1 << 16 };
struct cj_timeline {
	uint64_t block;			/* linear */
	struct cj_slice *slices;
	uint32_t count, warps;
	uint64_t end, lost;		/* the latest; those left out */
};
struct cj_timeline *cj_timeline_create(struct cj_arena *a, uint64_t block);

struct cj_run_options {
	unsigned checks;	/* of enum cj_check */
	unsigned workers;	/* threads for blocks; 0: all cores */
	uint64_t seed;		/* of the order of warps */
	uint64_t step_limit;	/* operations of one warp; 0: a default */
	void (*print)(void *user, const char *text);	/* a line, no newline */
	void *user;
	const atomic_int *cancel;	/* not 0: stop; may be NULL */
	struct cj_profile *profile;	/* of kernels: added to; may be NULL */
	const struct cj_trace *trace;	/* of kernels; may be NULL */
	struct cj_timeline *timeline;	/* of the first launch; may be NULL */
};

/* Grid, block, cluster and the leaves of a device function. */
struct cj_kernel_launch {
	uint32_t function;
	int64_t grid[3], block[3], cluster[3];
	/* memory for objects; for the VALUE leaves of the function in their
	 * order the bits, one uint64_t per register, concatenated */
	const struct cj_memory *memory;		/* by object number */
	const uint64_t *values;
};

struct cj_outcome {
	uint64_t faults;	/* reported or counted */
	bool stopped;		/* did not run to its end: */
	bool is_endless;	/* at the limit of steps, which is a fault */
	uint64_t operations;	/* executed, by warps */
};

/* Run a device function. Faults go to `ds`. */
void cj_interp_kernel(struct cj_arena *a, const struct cj_module *m,
    const struct cj_kernel_launch *k, const struct cj_run_options *o,
    struct cj_diags *ds, struct cj_outcome *out);
/* The same for code that was decoded before. */
void cj_interp_kernel_run(struct cj_arena *a, const struct cj_decoded *c,
    const struct cj_kernel_launch *k, const struct cj_run_options *o,
    struct cj_diags *ds, struct cj_outcome *out);

/*
 * Run a host function. values[i] are the bits of leaf number i (objects:
 * ignored; a leaf of a host function is one register). The hook is called at
 * each launch, with the extents and the value leaves in the order of the
 * device function's leaves; workspaces ask for memory. The first `require`
 * that does not hold ends the run: the outcome has its record and the values
 * for its message.
 */
struct cj_host_fill {		/* `elements` of an object, `stride` apart */
	uint32_t object;
	int64_t offset, elements, stride;
	uint64_t bits;
	cj_place place;
};
struct cj_host_hooks {
	void *user;
	/* false stops the run */
	bool (*launch)(void *user, const struct cj_kernel_launch *k,
	    const struct cj_launch *attributes);
	bool (*workspace)(void *user, uint32_t object, int64_t elements,
	    bool has_fill, uint64_t fill);
	bool (*fill)(void *user, const struct cj_host_fill *f);
	int64_t (*device)(void *user, struct cj_device_ask ask);
	/* a line of print(), no newline; may be NULL */
	void (*print)(void *user, const char *text);
};
struct cj_host_outcome {
	uint32_t require;	/* the one that failed, 0: none */
	const char *values;	/* "N = 33, ld = 40" */
	bool stopped;		/* by a hook or a fault */
};
void cj_interp_host(struct cj_arena *a, const struct cj_module *m,
    uint32_t function, const uint64_t *values, const struct cj_host_hooks *h,
    struct cj_diags *ds, struct cj_host_outcome *out);
/* The same for code that was decoded before: a few microseconds. */
void cj_interp_host_run(struct cj_arena *a, const struct cj_decoded *c,
    const uint64_t *values, const struct cj_host_hooks *h,
    struct cj_diags *ds, struct cj_host_outcome *out);

/*
 * Run a test function. Arrays live until the run ends. `call` launches or
 * times a kernel: it may change the arrays' memory. A failed expect stops the
 * test and describes itself in `failure` (text on the arena).
 */
struct cj_call_argument {	/* one per argument of the record */
	struct cj_memory *memory;	/* TENSOR */
	int64_t offset;			/* of its first element */
	const int64_t *extents, *strides;
	uint64_t scalar;
};
struct cj_test_hooks {
	void *user;
	bool (*call)(void *user, const struct cj_call *record, cj_place place,
	    const struct cj_call_argument *arguments, double bytes,
	    double flops);
	/* memory for an array, NULL: none (the run stops); zeroed */
	void *(*allocate)(void *user, size_t bytes);
	/* before the test itself touches an array's memory: the hook's chance
	 * to bring back what a GPU wrote; may be NULL */
	void (*touch)(void *user, struct cj_memory *memory, bool writes);
};
struct cj_test_outcome {
	bool passed, stopped;
	const char *failure;	/* several lines: where, first difference */
	cj_place place;
};
void cj_interp_test(struct cj_arena *a, const struct cj_module *m,
    uint32_t function, const struct cj_run_options *o,
    const struct cj_test_hooks *h, struct cj_diags *ds,
    struct cj_test_outcome *out);

#endif
