/*
 * Loads and stores of the elements of a view, by the accesses of elab_pieces.c.
 *
 * Registers are compact and column-major whatever the order in memory: a
 * permutation stands between.
 */
#include "elab_access.h"
#include "elab_origin.h"
#include "elab_tiled.h"

enum { MAX_OPERANDS = 1024 };

/* An atom's width is not negotiable, but where a guard may cut through it. */
static bool
take_width(struct cj_elab *el, struct cj_pieces *p, const struct cj_how *how)
{
	const char *name = el->m->objects.at[p->t->object].name;
	struct cj_diag *d;

	if (how->width == 0 || (p->width < how->width && p->is_cut))
		return true;
	if (p->width >= how->width) {
		cj_pieces_narrow(p, how->width);
		return true;
	}
	d = cj_elab_report(el, CJ_DIAG_UNALIGNED_COPY, p->span,
	    "%s moves %u bytes at once, %s allows accesses of %u: %s",
	    how->who, how->width * p->bits / 8, name == NULL ? "the tensor" :
	    cj_printf(el->arena, "\"%s\"", name), p->width * p->bits / 8,
	    p->why == NULL ? "the neighbours of a thread are fewer" :
	    p->why);
	cj_help(d, "%s Or take %s.", cj_pieces_help(p, "State the alignment "
	    "in the contract, align(16) behind the tensor's pattern, or "
	    "choose a layout whose rows go along with the copy."),
	    cj_pieces_atom(el, p, false));
	return false;
}

/* ---- what every access needs --------------------------------------------- */

bool
cj_tensor_may_touch(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, bool writes)
{
	const struct cj_object *o = &el->m->objects.at[t->object];

	if (t->is_remote && cj_tensor_is_guarded(t)) {
		cj_elab_error(el, CJ_DIAG_UNSUPPORTED, span,
		    "memory of another block is not guarded in this version");
		return false;
	}
	if (t->element == CJ_KIND_MAP) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_KIND, span,
		    "a tensor map is neither read nor written"),
		    "map_init(), map_replace() and map_publish() change one, "
		    "copy(load, from, to, map = m) uses it.");
		return false;
	}
	if (o->kind == CJ_OBJECT_TMEM) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span,
		    "tensor memory is reached by copies and products alone"),
		    "copy(tiled_copy(tmem_load((32, 32), 32), t), "
		    "partition_s(...), v) reads it to registers.");
		return false;
	}
	if (t->element == CJ_KIND_MBARRIER) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_KIND, span,
		    "an mbarrier is neither read nor written"),
		    "mbarrier_init(), mbarrier_arrive(), mbarrier_wait() and "
		    "their kin name it.");
		return false;
	}
	if (el->em != NULL && el->time != CJ_TIME_HOST) {
		cj_elab_object_leaf(el, t->object);
		cj_elab_touch(el, span, t, writes, NULL);
		return cj_elab_stage_allows(el, span, t, writes);
	}
	cj_elab_error(el, CJ_DIAG_WRONG_TIME, span,
	    "the elements of %s are read and written in \"launch\" blocks "
	    "alone", o->name == NULL ? "a tensor" :
	    cj_printf(el->arena, "\"%s\"", o->name));
	return false;
}

static uint32_t
access_of(struct cj_elab *el, const struct cj_pieces *p,
    const struct cj_how *how)
{
	struct cj_access a = { .object = p->t->object,
	    .align = cj_pieces_align(p), .cache = how->cache,
	    .order = how->order, .scope = how->scope,
	    .is_early = how->is_early, .why = p->why };

	return cj_module_access(el->m, &a);
}

/* ---- loads --------------------------------------------------------------- */

static cj_ref
load_one(struct cj_elab *el, const struct cj_pieces *p, uint32_t r,
    uint32_t access, cj_ref fill)
{
	cj_type type = cj_type_of(p->t->element, p->width);
	cj_ref refs[3];
	uint32_t count = 1;

	refs[0] = cj_pieces_offset(el, p, r);
	if (p->t->is_remote) {
		refs[1] = cj_elab_ref_int(el, p->t->rank);
		cj_pieces_watch(el, p, r, 0);
		return cj_emit(&el->em->b, CJ_OP_REMOTE_LOAD, type, access,
		    refs, 2);
	}
	if (!cj_pieces_mask(el, p, r, &refs[1]))
		return 0;
	cj_pieces_watch(el, p, r, refs[1]);
	if (refs[1] != 0) {
		refs[2] = fill;
		count = 3;
	}
	return cj_emit(&el->em->b, CJ_OP_LOAD, type, access, refs, count);
}

static bool
fill_ref(struct cj_elab *el, const struct cj_pieces *p, cj_ref *fill)
{
	struct cj_value v;

	*fill = 0;
	if (!cj_tensor_is_guarded(p->t))
		return true;
	if (!p->t->has_fill) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, p->span,
		    "a guarded view without \"fill\" can only be written"),
		    "Say what is read outside: guard(view, fill = 0).");
		return false;
	}
	v = cj_elab_coerce(el, p->span, p->t->element, *p->t->fill);
	if (v.kind == CJ_VALUE_ERROR)
		return false;
	*fill = cj_elab_ref(el, &v, p->t->element);
	if (p->width > 1)
		*fill = cj_emit1(&el->em->b, CJ_OP_SPLAT,
		    cj_type_of(p->t->element, p->width), *fill);
	return true;
}

/* An instruction has fewer operands than a tensor may have accesses: groups
 * first, then the groups. `refs` is written over. */
static cj_ref
concat(struct cj_elab *el, enum cj_kind k, uint32_t width, cj_ref *refs,
    uint32_t count)
{
	uint32_t groups = 0, i, n;

	assert(count > 0 && width > 0);
	if (count == 1)
		return refs[0];
	if (count > MAX_OPERANDS) {
		for (i = 0; i < count; i += n) {
			n = count - i < MAX_OPERANDS ? count - i :
			    MAX_OPERANDS;
			refs[groups++] = concat(el, k, width, refs + i, n);
		}
		/* the last group may be shorter: all count in registers */
		return cj_emit(&el->em->b, CJ_OP_CONCAT, cj_type_of(k,
		    count * width), 0, refs, groups);
	}
	return cj_emit(&el->em->b, CJ_OP_CONCAT, cj_type_of(k,
	    count * width), 0, refs, count);
}

struct cj_value
cj_tensor_load(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, const struct cj_how *how)
{
	struct cj_pieces p;
	cj_ref *refs, fill, whole;
	uint32_t *number, *at, r, count = 0, access;
	const struct cj_tuple *shape = t->layout->shape;

	if (!cj_tensor_may_touch(el, span, t, false) ||
	    !cj_pieces_make(el, &p, span, t) || !take_width(el, &p, how) ||
	    !fill_ref(el, &p, &fill))
		return cj_value_error();
	cj_elab_warp_access(el, &p);
	el->m->objects.at[t->object].reads = true;
	access = access_of(el, &p, how);
	refs = CJ_NEWS(el->arena, cj_ref, p.count);
	number = CJ_NEWS(el->arena, uint32_t, p.count);
	at = CJ_NEWS(el->arena, uint32_t, p.count);
	for (r = 0; r < p.count; r++) {
		if (p.start[r] != r)
			continue;
		number[r] = count;
		refs[count] = load_one(el, &p, r, access, fill);
		if (refs[count++] == 0)
			return cj_value_error();
	}
	for (r = 0; r < p.count; r++)
		at[r] = number[p.start[r]] * p.width + p.lane[r];
	whole = concat(el, t->element, p.width, refs, count);
	if (!cj_is_leaf(shape) && shape->rank == 0)
		shape = NULL;
	return cj_value_regs(el, t->element, shape,
	    cj_elab_permute(el, whole, at, p.count));
}

/* Hints, one for each access that a load would make. */
void
cj_tensor_prefetch(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t)
{
	static const struct cj_how plain;
	const struct cj_object *o = &el->m->objects.at[t->object];
	struct cj_pieces p;
	uint32_t r, access;
	cj_ref refs[2];

	if (!cj_tensor_may_touch(el, span, t, false))
		return;
	if (t->is_remote || (o->kind != CJ_OBJECT_TENSOR &&
	    o->kind != CJ_OBJECT_WORKSPACE)) {
		cj_elab_error(el, CJ_DIAG_WRONG_PLACE, span,
		    "prefetch takes a view of global memory");
		return;
	}
	if (!cj_pieces_make(el, &p, span, t) || !take_width(el, &p, &plain))
		return;
	el->m->objects.at[t->object].reads = true;
	access = access_of(el, &p, &plain);
	for (r = 0; r < p.count; r++) {
		if (p.start[r] != r)
			continue;
		refs[0] = cj_pieces_offset(el, &p, r);
		if (!cj_pieces_mask(el, &p, r, &refs[1]))
			return;
		cj_emit(&el->em->b, CJ_OP_PREFETCH, 0, access, refs,
		    refs[1] == 0 ? 1 : 2);
	}
}

/* ---- stores -------------------------------------------------------------- */

/* from[] are the registers of the access that begins at register r. */
static bool
store_one(struct cj_elab *el, const struct cj_pieces *p, const uint32_t *from,
    cj_ref value, uint32_t access)
{
	uint32_t r = from[0];
	cj_ref refs[3];

	assert(p->start[r] == r && "the first of its access");
	refs[0] = cj_pieces_offset(el, p, r);
	if (p->t->is_remote) {
		refs[1] = cj_elab_ref_int(el, p->t->rank);
		refs[2] = cj_elab_permute(el, value, from, p->width);
		cj_pieces_watch(el, p, r, 0);
		cj_emit(&el->em->b, CJ_OP_REMOTE_STORE, 0, access, refs, 3);
		return true;
	}
	refs[1] = cj_elab_permute(el, value, from, p->width);
	if (!cj_pieces_mask(el, p, r, &refs[2]))
		return false;
	cj_pieces_watch(el, p, r, refs[2]);
	cj_emit(&el->em->b, CJ_OP_STORE, 0, access, refs,
	    refs[2] == 0 ? 2 : 3);
	return true;
}

/* Registers in the order of accesses: `width` for each. */
static const uint32_t *
registers_by_access(struct cj_elab *el, const struct cj_pieces *p)
{
	uint32_t *number = CJ_NEWS(el->arena, uint32_t, p->count);
	uint32_t *from = CJ_NEWS(el->arena, uint32_t, p->count), r, n = 0;

	for (r = 0; r < p->count; r++)
		if (p->start[r] == r)
			number[r] = n++;
	assert(n * p->width == p->count && "every register is stored once");
	for (r = 0; r < p->count; r++)
		from[number[p->start[r]] * p->width + p->lane[r]] = r;
	return from;
}

/* The same element would be written several times. */
static bool
overlaps(struct cj_elab *el, const struct cj_pieces *p)
{
	unsigned i;

	for (i = 0; i < p->axes; i++)
		if (cj_is_value(p->axis[i].stride, 0)) {
			cj_elab_error(el, CJ_DIAG_WRONG_PLACE, p->span,
			    "a view with a stride of 0 over %lld elements "
			    "cannot be written",
			    (long long)p->axis[i].extent);
			return true;
		}
	return false;
}

/* Elements under 8 bits share bytes: a store writes whole ones, whoever has
 * the neighbours. */
static bool
fills_bytes(struct cj_elab *el, const struct cj_pieces *p)
{
	unsigned n = p->bits == 6 ? 4 : 8 / p->bits;

	if (p->bits >= 8 || p->width * p->bits % 8 == 0)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_PART_OF_BYTE, p->span,
	    "a store of %u element%s of %s writes a part of a byte%s%s",
	    p->width, p->width == 1 ? "" : "s",
	    cj_kind_text(p->t->element), p->why == NULL ? "" : ": ",
	    p->why == NULL ? "" : p->why),
	    "Elements i to i + %u, i a multiple of %u, share %s: one thread "
	    "stores them together, x[i..i + %u] = v.", n - 1, n,
	    n == 4 ? "three bytes" : "a byte", n);
	return false;
}

static struct cj_value
value_to_store(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, struct cj_value v)
{
	const struct cj_tuple *shape = t->layout->shape;
	bool is_element = !cj_is_leaf(shape) && shape->rank == 0;

	v = cj_elab_coerce(el, span, t->element, v);
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	if (!is_element)
		return cj_elab_broadcast(el, span, v, shape);
	if (cj_shape_count(cj_value_shape(&v)) == 1)
		return v;
	return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, span,
	    "one element is assigned to, this is %s", cj_value_what(el, &v));
}

void
cj_tensor_store(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t, struct cj_value v, const struct cj_how *how)
{
	struct cj_pieces p;
	const uint32_t *from;
	uint32_t r, access;
	cj_ref value;

	if (!cj_tensor_may_touch(el, span, t, true) ||
	    !cj_pieces_make(el, &p, span, t) || !take_width(el, &p, how) ||
	    overlaps(el, &p) || !fills_bytes(el, &p))
		return;
	v = value_to_store(el, span, t, v);
	if (v.kind == CJ_VALUE_ERROR)
		return;
	cj_elab_warp_access(el, &p);
	el->m->objects.at[t->object].writes = true;
	value = cj_elab_ref(el, &v, t->element);
	access = access_of(el, &p, how);
	from = registers_by_access(el, &p);
	for (r = 0; r < p.count; r += p.width)
		if (!store_one(el, &p, from + r, value, access))
			return;
}
