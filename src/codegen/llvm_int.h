/*
 * Integer arithmetic on one register (llvm_int.c).
 */
#ifndef CJ_LLVM_INT_H
#define CJ_LLVM_INT_H

#include "llvm_gen.h"

/* Operands of one LLVM integer type, and what is known of them. */
struct cj_llvm_int_operands {
	cj_llvm a, b, c;	/* NULL for those that the operation lacks */
	bool is_signed;
	bool no_wrap;		/* the exact result fits the type */
	bool a_not_negative, b_not_negative;
	bool b_positive;	/* at least 1 */
	bool b_in_width;	/* a shift by less than the type's width */
};

cj_llvm cj_llvm_int_apply(struct cj_llvm_gen *g, enum cj_op op,
    const struct cj_llvm_int_operands *x);
/* The same for two operands of which only their kind is known. */
cj_llvm cj_llvm_int_update(struct cj_llvm_gen *g, enum cj_op op,
    enum cj_kind k, cj_llvm a, cj_llvm b);

#endif
