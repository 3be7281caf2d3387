/*
 * Types of IR values: T[n], n registers of one scalar kind.
 */
#ifndef CJ_TYPE_H
#define CJ_TYPE_H

#include "base/base.h"

enum cj_kind {
	CJ_KIND_VOID,
#define KIND(name, text, bits, class) CJ_KIND_##name,
#include "type.def"
#undef KIND
	CJ_KIND_COUNT
};

enum cj_kind_class { CJ_CLASS_VOID, CJ_CLASS_BOOL, CJ_CLASS_INDEX,
    CJ_CLASS_SINT, CJ_CLASS_UINT, CJ_CLASS_FLOAT, CJ_CLASS_OTHER };

/* kind in the low 8 bits, number of registers above; 0 is void */
typedef uint32_t cj_type;

enum {
	CJ_MAX_REGISTERS = 1 << 16,
	/* of a register tensor in a program: a thread of a GPU has 255 of 32
	 * bits, and what is much larger keeps LLVM busy for minutes */
	CJ_MAX_TENSOR_REGISTERS = 2048
};

static inline cj_type
cj_type_of(enum cj_kind kind, uint32_t count)
{
	return (cj_type)kind | count << 8;
}

static inline enum cj_kind
cj_type_kind(cj_type t)
{
	return (enum cj_kind)(t & 0xff);
}

static inline uint32_t
cj_type_count(cj_type t)
{
	return t >> 8;
}

const char *cj_kind_text(enum cj_kind k);
unsigned cj_kind_bits(enum cj_kind k);		/* as stored in arrays */
enum cj_kind_class cj_kind_class(enum cj_kind k);
/* No value, but a place in memory that operations name. */
static inline bool
cj_kind_is_place(enum cj_kind k)
{
	return k == CJ_KIND_MBARRIER || k == CJ_KIND_MAP;
}
bool cj_kind_is_integer(enum cj_kind k);	/* SINT, UINT and INDEX */
bool cj_kind_is_float(enum cj_kind k);
bool cj_kind_is_signed(enum cj_kind k);		/* SINT, INDEX */
/* Bytes of one element in memory; kinds under 8 bits are packed, so this is
 * only for kinds of whole bytes. bool takes 1. */
unsigned cj_kind_bytes(enum cj_kind k);
enum cj_kind cj_kind_find(const char *text);	/* VOID if there is none */

#endif
