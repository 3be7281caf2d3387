/*
 * Private header of codegen/: the state of one generation and its helpers.
 *
 * A value T[n] of the IR is n scalars in LLVM, kept in a side table, so that
 * no vector wider than a register or a memory access reaches LLVM. Kinds with
 * packed arithmetic keep, beside the scalars, one <2 x T> for each two of
 * them; whoever makes a value makes both, and what nobody uses is dropped by
 * LLVM. Values of kind `int` are i64, or i32 where their range fits.
 *
 * How kinds look in registers: bool is i1; i4 ... u64 are iN; f16 bf16 f32 f64
 * are LLVM's; tf32 is a float; narrower floats are their bits in an i8; ptr is
 * an i64.
 */
#ifndef CJ_LLVM_GEN_H
#define CJ_LLVM_GEN_H

#include "llvm_api.h"

#include "codegen/codegen.h"
#include "ir/depend.h"

typedef LLVMValueRef cj_llvm;

/* An instruction with regions while these are emitted. */
struct cj_llvm_nest {
	cj_ref owner;
	LLVMBasicBlockRef arms[2];	/* where its regions begin */
	LLVMBasicBlockRef next;		/* end of a region, `continue` */
	LLVMBasicBlockRef leave;	/* behind it, `break` */
	cj_llvm index;			/* of a `for` */
	bool is_flat;			/* no blocks: its region stands in
					   line, under g->predicate */
	cj_llvm predicate;		/* what g->predicate was around it */
	struct cj_llvm_nest *outer;
};

/* What an object has become. */
struct cj_llvm_object {
	cj_llvm base;		/* address of element 0; NULL: not in use */
	cj_llvm *slots;		/* SLOT: an alloca per pair or register */
	unsigned space;		/* LLVM's address space */
	bool read_only;		/* for the whole kernel: ld.global.nc */
};

struct cj_llvm_gen {
	struct cj_arena *arena;
	const struct cj_module *m;
	const struct cj_codegen_options *options;
	int ptx_needs, ptx_limit;	/* versions times ten */

	LLVMContextRef context;
	LLVMModuleRef module;
	LLVMBuilderRef b;
	LLVMTypeRef void_type, i1, i8, i16, i32, i64, ptr;

	cj_llvm dynamic_shared;	/* one for all functions; NULL: none yet */

	/* of the function being emitted */
	const struct cj_function *function;
	struct cj_waits waits;	/* for the launch in front of it */
	bool lets_begin;	/* there: a launch behind may begin */
	bool reaches_others;	/* touches memory of other blocks */
	bool writes_others;	/* ... and does more than read it */
	bool tells_others;	/* ... and they see it at mbarriers */
	bool *sent_at;		/* by object; if it writes others */
	bool meets_first, meets_last;	/* in front of all that reaches other
					   blocks, and behind it */
	cj_llvm fn;
	LLVMBasicBlockRef entry;	/* allocas and parameters only */
	const struct cj_fact *facts;
	cj_llvm **scalars, **pairs;	/* by ref */
	cj_llvm **words;		/* by ref; NULL: not kept, or not yet */
	struct cj_llvm_object *objects;	/* by object number */
	uint32_t *leaf_first;		/* by leaf: its first parameter */
	struct cj_llvm_nest *nest;
	cj_llvm predicate;		/* in line code acts where this is set;
					   NULL: always */
	struct {			/* an address that is made already */
		const struct cj_access *of;
		cj_ref offset;
		cj_llvm is;
	} address;
	bool has_loops;
	uint32_t pieces;		/* loads and stores of the function */
	int64_t dynamic_bytes, shared_bytes;

	/* line table */
	struct LLVMOpaqueDIBuilder *di;
	LLVMMetadataRef di_scope;
	struct cj_llvm_call *di_calls;	/* by place */
};

/* ---- kinds and constants (llvm_type.c) ---------------------------------- */

LLVMTypeRef cj_llvm_type(const struct cj_llvm_gen *g, enum cj_kind k);
LLVMTypeRef cj_llvm_int_type(const struct cj_llvm_gen *g, unsigned bits);
bool cj_llvm_is_packed(const struct cj_llvm_gen *g, enum cj_kind k);
/* Floats that LLVM does not know: f4 ... f8, kept as bits in an i8. */
bool cj_llvm_is_small(enum cj_kind k);
cj_llvm cj_llvm_const(const struct cj_llvm_gen *g, enum cj_kind k,
    uint64_t bits);
cj_llvm cj_llvm_int(LLVMTypeRef type, int64_t value);
cj_llvm cj_llvm_i32(const struct cj_llvm_gen *g, int64_t value);
/* Is a PTX feature of this version allowed? Then it will be asked for. */
bool cj_llvm_wants_ptx(struct cj_llvm_gen *g, int version);
/* The same for what there is no other way to do: it must be allowed. */
void cj_llvm_needs_ptx(struct cj_llvm_gen *g, int version, const char *what);

/* ---- the table of values (llvm_value.c) --------------------------------- */

/* Registers of a value, scalars as kept: `int` may be i32. */
cj_llvm *cj_llvm_values(const struct cj_llvm_gen *g, cj_ref r);
cj_llvm cj_llvm_value(const struct cj_llvm_gen *g, cj_ref r, uint32_t i);
/* One register of kind `int` as i64, or as i32 (which its range must allow). */
cj_llvm cj_llvm_wide(const struct cj_llvm_gen *g, cj_ref r, uint32_t i);
cj_llvm cj_llvm_narrow(const struct cj_llvm_gen *g, cj_ref r, uint32_t i);
bool cj_llvm_is_narrow(const struct cj_llvm_gen *g, cj_ref r);
struct cj_fact cj_llvm_fact(const struct cj_llvm_gen *g, cj_ref r);
/* Registers 2i and 2i + 1 of a packed kind as <2 x T>. */
cj_llvm cj_llvm_pair(const struct cj_llvm_gen *g, cj_ref r, uint32_t i);

/* Room for the registers of r, to be filled by the caller; packed kinds get
 * their pairs by cj_llvm_set_pair, or from the scalars by cj_llvm_finish. */
cj_llvm *cj_llvm_define(struct cj_llvm_gen *g, cj_ref r);
/* Set registers 2i and 2i + 1 from a <2 x T>. */
void cj_llvm_set_pair(struct cj_llvm_gen *g, cj_ref r, uint32_t i, cj_llvm v);
/* Bring scalars of kind `int` to the width that r has; make missing pairs. */
void cj_llvm_finish(struct cj_llvm_gen *g, cj_ref r);

/* ---- clusters (llvm_cluster.c) ------------------------------------------- */

/* First and last in a function: its blocks begin and end together where they
 * touch each other's memory. */
void cj_llvm_begin_cluster(struct cj_llvm_gen *g);
void cj_llvm_plan_wait(struct cj_llvm_gen *g, uint32_t function);
bool cj_llvm_waits_before(const struct cj_llvm_gen *g, cj_ref r);
void cj_llvm_wait(struct cj_llvm_gen *g);
void cj_llvm_wait_last(struct cj_llvm_gen *g);
void cj_llvm_begin(struct cj_llvm_gen *g);
bool cj_llvm_hears_others(const struct cj_llvm_gen *g, uint32_t object);
void cj_llvm_return(struct cj_llvm_gen *g);

/* ---- words of 32 bits (llvm_word.c) ------------------------------------- */

/* How many registers of the kind a word that is kept has; 0: none is. */
unsigned cj_llvm_word_parts(const struct cj_llvm_gen *g, enum cj_kind k);
/* Word n of the registers of r, and into them. */
cj_llvm cj_llvm_word(struct cj_llvm_gen *g, cj_ref r, uint32_t n);
void cj_llvm_set_word(struct cj_llvm_gen *g, cj_ref r, uint32_t n,
    cj_llvm word);

/* ---- building (llvm_value.c) -------------------------------------------- */

cj_llvm cj_llvm_join(struct cj_llvm_gen *g, cj_llvm low, cj_llvm high);
cj_llvm cj_llvm_element(struct cj_llvm_gen *g, cj_llvm vector, unsigned i);
/* Call an intrinsic; `over` is its overloaded type or NULL. */
cj_llvm cj_llvm_intrinsic(struct cj_llvm_gen *g, const char *name,
    LLVMTypeRef over, cj_llvm *arguments, unsigned count);
/* If a call is a copy written as PTX, let it add the constants that its
 * addresses have by now (llvm_async.c). */
void cj_llvm_constants_of_copy(struct cj_llvm_gen *g, cj_llvm call);
/* If v is the opposite or the absolute value of 16 bits, write it in a way that
 * ptxas gets right (llvm_negate.c). */
void cj_llvm_opposite(struct cj_llvm_gen *g, cj_llvm v);
/* Give a call an attribute of LLVM. */
void cj_llvm_mark_call(struct cj_llvm_gen *g, cj_llvm call, const char *name);
cj_llvm cj_llvm_call1(struct cj_llvm_gen *g, const char *name, cj_llvm x);
cj_llvm cj_llvm_call2(struct cj_llvm_gen *g, const char *name, cj_llvm x,
    cj_llvm y);
cj_llvm cj_llvm_call3(struct cj_llvm_gen *g, const char *name, cj_llvm x,
    cj_llvm y, cj_llvm z);

enum cj_llvm_asm {
	CJ_LLVM_ASM_PURE,	/* may be moved, merged and dropped */
	CJ_LLVM_ASM_WARP,	/* the same, by a whole warp together */
	CJ_LLVM_ASM_EFFECT,	/* touches memory or other threads */
	CJ_LLVM_ASM_CONVERGENT	/* and needs the same threads together */
};
enum { CJ_LLVM_ASM_MOST = 544 };	/* arguments */
cj_llvm cj_llvm_asm(struct cj_llvm_gen *g, enum cj_llvm_asm how,
    LLVMTypeRef result, const char *text, const char *constraints,
    cj_llvm *arguments, unsigned count);

/* An instruction with an effect while it is put together: text, in which $count
 * is the next operand, and the operands in order. */
struct cj_llvm_ptx {
	struct cj_llvm_gen *g;
	cj_llvm arguments[12 + CJ_MAP_NUMBERS];
	struct cj_strbuf text, constraints;
	unsigned count;
};
void cj_llvm_begin_ptx(struct cj_llvm_ptx *c, struct cj_llvm_gen *g);
void cj_llvm_add_ptx(struct cj_llvm_ptx *c, cj_llvm v, const char *constraint);
void cj_llvm_end_ptx(struct cj_llvm_ptx *c);
/* What PTX calls that which copies do to what is there. */
const char *cj_llvm_combining(enum cj_atomic how);

LLVMBasicBlockRef cj_llvm_block(struct cj_llvm_gen *g, const char *name);
void cj_llvm_enter(struct cj_llvm_gen *g, LLVMBasicBlockRef block);
/* An alloca in the entry block. */
cj_llvm cj_llvm_alloca(struct cj_llvm_gen *g, LLVMTypeRef type);
void cj_llvm_attribute(struct cj_llvm_gen *g, unsigned where, const char *name,
    uint64_t value);
void cj_llvm_function_text(struct cj_llvm_gen *g, cj_llvm fn,
    const char *name, const char *value);

/* ---- integers and floats as scalars ------------------------------------- */

/* One register of a pure operation; NULL operands for those it lacks. Floats
 * may be a <2 x T> for the operations that cj_llvm_float_packs names. */
cj_llvm cj_llvm_float_apply(struct cj_llvm_gen *g, enum cj_op op,
    enum cj_kind k, const cj_llvm *operands);
bool cj_llvm_float_packs(const struct cj_llvm_gen *g, enum cj_op op,
    enum cj_kind k);

/* Conversions between kinds (llvm_convert.c). `wide` integers: x is of the
 * LLVM type of the kind. */
cj_llvm cj_llvm_convert(struct cj_llvm_gen *g, enum cj_kind to,
    enum cj_kind from, struct cj_conversion how, cj_llvm x);
extern const struct cj_conversion cj_llvm_default;
/* Of a tf32 that may have more bits behind it: its value. */
cj_llvm cj_llvm_tf32_value(struct cj_llvm_gen *g, cj_llvm x);

/* ---- conditions without jumps (llvm_flat.c) ------------------------------ */

/* Is this `if` worth no jump? */
bool cj_llvm_is_flat(const struct cj_llvm_gen *g, cj_ref r);
/* Enter its region, or that of a scope in it, and leave it. */
void cj_llvm_flat_begin(struct cj_llvm_gen *g, cj_ref r,
    struct cj_llvm_nest *n);
void cj_llvm_flat_end(struct cj_llvm_gen *g, const struct cj_llvm_nest *n);

/* ---- functions, control, objects ---------------------------------------- */

/* Emit device function number `function` as an entry of the module. */
void cj_llvm_function(struct cj_llvm_gen *g, uint32_t function);
/* All objects that the function names: parameters, globals, slots. */
void cj_llvm_objects(struct cj_llvm_gen *g);
/* The code of a function's body, from the current block on. */
void cj_llvm_body(struct cj_llvm_gen *g, cj_region body);
/* Emit one instruction. */
void cj_llvm_inst(struct cj_llvm_gen *g, cj_ref r);
/* Registers of a slot, in allocas of the entry block. */
void cj_llvm_slot(struct cj_llvm_gen *g, uint32_t object);
/* Words of 32 bits of a slot, whose kind is no wider and fills them. */
uint32_t cj_llvm_slot_words(const struct cj_llvm_gen *g, uint32_t object);
cj_llvm cj_llvm_slot_word(struct cj_llvm_gen *g, uint32_t object, uint32_t n);
void cj_llvm_slot_set_word(struct cj_llvm_gen *g, uint32_t object, uint32_t n,
    cj_llvm word);
/* The region that r stands in; is a slot declared around a region? */
cj_region cj_llvm_home(const struct cj_llvm_gen *g, cj_ref r);
/* Could accesses of a slot's registers move across a wait for products? */
bool cj_llvm_goes_through(const struct cj_llvm_gen *g, cj_ref wait,
    uint32_t object);
bool cj_llvm_slot_is_seen(const struct cj_module *m, uint32_t object,
    cj_region from);
/* How an operand of a product lies in shared memory: where it begins, in units
 * of 16 bytes, and both distances. What else the hardware is told differs. */
cj_llvm cj_llvm_descriptor(struct cj_llvm_gen *g, uint32_t access,
    cj_ref offset, uint64_t fields);
uint64_t cj_llvm_distances(const struct cj_operand_desc *d);
/* Has the code of the current block ended with a jump? */
bool cj_llvm_ended(const struct cj_llvm_gen *g);
cj_llvm cj_llvm_special(struct cj_llvm_gen *g, enum cj_special s);

/* Stop the kernel with a text unless `ok`. */
void cj_llvm_check(struct cj_llvm_gen *g, cj_llvm ok, const char *text);

/* Code under a mask: what stands between begin and end runs where the mask
 * (i1 or NULL) is set. */
struct cj_llvm_masked {
	LLVMBasicBlockRef before, inside, after;	/* NULL: no mask */
};
struct cj_llvm_masked cj_llvm_mask_begin(struct cj_llvm_gen *g, cj_llvm mask);
void cj_llvm_mask_end(struct cj_llvm_gen *g, struct cj_llvm_masked *m);
/* After the end: `inside` where the code ran, else `otherwise`. */
cj_llvm cj_llvm_mask_merge(struct cj_llvm_gen *g,
    const struct cj_llvm_masked *m, cj_llvm inside, cj_llvm otherwise);
/* A mask operand: NULL if there is none or it is always set. */
cj_llvm cj_llvm_mask(struct cj_llvm_gen *g, cj_ref r, unsigned operand);

/* Address of an element in bytes from element 0. */
cj_llvm cj_llvm_address(struct cj_llvm_gen *g, const struct cj_access *access,
    cj_ref offset, uint32_t element);
/* The same in shared memory, as 32 bits for PTX. */
cj_llvm cj_llvm_shared_word(struct cj_llvm_gen *g,
    const struct cj_access *access, cj_ref offset);
/* ... of the block of that rank in the cluster; 0: of this one. */
cj_llvm cj_llvm_shared_word_of(struct cj_llvm_gen *g,
    const struct cj_access *access, cj_ref offset, cj_ref rank);
/* What L2 is told, as an operand of copies. */
uint64_t cj_llvm_policy(enum cj_evict e);
void cj_llvm_bounds(struct cj_llvm_gen *g, const struct cj_access *access,
    cj_ref offset, uint32_t count);

/* ---- line table, target, passes ----------------------------------------- */

/* A call that was copied out: what it became, and where. */
struct cj_llvm_call {
	LLVMMetadataRef scope, at;
};

void cj_llvm_debug_begin(struct cj_llvm_gen *g);
void cj_llvm_debug_function(struct cj_llvm_gen *g);
void cj_llvm_debug_place(struct cj_llvm_gen *g, cj_place place);
void cj_llvm_debug_end(struct cj_llvm_gen *g);

/* LLVM's PTX with the line table as PTX has it (llvm_lines.c). */
char *cj_llvm_lines(struct cj_llvm_gen *g, const char *ptx, size_t length,
    size_t *new_length);

/* The machine for a target at a PTX version; never NULL for a known target. */
LLVMTargetMachineRef cj_llvm_machine(const struct cj_target *target, int ptx,
    int level);
/* NULL, or why the target cannot be served at this version. */
const char *cj_llvm_ptx_refused(const struct cj_target *target, int ptx);
extern const int cj_llvm_newest_ptx;
const char *cj_llvm_triple(void);
/* NULL, or LLVM's message (LLVMDisposeErrorMessage). */
char *cj_llvm_optimise(struct cj_llvm_gen *g, LLVMTargetMachineRef machine);

/* ---- one function per operation ----------------------------------------- */

/* The lanes of the thread's warp that are in the block, as `.sync` takes them
 * (llvm_sync.c). */
cj_llvm cj_llvm_warp_mask(struct cj_llvm_gen *g);

/* Emits instruction r. Rows of level HOST and TEST never come here. */
typedef void cj_llvm_emitter(struct cj_llvm_gen *g, cj_ref r);
#define OP(name, text, least, most, rule, result, attr, effects, scope,	\
    engine, level) cj_llvm_emitter cj_llvm_op_##name;
#include "ir/ops.def"
#undef OP

/* Fault of ours: what reached the emitter is not verified IR. */
#define cj_llvm_bug(g, ...)	cj_bug((g)->arena->recover, __VA_ARGS__)

#endif
