/*
 * Between the files of elaboration: names, state, and who does what. What
 * values are is in elab_value.h.
 *
 * Times. The host function (or a test) is level 1, a launch block level 2.
 * A value of level 1 that level 2 needs becomes a launch operand and a leaf
 * of the device function. Compile-time contexts have no builder to emit to.
 *
 * Errors. Wrong text is reported once, where it is found; the result is then
 * CJ_VALUE_ERROR, on which every operation is silent.
 */
#ifndef CJ_ELAB_PRIV_H
#define CJ_ELAB_PRIV_H

#include "elab_value.h"

/* ---- pipelines ----------------------------------------------------------- */

struct cj_pipe {
	uint32_t number;		/* in the module */
	cj_name name;
	struct cj_span span;
	int64_t stages;
	uint32_t count;			/* fields: */
	struct cj_tensor *field;	/* as of stage 0 */
	cj_name *names;
	struct cj_span *read_at;	/* the first read; empty: none */
	bool is_produced, is_consumed, is_split;
	bool is_drawn;			/* of elab_draw.c */
	uint64_t produced_by, consumed_by;	/* roles: bit 1 + number in the
						   launch; bit 0: none */
};

/* A role of the launch: who its warps are, from the launch's own count on. */
struct cj_elab_role {
	uint32_t number;		/* in the module */
	cj_name name;
	struct cj_span span, registers_at;
	int64_t index;			/* which of an array; 0 */
	struct cj_elab_role *outer;	/* always NULL: roles do not nest */
};

/* A produce or consume block that is open, innermost first. */
struct cj_open_stage {
	struct cj_open_stage *outer;
	uint32_t id;
	struct cj_pipe *pipe;
	bool is_produce;
	struct cj_span span;
};

/* A produce block with ahead() is open: names between are hidden. */
struct cj_ahead {
	struct cj_ahead *outer;
	const struct cj_env *inner, *loop;
};

/* ---- names --------------------------------------------------------------- */

enum cj_binding_kind { CJ_BOUND_CONST, CJ_BOUND_LET, CJ_BOUND_VAR };

struct cj_bound {
	cj_name name;
	enum cj_binding_kind kind;
	struct cj_value value;		/* VAR: PLACE, or a TUPLE of places */
	struct cj_span span;
	struct cj_bound *next;
};

/* A block's names; blocks nest through `parent`. */
struct cj_env {
	struct cj_env *parent;
	const struct cj_file *file;
	struct cj_bound *names;		/* newest first */
	unsigned count;			/* of them; where there are many: */
	CJ_VEC(struct cj_bound *) bounds;
	struct cj_name_map by_name;	/* the newest: its place there + 1 */
	bool is_function;		/* a parameter may hide outer names */
};

struct cj_decl {
	cj_name name;
	const struct cj_node *node;	/* CONST or FN; NULL: not read yet */
	struct cj_span text;		/* where it stands, of the library */
	uint32_t index;			/* of the unit's declarations */
};

struct cj_alias {
	cj_name name;
	const struct cj_file *file;
};

/* One text of a unit. */
struct cj_file {
	const struct cj_unit *unit;
	const char *name;
	uint32_t source;
	struct cj_tree *tree;		/* of the library: what cannot wait */
	CJ_VEC(struct cj_decl) decls;	/* names of file level */
	struct cj_name_map by_name;	/* the first of a name: its place + 1 */
	struct cj_name_map kernels;	/* 1: it has one of this name */
	CJ_VEC(const struct cj_file *) opened;	/* imports without a name */
	CJ_VEC(struct cj_alias) aliases;
	bool is_prelude;
};

/* Members of one name. */
struct cj_family {
	uint32_t first, count;		/* the first one's place among all */
};

/* A kernel that two imports bring. */
struct cj_kernel_clash {
	cj_name name;
	const struct cj_file *first, *second;
};

struct cj_unit {
	struct cj_arena *arena;
	struct cj_names *names;
	struct cj_sources *sources;
	CJ_VEC(struct cj_file *) files;		/* in order of loading */
	struct cj_file *main, *prelude;
	CJ_VEC(uint32_t) source_list;
	CJ_VEC(struct cj_member_info) members;
	CJ_VEC(struct cj_family) families;
	struct cj_name_map family_of;	/* by what the main text calls it: its
					   place + 1 */
	CJ_VEC(struct cj_kernel_clash) clashes;
	CJ_VEC(struct cj_test_info) tests;
	CJ_VEC(struct cj_tune_info) tunes;
	CJ_VEC(struct cj_extern_text) extern_texts;
	uint32_t decl_count;
	const struct cj_words *words;	/* that need no declaration */
	cj_import *import;
	void *user;
	uint32_t errors;
};

/* ---- elab_std.c ---------------------------------------------------------- */

/* A text of the standard library by its name in src/std/, or NULL. */
const struct cj_std_file *cj_std_find(const char *name);

/* A declaration in a text of the library. */
struct cj_std_part {
	struct cj_span text;	/* with all in front of the next one */
	const char *name;	/* NULL: it cannot wait */
	uint32_t length;	/* of the name */
};

/* The declaration behind `part`; at first its text is { source, 0, 0 }. False:
 * there is none. */
bool cj_std_next(const struct cj_sources *sources, struct cj_std_part *part);

/* Parse a declaration. */
struct cj_node *cj_std_read(const struct cj_unit *u, struct cj_span text);

/* The tree of a declaration, which is read if nobody needed it before. */
const struct cj_node *cj_unit_read(const struct cj_file *f,
    struct cj_decl *d);

/* ---- elab_unit.c, elab_prelude.c ----------------------------------------- */

struct cj_file *cj_unit_add_file(struct cj_unit *u, const char *name,
    uint32_t source);

/* The prelude becomes a file of the unit. */
void cj_prelude_share(struct cj_unit *u, const struct cj_prelude *p);

/* ---- state --------------------------------------------------------------- */

enum cj_time {
	CJ_TIME_CONST,		/* nothing can be emitted */
	CJ_TIME_HOST,
	CJ_TIME_DEVICE,
	CJ_TIME_TEST
};

/* What a symbol of the table stands for. */
enum cj_source_kind { CJ_SOURCE_REF, CJ_SOURCE_LEAF, CJ_SOURCE_SPECIAL,
    CJ_SOURCE_FACT,
    CJ_SOURCE_STEP	/* of a gathered mode: has no number */
};
struct cj_symbol_info {
	uint8_t level;
	enum cj_source_kind source;
	cj_ref ref;		/* REF */
	uint32_t number;	/* SPECIAL: which; FACT: attr of DEVICE */
	struct cj_leaf leaf;	/* LEAF: of the host function, made at use */
	struct cj_int below;	/* the value is less than this; 0: unknown */
	bool counts;		/* REF: an index of a loop at run time, */
	struct cj_int first;	/* which begins here */
};

/* An instruction that holds a term, good while its region is open. */
struct cj_memo {
	cj_region region;
	cj_ref ref;
};

/* What a leaf of a device function holds: a term of level 1, the divisor of
 * one, an instruction of level 1, or registers of a `var`. */
struct cj_passed {
	struct cj_int i;
	cj_ref ref;
	bool is_divisor;
	uint32_t slot, position, count;	/* object, 0: none */
};

/* A barrier that sync() made. */
struct cj_sync {
	cj_region region;
	cj_ref barrier;
};

/* The contract says symbol % by == 0, of two numbers of the call. */
struct cj_divided_symbol {
	uint32_t symbol, by;
};

/* What a term is at least where the launch runs (elab_least.c). */
struct cj_least {
	int64_t value;
	bool is_whole;		/* its parts have been asked, too */
};

/* A function being emitted. */
struct cj_emitter {
	uint32_t function;
	uint8_t level;
	struct cj_builder b;
	CJ_VEC(struct cj_memo) terms;		/* by term */
	CJ_VEC(struct cj_memo) leaves;		/* by leaf: its PARAM */
	/* device: what the leaves hold */
	CJ_VEC(struct cj_passed) passed;
	CJ_VEC(cj_ref) operands;		/* of the launch, level 1 */
	CJ_VEC(struct cj_least) least;		/* by term */
	struct cj_int special[CJ_SPECIAL_COUNT];	/* 0: not asked for */
	CJ_VEC(struct cj_sync) syncs;
	bool copies_async;	/* sync() completes such copies */
	CJ_VEC(struct cj_pipe *) pipes;
	CJ_VEC(struct cj_draws *) draws;
	CJ_VEC(struct cj_elab_role *) roles;
	bool is_behind_roles;	/* nothing stands behind the last one yet */
};

enum cj_jump_kind { CJ_JUMP_FUNCTION, CJ_JUMP_LOOP };
/* Where break, continue and return lead. */
struct cj_jump {
	struct cj_jump *outer;
	enum cj_jump_kind kind;
	unsigned depth;		/* 1 is the outermost */
	cj_ref breaks;		/* what `break` (a return) leaves; 0: a static
				   loop or a function without a region */
	cj_ref continues;	/* LOOP: what `continue` goes on with */
	bool continue_breaks;	/* it leaves a scope instead */
	bool was_broken;	/* some break leads here */
	const struct cj_env *env;	/* LOOP over a range: of its index */
	bool is_ahead;		/* a produce block of it runs ahead */
	/* FUNCTION */
	bool is_launch, is_body;	/* return ends the thread, the text */
	bool has_result;
	struct cj_value result;	/* a value, or the places it is stored in */
	struct cj_value type;	/* declared; NONE: not */
	cj_region home;		/* around the scope */
};

/* el->left: 0, or how far control has left the open region. The larger, the
 * nearer is where it goes on. */
#define CJ_LEFT_BREAK(jump)	((jump)->depth * 2 + 1)
#define CJ_LEFT_CONTINUE(jump)	((jump)->depth * 2 + 2)

/* Where threads wait for one another: they must come together (elab_meet.c). */
struct cj_meeting {
	uint32_t function;
	cj_region region;
	cj_ref at;		/* instructions there were */
	unsigned threads;	/* neighbours that meet; 0: the block */
	cj_ref value;		/* they must agree on it; 0: on nothing */
	const char *what;	/* "sync()" */
	cj_place place;
};

/* A constant of file level. */
struct cj_global {
	uint8_t state;		/* 0 new, 1 in work, 2 done */
	struct cj_value value;
};

/* An object of tensor memory, and the one that its address comes to. */
struct cj_tmem_home {
	uint32_t object, address;
};

struct cj_elab {
	struct cj_arena *arena;
	const struct cj_unit *unit;
	struct cj_names *names;
	const struct cj_sources *sources;
	struct cj_diags *ds;
	uint32_t errors;		/* reported, repeated ones too */
	struct cj_recover *recover;
	const struct cj_target *target;
	enum cj_bounds bounds;
	CJ_VEC(struct cj_tmem_home) tmems;	/* where addresses are */
	struct cj_symtab sym;
	struct cj_algebra al;
	CJ_VEC(struct cj_symbol_info) symbols;	/* [0] unused */
	CJ_VEC(uint8_t) levels;		/* by term: 0 not known yet */
	CJ_VEC(uint8_t) divides;	/* by term, elab_let.c */

	struct cj_module *m;
	enum cj_time time;
	struct cj_emitter *em;		/* NULL: compile time only */
	struct cj_emitter *host;	/* level 1, while em is a launch's */
	struct cj_emitter *device;	/* of the newest launch */
	struct cj_env *env;
	struct cj_jump *jump;
	struct cj_open_stage *stage;
	uint32_t stages;		/* opened so far */
	struct cj_ahead *ahead;
	const struct cj_elab_role *role;	/* that is open, or NULL */
	cj_place trail;			/* call or turn we are in */
	struct cj_span operation;	/* the binary operator met last, and */
	struct cj_span operand[2];	/* its operands */
	unsigned int_operand;		/* which of them is an int; 2: none */
	struct cj_span mbarriers;	/* where this type may be named */
	unsigned left;			/* the open region has ended */
	unsigned depth;			/* of inlined calls */
	unsigned nested;		/* of expressions */
	uintptr_t stack_floor;		/* they go no deeper; 0: not asked */
	uint64_t turns;			/* of static loops so far */
	uint64_t calls;			/* inlined so far */
	cj_name naming;			/* what is being declared, or 0 */
	bool has_ended;		/* a limit or a failed assertion was
					   reported: what follows is not read */
	bool never_runs;		/* in a loop over an empty range */
	bool reads_index;		/* for an access, which has remarks */

	CJ_VEC(struct cj_global *) globals;	/* that were asked for */
	struct cj_name_map global_of;	/* by a declaration's index: its place
					   + 1 */

	/* kernels */
	const struct cj_member_info *member;
	CJ_VEC(struct cj_divided_symbol) divided;
	uint32_t launches;
	int64_t block[3];		/* of the launch; 0: not known */
	struct cj_int block_extent[3], grid_extent[3], cluster_extent[3];
	int64_t cluster_blocks;		/* of the launch that is open */
	CJ_VEC(struct cj_meeting) meetings;
	CJ_VEC(struct cj_shared_use) touches; /* of shared memory */
	CJ_VEC(struct cj_edge) edges;	/* of the launch: elab_edge.c */

	void *test;			/* elab_test*.c's own state */
};

/* ---- messages (elab.c) --------------------------------------------------- */

/* Of a place in the library, what the user wrote that led there. */
struct cj_span cj_elab_users_span(const struct cj_elab *el,
    struct cj_span span);
/* Report at `span`, with the trail of calls and turns as notes. */
struct cj_diag *cj_elab_report(struct cj_elab *el, enum cj_code code,
    struct cj_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same with CJ_DIAG_..., and CJ_VALUE_ERROR as the result. */
struct cj_value cj_elab_error(struct cj_elab *el, enum cj_code code,
    struct cj_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A layout operation refused: al.why at a span. */
struct cj_value cj_elab_refused(struct cj_elab *el, struct cj_span span,
    const char *what);
/* Places of what is emitted from now on. */
void cj_elab_at(struct cj_elab *el, struct cj_span span);
/* The text of a place, as it is written. */
const char *cj_elab_source_text(struct cj_elab *el, struct cj_span span);
void cj_elab_init(struct cj_elab *el, struct cj_arena *a,
    const struct cj_unit *u, const struct cj_target *target,
    struct cj_diags *ds);
const char *cj_elab_name(const struct cj_elab *el, cj_name name);
cj_name cj_elab_intern(const struct cj_elab *el, const char *text);

/* ---- integers (elab_symbol.c, elab_int.c) -------------------------------- */

/* So many elements of `bytes` are known to fill whole units (whatever they are,
 * no product overflows). */
static inline bool
cj_elab_fills(const struct cj_elab *el, struct cj_int elements, int64_t bytes,
    int64_t whole)
{
	return cj_int_divisor(&el->sym, elements) % whole * bytes % whole == 0;
}

/* A symbol of the current function for an INDEX instruction. */
struct cj_int cj_elab_symbol(struct cj_elab *el, cj_ref ref, const char *name,
    int64_t lo, int64_t hi, int64_t divisor);
/* The same with a bound that is a term: value < below. */
void cj_elab_symbol_below(struct cj_elab *el, struct cj_int symbol,
    struct cj_int below);
/* `symbol` is the index of a loop that begins with `first`. */
void cj_elab_symbol_counts(struct cj_elab *el, struct cj_int symbol,
    struct cj_int first);
/* A region's index, first <= index < below, as a symbol. */
struct cj_int cj_elab_index_symbol(struct cj_elab *el, cj_ref index,
    const char *name, int64_t first, struct cj_int below);
/* A symbol for a leaf of the host function, which is made when used. */
struct cj_int cj_elab_leaf_symbol(struct cj_elab *el,
    const struct cj_leaf *leaf, int64_t lo, int64_t hi, int64_t divisor);
/* What stands for the stride of a gathered mode: a multiple of divisor. */
struct cj_int cj_elab_step(struct cj_elab *el, const char *name,
    int64_t divisor);
/* thread_idx.x and its kin; a fact of the device for the host part. */
struct cj_int cj_elab_special(struct cj_elab *el, enum cj_special what);
struct cj_int cj_elab_fact(struct cj_elab *el, struct cj_device_ask ask,
    const char *name);
/* Of this thread in its block: x runs fastest. */
struct cj_int cj_elab_thread_number(struct cj_elab *el);
/* Clusters: extents as a launch names them; the same tensor of another block
 * of the cluster (elab_cluster.c). */
bool cj_elab_check_cluster(struct cj_elab *el, struct cj_span span,
    const struct cj_int extent[3]);
/* The same of a multicast's bits, if these are known. */
bool cj_elab_check_ranks(struct cj_elab *el, struct cj_span span,
    const struct cj_value *bits);
bool cj_elab_check_rank(struct cj_elab *el, struct cj_span span,
    struct cj_int rank);
struct cj_value cj_elab_remote(struct cj_elab *el,
    const struct cj_tensor *own, struct cj_int rank);
/* The instruction (INDEX) with the term's number, in the current function. */
cj_ref cj_elab_ref_int(struct cj_elab *el, struct cj_int i);
/* Compute here what the value divides by numbers of run time. */
void cj_elab_settle(struct cj_elab *el, const struct cj_value *v);
/* Highest level of a symbol in it: 0 known, 1, 2. */
unsigned cj_elab_int_level(struct cj_elab *el, struct cj_int i);
/* The current function touches an object: a device function has its address
 * as a leaf. */
void cj_elab_object_leaf(struct cj_elab *el, uint32_t object);
/* Is a < b for all values, by the bounds of symbols too? */
bool cj_elab_proves_less(struct cj_elab *el, struct cj_int a,
    struct cj_int b);
/* The instruction of any single- or many-register value converted to `k`
 * (VOID: its own kind; a known INT or REAL needs k). */
cj_ref cj_elab_ref(struct cj_elab *el, const struct cj_value *v,
    enum cj_kind k);

/* ---- numbers and operators (elab_unify.c, elab_shape.c, elab_oper.c) ----- */

/* Kind of a value's elements: INDEX for INT; VOID for a known real. */
enum cj_kind cj_value_kind_of(const struct cj_value *v);
/* Shape of registers, NULL: scalar. */
const struct cj_tuple *cj_value_shape(const struct cj_value *v);
bool cj_value_is_number(const struct cj_value *v);
bool cj_elab_any_array(const struct cj_elab *el, const struct cj_value *args,
    uint32_t count);
/* The shape of all of them (NULL: scalars); false: reported. */
bool cj_elab_common_shape(struct cj_elab *el, struct cj_span span,
    const struct cj_value *args, uint32_t count,
    const struct cj_tuple **shape);
/* Registers at[0 .. count) of `ref`. */
cj_ref cj_elab_permute(struct cj_elab *el, cj_ref ref, const uint32_t *at,
    uint32_t count);
/* `count` registers from `first` on. */
cj_ref cj_elab_slice(struct cj_elab *el, cj_ref ref, uint32_t first,
    uint32_t count);
/* Where its operands stand, for messages about the next one. */
void cj_elab_operands(struct cj_elab *el, struct cj_span operation,
    struct cj_span left, struct cj_span right);
struct cj_value cj_elab_binary(struct cj_elab *el, struct cj_span span,
    enum cj_oper op, struct cj_value a, struct cj_value b);
struct cj_value cj_elab_unary(struct cj_elab *el, struct cj_span span,
    enum cj_oper op, struct cj_value a);
struct cj_value cj_elab_fma(struct cj_elab *el, struct cj_span span,
    struct cj_value a, struct cj_value b, struct cj_value c);
/* One pure operation of ops.def over operands brought to one kind and shape:
 * known operands fold. */
struct cj_value cj_elab_apply(struct cj_elab *el, struct cj_span span,
    enum cj_op op, const struct cj_value *args, uint32_t count);
/* The language's T(x). */
struct cj_value cj_elab_convert(struct cj_elab *el, struct cj_span span,
    enum cj_kind to, struct cj_value v, uint32_t conversion);
/* `round = .up, saturate = false` of a conversion; false: reported. */
bool cj_elab_conversion(struct cj_elab *el, struct cj_args *args,
    enum cj_kind to, uint32_t *how);
/* What a slot, argument or result of kind k takes without a conversion
 * written: literals adapt, others must have it. */
struct cj_value cj_elab_coerce(struct cj_elab *el, struct cj_span span,
    enum cj_kind to, struct cj_value v);
/* Registers of `v` in another shape (broadcast); error if it does not fit. */
/* Known extents, and not too many; else an error. */
bool cj_elab_fits_registers(struct cj_elab *el, struct cj_span span,
    const struct cj_tuple *shape);
struct cj_value cj_elab_broadcast(struct cj_elab *el, struct cj_span span,
    struct cj_value v, const struct cj_tuple *shape);
/* Report what stands where a condition is wanted. */
struct cj_value cj_elab_not_condition(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v);
/* A condition: known, or a bool register. False: reported. */
bool cj_elab_condition(struct cj_elab *el, struct cj_span span,
    struct cj_value v, bool *known, bool *truth, cj_ref *ref);

/* ---- expressions (elab_expr.c) ------------------------------------------- */

/* The value; an element of a tensor or a `var` is read. */
struct cj_value cj_elab_expr(struct cj_elab *el, const struct cj_node *n);
/* The place: a TENSOR view (rank 0 for an element) or a PLACE, not read. */
struct cj_value cj_elab_place(struct cj_elab *el, const struct cj_node *n);
struct cj_value cj_elab_if_value(struct cj_elab *el, const struct cj_node *n,
    uint32_t arm);
/* `&&` and `||`: the right side only where it decides. */
struct cj_value cj_elab_logic(struct cj_elab *el, const struct cj_node *n,
    struct cj_value left);
void cj_elab_if(struct cj_elab *el, const struct cj_node *n);
/* A view or a var as registers; others as they are. */
struct cj_value cj_elab_read(struct cj_elab *el, struct cj_span span,
    struct cj_value v);
struct cj_value cj_elab_known(struct cj_elab *el, const struct cj_node *n,
    const char *what);				/* must be known */
struct cj_value cj_elab_type_expr(struct cj_elab *el, const struct cj_node *n);
/* The same; tensor(mbarrier, layout) may stand there. */
struct cj_value cj_elab_memory_type(struct cj_elab *el,
    const struct cj_node *n);
struct cj_value cj_elab_index(struct cj_elab *el, struct cj_span span,
    struct cj_value base, const struct cj_value *at, uint32_t count);

/* ---- names (elab_name.c) ------------------------------------------------- */

struct cj_env *cj_env_push(struct cj_elab *el);
void cj_env_pop(struct cj_elab *el);
struct cj_bound *cj_env_bind(struct cj_elab *el, cj_name name,
    enum cj_binding_kind kind, struct cj_value v, struct cj_span span);
struct cj_bound *cj_env_find(struct cj_env *env, cj_name name);
/* What a text itself declares; NULL: nothing of that name. */
struct cj_decl *cj_file_find(const struct cj_file *f, cj_name name);
/* Any name: local, of the file, imported, of the prelude, built in; lookup
 * reports where there is none. */
bool cj_elab_find(struct cj_elab *el, cj_name name, struct cj_span span,
    struct cj_value *out);
struct cj_value cj_elab_lookup(struct cj_elab *el, cj_name name,
    struct cj_span span);
/* `file.name`; file NULL: `cute.name`. */
struct cj_value cj_elab_file_member(struct cj_elab *el,
    const struct cj_file *f, cj_name name, struct cj_span span);

/* ---- families (elab_family.c) -------------------------------------------- */

/* Once all texts are there, and what the main text declares is listed. */
void cj_families_list(struct cj_unit *u);
void cj_families_list_tunes(struct cj_unit *u);
/* The first member of what `gemm` or `lib.gemm` names; NULL: reported. */
const struct cj_member_info *cj_family_find(struct cj_elab *el,
    const struct cj_node *name);
uint32_t cj_family_count(const struct cj_unit *u,
    const struct cj_member_info *family);

/* ---- statements ---------------------------------------------------------- */

#include "elab_stmt.h"

/* ---- calls (elab_call.c) ------------------------------------------------- */

/* May the program grow? False: reported once. */
bool cj_elab_has_room(struct cj_elab *el, struct cj_span span);

struct cj_named_arg {
	cj_name name;
	struct cj_span span;
	struct cj_value value;
	bool used;
};

struct cj_args {
	struct cj_span span;		/* of the call */
	const struct cj_node *node;	/* NULL: made by elaboration */
	uint32_t count;
	const struct cj_value *at;
	const struct cj_span *spans;
	uint32_t named_count;
	struct cj_named_arg *named;
};

/* A function of the program (elab_function.c). */
struct cj_value cj_elab_call_function(struct cj_elab *el,
    const struct cj_function_value *f, struct cj_args *args);

struct cj_value cj_elab_call_node(struct cj_elab *el,
    const struct cj_node *n);
/* Does no name stand twice in a list? False: reported. */
bool cj_elab_names_once(struct cj_elab *el, const struct cj_list *items);
/* Is a known value in a set or a range? NULL: yes. False: reported. */
bool cj_elab_in_domain(struct cj_elab *el, const struct cj_node *domain,
    struct cj_value v, bool *inside);
struct cj_value cj_elab_call_values(struct cj_elab *el, struct cj_span span,
    struct cj_value callee, const struct cj_value *at, uint32_t count);
/* Argument by name, or NULL; marks it used. */
const struct cj_value *cj_arg_named(struct cj_elab *el, struct cj_args *args,
    const char *name);
/* Where it stands; without one, the call. */
struct cj_span cj_arg_named_span(struct cj_elab *el,
    const struct cj_args *args, const char *name);

/* ---- built-in names (elab_builtin*.c, builtins.def) ---------------------- */

enum {
	CJ_BUILTIN_PLACE = 1,	/* the first argument is a place, not read */
	CJ_BUILTIN_TEST = 2,	/* tests and benches only */
	CJ_BUILTIN_DEVICE = 4,	/* device code only */
	CJ_BUILTIN_HOST = 8,	/* the host part only */
	CJ_BUILTIN_EACH = 16,	/* element by element: maps over arrays */
	CJ_BUILTIN_NODE = 32,	/* arguments are not evaluated: args->node */
	CJ_BUILTIN_PLACES = 64	/* all arguments are places */
};

typedef struct cj_value cj_builtin_fn(struct cj_elab *el,
    struct cj_args *args, const struct cj_builtin *row);

enum { CJ_MANY_ARGUMENTS = 65535 };	/* of a row: no upper limit */

struct cj_builtin {
	const char *name;
	cj_builtin_fn *run;	/* NULL: a value, made by `make` */
	struct cj_value (*make)(struct cj_elab *el, struct cj_span span);
	uint16_t least, most;	/* arguments by position */
	const char *named;	/* names, separated by blanks */
	unsigned flags;
	enum cj_op op;		/* of the rows that are one operation */
};
/* Do number and names of the arguments fit the row (elab_form.c)? */
bool cj_elab_check_arguments(struct cj_elab *el, const struct cj_builtin *b,
    const struct cj_args *args);
/* Argument i as a layout or a tuple; NULL: reported. */
const struct cj_layout *cj_arg_layout(struct cj_elab *el,
    struct cj_args *args, uint32_t i);
const struct cj_tuple *cj_arg_tuple(struct cj_elab *el, struct cj_args *args,
    uint32_t i);
/* A layout as the result, or the refusal of operation `name`. */
struct cj_value cj_arg_result(struct cj_elab *el, struct cj_span span,
    const struct cj_layout *l, const char *name);

#define BUILTIN(name, least, most, named, flags)			\
	cj_builtin_fn cj_builtin_##name;
#define VALUE(name)							\
	struct cj_value cj_builtin_value_##name(struct cj_elab *el,	\
	    struct cj_span span);
#include "builtins.def"

extern const struct cj_builtin cj_builtins[];
extern const unsigned cj_builtin_count;
const struct cj_builtin *cj_builtin_lookup(const char *name);

/* ---- pipelines (elab_async.c, elab_async_check.c) ------------------------ */

/* The pipeline that an instruction fills or reads; NULL: another function's. */
const struct cj_pipe *cj_elab_pipe_of(const struct cj_elab *el,
    const struct cj_inst *i);
/* Roles (elab_role.c): a role, order or turn; what stands in front of any other
 * statement; the launch is complete. */
void cj_elab_role(struct cj_elab *el, const struct cj_node *n);
void cj_elab_order(struct cj_elab *el, const struct cj_node *n);
void cj_elab_turn(struct cj_elab *el, const struct cj_node *n);
/* Has each turn a taker, and holds none what waits for others? */
void cj_elab_check_turns(struct cj_elab *el);
void cj_elab_behind_roles(struct cj_elab *el, const struct cj_node *n);
void cj_elab_check_roles(struct cj_elab *el);
/* Refuse roles that do not agree on stages and turns (elab_role_check.c). */
void cj_elab_compare_roles(struct cj_elab *el);
/* Threads of the role that is open, or of the block; 0: not known. */
int64_t cj_elab_threads_here(const struct cj_elab *el);
/* Refuse what needs all threads of the block inside of a role. */
bool cj_elab_needs_block(struct cj_elab *el, struct cj_span span,
    const char *what);

void cj_elab_pipeline(struct cj_elab *el, const struct cj_node *n);
void cj_elab_stage(struct cj_elab *el, const struct cj_node *n);
/* May elements of t be read or written here? Only stages have an answer of
 * their own; false: reported. */
bool cj_elab_stage_allows(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, bool writes);
/* Inside a produce block that runs ahead: reports a name of its loop's turn. */
bool cj_elab_ahead_hides(struct cj_elab *el, const struct cj_bound *name,
    struct cj_span span);
/* A loop with ahead() is complete; a launch is. */
void cj_elab_check_ahead(struct cj_elab *el, cj_ref loop);
void cj_elab_check_pipelines(struct cj_elab *el);
/* Filled and read by the same threads? */
bool cj_pipe_is_local(const struct cj_pipe *p);
/* The bit of the role that is open. */
uint64_t cj_elab_role_bit(const struct cj_elab *el);

/* ---- tests and benches: elab_test*.c, called from the above in TEST time - */

/* Is it an array of a test (a TENSOR of an ARRAY object)? */
static inline bool
cj_elab_is_array(const struct cj_elab *el, const struct cj_value *v)
{
	return v->kind == CJ_VALUE_TENSOR && el->time == CJ_TIME_TEST &&
	    el->m->objects.at[v->tensor->object].kind == CJ_OBJECT_ARRAY;
}

/*
 * Element-wise work with at least one array (or an array expression) among
 * the arguments: a new array, whose elements are what `each` gives for the
 * scalars at one index. `each` is called once, inside the region. Operators,
 * conversions, CJ_BUILTIN_EACH rows and functions of the prelude come here.
 */
typedef struct cj_value cj_each(struct cj_elab *el, void *user,
    const struct cj_value *args, uint32_t count);
struct cj_value cj_elab_array_map(struct cj_elab *el, struct cj_span span,
    const struct cj_value *args, uint32_t count, cj_each *each, void *user);
/* y = v for a whole array or a view of one; v an array or a scalar. */
void cj_elab_array_assign(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *y, struct cj_value v);
/* How two values become one: by an operation or, NONE, by a function. */
struct cj_combine {
	enum cj_op op;			/* NONE: f */
	const struct cj_value *f;
	struct cj_span span;
	bool is_ordered;	/* f(a, b) may not be f(b, a) */
};
struct cj_value cj_elab_combined(struct cj_elab *el,
    const struct cj_combine *c, struct cj_value a, struct cj_value b);
/* Of an array; `along` NULL: over all elements. */
struct cj_value cj_elab_array_reduce(struct cj_elab *el,
    const struct cj_combine *c, struct cj_value v,
    const struct cj_value *along);
/* Its elements in order, in another shape. */
struct cj_value cj_elab_array_reshape(struct cj_elab *el, struct cj_span span,
    struct cj_value v, const struct cj_tuple *shape);
/* LAUNCH without a body, and TIME. */
void cj_elab_test_call(struct cj_elab *el, const struct cj_node *n);

#include "elab_tensor.h"

#endif
