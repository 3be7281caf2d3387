/*
 * Stages of a compile as texts (artifact.c).
 */
#ifndef CJ_ARTIFACT_H
#define CJ_ARTIFACT_H

#include "runtime.h"

struct cj_artifact {
	const char *kind;
	const void *bytes;
	size_t length;
	struct cj_artifact *next;
};

#endif
