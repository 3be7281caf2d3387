/*
 * Reading the text form: instructions and regions.
 */
#include "ir_read_priv.h"

/* ---- numbers of the text ------------------------------------------------- */

/* Give number `n` of a table its meaning; twice is an error. */
static void
define(struct cj_reader *r, uint32_t **at, uint32_t *len, uint32_t *cap,
    uint32_t n, uint32_t meaning)
{
	if (r->failed)
		return;
	while (*len <= n) {
		cj_vec_more(r->m->arena, (void **)at, len, cap, sizeof **at);
		(*at)[*len - 1] = 0;
	}
	if ((*at)[n] != 0)
		cj_reader_fail(r, "a number is given twice");
	(*at)[n] = meaning;
}

#define DEFINE(r, table, n, meaning)					\
	define((r), &(r)->table.at, &(r)->table.len, &(r)->table.cap, (n), \
	    (meaning))

/* ---- instructions -------------------------------------------------------- */

/* "%7 !2 in": remembered until the region opens. */
static void
read_index(struct cj_reader *r)
{
	r->index = cj_reader_ref(r, TOKEN_VALUE, "a value");
	r->index_place = cj_reader_place(r);
	cj_reader_need_word(r, "in");
}

/* After "%7" it is the index if "in" or a place follows, else an operand. */
static bool
index_follows(const struct cj_reader *r)
{
	struct cj_reader ahead = *r;

	if (r->token != TOKEN_VALUE)
		return false;
	cj_reader_next(&ahead);
	return ahead.token == TOKEN_PLACE || (ahead.token == TOKEN_WORD &&
	    ahead.length == 2 && memcmp(ahead.start, "in", 2) == 0);
}

static uint32_t
read_unroll(struct cj_reader *r)
{
	if (cj_reader_word(r, "unroll"))
		return (uint32_t)cj_reader_int(r, 1, UINT32_MAX);
	return 0;
}

static uint32_t
read_for(struct cj_reader *r)
{
	cj_reader_operand(r);
	if (r->token != TOKEN_DOTS)
		cj_reader_fail(r, "\"..\" is needed");
	cj_reader_next(r);
	cj_reader_operand(r);
	cj_reader_need_word(r, "step");
	cj_reader_operand(r);
	return read_unroll(r);
}

static enum cj_op
read_op(struct cj_reader *r)
{
	enum cj_op op = CJ_OP_NONE;

	if (r->token == TOKEN_WORD)
		op = cj_op_find(cj_strndup(r->m->arena, r->start, r->length));
	if (op == CJ_OP_NONE)
		cj_reader_fail(r, "there is no such operation");
	cj_reader_next(r);
	return op;
}

static cj_ref
append(struct cj_reader *r, const struct cj_inst *i)
{
	const struct cj_op_info *info = &cj_op_info[i->op];

	if (r->operands.len < info->least || r->operands.len > info->most)
		cj_reader_fail(r, "the number of operands is wrong");
	if (r->failed)
		return 0;
	return cj_append(r->m, r->region, i, r->operands.at, r->operands.len);
}

/* A region of the instruction `owner` opens. */
static void
open_region(struct cj_reader *r, cj_ref owner, cj_region parent)
{
	cj_region region = cj_region_append(r->m, owner, parent);
	const struct cj_inst *i = cj_inst(r->m, owner);

	assert(cj_op_info[i->op].effects == CJ_EFFECTS_REGION);
	r->region = region;
	if (r->token == TOKEN_REGION) {
		DEFINE(r, lives, r->number, region);
		cj_reader_next(r);
	}
	if (r->index != 0) {
		struct cj_inst index = { .op = CJ_OP_INDEX,
		    .type = cj_type_of(CJ_KIND_INDEX, 1),
		    .place = r->index_place != 0 ? r->index_place :
		    i->place };

		DEFINE(r, values, r->index, cj_append(r->m, region, &index,
		    NULL, 0));
	}
	r->index = 0;
}

static void
read_inst(struct cj_reader *r)
{
	struct cj_inst i = { 0 };
	uint32_t value = 0, target = 0;
	enum cj_op op;
	cj_ref made;

	r->operands.len = 0;
	r->index = 0;
	if (r->token == TOKEN_VALUE) {
		value = cj_reader_ref(r, TOKEN_VALUE, "a value");
		cj_reader_need_mark(r, '=');
	}
	op = read_op(r);
	if (r->failed)
		return;
	i.op = (uint16_t)op;
	if (r->token == TOKEN_TARGET && cj_op_info[op].effects ==
	    CJ_EFFECTS_REGION)
		target = cj_reader_ref(r, TOKEN_TARGET, "a target");
	if (value != 0)
		i.type = cj_reader_type(r);
	else if (cj_op_info[op].attr == CJ_ATTR_CONSTANT)
		cj_reader_fail(r, "a constant has a value");
	if (cj_op_has_index(op) && index_follows(r))
		read_index(r);
	if (!r->failed)
		i.attr = op == CJ_OP_FOR ? read_for(r) :
		    op == CJ_OP_LOOP ? read_unroll(r) :
		    cj_reader_attr(r, op, i.type);
	i.place = cj_reader_place(r);
	made = append(r, &i);
	if (r->failed)
		return;
	if (value != 0)
		DEFINE(r, values, value, made);
	if (target != 0)
		DEFINE(r, targets, target, made);
	if (r->token == TOKEN_MARK && r->mark == '{') {
		if (cj_op_info[op].effects != CJ_EFFECTS_REGION) {
			cj_reader_fail(r, "the operation has no regions");
			return;
		}
		cj_reader_next(r);
		open_region(r, made, r->region);
	}
}

void
cj_reader_body(struct cj_reader *r)
{
	while (!r->failed) {
		const struct cj_region_info *g = &r->m->regions.at[r->region];

		if (!cj_reader_mark(r, '}')) {
			read_inst(r);
			continue;
		}
		if (g->owner == 0)
			return;
		if (cj_reader_word(r, "else")) {
			cj_reader_need_mark(r, '{');
			if (!r->failed)
				open_region(r, g->owner, g->parent);
		} else {
			r->region = g->parent;
		}
	}
}
