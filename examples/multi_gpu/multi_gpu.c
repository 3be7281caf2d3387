/*
 * One vector over all GPUs of the machine: a thread per GPU, each with its part
 * of the data and the device's primary context; one module serves them all.
 *
 *	cc multi_gpu.c -o multi_gpu $(pkg-config --cflags --libs cutejit) \
 *	    -lpthread -ldl
 *	./multi_gpu
 *
 * Where a tensor lies decides where a call runs. Without a GPU the parts run
 * side by side on the executor.
 */
#include <cutejit.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 16, MOST = 64 };

static const char text[] =
    "kernel square(x: tensor(f32, N:1), y: tensor(f32, N:1))\n"
    "{\n"
    "    launch grid(ceil_div(N, 256)) block(256)\n"
    "    {\n"
    "        let i = block_idx.x * 256 + thread_idx.x;\n"
    "        if i < N { y[i] = x[i] * x[i]; }\n"
    "    }\n"
    "}\n";

static struct {
	int (*retain)(void **, int), (*current)(void *);
	int (*alloc)(uint64_t *, size_t), (*release)(uint64_t);
	int (*to)(uint64_t, const void *, size_t);
	int (*from)(void *, uint64_t, size_t);
} cu;

static cutejit_context *context;
static cutejit_module *module;
static float x[N], y[N];
static int gpus;

struct part {
	int gpu, failed;
	int64_t begin, count;
};

static void
set_tensor(cutejit_tensor *t, void *data, int64_t *count, int gpu)
{
	memset(t, 0, sizeof *t);
	t->data = data;
	t->device_type = gpu >= 0 ? CUTEJIT_DL_CUDA : CUTEJIT_DL_CPU;
	t->device_id = gpu >= 0 ? gpu : 0;
	t->ndim = 1;
	t->shape = count;
	cutejit_type_set(t, "f32");
}

static int
call(struct part *p, void *from, void *to)
{
	cutejit_tensor tx, ty;
	cutejit_argument args[2];

	set_tensor(&tx, from, &p->count, p->gpu);
	set_tensor(&ty, to, &p->count, p->gpu);
	args[0] = cutejit_arg_tensor("x", &tx);
	args[1] = cutejit_arg_tensor("y", &ty);
	if (cutejit_call(module, "square", args, 2, NULL, NULL)
	    == CUTEJIT_OK)
		return 0;
	fputs(cutejit_report_text(cutejit_context_report(context), 0),
	    stderr);
	return 1;
}

static int
run_on_gpu(struct part *p)
{
	size_t bytes = (size_t)p->count * sizeof *x;
	uint64_t from, to;
	void *primary;
	int failed;

	if (cu.retain(&primary, p->gpu) != 0 || cu.current(primary) != 0
	    || cu.alloc(&from, bytes) != 0)
		return 1;
	if (cu.alloc(&to, bytes) != 0) {
		cu.release(from);
		return 1;
	}
	failed = cu.to(from, x + p->begin, bytes) != 0
	    || call(p, (void *)(uintptr_t)from, (void *)(uintptr_t)to)
	    || cu.from(y + p->begin, to, bytes) != 0;
	cu.release(from);
	cu.release(to);
	return failed;
}

static void *
run(void *part)
{
	struct part *p = part;

	p->failed = p->gpu >= 0 ? run_on_gpu(p)
	    : call(p, x + p->begin, y + p->begin);
	return NULL;
}

static void
open_driver(void)
{
	void *library;

	if (cutejit_gpu_count(context, &gpus) != CUTEJIT_OK)
		return;
	library = dlopen("libcuda.so.1", RTLD_NOW);
	if (library == NULL) {
		gpus = 0;
		return;
	}
	*(void **)&cu.retain = dlsym(library, "cuDevicePrimaryCtxRetain");
	*(void **)&cu.current = dlsym(library, "cuCtxSetCurrent");
	*(void **)&cu.alloc = dlsym(library, "cuMemAlloc_v2");
	*(void **)&cu.release = dlsym(library, "cuMemFree_v2");
	*(void **)&cu.to = dlsym(library, "cuMemcpyHtoD_v2");
	*(void **)&cu.from = dlsym(library, "cuMemcpyDtoH_v2");
}

int
main(void)
{
	struct part parts[MOST];
	pthread_t threads[MOST];
	int count, i, failed = 0;

	if (cutejit_context_create(NULL, &context) != CUTEJIT_OK)
		return CUTEJIT_LIMIT;
	if (cutejit_module_from_memory(context, "square.cute", text,
	    strlen(text), &module) != CUTEJIT_OK)
		return CUTEJIT_ERROR;
	open_driver();
	count = gpus > 0 ? gpus < MOST ? gpus : MOST : 2;
	for (i = 0; i < N; i++)
		x[i] = (float)(i % 1000);
	for (i = 0; i < count; i++) {
		parts[i].gpu = gpus > 0 ? i : -1;
		parts[i].begin = (int64_t)N * i / count;
		parts[i].count = (int64_t)N * (i + 1) / count
		    - parts[i].begin;
		if (pthread_create(&threads[i], NULL, run, &parts[i]) != 0)
			return CUTEJIT_LIMIT;
	}
	for (i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		failed |= parts[i].failed;
	}
	for (i = 0; i < N && !failed; i++)
		failed = y[i] != x[i] * x[i];
	printf("%d parts on %s: %s\n", count, gpus > 0 ? "GPUs"
	    : "the executor", failed ? "wrong" : "right");
	cutejit_module_destroy(module);
	cutejit_context_destroy(context);
	return failed;
}
