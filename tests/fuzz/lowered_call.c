/*
 * What LLVM's text calls: LLVM's own functions, those of NVPTX, and PTX, as
 * their manuals say. What lanes of a warp do together waits for all of them.
 */
#include "lowered_priv.h"

#include <math.h>
#include <stdlib.h>

static bool
begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* ---- numbers ------------------------------------------------------------ */

static const struct float_row {
	const char *name;
	enum cj_op op;
} floats[] = {
	{ "llvm.fma.", CJ_OP_FMA }, { "llvm.sqrt.", CJ_OP_SQRT },
	{ "llvm.fabs.", CJ_OP_ABS }, { "llvm.copysign.", CJ_OP_COPYSIGN },
	{ "llvm.maximum.", CJ_OP_MAX }, { "llvm.minimum.", CJ_OP_MIN },
	{ "llvm.floor.", CJ_OP_FLOOR }, { "llvm.ceil.", CJ_OP_CEIL },
	{ "llvm.trunc.", CJ_OP_TRUNC }, { "llvm.roundeven.", CJ_OP_RINT },
	{ "llvm.rint.", CJ_OP_RINT },
};

static unsigned
leading(uint64_t x, unsigned w)
{
	return x == 0 ? w : (unsigned)__builtin_clzll(x) - (64 - w);
}

static bool
of_integers(const struct low_step *s, const uint64_t *x, uint64_t *out,
    bool *poison)
{
	unsigned w = s->type.width;
	const char *n = s->name;
	int64_t a = low_signed(x[0], w), b = low_signed(x[1], w);

	if (begins(n, "llvm.smax.")) {
		*out = a > b ? x[0] : x[1];
	} else if (begins(n, "llvm.smin.")) {
		*out = a < b ? x[0] : x[1];
	} else if (begins(n, "llvm.umax.")) {
		*out = x[0] > x[1] ? x[0] : x[1];
	} else if (begins(n, "llvm.umin.")) {
		*out = x[0] < x[1] ? x[0] : x[1];
	} else if (begins(n, "llvm.ctpop.")) {
		*out = (unsigned)__builtin_popcountll(x[0]);
	} else if (begins(n, "llvm.ctlz.")) {
		*poison |= x[0] == 0 && (x[1] & 1);
		*out = leading(x[0], w);
	} else if (begins(n, "llvm.cttz.")) {
		*poison |= x[0] == 0 && (x[1] & 1);
		*out = x[0] == 0 ? w : (unsigned)__builtin_ctzll(x[0]);
	} else if (begins(n, "llvm.abs.")) {
		*poison |= (x[1] & 1) && x[0] == (uint64_t)1 << (w - 1);
		*out = low_cut(a < 0 ? -(uint64_t)a : (uint64_t)a, w);
	} else if (begins(n, "llvm.fshl.") || begins(n, "llvm.fshr.")) {
		unsigned k = (unsigned)(x[2] % w);

		if (begins(n, "llvm.fshr."))
			*out = k == 0 ? x[1] : x[1] >> k | x[0] << (w - k);
		else
			*out = k == 0 ? x[0] : x[0] << k | x[1] >> (w - k);
		*out = low_cut(*out, w);
	} else {
		return false;
	}
	return true;
}

/* scmp, ucmp, saturating sums. */
static bool
of_integers_more(const struct low_step *s, const uint64_t *x, uint64_t *out)
{
	unsigned w = s->type.width, v = s->from.width;
	const char *n = s->name;
	int64_t a = low_signed(x[0], v), b = low_signed(x[1], v);

	if (begins(n, "llvm.scmp."))
		*out = low_cut((uint64_t)((a > b) - (a < b)), w);
	else if (begins(n, "llvm.ucmp."))
		*out = low_cut((uint64_t)((x[0] > x[1]) - (x[0] < x[1])), w);
	else if (begins(n, "llvm.usub.sat."))
		*out = x[0] > x[1] ? x[0] - x[1] : 0;
	else if (begins(n, "llvm.uadd.sat."))
		*out = low_cut(x[0] + x[1], w) < x[0] ? low_cut(UINT64_MAX, w)
		    : x[0] + x[1];
	else if (begins(n, "llvm.bswap."))
		*out = __builtin_bswap64(x[0]) >> (64 - w);
	else
		return false;
	return true;
}

/* The bit of its class, as llvm.is.fpclass counts them. */
static unsigned
class_of(enum cj_kind k, uint64_t bits)
{
	double x = cj_num_to_f64(k, bits);
	bool is_negative = signbit(x) != 0;
	double least = cj_num_to_f64(k, k == CJ_KIND_F16 ? 0x400 :
	    k == CJ_KIND_BF16 ? 0x80 : k == CJ_KIND_F32 ? 0x800000 :
	    (uint64_t)1 << 52);

	if (isnan(x))
		return 2;
	if (isinf(x))
		return is_negative ? 4 : 0x200;
	if (x == 0)
		return is_negative ? 0x20 : 0x40;
	if (fabs(x) < least)
		return is_negative ? 0x10 : 0x80;
	return is_negative ? 8 : 0x100;
}

static bool
of_llvm(const struct low_step *s, const uint64_t *x, uint64_t *out,
    bool *poison)
{
	unsigned i;

	for (i = 0; i < CJ_LENGTH(floats); i++)
		if (begins(s->name, floats[i].name)) {
			*out = cj_num_apply(floats[i].op, s->type.kind, x[0],
			    x[1], x[2]);
			return true;
		}
	if (begins(s->name, "llvm.is.fpclass.")) {
		*out = (x[1] & class_of(s->from.kind, x[0])) != 0;
		return true;
	}
	return of_integers(s, x, out, poison) ||
	    of_integers_more(s, x, out);
}

/* ---- NVPTX -------------------------------------------------------------- */

static bool
special(struct low_run *r, const struct low_thread *t,
    const struct low_step *s, uint64_t *out)
{
	const char *n = s->name + strlen("llvm.nvvm.read.ptx.sreg.");
	bool is_x = n[strlen(n) - 1] == 'x';

	if (begins(n, "tid."))
		*out = is_x ? t->number : 0;
	else if (begins(n, "ctaid."))
		*out = is_x ? r->block : 0;
	else if (begins(n, "ntid."))
		*out = is_x ? r->launch->threads : 1;
	else if (begins(n, "nctaid."))
		*out = is_x ? r->launch->grid : 1;
	else if (begins(n, "laneid"))
		*out = t->number % LOWERED_WARP;
	else
		return false;
	return true;
}

static const struct conversion_row {
	const char *name;
	enum cj_kind to, from;
} conversions[] = {
	{ "f2i.", CJ_KIND_I32, CJ_KIND_F32 },
	{ "f2ui.", CJ_KIND_U32, CJ_KIND_F32 },
	{ "f2ll.", CJ_KIND_I64, CJ_KIND_F32 },
	{ "f2ull.", CJ_KIND_U64, CJ_KIND_F32 },
	{ "d2i.", CJ_KIND_I32, CJ_KIND_F64 },
	{ "d2ui.", CJ_KIND_U32, CJ_KIND_F64 },
	{ "d2ll.", CJ_KIND_I64, CJ_KIND_F64 },
	{ "d2ull.", CJ_KIND_U64, CJ_KIND_F64 },
	{ "i2f.", CJ_KIND_F32, CJ_KIND_I32 },
	{ "ui2f.", CJ_KIND_F32, CJ_KIND_U32 },
	{ "ll2f.", CJ_KIND_F32, CJ_KIND_I64 },
	{ "ull2f.", CJ_KIND_F32, CJ_KIND_U64 },
	{ "i2d.", CJ_KIND_F64, CJ_KIND_I32 },
	{ "ui2d.", CJ_KIND_F64, CJ_KIND_U32 },
	{ "ll2d.", CJ_KIND_F64, CJ_KIND_I64 },
	{ "ull2d.", CJ_KIND_F64, CJ_KIND_U64 },
	{ "d2f.", CJ_KIND_F32, CJ_KIND_F64 },
};

static struct cj_conversion
rounding_of(const char *text)
{
	struct cj_conversion how = { .rounding = CJ_ROUND_EVEN };

	if (begins(text, "rz"))
		how.rounding = CJ_ROUND_ZERO;
	if (begins(text, "rp"))
		how.rounding = CJ_ROUND_UP;
	if (begins(text, "rm"))
		how.rounding = CJ_ROUND_DOWN;
	return how;
}

static bool
conversion(const struct low_step *s, const uint64_t *x, uint64_t *out)
{
	const char *n = s->name + strlen("llvm.nvvm.");
	uint64_t bits = x[0];
	unsigned i;

	for (i = 0; i < CJ_LENGTH(conversions); i++) {
		const struct conversion_row *c = &conversions[i];

		if (!begins(n, c->name))
			continue;
		if (cj_kind_is_signed(c->from) && !cj_kind_is_float(c->from))
			bits = (uint64_t)low_signed(bits, s->from.width);
		*out = low_cut(cj_num_convert(c->to, c->from, bits,
		    rounding_of(n + strlen(c->name))), s->type.width);
		if (cj_kind_is_float(c->from) && !cj_kind_is_float(c->to) &&
		    isnan(cj_num_to_f64(c->from, bits)) &&
		    (s->type.width == 64 || c->from == CJ_KIND_F64))
			*out = (uint64_t)1 << (s->type.width - 1);
		return true;
	}
	return false;
}

static uint64_t
permuted(uint64_t a, uint64_t b, uint64_t how)
{
	uint64_t both = b << 32 | a, out = 0, byte;
	unsigned i, which;

	for (i = 0; i < 4; i++) {
		which = (unsigned)(how >> 4 * i & 15);
		byte = both >> 8 * (which & 7) & 0xff;
		if (which & 8)
			byte = byte & 0x80 ? 0xff : 0;
		out |= byte << 8 * i;
	}
	return out;
}

static bool
of_nvptx(const struct low_step *s, const uint64_t *x, uint64_t *out)
{
	const char *n = s->name + strlen("llvm.nvvm.");
	unsigned w = s->type.width;

	if (strcmp(n, "prmt") == 0)
		*out = permuted(x[0], x[1], x[2]);
	else if (strcmp(n, "mulhi.i") == 0 || strcmp(n, "mulhi.ll") == 0)
		*out = low_cut((uint64_t)((low_wide)low_signed(x[0], w) *
		    low_signed(x[1], w) >> w), w);
	else if (strcmp(n, "mulhi.ui") == 0 || strcmp(n, "mulhi.ull") == 0)
		*out = (uint64_t)((low_wide_unsigned)x[0] * x[1] >> w);
	else
		return conversion(s, x, out);
	return true;
}

/* ---- PTX ---------------------------------------------------------------- */

static uint64_t
looked_up(uint64_t a, uint64_t b, uint64_t c, unsigned table)
{
	uint64_t out = 0;
	unsigned i;

	for (i = 0; i < 32; i++)
		out |= (uint64_t)(table >> ((a >> i & 1) << 2 | (b >> i & 1)
		    << 1 | (c >> i & 1)) & 1) << i;
	return out;
}

/* Two numbers of 8 bits: the first operand is the upper one. */
static uint64_t
narrowed(enum cj_kind k, const uint64_t *x)
{
	const struct cj_conversion how = { .rounding = CJ_ROUND_EVEN,
	    .saturate = true };

	return cj_num_convert(k, CJ_KIND_F32, x[0], how) << 8 |
	    cj_num_convert(k, CJ_KIND_F32, x[1], how);
}

static uint64_t
widened(enum cj_kind k, uint64_t x)
{
	const struct cj_conversion plain = { .is_default = true };

	return cj_num_convert(CJ_KIND_F16, k, x >> 8 & 0xff, plain) << 16 |
	    cj_num_convert(CJ_KIND_F16, k, x & 0xff, plain);
}

static bool
of_ptx(const struct low_step *s, const uint64_t *x, uint64_t *out)
{
	static const char table[] = "lop3.b32 $0, $1, $2, $3, ";
	const char *n = s->name;

	if (strcmp(n, "mul.lo.s16 $0, $1, -1;") == 0)
		*out = low_cut(-x[0], 16);
	else if (strcmp(n, "mov.b16 $0, $1;") == 0 ||
	    strcmp(n, "mov.b64 $0, $1;") == 0 ||
	    strcmp(n, "mov.b32 $0, $1;") == 0)
		*out = x[0];
	else if (begins(n, "mov.b32 $0, 0x") || begins(n, "mov.b64 $0, 0x"))
		*out = strtoull(n + strlen("mov.b32 $0, "), NULL, 16);
	else if (strcmp(n, "shl.b64 $0, $1, $2;") == 0)
		*out = x[1] > 63 ? 0 : x[0] << x[1];
	else if (strcmp(n, "shr.u64 $0, $1, $2;") == 0)
		*out = x[1] > 63 ? 0 : x[0] >> x[1];
	else if (strcmp(n, "shr.s64 $0, $1, $2;") == 0)
		*out = (uint64_t)((int64_t)x[0] >> (x[1] > 63 ? 63 : x[1]));
	else if (begins(n, table))
		*out = looked_up(x[0], x[1], x[2], (unsigned)strtoul(n +
		    strlen(table), NULL, 16));
	else if (begins(n, "cvt.rn.satfinite.e4m3x2.f32 "))
		*out = narrowed(CJ_KIND_F8E4M3, x);
	else if (begins(n, "cvt.rn.satfinite.e5m2x2.f32 "))
		*out = narrowed(CJ_KIND_F8E5M2, x);
	else if (begins(n, "cvt.rn.f16x2.e4m3x2 "))
		*out = widened(CJ_KIND_F8E4M3, x[0]);
	else if (begins(n, "cvt.rn.f16x2.e5m2x2 "))
		*out = widened(CJ_KIND_F8E5M2, x[0]);
	else
		return false;
	return true;
}

/* atom.relaxed.gpu.global.min.u32 $0, [$1], $2; */
static bool
atomic(struct low_run *r, const struct low_step *s, const uint64_t *x,
    uint64_t *out)
{
	static const char head[] = "atom.relaxed.gpu.global.";
	const char *n = s->name + strlen(head);
	bool is_wide = strstr(n, "64 ") != NULL, is_signed = strstr(n, ".s") !=
	    NULL;
	size_t bytes = is_wide ? 8 : 4;
	uint64_t old = 0, v = x[1];
	bool is_less;
	char *at;

	if (!begins(s->name, head))
		return false;
	at = lowered_memory(r, s, x[0], bytes);
	if (at == NULL)
		return true;
	memcpy(&old, at, bytes);
	is_less = is_signed ? low_signed(old, 8 * (unsigned)bytes) <
	    low_signed(v, 8 * (unsigned)bytes) : old < v;
	if (begins(n, "min."))
		v = is_less ? old : v;
	else if (begins(n, "max."))
		v = is_less ? v : old;
	else if (begins(n, "or."))
		v |= old;
	else if (begins(n, "and."))
		v &= old;
	else if (begins(n, "xor."))
		v ^= old;
	else if (begins(n, "add."))
		v += old;
	else
		return false;
	memcpy(at, &v, bytes);
	*out = old;
	return true;
}

/* ---- lanes -------------------------------------------------------------- */

static enum low_wait
waits(const char *n)
{
	if (begins(n, "llvm.nvvm.barrier.cta.sync.aligned"))
		return LOW_IN_BLOCK;
	if (begins(n, "llvm.nvvm.shfl.sync.") ||
	    begins(n, "llvm.nvvm.redux.sync.") ||
	    begins(n, "llvm.nvvm.match.any.sync.") ||
	    begins(n, "llvm.nvvm.vote.ballot.sync") ||
	    begins(n, "llvm.nvvm.bar.warp.sync"))
		return LOW_IN_WARP;
	return LOW_RUNS;
}

/* The lane that a shfl takes from; itself, where there is none. */
static unsigned
source(const char *n, unsigned lane, uint64_t by)
{
	if (begins(n, "idx"))
		return (unsigned)by & 31;
	if (begins(n, "up"))
		return lane >= (by & 31) ? lane - (unsigned)(by & 31) : lane;
	if (begins(n, "down"))
		return lane + (by & 31) < 32 ? lane + (unsigned)(by & 31) :
		    lane;
	return lane ^ (unsigned)(by & 31);
}

static uint64_t
combined(const char *n, uint64_t a, uint64_t b)
{
	int32_t x = (int32_t)a, y = (int32_t)b;

	if (strcmp(n, "add") == 0)
		return (uint32_t)(a + b);
	if (strcmp(n, "umin") == 0)
		return a < b ? a : b;
	if (strcmp(n, "umax") == 0)
		return a > b ? a : b;
	if (strcmp(n, "min") == 0)
		return x < y ? a : b;
	if (strcmp(n, "max") == 0)
		return x > y ? a : b;
	return strcmp(n, "and") == 0 ? a & b : strcmp(n, "or") == 0 ? a | b :
	    a ^ b;
}

static void
meet_lane(const struct low_step *s, const struct low_thread *lanes,
    unsigned lane, uint64_t *out, uint8_t *poison)
{
	const char *n = s->name + strlen("llvm.nvvm.");
	uint32_t at0 = s->operand[0], at1 = s->operand[1];
	uint64_t all = 0;
	unsigned i;

	if (begins(n, "shfl.sync.")) {
		i = source(n + strlen("shfl.sync."), lane,
		    lanes[lane].frame[s->operand[2]]);
		*out = lanes[i].frame[at1];
		*poison = lanes[i].poison[at1];
		return;
	}
	for (i = 0; i < LOWERED_WARP; i++) {
		uint64_t x = lanes[i].frame[begins(n, "redux") ? at0 : at1];

		*poison |= lanes[i].poison[begins(n, "redux") ? at0 : at1];
		if (begins(n, "redux.sync."))
			all = i == 0 ? x : combined(n +
			    strlen("redux.sync."), all, x);
		else if (begins(n, "vote.ballot"))
			all |= (x & 1) << i;
		else
			all |= (uint64_t)(x == lanes[lane].frame[at1]) << i;
	}
	*out = all;
}

void
lowered_meet(struct low_run *r, struct low_thread *lanes,
    const struct low_step *s)
{
	uint64_t out[LOWERED_WARP] = { 0 };
	uint8_t poison[LOWERED_WARP] = { 0 };
	unsigned i;

	(void)r;
	if (s->type.count == 0)
		return;
	for (i = 0; i < LOWERED_WARP; i++)
		meet_lane(s, lanes, i, &out[i], &poison[i]);
	for (i = 0; i < LOWERED_WARP; i++) {
		lanes[i].frame[s->at] = out[i];
		lanes[i].poison[s->at] = poison[i];
	}
}

/* ---- calls -------------------------------------------------------------- */

static bool
is_known(struct low_run *r, struct low_thread *t, const struct low_step *s,
    const uint64_t *x, uint64_t *out, bool *poison)
{
	if (s->flags & LOW_ASM)
		return of_ptx(s, x, out) || atomic(r, s, x, out);
	if (begins(s->name, "llvm.nvvm.read.ptx.sreg."))
		return special(r, t, s, out);
	if (begins(s->name, "llvm.nvvm."))
		return of_nvptx(s, x, out);
	return of_llvm(s, x, out, poison);
}

static bool
does_nothing(const char *n)
{
	return begins(n, "llvm.assume") || begins(n, "llvm.lifetime.") ||
	    begins(n, "llvm.experimental.noalias.scope");
}

/* llvm.umul.with.overflow.i32 and its kin: what they give, and whether it is
 * too much. */
static bool
overflows(struct low_thread *t, const struct low_step *s)
{
	const char *n = s->name + strlen("llvm.");
	unsigned w = s->from.width;
	uint64_t a = t->frame[s->operand[0]], b = t->frame[s->operand[1]];
	bool is_signed = *n == 's';
	low_wide x = is_signed ? (low_wide)low_signed(a, w) : (low_wide)a;
	low_wide y = is_signed ? (low_wide)low_signed(b, w) : (low_wide)b;
	low_wide z;

	if (strstr(n, ".with.overflow.") == NULL)
		return false;
	z = begins(n + 1, "add") ? x + y : begins(n + 1, "sub") ? x - y :
	    x * y;
	t->frame[s->at] = low_cut((uint64_t)z, w);
	t->frame[s->at + 1] = z != (is_signed ?
	    (low_wide)low_signed((uint64_t)z, w) :
	    (low_wide)low_cut((uint64_t)z, w));
	t->poison[s->at] = t->poison[s->at + 1] = t->poison[s->operand[0]] |
	    t->poison[s->operand[1]];
	return true;
}

/* llvm.vector.reduce.umax.v8i32 and its kin, of integers. */
static bool
reduces(struct low_thread *t, const struct low_step *s)
{
	static const char head[] = "llvm.vector.reduce.";
	static const struct { const char *name, *by; } rows[] = {
		{ "umax.", "umax" }, { "umin.", "umin" }, { "smax.", "smax" },
		{ "smin.", "smin" }, { "add.", "add" }, { "and.", "and" },
		{ "or.", "or" }, { "xor.", "xor" },
	};
	const char *n = s->name + strlen(head);
	unsigned i, k, w = s->from.width;
	uint64_t all, x;

	for (k = 0; begins(s->name, head) && k < CJ_LENGTH(rows); k++)
		if (begins(n, rows[k].name))
			break;
	if (!begins(s->name, head) || k == CJ_LENGTH(rows))
		return false;
	all = t->frame[s->operand[0]];
	t->poison[s->at] = t->poison[s->operand[0]];
	for (i = 1; i < s->from.count; i++) {
		x = t->frame[s->operand[0] + i];
		t->poison[s->at] |= t->poison[s->operand[0] + i];
		if (strcmp(rows[k].by, "smax") == 0)
			all = low_signed(all, w) > low_signed(x, w) ? all : x;
		else if (strcmp(rows[k].by, "smin") == 0)
			all = low_signed(all, w) < low_signed(x, w) ? all : x;
		else if (strcmp(rows[k].by, "add") == 0)
			all = low_cut(all + x, w);
		else
			all = combined(rows[k].by, all, x);
	}
	t->frame[s->at] = all;
	return true;
}

bool
lowered_call(struct low_run *r, struct low_thread *t,
    const struct low_step *s)
{
	uint64_t x[4] = { 0 };
	uint32_t i, n, count = s->type.count == 0 ? 1 : s->type.count;

	t->wait = (s->flags & LOW_ASM) ? LOW_RUNS : waits(s->name);
	if (t->wait != LOW_RUNS)
		return false;
	if (!(s->flags & LOW_ASM) && (reduces(t, s) ||
	    (s->operands == 2 && overflows(t, s))))
		return true;
	for (i = 0; i < count && !does_nothing(s->name); i++) {
		bool poison = false;
		uint64_t out = 0;

		for (n = 0; n < s->operands && n < 4; n++) {
			/* flags of a whole vector have one register */
			uint32_t k = n > 0 && (begins(s->name, "llvm.ct") ||
			    begins(s->name, "llvm.is.") ||
			    begins(s->name, "llvm.abs.")) ? 0 : i;

			x[n] = t->frame[s->operand[n] + k];
			poison |= t->poison[s->operand[n] + k];
		}
		if (poison && s->type.count == 0)
			lowered_fault(r, s, "poison goes out");
		if (!is_known(r, t, s, x, &out, &poison))
			lowered_fault(r, s, "a call that is not known");
		if (s->type.count != 0) {
			t->frame[s->at + i] = out;
			t->poison[s->at + i] = poison;
		}
	}
	return true;
}
