/*
 * Where an element is: the coordinate in its tensor, as the program wrote it.
 *
 * Tensors of a launch bring extents and strides; the coordinate is found from
 * the largest stride down, and given if it leads back to the element. Shared
 * memory has a layout that is known, perhaps swizzled: there all coordinates
 * are tried. Where modes are nested, one number stands for each top mode.
 */
#include "interp_priv.h"
#include "layout/layout.h"

enum { MOST_RANK = 16, MOST_TRIED = 1 << 16 };

/* ---- tensors of a launch ------------------------------------------------- */

/* The mode of the largest stride that is not yet done; rank: none. */
static uint32_t
next_mode(const struct cj_memory *m, const bool *done)
{
	uint32_t best = m->rank, i;

	for (i = 0; i < m->rank; i++)
		if (!done[i] && m->strides[i] > 0 && (best == m->rank
		    || m->strides[i] > m->strides[best]))
			best = i;
	return best;
}

static bool
find_by_strides(const struct cj_memory *m, int64_t element, int64_t *at)
{
	bool done[MOST_RANK] = { false };
	int64_t rest = element;
	uint32_t i;

	if (m->rank > MOST_RANK || element < 0)
		return false;
	memset(at, 0, m->rank * sizeof *at);
	while ((i = next_mode(m, done)) != m->rank) {
		done[i] = true;
		if (m->extents[i] <= 1)
			continue;
		at[i] = rest / m->strides[i];
		rest -= at[i] * m->strides[i];
	}
	return rest == 0;
}

static const char *
coordinate_text(struct cj_arena *a, const int64_t *at, uint32_t rank)
{
	struct cj_strbuf out;
	uint32_t i;

	cj_strbuf_init(&out, a);
	for (i = 0; i < rank; i++)
		cj_strbuf_printf(&out, i == 0 ? "%lld" : ", %lld",
		    (long long)at[i]);
	return out.text;
}

static const char *
in_tensor(struct cj_arena *a, const struct cj_memory *m, int64_t element)
{
	int64_t at[MOST_RANK];

	if (m->rank == 0 || (m->rank == 1 && m->strides[0] == 1)
	    || !find_by_strides(m, element, at))
		return NULL;
	return coordinate_text(a, at, m->rank);
}

/* ---- layouts that are known ---------------------------------------------- */

/* The number of the coordinate, first mode fastest; -1: none. */
static int64_t
find_in_layout(struct cj_algebra *al, const struct cj_layout *l,
    int64_t element)
{
	struct cj_int size = cj_layout_size(al, l), offset;
	int64_t i;

	for (i = 0; cj_is_known(size) && size.value <= MOST_TRIED
	    && i < size.value; i++)
		if (cj_layout_offset(al, l, cj_tuple_known(al, i), &offset)
		    && cj_is_value(offset, element))
			return i;
	return -1;
}

static const char *
find_in_modes(struct cj_algebra *al, const struct cj_layout *l,
    int64_t element)
{
	uint32_t rank = cj_layout_rank(l), i;
	int64_t at[MOST_RANK], n;

	if (rank < 2 || rank > MOST_RANK)
		return NULL;
	n = find_in_layout(al, l, element);
	if (n < 0)
		return NULL;
	for (i = 0; i < rank; i++) {
		int64_t extent = cj_layout_size(al,
		    cj_layout_get(al, l, i)).value;

		at[i] = n % extent;
		n /= extent;
	}
	return coordinate_text(al->arena, at, rank);
}

static const char *
in_layout(struct cj_arena *a, const char *text, int64_t element)
{
	struct cj_names names;
	struct cj_symtab syms;
	struct cj_algebra al;
	const struct cj_layout *l;
	const char *found = NULL;

	cj_names_init(&names, a);
	cj_symtab_init(&syms, a, &names);
	cj_algebra_init(&al, a, &syms);
	l = cj_layout_read(&al, text, strlen(text));
	if (l != NULL)
		found = find_in_modes(&al, l, element);
	cj_names_fini(&names);
	return found;
}

/* Elements lie lane by lane here; the layout has addresses. */
static const char *
in_tensor_memory(struct cj_arena *a, const struct cj_object *o,
    int64_t element)
{
	int64_t row = o->extent / CJ_TMEM_LANES;
	int64_t parts = 32 / cj_kind_bits(o->element);
	int64_t lane = element / row, rest = element % row;
	const char *at = o->layout == NULL ? NULL : in_layout(a, o->layout,
	    lane * CJ_TMEM_LANE_STEP * parts + rest);

	return at == NULL ? cj_printf(a, "lane %lld, column %lld",
	    (long long)lane, (long long)(rest / parts)) :
	    cj_printf(a, "[%s] (lane %lld, column %lld)", at,
	    (long long)lane, (long long)(rest / parts));
}

/* ---- both ---------------------------------------------------------------- */

const char *
cj_where(const struct cj_frame *f, uint32_t object, int64_t element)
{
	const struct cj_object *o = &f->code->module->objects.at[object];
	const struct cj_memory *m = &f->machine->memory[object];
	struct cj_arena *a = f->machine->arena;
	const char *at = NULL;

	if (o->kind == CJ_OBJECT_TMEM)
		return in_tensor_memory(a, o, element);
	if (o->kind == CJ_OBJECT_SHARED && o->layout != NULL)
		at = in_layout(a, o->layout, element);
	else if (o->kind == CJ_OBJECT_TENSOR)
		at = in_tensor(a, m, element);
	return at == NULL
	    ? cj_printf(a, "element %lld", (long long)element)
	    : cj_printf(a, "[%s] (element %lld)", at, (long long)element);
}
