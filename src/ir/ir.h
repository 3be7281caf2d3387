/*
 * Front header of ir/: the intermediate representation.
 *
 * A module is one specialisation of a kernel (one host function, a device
 * function for each launch), or one test or bench (one test function). All
 * links are 32-bit indices; 0 is none. Control is nested regions, never jumps.
 * The result of an instruction is a value named by the instruction. Memory is
 * objects and offsets in elements. ops.def says what each operation takes.
 *
 *	module -> functions -> body region -> instructions -> regions ...
 *	       -> objects, constants, accesses, places, records
 */
#ifndef CJ_IR_H
#define CJ_IR_H

#include "mma.h"
#include "num.h"
#include "target.h"
#include "type.h"

typedef uint32_t cj_ref;	/* an instruction and its value */
typedef uint32_t cj_region;
typedef uint32_t cj_place;

enum cj_op {
	CJ_OP_NONE,
#define OP(name, text, least, most, rule, result, attr, effects, scope,	\
    engine, level) CJ_OP_##name,
#include "ops.def"
#undef OP
	CJ_OP_COUNT
};

enum cj_rule { CJ_RULE_NONE, CJ_RULE_SAME, CJ_RULE_CUSTOM };
enum cj_result { CJ_RESULT_NONE, CJ_RESULT_SAME, CJ_RESULT_BOOL,
    CJ_RESULT_ANY };
enum cj_attr { CJ_ATTR_NONE, CJ_ATTR_CONSTANT, CJ_ATTR_ACCESS, CJ_ATTR_INT,
    CJ_ATTR_TARGET, CJ_ATTR_POSITIONS, CJ_ATTR_CONVERSION, CJ_ATTR_LAUNCH,
    CJ_ATTR_REQUIRE, CJ_ATTR_TEXT, CJ_ATTR_EXPECT, CJ_ATTR_CALL,
    CJ_ATTR_ARRAY, CJ_ATTR_COPY, CJ_ATTR_MMA, CJ_ATTR_STAGE, CJ_ATTR_MAP,
    CJ_ATTR_TMA, CJ_ATTR_WGMMA, CJ_ATTR_TMEM, CJ_ATTR_TCGEN05,
    CJ_ATTR_BULK, CJ_ATTR_ROLE, CJ_ATTR_ORDER };
enum cj_effects { CJ_EFFECTS_PURE, CJ_EFFECTS_READ, CJ_EFFECTS_WRITE,
    CJ_EFFECTS_SYNC, CJ_EFFECTS_IO, CJ_EFFECTS_EXIT, CJ_EFFECTS_REGION };
enum cj_scope { CJ_SCOPE_THREAD, CJ_SCOPE_WARP, CJ_SCOPE_WARPGROUP,
    CJ_SCOPE_ROLE, CJ_SCOPE_BLOCK, CJ_SCOPE_CLUSTER, CJ_SCOPE_GRID };
enum cj_engine { CJ_ENGINE_NONE, CJ_ENGINE_CP_ASYNC, CJ_ENGINE_BULK,
    CJ_ENGINE_TMA, CJ_ENGINE_WGMMA, CJ_ENGINE_TCGEN05 };
enum cj_level { CJ_LEVEL_BOTH, CJ_LEVEL_STRUCTURED, CJ_LEVEL_LOWERED,
    CJ_LEVEL_HOST, CJ_LEVEL_TEST };

/* A row of ops.def. */
struct cj_op_info {
	const char *text;
	uint16_t least, most;
	enum cj_rule rule;
	enum cj_result result;
	enum cj_attr attr;
	enum cj_effects effects;
	enum cj_scope scope;
	enum cj_engine engine;
	enum cj_level level;
};
extern const struct cj_op_info cj_op_info[CJ_OP_COUNT];
enum cj_op cj_op_find(const char *text);

/* Kinds that an operation with the rule SAME is for. BITS: integers, bool. */
enum cj_demand { CJ_DEMAND_ANY, CJ_DEMAND_NUMBER, CJ_DEMAND_INTEGER,
    CJ_DEMAND_BITS, CJ_DEMAND_FLOAT };
enum cj_demand cj_op_demand(enum cj_op op);

enum cj_special {		/* attr of SPECIAL; the axis is x, y, z */
	CJ_SPECIAL_THREAD_X, CJ_SPECIAL_THREAD_Y, CJ_SPECIAL_THREAD_Z,
	CJ_SPECIAL_BLOCK_X, CJ_SPECIAL_BLOCK_Y, CJ_SPECIAL_BLOCK_Z,
	CJ_SPECIAL_BLOCK_DIM_X, CJ_SPECIAL_BLOCK_DIM_Y, CJ_SPECIAL_BLOCK_DIM_Z,
	CJ_SPECIAL_GRID_DIM_X, CJ_SPECIAL_GRID_DIM_Y, CJ_SPECIAL_GRID_DIM_Z,
	CJ_SPECIAL_LANE, CJ_SPECIAL_WARP, CJ_SPECIAL_BLOCK_RANK,
	CJ_SPECIAL_COUNT
};
/* attr of DEVICE: the fact, and for clusters in the bytes above it how many
 * blocks form one and how many of them an SM has. */
enum cj_device_fact { CJ_DEVICE_SMS, CJ_DEVICE_CLUSTERS,
    CJ_DEVICE_FACT_COUNT };
/* At most; of more than 8 in a cluster the driver wants to be asked. */
enum { CJ_CLUSTER_BLOCKS = 16, CJ_SM_BLOCKS = 32 };
struct cj_device_ask {
	enum cj_device_fact fact;
	unsigned blocks, per_sm;
};

static inline uint32_t
cj_device_attr(struct cj_device_ask ask)
{
	return (uint32_t)ask.fact | ask.blocks << 8 | ask.per_sm << 16;
}

static inline struct cj_device_ask
cj_device_ask(uint32_t attr)
{
	return (struct cj_device_ask){ (enum cj_device_fact)(attr & 255),
	    attr >> 8 & 255, attr >> 16 };
}

enum cj_fence { CJ_FENCE_MBARRIER_INIT, CJ_FENCE_ASYNC, CJ_FENCE_ASYNC_SHARED,
    CJ_FENCE_ASYNC_GLOBAL, CJ_FENCE_BEFORE_SYNC, CJ_FENCE_AFTER_SYNC,
    CJ_FENCE_COUNT };
enum cj_tmem_wait { CJ_TMEM_WAIT_LOAD, CJ_TMEM_WAIT_STORE,
    CJ_TMEM_WAIT_COUNT };
enum cj_shfl { CJ_SHFL_IDX, CJ_SHFL_UP, CJ_SHFL_DOWN, CJ_SHFL_XOR };

/* 32 bytes. Operands are refs in the module's pool. */
struct cj_inst {
	uint16_t op, operand_count;
	cj_type type;		/* 0: no result */
	uint32_t operands;	/* first, in pool */
	uint32_t attr;
	cj_place place;
	cj_ref prev, next;	/* in its region */
	cj_region region;	/* its first; others follow by `next` */
};
_Static_assert(sizeof(struct cj_inst) == 32, "an instruction is 32 bytes");

struct cj_region_info {
	cj_ref owner;		/* 0: the body of a function */
	cj_ref first, last;
	cj_region next;		/* the owner's next region */
	cj_region parent;	/* the region its owner stands in */
};

/* Calls within calls, all copied out. */
enum { CJ_MAX_INLINE = 200 };

struct cj_place_info {
	struct cj_span span;
	cj_place parent;	/* place of the call or turn that led here */
	int64_t turn;		/* of the static loop at `span`; -1: not one */
};

struct cj_constant {
	cj_type type;
	const uint64_t *bits;	/* one per register */
};

enum cj_object_kind {
	CJ_OBJECT_TENSOR,	/* a tensor parameter */
	CJ_OBJECT_WORKSPACE,
	CJ_OBJECT_SHARED,
	CJ_OBJECT_TABLE,	/* known data */
	CJ_OBJECT_FOREIGN,	/* from a pointer */
	CJ_OBJECT_ARRAY,	/* of a test */
	CJ_OBJECT_TMEM,		/* tensor memory: 128 lanes of its columns */
	CJ_OBJECT_SLOT		/* registers */
};

struct cj_object {
	enum cj_object_kind kind;
	enum cj_kind element;
	int64_t extent;		/* elements; -1: known at run time only */
	uint32_t align;		/* of element 0, in bytes, at least one */
	bool reads, writes;	/* rights, from the contract and the text */
	bool may_alias;		/* alias(y) was stated */
	bool is_bare;		/* SLOT: nobody gives it a first value */
	bool restored;		/* WORKSPACE: a run leaves it as filled */
	uint32_t parameter;	/* TENSOR: number of the run-time parameter */
	uint32_t member;	/* TENSOR: which of x[n] */
	cj_region region;	/* SHARED, SLOT: where it lives */
	uint32_t stages;	/* SHARED: members of equal extent, which a
				   stage of a pipeline picks; 0: one object */
	uint32_t freed;		/* SHARED: mbarriers whose phases end when a
				   stage is given back; 0: none that say all */
	uint32_t host, offset;	/* SHARED: lies in the memory of another one,
				   so many bytes behind its first; 0: in its
				   own */
	int64_t most, multiple;	/* SLOT of INDEX: its values are multiples of
				   this, 0..most; multiple 0: not known */
	const char *name;	/* for reports */
	const char *layout;	/* for reports, may be NULL */
	const uint64_t *data;	/* TABLE: bits of each element */
	cj_place place;
};

/* The operations whose access says how they change one element as a whole. */
static inline bool
cj_op_is_atomic(enum cj_op op)
{
	return op == CJ_OP_ATOMIC || op == CJ_OP_REMOTE_ATOMIC;
}

enum cj_cache { CJ_CACHE_DEFAULT, CJ_CACHE_STREAMING, CJ_CACHE_LAST_USE,
    CJ_CACHE_NO_ALLOCATE, CJ_CACHE_READ_ONLY };
enum cj_order { CJ_ORDER_WEAK, CJ_ORDER_RELAXED, CJ_ORDER_ACQUIRE,
    CJ_ORDER_RELEASE, CJ_ORDER_ACQ_REL };
enum cj_memory_scope { CJ_MEMORY_BLOCK, CJ_MEMORY_CLUSTER, CJ_MEMORY_GPU,
    CJ_MEMORY_SYSTEM };
enum cj_atomic { CJ_ATOMIC_ADD, CJ_ATOMIC_MIN, CJ_ATOMIC_MAX, CJ_ATOMIC_AND,
    CJ_ATOMIC_OR, CJ_ATOMIC_XOR, CJ_ATOMIC_INC, CJ_ATOMIC_DEC, CJ_ATOMIC_EXCH,
    CJ_ATOMIC_CAS, CJ_ATOMIC_COUNT };

struct cj_access {
	uint32_t object;
	uint32_t position;	/* slots: first register */
	uint32_t align;		/* proved alignment of the access in bytes */
	enum cj_cache cache;
	enum cj_order order;
	enum cj_memory_scope scope;
	enum cj_atomic atomic;
	bool transposed;	/* LDMATRIX, STMATRIX: in units of 16 bits */
	bool is_early;		/* LOAD: the launch in front left it as it is */
	const char *why;	/* why it is not wider, or NULL */
};

/* An asynchronous copy: `count` neighbours from one place to another. */
enum cj_copy_cache { CJ_COPY_ALL, CJ_COPY_GLOBAL };	/* .ca, .cg */
struct cj_copy {
	uint32_t to, from;	/* accesses */
	uint32_t count;		/* elements */
	enum cj_copy_cache cache;
	uint32_t prefetch;	/* bytes that L2 may fetch: 0, 64, 128, 256 */
};
#define CJ_WAIT_ALL	UINT32_MAX	/* attr of CP_WAIT */
enum { CJ_PTX_RESULTS = 16 };	/* registers of one PTX instruction */
/* A function of another language is called by its name behind this, and the
 * call's text begins with a comment that has it. */
#define CJ_EXTERN_PREFIX	"cjx_"
#define CJ_EXTERN_MARK		"// extern "

/* S stages, each a member of every field. */
struct cj_pipeline {
	const char *name;
	uint32_t stages;
	cj_region region;	/* where it lives */
	const uint32_t *fields;	/* objects */
	uint32_t field_count;
	bool is_split;		/* each stage goes to one of its roles */
	cj_place place;
};
struct cj_stage_use {	/* of PRODUCE, CONSUME, SETTLE, SKIP, RELEASE */
	uint32_t pipeline;
	uint32_t count;		/* ahead(n), in_flight(n) */
	bool keep;
	bool by_lane;		/* the role's first lane fills it alone */
};
enum { CJ_MAX_STAGES = 32 };

/* Warps of a block that run a region; roles that stand side by side run at the
 * same time. */
struct cj_role {
	const char *name;
	uint32_t first, warps;
	uint32_t registers;	/* of a thread; 0: as at the launch */
};
/* Turns 0 .. count - 1, taken one after the other, for ever. */
struct cj_turns {
	const char *name;
	uint32_t count;
	cj_place place;
};

/* What is known of a tensor map: a tensor of up to 5 modes, mode 0 with stride
 * 1, and the box of it that an instruction copies. Shared memory holds a box
 * in the order of its modes, bytes exchanged by the swizzle. */
enum { CJ_MAP_MODES = 5 };
enum cj_map_swizzle { CJ_MAP_PLAIN, CJ_MAP_32, CJ_MAP_64, CJ_MAP_128 };
/*
 * TILES	a box, every step-th element of each mode but mode 0
 * PIXELS	pixels as rows: mode 0 has channels, the last one images. Modes
 *		in between go from `lower` to `upper` from their end in steps; a
 *		box is so many channels of so many pixels, the first of these
 *		modes first. A copy names a pixel; a load then what is added to
 *		each
 * ROWS		four rows of a matrix, each by its number, from a column on
 */
enum cj_map_kind { CJ_MAP_TILES, CJ_MAP_PIXELS, CJ_MAP_ROWS };
enum { CJ_MAP_ROW_COUNT = 4 };
struct cj_map {
	uint32_t object;
	uint32_t rank;
	uint32_t box[CJ_MAP_MODES];
	enum cj_map_swizzle swizzle;
	uint32_t promote;	/* bytes that L2 fetches: 0, 64, 128, 256 */
	bool fills_nan;		/* loads, from outside of the tensor; else 0 */
	bool compares;		/* stores take the less or the greater: signs
				   count */
	enum cj_map_kind kind;
	int32_t step[CJ_MAP_MODES];	/* of each mode, 1 to 8 */
	int32_t lower[CJ_MAP_MODES - 2], upper[CJ_MAP_MODES - 2];
};
enum { CJ_MAP_NUMBERS = 2 * CJ_MAP_MODES - 2 };	/* of a copy, at most */
/* Coordinates of a copy, and offsets. */
static inline uint32_t
cj_map_numbers(const struct cj_map *map)
{
	switch (map->kind) {
	case CJ_MAP_TILES: break;
	case CJ_MAP_PIXELS: return 2 * map->rank - 2;
	case CJ_MAP_ROWS: return 1 + CJ_MAP_ROW_COUNT;
	}
	return map->rank;
}
/* The largest offset of a mode of pixels; the least is 0. */
static inline int64_t
cj_map_most_offset(const struct cj_map *map)
{
	static const int64_t most[] = { 0, 65535, 255, 31 };

	return most[map->rank - 2];
}
/* What a load brings from outside of the tensor: 0, or the hardware's own NaN,
 * which it knows of these kinds. */
static inline bool
cj_map_can_fill_nan(enum cj_kind k)
{
	return k == CJ_KIND_F16 || k == CJ_KIND_BF16 || k == CJ_KIND_TF32 ||
	    k == CJ_KIND_F32 || k == CJ_KIND_F64;
}
static inline uint64_t
cj_map_fill(const struct cj_map *map, enum cj_kind k)
{
	return map->fills_nan ? UINT64_C(0x7ff77ff77ff77ff7) >> (64 -
	    cj_kind_bits(k)) : 0;
}
/* What can be replaced in a map: by mode, the stride of mode 0 is 1. */
enum cj_map_field { CJ_MAP_ADDRESS, CJ_MAP_EXTENT,
    CJ_MAP_STRIDE = CJ_MAP_EXTENT + CJ_MAP_MODES,
    CJ_MAP_FIELD_COUNT = CJ_MAP_STRIDE + CJ_MAP_MODES };
enum { CJ_MAP_PROMOTE = 256 };	/* unless the program says otherwise */
/* Arrivals and bytes of a phase that an mbarrier can count. */
enum { CJ_MBARRIER_MOST = (1 << 20) - 1 };
/* What L2 is told of a copy's lines. */
enum cj_evict { CJ_EVICT_NORMAL, CJ_EVICT_FIRST, CJ_EVICT_LAST,
    CJ_EVICT_COUNT };
struct cj_tma_copy {
	uint32_t map;		/* record */
	uint32_t shared;	/* access */
	uint32_t signal;	/* access of an mbarrier, 0: stores */
	enum cj_evict evict;
	bool is_early;		/* loads: of what the launch in front leaves */
	bool reduces;		/* stores: combine what is there with it: */
	enum cj_atomic how;
	uint32_t share;		/* loads of stages: bit n: blocks that are
				   equal but for mode n of the cluster send
				   each other parts of it, */
	uint32_t cut;		/* cut along this mode of the map */
};
/* BULK_COPY: neighbours, between global and shared memory, or to that of a
 * block of the cluster; SEND: registers to the latter. */
struct cj_bulk_copy {
	uint32_t to, from;	/* accesses; from 0: registers */
	uint32_t signal;	/* access of an mbarrier, 0: to global memory */
	enum cj_evict evict;
	bool reduces;		/* combines what is there with what comes: */
	enum cj_atomic how;
};

/* How an operand of a product lies in shared memory, from its offset on: rows
 * of the swizzle's width (16 bytes if plain), 8 of them to a tile. K-major:
 * `stride` bytes between tiles of 8 rows, `leading` between columns of 16
 * bytes if plain. MN-major: the fields as PTX has them. */
struct cj_operand_desc {
	uint32_t leading, stride;	/* bytes */
	enum cj_map_swizzle swizzle;
	bool by_column;			/* MN-major */
};
/* A product of a warpgroup: 64 x n x k. */
struct cj_wgmma {
	const char *name;		/* the atom's */
	uint32_t n, k;
	enum cj_kind a, b, c;
	bool saturate;			/* integers: clamp the sum, else wrap */
	bool counts;			/* bits that both have set; a u8 is 8 */
	/* 0: A is whole, else half of k is stored, and so many atoms along k
	 * share a word of metadata, of which it takes the selected part */
	uint32_t selectors, selector;
	uint32_t sum;			/* access: slot, position */
	uint32_t a_at, b_at;		/* accesses; A may be in a slot */
	struct cj_operand_desc a_desc, b_desc;
};

/* Tensor memory. An address: bits 31..16 lane, 15..0 column. */
enum { CJ_TMEM_LANES = 128, CJ_TMEM_COLUMNS = 512, CJ_TMEM_LEAST = 32,
    CJ_TMEM_LANE_STEP = 1 << 16 };
/* Copies from shared memory: what each of the four times 32 lanes gets. */
enum cj_tmem_spread { CJ_TMEM_OWN, CJ_TMEM_PAIRS_02_13, CJ_TMEM_PAIRS_01_23,
    CJ_TMEM_ALL_FOUR, CJ_TMEM_SPREADS };
struct cj_tmem_use {
	uint32_t tmem;			/* access: the object */
	uint32_t other;			/* access: ALLOC: the address; LOAD:
					   slot, position; COPY: the matrix */
	uint32_t lanes, bits, repeat;	/* LOAD, STORE, COPY: the shape */
	bool packs;			/* 16 bits of each column */
	enum cj_tmem_spread spread;	/* COPY */
	struct cj_operand_desc desc;	/* COPY */
};
/* A product m x n x k that one thread issues, its sum in tensor memory. */
struct cj_tcgen05 {
	uint32_t m, n, k;
	enum cj_kind a, b, d;
	uint32_t d_at, a_at, b_at;	/* accesses; A may be in tensor
					   memory */
	struct cj_operand_desc a_desc, b_desc;
};

struct cj_positions {
	uint32_t count;
	const uint32_t *at;
};

struct cj_require {
	const char *parameter;	/* the argument that is wrong, or NULL */
	const char *need;	/* "N % 8 == 0", "16-byte alignment" */
	const char *names;	/* what the values are: "N, ld", or NULL */
	enum cj_code code;
};

struct cj_launch {
	uint32_t function;	/* the device function */
	bool cooperative, dependent;
};

enum cj_generator { CJ_ARRAY_EMPTY, CJ_ARRAY_FULL, CJ_ARRAY_NORMAL,
    CJ_ARRAY_UNIFORM, CJ_ARRAY_INTEGERS, CJ_ARRAY_IOTA };
struct cj_array {
	uint32_t object;
	enum cj_generator generator;	/* FULL: value; UNIFORM, INTEGERS: low,
					   high, seed; NORMAL: seed */
};

struct cj_expect {
	const char *text;	/* of the condition, as written */
	const char *left, *right;	/* texts of the sides, or NULL */
};

/* A launch or `time` of a kernel in a test: who is called and with what. With
 * kernel NULL the one argument is the result of the module (elab.h). */
enum cj_argument_kind { CJ_ARGUMENT_TENSOR, CJ_ARGUMENT_SCALAR,
    CJ_ARGUMENT_NONE };
struct cj_argument {
	enum cj_argument_kind kind;
	uint32_t parameter;	/* number of the run-time parameter */
	uint32_t member;	/* which of x[n] */
	enum cj_kind element;
	uint32_t object;	/* TENSOR: then operands: offset, extents, */
	uint32_t rank;		/* strides; SCALAR: one operand */
};
struct cj_call {
	bool is_time;		/* two operands in front: bytes, flops (f64) */
	const char *kernel;
	int member;		/* of the family; -1: the first that fits */
	const char *refusal;	/* must be refused with this text in the
				   message; NULL: must not */
	const void *binding;	/* the elaborator's compile-time arguments */
	const struct cj_argument *argument;
	uint32_t count;
};

/* A parameter of a function. Host functions: what the caller's arguments
 * hold. Device functions: kernel parameters, in this order. */
enum cj_leaf_kind {
	CJ_LEAF_OBJECT,		/* address of element 0 of an object */
	CJ_LEAF_VALUE,		/* device: next value operand of the launch */
	CJ_LEAF_SCALAR,		/* host: a scalar argument */
	CJ_LEAF_EXTENT,		/* host: extent `mode` of a tensor argument */
	CJ_LEAF_STRIDE,		/* host: in elements */
	CJ_LEAF_ALIGN,		/* host: largest power of two <= 1024 that
				   divides the address of element 0, in bytes */
	CJ_LEAF_PRESENT		/* host: bool, the argument was given */
};
struct cj_leaf {
	enum cj_leaf_kind kind;
	cj_type type;		/* PTR for objects */
	uint32_t object;
	uint32_t parameter, member, mode;
	int64_t lo, hi, divisor;	/* known of an index leaf; all 0:
					   nothing is known */
	const char *name;
};

enum cj_function_kind { CJ_FUNCTION_HOST, CJ_FUNCTION_DEVICE,
    CJ_FUNCTION_TEST };
struct cj_function {
	enum cj_function_kind kind;
	const char *name;	/* entry name of a device function */
	cj_region body;
	CJ_VEC(struct cj_leaf) leaves;
	int64_t block[3];	/* known extents, 0: known at launch only */
	int64_t cluster[3];
	int64_t min_blocks, max_registers;	/* 0: not stated */
	bool has_roles;		/* warps run different parts of it at once */
	cj_place place;
};

struct cj_module {
	struct cj_arena *arena;
	const struct cj_sources *sources;	/* may be NULL */
	const struct cj_target *target;
	const char *name;
	CJ_VEC(struct cj_inst) insts;		/* [0] of each is unused */
	CJ_VEC(struct cj_region_info) regions;
	CJ_VEC(cj_ref) pool;
	CJ_VEC(struct cj_constant) constants;
	CJ_VEC(struct cj_object) objects;
	CJ_VEC(struct cj_access) accesses;
	CJ_VEC(struct cj_copy) copies;
	CJ_VEC(struct cj_pipeline) pipelines;
	CJ_VEC(struct cj_stage_use) stage_uses;
	CJ_VEC(struct cj_role) roles;
	CJ_VEC(struct cj_turns) orders;
	CJ_VEC(struct cj_map) maps;
	CJ_VEC(struct cj_tma_copy) tmas;
	CJ_VEC(struct cj_bulk_copy) bulks;
	CJ_VEC(struct cj_wgmma) wgmmas;
	CJ_VEC(struct cj_tmem_use) tmem_uses;
	CJ_VEC(struct cj_tcgen05) tcgen05s;
	CJ_VEC(struct cj_positions) positions;
	CJ_VEC(struct cj_conversion) conversions;	/* [0] is the default */
	CJ_VEC(struct cj_require) requires;
	CJ_VEC(struct cj_launch) launches;
	CJ_VEC(struct cj_array) arrays;
	CJ_VEC(struct cj_expect) expects;
	CJ_VEC(struct cj_call) calls;
	CJ_VEC(const struct cj_mma *) mmas;
	CJ_VEC(const char *) texts;
	CJ_VEC(struct cj_place_info) places;
	CJ_VEC(struct cj_function) functions;
	bool is_lowered;	/* no row of level STRUCTURED is left */
};

struct cj_module *cj_module_create(struct cj_arena *a, const char *name,
    const struct cj_target *target);

/* ---- building: instructions go to the end of the builder's region, or in --
 * ---- front of one of its instructions ------------------------------------ */

struct cj_builder {
	struct cj_module *module;
	cj_region region;
	cj_place place;		/* of what is emitted next */
	cj_ref before;		/* in front of it; 0: at the end */
};

/* Append; NULL operands for none. The type rules are asserted. */
cj_ref cj_emit(struct cj_builder *b, enum cj_op op, cj_type type,
    uint32_t attr, const cj_ref *operands, uint32_t count);
cj_ref cj_emit0(struct cj_builder *b, enum cj_op op, cj_type t, uint32_t attr);
cj_ref cj_emit1(struct cj_builder *b, enum cj_op op, cj_type t, cj_ref x);
cj_ref cj_emit2(struct cj_builder *b, enum cj_op op, cj_type t, cj_ref x,
    cj_ref y);
cj_ref cj_emit3(struct cj_builder *b, enum cj_op op, cj_type t, cj_ref x,
    cj_ref y, cj_ref z);
cj_ref cj_emit_bits(struct cj_builder *b, cj_type t, uint64_t each);
cj_ref cj_emit_index(struct cj_builder *b, int64_t value);
cj_ref cj_emit_bool(struct cj_builder *b, bool value);

/* Does a region of the operation begin with its INDEX? */
bool cj_op_has_index(enum cj_op op);
/* A new region of `owner`, after its others. For operations that have one
 * the region's INDEX is made and returned in *index (may be NULL). */
cj_region cj_region_add(struct cj_builder *b, cj_ref owner, cj_ref *index);

uint32_t cj_module_constant(struct cj_module *m, cj_type t,
    const uint64_t *bits);			/* interned */
uint32_t cj_module_object(struct cj_module *m, const struct cj_object *o);
uint32_t cj_module_access(struct cj_module *m, const struct cj_access *a);
uint32_t cj_module_copy(struct cj_module *m, const struct cj_copy *c);
uint32_t cj_module_pipeline(struct cj_module *m, const struct cj_pipeline *p);
uint32_t cj_module_stage_use(struct cj_module *m,
    const struct cj_stage_use *u);
uint32_t cj_module_role(struct cj_module *m, const struct cj_role *role);
uint32_t cj_module_turns(struct cj_module *m, const struct cj_turns *o);
uint32_t cj_module_map(struct cj_module *m, const struct cj_map *map);
uint32_t cj_module_tma(struct cj_module *m, const struct cj_tma_copy *c);
uint32_t cj_module_bulk(struct cj_module *m, const struct cj_bulk_copy *c);
uint32_t cj_module_wgmma(struct cj_module *m, const struct cj_wgmma *w);
uint32_t cj_module_tmem(struct cj_module *m, const struct cj_tmem_use *u);
uint32_t cj_module_tcgen05(struct cj_module *m, const struct cj_tcgen05 *t);
/* Types and extents of an atom of warpgroups; NULL, or why it is none. */
const char *cj_wgmma_find(struct cj_arena *a, const char *name,
    struct cj_wgmma *out);
uint32_t cj_module_positions(struct cj_module *m, const uint32_t *at,
    uint32_t count);
uint32_t cj_module_conversion(struct cj_module *m, struct cj_conversion c);
uint32_t cj_module_text(struct cj_module *m, const char *text);
/* The attribute of an MMA; 0: no such instruction, and *why says why. */
uint32_t cj_module_mma(struct cj_module *m, const char *atom,
    const char **why);
cj_place cj_module_place(struct cj_module *m, struct cj_span span,
    cj_place parent, int64_t turn);
uint32_t cj_module_function(struct cj_module *m, enum cj_function_kind kind,
    const char *name);				/* with an empty body */

/* What an instruction touches: the objects of its accesses, and how. */
struct cj_touch {
	const struct cj_access *access;
	bool reads, writes;
};
enum { CJ_TOUCHES = 3 };
/* Is A of a product in shared memory, with an operand for its offset? */
bool cj_wgmma_has_offset(const struct cj_module *m,
    const struct cj_wgmma *w);
/* Registers of a lane's part of A: half of what is stored of it along k. */
uint32_t cj_wgmma_left(const struct cj_wgmma *w);
bool cj_tcgen05_is_left_in_tmem(const struct cj_module *m,
    const struct cj_tcgen05 *t);
/* tcgen05.fence: around barriers between threads that use tensor memory? */
static inline bool
cj_fence_is_of_tmem(const struct cj_inst *i)
{
	return i->attr == CJ_FENCE_BEFORE_SYNC ||
	    i->attr == CJ_FENCE_AFTER_SYNC;
}
/* Columns that an object of tensor memory takes; registers of a thread that a
 * shape of loads and stores has; NULL, or why there is no such product. */
uint32_t cj_tmem_columns(const struct cj_object *o);
uint32_t cj_tmem_registers(uint32_t lanes, uint32_t bits, uint32_t repeat);
const char *cj_tcgen05_wrong(struct cj_arena *a, const struct cj_tcgen05 *t);
/* A load to several blocks of the cluster? One that reaches into another block
 * in any way? */
bool cj_inst_spreads(const struct cj_module *m, const struct cj_inst *i);
bool cj_inst_is_far(const struct cj_module *m, const struct cj_inst *i);
/* Can bulk copies combine such numbers, where they go? */
bool cj_bulk_reduces(enum cj_kind k, enum cj_atomic how, bool is_shared);
/* Fills up to CJ_TOUCHES; the result is how many. */
unsigned cj_touches(const struct cj_module *m, const struct cj_inst *i,
    struct cj_touch out[CJ_TOUCHES]);

static inline struct cj_inst *
cj_inst(const struct cj_module *m, cj_ref r)
{
	assert(r != 0 && r < m->insts.len);
	return &m->insts.at[r];
}

static inline cj_ref
cj_operand(const struct cj_module *m, const struct cj_inst *i, unsigned n)
{
	assert(n < i->operand_count);
	return m->pool.at[i->operands + n];
}

/* Constant of a CONST instruction, NULL for others. */
const struct cj_constant *cj_constant_of(const struct cj_module *m, cj_ref r);

/* Unlink an instruction from its region. */
void cj_inst_remove(struct cj_module *m, cj_region region, cj_ref r);
/* Make every use of `old` in the module a use of `with`. */
void cj_replace_uses(struct cj_module *m, cj_ref old, cj_ref with);

/*
 * A walk over the instructions of a region and all regions within, in order
 * of the text. Needs no stack, so depth costs nothing. The instruction just
 * returned may be removed after cj_walk_skip(), and instructions may be put in
 * front of it; what follows it must stay.
 *
 *	for (w = cj_walk_begin(m, body); cj_walk_next(&w);)
 *		switch (w.event) ...
 *
 * or, where regions do not matter:
 *
 *	while ((i = cj_walk_inst(&w)) != NULL)
 *		switch (i->op) ...
 */
enum cj_walk_event {
	CJ_WALK_ENTER,		/* w.region begins */
	CJ_WALK_INST,		/* w.ref, which stands in w.region */
	CJ_WALK_LEAVE		/* w.region ends */
};
struct cj_walk {
	const struct cj_module *m;
	cj_region top, region;
	cj_ref ref, next;
	enum cj_walk_event event;
	uint32_t depth;		/* of w.region; 0 at the top */
};
struct cj_walk cj_walk_begin(const struct cj_module *m, cj_region top);
bool cj_walk_next(struct cj_walk *w);
struct cj_inst *cj_walk_inst(struct cj_walk *w);
/* Do not enter the regions of the instruction just returned. */
void cj_walk_skip(struct cj_walk *w);

/* ---- text and checks ----------------------------------------------------- */

/* Complete and stable; reads back to an equal module. */
void cj_module_print(struct cj_strbuf *out, const struct cj_module *m);
void cj_function_print(struct cj_strbuf *out, const struct cj_module *m,
    uint32_t function);
struct cj_module *cj_module_read(struct cj_arena *a, const char *text,
    size_t length, struct cj_strbuf *error);	/* NULL: error says why */

/* NULL if the module is right, else what is wrong (on its arena). */
const char *cj_module_verify(struct cj_module *m);

/* The least number of a target that has the instruction (80: sm_80), or 0. */
int cj_inst_needs(const struct cj_module *m, const struct cj_inst *i);
/* Why the module's target has no such instruction; NULL: it has. */
const char *cj_inst_lacks(const struct cj_module *m, const struct cj_inst *i);

/* ---- passes -------------------------------------------------------------- */

struct cj_pass {
	const char *name;
	void (*run)(struct cj_module *m);
};
extern const struct cj_pass cj_passes[];
extern const unsigned cj_pass_count;
typedef void cj_pass_hook(void *user, const struct cj_pass *p,
    struct cj_module *m);
/* The least shared memory that a device function can do with, in bytes: what
 * is never alive together shares it (opt_share.c). */
int64_t cj_share_least(struct cj_module *m, uint32_t function);
/* Bytes of the memory of an object with all that lies in it, of which the last
 * may hang over its end. */
int64_t cj_shared_reach(const struct cj_module *m, uint32_t host);
/* Of an object of known extent; what fits nowhere is not told apart. */
int64_t cj_object_bytes(const struct cj_object *o);
/* The loop of a device function that carries most registers of 32 bits of each
 * thread from turn to turn, all at once, and how many of each object
 * (carried.c); op 0: no loop carries any. */
struct cj_carried {
	cj_ref op;
	int64_t registers;
	const int64_t *by_object;
};
struct cj_carried cj_carried_most(struct cj_module *m, uint32_t function);
/* All passes in order, verified after each; the hook may be NULL. */
void cj_passes_run(struct cj_module *m, struct cj_recover *recover,
    cj_pass_hook *hook, void *user);

/* ---- facts --------------------------------------------------------------- */

/* What is known of index values, by ref; computed on demand. */
struct cj_fact {
	int64_t lo, hi;		/* INT64_MIN, INT64_MAX: unknown */
	int64_t divisor;	/* >= 1; 0: the value is 0 */
	enum cj_scope uniform;	/* threads of this scope see one value */
};
struct cj_fact *cj_facts_compute(struct cj_arena *a,
    const struct cj_module *m, uint32_t function);

#endif
