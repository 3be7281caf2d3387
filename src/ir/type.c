/*
 * Types of IR values: the rows of type.def.
 */
#include "type.h"

static const struct {
	const char *text;
	unsigned bits;
	enum cj_kind_class class;
} kinds[CJ_KIND_COUNT] = {
	[CJ_KIND_VOID] = { "void", 0, CJ_CLASS_VOID },
#define KIND(name, text, bits, class)					\
	[CJ_KIND_##name] = { text, bits, CJ_CLASS_##class },
#include "type.def"
#undef KIND
};

_Static_assert(CJ_KIND_COUNT < 256, "a kind fits in the low 8 bits of a type");

const char *
cj_kind_text(enum cj_kind k)
{
	assert(k < CJ_KIND_COUNT);
	return kinds[k].text;
}

unsigned
cj_kind_bits(enum cj_kind k)
{
	assert(k < CJ_KIND_COUNT);
	return kinds[k].bits;
}

enum cj_kind_class
cj_kind_class(enum cj_kind k)
{
	assert(k < CJ_KIND_COUNT);
	return kinds[k].class;
}

bool
cj_kind_is_integer(enum cj_kind k)
{
	enum cj_kind_class c = cj_kind_class(k);

	return c == CJ_CLASS_INDEX || c == CJ_CLASS_SINT || c == CJ_CLASS_UINT;
}

bool
cj_kind_is_float(enum cj_kind k)
{
	return cj_kind_class(k) == CJ_CLASS_FLOAT;
}

bool
cj_kind_is_signed(enum cj_kind k)
{
	enum cj_kind_class c = cj_kind_class(k);

	return c == CJ_CLASS_INDEX || c == CJ_CLASS_SINT;
}

unsigned
cj_kind_bytes(enum cj_kind k)
{
	if (k == CJ_KIND_BOOL)
		return 1;
	assert(cj_kind_bits(k) % 8 == 0 && "a kind of whole bytes");
	return cj_kind_bits(k) / 8;
}

enum cj_kind
cj_kind_find(const char *text)
{
	unsigned k;

	for (k = CJ_KIND_VOID + 1; k < CJ_KIND_COUNT; k++)
		if (strcmp(kinds[k].text, text) == 0)
			return (enum cj_kind)k;
	return CJ_KIND_VOID;
}
