/*
 * Private to ir_print*.c: the state of a printing and what both files write.
 */
#ifndef CJ_IR_PRINT_PRIV_H
#define CJ_IR_PRINT_PRIV_H

#include "ir_priv.h"

/* Numbers given out so far; 0: none yet. */
struct cj_printer {
	struct cj_strbuf *out;
	const struct cj_module *m;
	uint32_t *value;	/* by instruction, within its function */
	uint32_t *target;	/* by instruction that something leaves */
	uint32_t *lives;	/* by region that an object lives in */
	uint32_t *place;	/* by place; NULL: places are not printed */
	CJ_VEC(cj_place) places;	/* in order of number, from 1 */
};

#define PUTS(p, text)	cj_strbuf_puts((p)->out, (text))
#define NUMBER(p, text, n)	cj_printer_number((p), (text), (n))
#define PRINTF(p, ...)	cj_strbuf_printf((p)->out, __VA_ARGS__)

/* A text and a number behind it. */
void cj_printer_number(struct cj_printer *p, const char *text, uint64_t n);
/* In quotes; what is not plain in it escaped. */
void cj_printer_text(struct cj_printer *p, const char *text);
/* " name "text"", nothing if there is no text. */
void cj_printer_named_text(struct cj_printer *p, const char *name,
    const char *text);
/* One number if all are the same, else all in braces. */
void cj_printer_bits(struct cj_printer *p, enum cj_kind k,
    const uint64_t *bits, uint64_t count);
void cj_printer_operand(struct cj_printer *p, const struct cj_inst *i,
    unsigned n);
/* Operands from .. to - 1, with commas between. */
void cj_printer_operands(struct cj_printer *p, const struct cj_inst *i,
    unsigned from, unsigned to);

/* Operands and attribute of an instruction, after its type; any row of
 * ops.def. ir_print_attr.c */
void cj_printer_attr(struct cj_printer *p, const struct cj_inst *i);

#endif
