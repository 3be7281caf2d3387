/*
 * What of the environment means nothing: words that are none of those there
 * are, numbers that are none, programs that cannot be run. None of it is used,
 * and whoever set it is told.
 */
#include "runtime.h"

#include <sys/stat.h>
#include <unistd.h>

enum kind { ONE, LIST, COUNT, PROGRAM };

static const struct variable {
	const char *name;
	enum kind kind;
	const char *words[6];	/* of ONE and LIST, in front of a colon */
} variables[] = {
	{ "CUTEJIT_CACHE", ONE, { "off", "memory", "readonly" } },
	{ "CUTEJIT_CACHE_BYTES", COUNT, { "bytes" } },
	{ "CUTEJIT_REMOTE_MODE", ONE, { "readonly" } },
	{ "CUTEJIT_REMOTE_TIMEOUT_MS", COUNT, { "milliseconds" } },
	{ "CUTEJIT_ASSEMBLER", ONE, { "ptxas", "nvjitlink", "driver" } },
	{ "CUTEJIT_PTXAS", PROGRAM, { NULL } },
	{ "CUTEJIT_WORKER", PROGRAM, { NULL } },
	{ "CUTEJIT_DUMP", LIST, { "ir", "host", "llvm", "ptx", "cubin" } },
};

bool
cj_is_count(const char *text, uint64_t *n)
{
	*n = 0;
	if (*text == '\0')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(*n, 10, n) ||
		    __builtin_add_overflow(*n, (uint64_t)(*text - '0'), n))
			return false;
	return *text == '\0' && *n != 0;
}

bool
cj_is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode)
	    && access(path, X_OK) == 0;
}

static bool
is_word(const struct variable *v, const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < CJ_LENGTH(v->words) && v->words[i] != NULL; i++)
		if (strlen(v->words[i]) == length
		    && memcmp(v->words[i], text, length) == 0)
			return true;
	return false;
}

static bool
are_words(const struct variable *v, const char *text)
{
	for (;;) {
		size_t length = strcspn(text, ",:");

		if (!is_word(v, text, length))
			return false;
		text += length;
		if (*text++ != ',')
			return true;
	}
}

static bool
means_something(const struct variable *v, const char *text)
{
	uint64_t n;

	switch (v->kind) {
	case ONE: return is_word(v, text, strlen(text));
	case LIST: return are_words(v, text);
	case COUNT: return cj_is_count(text, &n);
	case PROGRAM: return cj_is_program(text);
	}
	return false;
}

/* off, memory and readonly */
static const char *
all_words(struct cj_arena *a, const struct variable *v)
{
	struct cj_strbuf b;
	size_t i;

	cj_strbuf_init(&b, a);
	for (i = 0; i < CJ_LENGTH(v->words) && v->words[i] != NULL; i++)
		cj_strbuf_printf(&b, "%s%s", i == 0 ? "" :
		    i + 1 == CJ_LENGTH(v->words) || v->words[i + 1] == NULL ?
		    " and " : ", ", v->words[i]);
	return b.text;
}

static const char *
tell(struct cj_arena *a, const struct variable *v, const char *text)
{
	switch (v->kind) {
	case ONE:
		return v->words[1] == NULL ? cj_printf(a, "%s=%s is not %s",
		    v->name, text, v->words[0]) : cj_printf(a, "%s=%s is none "
		    "of %s", v->name, text, all_words(a, v));
	case LIST:
		return cj_printf(a, "%s=%s has words that are none of %s",
		    v->name, text, all_words(a, v));
	case COUNT:
		return cj_printf(a, "%s=%s is no number of %s", v->name, text,
		    v->words[0]);
	case PROGRAM:
		break;
	}
	return cj_printf(a, "%s=%s is no program", v->name, text);
}

const char *
cj_environment_ignored(struct cj_arena *a, unsigned *at)
{
	while (*at < CJ_LENGTH(variables)) {
		const struct variable *v = &variables[(*at)++];
		const char *text = cj_env(v->name);

		if (text != NULL && !means_something(v, text))
			return tell(a, v, text);
	}
	return NULL;
}
