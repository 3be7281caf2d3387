/*
 * Folding of what only moves registers: slices of what was put together.
 */
#include "fold_priv.h"

/*
 * Where registers first .. first + count of `r` come from: the search goes
 * through slices, splats, concats and inserts. 0 where they are mixed.
 */
static cj_ref
find_source(const struct cj_fold *f, cj_ref r, uint32_t *first, uint32_t count)
{
	for (;;) {
		const struct cj_inst *i = cj_inst(f->m, r);
		uint32_t n, at = 0, length = 0;

		if (i->op == CJ_OP_SLICE) {
			*first += i->attr;
			r = cj_operand(f->m, i, 0);
			continue;
		}
		if (i->op == CJ_OP_INSERT) {
			length = cj_type_count(cj_inst(f->m,
			    cj_operand(f->m, i, 1))->type);
			if (*first >= i->attr &&
			    *first + count <= i->attr + length) {
				*first -= i->attr;
				r = cj_operand(f->m, i, 1);
			} else if (*first + count <= i->attr ||
			    *first >= i->attr + length) {
				r = cj_operand(f->m, i, 0);
			} else {
				return r;
			}
			continue;
		}
		if (i->op != CJ_OP_CONCAT)
			return r;
		for (n = 0; n < i->operand_count; n++) {
			length = cj_type_count(cj_inst(f->m,
			    cj_operand(f->m, i, n))->type);
			if (*first < at + length)
				break;
			at += length;
		}
		assert(n < i->operand_count);
		if (*first + count > at + length)
			return r;
		*first -= at;
		r = cj_operand(f->m, i, n);
	}
}

static cj_ref
fold_slice(struct cj_fold *f, cj_ref r)
{
	struct cj_inst *i = cj_inst(f->m, r);
	uint32_t first = i->attr, count = cj_type_count(i->type);
	cj_ref from = find_source(f, cj_operand(f->m, i, 0), &first, count);
	const struct cj_inst *source = cj_inst(f->m, from);

	if (source->type == i->type && first == 0)
		return from;
	if (source->op == CJ_OP_SPLAT && count == 1)
		return cj_operand(f->m, source, 0);
	if (source->op == CJ_OP_SPLAT) {
		f->m->pool.at[i->operands] = cj_operand(f->m, source, 0);
		i->op = CJ_OP_SPLAT;
		i->attr = 0;
		return 0;
	}
	f->m->pool.at[i->operands] = from;
	i->attr = first;
	return 0;
}

/* One operand, or slices of one value that follow each other and are all. */
static cj_ref
fold_concat(struct cj_fold *f, cj_ref r)
{
	const struct cj_inst *i = cj_inst(f->m, r);
	cj_ref whole = 0;
	uint32_t at = 0, n;

	if (i->operand_count == 1)
		return cj_operand(f->m, i, 0);
	for (n = 0; n < i->operand_count; n++) {
		const struct cj_inst *part = cj_inst(f->m,
		    cj_operand(f->m, i, n));

		if (part->op != CJ_OP_SLICE || part->attr != at ||
		    (n > 0 && cj_operand(f->m, part, 0) != whole))
			return 0;
		whole = cj_operand(f->m, part, 0);
		at += cj_type_count(part->type);
	}
	return cj_inst(f->m, whole)->type == i->type ? whole : 0;
}

static cj_ref
fold_permute(struct cj_fold *f, cj_ref r)
{
	const struct cj_inst *i = cj_inst(f->m, r);
	const struct cj_positions *p = &f->m->positions.at[i->attr];
	cj_ref x = cj_operand(f->m, i, 0);
	uint32_t n;

	if (cj_inst(f->m, x)->type != i->type)
		return 0;
	for (n = 0; n < p->count; n++)
		if (p->at[n] != n)
			return 0;
	return x;
}

static cj_ref
fold_bitcast(struct cj_fold *f, cj_ref r)
{
	const struct cj_inst *i = cj_inst(f->m, r);
	cj_ref x = cj_operand(f->m, i, 0);
	const struct cj_inst *from = cj_inst(f->m, x);

	if (from->type == i->type)
		return x;
	if (from->op != CJ_OP_BITCAST)
		return 0;
	x = cj_operand(f->m, from, 0);
	if (cj_inst(f->m, x)->type == i->type)
		return x;
	f->m->pool.at[i->operands] = x;
	return 0;
}

cj_ref
cj_fold_registers(struct cj_fold *f, cj_ref r)
{
	const struct cj_inst *i = cj_inst(f->m, r);
	cj_ref x, y;

	switch ((unsigned)i->op) {
	case CJ_OP_SLICE: return fold_slice(f, r);
	case CJ_OP_CONCAT: return fold_concat(f, r);
	case CJ_OP_PERMUTE: return fold_permute(f, r);
	case CJ_OP_BITCAST: return fold_bitcast(f, r);
	case CJ_OP_SPLAT:
		x = cj_operand(f->m, i, 0);
		return cj_inst(f->m, x)->type == i->type ? x : 0;
	case CJ_OP_INSERT:
		y = cj_operand(f->m, i, 1);
		return cj_inst(f->m, y)->type == i->type ? y : 0;
	default: return 0;
	}
}
