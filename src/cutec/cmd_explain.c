/*
 * cutec explain CODE: what a message means, with a wrong and a right program.
 */
#include "cutec.h"

static int
list_codes(void)
{
	const char *code;
	size_t i;

	for (i = 0; (code = cutejit_code_at(i)) != NULL; i++)
		puts(code);
	return 0;
}

int
cmd_explain(int argc, char **argv)
{
	const char *text;

	if (argc == 1)
		return list_codes();
	if (argc != 2)
		return usage_error("explain", "one code is needed");
	text = cutejit_explain(argv[1]);
	if (text == NULL)
		return usage_error("explain", "there is no code \"%s\"; "
		    "`cutec explain` lists them", argv[1]);
	fputs(text, stdout);
	return 0;
}
