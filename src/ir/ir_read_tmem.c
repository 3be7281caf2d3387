/*
 * Reading the text form: what has to do with tensor memory.
 */
#include "ir_read_priv.h"

/* "@3 at %1[%2]", without the offset for whole objects. */
static uint32_t
read_place(struct cj_reader *r, bool has_offset)
{
	struct cj_access a = { .object = cj_reader_object(r) };

	cj_reader_need_word(r, "at");
	cj_reader_operand(r);
	if (has_offset) {
		cj_reader_need_mark(r, '[');
		cj_reader_operand(r);
		cj_reader_need_mark(r, ']');
	}
	return r->failed ? 0 : cj_module_access(r->m, &a);
}

static uint32_t
read_alloc(struct cj_reader *r, struct cj_tmem_use *u)
{
	struct cj_access a = { .object = cj_reader_object(r) };

	cj_reader_need_word(r, "at");
	u->other = cj_reader_spot(r);
	return r->failed ? 0 : cj_module_access(r->m, &a);
}

static uint32_t
read_slot(struct cj_reader *r)
{
	struct cj_access a = { .object = cj_reader_object(r) };

	cj_reader_need_mark(r, '[');
	a.position = (uint32_t)cj_reader_int(r, 0, UINT16_MAX);
	cj_reader_need_mark(r, ']');
	return r->failed ? 0 : cj_module_access(r->m, &a);
}

static void
read_shape(struct cj_reader *r, struct cj_tmem_use *u, bool repeats)
{
	cj_reader_need_word(r, "lanes");
	u->lanes = (uint32_t)cj_reader_int(r, 1, CJ_TMEM_LANES);
	cj_reader_need_word(r, "bits");
	u->bits = (uint32_t)cj_reader_int(r, 1, 1024);
	if (!repeats)
		return;
	cj_reader_need_word(r, "repeat");
	u->repeat = (uint32_t)cj_reader_int(r, 1, 128);
	u->packs = cj_reader_word(r, "packs");
}

uint32_t
cj_reader_tmem(struct cj_reader *r, enum cj_op op)
{
	struct cj_tmem_use u = { 0 };

	u.tmem = op == CJ_OP_TMEM_ALLOC ? read_alloc(r, &u) :
	    read_place(r, op != CJ_OP_TMEM_DEALLOC);
	if (op == CJ_OP_TMEM_LOAD) {
		cj_reader_need_word(r, "to");
		u.other = read_slot(r);
	} else if (op == CJ_OP_TMEM_STORE) {
		cj_reader_need_word(r, "from");
		cj_reader_operand(r);
	} else if (op == CJ_OP_TMEM_COPY) {
		cj_reader_need_word(r, "from");
		u.other = cj_reader_matrix(r, &u.desc);
	}
	if (op == CJ_OP_TMEM_LOAD || op == CJ_OP_TMEM_STORE ||
	    op == CJ_OP_TMEM_COPY)
		read_shape(r, &u, op != CJ_OP_TMEM_COPY);
	if (op == CJ_OP_TMEM_COPY) {
		cj_reader_need_word(r, "spread");
		u.spread = (enum cj_tmem_spread)cj_reader_enum(r,
		    CJ_WORDS_SPREAD);
	}
	return r->failed ? 0 : cj_module_tmem(r->m, &u);
}

/* A lies in tensor memory or, as B, in shared memory. */
static uint32_t
read_left(struct cj_reader *r, struct cj_operand_desc *d)
{
	struct cj_reader ahead = *r;
	uint32_t object = cj_reader_object(&ahead);

	if (ahead.failed || r->m->objects.at[object].kind != CJ_OBJECT_TMEM)
		return cj_reader_matrix(r, d);
	return read_place(r, true);
}

uint32_t
cj_reader_tcgen05(struct cj_reader *r)
{
	struct cj_tcgen05 t = { 0 };

	t.m = (uint32_t)cj_reader_int(r, 1, 256);
	t.n = (uint32_t)cj_reader_int(r, 1, 256);
	t.k = (uint32_t)cj_reader_int(r, 1, 256);
	t.d = cj_reader_kind(r);
	t.a = cj_reader_kind(r);
	t.b = cj_reader_kind(r);
	t.d_at = read_place(r, true);
	cj_reader_need_word(r, "a");
	t.a_at = read_left(r, &t.a_desc);
	cj_reader_need_word(r, "b");
	t.b_at = cj_reader_matrix(r, &t.b_desc);
	if (cj_reader_word(r, "accumulate"))
		cj_reader_operand(r);
	return r->failed ? 0 : cj_module_tcgen05(r->m, &t);
}
