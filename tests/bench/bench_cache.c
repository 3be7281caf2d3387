/*
 * What a hit on disk costs in a cache of many entries: from a module to a
 * compiled kernel, without a GPU. The entries are made up beside the real one.
 * A cache that has nothing else is asked in turns with it, so that whatever
 * else the machine does falls on both; the last line is the ratio.
 *
 *	bench_cache [ENTRIES [FOLDER]]		1000000 unless given, /tmp
 *
 *	cc bench_cache.c -o bench_cache $(pkg-config --cflags --libs cutejit)
 */
#include <cutejit.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_time.h"

enum { ROUNDS = 1000 };
enum { SMALL, LARGE, CACHES };

static const char text[] =
    "kernel zero(y: tensor(f32, N:1))\n"
    "{\n"
    "    launch grid(N) block(1) { y[block_idx.x] = 0.0; }\n"
    "}\n";
static char folders[CACHES][4096];
static const char *const what[] = { "one entry", "with the others" };

static _Noreturn void
die(const char *why)
{
	fprintf(stderr, "bench_cache: %s\n", why);
	exit(3);
}

/* Microseconds of one compile, and where it came from. */
static double
compile(const char *folder, cutejit_origin *origin)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *context;
	cutejit_module *module;
	cutejit_kernel *kernel;
	double start;

	o.cache_folder = folder;
	o.cache_bytes = UINT64_MAX;
	if (cutejit_context_create(&o, &context) != CUTEJIT_OK ||
	    cutejit_module_from_memory(context, "zero.cute", text,
	    strlen(text), &module) != CUTEJIT_OK)
		die("no module");
	start = now_us();
	if (cutejit_compile(module, "zero", NULL, &kernel) != CUTEJIT_OK)
		die("no kernel");
	start = now_us() - start;
	*origin = cutejit_kernel_about(kernel)->origin;
	cutejit_kernel_destroy(kernel);
	cutejit_module_destroy(module);
	cutejit_context_destroy(context);
	return start;
}

/* Turn by turn, each time the other one first. */
static void
measure(void)
{
	static double us[CACHES][ROUNDS];
	cutejit_origin origin;
	int i, k;

	for (i = 0; i < CACHES * ROUNDS; i++) {
		k = (i + i / CACHES) % CACHES;
		us[k][i / CACHES] = compile(folders[k], &origin);
		if (origin != CUTEJIT_ORIGIN_DISK)
			die("the kernel did not come from the disk");
	}
	for (k = 0; k < CACHES; k++) {
		sort_times(us[k], ROUNDS);
		printf("%-28s median %7.1f us   p5 %7.1f   p95 %7.1f\n",
		    what[k], us[k][ROUNDS / 2], us[k][ROUNDS / 20],
		    us[k][ROUNDS - 1 - ROUNDS / 20]);
	}
	printf("%-28s median %7.3f      p5 %7.3f\n", "large / small",
	    us[LARGE][ROUNDS / 2] / us[SMALL][ROUNDS / 2],
	    us[LARGE][ROUNDS / 20] / us[SMALL][ROUNDS / 20]);
}

static void
fill(const char *folder, long count)
{
	unsigned seed = 1;
	char path[5000];
	long i;
	int k, n, fd;

	for (i = 0; i < 256; i++) {
		snprintf(path, sizeof path, "%s/v1/%02lx", folder, i);
		mkdir(path, 0700);
	}
	for (i = 0; i < count; i++) {
		n = snprintf(path, sizeof path, "%s/v1/%02lx/%02lx", folder,
		    i % 256, i % 256);
		for (k = 2; k < 64; k++)
			n += snprintf(path + n, sizeof path - (size_t)n,
			    "%x", (unsigned)rand_r(&seed) >> 8 & 15);
		fd = open(path, O_CREAT | O_WRONLY, 0600);
		if (fd < 0)
			die("an entry cannot be made");
		close(fd);
	}
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *w)
{
	(void)st, (void)type, (void)w;
	return remove(path);
}

int
main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000000;
	cutejit_origin origin;
	int k;

	setenv("CUTEJIT_ASSEMBLER", "driver", 1);
	for (k = 0; k < CACHES; k++) {
		snprintf(folders[k], sizeof folders[k],
		    "%s/bench-cache-XXXXXX", argc > 2 ? argv[2] : "/tmp");
		if (mkdtemp(folders[k]) == NULL)
			die("no folder");
		compile(folders[k], &origin);
	}
	fill(folders[LARGE], count);
	measure();
	for (k = 0; k < CACHES; k++)
		nftw(folders[k], remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return 0;
}
