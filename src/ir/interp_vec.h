/*
 * Loops over the numbers of a step, for the operations and kinds that matter
 * for speed. Included by interp_vec.c for any machine and by interp_vec_avx2.c
 * for x86 with AVX2 and FMA; CJ_VEC_TABLE names the table that is made.
 *
 * Every loop gives the same bits as cj_num_apply and cj_num_convert: a NaN that
 * is computed is the canonical one, halves are computed in f32 where a second
 * rounding does no harm (24 >= 2 * 11 + 2 bits) and one by one where it might.
 */

enum { BLOCK = 16 };		/* numbers that are computed side by side */

#define F32_NAN		UINT32_C(0x7fffffff)
#define F64_NAN		UINT64_C(0x7fffffffffffffff)

/* A block for each j below n, in blocks that compilers turn into vectors. */
#define EACH(n, ...)							\
	do {								\
		uint32_t i_, j, n_ = (n);				\
		for (i_ = 0; i_ + BLOCK <= n_; i_ += BLOCK)		\
			for (j = i_; j < i_ + BLOCK; j++)		\
				__VA_ARGS__				\
		for (j = i_; j < n_; j++)				\
			__VA_ARGS__					\
	} while (0)

#define SOURCE(type, name)						\
	const type *restrict name = CJ_AT(f, const type, s->name)
#define TARGET(type)							\
	type *restrict out = CJ_AT(f, type, s->dst)

#define STEP(name)							\
static void								\
name(struct cj_frame *f, const struct cj_step *s)

/* Steps of one, two and three operands: `expr` of x, y, z gives `to`. */
#define UNARY(name, from, to, expr)					\
STEP(name)								\
{									\
	SOURCE(from, a);						\
	TARGET(to);							\
									\
	EACH(s->n, { from x = a[j]; out[j] = (to)(expr); });		\
}
#define BINARY(name, from, to, expr)					\
STEP(name)								\
{									\
	SOURCE(from, a);						\
	SOURCE(from, b);						\
	TARGET(to);							\
									\
	EACH(s->n, { from x = a[j], y = b[j]; out[j] = (to)(expr); });	\
}
#define TERNARY(name, from, to, expr)					\
STEP(name)								\
{									\
	SOURCE(from, a);						\
	SOURCE(from, b);						\
	SOURCE(from, c);						\
	TARGET(to);							\
									\
	EACH(s->n, { from x = a[j], y = b[j], z = c[j];			\
	    out[j] = (to)(expr); });					\
}

/* ---- bits ---------------------------------------------------------------- */

static inline uint32_t
float_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline float
bits_float(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static inline uint64_t
double_bits(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline double
bits_double(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static inline uint32_t
clean32(float x)
{
	return x != x ? F32_NAN : float_bits(x);
}

static inline uint64_t
clean64(double x)
{
	return x != x ? F64_NAN : double_bits(x);
}

static inline float
half_float(uint16_t h)
{
	uint32_t x = h & 0x7fffu, sign = (uint32_t)(h & 0x8000u) << 16;
	/* scaling by 2^112 is exact and serves denormals too */
	uint32_t bits = float_bits(bits_float(x << 13)
	    * bits_float(UINT32_C(239) << 23));

	bits = x >= 0x7c00u ? x << 13 | UINT32_C(0x7f800000) : bits;
	bits |= sign;
	return bits_float(x > 0x7c00u ? F32_NAN : bits);
}

/* Nearest even. */
static inline uint16_t
float_half(float v)
{
	uint32_t bits = float_bits(v), x = bits & UINT32_C(0x7fffffff);
	uint32_t normal = (x + UINT32_C(0xc8000fff) + (x >> 13 & 1)) >> 13;
	uint32_t small = float_bits(bits_float(x) + 0.5f)
	    - float_bits(0.5f);
	uint32_t out = x < UINT32_C(0x38800000) ? small : normal;

	out = x >= UINT32_C(0x47800000) ? 0x7c00u : out;
	out |= bits >> 16 & 0x8000u;
	return (uint16_t)(x > UINT32_C(0x7f800000) ? 0x7fffu : out);
}

static inline float
brain_float(uint16_t h)
{
	uint32_t bits = (uint32_t)h << 16;

	return bits_float((h & 0x7fffu) > 0x7f80u ? F32_NAN : bits);
}

static inline uint16_t
float_brain(float v)
{
	uint32_t bits = float_bits(v);
	uint32_t out = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;

	return (uint16_t)((bits & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000)
	    ? 0x7fffu : out);
}

/* ---- f32 and f64 --------------------------------------------------------- */

/* Of two numbers, where -0 < +0, or NaN. */
#define LESSER(x, y, sign_x)						\
	((x) != (x) || (y) != (y) ? (x) + (y)				\
	    : (x) < (y) || ((x) == (y) && (sign_x)) ? (x) : (y))
#define GREATER(x, y, sign_x)						\
	((x) != (x) || (y) != (y) ? (x) + (y)				\
	    : (x) > (y) || ((x) == (y) && !(sign_x)) ? (x) : (y))

#define FLOAT_STEPS(p, type, word, CLEAN, BITS, MATH, SIGN)		\
STEP(p##_neg)								\
{									\
	SOURCE(word, a);						\
	TARGET(word);							\
									\
	EACH(s->n, { out[j] = a[j] ^ SIGN; });				\
}									\
STEP(p##_abs)								\
{									\
	SOURCE(word, a);						\
	TARGET(word);							\
									\
	EACH(s->n, { out[j] = a[j] & ~SIGN; });				\
}									\
STEP(p##_copysign)							\
{									\
	SOURCE(word, a);						\
	SOURCE(word, b);						\
	TARGET(word);							\
									\
	EACH(s->n, { out[j] = (a[j] & ~SIGN) | (b[j] & SIGN); });	\
}									\
BINARY(p##_add, type, word, CLEAN(x + y))				\
BINARY(p##_sub, type, word, CLEAN(x - y))				\
BINARY(p##_mul, type, word, CLEAN(x * y))				\
BINARY(p##_div, type, word, CLEAN(x / y))				\
BINARY(p##_min, type, word, CLEAN(LESSER(x, y, BITS(x) & SIGN)))	\
BINARY(p##_max, type, word, CLEAN(GREATER(x, y, BITS(x) & SIGN)))	\
BINARY(p##_eq, type, uint8_t, x == y)					\
BINARY(p##_ne, type, uint8_t, x != y)					\
BINARY(p##_lt, type, uint8_t, x < y)					\
BINARY(p##_le, type, uint8_t, x <= y)					\
TERNARY(p##_fma, type, word, CLEAN(__builtin_fma##MATH(x, y, z)))	\
UNARY(p##_sqrt, type, word, CLEAN(__builtin_sqrt##MATH(x)))		\
UNARY(p##_floor, type, word, CLEAN(__builtin_floor##MATH(x)))		\
UNARY(p##_ceil, type, word, CLEAN(__builtin_ceil##MATH(x)))		\
UNARY(p##_trunc, type, word, CLEAN(__builtin_trunc##MATH(x)))		\
UNARY(p##_rint, type, word, CLEAN(__builtin_rint##MATH(x)))

#define F32_SIGN	UINT32_C(0x80000000)
#define F64_SIGN	UINT64_C(0x8000000000000000)
FLOAT_STEPS(f32, float, uint32_t, clean32, float_bits, f, F32_SIGN)
FLOAT_STEPS(f64, double, uint64_t, clean64, double_bits, , F64_SIGN)

/* ---- f16 and bf16 -------------------------------------------------------- */

/* bf16 has the exponents of f32, so that a product or quotient may be a
 * denormal there, rounded twice: such blocks are computed by num.c. */
#define TINY		bits_float(UINT32_C(2) << 23)

#define HALF_EXPR(p, op, WIDE, NARROW, expr)				\
STEP(p##_##op)								\
{									\
	SOURCE(uint16_t, a);						\
	SOURCE(uint16_t, b);						\
	TARGET(uint16_t);						\
									\
	EACH(s->n, { float x = WIDE(a[j]), y = WIDE(b[j]);		\
	    out[j] = NARROW(expr); });					\
}
#define HALF_CHECKED(p, op, WIDE, NARROW, expr)				\
STEP(p##_##op)								\
{									\
	SOURCE(uint16_t, a);						\
	SOURCE(uint16_t, b);						\
	TARGET(uint16_t);						\
	uint32_t tiny = 0;						\
									\
	EACH(s->n, { float x = WIDE(a[j]), y = WIDE(b[j]), r = expr;	\
	    tiny |= (uint32_t)(__builtin_fabsf(r) < TINY) & (x != 0);	\
	    out[j] = NARROW(r); });					\
	if (tiny)							\
		cj_step_generic(f, s);					\
}
#define HALF_UNARY(p, op, WIDE, NARROW, expr)				\
STEP(p##_##op)								\
{									\
	SOURCE(uint16_t, a);						\
	TARGET(uint16_t);						\
									\
	EACH(s->n, { float x = WIDE(a[j]); out[j] = NARROW(expr); });	\
}
#define HALF_COMPARE(p, op, WIDE, expr)					\
STEP(p##_##op)								\
{									\
	SOURCE(uint16_t, a);						\
	SOURCE(uint16_t, b);						\
	TARGET(uint8_t);						\
									\
	EACH(s->n, { float x = WIDE(a[j]), y = WIDE(b[j]);		\
	    out[j] = (uint8_t)(expr); });				\
}
#define HALF_STEPS(p, WIDE, NARROW)					\
UNARY(p##_neg, uint16_t, uint16_t, x ^ 0x8000u)				\
UNARY(p##_abs, uint16_t, uint16_t, x & 0x7fffu)				\
BINARY(p##_copysign, uint16_t, uint16_t, (x & 0x7fffu) | (y & 0x8000u))	\
HALF_EXPR(p, add, WIDE, NARROW, x + y)					\
HALF_EXPR(p, sub, WIDE, NARROW, x - y)					\
HALF_CHECKED(p, mul, WIDE, NARROW, x * y)				\
HALF_CHECKED(p, div, WIDE, NARROW, x / y)				\
HALF_EXPR(p, min, WIDE, NARROW, LESSER(x, y, float_bits(x) & F32_SIGN))	\
HALF_EXPR(p, max, WIDE, NARROW, GREATER(x, y, float_bits(x) & F32_SIGN)) \
HALF_UNARY(p, sqrt, WIDE, NARROW, __builtin_sqrtf(x))			\
HALF_UNARY(p, floor, WIDE, NARROW, __builtin_floorf(x))			\
HALF_UNARY(p, ceil, WIDE, NARROW, __builtin_ceilf(x))			\
HALF_UNARY(p, trunc, WIDE, NARROW, __builtin_truncf(x))			\
HALF_UNARY(p, rint, WIDE, NARROW, __builtin_rintf(x))			\
HALF_COMPARE(p, eq, WIDE, x == y)					\
HALF_COMPARE(p, ne, WIDE, x != y)					\
HALF_COMPARE(p, lt, WIDE, x < y)					\
HALF_COMPARE(p, le, WIDE, x <= y)
HALF_STEPS(f16, half_float, float_half)
HALF_STEPS(bf16, brain_float, float_brain)

/* ---- integers ------------------------------------------------------------ */

#define BITS_STEPS(p, type)						\
BINARY(p##_and, type, type, x & y)					\
BINARY(p##_or, type, type, x | y)					\
BINARY(p##_xor, type, type, x ^ y)					\
BINARY(p##_eq, type, uint8_t, x == y)					\
BINARY(p##_ne, type, uint8_t, x != y)					\
BINARY(p##_lt, type, uint8_t, x < y)					\
BINARY(p##_le, type, uint8_t, x <= y)					\
BINARY(p##_min, type, type, y < x ? y : x)				\
BINARY(p##_max, type, type, x < y ? y : x)
#define SHIFT_STEPS(p, type, word, bits)				\
BINARY(p##_shl, type, type, (word)y >= bits ? 0				\
    : (type)((uint64_t)x << ((word)y & (bits - 1))))			\
BINARY(p##_shr, type, type, x >> ((word)y >= bits ? bits - 1 : (word)y))
#define UNSIGNED_SHR(p, type, bits)					\
BINARY(p##_shr, type, type, y >= bits ? 0 : x >> (y & (bits - 1)))	\
BINARY(p##_shl, type, type, y >= bits ? 0				\
    : (type)((uint64_t)x << (y & (bits - 1))))
#define WRAP_STEPS(p, type, word)					\
BITS_STEPS(p, type)							\
BINARY(p##_add, word, word, (uint64_t)x + y)				\
BINARY(p##_sub, word, word, (uint64_t)x - y)				\
BINARY(p##_mul, word, word, (uint64_t)x * y)				\
TERNARY(p##_fma, word, word, (uint64_t)x * y + z)			\
UNARY(p##_neg, word, word, 0 - (uint64_t)x)				\
UNARY(p##_not, word, word, ~(uint64_t)x)
#define SIGNED_STEPS(p, type, word, bits)				\
WRAP_STEPS(p, type, word)						\
SHIFT_STEPS(p, type, word, bits)					\
UNARY(p##_abs, type, type, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
#define UNSIGNED_STEPS(p, type, bits)					\
WRAP_STEPS(p, type, type)						\
UNSIGNED_SHR(p, type, bits)						\
UNARY(p##_abs, type, type, x)
SIGNED_STEPS(i8, int8_t, uint8_t, 8)
SIGNED_STEPS(i16, int16_t, uint16_t, 16)
SIGNED_STEPS(i32, int32_t, uint32_t, 32)
SIGNED_STEPS(i64, int64_t, uint64_t, 64)
UNSIGNED_STEPS(u8, uint8_t, 8)
UNSIGNED_STEPS(u16, uint16_t, 16)
UNSIGNED_STEPS(u32, uint32_t, 32)
UNSIGNED_STEPS(u64, uint64_t, 64)

BITS_STEPS(bool, uint8_t)
UNARY(bool_not, uint8_t, uint8_t, x ^ 1)

/* The language's int: overflow is a fault of the lanes that run. */
#define INDEX_STEP(name, expr, over)					\
STEP(name)								\
{									\
	SOURCE(uint64_t, a);						\
	SOURCE(uint64_t, b);						\
	TARGET(uint64_t);						\
	uint64_t wrong = 0;						\
									\
	EACH(s->n, { uint64_t x = a[j], y = b[j], r = expr;		\
	    wrong |= over; out[j] = r; });				\
	if (wrong >> 63)						\
		cj_index_overflow(f, s);				\
}
INDEX_STEP(index_add, x + y, (x ^ r) & (y ^ r))
INDEX_STEP(index_sub, x - y, (x ^ y) & (x ^ r))

STEP(index_mul)
{
	SOURCE(int64_t, a);
	SOURCE(int64_t, b);
	TARGET(int64_t);
	bool wrong = false;

	EACH(s->n, { wrong |= __builtin_mul_overflow(a[j], b[j], &out[j]); });
	if (wrong)
		cj_index_overflow(f, s);
}

STEP(index_fma)
{
	SOURCE(int64_t, a);
	SOURCE(int64_t, b);
	SOURCE(int64_t, c);
	TARGET(int64_t);
	bool wrong = false;

	/* the product alone may leave the range though the sum does not */
	EACH(s->n, { int64_t p;
	    wrong |= __builtin_mul_overflow(a[j], b[j], &p);
	    wrong |= __builtin_add_overflow(p, c[j], &out[j]); });
	if (wrong)
		cj_index_overflow(f, s);
}

STEP(index_neg)
{
	SOURCE(int64_t, a);
	TARGET(int64_t);
	bool wrong = false;

	EACH(s->n, { wrong |= __builtin_sub_overflow(0, a[j], &out[j]); });
	if (wrong)
		cj_index_overflow(f, s);
}

static inline int64_t
floor_div(int64_t x, int64_t y)
{
	int64_t q;

	if (y == 0)
		return 0;
	if (y == -1)
		return (int64_t)(0 - (uint64_t)x);
	q = x / y;
	return q - ((x % y != 0) & ((x < 0) != (y < 0)));
}

static inline int64_t
floor_mod(int64_t x, int64_t y)
{
	int64_t r;

	if (y == 0)
		return x;
	if (y == -1)
		return 0;
	r = x % y;
	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

STEP(index_div)
{
	SOURCE(int64_t, a);
	SOURCE(int64_t, b);
	TARGET(int64_t);
	bool wrong = false;

	EACH(s->n, { wrong |= a[j] == INT64_MIN && b[j] == -1;
	    out[j] = floor_div(a[j], b[j]); });
	if (wrong)
		cj_index_overflow(f, s);
}

BINARY(index_mod, int64_t, int64_t, floor_mod(x, y))
BINARY(i64_div, int64_t, int64_t, floor_div(x, y))
BINARY(i32_div, int32_t, int32_t, floor_div(x, y))
BINARY(i32_mod, int32_t, int32_t, floor_mod(x, y))
BINARY(u64_div, uint64_t, uint64_t, y == 0 ? 0 : x / y)
BINARY(u64_mod, uint64_t, uint64_t, y == 0 ? x : x % y)
BINARY(u32_div, uint32_t, uint32_t, y == 0 ? 0 : x / y)
BINARY(u32_mod, uint32_t, uint32_t, y == 0 ? x : x % y)
BINARY(i32_mul_hi, int32_t, int32_t, (int64_t)x * y >> 32)
BINARY(u32_mul_hi, uint32_t, uint32_t, (uint64_t)x * y >> 32)

/* ---- choice, by width ---------------------------------------------------- */

#define SELECT_STEP(name, type)						\
STEP(name)								\
{									\
	SOURCE(uint8_t, a);						\
	SOURCE(type, b);						\
	SOURCE(type, c);						\
	TARGET(type);							\
									\
	EACH(s->n, { type y = b[j], z = c[j];				\
	    out[j] = a[j] ? y : z; });					\
}
SELECT_STEP(select_1, uint8_t)
SELECT_STEP(select_2, uint16_t)
SELECT_STEP(select_4, uint32_t)
SELECT_STEP(select_8, uint64_t)

/* ---- conversions --------------------------------------------------------- */

UNARY(f32_of_f16, uint16_t, uint32_t, float_bits(half_float(x)))
UNARY(f32_of_bf16, uint16_t, uint32_t, float_bits(brain_float(x)))
UNARY(f16_of_f32, float, uint16_t, float_half(x))
UNARY(bf16_of_f32, float, uint16_t, float_brain(x))
UNARY(f64_of_f32, float, uint64_t, clean64((double)x))
UNARY(f32_of_f64, double, uint32_t, clean32((float)x))
UNARY(f64_of_f16, uint16_t, uint64_t, clean64((double)half_float(x)))
UNARY(f64_of_bf16, uint16_t, uint64_t, clean64((double)brain_float(x)))
UNARY(bf16_of_f16, uint16_t, uint16_t, float_brain(half_float(x)))
UNARY(f16_of_bf16, uint16_t, uint16_t, float_half(brain_float(x)))
UNARY(f32_of_i32, int32_t, float, x)
UNARY(f32_of_u32, uint32_t, float, x)
UNARY(f32_of_i64, int64_t, float, x)
UNARY(f64_of_i32, int32_t, double, x)
UNARY(f64_of_u32, uint32_t, double, x)
UNARY(f64_of_i64, int64_t, double, x)
UNARY(f32_of_bool, uint8_t, float, x)

/* Toward 0, saturating, NaN is 0. */
static inline int32_t
float_i32(float x)
{
	if (x != x)
		return 0;
	if (x >= 2147483648.0f)
		return INT32_MAX;
	return x <= -2147483648.0f ? INT32_MIN : (int32_t)x;
}

static inline int64_t
double_i64(double x)
{
	if (x != x)
		return 0;
	if (x >= 9223372036854775808.0)
		return INT64_MAX;
	return x <= -9223372036854775808.0 ? INT64_MIN : (int64_t)x;
}

UNARY(i32_of_f32, float, int32_t, float_i32(x))
UNARY(i64_of_f32, float, int64_t, double_i64((double)x))
UNARY(i64_of_f64, double, int64_t, double_i64(x))

/* Integers keep their low bits: by width, and by sign of the narrower one. */
#define RESIZE(from, to)						\
UNARY(to##_of_##from, from##_t, to##_t, (to##_t)x)
RESIZE(int8, int16)
RESIZE(int8, int32)
RESIZE(int8, int64)
RESIZE(uint8, int16)
RESIZE(uint8, int32)
RESIZE(uint8, int64)
RESIZE(int16, int8)
RESIZE(int16, int32)
RESIZE(int16, int64)
RESIZE(uint16, int32)
RESIZE(uint16, int64)
RESIZE(int32, int8)
RESIZE(int32, int16)
RESIZE(int32, int64)
RESIZE(uint32, int64)
RESIZE(int64, int8)
RESIZE(int64, int16)
RESIZE(int64, int32)

STEP(move_1)
{
	memcpy(f->regs + s->dst, f->regs + s->a, s->n);
}

STEP(move_2)
{
	memcpy(f->regs + s->dst, f->regs + s->a, (size_t)s->n * 2);
}

STEP(move_4)
{
	memcpy(f->regs + s->dst, f->regs + s->a, (size_t)s->n * 4);
}

STEP(move_8)
{
	memcpy(f->regs + s->dst, f->regs + s->a, (size_t)s->n * 8);
}

/* ---- the table ----------------------------------------------------------- */

#define ROW(op, KIND, step)	[CJ_OP_##op][CJ_KIND_##KIND] = step
#define FLOAT_ROWS(KIND, p)						\
	ROW(ADD, KIND, p##_add), ROW(SUB, KIND, p##_sub),		\
	ROW(MUL, KIND, p##_mul), ROW(DIV, KIND, p##_div),		\
	ROW(MIN, KIND, p##_min), ROW(MAX, KIND, p##_max),		\
	ROW(NEG, KIND, p##_neg), ROW(ABS, KIND, p##_abs),		\
	ROW(COPYSIGN, KIND, p##_copysign),				\
	ROW(SQRT, KIND, p##_sqrt), ROW(FLOOR, KIND, p##_floor),		\
	ROW(CEIL, KIND, p##_ceil), ROW(TRUNC, KIND, p##_trunc),		\
	ROW(RINT, KIND, p##_rint),					\
	ROW(EQ, KIND, p##_eq), ROW(NE, KIND, p##_ne),			\
	ROW(LT, KIND, p##_lt), ROW(LE, KIND, p##_le)
#define BITS_ROWS(KIND, p)						\
	ROW(AND, KIND, p##_and), ROW(OR, KIND, p##_or),			\
	ROW(XOR, KIND, p##_xor), ROW(NOT, KIND, p##_not),		\
	ROW(EQ, KIND, p##_eq), ROW(NE, KIND, p##_ne),			\
	ROW(LT, KIND, p##_lt), ROW(LE, KIND, p##_le),			\
	ROW(MIN, KIND, p##_min), ROW(MAX, KIND, p##_max)
#define INTEGER_ROWS(KIND, p)						\
	BITS_ROWS(KIND, p),						\
	ROW(ADD, KIND, p##_add), ROW(SUB, KIND, p##_sub),		\
	ROW(MUL, KIND, p##_mul), ROW(FMA, KIND, p##_fma),		\
	ROW(NEG, KIND, p##_neg), ROW(ABS, KIND, p##_abs),		\
	ROW(SHL, KIND, p##_shl), ROW(SHR, KIND, p##_shr)
#define SELECT_ROW(KIND, bytes)	ROW(SELECT, KIND, select_##bytes)

#define TO(KIND, FROM, step)	[CJ_KIND_##KIND][CJ_KIND_##FROM] = step
/* Integers of one width and sign, from all others. */
#define TO_BYTE(KIND)							\
	TO(KIND, I8, move_1), TO(KIND, U8, move_1),			\
	TO(KIND, I16, int8_of_int16), TO(KIND, U16, int8_of_int16),	\
	TO(KIND, I32, int8_of_int32), TO(KIND, U32, int8_of_int32),	\
	TO(KIND, I64, int8_of_int64), TO(KIND, U64, int8_of_int64),	\
	TO(KIND, INDEX, int8_of_int64), TO(KIND, BOOL, move_1)
#define TO_SHORT(KIND)							\
	TO(KIND, I8, int16_of_int8), TO(KIND, U8, int16_of_uint8),	\
	TO(KIND, I16, move_2), TO(KIND, U16, move_2),			\
	TO(KIND, I32, int16_of_int32), TO(KIND, U32, int16_of_int32),	\
	TO(KIND, I64, int16_of_int64), TO(KIND, U64, int16_of_int64),	\
	TO(KIND, INDEX, int16_of_int64), TO(KIND, BOOL, int16_of_uint8)
#define TO_WORD(KIND)							\
	TO(KIND, I8, int32_of_int8), TO(KIND, U8, int32_of_uint8),	\
	TO(KIND, I16, int32_of_int16), TO(KIND, U16, int32_of_uint16),	\
	TO(KIND, I32, move_4), TO(KIND, U32, move_4),			\
	TO(KIND, I64, int32_of_int64), TO(KIND, U64, int32_of_int64),	\
	TO(KIND, INDEX, int32_of_int64), TO(KIND, BOOL, int32_of_uint8)
#define TO_LONG(KIND)							\
	TO(KIND, I8, int64_of_int8), TO(KIND, U8, int64_of_uint8),	\
	TO(KIND, I16, int64_of_int16), TO(KIND, U16, int64_of_uint16),	\
	TO(KIND, I32, int64_of_int32), TO(KIND, U32, int64_of_uint32),	\
	TO(KIND, I64, move_8), TO(KIND, U64, move_8),			\
	TO(KIND, INDEX, move_8), TO(KIND, BOOL, int64_of_uint8)

const struct cj_vec_table CJ_VEC_TABLE = {
	.op = {
		FLOAT_ROWS(F32, f32), ROW(FMA, F32, f32_fma),
		FLOAT_ROWS(F64, f64), ROW(FMA, F64, f64_fma),
		FLOAT_ROWS(F16, f16),
		FLOAT_ROWS(BF16, bf16),
		INTEGER_ROWS(I8, i8),
		INTEGER_ROWS(I16, i16),
		INTEGER_ROWS(I32, i32),
		INTEGER_ROWS(I64, i64),
		INTEGER_ROWS(U8, u8),
		INTEGER_ROWS(U16, u16),
		INTEGER_ROWS(U32, u32),
		INTEGER_ROWS(U64, u64),
		BITS_ROWS(INDEX, i64),
		ROW(SHR, INDEX, i64_shr),
		ROW(ADD, INDEX, index_add), ROW(SUB, INDEX, index_sub),
		ROW(MUL, INDEX, index_mul), ROW(FMA, INDEX, index_fma),
		ROW(NEG, INDEX, index_neg), ROW(DIV, INDEX, index_div),
		ROW(MOD, INDEX, index_mod),
		ROW(DIV, I32, i32_div), ROW(MOD, I32, i32_mod),
		ROW(DIV, I64, i64_div), ROW(MOD, I64, index_mod),
		ROW(DIV, U32, u32_div), ROW(MOD, U32, u32_mod),
		ROW(DIV, U64, u64_div), ROW(MOD, U64, u64_mod),
		ROW(MUL_HI, I32, i32_mul_hi), ROW(MUL_HI, U32, u32_mul_hi),
		BITS_ROWS(BOOL, bool),
		SELECT_ROW(BOOL, 1), SELECT_ROW(I8, 1), SELECT_ROW(U8, 1),
		SELECT_ROW(F8E4M3, 1), SELECT_ROW(F8E5M2, 1),
		SELECT_ROW(I16, 2), SELECT_ROW(U16, 2), SELECT_ROW(F16, 2),
		SELECT_ROW(BF16, 2),
		SELECT_ROW(I32, 4), SELECT_ROW(U32, 4), SELECT_ROW(F32, 4),
		SELECT_ROW(TF32, 4),
		SELECT_ROW(I64, 8), SELECT_ROW(U64, 8), SELECT_ROW(F64, 8),
		SELECT_ROW(INDEX, 8),
	},
	.convert = {
		TO(F32, F16, f32_of_f16), TO(F32, BF16, f32_of_bf16),
		TO(F16, F32, f16_of_f32), TO(BF16, F32, bf16_of_f32),
		TO(F64, F32, f64_of_f32), TO(F32, F64, f32_of_f64),
		TO(F64, F16, f64_of_f16), TO(F64, BF16, f64_of_bf16),
		TO(BF16, F16, bf16_of_f16), TO(F16, BF16, f16_of_bf16),
		TO(F32, I32, f32_of_i32), TO(F32, U32, f32_of_u32),
		TO(F32, I64, f32_of_i64), TO(F32, INDEX, f32_of_i64),
		TO(F64, I32, f64_of_i32), TO(F64, U32, f64_of_u32),
		TO(F64, I64, f64_of_i64), TO(F64, INDEX, f64_of_i64),
		TO(F32, BOOL, f32_of_bool),
		TO(I32, F32, i32_of_f32), TO(I64, F32, i64_of_f32),
		TO(INDEX, F32, i64_of_f32), TO(I64, F64, i64_of_f64),
		TO(INDEX, F64, i64_of_f64),
		TO(F16, F16, move_2), TO(BF16, BF16, move_2),
		TO(F32, F32, move_4), TO(F64, F64, move_8),
		TO_BYTE(I8), TO_BYTE(U8),
		TO_SHORT(I16), TO_SHORT(U16),
		TO_WORD(I32), TO_WORD(U32),
		TO_LONG(I64), TO_LONG(U64), TO_LONG(INDEX),
	},
};
