/*
 * The runner of passes: each in order of passes.def, the verifier after each
 * where assertions are on, else after all.
 */
#include "ir_priv.h"

const struct cj_pass cj_passes[] = {
#define PASS(name, text) { #name, cj_opt_##name },
#include "passes.def"
#undef PASS
};

const unsigned cj_pass_count = CJ_LENGTH(cj_passes);

#ifdef NDEBUG
enum { EACH = 0 };
#else
enum { EACH = 1 };
#endif

static void
verify(struct cj_module *m, struct cj_recover *recover, const char *when,
    const char *pass)
{
	const char *wrong = cj_module_verify(m);

	if (wrong != NULL)
		cj_bug(recover, "%s %s: %s", when, pass, wrong);
}

void
cj_passes_run(struct cj_module *m, struct cj_recover *recover,
    cj_pass_hook *hook, void *user)
{
	unsigned i;

	if (EACH)
		verify(m, recover, "before", "all passes");
	for (i = 0; i < cj_pass_count; i++) {
		cj_poll(recover);
		cj_passes[i].run(m);
		if (EACH || i + 1 == cj_pass_count)
			verify(m, recover, "after", cj_passes[i].name);
		if (hook != NULL)
			hook(user, &cj_passes[i], m);
	}
}
