/*
 * What the tests of the interface share: checks that say where, and arrays.
 */
#ifndef TEST_H
#define TEST_H

#include <cutejit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)						\
	do {								\
		if (!(condition)) {					\
			fprintf(stderr, "%s:%d: %s\n", __FILE__,	\
			    __LINE__, #condition);			\
			exit(1);					\
		}							\
	} while (0)

/* A call that must go well; what it says otherwise is shown. */
#define DO(context, call)						\
	do {								\
		cutejit_status status_ = (call);			\
		if (status_ != CUTEJIT_OK) {				\
			fprintf(stderr, "%s:%d: %s: status %d\n%s",	\
			    __FILE__, __LINE__, #call, (int)status_,	\
			    cutejit_report_text(			\
			    cutejit_context_report(context), 0));	\
			exit(1);					\
		}							\
	} while (0)

/* A call that must be refused, with this code. */
#define REFUSED(context, status, code_, call)				\
	do {								\
		cutejit_status got_ = (call);				\
		const cutejit_diagnostic *d_ = cutejit_report_at(	\
		    cutejit_context_report(context), 0);		\
		if (got_ != (status) || d_ == NULL			\
		    || strcmp(d_->code, code_) != 0) {			\
			fprintf(stderr, "%s:%d: %s: status %d, %s\n",	\
			    __FILE__, __LINE__, #call, (int)got_,	\
			    d_ != NULL ? d_->text : "no message");	\
			exit(1);					\
		}							\
	} while (0)

static const char saxpy_text[] =
    "kernel saxpy(a: f32, x: tensor(f32, N:1), y: tensor(f32, N:1))\n"
    "{\n"
    "    launch grid(ceil_div(N, 256)) block(256)\n"
    "    {\n"
    "        let i = block_idx.x * 256 + thread_idx.x;\n"
    "        if i < N { y[i] = a * x[i] + y[i]; }\n"
    "    }\n"
    "}\n";

/* A compact vector of f32. The structure must stay where it is. */
struct vector {
	cutejit_tensor tensor;
	int64_t extent[1];
};

static inline const cutejit_tensor *
vector_set(struct vector *v, void *data, int64_t n, int32_t device_type)
{
	memset(v, 0, sizeof *v);
	v->extent[0] = n;
	v->tensor.data = data;
	v->tensor.device_type = device_type;
	v->tensor.ndim = 1;
	v->tensor.code = 2;
	v->tensor.bits = 32;
	v->tensor.lanes = 1;
	v->tensor.shape = v->extent;
	return &v->tensor;
}

/* A context of its own, without a cache on disk. */
static inline cutejit_context *
test_context(void)
{
	cutejit_options o = CUTEJIT_OPTIONS_INIT;
	cutejit_context *c;

	o.cache = CUTEJIT_CACHE_MEMORY;
	CHECK(cutejit_context_create(&o, &c) == CUTEJIT_OK);
	return c;
}

static inline cutejit_module *
test_module(cutejit_context *c, const char *text)
{
	cutejit_module *m;

	DO(c, cutejit_module_from_memory(c, "test.cute", text, strlen(text),
	    &m));
	return m;
}

#endif
