/*
 * Inside of the executor.
 *
 *	decode (interp_decode.c, a function per operation in interp_op*.c):
 *	    IR -> flat steps, each with the C function that runs it
 *	run (interp.c): steps one after the other until the frame stops, ends,
 *	    or waits (a warp at a barrier)
 *
 * A frame is one warp (32 lanes), one host or test function (1 lane) or a
 * batch of an array_map or expect (256 lanes). Its registers are one block of
 * bytes: first the masks, then values and slots at offsets the decoder chose.
 * A value T[n] lies register by register, in each lane by lane:
 * element (r, lane) is number r * lanes + lane, each as wide as the kind asks
 * (bool and kinds up to 8 bits: 1 byte; then 2, 4, 8), so that an element-wise
 * step is one loop over n * lanes numbers, which compilers vectorise.
 *
 * A mask is a byte per lane, 0 or 1, like a bool value. Pure steps ignore it:
 * what they compute for lanes that are elsewhere is never read. Memory, slots,
 * faults and control obey it. Each region that can be left or entered in part
 * has its own masks in the frame, at fixed offsets, so there is no stack:
 *
 *	if	`else` waits for its turn, `joined` has finished the first arm
 *	loops	`again` did continue, `out` has left
 *	scope	`out` has left
 */
#ifndef CJ_INTERP_PRIV_H
#define CJ_INTERP_PRIV_H

#include <stdatomic.h>

#include "interp.h"

enum {
	CJ_LANES_ONE = 1, CJ_LANES_WARP = 32, CJ_LANES_MAP = 256,
	CJ_FRAME_ALIGN = 64, CJ_MAX_CLUSTER = 16,
	CJ_FRAME_MASK = 0		/* offset: lanes that run now */
};
#define CJ_NO_OFFSET	UINT32_MAX

struct cj_frame;
struct cj_step;
typedef void cj_step_fn(struct cj_frame *f, const struct cj_step *s);

struct cj_step {
	cj_step_fn *run;
	uint32_t dst;		/* offsets of values in the frame */
	uint32_t a, b, c;
	uint32_t n;		/* numbers: registers * lanes */
	uint32_t target;	/* of control */
	cj_ref ref;		/* the instruction, for places and attributes */
	uint16_t op;
	uint8_t kind, from;	/* of operands; CONVERT: result, operand; of
				   stores `from` is a cj_written, of "int" it
				   says that the result may wrap */
};

/* A value that is set once per frame: constants and parameters. */
struct cj_preset {
	cj_ref ref;
	uint32_t offset;
};

/* A value of the function around an array_map or expect. */
struct cj_capture {
	uint32_t outer, inner;	/* offsets */
	cj_type type;
};

struct cj_decoded {
	const struct cj_module *module;
	uint32_t function;
	uint32_t lanes;
	uint32_t frame_bytes;
	uint32_t unfinished;		/* offset: lanes that did not return */
	uint32_t index;			/* maps: offset of the index */
	CJ_VEC(struct cj_step) steps;
	CJ_VEC(struct cj_preset) presets;
	CJ_VEC(struct cj_capture) captures;
	CJ_VEC(uint32_t) lists;		/* offsets of operands, see
					   cj_decode_list */
	uint32_t *first;		/* step of each instruction, by ref */
	uint32_t *offset;		/* of each value and slot; by ref, */
	uint32_t *slot;			/* by object; of maps while decoding */
	uint32_t *marks;		/* by object: bytes that say which
					   registers of a bare slot are
					   written; CJ_NO_OFFSET: all are */
	CJ_VEC(const struct cj_decoded *) inner;	/* maps and expects */
	struct cj_memory *tables;	/* by object: known data, packed */
	uint32_t yield;			/* expect: ref of the yield, */
	uint32_t yields[3];		/* offsets of its operands */
};

/* ---- decoding ------------------------------------------------------------ */

/* Control regions that are open, innermost first. */
struct cj_open {
	cj_ref owner;
	uint32_t out, again;		/* masks, or CJ_NO_OFFSET */
	struct cj_open *around;
};

struct cj_decoder {
	struct cj_arena *arena;
	const struct cj_module *module;
	struct cj_decoded *code;
	const struct cj_decoder *outer;	/* of a map: the function around */
	struct cj_decoder *inner;	/* tables that maps share, or NULL */
	CJ_VEC(uint32_t) slots;		/* of a map: those with a place */
	cj_ref self;			/* of a map: its instruction */
	/* by ref */
	cj_region *home;		/* region it stands in, 0: not here */
	cj_ref *last_use;		/* where it dies */
	cj_ref *dies_first, *dies_next;	/* values by where they die */
	bool *preset;			/* set once per frame */
	const uint8_t *place;		/* only of masked accesses; or NULL */
	/* by constant, by region, by object */
	uint32_t *constant;		/* offset of its preset */
	uint32_t *slot_first, *slot_next;
	/* as it goes */
	struct cj_free *free[33];	/* ranges by log2 of their size */
	struct cj_open *open;		/* what can be left */
	cj_ref yields_to;		/* IF that a yield ends, or 0 */
	uint32_t exits;			/* steps that leave the region: the
					   last one plus 1, linked by target */
	uint32_t preset_bytes;
	unsigned depth;
};

/* One per operation, named by its row: emits the steps of instruction `r`. */
typedef void cj_decode_fn(struct cj_decoder *d, cj_ref r);
#define OP(name, text, least, most, rule, result, attr, effects, scope,	\
    engine, level) cj_decode_fn cj_interp_##name;
#include "ops.def"
#undef OP

struct cj_step *cj_step_add(struct cj_decoder *d, cj_ref r, cj_step_fn *run);
/* A step with offsets of the result and up to three operands. */
struct cj_step *cj_step_value(struct cj_decoder *d, cj_ref r, cj_step_fn *run);
/* Room in the frame, used before or never. */
uint32_t cj_decode_range(struct cj_decoder *d, uint32_t bytes);
uint32_t cj_decode_fresh(struct cj_decoder *d, uint32_t bytes);
void cj_decode_release(struct cj_decoder *d, uint32_t offset, uint32_t bytes);
static inline uint32_t
cj_decode_mask_bytes(const struct cj_decoder *d)
{
	return d->code->lanes < 8 ? 8 : d->code->lanes;
}
static inline uint32_t
cj_decode_mask(struct cj_decoder *d)
{
	return cj_decode_range(d, cj_decode_mask_bytes(d));
}
/* Where the result of `r` goes; allots it. */
uint32_t cj_decode_result(struct cj_decoder *d, cj_ref r);
uint32_t cj_decode_operand(struct cj_decoder *d, cj_ref r, unsigned n);
uint32_t cj_decode_slot(struct cj_decoder *d, uint32_t object);
/* The region that a slot lives in begins, or ends (interp_slot.c). */
void cj_decode_open_slot(struct cj_decoder *d, uint32_t object);
void cj_decode_close_slot(struct cj_decoder *d, uint32_t object);
/* The offsets of operands from number `first` on, in the code's `lists`. */
uint32_t cj_decode_list(struct cj_decoder *d, cj_ref r, unsigned first);
/* Keep a constant or parameter in the frame; false if there is no room. */
bool cj_decode_preset(struct cj_decoder *d, cj_ref r);
/* Steps of a region; exits inside are bound to the step that follows it. */
void cj_decode_region(struct cj_decoder *d, cj_region region);
/* A step that leaves for the end of the region around it. */
void cj_decode_exit(struct cj_decoder *d, struct cj_step *s);
/* Code of a map's region on its own; captures what is outside. */
uint32_t cj_decode_inner(struct cj_decoder *d, cj_ref owner);

static inline uint32_t
cj_decode_pc(const struct cj_decoder *d)
{
	return d->code->steps.len;
}

static inline struct cj_step *
cj_decode_at(struct cj_decoder *d, uint32_t pc)
{
	assert(pc < d->code->steps.len);
	return &d->code->steps.at[pc];
}

/* Bytes of one number in a frame. */
static inline uint32_t
cj_reg_bytes(enum cj_kind k)
{
	unsigned bits = k == CJ_KIND_MAP ? 64 : cj_kind_bits(k);

	return bits <= 8 ? 1 : bits / 8;
}

static inline uint32_t
cj_value_bytes(cj_type t, uint32_t lanes)
{
	return cj_reg_bytes(cj_type_kind(t)) * cj_type_count(t) * lanes;
}

/* The bits of a number as num.h has them, from and to a frame or memory. */
uint64_t cj_reg_get(const void *at, size_t i, enum cj_kind k);
void cj_reg_set(void *at, size_t i, enum cj_kind k, uint64_t bits);
void cj_reg_fill(void *at, size_t count, enum cj_kind k, uint64_t bits);

/* Elements in memory (interp_element.c): truth values have a byte, kinds under
 * 8 bits are packed from bit 0 up. */
static inline unsigned
cj_stored_bits(enum cj_kind k)
{
	return k == CJ_KIND_BOOL ? 8 : cj_kind_bits(k);
}
size_t cj_memory_bytes(enum cj_kind k, int64_t elements);
uint64_t cj_memory_get(const struct cj_memory *m, enum cj_kind k, int64_t i);
void cj_memory_set(const struct cj_memory *m, enum cj_kind k, int64_t i,
    uint64_t bits);
/* Elements whose marks are kept: a stage begins a new life, of which nobody has
 * written anything but padding. */
void cj_memory_forget(const struct cj_memory *m, int64_t at, int64_t count);

/* ---- running ------------------------------------------------------------- */

enum cj_state { CJ_STATE_READY, CJ_STATE_WAITING, CJ_STATE_ENDED,
    CJ_STATE_STOPPED };

/* What one OS thread needs to run frames. */
struct cj_machine {
	const struct cj_module *module;
	struct cj_arena *arena;		/* of this thread */
	struct cj_memory *memory;	/* by object; own copy */
	struct cj_fault_list *faults;
	void (*print)(void *user, const char *text);	/* NULL: nowhere */
	void *print_user;
	struct cj_lines *lines;		/* kept first; NULL: straight out */
	const atomic_int *cancel;	/* may be NULL */
	unsigned checks;
	uint64_t step_limit;
	uint64_t open_limit;		/* of loops by `while`; 0: the same */
	const uint64_t *values;		/* for parameters */
	struct cj_block *block;		/* kernels */
	struct cj_race *race;		/* kernels, if asked for */
	struct cj_async *async;		/* kernels that copy by cp.async */
	struct cj_profile *profile;	/* kernels that are counted */
	const struct cj_trace *trace;	/* or traced; may be NULL */
	struct cj_timeline *timeline;	/* or timed; may be NULL */
	struct cj_mbarriers *mbarriers;	/* kernels that have some */
	struct cj_tmem *tmem;		/* kernels with tensor memory */
	struct cj_stages *stages;	/* kernels with pipelines */
	struct cj_host_run *host;
	struct cj_test_run *test;
	bool stop;			/* this thread is to end */
	atomic_int *halt;		/* all are to end; may be NULL */
	struct cj_locks *locks;		/* of atomics; NULL: one thread */
};

enum { CJ_MOST_LOOSE = 16 };
struct cj_frame {
	char *regs;			/* aligned to CJ_FRAME_ALIGN */
	const struct cj_decoded *code;
	struct cj_machine *machine;
	uint32_t pc;
	uint32_t lanes;
	bool full, any;			/* of the mask */
	enum cj_state state;
	uint32_t warp;			/* kernels */
	const struct cj_wait *wait;	/* WAITING: for what */
	uint32_t wait_at, wait_turn;	/* which one of its kind, since when */
	struct cj_clock *clock;		/* kernels that watch races */
	struct cj_clock *stale;		/* before the first of `ahead` waited */
	uint32_t ahead;			/* lanes that know more than others */
	int64_t base;			/* maps: index of lane 0 */
	uint64_t quantum;		/* steps before others have a turn */
	uint64_t steps;			/* since the frame was started */
	uint64_t looped, looped_open, turns;	/* of them in turns of loops */
	struct {
		uint32_t loop;		/* behind its last step; 0: none */
		uint64_t turns;
		char *regs;
	} seen;				/* at the end of a turn */
	uint32_t traced_source, traced_line;	/* shown last */
	struct cj_flight *flights, *landed;	/* copies; for use again */
	uint64_t commits[CJ_LANES_WARP];	/* groups of each lane */
	uint64_t bulk_commits[CJ_LANES_WARP];	/* of stores */
	uint64_t wgmma_commits;
	uint64_t now, product_end;	/* of timelines */
	/* registers of products that others touched since the last fence for
	 * them; what is too much is not looked at */
	struct { uint32_t from, to; } loose[CJ_MOST_LOOSE];
	uint32_t loose_count;
	struct cj_seen_map *seen_maps;	/* that fences have made visible */
};

static inline uint8_t *
cj_mask(const struct cj_frame *f, uint32_t offset)
{
	return (uint8_t *)f->regs + offset;
}

#define CJ_AT(f, type, offset)	((type *)(void *)((f)->regs + (offset)))

void cj_frame_init(struct cj_frame *f, const struct cj_decoded *c,
    struct cj_machine *m, char *regs);
/* Begin at the first step with the first `count` lanes. */
void cj_frame_start(struct cj_frame *f, uint32_t count);
void cj_frame_run(struct cj_frame *f);
/* End this frame and all that runs beside it. */
void cj_frame_stop(struct cj_frame *f);
/* Has another thread or the caller put an end to it? */
bool cj_is_halted(const struct cj_machine *m);
/* Bring `full` and `any` up to date. */
void cj_mask_changed(struct cj_frame *f);

static inline const struct cj_inst *
cj_step_inst(const struct cj_frame *f, const struct cj_step *s)
{
	return cj_inst(f->code->module, s->ref);
}

static inline const struct cj_access *
cj_step_access(const struct cj_frame *f, const struct cj_step *s)
{
	return &f->code->module->accesses.at[cj_step_inst(f, s)->attr];
}

static inline bool
cj_lane_runs(const struct cj_frame *f, uint32_t lane)
{
	return f->regs[CJ_FRAME_MASK + lane] != 0;
}

static inline uint32_t
cj_first_lane(const struct cj_frame *f)
{
	uint32_t lane = 0;

	while (lane + 1 < f->lanes && !cj_lane_runs(f, lane))
		lane++;
	return lane;
}

/* ---- loops that never end (interp_endless.c) ----------------------------- */

/* Does all that is in a loop stay in the frame? */
bool cj_loop_is_closed(const struct cj_decoder *d, cj_region body);
/* A loop is begun, named by where its last step ends. */
void cj_loop_enter(struct cj_frame *f, uint32_t loop);
/* At the end of a turn of a closed loop: was the frame seen like this before,
 * since the loop began? */
bool cj_loop_repeats(struct cj_frame *f, uint32_t loop);

/* ---- vector loops (interp_vec.c, and again for AVX2) --------------------- */

struct cj_vec_table {
	cj_step_fn *op[CJ_OP_COUNT][CJ_KIND_COUNT];
	cj_step_fn *convert[CJ_KIND_COUNT][CJ_KIND_COUNT];
};
extern const struct cj_vec_table cj_vec_plain;
extern const struct cj_vec_table cj_vec_avx2;
const struct cj_vec_table *cj_vec_best(void);
/* The loop over cj_num_apply that every operation and kind has. */
cj_step_fn cj_step_generic, cj_step_convert;
/* Copy n numbers of the lanes that run. */
cj_step_fn cj_step_blend;
/* Some lane has left the range of index: report those that run. */
void cj_index_overflow(struct cj_frame *f, const struct cj_step *s);
/* By ref: is a value of this function only where masked accesses are? */
const uint8_t *cj_decode_places(struct cj_arena *a, const struct cj_module *m,
    cj_region body);

/* The loops of mma over the numbers of one atom (interp_mma.h). */
typedef void cj_mma_floats_fn(const struct cj_mma *mma,
    const double *restrict a, const double *restrict b, double *restrict c);
typedef void cj_mma_integers_fn(const struct cj_mma *mma,
    const int32_t *restrict a, const int32_t *restrict b,
    int32_t *restrict c);
struct cj_mma_table {
	cj_mma_floats_fn *sum, *fma;		/* c += a b */
	/* c = a b; of bits a & b, a ^ b */
	cj_mma_integers_fn *count, *both, *differ;
};
extern const struct cj_mma_table cj_mma_plain;
extern const struct cj_mma_table cj_mma_avx2;
const struct cj_mma_table *cj_mma_best(void);

/* ---- whole warps (interp_collect.c) -------------------------------------- */

/* Report a lane that does not take part in what all 32 do. */
void cj_warp_needed(struct cj_frame *f, const struct cj_step *s);

/* ---- faults (interp_check.c) --------------------------------------------- */

struct cj_fault {
	enum cj_code code;
	cj_ref ref;
	cj_ref other;			/* the other side, or 0 */
	uint64_t block, order;		/* when: for a stable output */
	uint64_t count;			/* of this code at this place */
	const char *text, *note;
	struct cj_fault *next;
};

struct cj_fault_list {
	struct cj_arena *arena;
	struct cj_fault *first;
	uint32_t places[CJ_DIAG_COUNT];	/* kept, per code */
	uint64_t total, unkept[CJ_DIAG_COUNT];
	uint64_t order;
};

void cj_fault_list_init(struct cj_fault_list *l, struct cj_arena *a);
/* A fault of `lane` at a step. Who it was, " in block ... thread ...", is put
 * where the format says CJ_WHO, or at the end. Returns the fault if it is the
 * first of its place, for its note. */
#define CJ_WHO	"\x01"
struct cj_fault *cj_fault_at(struct cj_frame *f, const struct cj_step *s,
    uint32_t lane, enum cj_code code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Is the text of this fault of no use? Then it is counted. To be asked in
 * front of what costs time to say. */
bool cj_fault_again(struct cj_frame *f, const struct cj_step *s,
    enum cj_code code);
/* Has a coordinate at the place of this step been reported already? */
bool cj_fault_is_known(struct cj_frame *f, const struct cj_step *s);
/* "element 5", or "[1, 0] (element 5)" where the tensor has such (in
 * interp_where.c). */
const char *cj_where(const struct cj_frame *f, uint32_t object,
    int64_t element);
/* Move what `from` has into `to`, copied onto its arena. */
void cj_fault_merge(struct cj_fault_list *to, const struct cj_module *m,
    const struct cj_fault_list *from);
/* Report all in order of blocks; the result is the number of faults. */
uint64_t cj_fault_report(struct cj_fault_list *l, const struct cj_module *m,
    struct cj_diags *ds);
/* "block (0, 0, 0), thread (31, 0, 0)", "index 7", or "". */
const char *cj_who(struct cj_arena *a, const struct cj_frame *f,
    uint32_t lane);

/* Lines of print, kept until the blocks are in order again. */
struct cj_line {
	uint64_t block;
	const char *text;
	struct cj_line *next;
};
struct cj_lines {
	struct cj_arena *arena;
	struct cj_line *first, **last;
	uint64_t kept, lost;
};
enum { CJ_MAX_LINES = 1 << 16 };
/* Print what several threads have kept, in order of blocks. */
void cj_lines_print(struct cj_lines **all, unsigned count,
    void (*print)(void *user, const char *text), void *user);
void cj_print_line(struct cj_frame *f, const char *text);

/* ---- threads (interp_parallel.c) ----------------------------------------- */

/* lo .. hi - 1 by worker number `worker`; false: this worker ends. */
typedef bool cj_piece_fn(void *user, unsigned worker, uint64_t lo,
    uint64_t hi);
/* How many threads for so many pieces; a wish of 0 is all cores. At least 1,
 * at most 256. */
unsigned cj_worker_count(unsigned wish, uint64_t pieces);
void cj_parallel(unsigned workers, uint64_t count, uint64_t grain,
    cj_piece_fn *run, void *user);

/* ---- kernels (interp_kernel.c, interp_block.c) --------------------------- */

/*
 * What a warp waits for. Whoever makes a frame WAITING sets `wait`; the
 * block's loop asks `may_go` before each turn. When no warp of what runs
 * together can go on, each says where it hangs.
 */
struct cj_wait {
	bool (*may_go)(struct cj_frame *f);
	void (*describe)(const struct cj_frame *f, struct cj_strbuf *out);
};

/* bar.sync and bar.arrive; number 0 is that of the block. */
enum { CJ_BARRIERS = 16 };
struct cj_barrier {
	uint32_t arrived, expected;	/* threads */
	uint32_t turn;			/* how often it has opened */
	cj_ref first, last;		/* who came first, who opened it last */
	const struct cj_past *coming, *done;	/* of those who come, came */
	uint64_t coming_at, done_at;	/* of timelines: the last of them */
};

struct cj_block {
	const struct cj_kernel_launch *launch;
	uint64_t number;		/* linear */
	int64_t at[3];
	uint32_t threads, warps;
	struct cj_cluster *cluster;	/* that it is one of */
	struct cj_frame *frames;	/* warps */
	int64_t *thread[3];		/* coordinates, by thread number */
	struct cj_machine machine;	/* its memory, its view of races */
	struct cj_barrier barrier[CJ_BARRIERS];
	uint32_t *order;		/* of warps */
	uint64_t seed, drawn;
};

/* Memory for blocks that run one after the other: their registers, shared
 * memory and shadows. `proto` holds what all machines have. */
struct cj_block *cj_block_create(struct cj_arena *a,
    const struct cj_decoded *c, const struct cj_kernel_launch *l,
    const struct cj_machine *proto, const struct cj_race *race);
/* Make it block `number`, nothing of it run yet. */
void cj_block_start(struct cj_block *b, uint64_t number, uint64_t seed);
/* Run each warp that can for a while. */
enum cj_turn { CJ_TURN_RAN, CJ_TURN_STUCK, CJ_TURN_ENDED };
enum cj_turn cj_block_turn(struct cj_block *b);
/* Blocks that wait for each other are all stuck: report it, stop them. */
void cj_block_hang(struct cj_block *b);
uint64_t cj_block_steps(const struct cj_block *b);

/* Do all its warps that have not ended wait for `wait`, and some do? */
bool cj_block_waits(const struct cj_block *b, const struct cj_wait *wait);
/* Stop the warp at a barrier until `wait` lets it go on. */
void cj_barrier_wait(struct cj_frame *f, const struct cj_step *s,
    const struct cj_wait *wait, uint32_t turn);

/* ---- clusters (interp_cluster.c) ----------------------------------------- */

/* Blocks that run together, by rank. */
struct cj_cluster {
	struct cj_block *blocks[CJ_MAX_CLUSTER];
	uint32_t count, left;		/* blocks; those not given back */
	uint32_t turn;			/* how often its barrier has opened */
	uint64_t done_at;		/* of timelines */
	bool has_ended;
	struct cj_shared_place *places;	/* of tiles that blocks share */
};
/* A new cluster: nobody has asked for any. */
void cj_share_clear(struct cj_cluster *c);

/* The number of the block of `rank` in a cluster of a launch. */
uint64_t cj_cluster_block(const struct cj_kernel_launch *l, uint64_t cluster,
    uint32_t rank);
uint32_t cj_cluster_size(const struct cj_kernel_launch *l);
/* Nobody can run: its barrier opens, if all have come. */
bool cj_cluster_open(struct cj_cluster *c);
/* Have all its blocks? Only then may any be given back. */
bool cj_cluster_ended(struct cj_cluster *c);

/* Atomics of several threads take turns by address. */
struct cj_locks {
	atomic_flag at[64];
};

/* ---- host and test functions --------------------------------------------- */

/* A test function is about to touch an array itself. */
void cj_test_touch(struct cj_frame *f, uint32_t object, bool writes);

/* ---- what happened before what (interp_clock.c) -------------------------- */

/* A published clock: never changes; NULL knows nothing. */
struct cj_past;

/*
 * For whom something has happened: for threads, or also for units of the
 * hardware, which see what has a fence behind it. In shared memory that is one
 * of whoever did it, in front of what others wait for; of what a copy by
 * cp.async brought, and in global memory, one of anybody on the way.
 */
enum cj_view { CJ_VIEW_THREADS, CJ_VIEW_SHARED, CJ_VIEW_LANDED,
    CJ_VIEW_GLOBAL, CJ_VIEWS };

/* What is known of a warp: the last interval of all of its lanes, and up to
 * which one some of them have done something since, or 0. */
struct cj_known {
	uint32_t interval, since;
	uint32_t lanes;			/* a bit for each of them */
};

struct cj_clock {
	struct cj_seen {
		struct cj_known warp[CJ_LANES_WARP];	/* of the own block */
	} of[CJ_VIEWS];
	uint32_t floor;			/* no interval of threads is less */
	uint32_t met;			/* first interval since lanes met */
	const struct cj_past *past;	/* of all blocks */
};

/* All of these do nothing where races are not looked for. */
void cj_clock_begin(struct cj_frame *f);
/* Whoever joins what this one published is ordered behind all it did. */
const struct cj_past *cj_clock_publish(struct cj_frame *f);
void cj_clock_join(struct cj_frame *f, const struct cj_past *p);
/* Is all that the warps of this block did in it behind the frame? */
bool cj_clock_is_behind(const struct cj_frame *f, const struct cj_past *p);
const struct cj_past *cj_past_join(struct cj_frame *f,
    const struct cj_past *x, const struct cj_past *y);
/* A barrier of the warps that come, or of the lanes of one. */
void cj_clock_meet(struct cj_block *b, bool (*comes)(const struct cj_frame *));
void cj_clock_meet_blocks(struct cj_block *const *blocks, uint32_t count,
    bool (*comes)(const struct cj_frame *));
void cj_clock_meet_lanes(struct cj_frame *f);
/* What has happened for the threads that run has for units as well. */
void cj_clock_fence(struct cj_frame *f, enum cj_view view);

/* An access that may order others. */
struct cj_ordered {
	uintptr_t address;
	uint64_t owner;		/* the block whose shared memory it is */
	bool is_update;
	enum cj_order order;
	enum cj_memory_scope scope;
};
/* `published` begins as NULL for each step. */
void cj_clock_release(struct cj_frame *f, const struct cj_ordered *o,
    const struct cj_past **published);
void cj_clock_acquire(struct cj_frame *f, const struct cj_ordered *o);

/* ---- races (interp_race.c) ----------------------------------------------- */

/* Shadows for the memory of a launch that somebody writes; then the view of a
 * block, with its shared memory, which each block begins anew. */
struct cj_race *cj_race_create(struct cj_arena *a, const struct cj_decoded *c,
    const struct cj_kernel_launch *k);
struct cj_race *cj_race_worker(struct cj_arena *a, const struct cj_race *from,
    const struct cj_memory *memory);
void cj_race_clear(struct cj_race *r, uint64_t block);
bool cj_race_watches(const struct cj_race *r, uint32_t object);
/* No longer look for races in this launch; why, or NULL. */
void cj_race_give_up(struct cj_frame *f, const char *why);
const char *cj_race_stopped(const struct cj_race *r);

/* What a lane touches: elements that exist. */
struct cj_touched_range {
	uint32_t object, width;
	int64_t first;
	bool is_write, is_atomic;
	bool is_async;		/* by a unit, which needs a fence between */
	bool is_over;		/* reads before anybody goes on behind it */
};
void cj_race_access(struct cj_frame *f, const struct cj_step *s,
    uint32_t lane, struct cj_touched_range t);
/* The same in the shared memory of another block of the cluster. */
void cj_race_access_of(const struct cj_block *owner, struct cj_frame *f,
    const struct cj_step *s, uint32_t lane, struct cj_touched_range t);
/*
 * The hardware's own units move data at a time that nobody knows: like threads
 * of their own, whose intervals others learn of where they wait for the unit's
 * end. Loads of a block by TMA are told apart by the mbarrier they signal (its
 * number modulo 32), stores by the warp that issues them.
 * The warps' loads and stores of tensor memory, and the products that they
 * issue into it, are told apart by warps.
 */
enum cj_unit_kind { CJ_UNIT_LOAD, CJ_UNIT_STORE, CJ_UNIT_TMEM_LOAD,
    CJ_UNIT_TMEM_STORE, CJ_UNIT_PRODUCT, CJ_UNIT_KINDS };
struct cj_unit {
	enum cj_unit_kind kind;
	uint32_t number, interval;
};
/* A unit writes elements from now on, on behalf of a step that has announced
 * the access; or it reads them, which it announces itself. */
void cj_race_unit(const struct cj_block *owner, struct cj_frame *f,
    const struct cj_step *s, struct cj_unit u, struct cj_touched_range t);
/* What whoever waits for it learns; NULL where races are not looked for. */
const struct cj_past *cj_unit_past(struct cj_frame *f,
    const struct cj_block *owner, struct cj_unit u);
/* Of all lanes that run: t.first is not used. */
void cj_race_access_all(struct cj_frame *f, const struct cj_step *s,
    struct cj_touched_range t, const int64_t *first);

/* ---- one lane's elements (interp_vectors.c) ------------------------------ */

struct cj_reach {
	const struct cj_access *access;
	int64_t first;
	uint32_t width;
};
/* Combine an element with a value, which cas puts where `expected` stands;
 * gives the old one. Threads of ours take turns (interp_element.c). */
uint64_t cj_memory_update(struct cj_frame *f, const struct cj_memory *m,
    enum cj_kind k, int64_t at, enum cj_atomic how, uint64_t value,
    uint64_t expected);
void cj_memory_combine(struct cj_frame *f, const struct cj_memory *m,
    enum cj_kind k, int64_t at, enum cj_atomic how, uint64_t value);
/* Inside, allowed, aligned and, to be read, written by somebody? Faults. */
bool cj_reach_may(struct cj_frame *f, const struct cj_step *s, uint32_t lane,
    struct cj_reach r, bool writes);

/* Where along K number i of a row of what is stored of a sparse operand
 * stands, by the metadata that the lanes of a warp hold for 16 rows. */
struct cj_places {
	uint16_t at[16][64];
};
void cj_sparse_places(struct cj_frame *f, const struct cj_step *s,
    const struct cj_sparse *what, const uint32_t *words,
    struct cj_places *out);

/* ---- counts (interp_count.c) --------------------------------------------- */

/* What the lanes of a warp touch at once: bytes of each from an address on. */
struct cj_touched_lanes {
	uint32_t bytes;
	bool takes_part[CJ_LANES_WARP];
	uint64_t address[CJ_LANES_WARP];	/* from element 0 */
};
/* Both only where machine->profile is not NULL. */
void cj_count_step(struct cj_frame *f, const struct cj_step *s);
void cj_count_access(struct cj_frame *f, const struct cj_step *s,
    uint32_t object, const struct cj_touched_lanes *t);

/* ---- traces (interp_trace.c): only where machine->trace is not NULL ------ */

void cj_trace_before(struct cj_frame *f, const struct cj_step *s);
void cj_trace_after(struct cj_frame *f, const struct cj_step *s);
/* What a warp holds at a step, as tables (interp_stop.c). */
void cj_stop_show(struct cj_frame *f, const struct cj_step *s);

/* ---- registers of products in flight (interp_wgmma.c) -------------------- */

/* A step reads or writes bytes of the frame: a fault if a product that nobody
 * has waited for writes them, or is to read what is written. */
void cj_wgmma_meets(struct cj_frame *f, const struct cj_step *s,
    uint32_t offset, uint32_t bytes, bool writes);

/* ---- registers of slots (interp_slot.c) ---------------------------------- */

/* So many registers of all lanes from the access's first one on: a fault where
 * nobody has written them; they are written now. */
void cj_slot_reads(struct cj_frame *f, const struct cj_step *s,
    const struct cj_access *a, uint32_t registers);
void cj_slot_writes(struct cj_frame *f, const struct cj_access *a,
    uint32_t registers);

/* ---- timelines (interp_timeline.c): nothing where there is none ---------- */

/* The warp is at a step: in front of each, where machine->timeline is. */
void cj_timeline_step(struct cj_frame *f, const struct cj_step *s);
/* It has waited for something that happened at `until`. */
void cj_timeline_wait(struct cj_frame *f, const struct cj_step *s,
    uint64_t until);
/* A copy or product begins; when it will have ended. */
uint64_t cj_timeline_copy(struct cj_frame *f, const struct cj_step *s,
    int64_t bytes);
uint64_t cj_timeline_product(struct cj_frame *f, const struct cj_step *s,
    uint32_t columns);

/* ---- copies in flight (interp_async.c) ----------------------------------- */

/* NULL: the code has none. */
struct cj_async *cj_async_create(struct cj_arena *a,
    const struct cj_decoded *c);
/* A warp begins a new block. */
void cj_async_clear(struct cj_frame *f);
/* Certain: no copy in flight has to do with these elements. */
bool cj_async_is_quiet(const struct cj_frame *f, uint32_t object,
    int64_t first, int64_t count, bool writes);
/* An access to what a copy has not filled, or a write of what it has not
 * read: reports it. */
bool cj_async_meets(struct cj_frame *f, const struct cj_step *s,
    uint32_t lane, struct cj_touched_range t);

/* Land all copies of the lanes that run. */
void cj_async_land_all(struct cj_frame *f, const struct cj_step *s);
/* Land all copies into a position of a pipeline, of all warps. */
void cj_async_land(struct cj_frame *f, uint32_t pipeline, uint64_t position);

/* ---- stages of pipelines (interp_stage.c) -------------------------------- */

/* NULL: the code has none. */
struct cj_stages *cj_stages_create(struct cj_arena *a,
    const struct cj_decoded *c);
void cj_stages_clear(struct cj_stages *s);
/* The position that a warp is filling. */
uint64_t cj_stages_filling(const struct cj_frame *f, uint32_t pipeline);
/* Give back the stages of consume blocks that an exit to `target` leaves. */
void cj_decode_releases(struct cj_decoder *d, cj_ref target);

/* ---- random numbers (interp_random.c) ------------------------------------ */

/* Philox 4x32-10: four words for a counter and a key. */
void cj_philox(uint64_t key, uint64_t counter, uint32_t out[4]);
/* Element `i` of a generator, as f64; the same on every machine. */
double cj_random_uniform(uint64_t seed, uint64_t i, double low, double high);
/* Elements 2 pair and 2 pair + 1. */
void cj_random_normals(uint64_t seed, uint64_t pair, double out[2]);
int64_t cj_random_integer(uint64_t seed, uint64_t i, int64_t low,
    int64_t high);

#endif
