/*
 * LLVM's text to flat steps.
 */
#include "lowered_priv.h"

#include <llvm-c/IRReader.h>

static uint32_t place_of(struct low_code *c, LLVMValueRef v);

static struct low_type
scalar_type(struct low_code *c, LLVMTypeRef t)
{
	struct low_type out = { CJ_KIND_VOID, 64, 1, 8 };

	switch (LLVMGetTypeKind(t)) {
	case LLVMIntegerTypeKind:
		out.width = LLVMGetIntTypeWidth(t);
		break;
	case LLVMHalfTypeKind:
		out.kind = CJ_KIND_F16;
		break;
	case LLVMBFloatTypeKind:
		out.kind = CJ_KIND_BF16;
		break;
	case LLVMFloatTypeKind:
		out.kind = CJ_KIND_F32;
		break;
	case LLVMDoubleTypeKind:
		out.kind = CJ_KIND_F64;
		break;
	case LLVMPointerTypeKind:
		return out;
	default:
		cj_bug(c->arena->recover, "a type that is not known: %s",
		    LLVMPrintTypeToString(t));
	}
	if (out.kind != CJ_KIND_VOID)
		out.width = cj_kind_bits(out.kind);
	if (out.width > 64)
		cj_bug(c->arena->recover, "integers of %u bits", out.width);
	out.stride = (out.width + 7) / 8;
	return out;
}

static struct low_type
type_of(struct low_code *c, LLVMTypeRef t)
{
	struct low_type out = { CJ_KIND_VOID, 0, 0, 0 };
	unsigned i;

	switch (LLVMGetTypeKind(t)) {
	case LLVMVoidTypeKind:
		return out;
	case LLVMVectorTypeKind:
		out = scalar_type(c, LLVMGetElementType(t));
		out.count = LLVMGetVectorSize(t);
		return out;
	case LLVMStructTypeKind:
		for (i = 0; i < LLVMCountStructElementTypes(t); i++)
			out.count += type_of(c,
			    LLVMStructGetTypeAtIndex(t, i)).count;
		return out;
	default:
		return scalar_type(c, t);
	}
}

/* ---- places in the frame ------------------------------------------------ */

static struct low_place *
look_up(struct low_code *c, LLVMValueRef v)
{
	uint32_t i = (uint32_t)((uintptr_t)v / 8 * 2654435761u) % c->room;

	while (c->places[i].value != NULL && c->places[i].value != v)
		i = (i + 1) % c->room;
	return &c->places[i];
}

static uint32_t
add_room(struct low_code *c, LLVMValueRef v, uint32_t count)
{
	struct low_place *p = look_up(c, v);
	uint32_t i;

	p->value = v;
	p->at = c->frame.len;
	for (i = 0; i < count; i++) {
		*cj_push(c->arena, &c->frame) = 0;
		*cj_push(c->arena, &c->poison) = 0;
	}
	return p->at;
}

static uint64_t
float_bits(struct low_code *c, LLVMValueRef v)
{
	enum cj_kind k = scalar_type(c, LLVMTypeOf(v)).kind;
	LLVMBool loses;

	return cj_num_from_f64(k, LLVMConstRealGetDouble(v, &loses));
}

static void
set_constant(struct low_code *c, LLVMValueRef v, uint32_t at, uint32_t count)
{
	uint32_t i, element;

	if (LLVMIsAUndefValue(v) != NULL) {	/* poison, too */
		memset(&c->poison.at[at], 1, count);
	} else if (LLVMIsAConstantInt(v) != NULL) {
		c->frame.at[at] = LLVMConstIntGetZExtValue(v);
	} else if (LLVMIsAConstantFP(v) != NULL &&
	    LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVectorTypeKind) {
		c->frame.at[at] = float_bits(c, v);
	} else if (LLVMIsAConstantPointerNull(v) != NULL ||
	    LLVMIsAConstantAggregateZero(v) != NULL) {
		memset(&c->frame.at[at], 0, count * sizeof(uint64_t));
	} else if (count > 1) {
		for (i = 0; i < count; i++) {
			element = place_of(c, LLVMGetAggregateElement(v, i));
			c->frame.at[at + i] = c->frame.at[element];
			c->poison.at[at + i] = c->poison.at[element];
		}
	} else {
		cj_bug(c->arena->recover, "a constant that is not known: "
		    "%.150s", LLVMPrintValueToString(v));
	}
}

static int64_t
size_of(struct low_code *c, LLVMTypeRef t)
{
	return (int64_t)LLVMABISizeOfType(c->layout, t);
}

/* Bytes that each index of an address counts. */
static void
strides_of(struct low_code *c, LLVMValueRef v, int64_t *out)
{
	LLVMTypeRef t = LLVMGetGEPSourceElementType(v);
	unsigned n = (unsigned)LLVMGetNumOperands(v), i;

	for (i = 1; i < n; i++) {
		if (i > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind)
			cj_bug(c->arena->recover, "a member of a struct");
		if (i > 1)
			t = LLVMGetElementType(t);
		out[i - 1] = size_of(c, t);
	}
}

static uint64_t
constant_address(struct low_code *c, LLVMValueRef v)
{
	LLVMValueRef base = LLVMGetOperand(v, 0);
	int64_t strides[8] = { 0 };
	uint32_t at = place_of(c, base);	/* which moves the frame */
	uint64_t address = c->frame.at[at];
	int i;

	if (LLVMGetConstOpcode(v) == LLVMAddrSpaceCast)
		return address;
	if (LLVMGetConstOpcode(v) != LLVMGetElementPtr ||
	    LLVMGetNumOperands(v) > 8)
		cj_bug(c->arena->recover, "a constant that is not known: "
		    "%.150s", LLVMPrintValueToString(v));
	strides_of(c, v, strides);
	for (i = 1; i < LLVMGetNumOperands(v); i++)
		address += (uint64_t)(strides[i - 1] *
		    LLVMConstIntGetSExtValue(LLVMGetOperand(v, (unsigned)i)));
	return address;
}

static uint32_t
place_of(struct low_code *c, LLVMValueRef v)
{
	struct low_place *p = look_up(c, v);
	uint32_t at, count;

	if (p->value != NULL)
		return p->at;
	if (!LLVMIsConstant(v))
		cj_bug(c->arena->recover, "a value that is not known");
	count = type_of(c, LLVMTypeOf(v)).count;
	at = add_room(c, v, count);
	if (LLVMIsAConstantExpr(v) != NULL) {
		uint64_t address = constant_address(c, v);

		c->frame.at[at] = address;
	} else {
		set_constant(c, v, at, count);
	}
	return at;
}

/* ---- globals ------------------------------------------------------------ */

static void
add_region(struct low_code *c, uint64_t from, size_t bytes)
{
	struct low_region *r = cj_push(c->arena, &c->regions);

	r->from = from;
	r->to = from + bytes;
}

static void
set_data(struct low_code *c, LLVMValueRef v, char *to)
{
	LLVMTypeRef t = LLVMTypeOf(v);
	struct low_type e;
	unsigned i, n;
	uint32_t at;

	if (LLVMIsAUndefValue(v) != NULL ||
	    LLVMIsAConstantAggregateZero(v) != NULL)
		return;
	if (LLVMGetTypeKind(t) != LLVMArrayTypeKind)
		cj_bug(c->arena->recover, "data that is not an array");
	e = scalar_type(c, LLVMGetElementType(t));
	n = (unsigned)LLVMGetArrayLength2(t);
	for (i = 0; i < n; i++) {
		at = place_of(c, LLVMGetAggregateElement(v, i));
		memcpy(to + i * e.stride, &c->frame.at[at], e.stride);
	}
}

static void
read_globals(struct low_code *c, LLVMModuleRef m)
{
	LLVMValueRef v, data;
	uint32_t at;
	size_t bytes;
	char *memory;

	for (v = LLVMGetFirstGlobal(m); v != NULL; v = LLVMGetNextGlobal(v)) {
		bytes = (size_t)size_of(c, LLVMGlobalGetValueType(v));
		bytes = bytes == 0 ? 1 << 16 : bytes;	/* dynamic */
		memory = (char *)(((uintptr_t)cj_alloc(c->arena, bytes +
		    1024) + 1023) & ~(uintptr_t)1023);
		data = LLVMGetInitializer(v);
		if (data != NULL)
			set_data(c, data, memory);
		at = add_room(c, v, 1);
		c->frame.at[at] = (uintptr_t)memory;
		add_region(c, (uintptr_t)memory, bytes);
	}
}

/* ---- steps -------------------------------------------------------------- */

static unsigned
flags_of(LLVMValueRef v, LLVMOpcode op)
{
	unsigned f = 0;

	if (op == LLVMAdd || op == LLVMSub || op == LLVMMul || op == LLVMShl)
		f = (LLVMGetNSW(v) ? LOW_NSW : 0) |
		    (LLVMGetNUW(v) ? LOW_NUW : 0);
	if (op == LLVMSDiv || op == LLVMUDiv || op == LLVMLShr ||
	    op == LLVMAShr)
		f = LLVMGetExact(v) ? LOW_EXACT : 0;
	if (op == LLVMOr)
		f = LLVMGetIsDisjoint(v) ? LOW_DISJOINT : 0;
	if (op == LLVMZExt || op == LLVMUIToFP)
		f = LLVMGetNNeg(v) ? LOW_NNEG : 0;
	if (op == LLVMICmp)
		f = LLVMGetICmpSameSign(v) ? LOW_SAME_SIGN : 0;
	if (op == LLVMGetElementPtr)
		f = LLVMIsInBounds(v) ? LOW_INBOUNDS : 0;
	return f;
}

static void
read_call(struct low_code *c, LLVMValueRef v, struct low_step *s)
{
	LLVMValueRef f = LLVMGetCalledValue(v);
	size_t length;

	s->operands = LLVMGetNumArgOperands(v);
	if (LLVMIsAInlineAsm(f) != NULL) {
		s->flags = LOW_ASM;
		s->name = LLVMGetInlineAsmAsmString(f, &length);
	} else {
		s->name = LLVMGetValueName2(f, &length);
	}
	s->name = cj_strndup(c->arena, s->name, length);
}

/* What stands beside the operands. Blocks are the values that they are, until
 * all steps are known. */
static void
read_extra(struct low_code *c, LLVMValueRef v, struct low_step *s)
{
	unsigned i, n = 0;
	const unsigned *indices;

	s->extra = CJ_NEWS(c->arena, int64_t, 2 * s->operands + 8 + (s->op ==
	    LLVMShuffleVector ? LLVMGetNumMaskElements(v) : 0));
	switch (s->op) {
	case LLVMPHI:
		for (; n < LLVMCountIncoming(v); n++)
			s->extra[n] = (int64_t)(uintptr_t)
			    LLVMGetIncomingBlock(v, n);
		break;
	case LLVMBr:
	case LLVMSwitch:
		for (; n < LLVMGetNumSuccessors(v); n++)
			s->extra[n] = (int64_t)(uintptr_t)LLVMGetSuccessor(v,
			    n);
		break;
	case LLVMGetElementPtr:
		strides_of(c, v, s->extra);
		n = s->operands - 1;
		for (i = 1; i <= n; i++)
			s->extra[s->operands + i] = scalar_type(c,
			    LLVMTypeOf(LLVMGetOperand(v, i))).width;
		break;
	case LLVMShuffleVector:
		for (; n < LLVMGetNumMaskElements(v); n++)
			s->extra[n] = LLVMGetMaskValue(v, n);
		break;
	case LLVMExtractValue:
	case LLVMInsertValue:
		indices = LLVMGetIndices(v);
		for (i = 0; i < LLVMGetNumIndices(v); i++)
			s->extra[n++] = indices[i];
		break;
	default:
		break;
	}
	s->extras = n;
}

static void
read_operands(struct low_code *c, LLVMValueRef v, struct low_step *s)
{
	uint32_t i, n = 0;

	s->operand = CJ_NEWS(c->arena, uint32_t, s->operands +
	    (s->op == LLVMSwitch ? LLVMGetNumSuccessors(v) : 0) + 1);
	if (s->op == LLVMSwitch) {
		s->operands = LLVMGetNumSuccessors(v);
		s->operand[n++] = place_of(c, LLVMGetOperand(v, 0));
		for (i = 1; i < s->operands; i++)
			s->operand[n++] = place_of(c,
			    LLVMGetSwitchCaseValue(v, i));
		return;
	}
	for (i = 0; i < s->operands; i++) {
		LLVMValueRef o = LLVMGetOperand(v, i);

		if (!LLVMValueIsBasicBlock(o))
			s->operand[n++] = place_of(c, o);
	}
	s->operands = n;
}

static void
read_step(struct low_code *c, LLVMValueRef v)
{
	struct low_step *s = cj_push(c->arena, &c->steps);

	memset(s, 0, sizeof *s);
	s->op = LLVMGetInstructionOpcode(v);
	s->type = type_of(c, LLVMTypeOf(v));
	s->at = look_up(c, v)->at;
	s->operands = (uint32_t)LLVMGetNumOperands(v);
	s->flags = flags_of(v, s->op);
	if (s->op == LLVMCall)
		read_call(c, v, s);
	read_extra(c, v, s);
	read_operands(c, v, s);
	if (s->operands != 0)
		s->from = type_of(c, LLVMTypeOf(LLVMGetOperand(v, 0)));
	if (s->op == LLVMICmp)
		s->which = LLVMGetICmpPredicate(v);
	if (s->op == LLVMFCmp)
		s->which = LLVMGetFCmpPredicate(v);
	if (s->op == LLVMAtomicRMW)
		s->which = LLVMGetAtomicRMWBinOp(v);
}

/* Blocks become steps: where they begin, for phis where they end. */
static void
resolve(struct low_code *c, const struct low_place *blocks, uint32_t count)
{
	uint32_t i, k, b;

	for (i = 0; i < c->steps.len; i++) {
		struct low_step *s = &c->steps.at[i];

		if (s->op != LLVMPHI && s->op != LLVMBr &&
		    s->op != LLVMSwitch)
			continue;
		for (k = 0; k < s->extras; k++) {
			for (b = 0; b < count; b++)
				if ((int64_t)(uintptr_t)blocks[b].value ==
				    s->extra[k])
					break;
			s->extra[k] = s->op != LLVMPHI ? blocks[b].at :
			    blocks[b + 1].at - 1;
		}
	}
}

static void
read_function(struct low_code *c)
{
	uint32_t count = LLVMCountBasicBlocks(c->fn), n = 0;
	struct low_place *blocks = CJ_NEWS(c->arena, struct low_place,
	    count + 1);
	LLVMBasicBlockRef b;
	LLVMValueRef v;

	for (b = LLVMGetFirstBasicBlock(c->fn); b != NULL;
	    b = LLVMGetNextBasicBlock(b))
		for (v = LLVMGetFirstInstruction(b); v != NULL;
		    v = LLVMGetNextInstruction(v))
			add_room(c, v, type_of(c, LLVMTypeOf(v)).count);
	for (b = LLVMGetFirstBasicBlock(c->fn); b != NULL;
	    b = LLVMGetNextBasicBlock(b)) {
		blocks[n].value = (LLVMValueRef)(void *)b;
		blocks[n++].at = c->steps.len;
		for (v = LLVMGetFirstInstruction(b); v != NULL;
		    v = LLVMGetNextInstruction(v))
			read_step(c, v);
	}
	blocks[n].at = c->steps.len;
	resolve(c, blocks, count);
}

static uint32_t
count_values(LLVMValueRef fn)
{
	LLVMBasicBlockRef b;
	LLVMValueRef v;
	uint32_t n = 64;

	for (b = LLVMGetFirstBasicBlock(fn); b != NULL;
	    b = LLVMGetNextBasicBlock(b))
		for (v = LLVMGetFirstInstruction(b); v != NULL;
		    v = LLVMGetNextInstruction(v))
			n += 1 + (uint32_t)LLVMGetNumOperands(v);
	return n;
}

void
lowered_read(struct low_code *c, LLVMModuleRef m,
    const struct lowered_launch *l)
{
	uint32_t i, at;

	c->layout = LLVMGetModuleDataLayout(m);
	c->fn = LLVMGetNamedFunction(m, l->kernel);
	if (c->fn == NULL || LLVMCountParams(c->fn) != l->count)
		cj_bug(c->arena->recover, "the kernel's parameters");
	c->room = 4 * count_values(c->fn) + 8192;
	c->places = CJ_NEWS(c->arena, struct low_place, c->room);
	read_globals(c, m);
	for (i = 0; i < l->count; i++) {
		at = add_room(c, LLVMGetParam(c->fn, i), 1);
		c->frame.at[at] = l->arguments[i].bits;
		if (l->arguments[i].bytes != 0)
			add_region(c, l->arguments[i].bits,
			    l->arguments[i].bytes);
	}
	read_function(c);
}
