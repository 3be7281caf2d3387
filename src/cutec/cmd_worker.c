/*
 * cutec worker: generate code for a program that has named us as its worker.
 */
#include "cutec.h"

int
cmd_worker(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return usage_error("worker", "there are no options");
	return cutejit_worker();
}
