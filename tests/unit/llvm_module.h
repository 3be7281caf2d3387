/*
 * Modules for tests of codegen/: one kernel per question, made by the builder.
 *
 * Every kernel has the tensors a, b, c (read) and y (written), of which thread
 * i of the grid takes n neighbours at n * i.
 */
#ifndef CJ_LLVM_MODULE_H
#define CJ_LLVM_MODULE_H

#include "codegen/codegen.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct cj_test_kernel {
	struct cj_module *m;
	struct cj_builder b;
	uint32_t function;
	cj_ref at;		/* offset of the thread's elements */
};

/* A tensor parameter of elements `k` and its leaf. */
static inline uint32_t
cj_test_tensor(struct cj_test_kernel *t, enum cj_kind k, const char *name,
    bool writes)
{
	struct cj_object o = { .kind = CJ_OBJECT_TENSOR, .element = k,
	    .extent = -1, .align = 16, .reads = true, .writes = writes,
	    .name = name };
	struct cj_function *f = &t->m->functions.at[t->function];
	struct cj_leaf leaf = { .kind = CJ_LEAF_OBJECT,
	    .type = cj_type_of(CJ_KIND_PTR, 1), .name = name };

	o.parameter = f->leaves.len;
	leaf.parameter = f->leaves.len;
	leaf.object = cj_module_object(t->m, &o);
	*cj_push(t->m->arena, &f->leaves) = leaf;
	return leaf.object;
}

static inline uint32_t
cj_test_access(struct cj_test_kernel *t, uint32_t object, uint32_t align)
{
	struct cj_access a = { .object = object, .align = align };

	return cj_module_access(t->m, &a);
}

/* A value leaf and its PARAM. */
static inline cj_ref
cj_test_value(struct cj_test_kernel *t, cj_type type, const char *name)
{
	struct cj_function *f = &t->m->functions.at[t->function];
	struct cj_leaf leaf = { .kind = CJ_LEAF_VALUE, .type = type,
	    .name = name };

	*cj_push(t->m->arena, &f->leaves) = leaf;
	return cj_emit0(&t->b, CJ_OP_PARAM, type, f->leaves.len - 1);
}

/* An empty kernel of 128 threads; at = n * (128 * block + thread). */
static inline struct cj_test_kernel
cj_test_kernel(struct cj_module *m, const char *name, uint32_t n)
{
	const cj_type index = cj_type_of(CJ_KIND_INDEX, 1);
	struct cj_test_kernel t = { .m = m };
	cj_ref v;

	t.function = cj_module_function(m, CJ_FUNCTION_DEVICE, name);
	t.b.module = m;
	t.b.region = m->functions.at[t.function].body;
	m->functions.at[t.function].block[0] = 128;
	m->functions.at[t.function].block[1] = 1;
	m->functions.at[t.function].block[2] = 1;
	v = cj_emit0(&t.b, CJ_OP_SPECIAL, index, CJ_SPECIAL_BLOCK_X);
	v = cj_emit2(&t.b, CJ_OP_MUL, index, v, cj_emit_index(&t.b, 128));
	v = cj_emit2(&t.b, CJ_OP_ADD, index, v, cj_emit0(&t.b, CJ_OP_SPECIAL,
	    index, CJ_SPECIAL_THREAD_X));
	t.at = cj_emit2(&t.b, CJ_OP_MUL, index, v, cj_emit_index(&t.b, n));
	return t;
}

static inline uint32_t
cj_test_align(cj_type t)
{
	enum cj_kind k = cj_type_kind(t);
	uint32_t bits = k == CJ_KIND_BOOL ? 8 : cj_kind_bits(k);
	uint32_t bytes = bits * cj_type_count(t) / 8, align = 1;

	while (align < 16 && align * 2 <= bytes && bytes % (align * 2) == 0)
		align *= 2;
	return align;
}

static inline cj_ref
cj_test_load(struct cj_test_kernel *t, cj_type type, const char *name)
{
	uint32_t o = cj_test_tensor(t, cj_type_kind(type), name, false);

	return cj_emit(&t->b, CJ_OP_LOAD, type,
	    cj_test_access(t, o, cj_test_align(type)), &t->at, 1);
}

static inline void
cj_test_store(struct cj_test_kernel *t, cj_ref v, const char *name)
{
	cj_type type = cj_inst(t->m, v)->type;
	uint32_t o = cj_test_tensor(t, cj_type_kind(type), name, true);
	cj_ref operands[] = { t->at, v };

	cj_emit(&t->b, CJ_OP_STORE, 0,
	    cj_test_access(t, o, cj_test_align(type)), operands, 2);
}

/* y = op(a, b, c) on T[n]; result of another type where `to` is not 0. */
static inline void
cj_test_op(struct cj_module *m, enum cj_op op, cj_type type, cj_type to)
{
	static const char *const names[] = { "a", "b", "c" };
	struct cj_test_kernel t = cj_test_kernel(m, cj_printf(m->arena,
	    "%s_%s_%s", cj_op_info[op].text, cj_kind_text(cj_type_kind(type)),
	    cj_kind_text(cj_type_kind(to))), cj_type_count(type));
	cj_ref x[3];
	unsigned i;

	for (i = 0; i < cj_op_info[op].most; i++)
		x[i] = cj_test_load(&t, type, names[i]);
	cj_test_store(&t, cj_emit(&t.b, op, to, 0, x, i), "y");
}

/* ptxas, NULL if there is none. */
static inline const char *
cj_test_ptxas(void)
{
	static const char *const places[] = { "/usr/local/cuda/bin/ptxas",
	    "/usr/bin/ptxas" };
	const char *own = getenv("PTXAS");
	unsigned i;

	if (own != NULL && access(own, X_OK) == 0)
		return own;
	for (i = 0; i < CJ_LENGTH(places); i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return NULL;
}

/* Assemble; true if ptxas accepts it without a word, or is not there. What it
 * says goes to `said`. */
static inline bool
cj_test_assemble(const char *ptx, const char *target, char *said, size_t size)
{
	char path[] = "/tmp/cj_ptx_XXXXXX", command[400];
	FILE *f;
	size_t n;
	int fd, status;

	said[0] = '\0';
	if (cj_test_ptxas() == NULL)
		return true;
	if ((fd = mkstemp(path)) < 0 || (f = fdopen(fd, "w")) == NULL)
		return false;
	fputs(ptx, f);
	fclose(f);
	snprintf(command, sizeof command,
	    "%s -arch=%s -o /dev/null %s 2>&1", cj_test_ptxas(), target, path);
	f = popen(command, "r");
	if (f == NULL)
		return false;
	n = fread(said, 1, size - 1, f);
	said[n] = '\0';
	status = pclose(f);
	unlink(path);
	return status == 0 && n == 0;
}

#endif
