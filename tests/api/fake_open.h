/*
 * The driver that plays GPUs, opened by a test: its state, its functions, what
 * its last launch was given.
 */
#ifndef FAKE_OPEN_H
#define FAKE_OPEN_H

#include "test.h"

#include <dlfcn.h>

#include "fake_cuda.h"

static struct fake_state *fake;

/* The function `name` of the driver into the pointer at `slot`. */
static inline void
fake_find(const char *name, void *slot)
{
	static void *library;
	void *found;

	if (library == NULL)
		library = dlopen(FAKE_CUDA, RTLD_NOW);
	CHECK(library != NULL);
	found = dlsym(library, name);
	CHECK(found != NULL);
	memcpy(slot, &found, sizeof found);
}

/* It is the driver, and the assembler, of this process from now on. */
static inline void
fake_open(void)
{
	fake_cuda_state_fn *state;

	setenv("CUTEJIT_LIBCUDA", FAKE_CUDA, 1);
	setenv("CUTEJIT_ASSEMBLER", "driver", 1);
	fake_find("fake_cuda_state", &state);
	fake = state();
}

static inline int
has_param(uint64_t value)
{
	unsigned i;

	for (i = 0; i < fake->last.param_count; i++)
		if (fake->last.params[i] == value)
			return 1;
	return 0;
}

/* A parameter of f32, as a launch is given it. */
static inline uint64_t
bits_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

#endif
