/*
 * The standard library: texts in the language itself, built into the program.
 *
 * The build turns each src/std/NAME.cute into one entry, sorted by name.
 * "prelude.cute" is in scope in every text; the others are imported as
 * "cute/NAME.cute".
 */
#ifndef CJ_STD_H
#define CJ_STD_H

#include <stddef.h>

struct cj_std_file {
	const char *name;	/* "prelude.cute" */
	const char *text;	/* terminated */
	size_t length;
};

extern const struct cj_std_file cj_std_files[];
extern const unsigned cj_std_count;

#endif
