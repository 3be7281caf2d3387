/*
 * Swizzles: XOR of one run of bits of an offset into another.
 *
 * Sw<B,M,S>: the B bits from M + |S| on go into the B bits from M on if S is
 * positive, the other way round if S is negative.
 */
#include "layout_priv.h"

/* The bits that are read, and those that change. */
static int64_t
source_bits(struct cj_swizzle s)
{
	assert(s.bits >= 0 && s.base >= 0 && s.base + s.bits < 63);
	return (((int64_t)1 << s.bits) - 1)
	    << (s.base + (s.shift > 0 ? s.shift : 0));
}

static int64_t
target_bits(struct cj_swizzle s)
{
	assert(s.bits >= 0 && s.base >= 0 && s.base + s.bits < 63);
	return (((int64_t)1 << s.bits) - 1)
	    << (s.base - (s.shift < 0 ? s.shift : 0));
}

struct cj_int
cj_swizzle_apply(struct cj_algebra *al, struct cj_swizzle s,
    struct cj_int offset)
{
	struct cj_int bits;

	if (s.bits == 0)
		return offset;
	bits = cj_int_bit(al->sym, CJ_TERM_AND, offset,
	    cj_known(source_bits(s)));
	bits = s.shift > 0
	    ? cj_int_bit(al->sym, CJ_TERM_SHR, bits, cj_known(s.shift))
	    : cj_int_bit(al->sym, CJ_TERM_SHL, bits, cj_known(-s.shift));
	return cj_int_bit(al->sym, CJ_TERM_XOR, offset, bits);
}

/* ---- memory ------------------------------------------------------------- */

/* Offsets from a multiple of this to the next stay between the two. */
static int64_t
block_of(struct cj_swizzle s)
{
	int top = s.base + s.bits - (s.shift < 0 ? s.shift : 0);

	return s.bits == 0 ? 1 : (int64_t)1 << top;
}

/* The largest place that 0 .. last lead to; the end of the block where that
 * would take long to say. */
static int64_t
largest_place(struct cj_swizzle s, int64_t last)
{
	enum { LONG = 1 << 16 };
	int64_t block = block_of(s), i = last / block * block, bits, place;
	int64_t largest = block > LONG ? i + block - 1 : last;

	for (; block <= LONG && i <= last; i++) {
		bits = i & source_bits(s);
		place = i ^ (s.shift > 0 ? bits >> s.shift : bits << -s.shift);
		if (place > largest)
			largest = place;
	}
	return largest;
}

struct cj_int
cj_layout_extent(struct cj_algebra *al, const struct cj_layout *l)
{
	struct cj_int n = cj_layout_cosize(al, l), block;

	if (!l->is_composed || cj_is_value(n, 0) || (l->offset != NULL &&
	    l->offset->kind != CJ_TUPLE_INT))
		return n;
	if (l->offset != NULL)
		n = cj_int_add(al->sym, n, l->offset->value);
	if (cj_is_known(n))
		return n.value < 1 || n.value > INT64_MAX -
		    block_of(l->swizzle) ? n :
		    cj_known(largest_place(l->swizzle, n.value - 1) + 1);
	block = cj_known(block_of(l->swizzle));
	return cj_int_mul(al->sym, cj_int_ceil_div(al->sym, n, block), block);
}

/* ---- composition ------------------------------------------------------- */

/* The swizzle that XORs the bits of `source` into those of `target`: both a
 * run of equal length. */
static bool
swizzle_of(int64_t source, int64_t target, struct cj_swizzle *out)
{
	int bits = __builtin_popcountll((uint64_t)source);
	int from, to;

	*out = (struct cj_swizzle){ 0, 0, 0 };
	if (source == 0 && target == 0)
		return true;
	if (source <= 0 || target <= 0)
		return false;
	from = __builtin_ctzll((uint64_t)source);
	to = __builtin_ctzll((uint64_t)target);
	*out = (struct cj_swizzle){ bits, from < to ? from : to, from - to };
	return (from - to >= bits || to - from >= bits)
	    && source_bits(*out) == source
	    && target_bits(*out) == target;
}

bool
cj_swizzle_compose(struct cj_algebra *al, struct cj_swizzle outer,
    struct cj_swizzle inner, struct cj_swizzle *out)
{
	int64_t source = source_bits(outer) ^ source_bits(inner);
	int64_t target = target_bits(outer) ^ target_bits(inner);

	if (outer.shift == inner.shift
	    && (target_bits(inner) & source_bits(outer)) == 0
	    && swizzle_of(source, target, out))
		return true;
	cj_refuse(al, CJ_REFUSED_SWIZZLE,
	    "Two swizzles are one if they have the same shift and their bits"
	    " are one run.",
	    "Sw<%d,%d,%d> after Sw<%d,%d,%d> is not one swizzle", outer.bits,
	    outer.base, outer.shift, inner.bits, inner.base, inner.shift);
	return false;
}

static bool
is_power(int64_t v)
{
	return v > 0 && (v & (v - 1)) == 0;
}

static int64_t
plain_value(const struct cj_modes *m, int64_t index)
{
	int64_t sum = 0;
	uint32_t i;

	assert(m->count > 0);
	for (i = 0; i + 1 < m->count; i++) {
		sum += index % m->at[i].shape.value
		    * m->at[i].stride->value.value;
		index /= m->at[i].shape.value;
	}
	return sum + index * m->at[i].stride->value.value;
}

/*
 * Whether each bit of the index is a bit of the value of its own, also the
 * bits of `reach` beyond the domain, which the last mode takes: extents and
 * strides are powers of two and the modes do not meet. The last mode may have
 * any extent.
 */
static bool
is_bitwise(const struct cj_modes *m, int64_t reach)
{
	int64_t used = 0;
	uint32_t i;

	if (reach < 0 || reach > (int64_t)1 << 40)
		return false;
	for (i = 0; i < m->count; i++) {
		int64_t s = m->at[i].shape.value;
		int64_t d = m->at[i].stride->value.value, mask;

		if (!is_power(d) || s <= 0 || s > (int64_t)1 << 40
		    || d > (int64_t)1 << 20)
			return false;
		if (!is_power(s) && i + 1 < m->count)
			return false;
		while (!is_power(s))
			s += s & -s;
		while (i + 1 == m->count && s <= reach)
			s *= 2;
		reach /= s;
		mask = (s - 1) * d;
		if ((used & mask) != 0)
			return false;
		used |= mask;
	}
	return true;
}

/* Point by point, for layouts that are small and known. */
static bool
agrees(const struct cj_modes *m, struct cj_swizzle s, struct cj_swizzle t)
{
	int64_t i, size = 1, x, y;
	uint32_t j;

	for (j = 0; j < m->count; j++)
		size *= m->at[j].shape.value;
	for (i = 0; i < size; i++) {
		x = i & source_bits(s);
		x = i ^ (s.shift > 0 ? x >> s.shift : x << -s.shift);
		y = plain_value(m, i);
		if (y < 0)
			return false;
		y ^= t.shift > 0 ? (y & source_bits(t)) >> t.shift
		    : (y & source_bits(t)) << -t.shift;
		if (plain_value(m, x) != y)
			return false;
	}
	return true;
}

static bool
is_small(const struct cj_modes *m)
{
	int64_t size = 1;
	uint32_t i;

	for (i = 0; i < m->count; i++) {
		if (m->at[i].shape.value <= 0 || __builtin_mul_overflow(size,
		    m->at[i].shape.value, &size) || size > 1 << 16)
			return false;
		if (m->at[i].stride->value.value > (int64_t)1 << 30
		    || m->at[i].stride->value.value < -((int64_t)1 << 30))
			return false;
	}
	return true;
}

/* Whether the runs of bits go to runs in the same order. */
static bool
keeps_runs(const struct cj_modes *m, struct cj_swizzle s,
    struct cj_swizzle t)
{
	int64_t from = source_bits(s), to = target_bits(s);
	int64_t new_from = source_bits(t), new_to = target_bits(t);

	while (from != 0) {
		if (plain_value(m, from & -from) != (new_from & -new_from)
		    || plain_value(m, to & -to) != (new_to & -new_to))
			return false;
		from &= from - 1;
		to &= to - 1;
		new_from &= new_from - 1;
		new_to &= new_to - 1;
	}
	return true;
}

/*
 * l o Sw as Sw' o l: the bits that Sw reads and writes go through l one by one
 * and have to be runs again.
 */
const struct cj_layout *
cj_layout_compose_swizzle(struct cj_algebra *al, const struct cj_layout *l,
    struct cj_swizzle s)
{
	const struct cj_layout *inner = cj_layout_inner(al, l);
	struct cj_swizzle moved = { 0, 0, 0 };
	struct cj_modes m;
	bool bitwise, fits;

	if (s.bits == 0)
		return l;
	cj_modes_init(&m);
	cj_modes_flatten(al, &m, inner->shape, inner->stride);
	if (!cj_tuple_is_known(inner->shape)
	    || !cj_tuple_is_known(inner->stride)
	    || (inner->stride->has & CJ_HAS_BASIS) != 0 || m.count == 0)
		return cj_refuse(al, CJ_REFUSED_SYMBOLIC, NULL,
		    "a swizzle cannot move through %s, which is not known",
		    cj_layout_text(al, l));
	cj_coalesce_beyond(al, &m);
	bitwise = is_bitwise(&m, source_bits(s)
	    | target_bits(s));
	fits = (bitwise || is_small(&m))
	    && swizzle_of(plain_value(&m, source_bits(s)),
	    plain_value(&m, target_bits(s)), &moved)
	    && moved.bits == s.bits;
	fits = fits && (bitwise ? keeps_runs(&m, s, moved)
	    : agrees(&m, s, moved));
	if (!fits)
		return cj_refuse(al, CJ_REFUSED_SWIZZLE,
		    "The bits it reads and the bits it changes have to be"
		    " runs in the values, too.",
		    "Sw<%d,%d,%d> before %s is not one swizzle after it",
		    s.bits, s.base, s.shift, cj_layout_text(al, inner));
	if (l->is_composed) {
		if (l->offset != NULL && !cj_stride_is(l->offset, 0))
			return cj_refuse(al, CJ_REFUSED_SWIZZLE, NULL,
			    "%s has an offset between two swizzles",
			    cj_layout_text(al, l));
		if (!cj_swizzle_compose(al, l->swizzle, moved, &moved))
			return NULL;
	}
	if (moved.bits == 0)
		return inner;
	return cj_layout_composed(al, moved, NULL, inner);
}
