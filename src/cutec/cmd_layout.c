/*
 * cutec layout: the calculator of the layout algebra, and the checker of files
 * of cases.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cutec.h"

static int
check(const struct common *c, cutejit_context *context, const char *path)
{
	uint64_t passed = 0, failed = 0;
	const char *differences = "";
	size_t length;
	char *text = read_file(path, &length);
	int code;

	if (text == NULL)
		return CUTEJIT_MISSING;
	code = (int)cutejit_layout_check(context, path, text, length,
	    &differences, &passed, &failed);
	free(text);
	if (differences != NULL)
		fputs(differences, stdout);
	if (code != 0)
		return common_status(c, context, (cutejit_status)code);
	printf("%llu passed, %llu failed\n", (unsigned long long)passed,
	    (unsigned long long)failed);
	return failed == 0 ? 0 : CUTEJIT_ERROR;
}

static int
evaluate(const struct common *c, cutejit_context *context, const char *text)
{
	const char *value = NULL;
	int code = common_status(c, context, cutejit_evaluate(context, NULL,
	    text, &value));

	if (code == 0)
		puts(value);
	return code;
}

int
cmd_layout(int argc, char **argv)
{
	static const struct option options[] = {
		COMMON_LONG,
		{ "check", required_argument, NULL, OPT_CHECK },
		{ NULL, 0, NULL, 0 }
	};
	const char *file = NULL;
	cutejit_context *context;
	struct common c;
	int o, code;

	common_init(&c, "layout");
	while ((o = getopt_long(argc, argv, COMMON_SHORT, options, NULL)) !=
	    -1) {
		if (o == OPT_CHECK) {
			file = optarg;
			continue;
		}
		code = common_take(&c, o, optarg);
		if (code != 0)
			return code < 0 ? 0 : code;
	}
	if ((file == NULL) != (argc - optind == 1))
		return usage_error("layout",
		    "one expression or --check FILE is needed");
	context = common_context(&c, &code);
	if (context == NULL)
		return code;
	code = file != NULL ? check(&c, context, file) :
	    evaluate(&c, context, argv[optind]);
	cutejit_context_destroy(context);
	return code;
}
