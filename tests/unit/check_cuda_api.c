/*
 * Our declarations of the driver, against cuda.h where the toolkit is
 * installed; and what happens where there is no driver.
 */
#include "check_main.h"

#include <stddef.h>

#include "base/base.h"
#include "runtime/cuda_api.h"

#if __has_include("/usr/local/cuda/include/cuda.h")
#define HAVE_CUDA_H 1
#include "/usr/local/cuda/include/cuda.h"
#endif

#ifdef HAVE_CUDA_H

START_TEST(test_layouts)
{
	ck_assert_uint_eq(sizeof(struct cj_cuda_attribute),
	    sizeof(CUlaunchAttribute));
	ck_assert_uint_eq(offsetof(struct cj_cuda_attribute, value),
	    offsetof(CUlaunchAttribute, value));
	ck_assert_uint_eq(sizeof(struct cj_cuda_config),
	    sizeof(CUlaunchConfig));
	ck_assert_uint_eq(offsetof(struct cj_cuda_config, stream),
	    offsetof(CUlaunchConfig, hStream));
	ck_assert_uint_eq(offsetof(struct cj_cuda_config, attributes),
	    offsetof(CUlaunchConfig, attrs));
	ck_assert_uint_eq(offsetof(struct cj_cuda_config, count),
	    offsetof(CUlaunchConfig, numAttrs));
	ck_assert_uint_eq(sizeof(CUdeviceptr), sizeof(uint64_t));
	ck_assert_uint_eq(sizeof(struct cj_cuda_kernel_node),
	    sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
	ck_assert_uint_eq(offsetof(struct cj_cuda_kernel_node, kernel),
	    offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kern));
	ck_assert_uint_eq(sizeof(struct cj_cuda_memset_node),
	    sizeof(CUDA_MEMSET_NODE_PARAMS));
	ck_assert_uint_eq(offsetof(struct cj_cuda_memset_node, width),
	    offsetof(CUDA_MEMSET_NODE_PARAMS, width));
}
END_TEST

START_TEST(test_numbers)
{
#define SAME(ours, theirs) ck_assert_int_eq((int)(ours), (int)(theirs))
	SAME(CJ_CUDA_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
	SAME(CJ_CUDA_CLUSTER, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
	SAME(CJ_CUDA_PROGRAMMATIC,
	    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
	SAME(CJ_CUDA_SMS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	SAME(CJ_CUDA_L2_BYTES, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
	SAME(CJ_CUDA_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
	SAME(CJ_CUDA_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	SAME(CJ_CUDA_SHARED_PER_SM,
	    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
	SAME(CJ_CUDA_SHARED_PER_BLOCK,
	    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	SAME(CJ_CUDA_SHARED_RESERVED,
	    CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
	SAME(CJ_CUDA_MEMORY_POOLS, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
	SAME(CJ_CUDA_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED);
	SAME(CJ_CUDA_MAX_DYNAMIC,
	    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
	SAME(CJ_CUDA_SHARED_BYTES, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
	SAME(CJ_CUDA_LOCAL_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
	SAME(CJ_CUDA_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS);
	SAME(CJ_CUDA_INFO_LOG, CU_JIT_INFO_LOG_BUFFER);
	SAME(CJ_CUDA_INFO_LOG_BYTES, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
	SAME(CJ_CUDA_LEVEL, CU_JIT_OPTIMIZATION_LEVEL);
	SAME(CJ_CUDA_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER);
	SAME(CJ_CUDA_ERROR_LOG_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
	SAME(CJ_CUDA_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
	SAME(CJ_CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
	SAME(CJ_CUDA_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED);
	SAME(CJ_CUDA_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED);
	SAME(CJ_CUDA_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
	SAME(CJ_CUDA_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE);
	SAME(CJ_CUDA_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT);
	SAME(CJ_CUDA_NO_BINARY, CUDA_ERROR_NO_BINARY_FOR_GPU);
	SAME(CJ_CUDA_INVALID_PTX, CUDA_ERROR_INVALID_PTX);
	SAME(CJ_CUDA_NO_JIT, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
	SAME(CJ_CUDA_PTX_VERSION, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
	SAME(CJ_CUDA_JIT_DISABLED, CUDA_ERROR_JIT_COMPILATION_DISABLED);
	SAME(CJ_CUDA_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS);
	SAME(CJ_CUDA_ASSERT, CUDA_ERROR_ASSERT);
#undef SAME
}
END_TEST

/* Our pointers take theirs: a wrong number or width of parameters does not
 * compile, for those whose types C can compare. */
START_TEST(test_functions)
{
	CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned,
	    unsigned, unsigned, unsigned, CUstream, void **, void **) =
	    cuLaunchKernel;
	CUresult (*load)(CUlibrary *, const void *, CUjit_option *, void **,
	    unsigned, CUlibraryOption *, void **, unsigned) =
	    cuLibraryLoadData;
	CUresult (*ex)(const CUlaunchConfig *, CUfunction, void **, void **) =
	    cuLaunchKernelEx;
	CUresult (*set)(CUfunction_attribute, int, CUkernel, CUdevice) =
	    cuKernelSetAttribute;

	ck_assert(sizeof launch == sizeof load && sizeof ex == sizeof set);
	ck_assert_uint_eq(sizeof(CUresult), sizeof(int));
	ck_assert_uint_eq(sizeof(CUdevice), sizeof(int));
	ck_assert_uint_eq(sizeof(CUjit_option), sizeof(int));
}
END_TEST

/* Named so that the linker is content; nobody calls them. */
CUresult CUDAAPI
cuLaunchKernel(CUfunction f, unsigned a, unsigned b, unsigned c, unsigned d,
    unsigned e, unsigned g, unsigned h, CUstream s, void **p, void **x)
{
	(void)f, (void)a, (void)b, (void)c, (void)d, (void)e, (void)g;
	(void)h, (void)s, (void)p, (void)x;
	return CUDA_ERROR_UNKNOWN;
}

CUresult CUDAAPI
cuLibraryLoadData(CUlibrary *l, const void *c, CUjit_option *o, void **v,
    unsigned n, CUlibraryOption *lo, void **lv, unsigned ln)
{
	(void)l, (void)c, (void)o, (void)v, (void)n, (void)lo, (void)lv;
	(void)ln;
	return CUDA_ERROR_UNKNOWN;
}

CUresult CUDAAPI
cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **p, void **x)
{
	(void)c, (void)f, (void)p, (void)x;
	return CUDA_ERROR_UNKNOWN;
}

CUresult CUDAAPI
cuKernelSetAttribute(CUfunction_attribute a, int v, CUkernel k, CUdevice d)
{
	(void)a, (void)v, (void)k, (void)d;
	return CUDA_ERROR_UNKNOWN;
}

#endif

START_TEST(test_no_driver)
{
	const char *why = NULL;

	setenv("CUTEJIT_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
	ck_assert_ptr_null(cj_cuda_open(&why));
	ck_assert_ptr_nonnull(why);
	ck_assert_ptr_nonnull(strstr(why, "CUTEJIT_LIBCUDA"));
	ck_assert(!cj_cuda_is_ours());
}
END_TEST

/* A library that is no driver: the message names what it lacks. */
START_TEST(test_wrong_library)
{
	const char *why = NULL;

	setenv("CUTEJIT_LIBCUDA", "libm.so.6", 1);
	ck_assert_ptr_null(cj_cuda_open(&why));
	ck_assert_ptr_nonnull(strstr(why, "cuInit"));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("cuda_api");
	TCase *t = tcase_create("driver");

#ifdef HAVE_CUDA_H
	tcase_add_test(t, test_layouts);
	tcase_add_test(t, test_numbers);
	tcase_add_test(t, test_functions);
#endif
	tcase_add_test(t, test_no_driver);
	tcase_add_test(t, test_wrong_library);
	suite_add_tcase(s, t);
	return s;
}

CJ_CHECK_MAIN(suite)
