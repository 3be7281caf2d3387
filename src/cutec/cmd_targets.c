/*
 * cutec targets: the GPUs that can be compiled for.
 */
#include "cutec.h"

int
cmd_targets(int argc, char **argv)
{
	const cutejit_target *t;
	size_t i;

	(void)argv;
	if (argc != 1)
		return usage_error("targets", "there are no arguments");
	printf("%-9s %4s  %16s  %14s\n", "target", "PTX", "shared per block",
	    "threads per SM");
	for (i = 0; (t = cutejit_target_at(i)) != NULL; i++)
		printf("%-9s %2d.%d  %16d  %14d\n", t->name, t->ptx / 10,
		    t->ptx % 10, t->shared_bytes, t->threads_per_sm);
	return 0;
}
