/*
 * Targets: the rows of target.def and the questions asked of them.
 */
#include "target.h"

const struct cj_target cj_targets[] = {
#define TARGET(name, number, ptx, suffix, threads, blocks, shared, registers, \
    family) { name, number, ptx, suffix, threads, blocks, shared, registers, \
    family },
#include "target.def"
#undef TARGET
};

const unsigned cj_target_count = CJ_LENGTH(cj_targets);

const struct cj_target *
cj_target_find(const char *name)
{
	unsigned i;

	for (i = 0; i < cj_target_count; i++)
		if (strcmp(cj_targets[i].name, name) == 0)
			return &cj_targets[i];
	return NULL;
}

/*
 * A plain target runs on its own chip and later ones, an "a" target only on
 * its own chip, an "f" target on the chips of its family from it on. The best
 * is the one with the highest number; of equals the more special one.
 */
const struct cj_target *
cj_target_for_chip(int major, int minor)
{
	const struct cj_target *best = NULL;
	int chip = major * 10 + minor;
	unsigned i;

	for (i = 0; i < cj_target_count; i++) {
		const struct cj_target *t = &cj_targets[i];
		bool runs;

		switch (t->suffix[0]) {
		case 'a':
			runs = t->number == chip;
			break;
		case 'f':
			runs = t->number <= chip &&
			    t->number / 10 == chip / 10;
			break;
		default:
			runs = t->number <= chip;
			break;
		}
		if (runs && (best == NULL || t->number > best->number ||
		    (t->number == best->number && t->suffix[0] != '\0')))
			best = t;
	}
	return best;
}

/* "sm_90a" is 90 and 'a'; false for anything else. */
static bool
parse(const char *text, int *number, char *suffix)
{
	int digits;

	if (strncmp(text, "sm_", 3) != 0)
		return false;
	*number = 0;
	for (digits = 0; digits < 4 && text[3 + digits] >= '0' &&
	    text[3 + digits] <= '9'; digits++)
		*number = *number * 10 + (text[3 + digits] - '0');
	*suffix = text[3 + digits];
	if (digits < 2)
		return false;
	return *suffix == '\0' || ((*suffix == 'a' || *suffix == 'f') &&
	    text[4 + digits] == '\0');
}

bool
cj_target_serves(const struct cj_target *target, const char *needs)
{
	int number;
	char suffix;

	if (!parse(needs, &number, &suffix))
		return false;
	switch (suffix) {
	case 'a':
		return target->number == number && target->suffix[0] == 'a';
	case 'f':
		return target->number >= number &&
		    target->number / 10 == number / 10 &&
		    target->suffix[0] != '\0';
	default:
		return target->number >= number;
	}
}

bool
cj_target_multicasts(const struct cj_target *target)
{
	return strcmp(target->suffix, "a") == 0 && (target->family == 90 ||
	    target->family == 100);
}
