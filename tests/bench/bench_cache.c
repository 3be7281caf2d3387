/*
 * What a hit on disk costs in a cache of many entries: from a module to a
 * compiled kernel, without a GPU. The entries are made up beside the real one.
 *
 *	bench_cache [ENTRIES]			1000000 unless given
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
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 300 };

static const char text[] =
    "kernel zero(y: tensor(f32, N:1))\n"
    "{\n"
    "    launch grid(N) block(1) { y[block_idx.x] = 0.0; }\n"
    "}\n";
static char folder[] = "/tmp/bench-cache-XXXXXX";

static void
die(const char *what)
{
	fprintf(stderr, "bench_cache: %s\n", what);
	exit(3);
}

static double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Microseconds of one compile, and where it came from. */
static double
compile(cutejit_origin *origin)
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

static void
measure(const char *what)
{
	static double us[ROUNDS];
	cutejit_origin origin;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		us[i] = compile(&origin);
		if (origin != CUTEJIT_ORIGIN_DISK)
			die("the kernel did not come from the disk");
	}
	qsort(us, ROUNDS, sizeof *us, by_value);
	printf("%-28s median %7.1f us   p5 %7.1f   p95 %7.1f\n", what,
	    us[ROUNDS / 2], us[ROUNDS / 20], us[ROUNDS - 1 - ROUNDS / 20]);
}

static void
fill(long count)
{
	unsigned seed = 1;
	char path[256];
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

	if (mkdtemp(folder) == NULL)
		die("no folder");
	setenv("CUTEJIT_ASSEMBLER", "driver", 1);
	compile(&origin);
	measure("one entry");
	fill(count);
	measure("with the others");
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return 0;
}
