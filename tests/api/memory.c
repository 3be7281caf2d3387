/*
 * An allocator that fails: at every call in turn. The library says so, leaks
 * nothing, and works afterwards.
 */
#include "test.h"

struct heap {
	long left;			/* calls until one fails; < 0: never */
	long live;			/* blocks */
	long calls;
};

static void *
allocate(void *user, size_t bytes)
{
	struct heap *h = user;
	void *p;

	h->calls++;
	if (h->left == 0)
		return NULL;
	if (h->left > 0)
		h->left--;
	p = malloc(bytes);
	if (p != NULL)
		h->live++;
	return p;
}

static void
release(void *user, void *memory)
{
	struct heap *h = user;

	if (memory != NULL)
		h->live--;
	free(memory);
}

/* Everything once; the first status that is not CUTEJIT_OK ends it. */
static cutejit_status
all(cutejit_context *c)
{
	cutejit_compile_options o = CUTEJIT_COMPILE_OPTIONS_INIT;
	cutejit_module *m = NULL;
	cutejit_kernel *k = NULL;
	cutejit_launch *l = NULL;
	float x[16] = { 1 }, y[16] = { 2 };
	struct vector vx, vy;
	cutejit_argument args[3];
	cutejit_status status;
	const void *ptx;

	args[0] = cutejit_arg_float("a", 2);
	args[1] = cutejit_arg_tensor("x", vector_set(&vx, x, 16,
	    CUTEJIT_DL_CPU));
	args[2] = cutejit_arg_tensor("y", vector_set(&vy, y, 16,
	    CUTEJIT_DL_CPU));
	o.until = CUTEJIT_UNTIL_PTX;
	status = cutejit_module_from_memory(c, "m.cute", saxpy_text,
	    strlen(saxpy_text), &m);
	if (status == CUTEJIT_OK)
		status = cutejit_compile(m, "saxpy", &o, &k);
	if (status == CUTEJIT_OK)
		status = cutejit_kernel_artifact(k, "ptx", &ptx, NULL);
	if (status == CUTEJIT_OK)
		status = cutejit_prepare(k, args, 3, &l);
	if (status == CUTEJIT_OK)
		status = cutejit_launch_run(l, NULL);
	if (status == CUTEJIT_OK)
		CHECK(y[0] == 4);
	else
		CHECK(y[0] == 2 || y[0] == 4);
	cutejit_launch_destroy(l);
	cutejit_kernel_destroy(k);
	cutejit_module_destroy(m);
	return status;
}

static cutejit_status
once(struct heap *h)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;
	cutejit_status status;

	o.cache = CUTEJIT_CACHE_MEMORY;
	o.workers = 1;
	o.allocate = allocate;
	o.release = release;
	o.allocator_user = h;
	status = cutejit_context_create(&o, &c);
	if (status == CUTEJIT_OK) {
		status = all(c);
		if (status != CUTEJIT_OK)
			CHECK(cutejit_context_report(c) != NULL);
		cutejit_context_destroy(c);
	}
	return status;
}

/* A limit of the call's memory is the same to the caller. */
static void
test_limit(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;
	cutejit_status status;

	o.cache = CUTEJIT_CACHE_MEMORY;
	o.memory_limit = 4096;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	status = all(c);
	CHECK(status == CUTEJIT_LIMIT);
	cutejit_context_destroy(c);
}

int
main(void)
{
	struct heap h = { -1, 0, 0 };
	long calls, i;

	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	CHECK(once(&h) == CUTEJIT_OK);
	CHECK(h.live == 0);
	calls = h.calls;
	CHECK(calls > 10);
	for (i = 0; i < calls; i++) {
		cutejit_status status;

		h.left = i;
		status = once(&h);
		if (status != CUTEJIT_LIMIT || h.live != 0) {
			fprintf(stderr, "call %ld of %ld: status %d, %ld "
			    "blocks left\n", i, calls, (int)status, h.live);
			return 1;
		}
	}
	h.left = -1;
	CHECK(once(&h) == CUTEJIT_OK);
	CHECK(h.live == 0);
	test_limit();
	return 0;
}
