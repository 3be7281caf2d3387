/*
 * cutec: the command. Finds the subcommand and hands over.
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cutec.h"

/* Bytes of a block that comes from the heap, of a heap that is kept, of a step
 * by which it grows, and of a large page. */
enum { KEPT_BLOCK = 32 << 20, KEPT = 256 << 20, STEP = 64 << 20,
    LARGE_PAGE = 2 << 20, LEAST_GAP = 256 << 10 };

struct command {
	const char *name, *synopsis, *purpose;
	int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
#define COMMAND(name, operands, synopsis, purpose)			\
	{ #name, synopsis, purpose, cmd_##name },
#include "commands.def"
#undef COMMAND
};

enum { COUNT = sizeof commands / sizeof *commands };

static const struct command *
find(const char *name)
{
	int i;

	for (i = 0; i < COUNT; i++)
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

int
show_help(const char *command)
{
	const struct command *c = find(command);

	printf("usage: cutec %s %s\n%s\n\n", c->name, c->synopsis, c->purpose);
	show_options(c->name);
	printf("\nThe manual page cutec(1) describes every option.\n");
	return 0;
}

static int
help(FILE *out)
{
	int i;

	fprintf(out, "usage: cutec COMMAND ...\n\n");
	for (i = 0; i < COUNT; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name,
		    commands[i].purpose);
	fprintf(out, "\n`cutec COMMAND --help` shows the form of a command, "
	    "cutec(1) every option.\n");
	return out == stdout ? 0 : CUTEJIT_USAGE;
}

static int
version(void)
{
	printf("cutec %s (%s)\n", cutejit_version(), cutejit_generator());
	return 0;
}

static bool
asks_for_help(const char *argument)
{
	return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static int
run(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2)
		return help(stderr);
	if (strcmp(argv[1], "--version") == 0)
		return version();
	if (asks_for_help(argv[1]) || strcmp(argv[1], "help") == 0)
		return help(stdout);
	c = find(argv[1]);
	if (c == NULL) {
		complain("there is no command \"%s\"; `cutec --help` lists "
		    "them", argv[1]);
		return CUTEJIT_USAGE;
	}
	if (argc == 3 && asks_for_help(argv[2]))
		return show_help(c->name);
	return c->run(argc - 1, argv + 1);
}

#if defined M_TRIM_THRESHOLD && defined MADV_HUGEPAGE
/*
 * The heap in large pages, where the system has them: a compile touches
 * thousands of small ones for the first time, and each costs as much as a
 * thousand instructions. What lies in front of the first large page is left
 * unused, so that nothing is put there.
 */
static void
use_large_pages(void)
{
	static void *volatile unused;
	char *begin = sbrk(0), *end;
	size_t gap = -(uintptr_t)begin % LARGE_PAGE;

	if (gap < LEAST_GAP)
		gap += LARGE_PAGE;
	unused = malloc(gap);		/* the heap grows by a step */
	end = sbrk(0);
	if (unused == NULL || begin == (void *)-1 || end == (void *)-1
	    || end <= begin)
		return;
	begin += gap;
	if (begin < end)
		(void)madvise(begin, (size_t)(end - begin), MADV_HUGEPAGE);
}
#else
static void
use_large_pages(void)
{
}
#endif

/* What one kernel's work gave back, the next one takes: glibc would return it
 * to the system in between, and clearing fresh pages took a third of the time
 * that elaboration needs. The process is ours, so this is ours to say. */
static void
keep_memory(void)
{
#ifdef M_TRIM_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, KEPT_BLOCK);
	mallopt(M_TRIM_THRESHOLD, KEPT);
	mallopt(M_TOP_PAD, STEP);
#endif
	use_large_pages();
}

int
main(int argc, char **argv)
{
	int code;

	keep_memory();
	/* a file that may not grow is an error like others */
	signal(SIGXFSZ, SIG_IGN);
	code = run(argc, argv);
	errno = 0;		/* what was not written is tried again */
	if (fflush(stdout) != 0 || ferror(stdout)) {
		complain("cannot write to standard output%s%s",
		    errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
		return code != 0 ? code : CUTEJIT_MISSING;
	}
	return code;
}
