/*
 * Private to the core of ir/: what builder, reader, verifier and passes share.
 */
#ifndef CJ_IR_PRIV_H
#define CJ_IR_PRIV_H

#include "ir.h"

/*
 * What is wrong with the operands, type and attribute of an instruction by
 * itself, or NULL: the row of ops.def and what it calls CUSTOM and ANY.
 * Operands must be instructions of the module. What depends on the function
 * or on regions is the verifier's.
 */
const char *cj_rule_check(const struct cj_module *m, const struct cj_inst *i);

/* Append without checks: for the reader. */
cj_ref cj_append(struct cj_module *m, cj_region region,
    const struct cj_inst *inst, const cj_ref *operands, uint32_t count);
/* A region of `owner` after its others, standing in `parent`. */
cj_region cj_region_append(struct cj_module *m, cj_ref owner,
    cj_region parent);
/* Link `r` in front of `before`, or last if that is 0. */
void cj_inst_link(struct cj_module *m, cj_region region, cj_ref r,
    cj_ref before);

/* ---- words of the text form, by enumerator (ir_words.c) ------------------ */

enum cj_words { CJ_WORDS_SPECIAL, CJ_WORDS_DEVICE, CJ_WORDS_SHFL,
    CJ_WORDS_FENCE, CJ_WORDS_TMEM_WAIT, CJ_WORDS_SPREAD,
    CJ_WORDS_OBJECT, CJ_WORDS_CACHE, CJ_WORDS_ORDER,
    CJ_WORDS_SCOPE,
    CJ_WORDS_ATOMIC, CJ_WORDS_GENERATOR, CJ_WORDS_ARGUMENT, CJ_WORDS_LEAF,
    CJ_WORDS_FUNCTION, CJ_WORDS_ROUNDING, CJ_WORDS_COPY, CJ_WORDS_EVICT };

/* The word of an enumerator; "?" if it is none. */
const char *cj_word(enum cj_words set, unsigned enumerator);
/* The enumerator of a word, -1 if there is none. */
int cj_word_find(enum cj_words set, const char *text, size_t length);

/* ---- copies of code (ir_copy.c) ------------------------------------------ */

struct cj_copier {
	struct cj_module *m;
	/* by instruction: pure ones that are computed again for a copy that
	 * uses them, in front of an instruction of a region; NULL: none */
	const bool *again;
	cj_region pure_to;
	cj_ref pure_before;
	bool keeps_shared;	/* copies share the shared memory of a region */
	/* what there was at the beginning, and its copies; 0: itself */
	uint32_t insts, regions, objects;
	cj_ref *inst_of;
	cj_region *region_of;
	uint32_t *object_of;
};

/* Nothing is copied so far. */
void cj_copier_begin(struct cj_copier *c);
/* Copy what has no copy yet: a region's instructions to the end of `to`, or
 * one with its regions to the end of `to` or in front of `before`. */
void cj_copy_region(struct cj_copier *c, cj_region from, cj_region to);
cj_ref cj_copy_inst(struct cj_copier *c, cj_ref r, cj_region to,
    cj_ref before);

/* ---- passes -------------------------------------------------------------- */

#define PASS(name, text) void cj_opt_##name(struct cj_module *m);
#include "passes.def"
#undef PASS

/* Has this region's owner an index, and is it the region's first? */
bool cj_region_has_index(const struct cj_module *m, cj_region region);

#endif
