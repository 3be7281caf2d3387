/*
 * Devices: the executor and the GPU, behind one form of a launch.
 *
 * The host function of a kernel is run once for given arguments; what it does
 * is kept as a plan, a list of workspaces and launches. A device runs plans.
 *
 *	arguments -> host function (executor, one lane) -> plan -> device
 */
#ifndef CJ_DEVICE_H
#define CJ_DEVICE_H

#include "cuda_api.h"
#include "runtime.h"

struct cj_gpu;

/* ---- plans (plan.c) ------------------------------------------------------ */

enum cj_step_kind { CJ_STEP_LAUNCH, CJ_STEP_WORKSPACE, CJ_STEP_FILL };
struct cj_plan_step {
	enum cj_step_kind kind;
	/* launches */
	uint32_t function;
	int64_t grid[3], block[3], cluster[3];
	bool cooperative, dependent;
	const uint64_t *values;		/* of the value leaves, concatenated */
	/* workspaces */
	uint32_t object;
	int64_t elements;
	bool has_fill;
	uint64_t fill;
	/* fills of arguments, with object, elements and fill */
	int64_t offset, stride;
};

struct cj_plan {
	CJ_VEC(struct cj_plan_step) steps;
	size_t workspace_bytes;		/* of all, each aligned */
	bool prints;			/* the host function has printed */
	uint32_t printed;		/* lines, before something was open */
	CJ_VEC(struct cj_device_ask) open;	/* resident.c */
};

enum { CJ_WORKSPACE_ALIGN = 256 };
size_t cj_workspace_bytes(const struct cj_module *ir,
    const struct cj_plan_step *s);

enum cj_fit {
	CJ_FITS,
	CJ_FITS_NOT,		/* the contract does not hold: see `why` */
	CJ_FIT_FAILED		/* messages were reported */
};
struct cj_misfit {
	const char *why;	/* 'argument "x": needs ..., got ...' */
	enum cj_code code;
};

/*
 * Run the host function, which may ask about the GPU that it is for; NULL: the
 * executor. Everything of the plan lies on `a`. A plan that was left open is
 * made again, as it was found in `out`: to the end, whatever is still unknown;
 * no line is printed twice, and none that may say something else then.
 */
enum cj_fit cj_plan_make(struct cj_work *f, struct cj_arena *a,
    struct cj_program *program, const struct cj_arguments *args,
    const struct cj_gpu *on, struct cj_plan *out, struct cj_misfit *misfit);

/* ---- the executor (device_cpu.c) ----------------------------------------- */

struct cj_cpu_run {
	unsigned checks, schedules;
	uint64_t seed, step_limit;
	struct cj_profile *profile;	/* added to; NULL: nothing is counted */
	struct cj_timeline *timeline;	/* of the first launch; may be NULL */
	bool is_traced;
	struct cj_trace trace;
};
enum { CJ_CPU_SMS = 8 };	/* what `device.sms` is on the executor */

/*
 * Run a plan on host memory. Faults go to the messages of the work; the status
 * is CUTEJIT_ERROR if there were any, CUTEJIT_LIMIT if the run was stopped.
 */
cutejit_status cj_cpu_run(struct cj_work *f, struct cj_program *program,
    const struct cj_arguments *args, const struct cj_plan *p,
    const struct cj_cpu_run *o);
/* Are bounds among what it looks for? Then its IR says each mode's. */
bool cj_cpu_watches(const struct cj_cpu_run *o);
void cj_run_options_set(struct cj_work *f, const struct cj_cpu_run *o,
    struct cj_run_options *out, const atomic_int *stop);

/* ---- the GPU (device_cuda.c) --------------------------------------------- */

/* A context of a device is current between enter and leave. */
struct cj_gpu {
	const struct cj_cuda *cu;
	int ordinal;
	void *context;
	struct cj_entered *entered;	/* what leaving puts back */
};
/* The driver, or CUTEJIT_MISSING with a message. */
cutejit_status cj_gpu_driver(struct cj_work *f, const struct cj_cuda **out);
/* ordinal -1: the caller's current device, else 0. Loading and allocating do
 * not disturb a capture in between. */
cutejit_status cj_gpu_enter(struct cj_work *f, int ordinal,
    struct cj_gpu *out);
void cj_gpu_leave(struct cj_work *f, struct cj_gpu *g);
/* What there is, without a message; false: none. */
bool cj_gpu_probe(struct cj_work *f, int ordinal, cutejit_gpu *out);
int64_t cj_gpu_sms(const struct cj_gpu *g);

/* The driver refused: a message, and the status that goes with the error. */
cutejit_status cj_gpu_fail(struct cj_work *f, const struct cj_cuda *cu,
    int error, const char *doing);
/* 0, or CJ_WRONG_STREAM: the stream is not of this context. */
enum { CJ_WRONG_STREAM = -1 };
int cj_stream_check(const struct cj_cuda *cu, const void *context,
    void *stream);
/* A launch failed with an error of the driver's, or with that. */
cutejit_status cj_launch_fail(struct cj_work *f, const struct cj_cuda *cu,
    int error);

struct cj_image {
	void *library;
	void **kernels;			/* CUkernel by entry */
	int64_t *dynamic;		/* dynamic shared memory by entry */
	bool is_ptx;			/* the driver compiled it */
};
/* Load the program's cubin or PTX; once. */
cutejit_status cj_image_load(struct cj_work *f, const struct cj_cuda *cu,
    struct cj_program *p);
void cj_image_unload(struct cj_image *image);

/* ---- how many clusters run at once (resident.c) -------------------------- */

/* Where any blocks may form one. */
int64_t cj_resident_of(int64_t sms, struct cj_device_ask ask);
/* On an entered GPU, as its driver counted. False: it was not asked yet. */
bool cj_resident_on(struct cj_work *f, const struct cj_gpu *g,
    struct cj_device_ask ask, int64_t *count);
/* Ask the driver what is open, by the program's loaded image. Then the plan is
 * to be made again. */
void cj_resident_learn(struct cj_work *f, const struct cj_gpu *g,
    struct cj_program *p, const struct cj_plan *plan);
void cj_resident_fini(struct cutejit_context *c);

/* ---- launches in the driver's form (shots.c) ----------------------------- */

struct cj_shot {
	void *function;			/* CUkernel as CUfunction */
	uint32_t grid[3], block[3];
	uint32_t shared_bytes;
	uint32_t first;			/* of its slots */
	struct cj_cuda_config config;	/* used if it has attributes */
	struct cj_cuda_attribute attributes[3];
};
enum cj_patch_kind { CJ_PATCH_ADDRESS, CJ_PATCH_SCALAR, CJ_PATCH_WORKSPACE };
struct cj_patch {
	enum cj_patch_kind kind;
	uint32_t slot;
	uint32_t parameter, member;	/* ADDRESS, SCALAR: of which argument */
	enum cj_kind scalar;		/* SCALAR */
	uint64_t offset;		/* WORKSPACE */
	bool restored;			/* WORKSPACE: of those */
};
/* As the driver encodes it. */
struct cj_encoded_map {
	_Alignas(64) uint64_t words[16];
};
#define CJ_NO_SLOT	UINT32_MAX
/* Parameters are 8-byte slots, those of all shots one after the other. */
struct cj_shots {
	struct cj_shot *at;
	uint32_t count;
	uint64_t *slots;
	void **params;			/* to each slot */
	uint32_t slot_count;
	/* what of the slots may change while the plan stays */
	struct cj_patch *patches;
	uint32_t patch_count;
	/* tensor maps, and what each was encoded for */
	struct cj_encoded_map *maps;
	struct cj_mapped {
		uint32_t slot;
		uint32_t parameter, member;	/* of the tensor, */
		int64_t offset;			/* bytes behind its start */
		uintptr_t address;
	} *mapped;
	uint32_t map_count;
	/* memory that is filled before shot `before` */
	struct cj_filled {
		uint32_t slot;		/* address; NO_SLOT: the workspace's */
		bool restored;		/* runs leave it so: of that one */
		uint64_t offset;	/* bytes behind it */
		int64_t elements, stride;	/* of the elements */
		enum cj_kind kind;
		uint64_t fill;
		uint32_t before;
	} *fills;
	uint32_t fill_count;
	uint64_t workspace;		/* address of its workspace_bytes */
	size_t workspace_bytes;
	/* those of them that runs leave as they are filled: the last, unless
	 * they were placed elsewhere */
	uint64_t restored;
	size_t restored_bytes;
};
/* Empty grids give no shot. CUTEJIT_ERROR: extents beyond what a GPU has. */
cutejit_status cj_shots_make(struct cj_work *f, struct cj_arena *a,
    const struct cj_program *p, const struct cj_arguments *args,
    const struct cj_plan *plan, struct cj_shots *out);
/* Put the workspace at an address. */
void cj_shots_place(struct cj_shots *s, uint64_t workspace);
void cj_shots_place_restored(struct cj_shots *s, uint64_t restored);
/* 0, or the driver's error. A context is current. With `is_filled` what runs
 * restore is as it should be. */
int cj_shots_fire(const struct cj_cuda *cu, const struct cj_shots *s,
    bool is_filled, void *stream);
/* A fill as one or two settings of memory; how many. */
uint32_t cj_fill_memsets(const struct cj_shots *s, const struct cj_filled *w,
    struct cj_cuda_memset_node out[2]);
/* How many fills from number `first` on come before shot number `shot`. */
uint32_t cj_fills_before(const struct cj_shots *s, uint32_t first,
    uint32_t shot);
/* Host leaves by number that something computes with: true. The value of a
 * scalar whose leaf is not pinned changes nothing but its own slots. */
bool *cj_pinned_leaves(struct cj_arena *a, const struct cj_module *ir);

#endif
