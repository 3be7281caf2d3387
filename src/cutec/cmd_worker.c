/*
 * cutec worker: generate code for a program that has named us as its worker.
 */
#include "cutec.h"

int
cmd_worker(int argc, char **argv)
{
	int code;

	(void)argv;
	if (argc > 1)
		return usage_error("worker", "there are no options");
	code = cutejit_worker();
	if (code == CUTEJIT_USAGE)
		return usage_error("worker", "what comes on standard input is "
		    "no request: the library starts this by itself");
	return code;
}
