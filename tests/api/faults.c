/*
 * Faults that are not the caller's: an assembler that crashes, hangs, or is too
 * old. The host goes on; what the user sees names no tool and no signal.
 */
#include "test.h"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[64];

/* Does some report have all of it? */
static int
reports_have(const char *const *words)
{
	char command[256];

	for (; *words != NULL; words++) {
		snprintf(command, sizeof command, "grep -qF -e '%s' "
		    "%s/cutejit-report-*", *words, folder);
		if (system(command) != 0) {
			fprintf(stderr, "no report has %s\n", *words);
			return 0;
		}
	}
	return 1;
}

/* An assembler whose body is a shell script. */
static void
use_script(const char *body)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof path, "%s/ptxas", folder);
	unlink(path);
	file = fopen(path, "w");
	CHECK(file != NULL);
	fprintf(file, "#!/bin/sh\ncase \"$1\" in --version) "
	    "echo 'release 12.3, V12.3.%d'; exit;; esac\n%s\n",
	    (int)(strlen(body)), body);
	fclose(file);
	CHECK(chmod(path, 0755) == 0);
	setenv("CUTEJIT_PTXAS", path, 1);
}

static cutejit_status
compile(cutejit_context *c, cutejit_until until, char cubin[8])
{
	cutejit_module *m = test_module(c, saxpy_text);
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_kernel *k;
	cutejit_status status;

	o.until = until;
	status = cutejit_compile(m, "saxpy", &o, &k);
	if (status == CUTEJIT_OK)
		snprintf(cubin, 8, "%s", *cutejit_kernel_about(k)->assembler
		    != '\0' ? "yes" : "no");
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
	return status;
}

static int
count_reports(void)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	int n = 0;

	CHECK(d != NULL);
	while ((e = readdir(d)) != NULL)
		n += strncmp(e->d_name, "cutejit-report-", 15) == 0;
	closedir(d);
	return n;
}

static void
test_crash(const char *body)
{
	cutejit_context *c;
	const char *text;
	char cubin[8];
	int before = count_reports();

	use_script(body);
	c = test_context();
	REFUSED(c, CUTEJIT_INTERNAL, "internal", compile(c,
	    CUTEJIT_UNTIL_CUBIN, cubin));
	text = cutejit_report_text(cutejit_context_report(c), 0);
	CHECK(strstr(text, "ptxas") == NULL && strstr(text, "SEGV") == NULL);
	CHECK(strstr(text, "secret") == NULL);
	CHECK(strstr(text, folder) != NULL);
	CHECK(count_reports() == before + 1);
	CHECK(reports_have((const char *const []){ "fault: ptxas",
	    "kernel: saxpy, member 0", "target: sm_90a -O3",
	    "---- text test.cute", "launch grid(ceil_div(N, 256))",
	    "---- ir", "---- ptx", ".entry saxpy", NULL }));
	/* the context serves on */
	DO(c, compile(c, CUTEJIT_UNTIL_PTX, cubin));
	cutejit_context_destroy(c);
}

static void
test_hang(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;
	time_t start;
	char cubin[8];

	use_script("exec sleep 60");
	o.cache = CUTEJIT_CACHE_MEMORY;
	o.deadline_ms = 1500;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	start = time(NULL);
	REFUSED(c, CUTEJIT_LIMIT, "deadline", compile(c,
	    CUTEJIT_UNTIL_CUBIN, cubin));
	CHECK(time(NULL) - start < 20);
	cutejit_context_destroy(c);
}

/* Too old: no fault, and PTX is left for the driver. */
static void
test_old(void)
{
	cutejit_context *c;
	char cubin[8];

	use_script("echo 'ptxas fatal : Unsupported .version 8.0; current "
	    "version is 7.0' >&2; exit 255");
	c = test_context();
	DO(c, compile(c, CUTEJIT_UNTIL_LOADABLE, cubin));
	CHECK(strcmp(cubin, "no") == 0);
	REFUSED(c, CUTEJIT_MISSING, "missing-assembler", compile(c,
	    CUTEJIT_UNTIL_CUBIN, cubin));
	cutejit_context_destroy(c);
}

static void
test_absent(void)
{
	cutejit_context *c;
	char cubin[8];

	setenv("CUTEJIT_ASSEMBLER", "driver", 1);
	c = test_context();
	DO(c, compile(c, CUTEJIT_UNTIL_LOADABLE, cubin));
	REFUSED(c, CUTEJIT_MISSING, "missing-assembler", compile(c,
	    CUTEJIT_UNTIL_CUBIN, cubin));
	cutejit_context_destroy(c);
	unsetenv("CUTEJIT_ASSEMBLER");
}

int
main(void)
{
	char command[96];

	snprintf(folder, sizeof folder, "/tmp/cutejit-faults-XXXXXX");
	CHECK(mkdtemp(folder) != NULL);
	setenv("CUTEJIT_REPRO", folder, 1);
	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	test_crash("kill -SEGV $$");
	test_crash("echo a secret of ptxas >&2; exit 1");
	test_crash("echo no cubin");
	test_hang();
	test_old();
	test_absent();
	snprintf(command, sizeof command, "rm -rf %s", folder);
	CHECK(system(command) == 0);
	return 0;
}
