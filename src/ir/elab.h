/*
 * Elaboration: from the tree of a text to IR, for one set of compile-time
 * arguments.
 *
 * One walk evaluates what is known, checks types, inlines calls, unrolls
 * static loops and emits IR for the rest. It asks layout/ for every layout
 * operation. Wrong text becomes diagnostics at spans, with the trail of calls
 * and loop turns that led there.
 *
 *	unit    a text with everything it imports, parsed and resolved once.
 *		Whoever elaborates adds functions of the library to it, on its
 *		memory: one thread at a time
 *	member  one kernel declaration of a family (kernels of one name)
 *	binding the compile-time arguments of a member: const parameters, names
 *		bound by tensor patterns, ranks of *S
 *	module  IR of a member for a binding and a target
 */
#ifndef CJ_ELAB_H
#define CJ_ELAB_H

#include "ir.h"
#include "parser/parser.h"

/* ---- units --------------------------------------------------------------- */

/* Finds the text of an import; false: there is none, and *text says why.
 * `from` is the name of the importing text. The text lives as long as the
 * unit. A name that is in use already stands for the text that has it. */
typedef bool cj_import(void *user, const char *from, const char *path,
    const char **name, const char **text, size_t *length);

struct cj_unit;

/*
 * What is in scope everywhere: the names of cute/prelude.cute and where they
 * stand. It never changes, so that units of all threads can share it. Units
 * must not outlive it.
 */
struct cj_prelude;
const struct cj_prelude *cj_prelude_load(struct cj_arena *a);

struct cj_unit_text {
	const struct cj_prelude *prelude;
	struct cj_names *names;		/* both begun by cj_unit_begin() */
	struct cj_sources *sources;
	uint32_t source;		/* the text: an index of `sources` */
	cj_import *import;		/* NULL: only "cute/..." */
	void *user;
};

/* Names and sources of a unit: those of the prelude, to be added to. */
void cj_unit_begin(struct cj_unit_text *t, struct cj_arena *a);

/*
 * Parse and resolve a text and all it imports. Never NULL: `ds` counts the
 * errors. "cute/..." comes from the library itself.
 */
struct cj_unit *cj_unit_load(struct cj_arena *a,
    const struct cj_unit_text *text, struct cj_diags *ds);

/* Every text in use, in order of loading: source indices. */
uint32_t cj_unit_sources(const struct cj_unit *u, const uint32_t **sources);
uint32_t cj_unit_prelude(const struct cj_unit *u);	/* which of them */

/* ---- what is in it ------------------------------------------------------- */

/*
 * Members of all families that the main text can launch, by the name that it
 * has for them: its own in order of the text, then those of its imports, as
 * "gemm", or "lib.gemm" behind `import ... as lib`.
 */
struct cj_file;
struct cj_member_info {
	const char *kernel;		/* what the main text says */
	uint32_t member;		/* within its family */
	const struct cj_file *file;	/* where it is declared */
	const struct cj_node *node;	/* the declaration */
	struct cj_span span;
	bool is_imported;
};
uint32_t cj_unit_members(const struct cj_unit *u,
    const struct cj_member_info **members);

/* Two imports have a kernel of this name, so that it means neither: the texts
 * of both. */
bool cj_unit_clash(const struct cj_unit *u, const char *kernel,
    const char **first, const char **second);

enum cj_parameter_kind { CJ_PARAMETER_CONST, CJ_PARAMETER_TENSOR,
    CJ_PARAMETER_SCALAR };
struct cj_parameter_info {
	const char *name;
	enum cj_parameter_kind kind;
	enum cj_kind scalar;		/* of a scalar; VOID: of a const type */
	bool is_array;			/* x: tensor(...)[n] */
	bool has_default;
	const char *type;		/* as written */
	/* of a const without a default: what its set or range says alone */
	const char *const *values;
	uint32_t value_count;
};
uint32_t cj_member_parameters(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_member_info *m, const struct cj_parameter_info **out);

struct cj_test_info {
	const char *name;
	const struct cj_node *node;
	struct cj_span span;
	bool is_bench;
};
/* Tests and benches of the main text, in order. */
uint32_t cj_unit_tests(const struct cj_unit *u,
    const struct cj_test_info **tests);

/* ---- other languages ----------------------------------------------------- */

/* extern cuda, extern bitcode. */
struct cj_extern_text {
	bool is_bitcode;
	const char *name;	/* of the file it stands in */
	uint32_t line;		/* in that, of its first character */
	const char *text;
	size_t length;
	struct cj_span span;	/* of the declaration */
};
uint32_t cj_unit_extern_texts(const struct cj_unit *u,
    const struct cj_extern_text **texts);

/* extern fn; VOID: it gives nothing. Those with wrong types are left out. */
struct cj_extern_fn {
	const char *name;
	struct cj_span span;
	enum cj_kind result;
	uint32_t count;
	const enum cj_kind *kinds;
};
uint32_t cj_unit_extern_fns(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_extern_fn **fns);

/* ---- binding ------------------------------------------------------------- */

/* A run-time argument as the caller has it. Strides in elements. */
struct cj_actual {
	bool present;			/* false: left out */
	bool is_tensor;
	enum cj_kind kind;		/* element, or of the scalar */
	uint32_t rank;
	const int64_t *extents, *strides;
	uint64_t bits;			/* of a scalar */
	/* x: tensor(...)[n]: `count` tensors, the others stand in `more` */
	uint32_t count;
	const struct cj_actual *more;
};

/* A compile-time argument by name: text in the language ("f16", "(128, 64)"),
 * or, from a test, a value of the elaborator. */
struct cj_const_argument {
	const char *name;
	const char *text;
	const void *value;
};

struct cj_binding;

/*
 * Bind the compile-time arguments of a member. Texts of arguments become
 * sources of the unit, so calls for one unit take turns. `actuals` has one
 * element per run-time parameter (NULL: none are known, as for `cutec
 * compile`; then everything must come from `consts` and defaults). NULL if the
 * member does not fit: *why says so in one line ("x: needs rank 2, got 3"),
 * and *span
 * where the text asks for it; or if the text itself is wrong (then `ds` has
 * more errors).
 */
const struct cj_binding *cj_bind(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_member_info *m, const struct cj_const_argument *consts,
    uint32_t const_count, const struct cj_actual *actuals,
    uint32_t actual_count, struct cj_diags *ds, const char **why,
    struct cj_span *span);

/* "T=f16, threads=256, rank(S)=2": equal texts are equal bindings. */
const char *cj_binding_text(const struct cj_binding *b);

/* ---- tuning -------------------------------------------------------------- */

struct cj_tune_info {
	const char *kernel;		/* as in struct cj_member_info */
	const struct cj_node *node;
	struct cj_span span;
	bool is_imported;
};
/* `tune` declarations of the main text, in order, then those of imports about
 * kernels that it can launch. */
uint32_t cj_unit_tunes(const struct cj_unit *u,
    const struct cj_tune_info **tunes);

/* "tile, stages" */
const char *cj_tune_names(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_tune_info *t);

/* Values for the names of a tune, as texts. */
struct cj_candidate {
	const struct cj_const_argument *consts;
	uint32_t count;
	const char *text;		/* "tile=(128, 64); stages=3" */
};
/* All candidates that `where` lets through. False: reported. */
bool cj_elab_tune(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_tune_info *t, struct cj_candidate **out, uint32_t *count,
    struct cj_diags *ds);
/* What a binding has for the names of a kernel's searches, in order, each once:
 * "tile=(128, 64); stages=3". */
const char *cj_tune_bound(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_binding *b, const char *kernel);
/* A compile-time argument as a text. */
const char *cj_const_text(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_const_argument *c);

/* ---- modules ------------------------------------------------------------- */

/* What is checked at accesses: nothing (memory has its own bounds), the extent
 * of each mode, for the executor, which sees by itself what leaves the memory,
 * or whatever is not proved (elab_bounds.c). */
enum cj_bounds { CJ_BOUNDS_MEMORY, CJ_BOUNDS_MODES, CJ_BOUNDS_ALL };

/* What a module is made for. */
struct cj_aim {
	const struct cj_target *target;
	enum cj_bounds bounds;
};

/*
 * Elaborate a member. Function 1 is the host function: its leaves are what it
 * needs of the run-time arguments. NULL if there were errors.
 */
struct cj_module *cj_elab_kernel(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_member_info *m, const struct cj_binding *b,
    const struct cj_aim *aim, struct cj_diags *ds);
/* Its contract alone: a host function that checks what parameters and `where`
 * demand, and launches nothing. NULL if that much has errors; says nothing. */
struct cj_module *cj_elab_contract(struct cj_arena *a,
    const struct cj_unit *u, const struct cj_member_info *m,
    const struct cj_binding *b, const struct cj_aim *aim);

/* Values of a test's `over` names. */
struct cj_combination {
	uint32_t number;	/* 0 first */
	uint32_t count;		/* out: how many there are */
	const char *name;	/* out: "relu [T=f16, n=4096]", on the arena;
				   where there were errors, too */
};

/*
 * Elaborate a test or a bench for one combination. Function 1 is the test
 * function; the module has the combination's name. NULL if there were errors.
 */
struct cj_module *cj_elab_test(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_test_info *t, struct cj_combination *c,
    struct cj_diags *ds);

/* Compile-time arguments that a test's call gives (struct cj_call.binding). */
uint32_t cj_call_consts(const struct cj_call *c,
    const struct cj_const_argument **consts);

/* Value of a compile-time expression, printed; for `cutec layout` and the
 * library. NULL if there were errors. */
const char *cj_elab_expression(struct cj_arena *a, const struct cj_unit *u,
    const char *text, struct cj_diags *ds);

/*
 * An array argument of the command: normal(f16, row_major(4, 8), seed = 1).
 * A module with one test function that makes the array and hands it to the
 * `call` hook as the one argument of a record whose kernel is NULL.
 */
struct cj_module *cj_elab_array(struct cj_arena *a, const struct cj_unit *u,
    const char *text, struct cj_diags *ds);

#endif
