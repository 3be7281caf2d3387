/*
 * Options as options.def has them: read from a command line, shown by --help.
 */
#include <getopt.h>
#include <string.h>

#include "cutec.h"

enum {
#define COMMAND(name, operands, synopsis, purpose) INDEX_##name,
#include "commands.def"
#undef COMMAND
	COMMAND_COUNT
};

#define FOR(command)	(1u << INDEX_##command)
#define EXECUTED	(FOR(run) | FOR(test) | FOR(bench))
#define COMPILED	(FOR(compile) | EXECUTED | FOR(tune))
#define READ		(COMPILED | FOR(layout))
#define ALL		(~0u)

static const char *const commands[] = {
#define COMMAND(name, operands, synopsis, purpose) #name,
#include "commands.def"
#undef COMMAND
};

static const struct row {
	unsigned commands;
	struct cutec_option option;
} rows[] = {
#define OPTION(commands, code, word, argument, purpose)			\
	{ commands, { code, word, argument, purpose } },
#include "options.def"
#undef OPTION
};

enum { ROWS = sizeof rows / sizeof *rows, NAME_COLUMN = 28 };

static unsigned
bit_of(const char *command)
{
	unsigned i;

	for (i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(commands[i], command) == 0)
			return 1u << i;
	return 0;
}

const struct cutec_option *
option_at(const char *command, size_t i)
{
	unsigned bit = bit_of(command);
	size_t k;

	for (k = 0; k < ROWS; k++)
		if ((rows[k].commands & bit) != 0 && i-- == 0)
			return &rows[k].option;
	return NULL;
}

bool
option_choices(const struct cutec_option *o, size_t *length)
{
	const char *a = o->argument;

	*length = a != NULL ? strcspn(a, "[") : 0;
	return a != NULL && (strchr(a, '|') != NULL ||
	    strcspn(a, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") >= *length);
}

const char *
option_choice(const char *choices, size_t length, size_t i, size_t *n)
{
	const char *end = choices + length;

	for (;; choices += *n + 1) {
		*n = strcspn(choices, "|[");
		if (i-- == 0 || choices + *n >= end)
			break;
	}
	return i == SIZE_MAX ? choices : NULL;
}

/* ---- what is shown ------------------------------------------------------- */

/* "-k KERNEL", "-O0|1|2|3", "-g, --lineinfo", "--json=FILE" */
static int
print_name(const struct cutec_option *o)
{
	size_t length;
	bool is_choice = option_choices(o, &length);
	int n = 0;

	if (o->code < OPT_FIRST)
		n = printf("-%c%s", o->code, o->word != NULL ? ", " : "");
	if (o->word != NULL)
		n += printf("--%s", o->word);
	if (o->argument == NULL)
		return n;
	return n + printf("%s%s", o->word != NULL ? "=" : is_choice ? "" :
	    " ", o->argument);
}

void
show_options(const char *command)
{
	const struct cutec_option *o;
	size_t i;
	int n;

	for (i = 0; (o = option_at(command, i)) != NULL; i++) {
		printf("  ");
		n = 2 + print_name(o);
		if (n > NAME_COLUMN - 2) {
			putchar('\n');
			n = 0;
		}
		printf("%*s%s\n", NAME_COLUMN - n, "", o->purpose);
	}
}

/* ---- what is wrong ------------------------------------------------------- */

/* "--json" or "-k", in a buffer that holds any. */
static const char *
name_of(const struct cutec_option *o, char name[32])
{
	if (o->word != NULL)
		snprintf(name, 32, "--%s", o->word);
	else
		snprintf(name, 32, "-%c", o->code);
	return name;
}

/* Does `given`, with its dashes and up to a '=', name the option? */
static bool
is_named(const struct cutec_option *o, const char *given)
{
	size_t n = strcspn(given, "=");

	if (given[0] != '-')
		return false;
	if (given[1] != '-')
		return o->code < OPT_FIRST && given[1] == o->code;
	return o->word != NULL && strlen(o->word) == n - 2
	    && memcmp(given + 2, o->word, n - 2) == 0;
}

/* "run, test" have an option of this name. */
static bool
find_others(const char *given, char *text, size_t size)
{
	unsigned i, bits = 0;
	size_t k, n = 0;

	for (k = 0; k < ROWS; k++)
		if (is_named(&rows[k].option, given))
			bits |= rows[k].commands;
	for (i = 0; i < COMMAND_COUNT && n < size; i++)
		if ((bits & 1u << i) != 0)
			n += (size_t)snprintf(text + n, size - n, "%s%s",
			    n != 0 ? ", " : "", commands[i]);
	return n != 0;
}

/* Do words of the command begin as the word that is given? */
static bool
is_short(const char *command, const char *given)
{
	const struct cutec_option *o;
	size_t i, n = strcspn(given, "=");

	for (i = 0; (o = option_at(command, i)) != NULL; i++)
		if (n > 2 && o->word != NULL
		    && strncmp(o->word, given + 2, n - 2) == 0)
			return true;
	return false;
}

static void
complain_unknown(const char *command, const char *given)
{
	char others[80];
	int n = given[1] != '-' ? 2 : (int)strcspn(given, "=");

	if (find_others(given, others, sizeof others))
		usage_error(command, "%.*s is no option of %s, but of: %s", n,
		    given, command, others);
	else
		usage_error(command, is_short(command, given) ?
		    "%.*s is short for several options" :
		    "there is no option %.*s", n, given);
}

static const struct cutec_option *
find(const char *command, int code)
{
	const struct cutec_option *o;
	size_t i;

	for (i = 0; (o = option_at(command, i)) != NULL; i++)
		if (o->code == code)
			break;
	return o;
}

/* getopt_long() said '?' or ':' of an option. */
static void
complain_of(const char *command, int code, const char *last)
{
	const struct cutec_option *o = find(command, optopt);
	char name[32], given[3] = { '-', (char)optopt, '\0' };

	if (o == NULL) {
		complain_unknown(command, optopt != 0 ? given : last);
		return;
	}
	name_of(o, name);
	if (code == ':')
		usage_error(command, "%s needs a value: %s%s%s", name, name,
		    o->word != NULL ? "=" : " ", o->argument);
	else
		usage_error(command, "%s takes no value", name);
}

/* ---- one of several words ------------------------------------------------ */

static bool
is_choice(const struct cutec_option *o, const char *value)
{
	size_t length, n, i, given = strcspn(value, "=");
	const char *word;

	if (!option_choices(o, &length))
		return true;
	if (o->argument[length] == '\0')
		given = strlen(value);
	for (i = 0; (word = option_choice(o->argument, length, i, &n)) != NULL;
	    i++)
		if (n == given && memcmp(word, value, n) == 0)
			return true;
	return false;
}

static void
complain_value(const char *command, const struct cutec_option *o,
    const char *value)
{
	size_t length, n, i, at = 0;
	const char *word;
	char known[120], name[32];

	option_choices(o, &length);
	for (i = 0; (word = option_choice(o->argument, length, i, &n)) != NULL
	    && at < sizeof known; i++)
		at += (size_t)snprintf(known + at, sizeof known - at, "%s%.*s",
		    i == 0 ? "" : word + n == o->argument + length ? " or " :
		    ", ", (int)n, word);
	usage_error(command, "%s is %s%s, not \"%s\"", name_of(o, name), known,
	    o->argument[length] == '\0' ? "" :
	    ", perhaps with =FILE behind it", value);
}

/* ---- reading ------------------------------------------------------------- */

int
option_next(const char *command, int argc, char **argv)
{
	struct option words[ROWS + 1] = { { 0 } };
	char letters[2 * ROWS + 2] = ":";
	const struct cutec_option *o;
	size_t i, n = 1, w = 0;
	int code;

	for (i = 0; (o = option_at(command, i)) != NULL; i++) {
		if (o->code < OPT_FIRST)
			letters[n++] = (char)o->code;
		if (o->code < OPT_FIRST && o->argument != NULL)
			letters[n++] = ':';
		if (o->word != NULL)
			words[w++] = (struct option){ o->word,
			    o->argument != NULL, NULL, o->code };
	}
	opterr = 0;
	code = getopt_long(argc, argv, letters, words, NULL);
	if (code == -1)
		return -1;
	if (code == '?' || code == ':') {
		complain_of(command, code, argv[optind - 1]);
		return '?';
	}
	o = find(command, code);
	if (is_choice(o, optarg != NULL ? optarg : ""))
		return code;
	complain_value(command, o, optarg);
	return '?';
}
