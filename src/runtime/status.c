/*
 * What the library is and knows without a context: statuses, codes, targets,
 * passes, checks, element types.
 */
#include <stdlib.h>

#include "runtime.h"
#include "version.h"

const char *
cutejit_version(void)
{
	return CJ_VERSION;
}

const char *
cutejit_build(void)
{
	return CJ_BUILD;
}

const char *
cutejit_generator(void)
{
	return cj_codegen_version();
}

const char *
cutejit_status_text(cutejit_status status)
{
	switch (status) {
	case CUTEJIT_OK:
		return "done";
	case CUTEJIT_ERROR:
		return "the text or the data is wrong";
	case CUTEJIT_USAGE:
		return "the interface was used in a wrong way";
	case CUTEJIT_MISSING:
		return "something that is needed is missing";
	case CUTEJIT_LIMIT:
		return "out of time or memory";
	case CUTEJIT_INTERNAL:
		return "a fault of the library";
	}
	return "no status of this library";
}

const char *
cutejit_explain(const char *code)
{
	enum cj_code found;

	if (code == NULL)
		return NULL;
	found = cj_code_find(code);
	return found != CJ_DIAG_NONE ? cj_code_explanation(found) : NULL;
}

const char *
cutejit_code_at(size_t i)
{
	if (i >= CJ_DIAG_COUNT - CJ_DIAG_NONE - 1)
		return NULL;
	return cj_code_text((enum cj_code)(i + CJ_DIAG_NONE + 1));
}

static const cutejit_target targets[] = {
#define TARGET(name, number, ptx, suffix, threads, blocks, shared, registers, \
    family)								\
	{ name, number, ptx, shared, threads, registers },
#include "ir/target.def"
#undef TARGET
};

const cutejit_target *
cutejit_target_at(size_t i)
{
	return i < CJ_LENGTH(targets) ? &targets[i] : NULL;
}

const char *
cutejit_pass_at(size_t i)
{
	return i < cj_pass_count ? cj_passes[i].name : NULL;
}

static const char *const checks[] = { "bounds", "written", "race", "barrier" };
static_assert((1 << CJ_LENGTH(checks)) - 1 == CUTEJIT_CHECK_ALL,
    "every check has a name");
static_assert((int)CJ_CHECK_BOUNDS == (int)CUTEJIT_CHECK_BOUNDS
    && (int)CJ_CHECK_WRITTEN == (int)CUTEJIT_CHECK_WRITTEN
    && (int)CJ_CHECK_RACE == (int)CUTEJIT_CHECK_RACE
    && (int)CJ_CHECK_BARRIER == (int)CUTEJIT_CHECK_BARRIER,
    "the executor's checks are the interface's");

const char *
cutejit_check_at(size_t i)
{
	return i < CJ_LENGTH(checks) ? checks[i] : NULL;
}

const char *
cj_env(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}
