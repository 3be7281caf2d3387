/*
 * cutec doctor: what is found on this machine, and what each thing is for.
 */
#include <string.h>

#include "cutec.h"

static void
show(void *user, const cutejit_finding *f)
{
	static const char *const marks[] = { "found  ", "missing", "note   " };
	static const char *const colours[] = { "\033[32m", "\033[33m", "" };
	bool colour = *(bool *)user;

	printf("%s%s%s %-12s %s\n", colour ? colours[f->state] : "",
	    marks[f->state], colour ? "\033[0m" : "", f->topic, f->text);
	if (f->use != NULL && *f->use != '\0')
		printf("%20s %s\n", "", f->use);
}

int
cmd_doctor(int argc, char **argv)
{
	bool colour = wants_colour(stdout);
	cutejit_context *context;
	struct common c;
	int code;

	(void)argv;
	if (argc != 1)
		return usage_error("doctor", "there are no arguments");
	common_init(&c, "doctor");
	context = common_context(&c, &code);
	if (context == NULL)
		return code;
	printf("cutec %s, %s\n", cutejit_version(), cutejit_generator());
	code = common_status(&c, context,
	    cutejit_doctor(context, show, &colour));
	cutejit_context_destroy(context);
	return code;
}
