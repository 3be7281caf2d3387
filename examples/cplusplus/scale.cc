/*
 * The library from C++17: handles in std::unique_ptr, a failure as an exception
 * that carries the report, tensors made of what a program has.
 *
 *	c++ -std=c++17 scale.cc -o scale $(pkg-config --cflags --libs cutejit)
 *	./scale
 *
 * The library itself throws nothing and knows nothing of C++: this is all the
 * wrapper that a program needs.
 */
#include <cutejit.h>

#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace jit {

template <auto destroy>
struct destroyer {
	template <typename T>
	void operator()(T *handle) const { destroy(handle); }
};
using context = std::unique_ptr<cutejit_context,
    destroyer<cutejit_context_destroy>>;
using module = std::unique_ptr<cutejit_module,
    destroyer<cutejit_module_destroy>>;
using kernel = std::unique_ptr<cutejit_kernel,
    destroyer<cutejit_kernel_destroy>>;
using launch = std::unique_ptr<cutejit_launch,
    destroyer<cutejit_launch_destroy>>;

struct error : std::runtime_error {
	cutejit_status status;

	error(cutejit_status s, const cutejit_context *c)
	    : std::runtime_error(cutejit_report_text(
	    cutejit_context_report(c), 0)), status(s) {}
};

inline void
need(cutejit_status status, const cutejit_context *c)
{
	if (status != CUTEJIT_OK)
		throw error(status, c);
}

inline context
make_context()
{
	cutejit_context *c;

	need(cutejit_context_create(nullptr, &c), nullptr);
	return context(c);
}

inline module
make_module(const context &c, const char *name, std::string_view text)
{
	cutejit_module *m;

	need(cutejit_module_from_memory(c.get(), name, text.data(),
	    text.size(), &m), c.get());
	return module(m);
}

inline kernel
compile(const context &c, const module &m, const char *name)
{
	cutejit_kernel *k;

	need(cutejit_compile(m.get(), name, nullptr, &k), c.get());
	return kernel(k);
}

/* A row-major matrix of the caller's numbers. */
struct matrix {
	std::array<int64_t, 2> shape;
	cutejit_tensor tensor{};

	matrix(std::vector<float> &data, int64_t rows, int64_t columns)
	    : shape{ rows, columns }
	{
		tensor.data = data.data();
		tensor.device_type = CUTEJIT_DL_CPU;
		tensor.ndim = 2;
		tensor.shape = shape.data();
		cutejit_type_set(&tensor, "f32");
	}
	matrix(const matrix &) = delete;
	matrix &operator=(const matrix &) = delete;
};

} // namespace jit

static constexpr std::string_view text = R"(
kernel scale(a: f32, x: tensor(f32, (M, N):(N, 1)))
{
    launch grid(ceil_div(M * N, 256)) block(256)
    {
        let i = block_idx.x * 256 + thread_idx.x;
        if i < M * N { x[i / N, i % N] = a * x[i / N, i % N]; }
    }
}
)";

int
main()
try {
	auto context = jit::make_context();
	auto module = jit::make_module(context, "scale.cute", text);
	auto kernel = jit::compile(context, module, "scale");
	std::vector<float> numbers(12, 1.5f);
	jit::matrix x(numbers, 3, 4);
	std::array args{ cutejit_arg_float("a", 2),
	    cutejit_arg_tensor("x", &x.tensor) };
	cutejit_launch *l;

	jit::need(cutejit_prepare(kernel.get(), args.data(), args.size(),
	    &l), context.get());
	jit::launch launch(l);
	jit::need(cutejit_launch_run(launch.get(), nullptr), context.get());
	for (float f : numbers)
		if (f != 3)
			throw std::runtime_error("a number is wrong");
	try {
		jit::make_module(context, "wrong.cute", "kernel");
		return 1;
	} catch (const jit::error &e) {
		std::printf("as it should: %s", e.what());
	}
	return 0;
} catch (const std::exception &e) {
	std::fputs(e.what(), stderr);
	return 1;
}
