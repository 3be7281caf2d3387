/*
 * cutec completion bash|zsh: what a shell needs to complete our commands, made
 * of commands.def, options.def and the tables of words that values are from.
 */
#include <string.h>

#include "cutec.h"

static const struct command {
	const char *name, *operands, *purpose;
} commands[] = {
#define COMMAND(name, operands, synopsis, purpose)			\
	{ #name, operands, purpose },
#include "commands.def"
#undef COMMAND
};

enum { COMMANDS = sizeof commands / sizeof *commands };

/* ---- words that a value is one of ---------------------------------------- */

static const char *
target_at(size_t i)
{
	const cutejit_target *t = cutejit_target_at(i);

	return t != NULL ? t->name : NULL;
}

static const char *
check_at(size_t i)
{
	return i == 0 ? "all" : i == 1 ? "none" : cutejit_check_at(i - 2);
}

static const struct set {
	const char *argument;		/* begins with this */
	const char *(*at)(size_t i);
} sets[] = {
	{ "TARGET", target_at }, { "KIND", emit_kind_at },
	{ "CHECK", check_at }, { "CODE", cutejit_code_at }
};

static const char *
set_word_at(const char *argument, size_t i)
{
	size_t k;

	for (k = 0; k < sizeof sets / sizeof *sets; k++)
		if (strncmp(argument, sets[k].argument,
		    strlen(sets[k].argument)) == 0)
			return sets[k].at(i);
	return NULL;
}

/* The words of an argument with blanks between; how many. */
static size_t
print_words(const char *argument)
{
	const struct cutec_option o = { .argument = argument };
	size_t length, n = 0, i;
	const char *word;

	if (option_choices(&o, &length)) {
		for (i = 0; (word = option_choice(argument, length, i, &n))
		    != NULL; i++)
			printf("%s%.*s", i == 0 ? "" : " ", (int)n, word);
		return i;
	}
	for (i = 0; (word = set_word_at(argument, i)) != NULL; i++)
		printf("%s%s", i == 0 ? "" : " ", word);
	return i;
}

static bool
ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* How a shell completes an argument. */
enum way { WORDS, LIST, FILES, FOLDERS, NOTHING };

static enum way
way_of(const char *argument)
{
	const struct cutec_option o = { .argument = argument };
	size_t length;

	if (strcmp(argument, "FILE") == 0 || strcmp(argument, "OUT") == 0)
		return FILES;
	if (strcmp(argument, "DIR") == 0)
		return FOLDERS;
	if (ends_in(argument, ",..."))
		return LIST;
	return option_choices(&o, &length) || set_word_at(argument, 0) != NULL
	    ? WORDS : NOTHING;
}

/* ---- bash ---------------------------------------------------------------- */

/* What begins with the word that is being written. */
static void
print_bash_way(const char *argument)
{
	switch (way_of(argument)) {
	case WORDS: case LIST:
		printf("_cutec_words \"$value\" \"");
		print_words(argument);
		printf("\"");
		break;
	case FILES:
		printf("_cutec_files \"$value\"");
		break;
	case FOLDERS:
		printf("_cutec_files -d \"$value\"");
		break;
	case NOTHING:
		printf(":");
		break;
	}
}

/* Option names; words that stand at a letter are part of the name. */
static void
print_bash_names(const struct cutec_option *o)
{
	size_t length, n, i;
	const char *word;

	if (o->word != NULL) {
		printf("--%s%s ", o->word, o->argument != NULL ? "=" : "");
		return;
	}
	if (!option_choices(o, &length)) {
		printf("-%c ", o->code);
		return;
	}
	for (i = 0; (word = option_choice(o->argument, length, i, &n)) != NULL;
	    i++)
		printf("-%c%.*s ", o->code, (int)n, word);
}

static void
print_bash_command(const struct command *c)
{
	const struct cutec_option *o;
	size_t i, length;

	printf("\t%s)\n\t\tcase $option in\n", c->name);
	for (i = 0; (o = option_at(c->name, i)) != NULL; i++) {
		if (o->argument == NULL || (o->word == NULL
		    && option_choices(o, &length)))
			continue;
		if (o->word != NULL)
			printf("\t\t--%s) ", o->word);
		else
			printf("\t\t-%c) ", o->code);
		print_bash_way(o->argument);
		printf("; return ;;\n");
	}
	printf("\t\tesac\n\t\tcase $value in\n\t\t-*) _cutec_words \"$value\" "
	    "\"");
	for (i = 0; (o = option_at(c->name, i)) != NULL; i++)
		print_bash_names(o);
	printf("\" ;;\n\t\t*) ");
	print_bash_way(c->operands);
	printf(" ;;\n\t\tesac ;;\n");
}

/* Bash cuts words at '=' too: "--device=c" is "--device", "=" and "c". A list
 * is completed behind its last comma. */
static const char bash_head[] =
"# Completion of cutec in bash: source this, or install it as \"cutec\" among\n"
"# bash-completion's. Made by `cutec completion bash`.\n"
"\n"
"# Of the words in $2, those that the last item of $1 begins.\n"
"_cutec_words()\n"
"{\n"
"\tlocal front= last=$1\n"
"\tcase $1 in *,*) front=${1%,*}, last=${1##*,} ;; esac\n"
"\tCOMPREPLY=($(compgen -P \"$front\" -W \"$2\" -- \"$last\"))\n"
"\tcase ${COMPREPLY[0]-} in *=) compopt -o nospace ;; esac\n"
"}\n"
"\n"
"_cutec_files()\n"
"{\n"
"\tlocal only=-f\n"
"\tif [ \"$1\" = -d ]; then only=-d; shift; fi\n"
"\tcompopt -o filenames\n"
"\tmapfile -t COMPREPLY < <(compgen $only -- \"$1\")\n"
"}\n"
"\n"
"_cutec()\n"
"{\n"
"\tlocal value=${COMP_WORDS[COMP_CWORD]} option=\n"
"\tCOMPREPLY=()\n"
"\tif [ \"$value\" = = ]; then\n"
"\t\toption=${COMP_WORDS[COMP_CWORD-1]} value=\n"
"\telif [ \"${COMP_WORDS[COMP_CWORD-1]}\" = = ]; then\n"
"\t\toption=${COMP_WORDS[COMP_CWORD-2]}\n"
"\telse\n"
"\t\toption=${COMP_WORDS[COMP_CWORD-1]}\n"
"\tfi\n"
"\tif [ \"$COMP_CWORD\" = 1 ]; then\n";

static void
print_bash(void)
{
	size_t i;

	printf("%s\t\t_cutec_words \"$value\" \"", bash_head);
	for (i = 0; i < COMMANDS; i++)
		printf("%s ", commands[i].name);
	printf("--help --version\"\n\t\treturn\n\tfi\n"
	    "\tcase ${COMP_WORDS[1]} in\n");
	for (i = 0; i < COMMANDS; i++)
		print_bash_command(&commands[i]);
	printf("\tesac\n}\n\ncomplete -F _cutec cutec\n");
}

/* ---- zsh ----------------------------------------------------------------- */

/* Text inside '...[here]': no quotes or brackets of ours are in it. */
static void
print_zsh_text(const char *text)
{
	for (; *text != '\0'; text++) {
		if (strchr("[]:\\", *text) != NULL)
			putchar('\\');
		if (*text == '\'')
			printf("'\\'");
		putchar(*text);
	}
}

/* ":what:how" */
static void
print_zsh_way(const char *argument)
{
	printf(":");
	print_zsh_text(argument);
	printf(":");
	switch (way_of(argument)) {
	case WORDS:
		printf("(");
		print_words(argument);
		printf(")");
		break;
	case LIST:
		printf("_sequence compadd - ");
		print_words(argument);
		break;
	case FILES:
		printf("_files");
		break;
	case FOLDERS:
		printf("_files -/");
		break;
	case NOTHING:
		printf(" ");
		break;
	}
}

/* '-O-[...]' has its value at the letter, '-k+[...]' at it or next; a long one
 * '--json=[...]' behind '='. */
static void
print_zsh_option(const struct cutec_option *o, bool is_word)
{
	size_t length;

	if (is_word)
		printf(" \\\n\t\t    '*--%s%s[", o->word, o->argument != NULL ?
		    "=" : "");
	else
		printf(" \\\n\t\t    '*-%c%s[", o->code, o->argument == NULL ?
		    "" : option_choices(o, &length) ? "-" : "+");
	print_zsh_text(o->purpose);
	printf("]");
	if (o->argument != NULL)
		print_zsh_way(o->argument);
	printf("'");
}

static void
print_zsh_command(const struct command *c)
{
	const struct cutec_option *o;
	size_t i;

	printf("\t%s)\n\t\t_arguments -s", c->name);
	for (i = 0; (o = option_at(c->name, i)) != NULL; i++) {
		if (o->code < OPT_FIRST)
			print_zsh_option(o, false);
		if (o->word != NULL)
			print_zsh_option(o, true);
	}
	if (c->operands[0] != '\0') {
		printf(" \\\n\t\t    '*");
		print_zsh_way(c->operands);
		printf("'");
	}
	printf(" ;;\n");
}

static void
print_zsh(void)
{
	size_t i;

	printf("#compdef cutec\n"
	    "# Completion of cutec in zsh: install it as \"_cutec\" in a "
	    "folder of $fpath.\n"
	    "# Made by `cutec completion zsh`.\n\n"
	    "_cutec()\n{\n\tlocal -a commands\n\tcommands=(\n");
	for (i = 0; i < COMMANDS; i++) {
		printf("\t    '%s:", commands[i].name);
		print_zsh_text(commands[i].purpose);
		printf("'\n");
	}
	printf("\t)\n\tif (( CURRENT == 2 )); then\n"
	    "\t\t_describe command commands\n\t\treturn\n\tfi\n"
	    "\tshift words\n\t(( CURRENT-- ))\n\tcase $words[1] in\n");
	for (i = 0; i < COMMANDS; i++)
		print_zsh_command(&commands[i]);
	printf("\tesac\n}\n\n_cutec \"$@\"\n");
}

/* ---- the command --------------------------------------------------------- */

int
cmd_completion(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "bash") == 0)
		print_bash();
	else if (argc == 2 && strcmp(argv[1], "zsh") == 0)
		print_zsh();
	else
		return usage_error("completion", "a shell is needed: bash or "
		    "zsh");
	return 0;
}
