/*
 * Steps of LLVM, done one after the other by each thread, until it ends or has
 * to wait for others.
 */
#include "lowered_priv.h"

#include <llvm-c/IRReader.h>
#include <math.h>

enum { MOST_STEPS = 40 << 20 };

void
lowered_fault(struct low_run *r, const struct low_step *s, const char *what)
{
	if (r->wrong == NULL)
		r->wrong = cj_printf(r->code->arena, "step %u of LLVM's "
		    "(opcode %d%s%s): %s",
		    (unsigned)(s - r->code->steps.at), (int)s->op,
		    s->name != NULL ? " " : "",
		    s->name != NULL ? s->name : "", what);
}

char *
lowered_memory(struct low_run *r, const struct low_step *s, uint64_t address,
    size_t bytes)
{
	const struct low_code *c = r->code;
	uint32_t i;

	for (i = 0; i < c->regions.len; i++)
		if (address >= c->regions.at[i].from &&
		    address + bytes <= c->regions.at[i].to)
			return (char *)(uintptr_t)address;
	lowered_fault(r, s, "an address outside of all memory");
	return NULL;
}

/* Operand n, register i of it. */
static uint64_t
value(const struct low_thread *t, const struct low_step *s, unsigned n,
    uint32_t i)
{
	return t->frame[s->operand[n] + i];
}

static bool
is_poison(const struct low_thread *t, const struct low_step *s, unsigned n,
    uint32_t i)
{
	return t->poison[s->operand[n] + i] != 0;
}

/* ---- integers ----------------------------------------------------------- */

static bool
fits(low_wide v, unsigned width, bool is_signed)
{
	low_wide one = 1;

	return is_signed ? v >= -(one << (width - 1)) && v < one << (width - 1)
	    : v >= 0 && v < one << width;
}

/* Add, sub, mul: what they give without end, for the flags. */
static uint64_t
arithmetic(const struct low_step *s, uint64_t a, uint64_t b, bool *poison)
{
	unsigned w = s->type.width;
	low_wide x = low_signed(a, w), y = low_signed(b, w), z;
	low_wide_unsigned u = a, v = b;

	z = s->op == LLVMAdd ? x + y : s->op == LLVMSub ? x - y : x * y;
	if ((s->flags & LOW_NSW) && !fits(z, w, true))
		*poison = true;
	u = s->op == LLVMAdd ? u + v : s->op == LLVMSub ? u - v : u * v;
	if ((s->flags & LOW_NUW) && (w == 64 ? u >> 64 != 0 : u >> w != 0))
		*poison = true;
	return low_cut((uint64_t)z, w);
}

static uint64_t
shift(const struct low_step *s, uint64_t a, uint64_t b, bool *poison)
{
	unsigned w = s->type.width;
	uint64_t z;

	if (b >= w) {
		*poison = true;
		return 0;
	}
	if (s->op == LLVMShl) {
		z = low_cut(a << b, w);
		if (((s->flags & LOW_NUW) && z >> b != a) ||
		    ((s->flags & LOW_NSW) && low_signed(z, w) >> b !=
		    low_signed(a, w)))
			*poison = true;
		return z;
	}
	if ((s->flags & LOW_EXACT) && low_cut(a, (unsigned)b) != 0 && b != 0)
		*poison = true;
	return s->op == LLVMLShr ? a >> b :
	    low_cut((uint64_t)(low_signed(a, w) >> b), w);
}

/* Division by 0 and of the least by -1 is not defined at all. */
static uint64_t
divide(struct low_run *r, const struct low_step *s, uint64_t a, uint64_t b,
    bool *poison)
{
	unsigned w = s->type.width;
	int64_t x = low_signed(a, w), y = low_signed(b, w);

	if (b == 0 || (y == -1 && (s->op == LLVMSDiv || s->op == LLVMSRem) &&
	    !fits(-(low_wide)x, w, true))) {
		lowered_fault(r, s, "a division that is not defined");
		return 0;
	}
	if ((s->flags & LOW_EXACT) && (s->op == LLVMSDiv ? x % y != 0 :
	    a % b != 0))
		*poison = true;
	switch (s->op) {
	case LLVMSDiv:
		return low_cut((uint64_t)(x / y), w);
	case LLVMSRem:
		return low_cut((uint64_t)(x % y), w);
	case LLVMUDiv:
		return a / b;
	default:
		return a % b;
	}
}

static uint64_t
binary(struct low_run *r, const struct low_step *s, uint64_t a, uint64_t b,
    bool *poison)
{
	enum cj_kind k = s->type.kind;

	switch (s->op) {
	case LLVMAdd: case LLVMSub: case LLVMMul:
		return arithmetic(s, a, b, poison);
	case LLVMShl: case LLVMLShr: case LLVMAShr:
		return shift(s, a, b, poison);
	case LLVMAnd:
		return a & b;
	case LLVMOr:
		if ((s->flags & LOW_DISJOINT) && (a & b) != 0)
			*poison = true;
		return a | b;
	case LLVMXor:
		return a ^ b;
	case LLVMFAdd:
		return cj_num_apply(CJ_OP_ADD, k, a, b, 0);
	case LLVMFSub:
		return cj_num_apply(CJ_OP_SUB, k, a, b, 0);
	case LLVMFMul:
		return cj_num_apply(CJ_OP_MUL, k, a, b, 0);
	case LLVMFDiv:
		return cj_num_apply(CJ_OP_DIV, k, a, b, 0);
	default:
		return divide(r, s, a, b, poison);
	}
}

static bool
icmp(const struct low_step *s, uint64_t a, uint64_t b, bool *poison)
{
	unsigned w = s->from.width;
	int64_t x = low_signed(a, w), y = low_signed(b, w);

	if ((s->flags & LOW_SAME_SIGN) && (x < 0) != (y < 0))
		*poison = true;
	switch ((LLVMIntPredicate)s->which) {
	case LLVMIntEQ:
		return a == b;
	case LLVMIntNE:
		return a != b;
	case LLVMIntUGT:
		return a > b;
	case LLVMIntUGE:
		return a >= b;
	case LLVMIntULT:
		return a < b;
	case LLVMIntULE:
		return a <= b;
	case LLVMIntSGT:
		return x > y;
	case LLVMIntSGE:
		return x >= y;
	case LLVMIntSLT:
		return x < y;
	case LLVMIntSLE:
		return x <= y;
	}
	return false;
}

/* The predicate's bits: unordered, less, greater, equal. */
static bool
fcmp(const struct low_step *s, uint64_t a, uint64_t b)
{
	double x = cj_num_to_f64(s->from.kind, a);
	double y = cj_num_to_f64(s->from.kind, b);

	return (s->which & 8 && (x != x || y != y)) ||
	    (s->which & 4 && x < y) || (s->which & 2 && x > y) ||
	    (s->which & 1 && x == y);
}

/* ---- conversions -------------------------------------------------------- */

static uint64_t
to_integer(const struct low_step *s, uint64_t a, bool *poison)
{
	const struct cj_conversion plain = { .is_default = true };
	bool is_signed = s->op == LLVMFPToSI;
	double x = cj_num_to_f64(s->from.kind, a);
	double end = ldexp(1, (int)s->type.width - is_signed);

	if (!(x < end && x > (is_signed ? -end - 1 : -1)))
		*poison = true;
	return low_cut(cj_num_convert(is_signed ? CJ_KIND_I64 : CJ_KIND_U64,
	    s->from.kind, a, plain), s->type.width);
}

static uint64_t
convert(const struct low_step *s, uint64_t a, bool *poison)
{
	const struct cj_conversion plain = { .is_default = true };
	unsigned w = s->type.width;

	if ((s->flags & LOW_NNEG) && low_signed(a, s->from.width) < 0)
		*poison = true;
	switch (s->op) {
	case LLVMSExt:
		return low_cut((uint64_t)low_signed(a, s->from.width), w);
	case LLVMFPToSI: case LLVMFPToUI:
		return to_integer(s, a, poison);
	case LLVMSIToFP:
		return cj_num_convert(s->type.kind, CJ_KIND_I64,
		    (uint64_t)low_signed(a, s->from.width), plain);
	case LLVMUIToFP:
		return cj_num_convert(s->type.kind, CJ_KIND_U64, a, plain);
	case LLVMFPTrunc: case LLVMFPExt:
		return cj_num_convert(s->type.kind, s->from.kind, a, plain);
	default:			/* trunc, zext, pointers */
		return low_cut(a, w);
	}
}

/* The same bits, whatever they are cut into. */
static void
bitcast(struct low_thread *t, const struct low_step *s)
{
	unsigned from = s->from.width, to = s->type.width, bit;
	uint32_t i, total = to * s->type.count;

	for (i = 0; i < s->type.count; i++) {
		t->frame[s->at + i] = 0;
		t->poison[s->at + i] = 0;
	}
	for (bit = 0; bit < total; bit++) {
		uint64_t one = value(t, s, 0, bit / from) >> bit % from & 1;

		t->frame[s->at + bit / to] |= one << bit % to;
		t->poison[s->at + bit / to] |= is_poison(t, s, 0, bit / from);
	}
}

/* ---- memory ------------------------------------------------------------- */

/* Do both lie in one piece of memory, or at its end? */
static bool
are_together(const struct low_code *c, uint64_t a, uint64_t b)
{
	uint32_t i;

	for (i = 0; i < c->regions.len; i++) {
		const struct low_region *g = &c->regions.at[i];

		if (a >= g->from && a <= g->to && b >= g->from && b <= g->to)
			return true;
	}
	return false;
}

static void
address(struct low_run *r, struct low_thread *t, const struct low_step *s)
{
	uint64_t base = value(t, s, 0, 0), at = base;
	bool poison = is_poison(t, s, 0, 0);
	uint32_t i;

	for (i = 1; i < s->operands; i++) {
		at += (uint64_t)s->extra[i - 1] * (uint64_t)low_signed(
		    value(t, s, i, 0), (unsigned)s->extra[s->operands + i]);
		poison |= is_poison(t, s, i, 0);
	}
	if ((s->flags & LOW_INBOUNDS) && !are_together(r->code, base, at))
		poison = true;
	t->frame[s->at] = at;
	t->poison[s->at] = poison;
}

static void
load(struct low_run *r, struct low_thread *t, const struct low_step *s)
{
	size_t bytes = (size_t)s->type.stride * s->type.count;
	const char *from;
	uint32_t i;

	if (is_poison(t, s, 0, 0)) {
		lowered_fault(r, s, "poison is an address");
		return;
	}
	from = lowered_memory(r, s, value(t, s, 0, 0), bytes);
	for (i = 0; from != NULL && i < s->type.count; i++) {
		t->frame[s->at + i] = 0;
		memcpy(&t->frame[s->at + i], from + i * s->type.stride,
		    s->type.stride);
		t->poison[s->at + i] = 0;
	}
}

static void
store(struct low_run *r, struct low_thread *t, const struct low_step *s)
{
	size_t bytes = (size_t)s->from.stride * s->from.count;
	uint32_t i;
	char *to;

	if (is_poison(t, s, 1, 0)) {
		lowered_fault(r, s, "poison is an address");
		return;
	}
	to = lowered_memory(r, s, value(t, s, 1, 0), bytes);
	for (i = 0; to != NULL && i < s->from.count; i++) {
		uint64_t bits = value(t, s, 0, i);

		if (is_poison(t, s, 0, i))
			lowered_fault(r, s, "poison is stored");
		memcpy(to + i * s->from.stride, &bits, s->from.stride);
	}
}

static uint64_t
changed(const struct low_step *s, uint64_t old, uint64_t v)
{
	unsigned w = s->type.width;

	switch ((LLVMAtomicRMWBinOp)s->which) {
	case LLVMAtomicRMWBinOpXchg:
		return v;
	case LLVMAtomicRMWBinOpAdd:
		return low_cut(old + v, w);
	case LLVMAtomicRMWBinOpSub:
		return low_cut(old - v, w);
	case LLVMAtomicRMWBinOpAnd:
		return old & v;
	case LLVMAtomicRMWBinOpOr:
		return old | v;
	case LLVMAtomicRMWBinOpXor:
		return old ^ v;
	case LLVMAtomicRMWBinOpMax:
		return low_signed(old, w) > low_signed(v, w) ? old : v;
	case LLVMAtomicRMWBinOpMin:
		return low_signed(old, w) < low_signed(v, w) ? old : v;
	case LLVMAtomicRMWBinOpUMax:
		return old > v ? old : v;
	case LLVMAtomicRMWBinOpUMin:
		return old < v ? old : v;
	default:
		return cj_num_apply(CJ_OP_ADD, s->type.kind, old, v, 0);
	}
}

static void
change(struct low_run *r, struct low_thread *t, const struct low_step *s)
{
	char *at = lowered_memory(r, s, value(t, s, 0, 0), s->type.stride);
	uint64_t old = 0, v = value(t, s, 1, 0);

	if (is_poison(t, s, 0, 0) || is_poison(t, s, 1, 0))
		lowered_fault(r, s, "poison goes to memory");
	if (at == NULL)
		return;
	memcpy(&old, at, s->type.stride);
	v = changed(s, old, v);
	memcpy(at, &v, s->type.stride);
	t->frame[s->at] = old;
}

/* ---- registers and control ---------------------------------------------- */

static void
copy(struct low_thread *t, uint32_t to, uint32_t from, uint32_t count)
{
	memmove(&t->frame[to], &t->frame[from], count * sizeof *t->frame);
	memmove(&t->poison[to], &t->poison[from], count);
}

static void
choose(struct low_thread *t, const struct low_step *s)
{
	uint32_t i, k;

	for (i = 0; i < s->type.count; i++) {
		k = s->from.count == 1 ? 0 : i;
		copy(t, s->at + i, s->operand[value(t, s, 0, k) & 1 ? 1 : 2] +
		    i, 1);
		t->poison[s->at + i] |= is_poison(t, s, 0, k);
	}
}

static void
shuffle(struct low_thread *t, const struct low_step *s)
{
	uint32_t i, n = s->from.count;

	for (i = 0; i < s->type.count; i++) {
		int64_t k = s->extra[i];

		if (k < 0 || k >= 2 * n)
			t->poison[s->at + i] = 1;
		else
			copy(t, s->at + i, s->operand[k >= n] + (uint32_t)k %
			    n, 1);
	}
}

static void
element(struct low_run *r, struct low_thread *t, const struct low_step *s)
{
	unsigned last = s->operands - 1;
	uint64_t k = value(t, s, last, 0);

	if (k >= s->from.count || is_poison(t, s, last, 0)) {
		lowered_fault(r, s, "an element that is not there");
		return;
	}
	if (s->op == LLVMExtractElement) {
		copy(t, s->at, s->operand[0] + (uint32_t)k, 1);
		return;
	}
	copy(t, s->at, s->operand[0], s->type.count);
	copy(t, s->at + (uint32_t)k, s->operand[1], 1);
}

static void
go(struct low_run *r, struct low_thread *t, const struct low_step *s)
{
	uint32_t way = 0, i;

	t->from = t->pc;
	if (s->operands != 0 && is_poison(t, s, 0, 0))
		lowered_fault(r, s, "poison decides the way");
	if (s->op == LLVMSwitch) {
		for (i = 1; i < s->operands; i++)
			if (value(t, s, i, 0) == value(t, s, 0, 0))
				way = i;
	} else if (s->operands != 0) {
		way = (value(t, s, 0, 0) & 1) == 0;
	}
	t->pc = (uint32_t)s->extra[way];
}

/* All phis of a block take their values at once. */
static void
phis(struct low_run *r, struct low_thread *t)
{
	const struct low_step *first = &r->code->steps.at[t->pc], *s;
	uint64_t frame[4096];
	uint8_t poison[4096];
	uint32_t n = 0, i;

	for (s = first; s->op == LLVMPHI; s++) {
		for (i = 0; i < s->extras; i++)
			if (s->extra[i] == t->from)
				break;
		assert(i < s->extras && n + s->type.count < 4096);
		memcpy(&frame[n], &t->frame[s->operand[i]], s->type.count *
		    sizeof *frame);
		memcpy(&poison[n], &t->poison[s->operand[i]], s->type.count);
		n += s->type.count;
	}
	for (n = 0, s = first; s->op == LLVMPHI; s++) {
		memcpy(&t->frame[s->at], &frame[n], s->type.count *
		    sizeof *frame);
		memcpy(&t->poison[s->at], &poison[n], s->type.count);
		n += s->type.count;
	}
	t->pc += (uint32_t)(s - first);
}

/* ---- steps -------------------------------------------------------------- */

/* What is done element by element. */
static void
elementwise(struct low_run *r, struct low_thread *t, const struct low_step *s)
{
	uint32_t i, n;
	uint64_t a, b;

	for (i = 0; i < s->type.count; i++) {
		bool poison = false;

		for (n = 0; n < s->operands; n++)
			poison |= is_poison(t, s, n, i);
		a = value(t, s, 0, i);
		b = s->operands > 1 ? value(t, s, 1, i) : 0;
		if (poison && (s->op == LLVMUDiv || s->op == LLVMSDiv ||
		    s->op == LLVMURem || s->op == LLVMSRem) &&
		    is_poison(t, s, 1, i))
			lowered_fault(r, s, "poison divides");
		if (poison)
			a = 0;
		else if (s->op == LLVMICmp)
			a = icmp(s, a, b, &poison);
		else if (s->op == LLVMFCmp)
			a = fcmp(s, a, b);
		else if (s->op == LLVMFNeg)
			a ^= (uint64_t)1 << (s->type.width - 1);
		else if (s->operands == 1)
			a = convert(s, a, &poison);
		else
			a = binary(r, s, a, b, &poison);
		t->frame[s->at + i] = a;
		t->poison[s->at + i] = poison;
	}
}

static void
parts(struct low_thread *t, const struct low_step *s)
{
	if (s->op == LLVMExtractValue) {
		copy(t, s->at, s->operand[0] + (uint32_t)s->extra[0], 1);
		return;
	}
	copy(t, s->at, s->operand[0], s->type.count);
	copy(t, s->at + (uint32_t)s->extra[0], s->operand[1], 1);
}

static void
freeze(struct low_thread *t, const struct low_step *s)
{
	uint32_t i;

	copy(t, s->at, s->operand[0], s->type.count);
	for (i = 0; i < s->type.count; i++) {
		if (t->poison[s->at + i])	/* some number */
			t->frame[s->at + i] = low_cut(0x5a5a5a5a5a5a5a5a,
			    s->type.width);
		t->poison[s->at + i] = 0;
	}
}

/* One step; the thread has gone on behind it, or waits. */
static void
step(struct low_run *r, struct low_thread *t, const struct low_step *s)
{
	switch (s->op) {
	case LLVMRet:
		t->wait = LOW_ENDED;
		return;
	case LLVMBr: case LLVMSwitch:
		go(r, t, s);
		return;
	case LLVMPHI:
		phis(r, t);
		return;
	case LLVMCall:
		if (!lowered_call(r, t, s))
			return;
		break;
	case LLVMGetElementPtr:
		address(r, t, s);
		break;
	case LLVMLoad:
		load(r, t, s);
		break;
	case LLVMStore:
		store(r, t, s);
		break;
	case LLVMAtomicRMW:
		change(r, t, s);
		break;
	case LLVMFence:
		break;
	case LLVMSelect:
		choose(t, s);
		break;
	case LLVMShuffleVector:
		shuffle(t, s);
		break;
	case LLVMExtractElement: case LLVMInsertElement:
		element(r, t, s);
		break;
	case LLVMExtractValue: case LLVMInsertValue:
		parts(t, s);
		break;
	case LLVMFreeze:
		freeze(t, s);
		break;
	case LLVMBitCast:
		bitcast(t, s);
		break;
	case LLVMUnreachable: case LLVMAlloca: case LLVMAtomicCmpXchg:
	case LLVMFRem:
		lowered_fault(r, s, "a step that is not known");
		break;
	default:
		elementwise(r, t, s);
		break;
	}
	t->pc++;
}

/* ---- threads ------------------------------------------------------------ */

static void
run_thread(struct low_run *r, struct low_thread *t)
{
	while (t->wait == LOW_RUNS && r->wrong == NULL) {
		const struct low_step *s = &r->code->steps.at[t->pc];

		if (r->left-- == 0)
			lowered_fault(r, s, "it does not end");
		else
			step(r, t, s);
	}
}

/* Are all of these threads at the same wait? Then they go on. */
static bool
meet(struct low_run *r, struct low_thread *t, unsigned count,
    enum low_wait wait)
{
	const struct low_step *s = &r->code->steps.at[t->pc];
	unsigned i;

	for (i = 0; i < count; i++)
		if (t[i].wait != wait || t[i].pc != t->pc)
			return false;
	if (wait == LOW_IN_WARP)
		lowered_meet(r, t, s);
	for (i = 0; i < count; i++) {
		t[i].wait = LOW_RUNS;
		t[i].pc++;
	}
	return true;
}

static void
run_block(struct low_run *r)
{
	unsigned i, n = r->launch->threads;
	bool goes_on = true, has_ended = false;

	while (goes_on && !has_ended && r->wrong == NULL) {
		for (i = 0; i < n; i++)
			run_thread(r, &r->threads[i]);
		goes_on = meet(r, r->threads, n, LOW_IN_BLOCK);
		for (i = 0; i < n; i += LOWERED_WARP)
			goes_on |= meet(r, &r->threads[i], LOWERED_WARP,
			    LOW_IN_WARP);
		has_ended = true;
		for (i = 0; i < n; i++)
			has_ended &= r->threads[i].wait == LOW_ENDED;
	}
	if (!has_ended)
		lowered_fault(r, &r->code->steps.at[r->threads[0].pc],
		    "threads wait for ever");
}

static void
begin_threads(struct low_run *r)
{
	const struct low_code *c = r->code;
	unsigned i;

	for (i = 0; i < r->launch->threads; i++) {
		struct low_thread *t = &r->threads[i];

		/* a program may have no value */
		if (c->frame.len != 0) {
			memcpy(t->frame, c->frame.at, c->frame.len *
			    sizeof *t->frame);
			memcpy(t->poison, c->poison.at, c->poison.len);
		}
		t->pc = 0;
		t->wait = LOW_RUNS;
		t->number = i;
	}
}

static const char *
run_grid(struct low_code *c, const struct lowered_launch *l)
{
	struct low_run r = { .code = c, .launch = l, .left = MOST_STEPS };
	unsigned i;

	r.threads = CJ_NEWS(c->arena, struct low_thread, l->threads);
	for (i = 0; i < l->threads; i++) {
		r.threads[i].frame = CJ_NEWS(c->arena, uint64_t,
		    c->frame.len + 1);
		r.threads[i].poison = CJ_NEWS(c->arena, uint8_t,
		    c->frame.len + 1);
	}
	for (r.block = 0; r.block < l->grid && r.wrong == NULL; r.block++) {
		begin_threads(&r);
		run_block(&r);
	}
	return r.wrong;
}

const char *
lowered_run(struct cj_arena *a, const char *text,
    const struct lowered_launch *l)
{
	LLVMContextRef context = LLVMContextCreate();
	LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
	    text, strlen(text), "text");
	struct low_code *c = CJ_NEW(a, struct low_code);
	LLVMModuleRef m = NULL;
	char *error = NULL;
	const char *wrong;

	c->arena = a;
	if (LLVMParseIRInContext2(context, buffer, &m, &error)) {
		wrong = cj_printf(a, "LLVM cannot read it: %s", error);
		LLVMDisposeMessage(error);
	} else {
		lowered_read(c, m, l);
		wrong = run_grid(c, l);
		LLVMDisposeModule(m);
	}
	LLVMDisposeMemoryBuffer(buffer);
	LLVMContextDispose(context);
	return wrong;
}
