/*
 * cutec cache: look after the compiled kernels on disk.
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cutec.h"

static const char *
when(int64_t seconds, char text[32])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (localtime_r(&t, &tm) == NULL ||
	    strftime(text, 32, "%Y-%m-%d %H:%M", &tm) == 0)
		strcpy(text, "?");
	return text;
}

static int
show_line(void *user, const cutejit_cache_entry *e)
{
	char used[32];

	(void)user;
	printf("%.16s %9llu  %s  %-8s %s", e->key,
	    (unsigned long long)e->bytes, when(e->used, used), e->target,
	    e->kernel);
	if (*e->binding != '\0')
		printf(" [%s]", e->binding);
	if (!e->is_good)
		printf("  DAMAGED: %s", e->why);
	putchar('\n');
	return 0;
}

static int
show_all(void *user, const cutejit_cache_entry *e)
{
	char made[32], used[32];

	(void)user;
	printf("key        %s\nfile       %s\nkernel     %s\nbinding    %s\n"
	    "target     %s\nassembler  %s\nproduct    %s\nbytes      %llu\n"
	    "made       %s\nused       %s\nstate      %s%s\n\n", e->key,
	    e->file,
	    e->kernel, e->binding, e->target, e->assembler, e->product,
	    (unsigned long long)e->bytes, when(e->made, made),
	    when(e->used, used), e->is_good ? "good" : "damaged: ",
	    e->is_good ? "" : e->why);
	return 0;
}

struct verdict {
	size_t good, bad;
};

static int
count_line(void *user, const cutejit_cache_entry *e)
{
	struct verdict *v = user;

	if (e->is_good) {
		v->good++;
		return 0;
	}
	v->bad++;
	return show_line(NULL, e);
}

static int
verify(const struct common *c, cutejit_context *context)
{
	struct verdict v = { 0, 0 };
	int code = common_status(c, context,
	    cutejit_cache_verify(context, count_line, &v));

	if (code != 0)
		return code;
	printf("%zu good, %zu damaged%s\n", v.good, v.bad, v.bad == 0 ? "" :
	    "; `cutec cache prune` removes what is damaged");
	return v.bad == 0 ? 0 : CUTEJIT_ERROR;
}

static int
stats(const struct common *c, cutejit_context *context)
{
	const char *folder = cutejit_cache_folder(context), *why;
	const char *remote = cutejit_cache_remote(context, &why);
	cutejit_cache_stats s;
	int code = common_status(c, context,
	    cutejit_cache_stats_get(context, &s));

	if (code != 0)
		return code;
	printf("folder   %s (%s)\nentries  %llu\nbytes    %llu of %llu\n",
	    folder != NULL ? folder : "none", cutejit_cache_why(context),
	    (unsigned long long)s.entries, (unsigned long long)s.bytes,
	    (unsigned long long)s.limit_bytes);
	if (remote != NULL || why != NULL)
		printf("remote   %s%s\n", remote != NULL ? remote : "none: ",
		    remote != NULL ? "" : why);
	return 0;
}

static int
prune(const struct common *c, cutejit_context *context, uint64_t max_bytes,
    uint64_t older_than)
{
	uint64_t entries = 0, bytes = 0;
	int code = common_status(c, context, cutejit_cache_prune(context,
	    max_bytes, older_than, &entries, &bytes));

	if (code == 0)
		printf("%llu entr%s removed, %llu bytes\n",
		    (unsigned long long)entries, entries == 1 ? "y" : "ies",
		    (unsigned long long)bytes);
	return code;
}

/* 10, 10d, 3h, 5m: seconds. */
static bool
parse_age(const char *text, uint64_t *out)
{
	static const char units[] = "smhd";
	static const unsigned seconds[] = { 1, 60, 3600, 86400 };
	size_t n = strlen(text);
	const char *u = n == 0 ? NULL : strchr(units, text[n - 1]);
	char number[32];

	if (u == NULL || *u == '\0')
		return parse_unsigned(text, out);
	if (n > sizeof number)
		return false;
	memcpy(number, text, n - 1);
	number[n - 1] = '\0';
	if (!parse_unsigned(number, out) || *out > UINT32_MAX)
		return false;
	*out *= seconds[u - units];
	return true;
}

static int
act(const struct common *c, cutejit_context *context, int argc, char **argv,
    uint64_t max_bytes, uint64_t older_than)
{
	const char *what = argc > 0 ? argv[0] : "ls";

	if (strcmp(what, "show") == 0 && argc == 2)
		return common_status(c, context, cutejit_cache_show(context,
		    argv[1], show_all, NULL));
	if (strcmp(what, "show") == 0)
		return usage_error("cache", argc == 1 ? "show needs the key of "
		    "an entry, or its beginning; ls lists them"
		    : "show takes one key");
	if (argc > 1)
		return usage_error("cache", "%s takes no arguments", what);
	if (strcmp(what, "ls") == 0)
		return common_status(c, context, cutejit_cache_list(context,
		    show_line, NULL));
	if (strcmp(what, "stats") == 0)
		return stats(c, context);
	if (strcmp(what, "verify") == 0)
		return verify(c, context);
	if (strcmp(what, "prune") == 0)
		return prune(c, context, max_bytes, older_than);
	return usage_error("cache", "there is no \"cutec cache %s\"; there are "
	    "ls, show, stats, verify and prune", what);
}

int
cmd_cache(int argc, char **argv)
{
	uint64_t max_bytes = UINT64_MAX, older_than = 0;
	cutejit_context *context;
	struct common c;
	int o, code;

	common_init(&c, "cache");
	while ((o = option_next("cache", argc, argv)) != -1) {
		if (o == OPT_MAX_BYTES) {
			if (!parse_unsigned(optarg, &max_bytes))
				return usage_error("cache", "--max-bytes "
				    "needs a number, not \"%s\"", optarg);
		} else if (o == OPT_OLDER_THAN) {
			if (!parse_age(optarg, &older_than))
				return usage_error("cache", "--older-than "
				    "needs seconds, or 5m, 3h, 10d, not "
				    "\"%s\"", optarg);
		} else {
			code = common_take(&c, o, optarg);
			return code < 0 ? 0 : code;
		}
	}
	/* a bare prune removes the damaged entries only */
	if (max_bytes == UINT64_MAX && older_than == 0)
		older_than = UINT64_MAX;
	context = common_context(&c, &code);
	if (context == NULL)
		return code;
	code = act(&c, context, argc - optind, argv + optind, max_bytes,
	    older_than);
	cutejit_context_destroy(context);
	return code;
}
