/*
 * Private to ir_read*.c: the scanner and the state of a reading.
 *
 * After the first error the scanner gives nothing but END, so that whoever
 * reads falls through to the end without asking at every step.
 */
#ifndef CJ_IR_READ_PRIV_H
#define CJ_IR_READ_PRIV_H

#include "ir_priv.h"

enum token { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_VALUE,
    TOKEN_OBJECT, TOKEN_FUNCTION, TOKEN_REGION, TOKEN_PLACE, TOKEN_TARGET,
    TOKEN_DOTS, TOKEN_MARK };

struct cj_reader {
	struct cj_module *m;
	struct cj_strbuf *error;
	const char *p, *end;
	uint32_t line;
	bool failed;
	/* the token at hand */
	enum token token;
	bool begins_line;	/* it is the first of its line */
	const char *start;	/* WORD, NUMBER, TEXT: its characters */
	size_t length;
	uint32_t number;	/* %7 @7 $7 #7 !7 ^7 */
	char mark;
	/* numbers of the text -> of the module; functions start anew */
	CJ_VEC(cj_ref) values, targets;
	CJ_VEC(cj_region) lives;
	CJ_VEC(cj_ref) operands;	/* of the instruction at hand */
	cj_region region;	/* the innermost open one */
	uint32_t index;		/* number of the index of the next region */
	cj_place index_place;
	uint64_t most;			/* largest number of a reference */
	uint64_t budget;	/* registers that "{...}" does not write out */
};

void cj_reader_next(struct cj_reader *r);
void cj_reader_fail(struct cj_reader *r, const char *what);

/* Is the token at hand this word or mark? If so, go past it. */
bool cj_reader_word(struct cj_reader *r, const char *word);
bool cj_reader_mark(struct cj_reader *r, char mark);
/* The same where anything else is an error. */
void cj_reader_need_word(struct cj_reader *r, const char *word);
void cj_reader_need_mark(struct cj_reader *r, char mark);

/* A token of the kind, gone past; its number. 0 and an error otherwise. */
uint32_t cj_reader_ref(struct cj_reader *r, enum token token,
    const char *what);
int64_t cj_reader_int(struct cj_reader *r, int64_t least, int64_t most);
const char *cj_reader_text(struct cj_reader *r);
int cj_reader_enum(struct cj_reader *r, enum cj_words set);
/* "2.0.1" into several small numbers. */
void cj_reader_dotted(struct cj_reader *r, uint32_t *out, unsigned count);
enum cj_kind cj_reader_kind(struct cj_reader *r);
cj_type cj_reader_type(struct cj_reader *r);
/* One number for all, or as many as there are in braces. */
uint64_t *cj_reader_bits(struct cj_reader *r, enum cj_kind k, uint64_t count);
uint32_t cj_reader_object(struct cj_reader *r);
cj_place cj_reader_place(struct cj_reader *r);	/* 0 if there is none */

/* What an operation of a type reads behind its name, with its operands. */
uint32_t cj_reader_attr(struct cj_reader *r, enum cj_op op, cj_type t);
/* Parts of it: %7, which is added to the operands; @7[%8]; an operand of a
 * product in shared memory; those of tensor memory (ir_read_tmem.c). */
void cj_reader_operand(struct cj_reader *r);
uint32_t cj_reader_spot(struct cj_reader *r);
uint32_t cj_reader_matrix(struct cj_reader *r, struct cj_operand_desc *d);
uint32_t cj_reader_tmem(struct cj_reader *r, enum cj_op op);
uint32_t cj_reader_tcgen05(struct cj_reader *r);

/* The instructions of a function up to its closing brace. */
void cj_reader_body(struct cj_reader *r);

#endif
