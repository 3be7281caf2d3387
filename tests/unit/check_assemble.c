/*
 * Assemblers: found, asked for their version, run, believed or not.
 *
 * Stand-ins are shell scripts, so that every way to fail can be played. Where
 * the CUDA toolkit is installed the real ones are compared with each other.
 */
#include "check_main.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/assemble.h"
#include "runtime/cache.h"
#include "runtime/spawn.h"

static char folder[64];

static void
setup(void)
{
	snprintf(folder, sizeof folder, "/tmp/cutejit-check-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	unsetenv("CUTEJIT_ASSEMBLER");
	unsetenv("CUTEJIT_PTXAS");
}

static void
teardown(void)
{
	char command[96];

	snprintf(command, sizeof command, "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

/* A program of this name in the folder; its body is a shell script. */
static const char *
script(const char *name, const char *body)
{
	static char path[128];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "#!/bin/sh\n%s\n", body);
	fclose(file);
	ck_assert_int_eq(chmod(path, 0755), 0);
	return path;
}

static cutejit_context *
context(unsigned deadline_ms)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;

	o.cache_folder = folder;
	o.deadline_ms = deadline_ms;
	ck_assert_int_eq(cutejit_context_create(&o, &c), CUTEJIT_OK);
	return c;
}

struct job {
	const char *ptx;
	char name[64];
	enum cj_assembler_kind kind;
	cutejit_status status;
	char log[256];
	size_t length;
	cutejit_entry entry;
	bool is_cubin;
};

static cutejit_status
assemble(struct cj_work *f, void *arguments)
{
	struct job *j = arguments;
	const struct cj_assembler *as = cj_assembler_get(f);
	struct cj_recipe r = { .level = 3 };
	struct cj_assembly out;

	snprintf(j->name, sizeof j->name, "%s", as->name);
	j->kind = as->kind;
	if (j->ptx == NULL)
		return CUTEJIT_OK;
	r.target = cj_target_find("sm_90a");
	j->status = cj_assemble(f, &r, j->ptx, strlen(j->ptx), &f->arena,
	    &out);
	snprintf(j->log, sizeof j->log, "%s", out.log);
	j->length = out.length;
	if (j->status != CUTEJIT_OK)
		return CUTEJIT_OK;
	memset(&j->entry, 255, sizeof j->entry);
	j->entry.name = "foo";
	j->is_cubin = cj_cubin_read(out.cubin, out.length, out.properties,
	    &j->entry, 1);
	return CUTEJIT_OK;
}

static const char version[] =
    "case \"$1\" in --version) echo 'release 12.3, V12.3.45'; exit;; esac;";

START_TEST(test_version_is_remembered)
{
	char body[512], asked[128];
	struct job j = { 0 };
	cutejit_context *c;
	int i;

	snprintf(asked, sizeof asked, "%s/asked", folder);
	snprintf(body, sizeof body, "echo x >>%s; %s", asked, version);
	setenv("CUTEJIT_PTXAS", script("ptxas", body), 1);
	for (i = 0; i < 3; i++) {
		struct stat st;

		c = context(0);
		ck_assert_int_eq(cj_enter(c, assemble, &j), CUTEJIT_OK);
		ck_assert_str_eq(j.name, "ptxas 12.3.45");
		ck_assert_int_eq(stat(asked, &st), 0);
		ck_assert_int_eq(st.st_size, 2);
		cutejit_context_destroy(c);
	}
}
END_TEST

START_TEST(test_absent)
{
	struct job j = { 0 };
	cutejit_context *c;

	setenv("CUTEJIT_PTXAS", "/nonexistent/ptxas", 1);
	setenv("CUTEJIT_ASSEMBLER", "ptxas", 1);
	c = context(0);
	ck_assert_int_eq(cj_enter(c, assemble, &j), CUTEJIT_OK);
	ck_assert_int_eq(j.kind, CJ_ASSEMBLER_NONE);
	ck_assert_str_eq(j.name, "");
	cutejit_context_destroy(c);
}
END_TEST

static const struct {
	const char *body;
	cutejit_status status;
	const char *log;
} wrong[] = {
	{ "echo 'a syntax error' >&2; exit 1", CUTEJIT_INTERNAL,
	    "a syntax error" },
	{ "exit 7", CUTEJIT_INTERNAL, "code 7" },
	{ "kill -SEGV $$", CUTEJIT_INTERNAL, "signal 11" },
	{ "kill -KILL $$", CUTEJIT_LIMIT, "" },
};

START_TEST(test_failures)
{
	char body[512];
	struct job j = { .ptx = "x" };
	cutejit_context *c;

	snprintf(body, sizeof body, "%s %s", version, wrong[_i].body);
	setenv("CUTEJIT_PTXAS", script("ptxas", body), 1);
	c = context(0);
	ck_assert_int_eq(cj_enter(c, assemble, &j), CUTEJIT_OK);
	ck_assert_int_eq(j.status, wrong[_i].status);
	ck_assert_ptr_nonnull(strstr(j.log, wrong[_i].log));
	cutejit_context_destroy(c);
}
END_TEST

/* A host that ignores its children, or waits for any of them, does not learn
 * how one ended: what the program has written tells. */
START_TEST(test_ended_unseen)
{
	char body[512];
	struct job j = { .ptx = "x" };
	cutejit_context *c;

	snprintf(body, sizeof body, "%s %s", version, _i < 2 ?
	    wrong[0].body : "echo no cubin");
	setenv("CUTEJIT_PTXAS", script("ptxas", body), 1);
	signal(SIGCHLD, SIG_IGN);
	c = context(_i % 2 == 0 ? 0 : 5000);
	ck_assert_int_eq(cj_enter(c, assemble, &j), CUTEJIT_OK);
	ck_assert_int_eq(j.status, _i < 2 ? CUTEJIT_INTERNAL : CUTEJIT_OK);
	ck_assert_ptr_nonnull(strstr(j.log, _i < 2 ? wrong[0].log : ""));
	signal(SIGCHLD, SIG_DFL);
	cutejit_context_destroy(c);
}
END_TEST

START_TEST(test_garbage_is_no_cubin)
{
	char body[512];
	struct job j = { .ptx = "x" };
	cutejit_context *c;

	snprintf(body, sizeof body, "%s echo this is no cubin at all",
	    version);
	setenv("CUTEJIT_PTXAS", script("ptxas", body), 1);
	c = context(0);
	ck_assert_int_eq(cj_enter(c, assemble, &j), CUTEJIT_OK);
	ck_assert_int_eq(j.status, CUTEJIT_OK);
	ck_assert(!j.is_cubin);
	cutejit_context_destroy(c);
}
END_TEST

/* A program that hangs is stopped at the deadline. */
START_TEST(test_hang)
{
	char body[512];
	struct job j = { .ptx = "x" };
	cutejit_context *c;
	int64_t start;

	snprintf(body, sizeof body, "%s exec sleep 50", version);
	setenv("CUTEJIT_PTXAS", script("ptxas", body), 1);
	c = context(0);
	ck_assert_int_eq(cj_enter(c, assemble, &(struct job){ 0 }),
	    CUTEJIT_OK);
	cutejit_context_destroy(c);
	c = context(400);
	start = cj_clock();
	ck_assert_int_eq(cj_enter(c, assemble, &j), CUTEJIT_LIMIT);
	ck_assert(cj_ms_since(start) < 5000);
	ck_assert_str_eq(cutejit_report_at(cutejit_context_report(c), 0)
	    ->code, "deadline");
	cutejit_context_destroy(c);
}
END_TEST

static cutejit_status
echo(struct cj_work *f, void *arguments)
{
	size_t n = *(size_t *)arguments, i;
	const char *const argv[] = { "/bin/cat", NULL };
	char *in = cj_alloc(&f->arena, n);
	struct cj_spawned out;

	for (i = 0; i < n; i++)
		in[i] = (char)(i * 7 + i / 251);
	ck_assert_int_eq(cj_spawn(f, argv, in, n, &out), CJ_SPAWN_OK);
	ck_assert_uint_eq(out.out_length, n);
	ck_assert_mem_eq(out.out, in, n);
	return CUTEJIT_OK;
}

/* More than a pipe holds, in both directions. */
START_TEST(test_much_data)
{
	size_t n = _i == 0 ? 0 : (size_t)1 << 22;
	cutejit_context *c = context(_i == 2 ? 20000 : 0);

	ck_assert_int_eq(cj_enter(c, echo, &n), CUTEJIT_OK);
	cutejit_context_destroy(c);
}
END_TEST

/* ---- begun before there is input ----------------------------------------- */

static cutejit_status
echo_later(struct cj_work *f, void *arguments)
{
	size_t n = *(size_t *)arguments;
	const char *const argv[] = { "/bin/cat", NULL };
	char *in = cj_alloc(&f->arena, n + 1);
	struct cj_child *c = cj_child_begin(f, argv);
	struct cj_spawned out;

	ck_assert_ptr_nonnull(c);
	memset(in, 'x', n);
	if (cj_child_feed(c, in, n)) {
		ck_assert_int_eq(cj_child_end(f, c, &out), CJ_SPAWN_OK);
		ck_assert_uint_eq(out.out_length, n);
		ck_assert_mem_eq(out.out, in, n);
	} else {
		ck_assert_uint_gt(n, 65536);	/* no such pipe is allowed */
	}
	cj_child_drop(c);
	return CUTEJIT_OK;
}

START_TEST(test_fed_later)
{
	static const size_t sizes[] = { 0, 1, 5000, 60000, 300000, 1 << 24 };
	size_t n = sizes[_i];
	cutejit_context *c = context(_i == 2 ? 20000 : 0);

	ck_assert_int_eq(cj_enter(c, echo_later, &n), CUTEJIT_OK);
	cutejit_context_destroy(c);
}
END_TEST

/* One that never reads and ends at once: no signal comes of it. */
static cutejit_status
feed_nobody(struct cj_work *f, void *arguments)
{
	const char *const argv[] = { "/bin/false", NULL };
	struct cj_child *c = cj_child_begin(f, argv);
	struct cj_spawned out;

	(void)arguments;
	ck_assert_ptr_nonnull(c);
	usleep(20000);
	ck_assert(cj_child_feed(c, "x", 1));
	ck_assert_int_eq(cj_child_end(f, c, &out), CJ_SPAWN_FAILED);
	ck_assert_int_eq(out.code, 1);
	cj_child_drop(c);
	return CUTEJIT_OK;
}

/* A process that was forked meanwhile holds the pipe: it is not waited for. */
static cutejit_status
feed_beside_fork(struct cj_work *f, void *arguments)
{
	const char *const argv[] = { "/bin/cat", NULL };
	struct cj_child *c = cj_child_begin(f, argv);
	pid_t pid = fork();

	(void)arguments;
	ck_assert_ptr_nonnull(c);
	if (pid == 0) {
		sleep(30);
		_exit(0);
	}
	ck_assert(!cj_child_feed(c, "x", 1));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	cj_child_drop(c);
	return CUTEJIT_OK;
}

START_TEST(test_fed_in_vain)
{
	cutejit_context *c = context(0);

	ck_assert_int_eq(cj_enter(c, _i == 0 ? feed_nobody : feed_beside_fork,
	    NULL), CUTEJIT_OK);
	cutejit_context_destroy(c);
}
END_TEST

static cutejit_status
tunables(struct cj_work *f, void *arguments)
{
	const char *const argv[] = { "/bin/sh", "-c",
	    "echo $GLIBC_TUNABLES", NULL };
	struct cj_spawned out;

	ck_assert_int_eq(cj_spawn(f, argv, "", 0, &out), CJ_SPAWN_OK);
	snprintf(arguments, 128, "%s", out.out);
	return CUTEJIT_OK;
}

/* Large pages for who did not say otherwise; nothing of it is left with us. */
START_TEST(test_tunables)
{
	cutejit_context *c = context(0);
	char seen[128];

	unsetenv("GLIBC_TUNABLES");
	ck_assert_int_eq(cj_enter(c, tunables, seen), CUTEJIT_OK);
	ck_assert_ptr_nonnull(strstr(seen, "glibc.malloc.hugetlb=1"));
	ck_assert_ptr_null(getenv("GLIBC_TUNABLES"));
	setenv("GLIBC_TUNABLES", "glibc.malloc.check=0", 1);
	ck_assert_int_eq(cj_enter(c, tunables, seen), CUTEJIT_OK);
	ck_assert_str_eq(seen, "glibc.malloc.check=0\n");
	cutejit_context_destroy(c);
}
END_TEST

static cutejit_status
assemble_ahead(struct cj_work *f, void *arguments)
{
	struct cj_recipe r = { .level = 3 };
	struct cj_module ir = { 0 };
	cutejit_status status;

	r.target = cj_target_find("sm_90a");
	cj_ahead_begin(f);
	ck_assert(cj_ahead_ask(f));
	cj_ahead_start(f, &r, &ir);
	ck_assert_ptr_nonnull(f->ahead->begun);
	status = assemble(f, arguments);
	ck_assert(f->ahead->is_fed);
	cj_ahead_end(f);
	ck_assert_ptr_null(f->ahead);
	return status;
}

/* Asked once and begun once, beside the work; what it says is believed. */
START_TEST(test_ahead)
{
	char body[512], asked[128];
	struct job j = { .ptx = "a text" };
	cutejit_context *c;
	struct stat st;

	snprintf(asked, sizeof asked, "%s/asked", folder);
	snprintf(body, sizeof body, "echo x >>%s; %s grep -q '^a text$' && "
	    "echo no cubin", asked, version);
	setenv("CUTEJIT_PTXAS", script("ptxas", body), 1);
	c = context(0);
	ck_assert_int_eq(cj_enter(c, assemble_ahead, &j), CUTEJIT_OK);
	ck_assert_str_eq(j.name, "ptxas 12.3.45");
	ck_assert_int_eq(j.status, CUTEJIT_OK);
	ck_assert_uint_eq(j.length, strlen("no cubin\n"));
	ck_assert_int_eq(stat(asked, &st), 0);
	ck_assert_int_eq(st.st_size, 4);
	cutejit_context_destroy(c);
}
END_TEST

static cutejit_status
leave_ahead(struct cj_work *f, void *arguments)
{
	struct cj_recipe r = { .level = 3 };
	struct cj_module ir = { 0 };

	r.target = cj_target_find("sm_90a");
	cj_ahead_begin(f);
	ck_assert(cj_ahead_ask(f));
	cj_ahead_start(f, &r, &ir);
	ck_assert_ptr_nonnull(f->ahead->begun);
	*(bool *)arguments = true;
	cj_leave(&f->recover, CJ_WHY_DEADLINE, "late");
}

/* Whatever ends the call ends those who were begun for it. */
START_TEST(test_ahead_is_stopped)
{
	char body[512];
	bool was_begun = false;
	cutejit_context *c;

	snprintf(body, sizeof body, "%s exec sleep 50", version);
	setenv("CUTEJIT_PTXAS", script("ptxas", body), 1);
	c = context(0);
	ck_assert_int_eq(cj_enter(c, leave_ahead, &was_begun),
	    CUTEJIT_LIMIT);
	ck_assert(was_begun);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	cutejit_context_destroy(c);
}
END_TEST

static const char ptx[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry foo(.param .u64 p)\n"
    "{ .reg .b64 %rd<3>; .reg .f32 %f<2>;\n"
    "ld.param.u64 %rd1,[p]; ld.global.f32 %f1,[%rd1];\n"
    "st.global.f32 [%rd1+4],%f1; ret; }\n";

/* The real ones, where they are. */
START_TEST(test_real)
{
	static const char *const names[] = { "ptxas", "nvjitlink" };
	struct job j = { .ptx = ptx };
	cutejit_context *c;

	setenv("CUTEJIT_ASSEMBLER", names[_i], 1);
	c = context(0);
	j.ptx = NULL;
	ck_assert_int_eq(cj_enter(c, assemble, &j), CUTEJIT_OK);
	if (j.kind != CJ_ASSEMBLER_NONE) {
		j.ptx = ptx;
		ck_assert_int_eq(cj_enter(c, assemble, &j), CUTEJIT_OK);
		ck_assert_int_eq(j.status, CUTEJIT_OK);
		ck_assert(j.is_cubin);
		ck_assert_int_gt(j.entry.registers, 0);
		ck_assert_int_lt(j.entry.registers, 64);
		ck_assert_int_eq(j.entry.stack_bytes, 0);
		ck_assert_int_gt(j.entry.constant_bytes, 0);
		j.ptx = "no PTX at all";
		ck_assert_int_eq(cj_enter(c, assemble, &j), CUTEJIT_OK);
		ck_assert_int_eq(j.status, CUTEJIT_INTERNAL);
		ck_assert_str_ne(j.log, "");
	}
	cutejit_context_destroy(c);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("assemble");
	TCase *t = tcase_create("programs");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_version_is_remembered);
	tcase_add_test(t, test_absent);
	tcase_add_loop_test(t, test_failures, 0, (int)CJ_LENGTH(wrong));
	tcase_add_loop_test(t, test_ended_unseen, 0, 4);
	tcase_add_test(t, test_garbage_is_no_cubin);
	tcase_add_test(t, test_hang);
	tcase_add_loop_test(t, test_much_data, 0, 3);
	tcase_add_loop_test(t, test_fed_later, 0, 6);
	tcase_add_loop_test(t, test_fed_in_vain, 0, 2);
	tcase_add_test(t, test_tunables);
	tcase_add_test(t, test_ahead);
	tcase_add_test(t, test_ahead_is_stopped);
	tcase_add_loop_test(t, test_real, 0, 2);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
