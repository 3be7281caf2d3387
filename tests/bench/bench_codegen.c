/*
 * Time of code generation for an element-wise kernel as the elaborator makes
 * it: 16-byte accesses under a mask, a few operations on eight halves.
 *
 *	bench_codegen [TARGET [LEVEL [REPEATS]]]
 *
 * Prints the first compile of the process and the mean of the others, in ms;
 * CPU is what the process itself used, on a machine that does other things too.
 */
#include "codegen/codegen.h"
#include "../unit/llvm_module.h"
#include "bench_time.h"


static struct cj_recover recover;

static struct cj_module *
elementwise(struct cj_arena *a, const char *target)
{
	const cj_type t = cj_type_of(CJ_KIND_F16, 8);
	const cj_type wide = cj_type_of(CJ_KIND_F32, 8);
	struct cj_module *m = cj_module_create(a, "elementwise",
	    cj_target_find(target));
	struct cj_test_kernel k = cj_test_kernel(m, "silu", 8);
	cj_ref n = cj_test_value(&k, cj_type_of(CJ_KIND_INDEX, 1), "n");
	cj_ref operands[3] = { k.at, 0, 0 }, x, e;

	operands[1] = cj_emit2(&k.b, CJ_OP_LT, cj_type_of(CJ_KIND_BOOL, 1),
	    k.at, n);
	x = cj_emit(&k.b, CJ_OP_LOAD, t, cj_test_access(&k,
	    cj_test_tensor(&k, CJ_KIND_F16, "x", false), 16), operands, 2);
	x = cj_emit1(&k.b, CJ_OP_CONVERT, wide, x);
	e = cj_emit1(&k.b, CJ_OP_NEG, wide, x);
	e = cj_emit1(&k.b, CJ_OP_APPROX_EX2, wide, e);
	e = cj_emit2(&k.b, CJ_OP_ADD, wide, e, cj_emit_bits(&k.b, wide,
	    0x3f800000));
	x = cj_emit2(&k.b, CJ_OP_DIV, wide, x, e);
	operands[2] = operands[1];
	operands[1] = cj_emit1(&k.b, CJ_OP_CONVERT, t, x);
	cj_emit(&k.b, CJ_OP_STORE, 0, cj_test_access(&k, cj_test_tensor(&k,
	    CJ_KIND_F16, "y", true), 16), operands, 3);
	return m;
}

struct sums {
	double build, passes, emit, cpu;
	int count;
};

static void
compile(const char *target, int level, struct sums *s)
{
	struct cj_codegen_options o = { .level = level };
	struct cj_codegen_result out;
	struct cj_arena a;
	double begin;

	cj_arena_init(&a, &recover, NULL);
	begin = cpu_ms();
	if (cj_codegen_ptx(&a, elementwise(&a, target), &o, &out) !=
	    CJ_CODEGEN_OK) {
		fprintf(stderr, "bench_codegen: %s\n", out.error);
		exit(70);
	}
	s->cpu += cpu_ms() - begin;
	s->build += out.build_ms;
	s->passes += out.passes_ms;
	s->emit += out.emit_ms;
	s->count++;
	cj_arena_fini(&a);
}

static void
show(const char *what, const struct sums *s)
{
	printf("%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\n", what,
	    s->build / s->count, s->passes / s->count, s->emit / s->count,
	    (s->build + s->passes + s->emit) / s->count, s->cpu / s->count);
}

int
main(int argc, char **argv)
{
	const char *target = argc > 1 ? argv[1] : "sm_90a";
	int level = argc > 2 ? atoi(argv[2]) : 2;
	int repeats = argc > 3 ? atoi(argv[3]) : 50;
	struct sums first = { 0 }, rest = { 0 };

	if (CJ_RECOVER(&recover)) {
		fprintf(stderr, "bench_codegen: %s\n", recover.text);
		return 70;
	}
	compile(target, level, &first);
	while (rest.count < repeats)
		compile(target, level, &rest);
	printf("%s -O%d\tbuild\tpasses\temit\tall\tCPU\n", target, level);
	show("first", &first);
	show("mean", &rest);
	return 0;
}
