/*
 * Libraries of others, opened at first use (library.h).
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "library.h"

static void *
open_first(const struct cj_library *l)
{
	const char *const *name;
	void *library = NULL;

	for (name = l->names; library == NULL && *name != NULL; name++)
		library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
	return library;
}

static const char *
fill(struct cj_library *l, void *library)
{
	size_t i;

	for (i = 0; i < l->count; i++) {
		void *symbol = dlsym(library, l->symbols[i].name);

		if (symbol == NULL) {
			snprintf(l->why, sizeof l->why, "%s lacks %s",
			    l->names[0], l->symbols[i].name);
			return l->why;
		}
		memcpy((char *)l->table + l->symbols[i].offset, &symbol,
		    sizeof symbol);
	}
	return l->start != NULL ? l->start() : NULL;
}

static const char *
open_locked(struct cj_library *l)
{
	void *library = open_first(l);
	const char *why;

	if (library == NULL) {
		snprintf(l->why, sizeof l->why, "%s is not there",
		    l->names[0]);
		return l->why;
	}
	why = fill(l, library);
	l->is_open = why == NULL;
	if (why != NULL)
		dlclose(library);
	return why;
}

const char *
cj_library_open(struct cj_library *l)
{
	const char *why = NULL;

	pthread_mutex_lock(&l->lock);
	if (!l->is_open)
		why = open_locked(l);
	pthread_mutex_unlock(&l->lock);
	return why;
}
