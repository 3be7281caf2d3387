/*
 * A kernel for each atom of tests/vectors/mma_atoms.txt that is an mma of a
 * warp: y = mma(a, b, c), a lane's registers one after the other in memory.
 * Where a register stands is read from the file, by a few lines that know
 * nothing of layout/.
 */
#ifndef CJ_MMA_KERNELS_H
#define CJ_MMA_KERNELS_H

#include "check_main.h"
#include "ir/interp_priv.h"
#include "llvm_module.h"

#include <math.h>

enum { MOST_ATOMS = 160, MMA_THREADS = 128, MMA_LANES = 32, MOST_MODES = 8 };

/* A layout as flat extents and strides. */
struct flat {
	unsigned rank;
	unsigned extent[MOST_MODES], stride[MOST_MODES];
};

struct atom_line {
	char name[64], arch[16], threads[32], at[3][96];	/* A, B, C */
	unsigned m, n, k;
};

static struct atom_line atom_lines[MOST_ATOMS];
static unsigned atom_line_count;

static inline void
flat_numbers(const char *text, const char *end, unsigned *out, unsigned *count)
{
	char *next;

	for (*count = 0; text < end; text = next) {
		while (text < end && (*text < '0' || *text > '9'))
			text++;
		if (text == end)
			return;
		out[(*count)++] = (unsigned)strtoul(text, &next, 10);
	}
}

static inline struct flat
flat_read(const char *text)
{
	const char *colon = strchr(text, ':');
	struct flat f;
	unsigned strides;

	flat_numbers(text, colon, f.extent, &f.rank);
	flat_numbers(colon, text + strlen(text), f.stride, &strides);
	ck_assert_uint_eq(f.rank, strides);
	return f;
}

static inline unsigned
flat_size(const struct flat *f)
{
	unsigned size = 1, i;

	for (i = 0; i < f->rank; i++)
		size *= f->extent[i];
	return size;
}

static inline unsigned
flat_value(const struct flat *f, unsigned index)
{
	unsigned v = 0, i;

	for (i = 0; i < f->rank; index /= f->extent[i], i++)
		v += index % f->extent[i] * f->stride[i];
	return v;
}

/* Lines of atoms that the IR has. */
static inline void
read_atom_lines(void)
{
	struct cj_recover nowhere = { 0 };
	struct cj_arena a;
	FILE *f = fopen(CJ_SRCDIR "/tests/vectors/mma_atoms.txt", "r");
	char line[1024];

	if (CJ_RECOVER(&nowhere))
		abort();
	cj_arena_init(&a, &nowhere, NULL);
	atom_line_count = 0;
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		struct atom_line *l = &atom_lines[atom_line_count];
		struct cj_mma mma;

		if (sscanf(line, "mma_atom\t%63s\t%15s\t=>\t(%u,%u,%u)\t"
		    "%*[^\t]\t%31s\t%95s\t%95s\t%95s", l->name, l->arch, &l->m,
		    &l->n, &l->k, l->threads, l->at[0], l->at[1], l->at[2])
		    != 9 || cj_mma_find(&a, l->name, &mma) != NULL)
			continue;
		if (++atom_line_count == MOST_ATOMS)
			break;		/* the tests count them */
	}
	if (f != NULL)
		fclose(f);
	cj_arena_fini(&a);
}

/* Which thread of the atom is a lane, and of which of the groups? */
static inline void
find_lane(const struct atom_line *l, unsigned lane, unsigned *thread,
    unsigned *group)
{
	struct flat threads = flat_read(l->threads);
	unsigned count = flat_size(&threads);

	for (*group = 0; *group < MMA_LANES / count; ++*group)
		for (*thread = 0; *thread < count; ++*thread)
			if (flat_value(&threads, *thread) + 4 * *group == lane)
				return;
	ck_abort_msg("%s: nobody is lane %u", l->name, lane);
}

/* ---- the kernel ---------------------------------------------------------- */

static inline cj_ref
offset_of(struct cj_test_kernel *t, cj_ref thread, uint32_t count)
{
	cj_ref n = cj_emit_index(&t->b, count);

	return cj_emit2(&t->b, CJ_OP_MUL, cj_type_of(CJ_KIND_INDEX, 1), thread,
	    n);
}

/* Objects 1, 2, 3 are a, b, c; 4 is y. */
static inline struct cj_module *
mma_module(struct cj_arena *a, const char *atom,
    const struct cj_target *target)
{
	struct cj_module *m = cj_module_create(a, atom, target);
	const char *why = NULL;
	uint32_t attr = cj_module_mma(m, atom, &why);
	struct cj_test_kernel t = cj_test_kernel(m, "mma", 1);
	const struct cj_mma *mma = m->mmas.at[attr];
	cj_ref thread = t.at, x[3];

	ck_assert_msg(attr != 0, "%s", why);
	t.at = offset_of(&t, thread, mma->a_count);
	x[0] = cj_test_load(&t, cj_type_of(mma->a, mma->a_count), "a");
	t.at = offset_of(&t, thread, mma->b_count);
	x[1] = cj_test_load(&t, cj_type_of(mma->b, mma->b_count), "b");
	t.at = offset_of(&t, thread, mma->c_count);
	x[2] = cj_test_load(&t, cj_type_of(mma->c, mma->c_count), "c");
	cj_test_store(&t, cj_emit(&t.b, CJ_OP_MMA, cj_type_of(mma->d,
	    mma->c_count), attr, x, 3), "y");
	why = cj_module_verify(m);
	ck_assert_msg(why == NULL, "%s: %s", atom, why);
	return m;
}

/* ---- values -------------------------------------------------------------- */

static inline uint64_t
mma_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Any bits of the kind. */
static inline uint64_t
any_bits(enum cj_kind k, uint64_t r)
{
	unsigned bits = cj_kind_bits(k);

	if (k == CJ_KIND_TF32)		/* the last bits must not matter */
		return r & 0xffffffff;
	if (bits == 64)
		return r;
	r &= ((uint64_t)1 << bits) - 1;
	return cj_kind_is_signed(k) && r >> (bits - 1) ?
	    r | UINT64_MAX << bits : r;
}

/* Every other warp gets any bits, the rest sixteenths of small numbers. */
static inline uint64_t
mma_value(enum cj_kind k, unsigned warp, uint64_t *state)
{
	uint64_t r = mma_random(state);

	if (!cj_kind_is_float(k) || warp % 2 != 0)
		return any_bits(k, r);
	return cj_num_from_f64(k, ((double)(r % 257) - 128) / 16);
}

/* Memory for `count` registers of all threads; filled, or poisoned. */
static inline void
mma_fill(struct cj_arena *a, struct cj_memory *to, enum cj_kind k,
    uint32_t count, uint64_t seed)
{
	int64_t n = (int64_t)count * MMA_THREADS, i;
	size_t bytes = cj_memory_bytes(k, n);
	char *data = cj_alloc(a, bytes + 64);

	to->data = data + (-(uintptr_t)data & 63);
	to->lo = 0;
	to->hi = n;
	to->readable = to->writable = true;
	memset(to->data, 0xa5, bytes);
	for (i = 0; seed != 0 && i < n; i++)
		cj_memory_set(to, k, i, mma_value(k,
		    (unsigned)(i / count / MMA_LANES), &seed));
}

static inline void
mma_memory(struct cj_arena *a, const struct cj_mma *mma,
    struct cj_memory *mem)
{
	mma_fill(a, &mem[1], mma->a, mma->a_count, 1);
	mma_fill(a, &mem[2], mma->b, mma->b_count, 2);
	mma_fill(a, &mem[3], mma->c, mma->c_count, 3);
	mma_fill(a, &mem[4], mma->d, mma->c_count, 0);
}

/* ---- what it must be ----------------------------------------------------- */

/* The matrices of one group of one warp, as f64 and as integers. */
struct mma_matrices {
	double a[16][256], b[256][8], c[16][8];
	int64_t ai[16][256], bi[256][8], ci[16][8];
};

/* The bits of register `reg` of a thread. */
static inline uint64_t
register_of(const struct cj_memory *from, enum cj_kind k, uint32_t count,
    unsigned thread, unsigned reg)
{
	return cj_memory_get(from, k, (int64_t)thread * count + reg);
}

static inline double
float_of(enum cj_kind k, uint64_t bits)
{
	return cj_kind_is_float(k) ? cj_num_to_f64(k, bits) : 0;
}

/* Collect what the lanes of `group` of a warp hold. */
static inline void
collect(const struct atom_line *l, const struct cj_mma *mma,
    const struct cj_memory *mem, unsigned warp, unsigned group,
    struct mma_matrices *to)
{
	struct flat at[3] = { flat_read(l->at[0]), flat_read(l->at[1]),
	    flat_read(l->at[2]) };
	struct flat threads = flat_read(l->threads);
	unsigned count = flat_size(&threads), lane, t, g, r, p;

	for (lane = 0; lane < MMA_LANES; lane++) {
		unsigned thread = warp * MMA_LANES + lane;
		uint64_t v;

		find_lane(l, lane, &t, &g);
		if (g != group)
			continue;
		for (r = 0; r < mma->a_count; r++) {
			p = flat_value(&at[0], t + r * count);
			v = register_of(&mem[1], mma->a, mma->a_count,
			    thread, r);
			to->a[p % l->m][p / l->m] = float_of(mma->a, v);
			to->ai[p % l->m][p / l->m] = (int64_t)v;
		}
		for (r = 0; r < mma->b_count; r++) {
			p = flat_value(&at[1], t + r * count);
			v = register_of(&mem[2], mma->b, mma->b_count,
			    thread, r);
			to->b[p / l->n][p % l->n] = float_of(mma->b, v);
			to->bi[p / l->n][p % l->n] = (int64_t)v;
		}
		for (r = 0; r < mma->c_count; r++) {
			p = flat_value(&at[2], t + r * count);
			v = register_of(&mem[3], mma->c, mma->c_count,
			    thread, r);
			to->c[p % l->m][p / l->m] = float_of(mma->c, v);
			to->ci[p % l->m][p / l->m] = (int64_t)v;
		}
	}
}

static inline uint64_t
integer_result(const struct atom_line *l, const struct mma_matrices *x,
    unsigned i, unsigned j)
{
	int64_t sum = x->ci[i][j];
	unsigned k;

	for (k = 0; k < l->k; k++)
		if (strstr(l->name, "XORPOPC") != NULL)
			sum += x->ai[i][k] ^ x->bi[k][j];
		else
			sum += x->ai[i][k] * x->bi[k][j];
	if (strstr(l->name, "SATURATE") != NULL)
		sum = sum > INT32_MAX ? INT32_MAX :
		    sum < INT32_MIN ? INT32_MIN : sum;
	return (uint64_t)(int64_t)(int32_t)(uint32_t)(uint64_t)sum;
}

static inline uint64_t
float_result(const struct atom_line *l, enum cj_kind d,
    const struct mma_matrices *x, unsigned i, unsigned j)
{
	double sum = x->c[i][j];
	unsigned k;

	for (k = 0; k < l->k; k++)
		sum = d == CJ_KIND_F64 ? fma(x->a[i][k], x->b[k][j], sum) :
		    sum + x->a[i][k] * x->b[k][j];
	return cj_num_from_f64(d, sum);
}

/* The sum of the magnitudes of all that is added. */
static inline double
magnitude_of(const struct atom_line *l, const struct mma_matrices *x,
    unsigned i, unsigned j)
{
	double sum = fabs(x->c[i][j]);
	unsigned k;

	for (k = 0; k < l->k; k++)
		sum += fabs(x->a[i][k] * x->b[k][j]);
	return sum;
}

/* Called for each number of D with the bits that y has and must have. */
typedef void mma_seen_fn(const struct atom_line *l, const struct cj_mma *mma,
    uint64_t got, uint64_t want, double magnitude);

static inline void
mma_compare(const struct atom_line *l, const struct cj_mma *mma,
    const struct cj_memory *mem, mma_seen_fn *seen)
{
	static struct mma_matrices x;
	struct flat at = flat_read(l->at[2]), threads = flat_read(l->threads);
	unsigned count = flat_size(&threads), warp, group, lane, t, g, r, p;

	for (warp = 0; warp < MMA_THREADS / MMA_LANES; warp++)
	for (group = 0; group < MMA_LANES / count; group++) {
		collect(l, mma, mem, warp, group, &x);
		for (lane = 0; lane < MMA_LANES; lane++) {
			find_lane(l, lane, &t, &g);
			for (r = 0; g == group && r < mma->c_count; r++) {
				p = flat_value(&at, t + r * count);
				seen(l, mma, register_of(&mem[4], mma->d,
				    mma->c_count, warp * MMA_LANES + lane, r),
				    cj_kind_is_float(mma->d) ? float_result(l,
				    mma->d, &x, p % l->m, p / l->m) :
				    integer_result(l, &x, p % l->m, p / l->m),
				    magnitude_of(l, &x, p % l->m, p / l->m));
			}
		}
	}
}

#endif
