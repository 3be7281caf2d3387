/*
 * libcutejit: compiles GPU kernels written in the .cute language and launches
 * them. Manual page: libcutejit(3); the language: cute(7).
 *
 *	context   options, cache, driver		one per program, usually
 *	module    a text with what it imports		immutable
 *	kernel    a kernel of a module, compiled	immutable
 *	launch    a kernel with its arguments checked	patched and run
 *	report    messages: structures and printed text
 *
 *	cutejit_context *ctx;
 *	cutejit_module *mod;
 *	cutejit_argument args[] = { cutejit_arg_float("a", 2.0),
 *	    cutejit_arg_tensor("x", &x), cutejit_arg_tensor("y", &y) };
 *
 *	if (cutejit_context_create(NULL, &ctx) != CUTEJIT_OK) ...
 *	if (cutejit_module_from_file(ctx, "saxpy.cute", &mod) != CUTEJIT_OK)
 *		fputs(cutejit_report_text(cutejit_context_report(ctx), 0), ...);
 *	status = cutejit_call(mod, "saxpy", args, 3, NULL, stream);
 *
 * Rules that hold for every function:
 * - Results are statuses; a getter gives its value. The library never prints,
 *   exits, aborts, throws, or leaves a signal handler behind.
 * - After any status but CUTEJIT_OK every handle asked for is NULL, and
 *   cutejit_context_report() of the same thread says what is wrong.
 * - What create (or from_..., compile, prepare) gives, destroy takes; NULL may
 *   be destroyed. A kernel keeps its module alive, a module its context:
 *   handles may be destroyed in any order.
 * - What a const pointer shows belongs to the object that was asked, and lives
 *   as long as it, unless the function says otherwise.
 * - Any thread may call any function with any handle at any time, except that
 *   one launch or one array belongs to one thread at a time, and that nobody
 *   may use what another thread destroys. A library with assertions finds a
 *   module, kernel, launch or array that was destroyed, and says
 *   CUTEJIT_USAGE, or gives NULL.
 * - Nothing but a launch needs a GPU or a driver; the driver is opened when
 *   first needed. The caller's current CUDA context is used and left as found;
 *   where there is none, the primary context of the device is used.
 * - A structure of options begins with its size. Zero is the default of every
 *   other member; members that this library does not know must be zero.
 */
#ifndef CUTEJIT_H
#define CUTEJIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ------------------------------------------------------------- */

#define CUTEJIT_VERSION_MAJOR	0
#define CUTEJIT_VERSION_MINOR	1
#define CUTEJIT_VERSION_PATCH	0

/* "0.1.0". Never NULL; lives forever. */
const char *cutejit_version(void);

/* Digest of the sources that the library was built from. Lives forever. */
const char *cutejit_build(void);

/* Code generator in use, "LLVM 22.1.8". Lives forever. */
const char *cutejit_generator(void);

/* ---- statuses ------------------------------------------------------------ */

/* The command `cutec` exits with these numbers. */
typedef enum cutejit_status {
	CUTEJIT_OK = 0,
	CUTEJIT_ERROR = 1,	/* the user's text or data is wrong */
	CUTEJIT_USAGE = 2,	/* wrong use of this interface */
	CUTEJIT_MISSING = 3,	/* driver, GPU, tool, file: not there */
	CUTEJIT_LIMIT = 4,	/* out of time or memory, or cancelled */
	CUTEJIT_INTERNAL = 70	/* a fault of the library; please report */
} cutejit_status;

/* A few words for a status. Never NULL; lives forever. */
const char *cutejit_status_text(cutejit_status status);

/* ---- reports ------------------------------------------------------------- */

typedef enum cutejit_severity {
	CUTEJIT_SEVERITY_NOTE,
	CUTEJIT_SEVERITY_REMARK,
	CUTEJIT_SEVERITY_WARNING,
	CUTEJIT_SEVERITY_ERROR
} cutejit_severity;

/* A range of a text. Lines and columns count from 1, columns in characters;
 * offsets are bytes. file is NULL where there is no place. */
typedef struct cutejit_place {
	const char *file;
	uint32_t line, column;
	uint32_t end_line, end_column;	/* just behind the last character */
	uint32_t begin, end;
} cutejit_place;

typedef struct cutejit_note {
	cutejit_place place;
	const char *text;
} cutejit_note;

typedef struct cutejit_diagnostic {
	cutejit_severity severity;
	const char *code;		/* "unaligned-copy"; "": none */
	const char *text;
	cutejit_place place;
	const cutejit_note *notes;
	size_t note_count;
	const char *help;		/* a sentence, or NULL */
	cutejit_place fix_place;	/* file NULL: no fix */
	const char *fix_text;		/* to stand there instead */
} cutejit_diagnostic;

/* Messages of one call, in order. */
typedef struct cutejit_report cutejit_report;

/* Number of diagnostics; 0 for NULL. */
size_t cutejit_report_count(const cutejit_report *report);

/* Diagnostic i; NULL if there are not that many. Lives as the report. */
const cutejit_diagnostic *cutejit_report_at(const cutejit_report *report,
    size_t i);

/*
 * All of it as compilers print it, with source lines and carets, in colour if
 * `colour` is not 0. Never NULL, "" if there is nothing. Lives as the report.
 */
const char *cutejit_report_text(const cutejit_report *report, int colour);

/* ---- contexts ------------------------------------------------------------ */

typedef struct cutejit_context cutejit_context;

typedef enum cutejit_cache_mode {
	CUTEJIT_CACHE_DEFAULT,	/* on disk, unless CUTEJIT_CACHE=off */
	CUTEJIT_CACHE_MEMORY,	/* in this context only */
	CUTEJIT_CACHE_OFF,	/* every compile is made anew */
	CUTEJIT_CACHE_READ_ONLY	/* entries are used, none is written */
} cutejit_cache_mode;

typedef enum cutejit_log_level {
	CUTEJIT_LOG_DEBUG, CUTEJIT_LOG_INFO, CUTEJIT_LOG_WARNING
} cutejit_log_level;

/*
 * Finds the text of an import. `from` is the name of the importing text, `path`
 * what stands in the import. Returns 0 if there is none (then files are looked
 * for), else fills in the rest; name and text must live as long as the module.
 */
typedef int cutejit_import_fn(void *user, const char *from, const char *path,
    const char **name, const char **text, size_t *length);

typedef struct cutejit_options {
	size_t size;			/* sizeof(cutejit_options) */
	const char *cache_folder;	/* NULL: by the environment */
	uint64_t cache_bytes;		/* 0: 2 GiB */
	cutejit_cache_mode cache;
	unsigned workers;		/* of the executor; 0: all cores */
	unsigned deadline_ms;		/* of each call; 0: none */
	size_t memory_limit;		/* of each call in bytes; 0: none */
	const char *const *include_folders;	/* for imports, in order */
	size_t include_count;
	/* as behind -W: "no-NAME", "error", "error=NAME", "no-error=NAME",
	 * "remarks", "no-remarks"; later ones win */
	const char *const *warnings;
	size_t warning_count;
	cutejit_import_fn *import;	/* virtual files; may be NULL */
	int (*cancel)(void *user);	/* not 0: stop; asked from any thread */
	void (*log)(void *user, cutejit_log_level level, const char *text);
	/* a line that a kernel or a test prints, without newline */
	void (*print)(void *user, const char *line);
	void *user;			/* given to the functions above */
	void *(*allocate)(void *user, size_t bytes);	/* both or none; any */
	void (*release)(void *user, void *memory);	/* thread may call */
	void *allocator_user;
	/* a second level of the cache, on a server; NULL: by the environment */
	const char *remote_cache;	/* "http://host/path", "redis://host" */
	int remote_read_only;		/* entries are used, none is sent */
	unsigned remote_timeout_ms;	/* of a request; 0: 1000 */
	/* path of a program that generates code, run as `PROGRAM worker`: cutec
	 * of the same build, or one that calls cutejit_worker() then. NULL: by
	 * the environment; LLVM works in this process unless that names one */
	const char *worker;
} cutejit_options;

#define CUTEJIT_OPTIONS_INIT						\
	{ sizeof(cutejit_options), NULL, 0, CUTEJIT_CACHE_DEFAULT, 0, 0, 0, \
	  NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
	  NULL, 0, 0, NULL }

/*
 * A new context; `options` may be NULL and is copied, texts included. Fails
 * with CUTEJIT_USAGE for wrong options and CUTEJIT_LIMIT for want of memory;
 * a cache folder that cannot be used is no failure.
 */
cutejit_status cutejit_context_create(const cutejit_options *options,
    cutejit_context **out);

/* Give up the context. Its memory goes with the last of its handles. Waits for
 * what LLVM goes on with behind calls that came too late. */
void cutejit_context_destroy(cutejit_context *context);

/*
 * Be a worker (cutejit_options.worker): read a request from standard input,
 * write the answer to standard output, return the code to exit with. The one
 * function here that uses them.
 */
int cutejit_worker(void);

/*
 * What this thread's last call with the context or one of its handles had to
 * say; empty if it went well and had no warnings. Never NULL but for NULL.
 * Valid until this thread's next call that returns a status.
 */
const cutejit_report *cutejit_context_report(const cutejit_context *context);

/* ---- targets, devices, codes --------------------------------------------- */

typedef struct cutejit_target {
	const char *name;		/* "sm_90a" */
	int number;			/* 90 */
	int ptx;			/* least PTX version times ten */
	int shared_bytes;		/* of a block, at most */
	int threads_per_sm, registers_per_sm;
} cutejit_target;

/* Targets that can be compiled for, by index; NULL behind the last. */
const cutejit_target *cutejit_target_at(size_t i);

typedef enum cutejit_device {
	CUTEJIT_DEVICE_AUTO,	/* the GPU if there is one */
	CUTEJIT_DEVICE_CPU,	/* the executor */
	CUTEJIT_DEVICE_GPU,
	CUTEJIT_DEVICE_BOTH	/* tests: one after the other */
} cutejit_device;

typedef struct cutejit_gpu {
	char name[128];
	char target[16];		/* best target for it, "" if none */
	int major, minor;		/* compute capability */
	int sms;
	uint64_t memory_bytes;
	int driver;			/* 13000: CUDA 13.0 */
} cutejit_gpu;

/* Number of GPUs. CUTEJIT_MISSING without driver or GPU (*count is 0). */
cutejit_status cutejit_gpu_count(cutejit_context *context, int *count);

/* What GPU `ordinal` is. CUTEJIT_MISSING if there is no such GPU. */
cutejit_status cutejit_gpu_info(cutejit_context *context, int ordinal,
    cutejit_gpu *out);

/* Explanation of a code ("unknown-name"); NULL if there is no such code. */
const char *cutejit_explain(const char *code);

/* All codes, by index; NULL behind the last. */
const char *cutejit_code_at(size_t i);

/* ---- modules ------------------------------------------------------------- */

typedef struct cutejit_module cutejit_module;

/*
 * Read, parse and check a file and what it imports. CUTEJIT_MISSING if the
 * file cannot be read, CUTEJIT_ERROR if the text is wrong.
 */
cutejit_status cutejit_module_from_file(cutejit_context *context,
    const char *path, cutejit_module **out);

/* The same for a text in memory, which is copied; messages show `name`. */
cutejit_status cutejit_module_from_memory(cutejit_context *context,
    const char *name, const char *text, size_t length, cutejit_module **out);

void cutejit_module_destroy(cutejit_module *module);

/* Warnings and remarks of the text itself. Never NULL. */
const cutejit_report *cutejit_module_report(const cutejit_module *module);

/* Files in use, the module's own first, without the standard library; NULL
 * behind the last. */
const char *cutejit_module_file(const cutejit_module *module, size_t i);

/*
 * Print a stage of a text: kind "tokens" or "ast". Works for wrong texts too
 * and then returns CUTEJIT_ERROR with *out set to what could be read. *out is
 * valid until this thread's next call that returns a status.
 */
cutejit_status cutejit_emit_text(cutejit_context *context, const char *name,
    const char *text, size_t length, const char *kind, const char **out);

typedef enum cutejit_parameter_kind {
	CUTEJIT_PARAMETER_CONST,	/* compile-time, by name */
	CUTEJIT_PARAMETER_TENSOR,
	CUTEJIT_PARAMETER_SCALAR
} cutejit_parameter_kind;

typedef struct cutejit_parameter {
	const char *name;
	cutejit_parameter_kind kind;
	const char *type;		/* as written: "tensor(T, N:1)" */
	const char *scalar;		/* "f32"; "" if a const says it */
	int is_array;			/* x: tensor(...)[n] */
	int has_default;
	/* a const without a default: the values of its set or range, where
	   they do not depend on other parameters */
	const char *const *values;
	size_t value_count;
} cutejit_parameter;

/* A kernel declaration: those of one name in one text are a family. */
typedef struct cutejit_member {
	const char *kernel;
	unsigned member;		/* in its family, from 0 */
	const cutejit_parameter *parameters;
	size_t parameter_count;
	cutejit_place place;
} cutejit_member;

/* Kernel declaration i in order of the text; NULL behind the last. */
const cutejit_member *cutejit_module_member(const cutejit_module *module,
    size_t i);

/*
 * Kernel declaration i of the texts that this one imports, with the name that
 * it has here: "gemm", or "lib.gemm" behind `import "..." as lib`. By that name
 * it is compiled, launched and run as own ones are. NULL behind the last.
 */
const cutejit_member *cutejit_module_imported(const cutejit_module *module,
    size_t i);

typedef struct cutejit_test {
	const char *name;
	int is_bench;
	cutejit_place place;
} cutejit_test;

/* Test or bench i in order of the text; NULL behind the last. */
const cutejit_test *cutejit_module_test(const cutejit_module *module,
    size_t i);

/* A search for values of compile-time parameters: all that the text says by
 * `tune k over ...;` about one kernel. */
typedef struct cutejit_tune {
	const char *kernel;
	const char *parameters;		/* "tile, stages; tile, split" */
	cutejit_place place;		/* of the first */
} cutejit_tune;

/* Search i, in order of the text; NULL behind the last. */
const cutejit_tune *cutejit_module_tune(const cutejit_module *module,
    size_t i);

/*
 * Value of a compile-time expression, printed as the language prints it.
 * `module` gives the names it may use and may be NULL. *value is valid until
 * this thread's next call that returns a status. CUTEJIT_ERROR if it has none.
 */
cutejit_status cutejit_evaluate(cutejit_context *context,
    cutejit_module *module, const char *expression, const char **value);

/*
 * Check lines `op<TAB>argument...<TAB>=><TAB>result` of the layout algebra.
 * Empty lines and lines beginning with # are passed over. *differences
 * describes each line that differs, naming `name`, and is valid until this
 * thread's next call that returns a status. CUTEJIT_OK whatever the counts;
 * CUTEJIT_ERROR if a line cannot be read (then *differences says which).
 */
cutejit_status cutejit_layout_check(cutejit_context *context,
    const char *name, const char *text, size_t length,
    const char **differences, uint64_t *passed, uint64_t *failed);

/* ---- arguments ----------------------------------------------------------- */

enum {				/* device types of DLPack that are understood */
	CUTEJIT_DL_CPU = 1, CUTEJIT_DL_CUDA = 2, CUTEJIT_DL_CUDA_HOST = 3,
	CUTEJIT_DL_CUDA_MANAGED = 13
};

/*
 * An array in memory. The layout is that of DLTensor in DLPack 1.x: a pointer
 * to one may be given instead. Shape and strides in elements; strides may be
 * NULL for a compact row-major array, and negative. Nothing is copied or kept.
 */
typedef struct cutejit_tensor {
	void *data;
	int32_t device_type;
	int32_t device_id;
	int32_t ndim;
	uint8_t code;			/* of DLPack: 0 int, 1 uint, 2 float, */
	uint8_t bits;			/* 4 bfloat, 6 bool, 7 ... float8 */
	uint16_t lanes;
	int64_t *shape;
	int64_t *strides;
	uint64_t byte_offset;
} cutejit_tensor;

/*
 * The layout of DLManagedTensorVersioned in DLPack 1.x: a pointer to one may be
 * given. It is not taken over, so its deleter is not called. Another major
 * version is refused, and so is a tensor that is marked as read-only where the
 * kernel writes it.
 */
typedef struct cutejit_dlpack {
	uint32_t major, minor;
	void *manager;
	void (*deleter)(struct cutejit_dlpack *self);
	uint64_t flags;
	cutejit_tensor tensor;
} cutejit_dlpack;

typedef enum cutejit_argument_kind {
	CUTEJIT_ARG_NONE,		/* left out: `x: tensor(...) = none`, or
					   a scalar's default */
	CUTEJIT_ARG_TENSOR,		/* tensor */
	CUTEJIT_ARG_TENSORS,		/* tensors, count: x: tensor(...)[n] */
	CUTEJIT_ARG_INT,		/* integer */
	CUTEJIT_ARG_FLOAT,		/* number */
	CUTEJIT_ARG_TEXT,		/* text: a number, "2.5" */
	CUTEJIT_ARG_DLPACK		/* dlpack: as DLPack versions it */
} cutejit_argument_kind;

/* A run-time argument, by name or (name NULL) by position among the run-time
 * parameters. A number is converted to the parameter's type; one that is no
 * value of an integer type is refused. */
typedef struct cutejit_argument {
	const char *name;
	cutejit_argument_kind kind;
	size_t count;
	union {
		const cutejit_tensor *tensor;
		const cutejit_tensor *const *tensors;
		int64_t integer;
		double number;
		const char *text;
		const cutejit_dlpack *dlpack;
	} value;
} cutejit_argument;

static inline cutejit_argument
cutejit_arg_tensor(const char *name, const cutejit_tensor *tensor)
{
	cutejit_argument a;

	a.name = name;
	a.kind = CUTEJIT_ARG_TENSOR;
	a.count = 1;
	a.value.tensor = tensor;
	return a;
}

/* `managed`: a DLManagedTensorVersioned. */
static inline cutejit_argument
cutejit_arg_dlpack(const char *name, const void *managed)
{
	cutejit_argument a;

	a.name = name;
	a.kind = CUTEJIT_ARG_DLPACK;
	a.count = 1;
	a.value.dlpack = (const cutejit_dlpack *)managed;
	return a;
}

static inline cutejit_argument
cutejit_arg_tensors(const char *name, const cutejit_tensor *const *tensors,
    size_t count)
{
	cutejit_argument a;

	a.name = name;
	a.kind = CUTEJIT_ARG_TENSORS;
	a.count = count;
	a.value.tensors = tensors;
	return a;
}

static inline cutejit_argument
cutejit_arg_int(const char *name, int64_t value)
{
	cutejit_argument a;

	a.name = name;
	a.kind = CUTEJIT_ARG_INT;
	a.count = 1;
	a.value.integer = value;
	return a;
}

static inline cutejit_argument
cutejit_arg_float(const char *name, double value)
{
	cutejit_argument a;

	a.name = name;
	a.kind = CUTEJIT_ARG_FLOAT;
	a.count = 1;
	a.value.number = value;
	return a;
}

static inline cutejit_argument
cutejit_arg_text(const char *name, const char *text)
{
	cutejit_argument a;

	a.name = name;
	a.kind = CUTEJIT_ARG_TEXT;
	a.count = 1;
	a.value.text = text;
	return a;
}

static inline cutejit_argument
cutejit_arg_none(const char *name)
{
	cutejit_argument a;

	a.name = name;
	a.kind = CUTEJIT_ARG_NONE;
	a.count = 0;
	a.value.integer = 0;
	return a;
}

/* A compile-time argument: text in the language, { "T", "f16" }. */
typedef struct cutejit_constant {
	const char *name;
	const char *text;
} cutejit_constant;

/* ---- compiling ----------------------------------------------------------- */

typedef struct cutejit_kernel cutejit_kernel;

typedef enum cutejit_until {
	CUTEJIT_UNTIL_LOADABLE,	/* as far as this machine goes: a cubin if there
				   is an assembler, else PTX for the driver */
	CUTEJIT_UNTIL_IR,	/* checks and IR: all that the executor needs */
	CUTEJIT_UNTIL_PTX,
	CUTEJIT_UNTIL_CUBIN	/* CUTEJIT_MISSING without an assembler */
} cutejit_until;

/* How much passes and assembler do. Below 3 the assembler takes a third of the
 * time for products by mma.sync, which then run 3 to 9 % slower; others run up
 * to 5 % slower. */
typedef enum cutejit_level {
	CUTEJIT_LEVEL_DEFAULT,	/* 3 */
	CUTEJIT_LEVEL_0, CUTEJIT_LEVEL_1, CUTEJIT_LEVEL_2, CUTEJIT_LEVEL_3
} cutejit_level;

typedef struct cutejit_compile_options {
	size_t size;			/* sizeof(cutejit_compile_options) */
	const char *target;		/* NULL: the GPU's, else "sm_90a" */
	cutejit_until until;
	cutejit_level level;
	int checked;			/* asserts, bounds and steps of loops
				   trap on the GPU */
	int lineinfo;
	int ptx;			/* version times ten; 0: the lowest */
	unsigned member;		/* 1: member 0 ...; 0: what fits */
	const cutejit_constant *constants;
	size_t constant_count;
	const cutejit_argument *arguments;	/* choose the member and bind */
	size_t argument_count;			/* names of tensor patterns */
} cutejit_compile_options;

#define CUTEJIT_COMPILE_OPTIONS_INIT					\
	{ sizeof(cutejit_compile_options), NULL, CUTEJIT_UNTIL_LOADABLE, \
	  CUTEJIT_LEVEL_DEFAULT, 0, 0, 0, 0, NULL, 0, NULL, 0 }

/*
 * Compile `kernel` of `module`. Needs no GPU. With arguments the first member
 * of the family is taken whose pattern and target fit them; without, every
 * compile-time name must have a value by `constants` or by default.
 * Any thread may call this; calls for different kernels run side by side, and
 * a kernel that several threads ask for at once is compiled once.
 * CUTEJIT_ERROR: the report says why the kernel cannot be made from this.
 */
cutejit_status cutejit_compile(cutejit_module *module, const char *kernel,
    const cutejit_compile_options *options, cutejit_kernel **out);

void cutejit_kernel_destroy(cutejit_kernel *kernel);

/* Warnings and remarks; what was given stays as it is when an assembler has
 * told more. Never NULL but for NULL. */
const cutejit_report *cutejit_kernel_report(const cutejit_kernel *kernel);

typedef enum cutejit_origin {
	CUTEJIT_ORIGIN_COMPILED, CUTEJIT_ORIGIN_MEMORY, CUTEJIT_ORIGIN_DISK,
	CUTEJIT_ORIGIN_REMOTE
} cutejit_origin;

typedef struct cutejit_kernel_info {
	const char *kernel;		/* name */
	unsigned member;
	const char *binding;		/* "T=f16, threads=256" */
	const char *target;
	const char *key;		/* of the cache, 64 digits; or "" */
	const char *assembler;		/* "ptxas 13.0.88"; "": no cubin */
	cutejit_origin origin;
	size_t entry_count;
} cutejit_kernel_info;

/* What the kernel is. Never NULL. */
const cutejit_kernel_info *cutejit_kernel_about(const cutejit_kernel *kernel);

/* A function on the GPU. Numbers are -1 where nobody has told. */
typedef struct cutejit_entry {
	const char *name;		/* in PTX and cubin */
	int registers;			/* of a thread */
	int spill_bytes, stack_bytes;	/* of a thread */
	int shared_bytes;		/* of a block */
	int constant_bytes;
} cutejit_entry;

/* Function i in order of the launches; NULL behind the last. */
const cutejit_entry *cutejit_kernel_entry(const cutejit_kernel *kernel,
    size_t i);

typedef struct cutejit_phase {
	const char *name;	/* "elaborate", "generate", ... */
	double ms;
} cutejit_phase;

/* How long phase i of the compile took; NULL behind the last. */
const cutejit_phase *cutejit_kernel_phase(const cutejit_kernel *kernel,
    size_t i);

/*
 * A stage of the compile: kind "ir", "ir:PASS" (before any pass: "ir:start"),
 * "host", "llvm", "ptx", "cubin" or "sass" (needs nvdisasm). Made when first
 * asked for. The bytes are followed by a NUL and live as long as the kernel.
 * CUTEJIT_USAGE for a kind that there is not, CUTEJIT_MISSING if a tool that it
 * needs is missing.
 */
cutejit_status cutejit_kernel_artifact(cutejit_kernel *kernel,
    const char *kind, const void **bytes, size_t *length);

/* Names of passes in order, for "ir:PASS"; NULL behind the last. */
const char *cutejit_pass_at(size_t i);

/* ---- launching ----------------------------------------------------------- */

typedef struct cutejit_launch cutejit_launch;

/*
 * Check the arguments against the kernel's contract and make everything ready.
 * Where the tensors lie decides where it runs: CPU memory on the executor,
 * CUDA memory on their GPU. A kernel without tensors goes to the GPU of the
 * current context. The arguments' memory, but not the structures, must stay.
 * CUTEJIT_ERROR names the argument, what was needed and what came.
 */
cutejit_status cutejit_prepare(cutejit_kernel *kernel,
    const cutejit_argument *arguments, size_t count, cutejit_launch **out);

/*
 * Change argument `index` (as given to prepare; a name that is NULL stays). It
 * is checked now: after CUTEJIT_ERROR the launch is as it was. A number that
 * the kernel's host part only hands on, and a tensor of the same shape with an
 * address as well aligned, cost next to nothing; any other change is checked
 * as cutejit_prepare() does.
 */
cutejit_status cutejit_launch_set(cutejit_launch *launch, size_t index,
    const cutejit_argument *argument);

/* Change all arguments at once, as many as were given to prepare: for changes
 * that fit the contract only together, such as of an extent that two share. */
cutejit_status cutejit_launch_set_all(cutejit_launch *launch,
    const cutejit_argument *arguments);

/* Change the address of tensor argument `index` and nothing else of it. The
 * byte offset that was given is added to it. */
cutejit_status cutejit_launch_set_data(cutejit_launch *launch, size_t index,
    void *data);

/*
 * Launch on `stream` (a CUstream; NULL: the default stream) and return at once;
 * on the executor, run to the end. Works while the stream is captured. A
 * stream of another context than the one that the tensors' GPU is used in is
 * refused; a launch asks a stream for its context when another came before.
 * Nothing has been launched if this fails with CUTEJIT_ERROR, and the launches
 * before the one that failed otherwise. After CUTEJIT_OK the thread's report
 * may be an older one.
 */
cutejit_status cutejit_launch_run(cutejit_launch *launch, void *stream);

/*
 * Launches in CUDA graphs that the caller makes. A launch is a chain of so many
 * nodes, settings of memory and kernels; 0 on the executor and for an empty
 * grid. The number may change when an argument does.
 */
size_t cutejit_launch_nodes(const cutejit_launch *launch);

/*
 * Add the launch to `graph` (a CUgraph), behind the nodes in `after`. nodes[]
 * has room for cutejit_launch_nodes() of them and gets them in order: what
 * depends on the launch depends on the last. The nodes hold the arguments as
 * they are now; the kernel, and the launch if it has a workspace, must live as
 * long as the graph. After a failure the graph is as it was.
 */
cutejit_status cutejit_launch_graph_add(cutejit_launch *launch, void *graph,
    void *const *after, size_t after_count, void **nodes);

/*
 * Put the arguments as they are now into `graph_exec` (a CUgraphExec made of
 * the graph), at the nodes that cutejit_launch_graph_add() gave. CUTEJIT_ERROR
 * if the launch has another number of nodes by now.
 */
cutejit_status cutejit_launch_graph_update(cutejit_launch *launch,
    void *graph_exec, void *const *nodes, size_t count);

/*
 * Bytes of scratch memory that a run takes; supplied by the library unless
 * cutejit_launch_workspace_set() gives memory of the launch's device, aligned
 * to 256 bytes. Two runs at once on different streams need two launches.
 */
size_t cutejit_launch_workspace(const cutejit_launch *launch);

/* CUTEJIT_ERROR if it is too small; NULL: the library's again. */
cutejit_status cutejit_launch_workspace_set(cutejit_launch *launch,
    void *memory, size_t bytes);

void cutejit_launch_destroy(cutejit_launch *launch);

/*
 * In one go: compile (or find) the member that fits, check, launch. `options`
 * may be NULL; its arguments are ignored. A call on a GPU that differs from an
 * earlier one in addresses, or in numbers that the kernel's host part only
 * hands on, is not checked again but for overlap; after CUTEJIT_OK the thread's
 * report may be an older one. A workspace is allocated in the order of the
 * stream. Works while the stream is captured.
 */
cutejit_status cutejit_call(cutejit_module *module, const char *kernel,
    const cutejit_argument *arguments, size_t count,
    const cutejit_compile_options *options, void *stream);

/* ---- running on host arrays: for tools ----------------------------------- */

/* What the executor looks for, to be or-ed. */
enum {
	CUTEJIT_CHECK_BOUNDS = 1,	/* accesses outside their object */
	CUTEJIT_CHECK_WRITTEN = 2,	/* reads of what was never written */
	CUTEJIT_CHECK_RACE = 4,
	CUTEJIT_CHECK_BARRIER = 8,
	CUTEJIT_CHECK_ALL = 15,
	CUTEJIT_CHECK_NONE = 1 << 16	/* 0 means all */
};

/* Name of check bit i (0 ...): "bounds"; NULL behind the last. */
const char *cutejit_check_at(size_t i);

/* What a run on the executor cost, by line of the program: a JSON text, or a
 * page in one file. Or what waited, multiplied and was copied in one block
 * (trace_block) of its first launch, warp by warp: a trace of events, as Chrome
 * and Perfetto show it; the page has a picture of it. */
typedef enum cutejit_profile {
	CUTEJIT_PROFILE_NONE, CUTEJIT_PROFILE_JSON, CUTEJIT_PROFILE_HTML,
	CUTEJIT_PROFILE_TRACE
} cutejit_profile;

typedef struct cutejit_run_options {
	size_t size;			/* sizeof(cutejit_run_options) */
	cutejit_device device;
	int ordinal;			/* of the GPU */
	unsigned checks;		/* of the executor; 0: all */
	unsigned schedules;		/* orders of warps to try; 0: one */
	uint64_t seed;			/* of the first */
	uint64_t step_limit;		/* operations of a warp; 0: a default */
	const char *filter;		/* tests, benches: a part of the name */
	cutejit_level level;
	int checked, lineinfo;
	/* cutejit_run on the executor: called once, if it ran to its end, with
	 * a text that is valid during the call only */
	cutejit_profile profile;
	void (*take_profile)(void *user, const char *text);
	void *user;
	/* cutejit_run on the executor, not 0: the lines that block number
	 * trace_block (x first) runs, with values, go to the context's print;
	 * of one warp, or of all: UINT32_MAX */
	int trace;
	uint64_t trace_block;
	uint32_t trace_warp;
	/* the same, not 0: nothing but what the first warp of these that comes
	 * to this line of the text holds: variables, shared tensors and
	 * mbarriers, as tables; the run ends there with CUTEJIT_OK, or, if none
	 * comes, with an error */
	unsigned stop_line;
	/* cutejit_test_run, not 0: after each launch a line goes to the
	 * context's print, "digest: TEST: N KERNEL DIGEST", of the bits of all
	 * arrays that it may write: two devices that agree print the same */
	int digests;
	/* cutejit_test_run, not 0: before each launch a line goes there,
	 * "launch: TEST: KERNEL[MEMBER]; NAME TYPE EXTENTS:STRIDES at N ...",
	 * for each tensor: N is its address modulo 16, and inf, -inf and nan
	 * stand behind it if it is read and holds such a number, "written"
	 * if it is written */
	int tells;
} cutejit_run_options;

#define CUTEJIT_RUN_OPTIONS_INIT					\
	{ sizeof(cutejit_run_options), CUTEJIT_DEVICE_AUTO, 0, 0, 0, 0, 0, \
	  NULL, CUTEJIT_LEVEL_DEFAULT, 0, 0, CUTEJIT_PROFILE_NONE, NULL, NULL, \
	  0, 0, 0, 0, 0, 0 }

typedef struct cutejit_run_result {
	cutejit_device device;		/* CPU or GPU: where it ran */
	char device_name[128];		/* "executor", "NVIDIA H200" */
	unsigned member;		/* of the family */
	double ms;			/* wall time of the run itself */
} cutejit_run_result;

/*
 * Run a kernel once on arrays in host memory and wait. On a GPU the arrays are
 * copied there and back. `compile` (may be NULL) gives constants, member and
 * target; its arguments are ignored. `result` may be NULL.
 * CUTEJIT_ERROR also if the executor found a fault.
 */
cutejit_status cutejit_run(cutejit_module *module, const char *kernel,
    const cutejit_argument *arguments, size_t count,
    const cutejit_compile_options *compile,
    const cutejit_run_options *options, cutejit_run_result *result);

typedef enum cutejit_outcome {
	CUTEJIT_PASSED, CUTEJIT_FAILED, CUTEJIT_SKIPPED
} cutejit_outcome;

/* One test (for one combination of its `over` values) on one device. */
typedef struct cutejit_test_result {
	const char *name;		/* "relu [T=f16]" */
	cutejit_device device;		/* CPU or GPU */
	cutejit_outcome outcome;
	const char *text;		/* why it failed, was skipped */
	const cutejit_report *report;	/* of this test; never NULL */
	cutejit_status status;		/* OK unless FAILED or SKIPPED */
	double ms;
} cutejit_test_result;

/* All of it is valid during the call only. Not 0: stop. */
typedef int cutejit_test_fn(void *user, const cutejit_test_result *result);

/*
 * Run test `index` of the module (cutejit_module_test) in all its combinations.
 * Every result goes to `each`. CUTEJIT_OK whatever the outcomes; errors of a
 * test's text are its failure.
 */
cutejit_status cutejit_test_run(cutejit_module *module, size_t index,
    const cutejit_run_options *options, cutejit_test_fn *each, void *user);

/* One `time` of a bench. */
typedef struct cutejit_bench_result {
	const char *name;		/* of the bench: "relu [n=4096]" */
	const char *kernel;
	unsigned member;
	cutejit_device device;		/* CPU or GPU */
	cutejit_outcome outcome;
	const char *text;		/* why it failed, was skipped */
	const cutejit_report *report;
	cutejit_status status;
	double ms_median, ms_min, ms_max;
	unsigned samples;		/* batches timed */
	double bytes, flops;		/* as stated; 0: not */
	double gb_per_s, tflop_per_s;
} cutejit_bench_result;
typedef int cutejit_bench_fn(void *user, const cutejit_bench_result *result);

/*
 * Run bench `index` of the module in all its combinations on one device. On a
 * GPU: warm-up, then batches between events, memory larger than the L2 cache
 * in turn, the median of their times. On the CPU: wall time of one run.
 */
cutejit_status cutejit_bench_run(cutejit_module *module, size_t index,
    const cutejit_run_options *options, cutejit_bench_fn *each, void *user);

/* ---- tuning -------------------------------------------------------------- */

/*
 * A search tries every candidate of a `tune` on the problems of the benches
 * that launch its kernel and do not name its parameters, by time measured on a
 * GPU. What is fastest is kept, by device, kernel and class of problem: the
 * compile-time arguments of the call, and of each tensor the element type, the
 * extents rounded up to powers of two, and the mode of stride 1. From then on
 * it is used by cutejit_call(), by cutejit_compile() with arguments in GPU
 * memory, by cutejit_run() and cutejit_bench_run(), wherever the caller names
 * none of the parameters; never by tests. Winners lie beside the cache, in text
 * files that are never evicted; without a folder they last as the context does.
 * A table NAME.tune beside the file NAME.cute comes after them
 * (cutejit_tuning_export).
 */

/* How far a search has come; to be kept and given again as it is. */
typedef struct cutejit_tune_position {
	size_t test;			/* as of cutejit_module_test() */
	size_t combination;		/* of its `over` values */
	size_t launch;			/* of the kernel, in the bench */
	size_t candidate;
	char best[256];			/* of this problem so far */
	double best_ms;			/* 0: none */
} cutejit_tune_position;

typedef struct cutejit_tune_options {
	size_t size;			/* sizeof(cutejit_tune_options) */
	int ordinal;			/* of the GPU */
	unsigned budget_ms;		/* of each problem; 0: 30000 */
	/* compiles at once; 0: as many as processors; 1: a candidate is
	 * compiled when its turn comes, so that `before` tells which one ended
	 * the process */
	unsigned jobs;
	const char *filter;		/* benches: a part of the name */
	cutejit_level level;
	/* go on at this candidate; NULL: from the beginning */
	const cutejit_tune_position *from;
	/* called before a candidate is compiled (jobs = 1) and launched */
	void (*before)(void *user, const cutejit_tune_position *at);
} cutejit_tune_options;

#define CUTEJIT_TUNE_OPTIONS_INIT					\
	{ sizeof(cutejit_tune_options), 0, 0, 0, NULL,			\
	  CUTEJIT_LEVEL_DEFAULT, NULL, NULL }

/* A candidate of one problem, or its winner. */
typedef struct cutejit_tune_result {
	const char *bench;		/* "gemm [n=4096]" */
	const char *kernel, *device;
	const char *problem;		/* its class */
	const char *values;		/* "tile=(128, 64); stages=3"; "": the
					   defaults */
	size_t candidate, candidates;	/* which of how many; 0: the defaults */
	/* SKIPPED: it was refused, or the budget was spent */
	cutejit_outcome outcome;
	const char *text;		/* why it failed, was skipped */
	double ms;			/* median; 0 unless PASSED */
	int is_winner;			/* the last of a problem: it is kept */
	double default_ms;		/* 0: the defaults do not run */
} cutejit_tune_result;

/* All of it is valid during the call only. Not 0: stop. */
typedef int cutejit_tune_fn(void *user, const cutejit_tune_result *result);

/*
 * Run search `index` of the module (cutejit_module_tune). A candidate that is
 * refused, does not compile or cannot be launched is reported and passed over.
 * One that harms the driver ends the search with CUTEJIT_ERROR: what has been
 * found is kept, and a new process can go on behind it (`before`, `from`); so
 * does `cutec tune`. CUTEJIT_MISSING without a GPU.
 */
cutejit_status cutejit_tune_run(cutejit_module *module, size_t index,
    const cutejit_tune_options *options, cutejit_tune_fn *each, void *user);

/* A winner that is kept. */
typedef struct cutejit_tuning {
	const char *device, *kernel;
	const char *space;		/* digest of kernel and search */
	const char *problem;
	/* "tile=(128, 64); stages=3"; behind "default: " what the kernel's own
	 * values were, that were fastest */
	const char *values;
	double ms;
	const char *device_class;	/* "sm_90x132", or "" */
} cutejit_tuning;
typedef int cutejit_tuning_fn(void *user, const cutejit_tuning *tuning);

/* Every winner on disk, of all devices. Not 0 from `each`: stop. */
cutejit_status cutejit_tuning_list(cutejit_context *context,
    cutejit_tuning_fn *each, void *user);

/*
 * Write the winners on disk of the module's kernels into the table NAME.tune
 * that goes along with `path`, NAME.cute: for GPUs of the class on which they
 * were found. Lines about other problems and GPUs stay. Winners of kernels that
 * have changed since are left out. *count: how many were written; with none
 * the table stays as it is. CUTEJIT_MISSING if it cannot be written.
 */
cutejit_status cutejit_tuning_export(cutejit_module *module, const char *path,
    size_t *count);

/* ---- arrays: for tools --------------------------------------------------- */

typedef struct cutejit_array cutejit_array;

/*
 * An array in host memory from a constructor of the language:
 * "normal(f16, row_major(4, 8), seed = 1)". `module` gives names and may be
 * NULL.
 */
cutejit_status cutejit_array_create(cutejit_context *context,
    cutejit_module *module, const char *text, cutejit_array **out);

/* The array as an argument; lives and may be written as long as the array. */
const cutejit_tensor *cutejit_array_tensor(const cutejit_array *array);
void cutejit_array_destroy(cutejit_array *array);

/* Element type of a tensor in the language, "f16"; NULL if it has none. */
const char *cutejit_type_of(const cutejit_tensor *tensor);

/* code, bits and lanes for a type of the language; 0 if it has none. */
int cutejit_type_set(cutejit_tensor *tensor, const char *type);

/*
 * Element as text in the shortest form that reads back ("-0.5", "nan"; of 8
 * bits and less as an f32, "448"): `index` has ndim coordinates. Writes at most
 * `bytes` with the terminator and returns the length. The tensor must lie in
 * host memory.
 */
size_t cutejit_element_text(const cutejit_tensor *tensor,
    const int64_t *index, char *text, size_t bytes);

/* ---- the cache ----------------------------------------------------------- */

/* Folder on disk; NULL if there is none (see cutejit_cache_why()). */
const char *cutejit_cache_folder(const cutejit_context *context);

/* The server of the second level as it was named; NULL if there is none, and
 * then *why (may be NULL) says why one that was named cannot be used, or is
 * NULL. Both live as long as the context. */
const char *cutejit_cache_remote(const cutejit_context *context,
    const char **why);

/* Why there is no folder, or where its name is from: "CUTEJIT_CACHE_DIR". */
const char *cutejit_cache_why(const cutejit_context *context);

typedef struct cutejit_cache_entry {
	const char *key;		/* 64 digits */
	const char *file;		/* path */
	const char *kernel, *binding, *target, *assembler, *product;
	uint64_t bytes;			/* of the file */
	int64_t made, used;		/* seconds since 1970 */
	int is_good;			/* 0: damaged, or of something else */
	const char *why;		/* what is wrong with it; or "" */
} cutejit_cache_entry;

/* Valid during the call only. Not 0: stop. A folder that is there and cannot be
 * read is CUTEJIT_MISSING for those who list or remove; one that nobody has
 * made yet has no entries. */
typedef int cutejit_cache_fn(void *user, const cutejit_cache_entry *entry);

/* Every entry, most recently used first; digests are not checked. */
cutejit_status cutejit_cache_list(cutejit_context *context,
    cutejit_cache_fn *each, void *user);

/* Every entry with its digests checked. */
cutejit_status cutejit_cache_verify(cutejit_context *context,
    cutejit_cache_fn *each, void *user);

/* The entries whose key begins with `key`. CUTEJIT_ERROR if there is none. */
cutejit_status cutejit_cache_show(cutejit_context *context, const char *key,
    cutejit_cache_fn *each, void *user);

typedef struct cutejit_cache_stats {
	uint64_t entries, bytes;	/* on disk */
	uint64_t limit_bytes;
	/* of this context since it was made */
	uint64_t memory_hits, disk_hits, misses, damaged, stored, evicted,
	    waited;
	uint64_t remote_hits, remote_misses, remote_stored, remote_errors;
} cutejit_cache_stats;
cutejit_status cutejit_cache_stats_get(cutejit_context *context,
    cutejit_cache_stats *out);

/*
 * Remove what was not used for `older_than` seconds (0: any age), then the
 * least recently used until `max_bytes` hold (UINT64_MAX: no bound), damaged
 * entries and left-over files in any case. *entries and *bytes (may be NULL)
 * count what went.
 */
cutejit_status cutejit_cache_prune(cutejit_context *context,
    uint64_t max_bytes, uint64_t older_than, uint64_t *entries,
    uint64_t *bytes);

/* ---- what is there ------------------------------------------------------- */

typedef enum cutejit_finding_state {
	CUTEJIT_FOUND, CUTEJIT_ABSENT, CUTEJIT_NOTE
} cutejit_finding_state;

typedef struct cutejit_finding {
	const char *topic;		/* "driver", "ptxas", "gpu 0" */
	cutejit_finding_state state;
	const char *text;		/* "libcuda.so.1, CUDA 13.0" */
	const char *use;		/* what it is for */
} cutejit_finding;
typedef void cutejit_finding_fn(void *user, const cutejit_finding *finding);

/* Look for everything the library may use, variables of the environment too.
 * Always CUTEJIT_OK but for memory. */
cutejit_status cutejit_doctor(cutejit_context *context,
    cutejit_finding_fn *each, void *user);

#ifdef __cplusplus
}
#endif

#endif
