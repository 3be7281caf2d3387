/*
 * Expressions: numbers, names, elements, operations. What is left of the bytes
 * and of the nodes that may be made ends the recursion.
 */
#include "program_priv.h"

#include <math.h>

enum { DEEPEST = 4, SCALARS = 24 };

static const enum cj_kind computed[] = {
	CJ_KIND_I32, CJ_KIND_F32, CJ_KIND_U32, CJ_KIND_F16, CJ_KIND_BF16,
	CJ_KIND_I8, CJ_KIND_U8, CJ_KIND_I16, CJ_KIND_U16, CJ_KIND_I64,
	CJ_KIND_U64, CJ_KIND_F64
};
static const enum cj_kind narrow[] = {
	CJ_KIND_F8E4M3, CJ_KIND_F8E5M2, CJ_KIND_F8UE8M0, CJ_KIND_I4,
	CJ_KIND_U4, CJ_KIND_F4E2M1, CJ_KIND_F6E2M3, CJ_KIND_F6E3M2
};

unsigned
make_byte(struct make *m)
{
	return m->at < m->size ? m->data[m->at++] : 0;
}

unsigned
make_pick(struct make *m, unsigned n)
{
	return make_byte(m) % n;
}

bool
make_chance(struct make *m, unsigned of_256)
{
	return make_byte(m) >= 256 - of_256;
}

enum cj_kind
make_kind(struct make *m)
{
	return computed[make_pick(m, CJ_LENGTH(computed))];
}

bool
make_is_narrow(enum cj_kind k)
{
	unsigned i;

	for (i = 0; i < CJ_LENGTH(narrow); i++)
		if (narrow[i] == k)
			return true;
	return false;
}

/* ---- numbers ------------------------------------------------------------ */

static uint64_t
fitted(enum cj_kind k, uint64_t bits)
{
	const struct cj_conversion plain = { .is_default = true };

	if (k == CJ_KIND_BOOL)
		return bits & 1;
	return cj_num_convert(k, CJ_KIND_U64, bits, plain);
}

static uint64_t
integer_value(enum cj_kind k, uint64_t random)
{
	unsigned width = cj_kind_bits(k);
	uint64_t rest = random >> 8;

	switch (random % 8) {
	case 0:
		return fitted(k, rest % 8);
	case 1:
		return fitted(k, -(rest % 8));
	case 2:
		return fitted(k, (uint64_t)1 << rest % width);
	case 3:
		return fitted(k, ((uint64_t)1 << rest % width) - 1);
	case 4:
		return fitted(k, -((uint64_t)1 << rest % width));
	case 5:
		return fitted(k, rest % 1000);
	default:
		return fitted(k, rest ^ rest << 40);
	}
}

static uint64_t
float_value(enum cj_kind k, uint64_t random)
{
	static const double special[] = { 0, 1, -1, 0.5, -0.0, 2, 3, -2.5,
	    1.5, 0x1p-149, 0x1p-126, -0x1p-133, 0x1p-24, 0x1p-14, 65504,
	    65520, 127, 128, 255, 256, -129, 32767.5, 2147483647,
	    -2147483649.0, 4294967296.0, 0x1p63, -0x1p63, 0x1p64, 3.4e38,
	    INFINITY, -INFINITY, NAN, 448, 464, 57344, 61440, 6, 28, 7.5,
	    0x1p-1074, 0x1p-1022, 1e300 };
	uint64_t rest = random >> 8;

	if (random % 4 == 0)
		return cj_num_from_f64(k, special[rest % CJ_LENGTH(special)]);
	if (random % 4 == 1)
		return cj_num_from_f64(k, (double)(int64_t)(rest % 512) - 256);
	return cj_num_from_f64(k, ldexp((double)(int64_t)(rest << 8),
	    (int)(random >> 2 & 63) - 80));
}

uint64_t
program_value(enum cj_kind k, uint64_t random)
{
	return cj_kind_is_float(k) ? float_value(k, random) :
	    integer_value(k, random);
}

/* A parameter of the text whose numbers are given; the same bytes leave the
 * same parameters in both. */
static const char *
scalar(struct make *m, enum cj_kind k, uint64_t bits, bool is_bounded)
{
	struct program_parameter *p;

	if (m->out->count >= SCALARS)
		return NULL;
	p = &m->out->parameters[m->out->count++];
	p->role = PROGRAM_SCALAR;
	p->kind = k;
	p->bits = bits;
	p->is_bounded = is_bounded;
	if (m->numbers == PROGRAM_KNOWN)
		return NULL;
	return cj_printf(m->arena, "p%u", m->out->count - 1);
}

/* As the language writes it: literals end at 2^63 - 1. */
static const char *
literal(struct make *m, enum cj_kind k, uint64_t bits)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, m->arena);
	if (k == CJ_KIND_BOOL)
		return bits != 0 ? "true" : "false";
	if (!cj_kind_is_float(k) && bits >> 63 != 0) {
		cj_strbuf_printf(&b, "(~%s(%llu))", cj_kind_text(k),
		    (unsigned long long)~bits);
		return b.text;
	}
	if (k != CJ_KIND_INDEX)
		cj_strbuf_printf(&b, "%s(", cj_kind_text(k));
	cj_num_print(&b, k, bits);
	if (cj_kind_is_float(k) && bits != 0 && cj_num_to_f64(k, bits) == 0)
		cj_strbuf_puts(&b, ".0");	/* a float, and no int */
	cj_strbuf_puts(&b, k != CJ_KIND_INDEX ? ")" : "");
	return b.text;
}

static const char *
number(struct make *m, enum cj_kind k)
{
	uint64_t random = make_byte(m), bits;
	const char *name;

	random |= (uint64_t)make_byte(m) << 8;
	bits = k == CJ_KIND_BOOL ? random & 1 : program_value(k, random);
	name = scalar(m, k, bits, false);
	return name != NULL ? name : literal(m, k, bits);
}

const char *
make_count(struct make *m, int64_t lo, int64_t n, int64_t *value)
{
	bool is_bounded = make_chance(m, 128);
	const char *name;

	*value = lo + make_byte(m) % n;
	name = scalar(m, CJ_KIND_INDEX, (uint64_t)*value, is_bounded);
	return name != NULL ? name : cj_printf(m->arena, *value < 0 ?
	    "(%lld)" : "%lld", (long long)*value);
}

/* ---- names and elements ------------------------------------------------- */

static const struct make_name *
find(struct make *m, enum cj_kind k, unsigned n)
{
	unsigned skip = make_byte(m), i, fit = 0;

	for (i = 0; i < m->count; i++)
		fit += m->names[i].kind == k && m->names[i].n == n;
	if (fit == 0)
		return NULL;
	skip %= fit;
	for (i = m->count; i-- != 0;)
		if (m->names[i].kind == k && m->names[i].n == n &&
		    skip-- == 0)
			return &m->names[i];
	return NULL;
}

static const char *
element(struct make *m, enum cj_kind k, unsigned n, unsigned depth)
{
	bool is_own = make_chance(m, 64) && !make_is_narrow(k);
	unsigned room = (is_own ? PROGRAM_OWN : PROGRAM_INPUTS) / n;
	const char *t = make_tensor(m, is_own ? PROGRAM_OUTPUT : PROGRAM_INPUT,
	    k), *i = make_below(m, room, depth);

	if (is_own)
		i = cj_printf(m->arena, "g * %u + %s", room, i);
	if (n == 1)
		return cj_printf(m->arena, "%s[%s]", t, i);
	return cj_printf(m->arena, "load(local_tile(%s, %u, %s))", t, n, i);
}

static const char *
leaf(struct make *m, enum cj_kind k, unsigned n)
{
	const struct make_name *v;

	if (make_chance(m, 160) && (v = find(m, k, n)) != NULL)
		return cj_printf(m->arena, "%c%u", v->prefix, v->number);
	if (n != 1 || (make_chance(m, 128) && k != CJ_KIND_BOOL))
		return element(m, k, n, DEEPEST);
	return number(m, k);
}

/* ---- int ---------------------------------------------------------------- */

static const char *
index_leaf(struct make *m, int64_t *bound)
{
	const struct make_name *v;
	int64_t value;
	const char *text;

	switch (make_pick(m, 5)) {
	case 0:
		*bound = m->threads - 1;
		return "t";
	case 1:
		v = find(m, CJ_KIND_INDEX, 1);
		if (v == NULL)
			break;
		*bound = v->bound;
		return cj_printf(m->arena, "%c%u", v->prefix, v->number);
	case 2:
		*bound = 128;
		return cj_printf(m->arena, "int(%s)", leaf(m, CJ_KIND_I8, 1));
	case 3:
		*bound = PROGRAM_BLOCKS - 1;
		return "block_idx.x";
	}
	text = make_count(m, make_chance(m, 40) ? 100000 :
	    -(int64_t)make_pick(m, 3), 40, &value);
	*bound = value < 0 ? -value : value;
	return text;
}

static const char *
index_binary(struct make *m, unsigned depth, int64_t *bound)
{
	static const char *const formats[] = { "(%s + %s)", "(%s - %s)",
	    "(%s * %s)", "(%s / %s)", "(%s %% %s)", "min(%s, %s)",
	    "max(%s, %s)", "(%s & %s)", "(%s | %s)", "(%s ^ %s)" };
	int64_t a = 0, b = 0, both;
	const char *x = make_index(m, depth + 1, &a);
	const char *y = make_index(m, depth + 1, &b);
	unsigned which = make_pick(m, CJ_LENGTH(formats));

	switch (which) {
	case 0:
	case 1:
		*bound = a + b;
		break;
	case 2:
		*bound = a * b;
		break;
	case 3:
		*bound = a;
		break;
	case 4:
		*bound = a > b ? a : b;
		break;
	default:
		both = a > b ? a : b;
		while (both & (both + 1))
			both |= both >> 1;
		*bound = both + 1;
		break;
	}
	return cj_printf(m->arena, formats[which], x, y);
}

const char *
make_index(struct make *m, unsigned depth, int64_t *bound)
{
	enum { NARROW = 1 << 30 };
	const char *text;
	int64_t value;

	if (m->left == 0 || depth >= DEEPEST || make_chance(m, 80))
		return index_leaf(m, bound);
	m->left--;
	if (make_chance(m, 24)) {
		const char *c = make_condition(m, depth + 1);
		const char *x = make_index(m, depth + 1, bound);
		int64_t other;
		const char *y = make_index(m, depth + 1, &other);

		*bound = *bound > other ? *bound : other;
		return cj_printf(m->arena, "where(%s, %s, %s)", c, x, y);
	}
	if (make_chance(m, 24)) {
		text = make_index(m, depth + 1, bound);
		return cj_printf(m->arena, make_chance(m, 128) ?
		    "(-%s)" : "abs(%s)", text);
	}
	if (make_chance(m, 24)) {
		text = make_index(m, depth + 1, bound);
		return cj_printf(m->arena, "(%s >> %s)", text,
		    make_count(m, 0, 5, &value));
	}
	text = index_binary(m, depth, bound);
	if (*bound < NARROW)
		return text;
	*bound = 1000 + (int64_t)make_pick(m, 100);
	return cj_printf(m->arena, "(%s %% %lld)", text, (long long)*bound);
}

const char *
make_below(struct make *m, int64_t n, unsigned depth)
{
	int64_t bound, value;
	const char *i;

	if (n == 1)
		return "0";
	if (make_chance(m, 96))
		return make_count(m, 0, n, &value);
	i = make_index(m, depth, &bound);
	return cj_printf(m->arena, "(%s %% %lld)", i, (long long)n);
}

/* ---- conditions --------------------------------------------------------- */

static const char *
compare(struct make *m, unsigned depth)
{
	static const char *const signs[] = { "<", "<=", ">", ">=", "==",
	    "!=" };
	const char *sign = signs[make_pick(m, CJ_LENGTH(signs))], *x, *y;
	enum cj_kind k;
	int64_t bound;

	if (make_chance(m, 100)) {
		x = make_index(m, depth + 1, &bound);
		y = make_index(m, depth + 1, &bound);
	} else {
		k = make_kind(m);
		x = make_expr(m, k, 1, depth + 1);
		y = make_expr(m, k, 1, depth + 1);
	}
	return cj_printf(m->arena, "(%s %s %s)", x, sign, y);
}

const char *
make_condition(struct make *m, unsigned depth)
{
	static const char *const signs[] = { "&", "|", "^", "==", "!=", "&&",
	    "||" };
	bool was_uniform = m->is_uniform;
	const char *x, *y;
	unsigned which;

	if (m->left == 0 || depth >= DEEPEST)
		return leaf(m, CJ_KIND_BOOL, 1);
	m->left--;
	switch (make_pick(m, 4)) {
	case 0:
		return cj_printf(m->arena, "(!%s)",
		    make_condition(m, depth + 1));
	case 1:
		x = make_condition(m, depth + 1);
		which = make_pick(m, CJ_LENGTH(signs));
		m->is_uniform &= which < 5;
		y = make_condition(m, depth + 1);
		m->is_uniform = was_uniform;
		return cj_printf(m->arena, "(%s %s %s)", x, signs[which], y);
	default:
		return compare(m, depth);
	}
}

/* ---- operations --------------------------------------------------------- */

static const char *
unary(struct make *m, enum cj_kind k, unsigned n, unsigned depth)
{
	static const char *const of_integers[] = { "(-%s)", "(~%s)",
	    "abs(%s)", "popc(%s)", "clz(%s)", "ctz(%s)" };
	static const char *const of_floats[] = { "(-%s)", "abs(%s)",
	    "sqrt(%s)", "floor(%s)", "ceil(%s)", "trunc(%s)", "rint(%s)" };
	const char *x = make_expr(m, k, n, depth + 1);

	return cj_printf(m->arena, cj_kind_is_float(k) ?
	    of_floats[make_pick(m, CJ_LENGTH(of_floats))] :
	    of_integers[make_pick(m, CJ_LENGTH(of_integers))], x);
}

/* One operand may have one register, for all of the other. */
static const char *
binary(struct make *m, enum cj_kind k, unsigned n, unsigned depth)
{
	static const char *const of_integers[] = { "(%s + %s)", "(%s - %s)",
	    "(%s * %s)", "(%s / %s)", "(%s %% %s)", "(%s & %s)", "(%s | %s)",
	    "(%s ^ %s)", "(%s << %s)", "(%s >> %s)", "min(%s, %s)",
	    "max(%s, %s)", "mul_hi(%s, %s)" };
	static const char *const of_floats[] = { "(%s + %s)", "(%s - %s)",
	    "(%s * %s)", "(%s / %s)", "min(%s, %s)", "max(%s, %s)",
	    "copysign(%s, %s)" };
	const char *x = make_expr(m, k, n, depth + 1);
	const char *y = make_expr(m, k, make_chance(m, 64) ? 1 : n, depth + 1);

	return cj_printf(m->arena, cj_kind_is_float(k) ?
	    of_floats[make_pick(m, CJ_LENGTH(of_floats))] :
	    of_integers[make_pick(m, CJ_LENGTH(of_integers))], x, y);
}

static const char *
ternary(struct make *m, enum cj_kind k, unsigned n, unsigned depth)
{
	static const char *const formats[] = { "fma(%s, %s, %s)",
	    "(%s * %s + %s)", "(%s * %s - %s)", "((%s * %s) + %s)",
	    "clamp(%s, %s, %s)" };
	const char *x = make_expr(m, k, n, depth + 1);
	const char *y = make_expr(m, k, n, depth + 1);
	const char *z = make_expr(m, k, n, depth + 1);

	return cj_printf(m->arena, formats[make_pick(m, CJ_LENGTH(formats))],
	    x, y, z);
}

static const char *
choice(struct make *m, enum cj_kind k, unsigned n, unsigned depth)
{
	const char *c = make_condition(m, depth + 1), *x, *y;
	bool was_uniform = m->is_uniform, is_if = make_chance(m, 100);

	if (is_if)
		m->is_uniform = false;
	x = make_expr(m, k, n, depth + 1);
	y = make_expr(m, k, n, depth + 1);
	m->is_uniform = was_uniform;
	return cj_printf(m->arena, is_if ? "(if %s { %s } else { %s })" :
	    "where(%s, %s, %s)", c, x, y);
}

static enum cj_kind
narrow_kind(struct make *m)
{
	return narrow[make_pick(m, CJ_LENGTH(narrow))];
}

/* How a conversion is asked for, in words. */
static const char *
manner(struct make *m)
{
	static const char *const manners[] = { "", "", "", ", round = .zero",
	    ", round = .up", ", round = .down", ", round = .even",
	    ", saturate = true", ", round = .zero, saturate = true" };

	return manners[make_pick(m, CJ_LENGTH(manners))];
}

static const char *
conversion(struct make *m, enum cj_kind k, unsigned n, unsigned depth)
{
	enum cj_kind from = make_kind(m), by;
	const char *x;
	int64_t bound;

	switch (make_pick(m, 6)) {
	case 0:
		if (n == 1)
			return cj_printf(m->arena, "%s(%s)", cj_kind_text(k),
			    make_index(m, depth + 1, &bound));
		break;
	case 1:
		from = narrow_kind(m);
		return cj_printf(m->arena, "%s(%s)", cj_kind_text(k),
		    element(m, from, n, depth + 1));
	case 2:
		by = narrow_kind(m);
		x = make_expr(m, from, n, depth + 1);
		return cj_printf(m->arena, "%s(%s(%s%s))", cj_kind_text(k),
		    cj_kind_text(by), x, manner(m));
	case 3:
		if (n == 1)
			return cj_printf(m->arena, "%s(%s)", cj_kind_text(k),
			    make_condition(m, depth + 1));
		break;
	}
	x = make_expr(m, from, n, depth + 1);
	return cj_printf(m->arena, "%s(%s%s)", cj_kind_text(k), x, manner(m));
}

/* The same bits as another kind; which NaN it is nobody says. */
static const char *
cast(struct make *m, enum cj_kind k, unsigned n, unsigned depth)
{
	unsigned i = make_byte(m);
	enum cj_kind from;
	const char *x;

	do
		from = computed[i++ % CJ_LENGTH(computed)];
	while (cj_kind_bits(from) != cj_kind_bits(k));
	x = make_expr(m, from, n, depth + 1);
	if (cj_kind_is_float(k))
		return cj_printf(m->arena, "number(bitcast(%s, %s))",
		    cj_kind_text(k), x);
	return cj_printf(m->arena, cj_kind_is_float(from) ?
	    "bitcast(%s, number(%s))" : "bitcast(%s, %s)", cj_kind_text(k), x);
}

/* One register out of several. */
static const char *
reduction(struct make *m, enum cj_kind k, unsigned depth)
{
	static const char *const names[] = { "sum", "min", "max" };
	unsigned n = 2u << make_pick(m, 3);
	unsigned at = make_pick(m, n);
	const char *x = make_expr(m, k, n, depth + 1);
	const struct make_name *v;

	if (make_chance(m, 100) && (v = find(m, k, n)) != NULL)
		return cj_printf(m->arena, "%c%u[%u]", v->prefix, v->number,
		    at);
	return cj_printf(m->arena, "%s(%s)", names[make_pick(m, 3)], x);
}

static const char *
function(struct make *m, enum cj_kind k, unsigned n, unsigned depth)
{
	static const char *const names[] = { "exp2", "rsqrt", "sigmoid",
	    "log2", "sin", "tanh" };

	if (k != CJ_KIND_F32 && k != CJ_KIND_F16)
		return unary(m, k, n, depth);
	return cj_printf(m->arena, "%s(%s)",
	    names[make_pick(m, CJ_LENGTH(names))],
	    make_expr(m, k, n, depth + 1));
}

const char *
make_expr(struct make *m, enum cj_kind k, unsigned n, unsigned depth)
{
	if (k == CJ_KIND_BOOL && n == 1)
		return make_condition(m, depth);
	if (m->left == 0 || depth >= DEEPEST || m->at >= m->size)
		return leaf(m, k, n);
	m->left--;
	switch (make_pick(m, 16)) {
	case 0: case 1:
		return leaf(m, k, n);
	case 2:
		return unary(m, k, n, depth);
	case 3:
		return ternary(m, k, n, depth);
	case 4:
		return choice(m, k, n, depth);
	case 5: case 6:
		return conversion(m, k, n, depth);
	case 7:
		return cast(m, k, n, depth);
	case 8:
		return element(m, k, n, depth + 1);
	case 9:
		return n == 1 ? reduction(m, k, depth) : binary(m, k, n,
		    depth);
	case 10:
		return m->is_uniform && n == 1 ? make_collective(m, k, depth) :
		    binary(m, k, n, depth);
	case 11:
		if (make_chance(m, 48))
			return function(m, k, n, depth);
		return binary(m, k, n, depth);
	default:
		return binary(m, k, n, depth);
	}
}

/* ---- together ----------------------------------------------------------- */

static const char *
of_warp(struct make *m, enum cj_kind k, const char *x)
{
	static const char *const formats[] = { "shfl_xor(%s, %u)",
	    "shfl_up(%s, %u)", "shfl_down(%s, %u)", "shfl(%s, %u)" };
	static const char *const sums[] = { "sum", "min", "max" };
	unsigned which = make_pick(m, 6);

	if (which < 4)
		return cj_printf(m->arena, formats[which], x,
		    make_pick(m, 32));
	(void)k;
	return cj_printf(m->arena, "%s(%s, over = .%s)", sums[make_pick(m, 3)],
	    x, which == 4 ? "warp" : "block");
}

static const char *
of_u32(struct make *m, unsigned depth)
{
	static const char *const names[] = { "redux_add", "redux_min",
	    "redux_max", "redux_and", "redux_or", "redux_xor", "match_any" };

	if (make_chance(m, 100))
		return cj_printf(m->arena, "ballot(%s)",
		    make_condition(m, depth + 1));
	return cj_printf(m->arena, "%s(%s)",
	    names[make_pick(m, CJ_LENGTH(names))],
	    make_expr(m, CJ_KIND_U32, 1, depth + 1));
}

const char *
make_collective(struct make *m, enum cj_kind k, unsigned depth)
{
	if (k == CJ_KIND_U32 && make_chance(m, 128))
		return of_u32(m, depth);
	return of_warp(m, k, make_expr(m, k, 1, depth + 1));
}
