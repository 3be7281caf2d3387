/*
 * Libraries of others, opened at first use (library.h).
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

/* What was opened last, or tried, is left in *name. */
static void *
open_first(const struct cj_library *l, const char **name)
{
	const char *named = l->variable != NULL ? getenv(l->variable) : NULL;
	const char *const *at;
	void *library = NULL;

	if (named != NULL && named[0] != '\0') {
		*name = named;
		return dlopen(named, RTLD_NOW | RTLD_LOCAL);
	}
	for (at = l->names; library == NULL && *at != NULL; at++) {
		*name = *at;
		library = dlopen(*at, RTLD_NOW | RTLD_LOCAL);
	}
	return library;
}

/* Of a library that is there and cannot be loaded the loader says why; it may
 * be another one that is missing. */
static void
say_why(struct cj_library *l, const char *name)
{
	const char *error = dlerror();
	size_t length = strlen(name);

	if (error != NULL && strncmp(error, name, length) == 0 &&
	    strncmp(error + length, ": ", 2) == 0) {
		error += length + 2;
		if (strstr(error, "No such file") != NULL)
			error = NULL;
	}
	if (error == NULL)
		snprintf(l->why, sizeof l->why, "%s is not there", name);
	else
		snprintf(l->why, sizeof l->why, "%s cannot be loaded: %s",
		    name, error);
}

static const char *
fill(struct cj_library *l, const char *name, void *library)
{
	size_t i;

	for (i = 0; i < l->count; i++) {
		void *symbol = dlsym(library, l->symbols[i].name);

		if (symbol == NULL && !l->symbols[i].is_optional) {
			snprintf(l->why, sizeof l->why, "%s lacks %s",
			    name, l->symbols[i].name);
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
	const char *name = l->names[0], *why;
	void *library = open_first(l, &name);

	if (library == NULL) {
		say_why(l, name);
		return l->why;
	}
	why = fill(l, name, library);
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

bool
cj_library_is_open(struct cj_library *l)
{
	bool is_open;

	pthread_mutex_lock(&l->lock);
	is_open = l->is_open;
	pthread_mutex_unlock(&l->lock);
	return is_open;
}
