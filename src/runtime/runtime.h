/*
 * Front header of runtime/: the library behind cutejit.h.
 *
 * work     one public call: its memory, deadline, messages, way out
 * context  options, cache, assembler, what threads last reported
 * module   a unit of elab.h with its names and sources, behind one lock
 * program  a compiled kernel, shared by all who ask for the same
 * kernel   a program together with the module it is of
 * launch   a kernel and its arguments (launch.c)
 *
 *	public function -> cj_enter(context, body, arguments) -> body(work)
 *
 * Only cj_enter sets a recovery point. Whatever a body holds besides arenas
 * (locks, files, references) it gives to cj_defer while code that may leave
 * runs. Reference counts decide when memory goes, so that handles may be
 * destroyed in any order.
 */
#ifndef CJ_RUNTIME_H
#define CJ_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/base.h"
#include "codegen/codegen.h"
#include "cutejit.h"
#include "ir/elab.h"
#include "ir/interp.h"

/* ---- reports (report.c) -------------------------------------------------- */

struct cutejit_report {
	struct cj_arena arena;
	struct cj_recover recover;	/* of the arena, while it is filled */
	const cutejit_diagnostic *at;
	size_t count;
	const char *plain, *colour;	/* printed; "" if there is nothing */
	const char *value;		/* a text that the call gives */
};

void cj_report_init(struct cutejit_report *r, const struct cj_allocator *mem);
void cj_report_fini(struct cutejit_report *r);
/* Forget what it holds; it says that memory is short. */
void cj_report_no_memory(struct cutejit_report *r);
/* Forget what it holds and copy `ds`, and `value` if not NULL. False: memory
 * is short, and the report says so. */
bool cj_report_fill(struct cutejit_report *r, const struct cj_diags *ds,
    const char *value);
/* The same, behind what `first` holds, which must live as long. */
bool cj_report_join(struct cutejit_report *r,
    const struct cutejit_report *first, const struct cj_diags *ds);
void cj_place_of(cutejit_place *out, const struct cj_sources *sources,
    struct cj_span span);

/* ---- work (enter.c) ------------------------------------------------------ */

struct cj_ahead;
struct cj_recipe;
struct cj_program;

enum { CJ_CLEANUPS = 24 };

struct cj_cleanup {
	void (*run)(void *object);
	void *object;
};

struct cj_work {
	struct cutejit_context *context;
	struct cj_recover recover;
	struct cj_arena arena;		/* until the call ends */
	struct cj_diags diags;
	struct cj_cleanup cleanups[CJ_CLEANUPS];
	unsigned cleanup_count;
	bool is_mute;			/* no memory for its messages */
	int64_t deadline;		/* cj_clock; 0: none */
	const char *value;		/* text for the caller, or NULL */
	const char **value_at;
	struct cutejit_module *reads;	/* held: messages name its texts */
	/* for the report of a fault */
	const struct cutejit_module *module;
	const char *doing;
	const struct cj_recipe *recipe;	/* NULL, or what was made last */
	struct cj_program *program;	/* held */
	struct cj_ahead *ahead;		/* NULL, or while an image is made */
};

typedef cutejit_status cj_body(struct cj_work *f, void *arguments);
cutejit_status cj_enter(struct cutejit_context *c, cj_body *body,
    void *arguments);

/*
 * Run `run(object)` if control leaves before cj_undefer, which takes back the
 * newest. The object must not lie on the stack: when control has left, that is
 * gone. Arenas of the work and of handles that are held will do.
 */
void cj_defer(struct cj_work *f, void (*run)(void *object), void *object);
void cj_undefer(struct cj_work *f);
void cj_defer_lock(struct cj_work *f, pthread_mutex_t *lock);	/* locks */
void cj_undefer_lock(struct cj_work *f);			/* unlocks */

/* Leaves if the deadline has passed or the caller cancels. */
void cj_check_time(struct cj_work *f);
int64_t cj_clock(void);				/* monotonic, nanoseconds */
double cj_ms_since(int64_t start);
/* Whether the time is over, without leaving. */
bool cj_is_late(const struct cj_work *f);

/* A message without a place; returns the status for convenience. */
cutejit_status cj_fail(struct cj_work *f, cutejit_status status,
    enum cj_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void cj_say_help(struct cj_work *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));	/* of the newest message */
/* Take back what was said since `before`. */
void cj_forget_messages(struct cj_work *f, const struct cj_diags *before);
/* A fault of a tool or of code generation: leaves. */
noreturn void cj_fault(struct cj_work *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Give a text to the caller, who sees a copy in *at after the call. */
void cj_give(struct cj_work *f, const char *text, const char **at);

/* ---- a watch over runs that cannot look at the clock themselves ---------- */

struct cj_watch {
	atomic_int stop;	/* set when time is over */
	atomic_int done;
	bool running;
	pthread_t thread;
	struct cj_work *work;
};
void cj_watch_begin(struct cj_watch *w, struct cj_work *f);
void cj_watch_end(struct cj_watch *w);
/* One that ends with the body, and leaves at its drop if time is over. */
struct cj_watch *cj_watch_hold(struct cj_work *f);
void cj_watch_drop(struct cj_work *f, struct cj_watch *w);

/* ---- handles (handle.c) -------------------------------------------------- */

/*
 * What modules, kernels, launches and arrays begin with. Where assertions are
 * on, the memory of the last ones that are gone is kept, so that whoever uses
 * one that was destroyed is told so; elsewhere only NULL is found.
 */
enum cj_handle_kind { CJ_GONE, CJ_MODULE = 0x4d4f4455, CJ_KERNEL,
    CJ_LAUNCH, CJ_ARRAY };
struct cj_handle {
	atomic_int kind;		/* of enum cj_handle_kind */
	struct cutejit_context *context;
	struct cj_handle *next;		/* of those that are gone */
};
enum { CJ_KEPT_HANDLES = 64 };

void cj_handle_init(void *handle, enum cj_handle_kind kind,
    struct cutejit_context *c);
/* The caller has destroyed it; it may live on inside. False: nothing was there
 * to destroy. */
bool cj_handle_close(void *handle, enum cj_handle_kind kind);
/* Its memory is not needed any more. */
void cj_handle_free(struct cutejit_context *c, void *handle);
void cj_handles_fini(struct cutejit_context *c);
/* CUTEJIT_USAGE; for a handle that was destroyed with a message. */
cutejit_status cj_handle_refuse(const void *handle);
/* CUTEJIT_USAGE, said in the report where there is a context to have one. */
cutejit_status cj_misuse(struct cutejit_context *c, const char *what);
cutejit_status cj_handle_misuse(const void *handle, const char *what);

static inline bool
cj_is(const void *handle, enum cj_handle_kind kind)
{
#ifdef NDEBUG
	(void)kind;
	return handle != NULL;
#else
	const struct cj_handle *h = handle;

	return h != NULL && atomic_load(&h->kind) == (int)kind;
#endif
}

/* ---- contexts ------------------------------------------------------------ */

struct cj_store;
struct cj_program;
struct cj_assembler;
struct cj_generation;

struct cj_thread_report {
	pthread_t thread;
	struct cutejit_report report;
	struct cj_thread_report *next;
};

struct cutejit_context {
	atomic_int references;
	struct cj_allocator mem;
	struct cj_arena arena;		/* texts of the options, the prelude */
	const struct cj_prelude *prelude;
	struct cj_recover recover;
	cutejit_options options;
	pthread_mutex_t lock;		/* of what follows */
	struct cj_thread_report *reports, first_report;
	struct cj_handle *gone;		/* oldest first */
	uint32_t gone_count;
	struct cj_store *store;		/* cache_disk.c; never NULL */
	struct cj_assembler *assembler;	/* assemble.c; NULL: not looked for */
	struct cutejit_module *blank;	/* a module without text, or NULL */
	struct cj_resident *resident;	/* resident.c: newest first */
	/* generate.c: newest first */
	struct cj_generation *generations;
	uint32_t generation_count;
	pthread_cond_t generated;	/* one of them is done */
	atomic_bool is_closed;		/* the caller has destroyed it */
	/* tune_table.c: winners by device, under a lock of their own */
	pthread_mutex_t tuned_lock;
	struct cj_tuned_device *tuned;
	atomic_ulong tunings;		/* kept so far */
};

void *cj_take(struct cutejit_context *c, size_t bytes);	/* zeroed; or NULL */
void cj_give_back(struct cutejit_context *c, void *memory);
void cj_context_hold(struct cutejit_context *c);
void cj_context_drop(struct cutejit_context *c);
void cj_log(struct cutejit_context *c, cutejit_log_level level,
    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Settings of warnings as the context has them. */
void cj_set_warnings(struct cj_work *f, const struct cj_sources *sources);
/* Did the caller name remarks? Then what another call made, which did not look
 * for them, will not do. */
bool cj_wants_remarks(const struct cutejit_context *c);

/* Copy a structure of options of the caller's size over `known` bytes that
 * hold the defaults. False: a size that cannot be, or an unknown member set. */
bool cj_options_copy(void *to, size_t known, const void *from);

/* ---- files of texts (import.c) ------------------------------------------- */

struct cj_importing {
	struct cj_work *f;
	struct cj_arena *arena;
	CJ_VEC(struct cj_imported) files;	/* read so far, the first too */
	const char *why;		/* the last file cannot be imported */
};

/* The bytes of a file on the arena, terminated; NULL: errno. */
char *cj_read_file(struct cj_arena *a, const char *path, size_t *length);
/* Imports of a text of this name, which may be a file's, are looked for. */
void cj_import_begin(struct cj_importing *im, const char *first);
/* The cj_import of elab.h: the caller's own texts first, then files. */
bool cj_import_find(void *user, const char *from, const char *path,
    const char **name, const char **text, size_t *length);

/* ---- modules ------------------------------------------------------------- */

struct cj_program_table {
	pthread_mutex_t lock;
	struct cj_program **slots;	/* open addressing, a power of two */
	uint32_t count, cap;
};

/* Calls like one before (quick.c). */
struct cj_quick_table {
	pthread_mutex_t lock;
	struct cj_quick **buckets;	/* NULL: none yet */
	uint32_t count;
	struct cj_quick *recent;	/* NULL: none, or it went */
	uint64_t clock;
	_Atomic(const struct cj_cuda *) cu;	/* NULL: none yet */
};

struct cutejit_module {
	struct cj_handle handle;
	atomic_int references;
	struct cutejit_context *context;
	bool is_blank;			/* holds no reference of its context */
	struct cj_arena arena;		/* texts, trees, tables below */
	struct cj_recover *nowhere;	/* while no work uses the arena */
	pthread_mutex_t lock;		/* of elaboration */
	struct cj_names names;
	struct cj_sources sources;
	struct cj_unit *unit;
	struct cj_digest digest;	/* of all texts */
	struct cutejit_report report;
	const struct cj_member_info *infos;
	const struct cj_parameter_info **parameters;	/* by member */
	uint32_t *parameter_counts;
	cutejit_member *members;	/* own ones, then imported ones */
	uint32_t own_count, member_count;
	const struct cj_test_info *test_infos;
	cutejit_test *tests;
	uint32_t test_count;
	const struct cj_tune_info *tune_infos;	/* declarations */
	uint32_t tune_info_count;
	cutejit_tune *tunes;		/* one for each kernel, own first */
	const char **spaces;		/* what their winners are for */
	uint32_t own_tune_count, tune_count;
	const char **shipped;		/* winners that came along, of each; or
					   NULL */
	atomic_bool has_told_misfit;	/* of winners */
	const char **files;
	uint32_t file_count;
	struct cj_program_table programs;
	struct cj_quick_table quick;
};

void cj_module_hold(struct cutejit_module *m);
void cj_module_drop(struct cutejit_module *m);
/* The context's module without text; not to be dropped. */
struct cutejit_module *cj_module_blank(struct cj_work *f);

/* Between these, elaboration of the module belongs to the work. */
void cj_module_enter(struct cj_work *f, struct cutejit_module *m);
void cj_module_leave(struct cj_work *f, struct cutejit_module *m);
/* Between them: its texts as they are now, for who reads them later, while
 * others elaborate. They live as long as the module. */
const struct cj_sources *cj_sources_now(const struct cutejit_module *m,
    struct cj_arena *a);

/* First member of the family; NULL with a message if there is none. */
const struct cj_member_info *cj_module_family(struct cj_work *f,
    const struct cutejit_module *m, const char *kernel, uint32_t *count);
/* Run-time parameters of a member, in order; has it a compile-time one of this
 * name? */
uint32_t cj_run_parameters(struct cj_work *f, const struct cutejit_module *m,
    const struct cj_member_info *member,
    const struct cj_parameter_info ***out);
bool cj_is_constant(const struct cutejit_module *m,
    const struct cj_member_info *member, const char *name);

/* ---- arguments (argument.c) ---------------------------------------------- */

/* One tensor of the caller, in units of the language's element type. */
struct cj_view {
	char *data;			/* element at coordinate 0 */
	enum cj_kind kind;
	uint32_t rank;
	const int64_t *extents, *strides;	/* elements */
	int64_t lo, hi;			/* elements reached: lo ... hi - 1 */
	int device_type, device_id;
	bool is_read_only;		/* says who gave it */
	struct cj_memory *memory;	/* of a test's array, or NULL */
	int64_t origin;			/* of the view in it, in elements */
};

/* The arguments of a call by run-time parameter. */
struct cj_arguments {
	struct cj_arena *arena;		/* set first: where all of it lies */
	uint32_t count;
	struct cj_actual *actuals;	/* as cj_bind wants them */
	struct cj_view **views;		/* per parameter: one per tensor */
	const char **names;
};

/* Sort and convert the caller's arguments for a member's parameters. */
cutejit_status cj_arguments_read(struct cj_work *f,
    const struct cutejit_module *m, const struct cj_member_info *member,
    const cutejit_argument *given, size_t count, struct cj_arguments *out);

/* Bits of the leaves of a host function, one uint64_t per register. */
uint64_t *cj_leaf_values(struct cj_arena *a, const struct cj_module *ir,
    uint32_t function, const struct cj_arguments *args);

/* Do two views touch one byte (reach.c)? */
bool cj_views_meet(const struct cj_view *a, const struct cj_view *b);
/* The first mode in which two coordinates of one place differ; -1: none. */
int cj_view_meets_itself(const struct cj_view *v);

/* NULL, or why the tensors may not be given together ("\"y\" overlaps ..."). */
const char *cj_overlap(struct cj_arena *a, const struct cj_module *ir,
    const struct cj_arguments *args);
/* NULL, or which tensor may not be written, and is. */
const char *cj_read_only(struct cj_arena *a, const struct cj_module *ir,
    const struct cj_arguments *args);

/* The tensors of a call by number, and the pairs of them that must not share
 * memory: what is left to check when nothing but addresses changes. */
struct cj_tensors {
	uint32_t *first;		/* number of a parameter's first */
	uint32_t count;
	struct cj_pair {
		uint32_t a, b;
		int64_t a_begin, a_end, b_begin, b_end;	/* bytes */
		bool may_be_same;	/* the very same view is allowed */
	} *pairs;
	uint32_t pair_count;
};
void cj_tensors_number(struct cj_arena *a, const struct cj_arguments *args,
    struct cj_tensors *out);
void cj_tensors_pair(struct cj_arena *a, const struct cj_module *ir,
    const struct cj_arguments *args, struct cj_tensors *t);
/* `address` of element 0 by number of the tensor. */
bool cj_tensors_overlap(const struct cj_tensors *t, const uintptr_t *address);

/* Bits of a number for a leaf, by way of the kind that the argument was read
 * as. False: only the long way can tell. */
bool cj_scalar_bits(const cutejit_argument *g, enum cj_kind as,
    enum cj_kind leaf, uint64_t *bits);
/* Largest power of two, up to 1024, that divides an address. */
uint64_t cj_alignment(const void *data);

/* ---- programs (compile.c, program.c) ------------------------------------- */

enum cj_stage { CJ_STAGE_NONE, CJ_STAGE_IR, CJ_STAGE_PTX, CJ_STAGE_IMAGE };

/* What decides a program: two equal ones are one program. */
struct cj_recipe {
	const struct cj_member_info *member;
	const struct cj_binding *binding;
	const char *binding_text;
	const struct cj_target *target;
	int level, ptx;
	bool checked, lineinfo;
	bool watched;			/* for the executor, with its checks */
	/* how it is made, not what */
	bool look_on_disk;		/* even for an early stage */
	bool is_fresh;			/* not from memory */
};

enum { CJ_PHASES = 8 };

struct cj_program {
	atomic_int references;
	struct cutejit_context *context;	/* lives longer */
	struct cj_digest recipe;	/* of the recipe and the texts */
	pthread_mutex_t lock;		/* of making */
	atomic_int stage;		/* enum cj_stage; what is set stays */
	struct cj_arena arena;
	struct cj_recover *nowhere;

	uint32_t member;		/* of its family */
	const char *kernel, *binding;
	const struct cj_target *target;
	int level;
	struct cj_digest key;		/* of the cache; stage IMAGE */
	cutejit_origin origin;

	struct cj_module *ir;		/* stage IR: after all passes */
	/* for the executor, by function; made at first use, under the lock */
	_Atomic(const struct cj_decoded *) *_Atomic decoded;
	const char *ptx;		/* stage PTX */
	size_t ptx_length;
	const char *cubin;		/* stage IMAGE; NULL: no assembler */
	size_t cubin_length;
	const char *assembler;		/* "ptxas 13.0.88", or "" */
	const char *advice;		/* its lines of lost speed, or NULL */
	/* stage PTX; at IMAGE others with numbers, and the old ones stay for
	   who has them */
	_Atomic(cutejit_entry *) entries;
	uint32_t *functions;		/* of each entry, in the IR */
	int64_t *dynamic;		/* of each entry: shared bytes */
	uint32_t entry_count;
	struct cutejit_report report;	/* warnings and remarks */
	/* the same and what the assembler told, if it told anything */
	struct cutejit_report whole;
	atomic_bool has_whole;
	cutejit_phase phases[CJ_PHASES];
	_Atomic uint32_t phase_count;	/* may be read at any stage */

	struct cj_image *image;		/* device_cuda.c; stage IMAGE */
};

struct cutejit_kernel {
	struct cj_handle handle;
	atomic_int references;
	struct cutejit_module *module;
	struct cj_program *program;
	struct cj_recipe recipe;	/* binding: NULL */
	cutejit_kernel_info info;
	char key[65];
	pthread_mutex_t lock;		/* of the artifacts */
	struct cj_arena arena;		/* artifacts, texts of info */
	struct cj_recover *nowhere;
	struct cj_artifact *artifacts;
	/* to bind again */
	cutejit_constant *constants;
	size_t constant_count;
	struct cj_actual *actuals;
	uint32_t actual_count;
};

/* Find or make the program of a recipe, up to a stage at least. On CUTEJIT_OK
 * *out is held for the caller. */
cutejit_status cj_program_get(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, enum cj_stage stage, struct cj_program **out);
void cj_program_drop(struct cj_program *p);
void cj_program_hold(struct cj_program *p);

/* Local memory of an image and its assembler's advice (spill.c): the program's
 * report has them, once its numbers are known and under its lock; so does the
 * call's, for which they may be an error. */
void cj_spills_keep(struct cj_work *f, struct cj_program *p);
cutejit_status cj_spills_tell(struct cj_work *f, const struct cj_program *p);

/* Lines of an assembler's text that speak of lost performance, on `a`; and
 * reports of those that the program has (advice.c). */
const char *cj_advice_of(struct cj_arena *a, const char *text);
void cj_advice_report(struct cj_diags *ds, const struct cj_program *p);
/* Does a cubin ignore registers of roles, as nvJitLink's do, where the driver
 * would not? And for who takes the cubin: that it does. */
bool cj_advice_is_of_units(const char *advice);
cutejit_status cj_advice_tell_cubin(struct cj_work *f,
    const struct cj_program *p);

/* Elaborate anew, without passes. */
struct cj_module *cj_elaborate(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, struct cj_arena *a, struct cj_diags *ds);
/* A program that checks the contract and launches nothing, for the executor; it
 * is dropped by a cj_defer() that the caller takes back. Its IR is NULL where
 * the contract itself has errors, of which nothing is said. */
struct cj_program *cj_program_of_contract(struct cj_work *f,
    struct cutejit_module *m, const struct cj_recipe *r);

/* ---- choosing a member (choose.c) ---------------------------------------- */

struct cj_misfit_note {
	uint32_t member;
	struct cj_span span;
	enum cj_code code;
	const char *why;
	bool is_target;			/* it is for other chips */
};

/* What is asked for, and how far the search has come. */
struct cj_choice {
	const char *kernel;
	int member;			/* -1: the first that fits */
	struct cj_const_argument *consts;
	uint32_t const_count;
	const struct cj_arguments *arguments;	/* NULL: none are known */
	bool target_is_given;		/* else a member may choose */
	/* the search */
	const struct cj_member_info *family;
	uint32_t count, next;
	CJ_VEC(struct cj_misfit_note) misfits;
};

/* The family and its compile-time arguments; a message if that cannot be. */
cutejit_status cj_choice_begin(struct cj_work *f, struct cutejit_module *m,
    const char *kernel, const cutejit_compile_options *o,
    struct cj_choice *out);
/* The next member that binds goes to r->member, binding, binding_text and
 * target. False: none is left, or (*status is not OK) the text is wrong. */
bool cj_choice_next(struct cj_work *f, struct cutejit_module *m,
    struct cj_choice *c, struct cj_recipe *r, cutejit_status *status);
/* The member that was chosen last does not fit after all. */
void cj_choice_pass(struct cj_work *f, struct cj_choice *c,
    enum cj_code code, const char *why);
/* Report why none fits. */
cutejit_status cj_choice_fail(struct cj_work *f, struct cj_choice *c);

/* The program of this digest, held; made empty if there is none. NULL: no
 * memory. */
struct cj_program *cj_table_get(struct cutejit_context *c,
    struct cj_program_table *t, const struct cj_digest *d);
void cj_table_fini(struct cutejit_context *c, struct cj_program_table *t);

/* ---- targets and small things -------------------------------------------- */

/* The target for `name`, or for the GPU that is there, or sm_90a. NULL: there
 * is no target of this name, which was reported. */
const struct cj_target *cj_target_default(struct cj_work *f,
    const char *name);

/* Values of our environment variables; NULL if unset or empty. */
const char *cj_env(const char *name);
/* The next of them that means nothing, in words; NULL: no more. *at is 0 at
 * first (environment.c). */
const char *cj_environment_ignored(struct cj_arena *a, unsigned *at);
/* A number above 0, in digits alone; a file that can be run. */
bool cj_is_count(const char *text, uint64_t *n);
bool cj_is_program(const char *path);

#endif
