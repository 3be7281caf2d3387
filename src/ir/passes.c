/*
 * The runner of passes: each in order of passes.def, the verifier after each.
 */
#include "ir_priv.h"

const struct cj_pass cj_passes[] = {
#define PASS(name, text) { #name, cj_opt_##name },
#include "passes.def"
#undef PASS
};

const unsigned cj_pass_count = CJ_LENGTH(cj_passes);

void
cj_passes_run(struct cj_module *m, struct cj_recover *recover,
    cj_pass_hook *hook, void *user)
{
	const char *wrong = cj_module_verify(m);
	unsigned i;

	if (wrong != NULL)
		cj_bug(recover, "before all passes: %s", wrong);
	for (i = 0; i < cj_pass_count; i++) {
		cj_poll(recover);
		cj_passes[i].run(m);
		wrong = cj_module_verify(m);
		if (wrong != NULL)
			cj_bug(recover, "after %s: %s", cj_passes[i].name,
			    wrong);
		if (hook != NULL)
			hook(user, &cj_passes[i], m);
	}
}
