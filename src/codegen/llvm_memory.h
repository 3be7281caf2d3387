/*
 * What the files about memory share.
 */
#ifndef CJ_LLVM_MEMORY_H
#define CJ_LLVM_MEMORY_H

#include "llvm_gen.h"

/* A register as it lies in memory, an integer (of 8 bits for bool), and back
 * (llvm_word.c). */
cj_llvm cj_llvm_to_storage(struct cj_llvm_gen *g, enum cj_kind k, cj_llvm v);
cj_llvm cj_llvm_from_storage(struct cj_llvm_gen *g, enum cj_kind k, cj_llvm v);

/* Registers first ... of r, a narrow kind, as an integer with `each` bits for
 * a register, and out of one; r has been defined. */
cj_llvm cj_llvm_join_word(struct cj_llvm_gen *g, cj_ref r, uint32_t first,
    LLVMTypeRef type, unsigned each);
void cj_llvm_split_word(struct cj_llvm_gen *g, cj_ref r, uint32_t first,
    cj_llvm word, unsigned each);
/* Address of the byte in which the element at `offset` begins. */
cj_llvm cj_llvm_first_byte(struct cj_llvm_gen *g,
    const struct cj_access *access, cj_ref offset);

/* Between the two the object is another block's; what borrow gives is given
 * back. */
enum { CJ_LLVM_SHARED_CLUSTER = 7 };	/* the address space */
cj_llvm cj_llvm_borrow(struct cj_llvm_gen *g, const struct cj_access *access,
    cj_ref rank);
void cj_llvm_give_back(struct cj_llvm_gen *g, const struct cj_access *access,
    cj_llvm own);

/* One access of PTX with a cache hint (llvm_hint.c). The type is a word or a
 * vector of words. */
cj_llvm cj_llvm_hinted_load(struct cj_llvm_gen *g,
    const struct cj_access *access, LLVMTypeRef type, cj_llvm from);
void cj_llvm_hinted_store(struct cj_llvm_gen *g,
    const struct cj_access *access, cj_llvm v, cj_llvm to);

/* Register by register, with an order (llvm_atomic.c). */
void cj_llvm_ordered_load(struct cj_llvm_gen *g, cj_ref r,
    const struct cj_access *access, cj_ref offset);
void cj_llvm_ordered_store(struct cj_llvm_gen *g,
    const struct cj_access *access, cj_ref offset, cj_ref value);

#endif
