/*
 * Launches, with a driver that plays GPUs: what reaches it, what never does,
 * whose context is current before and after, and what its errors become.
 */
#include "fake_open.h"

#include <sys/wait.h>
#include <unistd.h>

static int (*push)(void *context), (*pop)(void **context);
static int (*get_current)(void **context);
static int (*retain)(void **context, int device);

static void
open_fake(void)
{
	setenv("FAKE_CUDA_DEVICES", "2", 1);
	fake_open();
	fake_find("cuCtxPushCurrent_v2", &push);
	fake_find("cuCtxPopCurrent_v2", &pop);
	fake_find("cuCtxGetCurrent", &get_current);
	fake_find("cuDevicePrimaryCtxRetain", &retain);
}

struct fixture {
	cutejit_context *c;
	cutejit_module *m;
	float x[1000], y[1000];
	struct vector vx, vy;
	cutejit_argument args[3];
};

static void
setup(struct fixture *f)
{
	memset(f, 0, sizeof *f);
	f->c = test_context();
	f->m = test_module(f->c, saxpy_text);
	f->args[0] = cutejit_arg_float("a", 2);
	f->args[1] = cutejit_arg_tensor("x", vector_set(&f->vx, f->x, 1000,
	    CUTEJIT_DL_CUDA));
	f->args[2] = cutejit_arg_tensor("y", vector_set(&f->vy, f->y, 1000,
	    CUTEJIT_DL_CUDA));
}

static void
teardown(struct fixture *f)
{
	cutejit_module_destroy(f->m);
	cutejit_context_destroy(f->c);
	fake->fail = NULL;
	fake->fail_after = 0;
}

static cutejit_kernel *
compile(struct fixture *f)
{
	cutejit_kernel *k;

	DO(f->c, cutejit_compile(f->m, "saxpy", NULL, &k));
	CHECK(strcmp(cutejit_kernel_about(k)->target, "sm_90a") == 0);
	return k;
}

static void *
current(void)
{
	void *c = NULL;

	get_current(&c);
	return c;
}

/* ---- workspaces that runs restore ---------------------------------------- */

static cutejit_launch *
restored_launch(struct fixture *f)
{
	static const char text[] =
	    "kernel restored(x: tensor(f32, N:1), y: tensor(f32, N:1))\n"
	    "{\n"
	    "    let w = workspace(u32, N:1, fill = 7, restored = true);\n"
	    "    let v = workspace(f32, N:1);\n"
	    "    launch grid(1) block(32) {\n"
	    "        v[0] = f32(w[0]) + x[0];\n"
	    "        y[0] = v[0];\n"
	    "    }\n"
	    "}\n";
	cutejit_kernel *k;
	cutejit_launch *l;

	cutejit_module_destroy(f->m);
	f->m = test_module(f->c, text);
	DO(f->c, cutejit_compile(f->m, "restored", NULL, &k));
	DO(f->c, cutejit_prepare(k, &f->args[1], 2, &l));
	cutejit_kernel_destroy(k);
	return l;
}

/* How many settings of memory a run takes. */
static unsigned long
sets_of(struct fixture *f, cutejit_launch *l, void *stream)
{
	unsigned long sets = fake->sets;

	DO(f->c, cutejit_launch_run(l, stream));
	return fake->sets - sets;
}

static void
test_restored(void)
{
	static char memory[1 << 14] __attribute__((aligned(256)));
	void *stream, *graph, *device;
	int (*create)(void **, unsigned), (*begin)(void *, int);
	int (*end)(void *, void **), (*destroy)(void *);
	struct vector vx, vy;
	struct fixture f;
	cutejit_argument few[2];
	cutejit_launch *l;

	fake_find("cuStreamCreate", &create);
	fake_find("cuStreamBeginCapture_v2", &begin);
	fake_find("cuStreamEndCapture", &end);
	fake_find("cuGraphDestroy", &destroy);
	setup(&f);
	l = restored_launch(&f);
	few[0] = cutejit_arg_tensor("x", vector_set(&vx, f.x, 900,
	    CUTEJIT_DL_CUDA));
	few[1] = cutejit_arg_tensor("y", vector_set(&vy, f.y, 900,
	    CUTEJIT_DL_CUDA));

	/* what is captured is not run */
	CHECK(retain(&device, 0) == 0 && push(device) == 0);
	CHECK(create(&stream, 1) == 0 && begin(stream, 2) == 0);
	CHECK(sets_of(&f, l, stream) == 1 && sets_of(&f, l, stream) == 1);
	CHECK(end(stream, &graph) == 0 && destroy(graph) == 0);
	CHECK(sets_of(&f, l, NULL) == 1);
	CHECK(sets_of(&f, l, NULL) == 0 && sets_of(&f, l, stream) == 0);

	/* other extents have memory of their own, and each keeps it */
	DO(f.c, cutejit_launch_set_all(l, few));
	CHECK(sets_of(&f, l, NULL) == 1 && sets_of(&f, l, NULL) == 0);
	DO(f.c, cutejit_launch_set_all(l, &f.args[1]));
	CHECK(sets_of(&f, l, NULL) == 0);

	/* what the caller gives may be used for other things meanwhile */
	CHECK(cutejit_launch_workspace(l) == 2 * 4096);
	DO(f.c, cutejit_launch_workspace_set(l, memory, sizeof memory));
	CHECK(sets_of(&f, l, NULL) == 1 && sets_of(&f, l, NULL) == 1);
	CHECK(memory[4096] == 7 && memory[0] == 0);
	DO(f.c, cutejit_launch_workspace_set(l, NULL, 0));
	CHECK(sets_of(&f, l, NULL) == 0);
	CHECK(cutejit_launch_nodes(l) == 2);
	cutejit_launch_destroy(l);
	CHECK(pop(&device) == 0);
	teardown(&f);
}

/* ---- how many clusters run at once --------------------------------------- */

static const char clusters_text[] =
    "kernel clusters(const n = 4, const k = 1, y: tensor(f32, N:1))\n"
    "{\n"
    "    launch grid(min(N, resident_clusters(n, per_sm = k))) block(32) {\n"
    "        y[block_idx.x] = 1.0;\n"
    "    }\n"
    "}\n";

static unsigned
clusters_of(struct fixture *f, const char *n, const char *k)
{
	const cutejit_constant given[] = { { "n", n }, { "k", k } };
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;

	o.constants = given;
	o.constant_count = 2;
	DO(f->c, cutejit_call(f->m, "clusters", &f->args[2], 1, &o, NULL));
	return fake->last.grid[0];
}

static void
test_clusters(void)
{
	unsigned long counted = fake->counted;
	struct fixture f;

	setup(&f);
	cutejit_module_destroy(f.m);
	f.m = test_module(f.c, clusters_text);
	CHECK(clusters_of(&f, "1", "2") == 264 && fake->counted == counted);
	CHECK(clusters_of(&f, "4", "1") == 32);
	CHECK(clusters_of(&f, "16", "1") == 8);
	CHECK(clusters_of(&f, "2", "1") == 65);
	CHECK(clusters_of(&f, "4", "2") == 65);
	CHECK(clusters_of(&f, "8", "3") == 48);
	CHECK(fake->counted == counted + 5);

	/* once for all kernels of a context, but for each device */
	CHECK(clusters_of(&f, "4", "1") == 32);
	f.vy.tensor.shape[0] = 999;
	CHECK(clusters_of(&f, "4", "1") == 32 && fake->counted == counted + 5);
	f.vy.tensor.device_id = 1;
	CHECK(clusters_of(&f, "4", "1") == 32 && fake->counted == counted + 6);
	f.vy.tensor.shape[0] = 5;
	CHECK(clusters_of(&f, "4", "1") == 5);
	teardown(&f);
}

/* By a prepared launch, whose kernel is compiled without a device. */
static void
test_clusters_prepared(void)
{
	unsigned long counted = fake->counted;
	struct fixture f;
	cutejit_kernel *k;
	cutejit_launch *l;

	setup(&f);
	cutejit_module_destroy(f.m);
	f.m = test_module(f.c, clusters_text);
	DO(f.c, cutejit_compile(f.m, "clusters", NULL, &k));
	CHECK(fake->counted == counted);
	DO(f.c, cutejit_prepare(k, &f.args[2], 1, &l));
	DO(f.c, cutejit_launch_run(l, NULL));
	CHECK(fake->last.grid[0] == 32 && fake->counted == counted + 1);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	teardown(&f);
}

static char printed[200];

static void
on_print(void *user, const char *text)
{
	(void)user;
	strncat(printed, text, sizeof printed - strlen(printed) - 1);
	strncat(printed, ";", sizeof printed - strlen(printed) - 1);
}

/* What the host part prints it prints once, and what is so. */
static void
test_clusters_printed(void)
{
	static const char text[] =
	    "kernel clusters(y: tensor(f32, N:1))\n"
	    "{\n"
	    "    print(\"N is\", N);\n"
	    "    print(\"there are\", resident_clusters(4));\n"
	    "    launch grid(N) block(32) { y[block_idx.x] = 1.0; }\n"
	    "}\n";
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	struct fixture f;

	setup(&f);
	cutejit_module_destroy(f.m);
	cutejit_context_destroy(f.c);
	o.cache = CUTEJIT_CACHE_MEMORY;
	o.print = on_print;
	CHECK(cutejit_context_create(&o, &f.c) == CUTEJIT_OK);
	f.m = test_module(f.c, text);
	DO(f.c, cutejit_call(f.m, "clusters", &f.args[2], 1, NULL, NULL));
	CHECK(strcmp(printed, "N is 1000;there are 32;") == 0);
	DO(f.c, cutejit_call(f.m, "clusters", &f.args[2], 1, NULL, NULL));
	CHECK(strcmp(printed, "N is 1000;there are 32;"
	    "N is 1000;there are 32;") == 0);
	teardown(&f);
}

/* Where the driver does not say, all multiprocessors count; it is asked again
 * when the next arguments are made ready. */
static void
test_clusters_untold(void)
{
	struct fixture f;

	setup(&f);
	cutejit_module_destroy(f.m);
	f.m = test_module(f.c, clusters_text);
	fake->fail = "cuOccupancyMaxActiveClusters";
	fake->error = 1;
	CHECK(clusters_of(&f, "4", "1") == 33);
	CHECK(clusters_of(&f, "16", "1") == 8);
	CHECK(clusters_of(&f, "8", "2") == 33);
	fake->fail = NULL;
	f.vy.tensor.shape[0] = 999;
	CHECK(clusters_of(&f, "4", "1") == 32);
	teardown(&f);
}

/* ---- what the driver's assembler tells ----------------------------------- */

static unsigned
spills_in(const cutejit_report *r)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < cutejit_report_count(r); i++)
		n += strcmp(cutejit_report_at(r, i)->code, "spill") == 0;
	return n;
}

static void
test_local(void)
{
	const cutejit_report *r;
	struct fixture f;
	cutejit_kernel *k;
	cutejit_launch *l;
	unsigned long asked;

	fake->registers = 40;
	fake->local_bytes = 48;
	setup(&f);
	k = compile(&f);
	asked = fake->asked;
	CHECK(cutejit_kernel_entry(k, 0)->registers == -1);
	CHECK(spills_in(cutejit_kernel_report(k)) == 0);
	DO(f.c, cutejit_prepare(k, f.args, 3, &l));
	r = cutejit_context_report(f.c);
	CHECK(cutejit_report_count(r) == 1 && spills_in(r) == 1);
	CHECK(cutejit_report_at(r, 0)->severity ==
	    CUTEJIT_SEVERITY_WARNING);
	CHECK(cutejit_report_at(r, 0)->place.line == 3);
	CHECK(strstr(cutejit_report_at(r, 0)->text, "40 registers and 48 "
	    "bytes of local memory") != NULL);
	CHECK(strstr(cutejit_report_at(r, 0)->help, "fewer values") != NULL);
	CHECK(spills_in(cutejit_kernel_report(k)) == 1);
	CHECK(cutejit_kernel_entry(k, 0)->registers == 40);
	CHECK(cutejit_kernel_entry(k, 0)->stack_bytes == 48);
	CHECK(fake->asked > asked);
	/* later launches ask nothing */
	asked = fake->asked;
	DO(f.c, cutejit_launch_run(l, NULL));
	DO(f.c, cutejit_call(f.m, "saxpy", f.args, 3, NULL, NULL));
	CHECK(spills_in(cutejit_context_report(f.c)) == 1);
	DO(f.c, cutejit_call(f.m, "saxpy", f.args, 3, NULL, NULL));
	CHECK(fake->asked == asked);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	teardown(&f);
	fake->local_bytes = 0;
}

/* As an error it keeps a kernel from being launched, each time. */
static void
test_local_error(void)
{
	static const char *const words[] = { "error=spill" };
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	struct fixture f;
	int turn;

	fake->local_bytes = 48;
	setup(&f);
	cutejit_module_destroy(f.m);
	cutejit_context_destroy(f.c);
	o.warnings = words;
	o.warning_count = 1;
	o.cache = CUTEJIT_CACHE_MEMORY;
	CHECK(cutejit_context_create(&o, &f.c) == CUTEJIT_OK);
	f.m = test_module(f.c, saxpy_text);
	for (turn = 0; turn < 2; turn++)
		REFUSED(f.c, CUTEJIT_ERROR, "spill", cutejit_call(f.m,
		    "saxpy", f.args, 3, NULL, NULL));
	fake->local_bytes = 0;
	teardown(&f);
}

/* ---- what reaches the driver --------------------------------------------- */

static void
test_prepared(void)
{
	struct fixture f;
	cutejit_kernel *k;
	cutejit_launch *l;
	unsigned long before = fake->launches;

	setup(&f);
	k = compile(&f);
	DO(f.c, cutejit_prepare(k, f.args, 3, &l));
	CHECK(fake->launches == before);
	CHECK(current() == NULL);
	DO(f.c, cutejit_launch_run(l, (void *)0x1234));
	CHECK(fake->launches == before + 1);
	CHECK(strcmp(fake->last.kernel, "saxpy") == 0);
	CHECK(fake->last.grid[0] == 4 && fake->last.grid[1] == 1);
	CHECK(fake->last.block[0] == 256 && fake->last.block[2] == 1);
	CHECK(fake->last.stream == (void *)0x1234);
	CHECK(fake->last.device == 0);
	CHECK(has_param((uint64_t)(uintptr_t)f.x));
	CHECK(has_param((uint64_t)(uintptr_t)f.y));
	CHECK(has_param(bits_of(2)));
	CHECK(current() == NULL);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	teardown(&f);
	CHECK(fake->loads == fake->unloads);
}

static void
test_patched(void)
{
	struct fixture f;
	cutejit_kernel *k;
	cutejit_launch *l;
	cutejit_argument a = cutejit_arg_float("a", 3);
	float z[2000];

	setup(&f);
	k = compile(&f);
	DO(f.c, cutejit_prepare(k, f.args, 3, &l));
	DO(f.c, cutejit_launch_set_data(l, 1, z));
	DO(f.c, cutejit_launch_run(l, NULL));
	CHECK(has_param((uint64_t)(uintptr_t)z));
	CHECK(!has_param((uint64_t)(uintptr_t)f.x));
	DO(f.c, cutejit_launch_set(l, 0, &a));
	DO(f.c, cutejit_launch_run(l, NULL));
	CHECK(has_param(bits_of(3)));
	f.vx.extent[0] = f.vy.extent[0] = 100;
	REFUSED(f.c, CUTEJIT_ERROR, "contract", cutejit_launch_set(l, 1,
	    &f.args[1]));
	DO(f.c, cutejit_launch_run(l, NULL));		/* as it was */
	CHECK(fake->last.grid[0] == 4 && has_param(bits_of(3)));
	DO(f.c, cutejit_launch_set_all(l, f.args));
	DO(f.c, cutejit_launch_run(l, NULL));
	CHECK(fake->last.grid[0] == 1 && has_param(bits_of(2)));
	CHECK(has_param((uint64_t)(uintptr_t)f.x));
	REFUSED(f.c, CUTEJIT_ERROR, "overlap", cutejit_launch_set_data(l, 1,
	    f.y + 8));
	REFUSED(f.c, CUTEJIT_ERROR, "wrong-argument",
	    cutejit_launch_set_data(l, 1, NULL));
	DO(f.c, cutejit_launch_run(l, NULL));
	CHECK(has_param((uint64_t)(uintptr_t)f.x));
	CHECK(cutejit_launch_set(l, 3, &a) == CUTEJIT_USAGE);
	CHECK(cutejit_launch_set_data(l, 0, z) == CUTEJIT_USAGE);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	teardown(&f);
}

static void
test_empty(void)
{
	struct fixture f;
	unsigned long before = fake->launches;

	setup(&f);
	f.vx.extent[0] = f.vy.extent[0] = 0;
	DO(f.c, cutejit_call(f.m, "saxpy", f.args, 3, NULL, NULL));
	CHECK(fake->launches == before);
	teardown(&f);
}

static void
test_call(void)
{
	struct fixture f;
	unsigned long before = fake->launches;
	int i;

	setup(&f);
	for (i = 0; i < 5; i++)
		DO(f.c, cutejit_call(f.m, "saxpy", f.args, 3, NULL, NULL));
	CHECK(fake->launches == before + 5);
	CHECK(fake->loads == fake->unloads + 1);
	teardown(&f);
}

/* ---- nothing reaches it -------------------------------------------------- */

static void
test_refused(void)
{
	struct fixture f;
	unsigned long before = fake->launches;

	setup(&f);
	f.vy.extent[0] = 999;
	REFUSED(f.c, CUTEJIT_ERROR, "contract", cutejit_call(f.m, "saxpy",
	    f.args, 3, NULL, NULL));
	f.vy.extent[0] = 1000;
	f.vy.tensor.data = f.x;
	REFUSED(f.c, CUTEJIT_ERROR, "overlap", cutejit_call(f.m, "saxpy",
	    f.args, 3, NULL, NULL));
	f.vy.tensor.data = f.y;
	f.vy.tensor.device_id = 1;
	REFUSED(f.c, CUTEJIT_ERROR, "wrong-device", cutejit_call(f.m,
	    "saxpy", f.args, 3, NULL, NULL));
	f.vx.tensor.device_id = f.vy.tensor.device_id = 7;
	REFUSED(f.c, CUTEJIT_MISSING, "missing-gpu", cutejit_call(f.m,
	    "saxpy", f.args, 3, NULL, NULL));
	CHECK(fake->launches == before);
	CHECK(current() == NULL);
	teardown(&f);
}

/* ---- contexts ------------------------------------------------------------ */

/* The caller's context is used where it is of the right device, and left as it
 * was in any case. */
static void
test_contexts(void)
{
	struct fixture f;
	cutejit_kernel *k;
	cutejit_launch *l;
	void *primary, *was;
	int own = 0;		/* a context of device 0: begins with 0 */

	setup(&f);
	k = compile(&f);
	CHECK(push(&own) == 0);
	DO(f.c, cutejit_prepare(k, f.args, 3, &l));
	DO(f.c, cutejit_launch_run(l, NULL));
	CHECK(fake->last.context == &own && current() == &own);
	CHECK(pop(&was) == 0 && was == &own);
	DO(f.c, cutejit_launch_run(l, NULL));
	CHECK(retain(&primary, 0) == 0);
	CHECK(fake->last.context == primary && current() == NULL);
	CHECK(push(&own) == 0);
	f.vx.tensor.device_id = f.vy.tensor.device_id = 1;
	DO(f.c, cutejit_call(f.m, "saxpy", f.args, 3, NULL, NULL));
	CHECK(fake->last.device == 1 && current() == &own);
	CHECK(pop(&was) == 0);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	teardown(&f);
}

/* ---- errors of the driver ------------------------------------------------ */

static const struct {
	const char *function;
	int error;
	cutejit_status status;
	const char *code;
} errors[] = {
	{ "cuLibraryLoadData", 222, CUTEJIT_MISSING, "driver" },
	{ "cuLibraryLoadData", 221, CUTEJIT_MISSING, "missing-assembler" },
	{ "cuLibraryGetKernel", 209, CUTEJIT_MISSING, "driver" },
	{ "cuLibraryGetKernel", 218, CUTEJIT_INTERNAL, "internal" },
	{ "cuLibraryGetKernel", 2, CUTEJIT_LIMIT, "driver" },
	{ "cuLaunchKernel", 1, CUTEJIT_MISSING, "driver" },
	{ "cuLaunchKernel", 700, CUTEJIT_ERROR, "driver" },
};

static void
test_errors(size_t i)
{
	struct fixture f;

	setup(&f);
	setenv("CUTEJIT_REPRO", "/dev/null", 1);	/* none is written */
	fake->fail = errors[i].function;
	fake->error = errors[i].error;
	REFUSED(f.c, errors[i].status, errors[i].code, cutejit_call(f.m,
	    "saxpy", f.args, 3, NULL, NULL));
	CHECK(current() == NULL);
	fake->fail = NULL;
	unsetenv("CUTEJIT_REPRO");
	DO(f.c, cutejit_call(f.m, "saxpy", f.args, 3, NULL, NULL));
	teardown(&f);
	CHECK(fake->loads == fake->unloads);
}

/* A child of a process that used the driver: told so, never crashed. */
static void
test_fork(void)
{
	struct fixture f;
	pid_t pid;
	int how;

	setup(&f);
	DO(f.c, cutejit_call(f.m, "saxpy", f.args, 3, NULL, NULL));
	pid = fork();
	if (pid == 0) {
		REFUSED(f.c, CUTEJIT_MISSING, "missing-driver", cutejit_call(
		    f.m, "saxpy", f.args, 3, NULL, NULL));
		f.vx.tensor.device_type = CUTEJIT_DL_CPU;
		f.vy.tensor.device_type = CUTEJIT_DL_CPU;
		DO(f.c, cutejit_call(f.m, "saxpy", f.args, 3, NULL, NULL));
		teardown(&f);
		_exit(0);
	}
	CHECK(waitpid(pid, &how, 0) == pid);
	CHECK(WIFEXITED(how) && WEXITSTATUS(how) == 0);
	teardown(&f);
}

/* ---- tools --------------------------------------------------------------- */

static void
test_run(void)
{
	struct fixture f;
	cutejit_run_options o = CUTEJIT_RUN_OPTIONS_INIT;
	cutejit_run_result r;

	setup(&f);
	f.vx.tensor.device_type = f.vy.tensor.device_type = CUTEJIT_DL_CPU;
	f.y[10] = 5;
	o.ordinal = 1;
	DO(f.c, cutejit_run(f.m, "saxpy", f.args, 3, NULL, &o, &r));
	CHECK(r.device == CUTEJIT_DEVICE_GPU && fake->last.device == 1);
	CHECK(strcmp(r.device_name, "Stand-in") == 0);
	CHECK(f.y[10] == 5);	/* there and back */
	CHECK(fake->live_bytes == 0);
	o.device = CUTEJIT_DEVICE_CPU;
	f.x[10] = 1;
	DO(f.c, cutejit_run(f.m, "saxpy", f.args, 3, NULL, &o, &r));
	CHECK(r.device == CUTEJIT_DEVICE_CPU && f.y[10] == 7);
	teardown(&f);
}

static int
see_bench(void *user, const cutejit_bench_result *r)
{
	int *seen = user;

	CHECK(r->outcome == CUTEJIT_PASSED);
	CHECK(r->device == CUTEJIT_DEVICE_GPU);
	CHECK(r->ms_median > 0.099 && r->ms_median < 0.101);
	CHECK(r->samples >= 5);
	(*seen)++;
	return 0;
}

static void
test_bench(void)
{
	static const char text[] =
	    "kernel zero(y: tensor(f32, N:1)) {\n"
	    "    launch grid(N) block(1) { y[block_idx.x] = 0.0; }\n"
	    "}\n"
	    "bench \"zero\" over n in {64, 128} {\n"
	    "    let y = empty(f32, n:1);\n"
	    "    time zero(y) bytes(4 * n);\n"
	    "}\n";
	cutejit_context *c = test_context();
	cutejit_module *m = test_module(c, text);
	int seen = 0;

	DO(c, cutejit_bench_run(m, 0, NULL, see_bench, &seen));
	CHECK(seen == 2);
	CHECK(fake->live_bytes == 0);
	cutejit_module_destroy(m);
	cutejit_context_destroy(c);
}

/* ---- after the end ------------------------------------------------------- */

enum { DEINITIALIZED = 4 };
static struct fixture late;
static cutejit_kernel *late_kernel;
static cutejit_launch *late_launch;

/* The driver has gone already, as in destructors of static objects. */
static void
destroy_late(void)
{
	fake->fail = "*";
	fake->error = DEINITIALIZED;
	CHECK(cutejit_launch_run(late_launch, NULL) == CUTEJIT_MISSING);
	CHECK(cutejit_call(late.m, "filled", &late.args[1], 2, NULL, NULL)
	    == CUTEJIT_MISSING);
	cutejit_launch_destroy(late_launch);
	cutejit_kernel_destroy(late_kernel);
	cutejit_module_destroy(late.m);
	cutejit_context_destroy(late.c);
	_exit(0);
}

static void
test_late(void)
{
	static const char text[] =
	    "kernel filled(x: tensor(f32, N:1), y: tensor(f32, N:1))\n"
	    "{\n"
	    "    let w = workspace(f32, N:1, fill = 1.0);\n"
	    "    launch grid(1) block(32) { y[0] = w[0] + x[0]; }\n"
	    "}\n";
	cutejit_module *m;
	pid_t pid = fork();
	int how;

	CHECK(pid >= 0);
	if (pid == 0) {
		open_fake();
		CHECK(atexit(destroy_late) == 0);
		setup(&late);
		m = test_module(late.c, text);
		cutejit_module_destroy(late.m);
		late.m = m;
		DO(late.c, cutejit_compile(m, "filled", NULL, &late_kernel));
		DO(late.c, cutejit_prepare(late_kernel, &late.args[1], 2,
		    &late_launch));
		DO(late.c, cutejit_launch_run(late_launch, NULL));
		DO(late.c, cutejit_call(m, "filled", &late.args[1], 2, NULL,
		    NULL));
		exit(1);	/* 0 comes from above */
	}
	CHECK(waitpid(pid, &how, 0) == pid);
	CHECK(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

int
main(void)
{
	size_t i;

	test_late();		/* a child that has a driver of its own */
	open_fake();
	test_local();
	test_local_error();
	test_prepared();
	test_patched();
	test_restored();
	test_clusters();
	test_clusters_prepared();
	test_clusters_printed();
	test_clusters_untold();
	test_empty();
	test_call();
	test_refused();
	test_contexts();
	for (i = 0; i < sizeof errors / sizeof *errors; i++)
		test_errors(i);
	test_run();
	test_bench();
	test_fork();
	return 0;
}
