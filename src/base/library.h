/*
 * A library of others that is opened at first use: one per process, never
 * closed (library.c).
 */
#ifndef CJ_LIBRARY_H
#define CJ_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct cj_symbol {
	const char *name;
	size_t offset;			/* of its pointer in the table */
	bool is_optional;		/* NULL where the library lacks it */
};

struct cj_library {
	pthread_mutex_t lock;
	bool is_open;
	const char *const *names;	/* tried in order; NULL ends them */
	const char *variable;		/* of the environment: the one to be
					   tried instead; NULL: none is */
	const struct cj_symbol *symbols;
	size_t count;
	void *table;			/* of pointers, filled in */
	const char *(*start)(void);	/* NULL, or called once: why not */
	char why[256];
};

/* NULL: it is open and the table is filled; else why not. A failure is not
 * kept: the library may come later. */
const char *cj_library_open(struct cj_library *l);
bool cj_library_is_open(struct cj_library *l);

#endif
