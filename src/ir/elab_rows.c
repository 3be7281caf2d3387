/*
 * tma_gather(t, layout), tma_scatter(t, layout): rows of a matrix by their
 * numbers, four with an instruction.
 *
 * The tile in shared memory is rows times columns; along a row the tensor has
 * stride 1. A copy says from which column on, and which rows; those that the
 * tensor does not have are read as 0, and nothing is written there.
 *
 *	copy(load, t, s, rows = index, at = column, barrier = b)
 */
#include "elab_tma.h"

static const char help[] =
    "copy(load, t, s, rows = r, at = column), where r has "
    "a number for each row of the tile: a tuple, or a view of integers.";

/* ---- the map ------------------------------------------------------------- */

static bool
check_modes(struct cj_elab *el, struct cj_span span, struct cj_tma_value *t)
{
	const struct cj_layout *l = t->tensor->layout;
	struct cj_int n;
	uint32_t m;

	if (t->rank != 2 || cj_layout_rank(t->shared) != 2 ||
	    !cj_is_value(cj_tuple_get(l->stride, 1)->value, 1))
		return cj_no_map(el, span, "rows by number are those of a "
		    "tensor (rows, columns) with stride 1 along its columns, "
		    "and so is the layout");
	for (m = 0; m < 2; m++) {
		n = cj_tuple_product(&el->al, cj_tuple_get(t->shared->shape,
		    m));
		if (!cj_is_known(n))
			return cj_no_map(el, span, "the tile has known "
			    "extents");
		t->extent[m] = n.value;
		t->mode[m] = 1 - m;
		t->step[m] = 1;
	}
	return t->extent[0] % CJ_MAP_ROW_COUNT == 0 ||
	    cj_no_map(el, span, cj_printf(el->arena, "an instruction "
	    "copies four rows, the tile has %lld",
	    (long long)t->extent[0]));
}

/* Columns that stay together in shared memory, as wide as the swizzle. */
static int64_t
columns_of(struct cj_elab *el, const struct cj_tma_value *t,
    enum cj_map_swizzle swizzle)
{
	const struct cj_layout *l = cj_unswizzled(el, t->shared);
	int64_t bits = cj_kind_bits(t->tensor->element), run = 1;
	int64_t most = swizzle == CJ_MAP_PLAIN ? CJ_MOST_BOX * bits :
	    (int64_t)128 << swizzle;

	while (run < t->extent[1] && (run + 1) * bits <= most &&
	    cj_mode_step(el, l, 1, run) == run)
		run++;
	while (t->extent[1] % run != 0)
		run--;
	return run;
}

/* Four rows are one behind the other, and so far apart as columns are wide. */
static bool
place_boxes(struct cj_elab *el, struct cj_span span, struct cj_tma_value *t,
    int64_t run)
{
	const struct cj_layout *l = cj_unswizzled(el, t->shared);
	int64_t bits = cj_kind_bits(t->tensor->element), row, column, i;

	for (row = 0; row < t->extent[0]; row += CJ_MAP_ROW_COUNT)
		for (column = 0; column < t->extent[1]; column += run) {
			if (t->boxes == CJ_MOST_BOXES)
				return cj_no_map(el, span, cj_printf(
				    el->arena, "the tile takes more than %d "
				    "copies of four rows", CJ_MOST_BOXES));
			t->start[t->boxes][0] = column;
			t->start[t->boxes][1] = row;
			t->place[t->boxes] = cj_mode_step(el, l, 0, row) +
			    cj_mode_step(el, l, 1, column);
			if (t->place[t->boxes++] * bits % 1024 != 0)
				return cj_refuse_layout(el, span, "four "
				    "rows begin at a multiple of 128 bytes of "
				    "shared memory");
		}
	for (i = 0; i < t->extent[0]; i++)
		if (cj_mode_step(el, l, 0, i) - cj_mode_step(el, l, 0,
		    i / CJ_MAP_ROW_COUNT * CJ_MAP_ROW_COUNT) !=
		    i % CJ_MAP_ROW_COUNT * run)
			return cj_refuse_layout(el, span, "four rows lie "
			    "one behind the other in shared memory");
	for (i = 0; i < t->extent[1]; i++)
		if (cj_mode_step(el, l, 1, i) - cj_mode_step(el, l, 1,
		    i / run * run) != i % run)
			return cj_refuse_layout(el, span, "parts of rows "
			    "lie unlike in shared memory");
	return true;
}

static bool
make_map(struct cj_elab *el, struct cj_args *args, struct cj_tma_value *t)
{
	struct cj_map map;
	uint32_t m;

	memset(&map, 0, sizeof map);
	map.object = t->tensor->object;
	map.rank = 2;
	map.kind = CJ_MAP_ROWS;
	for (m = 0; m < CJ_MAP_MODES; m++)
		map.step[m] = 1;
	if (!cj_swizzle_of_map(t->shared, t->tensor->element, &map.swizzle))
		return cj_refuse_layout(el, args->span, "TMA exchanges "
		    "units of 16 bytes alone, in rows of 32, 64 or 128");
	if (!cj_tma_fetching(el, args, t, &map))
		return false;
	map.box[0] = (uint32_t)columns_of(el, t, map.swizzle);
	map.box[1] = CJ_MAP_ROW_COUNT;
	if (map.box[0] * cj_kind_bits(t->tensor->element) % 128 != 0)
		return cj_refuse_layout(el, args->span, "parts of rows are "
		    "whole units of 16 bytes");
	if (!cj_rows_fill_swizzle(el, args->span, t, &map) ||
	    !place_boxes(el, args->span, t, map.box[0]))
		return false;
	t->record = cj_module_map(el->m, &map);
	t->map = cj_value_regs(el, CJ_KIND_MAP, NULL, cj_tma_encode(el, t));
	return true;
}

/* What is done with rows by number, and without the hardware. */
static const struct {
	bool is_rare;		/* sm_100a and its like, else sm_100 on */
	const char *instead;
} uses[] = {
	[CJ_ROWS_LOADED] = { false, "A warp copies rows by cp_async: copy(c, "
	    "partition_s(c, gather(t, 0, rows), i), ...)." },
	[CJ_ROWS_STORED] = { true, "Threads store rows: t[row[i], _] = v." },
	[CJ_ROWS_ASKED] = { true, "Threads ask for rows: prefetch(t[row[i], "
	    "_])." },
};

bool
cj_rows_can(struct cj_elab *el, struct cj_span span, const char *name,
    enum cj_rows_use use)
{
	const struct cj_target *t = el->target;

	if (t == NULL || (uses[use].is_rare ? t->family == 100 :
	    t->number >= 100))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_NO_ATOM, span, "%s needs the "
	    "target %s, this is %s", name, uses[use].is_rare ?
	    "sm_100a or sm_103a" : "sm_100a or later", t->name), "%s",
	    uses[use].instead);
	return false;
}

static struct cj_value
make(struct cj_elab *el, struct cj_args *args, const struct cj_builtin *row,
    bool stores)
{
	struct cj_tma_value *t = cj_tma_begin(el, args, row);

	if (t == NULL || !cj_rows_can(el, args->span, row->name, stores ?
	    CJ_ROWS_STORED : CJ_ROWS_LOADED))
		return cj_value_error();
	t->kind = CJ_MAP_ROWS;
	t->stores = stores;
	t->along[0] = t->along[1] = 1;
	if (!cj_arg_evict(el, args, &t->evict) ||
	    !check_modes(el, args->span, t) ||
	    !cj_tma_check_tensor(el, args->span, t) ||
	    !make_map(el, args, t) || (stores &&
	    !cj_tma_need_whole_units(el, args->span, t)))
		return cj_value_error();
	cj_tma_mark(el, t);
	return cj_tma_copy_value(el, t, row->name);
}

struct cj_value
cj_builtin_tma_gather(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return make(el, args, row, false);
}

struct cj_value
cj_builtin_tma_scatter(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return make(el, args, row, true);
}

/* ---- copies -------------------------------------------------------------- */

/* Numbers in registers, one after the other. */
static bool
rows_in_registers(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v, int64_t count, struct cj_int *out)
{
	cj_ref all;
	uint32_t i;

	if (v->kind != CJ_VALUE_REGS || (int64_t)cj_shape_count(
	    cj_value_shape(v)) != count)
		return false;
	all = cj_elab_ref(el, v, CJ_KIND_VOID);
	for (i = 0; i < count; i++) {
		struct cj_value one = cj_value_regs(el,
		    (enum cj_kind)v->scalar, NULL,
		    cj_elab_permute(el, all, &i, 1));

		if (!cj_value_to_int(el, span, &one, &out[i]))
			return false;
	}
	return true;
}

static bool
rows_of_tuple(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v, int64_t count, struct cj_int *out)
{
	uint32_t i;

	if ((int64_t)v->tuple->count != count)
		return false;
	for (i = 0; i < count; i++)
		if (!cj_value_to_int(el, span, &v->tuple->at[i], &out[i]))
			return false;
	return true;
}

bool
cj_rows_place(struct cj_elab *el, struct cj_args *args,
    const struct cj_tma_value *t, struct cj_tma_place *to)
{
	const struct cj_value *named = cj_arg_named(el, args, "rows");
	struct cj_int *rows = CJ_NEWS(el->arena, struct cj_int, t->extent[0]);
	uint32_t errors = el->errors;
	struct cj_value v;
	bool ok;

	if (!cj_tma_names_tensor(el, args, t, "rows") ||
	    !cj_tma_numbers(el, args, "at", 1, help, to->at))
		return false;
	to->rows = rows;
	v = named == NULL ? cj_value_error() : *named;
	if (v.kind == CJ_VALUE_TENSOR || v.kind == CJ_VALUE_PLACE)
		v = cj_elab_read(el, args->span, v);
	ok = named != NULL && (v.kind == CJ_VALUE_TUPLE ?
	    rows_of_tuple : rows_in_registers)(el, args->span, &v,
	    t->extent[0], rows);
	if (!ok && el->errors == errors)
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS,
		    args->span, "this copy has the numbers of %lld rows%s%s",
		    (long long)t->extent[0], named == NULL ? "" : ", not ",
		    named == NULL ? "" : cj_value_what(el, named)), "%s",
		    help);
	return ok;
}
