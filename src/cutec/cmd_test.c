/*
 * cutec test: run the tests of files, on the executor and on a GPU if there is
 * one.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cutec.h"

struct tally {
	const struct common *c;
	const char *file;
	size_t count[3];		/* by outcome */
	bool colour;
	json_t *evidence;		/* NULL: not wanted */
	char *said;			/* the newest report shown, or NULL */
};

static const char *const words[] = { "pass", "FAIL", "skip" };
static const char *const colours[] = { "\033[32m", "\033[1;31m", "\033[33m" };

static const char *
device_word(cutejit_device d)
{
	return d == CUTEJIT_DEVICE_GPU ? "gpu" : "cpu";
}

/* A mistake in the text of a test is told once, not for each combination. */
static void
show_once(struct tally *t, const cutejit_report *report)
{
	const char *text;

	if (cutejit_report_count(report) == 0)
		return;
	text = cutejit_report_text(report, 0);
	if (t->c->form == REPORT_TEXT && t->said != NULL &&
	    strcmp(t->said, text) == 0)
		return;
	free(t->said);
	t->said = strdup(text);
	show_report(report, t->c->form);
}

static int
show(void *user, const cutejit_test_result *r)
{
	struct tally *t = user;

	t->count[r->outcome]++;
	printf("%s%s%s %s: %s (%s, %.1f ms)\n",
	    t->colour ? colours[r->outcome] : "", words[r->outcome],
	    t->colour ? "\033[0m" : "", t->file, r->name,
	    device_word(r->device), r->ms);
	if (r->outcome != CUTEJIT_PASSED && *r->text != '\0')
		printf("%s%s", r->text,
		    r->text[strlen(r->text) - 1] == '\n' ? "" : "\n");
	show_once(t, r->report);
	if (t->evidence != NULL)
		json_array_append_new(t->evidence, json_pack(
		    "{s:s, s:s, s:s, s:s, s:s, s:f}", "file", t->file, "name",
		    r->name, "device", device_word(r->device), "outcome",
		    words[r->outcome], "text", r->text, "ms", r->ms));
	return 0;
}

static int
run_module(const struct common *c, cutejit_context *context,
    cutejit_module *m, const char *path, void *user)
{
	struct tally *t = user;
	const cutejit_test *test;
	int code, worst = 0;
	size_t i;

	t->file = path;
	for (i = 0; (test = cutejit_module_test(m, i)) != NULL; i++) {
		if (test->is_bench)
			continue;
		/* each result has shown its own report */
		code = (int)cutejit_test_run(m, i, &c->run, show, t);
		if (code != 0)
			worst = common_status(c, context,
			    (cutejit_status)code);
	}
	return worst;
}

static int
run_all(const struct common *c, char **files, int count, struct tally *t)
{
	int code = common_modules(c, files, count, run_module, t);

	free(t->said);
	printf("%zu passed, %zu failed, %zu skipped\n",
	    t->count[CUTEJIT_PASSED], t->count[CUTEJIT_FAILED],
	    t->count[CUTEJIT_SKIPPED]);
	if (t->count[CUTEJIT_PASSED] + t->count[CUTEJIT_FAILED]
	    + t->count[CUTEJIT_SKIPPED] == 0)
		return common_found(c, "test", code);
	return code != 0 ? code
	    : t->count[CUTEJIT_FAILED] != 0 ? CUTEJIT_ERROR : 0;
}

int
cmd_test(int argc, char **argv)
{
	const char *evidence = NULL;
	struct tally t = { 0 };
	struct common c;
	int o, code;

	common_init(&c, "test");
	while ((o = option_next("test", argc, argv)) != -1) {
		if (o == OPT_EVIDENCE) {
			evidence = optarg;
			continue;
		}
		if (o == OPT_DIGESTS) {
			c.run.digests = 1;
			continue;
		}
		if (o == OPT_LAUNCHES) {
			c.run.tells = 1;
			continue;
		}
		code = common_take(&c, o, optarg);
		if (code != 0)
			return code < 0 ? 0 : code;
	}
	if (optind == argc)
		return usage_error("test", "a file is needed");
	t.c = &c;
	t.colour = wants_colour(stdout);
	t.evidence = evidence != NULL ? json_array() : NULL;
	code = run_all(&c, argv + optind, argc - optind, &t);
	if (evidence != NULL && !write_json(evidence, "tests", t.evidence))
		code = code != 0 ? code : CUTEJIT_MISSING;
	json_decref(t.evidence);
	return code;
}
