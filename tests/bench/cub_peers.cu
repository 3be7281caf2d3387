// CUB's device-wide algorithms for rows.py, which builds this with nvcc and
// calls it by ctypes. Each function is called twice: with scratch = NULL it
// says in *bytes how much it wants. 0, or a CUDA error.
#include <cstdint>
#include <cub/cub.cuh>
#include <cuda_bf16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#define PEER extern "C" int

PEER
cub_scan_i32(void *scratch, size_t *bytes, const int *x, int *y, int64_t n,
    cudaStream_t stream)
{
	return cub::DeviceScan::InclusiveSum(scratch, *bytes, x, y, n, stream);
}

PEER
cub_scan_f32(void *scratch, size_t *bytes, const float *x, float *y,
    int64_t n, cudaStream_t stream)
{
	return cub::DeviceScan::InclusiveSum(scratch, *bytes, x, y, n, stream);
}

// Bins as int: that is what CUB counts in fastest.
PEER
cub_histogram_u8(void *scratch, size_t *bytes, const uint8_t *x, int *count,
    int64_t n, cudaStream_t stream)
{
	return cub::DeviceHistogram::HistogramEven(scratch, *bytes, x, count,
	    257, 0, 256, n, stream);
}

PEER
cub_total_f32(void *scratch, size_t *bytes, const float *x, float *y,
    int64_t n, cudaStream_t stream)
{
	return cub::DeviceReduce::Sum(scratch, *bytes, x, y, n, stream);
}

struct Wide {
	__host__ __device__ float
	operator()(__nv_bfloat16 v) const
	{
		return __bfloat162float(v);
	}
};

PEER
cub_total_bf16(void *scratch, size_t *bytes, const __nv_bfloat16 *x, float *y,
    int64_t n, cudaStream_t stream)
{
	return cub::DeviceReduce::TransformReduce(scratch, *bytes, x, y, n,
	    cuda::std::plus<float>{}, Wide{}, 0.0f, stream);
}

// The largest of all and its place.
PEER
cub_extreme_f32(void *scratch, size_t *bytes, const float *x, float *value,
    int64_t *at, int64_t n, cudaStream_t stream)
{
	return cub::DeviceReduce::ArgMax(scratch, *bytes, x, value, at, n,
	    stream);
}

// Rows of equal length.
struct Start {
	int64_t each;
	__host__ __device__ int64_t
	operator()(int64_t row) const
	{
		return row * each;
	}
};

PEER
cub_row_sums_f32(void *scratch, size_t *bytes, const float *x, float *y,
    int64_t rows, int64_t each, cudaStream_t stream)
{
	auto starts = thrust::make_transform_iterator(
	    thrust::make_counting_iterator<int64_t>(0), Start{each});
	return cub::DeviceSegmentedReduce::Sum(scratch, *bytes, x, y, rows,
	    starts, starts + 1, stream);
}

// All of each row in order, largest first: what CUB 3.0 has for a top k.
PEER
cub_sort_rows_f32(void *scratch, size_t *bytes, const float *x, float *sorted,
    const int *column, int *at, int64_t rows, int64_t each,
    cudaStream_t stream)
{
	auto starts = thrust::make_transform_iterator(
	    thrust::make_counting_iterator<int64_t>(0), Start{each});
	return cub::DeviceSegmentedSort::SortPairsDescending(scratch, *bytes,
	    x, sorted, column, at, rows * each, rows, starts, starts + 1,
	    stream);
}
