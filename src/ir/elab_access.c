/*
 * Loads and stores: how the elements of a view become accesses.
 *
 * The view's modes are flattened. Modes that run through memory without gaps
 * form a chain; the widest access is the largest power of two that the chain
 * has, that alignment proves, that the hardware has, and of which a guard
 * never cuts through. Registers are compact and column-major whatever the
 * order in memory: a permutation stands between.
 */
#include "elab_access.h"
#include "elab_origin.h"
#include "elab_tiled.h"

enum { MAX_BYTES = 16, MAX_BYTES_SM100 = 32, MAX_OPERANDS = 1024 };

/* ---- the view's modes ---------------------------------------------------- */

static bool
not_known(struct cj_elab *el, const struct cj_pieces *p, struct cj_int extent)
{
	struct cj_strbuf text;
	struct cj_diag *d;

	cj_strbuf_init(&text, el->arena);
	cj_int_print(&text, &el->sym, extent);
	d = cj_elab_report(el, CJ_DIAG_NOT_KNOWN, p->span,
	    "the elements of a view are registers, but its extent %s is not "
	    "known at compile time", text.text);
	cj_elab_note_int(el, d, extent);
	cj_help(d, "Take a part of known extents: local_tile(), partition(), "
	    "or an index.");
	return false;
}

static bool
add_axes(struct cj_elab *el, struct cj_pieces *p, const struct cj_tuple *shape,
    const struct cj_tuple *stride, uint64_t *count)
{
	struct cj_axis *a;
	uint32_t i;

	if (!cj_is_leaf(shape)) {
		for (i = 0; i < shape->rank; i++)
			if (!add_axes(el, p, shape->at[i], stride->at[i],
			    count))
				return false;
		return true;
	}
	if (!cj_is_known(shape->value))
		return not_known(el, p, shape->value);
	if (shape->value.value == 1)
		return true;
	if (p->axes == CJ_MAX_AXES) {
		cj_elab_error(el, CJ_DIAG_LIMIT, p->span,
		    "a view that is loaded has at most %d modes", CJ_MAX_AXES);
		return false;
	}
	a = &p->axis[p->axes++];
	a->extent = shape->value.value;
	a->stride = stride->value;
	a->radix = (uint32_t)*count;
	*count *= (uint64_t)a->extent;
	return true;
}

static int64_t
power_in(int64_t n)
{
	int64_t most = (int64_t)1 << 30;	/* more than anybody asks for */

	return n == 0 || n % most == 0 ? most : n & -n;
}

/* The modes that follow one another in memory; their elements in a run. */
static int64_t
find_chain(struct cj_pieces *p)
{
	int64_t want = 1, run = 1;
	unsigned i;

	for (i = 0; i < p->axes; i++) {
		struct cj_axis *a = &p->axis[i];

		if (a->taken != 0 || !cj_is_value(a->stride, want))
			continue;
		a->run = run;
		a->taken = power_in(a->extent);
		run *= a->taken;
		if (a->taken != a->extent)
			break;
		want *= a->extent;
		i = (unsigned)-1;	/* from the first mode again */
	}
	return run;
}

/* ---- alignment ----------------------------------------------------------- */

uint32_t
cj_pieces_bytes(const struct cj_pieces *p)
{
	return (p->width * p->bits + 7) / 8;
}

/* Elements of six bits are moved byte by byte. */
uint32_t
cj_pieces_align(const struct cj_pieces *p)
{
	return p->bits == 6 ? 1 : cj_pieces_bytes(p);
}

/* "4 bytes", "4 bits". */
static const char *
bits_text(struct cj_elab *el, int64_t bits)
{
	return bits % 8 != 0 ? cj_printf(el->arena, "%lld bits",
	    (long long)bits) : cj_printf(el->arena, "%lld byte%s",
	    (long long)bits / 8, bits == 8 ? "" : "s");
}

static int64_t
limit_by(struct cj_elab *el, int64_t bits, int64_t proved, struct cj_pieces *p,
    const char *format, const char *what)
{
	if (proved >= bits)
		return bits;
	p->why = cj_printf(el->arena, format, what, bits_text(el, proved));
	p->is_unaligned = true;
	return proved;
}

/* Bits that are known to divide a number of elements. Four of six bits are
 * three bytes, so that what is a multiple of four begins a byte. */
static int64_t
bits_in(struct cj_elab *el, const struct cj_pieces *p, struct cj_int elements)
{
	int64_t n = power_in(cj_int_divisor(&el->sym, elements));

	return n * (p->bits == 6 && n < 4 ? 2 : p->bits);
}

int64_t
cj_tensor_align(struct cj_elab *el, const struct cj_tensor *t,
    struct cj_int *way)
{
	int64_t align = power_in(el->m->objects.at[t->object].align);

	*way = t->offset;
	if (t->promised <= align)
		return align;
	*way = cj_int_sub(&el->sym, t->offset, t->origin);
	return t->promised;
}

/* The most bits, up to `bits`, at whose multiples every access begins. */
static int64_t
proved_alignment(struct cj_elab *el, struct cj_pieces *p, int64_t bits)
{
	const struct cj_tensor *t = p->t;
	const struct cj_object *o = &el->m->objects.at[t->object];
	struct cj_int way;
	int64_t align;
	unsigned i;

	assert(t->object != 0 && o->align > 0 && bits > 0);
	align = cj_tensor_align(el, t, &way);
	if (p->bits != 6)
		bits = limit_by(el, bits, align * 8, p,
		    "\"%s\" is aligned to %s", o->name);
	bits = limit_by(el, bits, bits_in(el, p, way), p,
	    "the offset %s is known to be a multiple of %s only",
	    cj_elab_int_text(el, way));
	if (t->layout->offset != NULL)
		bits = limit_by(el, bits, bits_in(el, p,
		    t->layout->offset->value), p,
		    "the offset %s is known to be a multiple of %s only",
		    cj_elab_int_text(el, t->layout->offset->value));
	for (i = 0; i < p->axes; i++) {
		const struct cj_axis *a = &p->axis[i];

		if (a->taken == 0)
			bits = limit_by(el, bits, bits_in(el, p, a->stride),
			    p, "the stride %s is known to be a multiple of "
			    "%s only", cj_elab_int_text(el, a->stride));
	}
	if (t->layout->is_composed && t->layout->swizzle.bits > 0)
		bits = limit_by(el, bits, ((int64_t)p->bits <<
		    t->layout->swizzle.base), p,
		    "the swizzle%s keeps %s together", "");
	return bits;
}

/* ---- elements ------------------------------------------------------------ */

struct cj_way
cj_pieces_way(struct cj_elab *el, const struct cj_pieces *p, uint32_t r)
{
	return cj_way_begin(el, p->span, p->reads, p->t,
	    cj_tuple_known(&el->al, r));
}

struct cj_pieces
cj_pieces_first(struct cj_elab *el, struct cj_span span,
    const struct cj_tensor *t)
{
	static const uint32_t zero;
	struct cj_pieces p = { .t = t, .span = span, .width = 1, .count = 1 };

	p.start = cj_memdup(el->arena, &zero, sizeof zero);
	p.lane = cj_memdup(el->arena, &zero, sizeof zero);
	p.reads = CJ_NEW(el->arena, struct cj_index_reads);
	return p;
}

/* ---- the plan ------------------------------------------------------------ */

static void
assign_registers(struct cj_pieces *p)
{
	uint32_t r;
	unsigned i;

	for (r = 0; r < p->count; r++) {
		int64_t at = 0, lane, back;

		p->start[r] = r;
		for (i = 0; i < p->axes; i++) {
			const struct cj_axis *a = &p->axis[i];
			int64_t c = r / a->radix % a->extent;

			if (a->taken != 0)
				at += c % a->taken * a->run;
			else if (cj_is_value(a->stride, 0))
				p->start[r] -= (uint32_t)(c * a->radix);
		}
		lane = at % p->width;
		assert(lane >= 0 && at >= lane);
		p->lane[r] = (uint32_t)lane;
		for (i = 0; i < p->axes; i++) {
			const struct cj_axis *a = &p->axis[i];
			int64_t c = r / a->radix % a->extent;

			if (a->taken == 0)
				continue;
			back = c % a->taken - (at - lane) / a->run % a->taken;
			p->start[r] -= (uint32_t)(back * a->radix);
		}
	}
}

void
cj_pieces_narrow(struct cj_pieces *p, uint32_t width)
{
	assert(width > 0 && width <= p->width && p->width % width == 0);
	p->width = width;
	assign_registers(p);
}

static int64_t
widest(const struct cj_elab *el, const struct cj_tensor *t)
{
	const struct cj_object *o = &el->m->objects.at[t->object];

	return el->target != NULL && el->target->family >= 100 &&
	    o->kind != CJ_OBJECT_SHARED ? MAX_BYTES_SM100 : MAX_BYTES;
}

/* Is there more than one element in memory? */
static bool
has_steps(const struct cj_pieces *p)
{
	unsigned i;

	for (i = 0; i < p->axes; i++)
		if (!cj_is_value(p->axis[i].stride, 0))
			return true;
	return false;
}

/* Does the first step lead along a gathered mode? */
static bool
steps_gathered(struct cj_elab *el, const struct cj_pieces *p)
{
	unsigned i;

	for (i = 0; i < p->axes && cj_is_value(p->axis[i].stride, 0);)
		i++;
	return i < p->axes && cj_gather_has_step(el, p->axis[i].stride);
}

const char *
cj_pieces_help(const struct cj_pieces *p, const char *otherwise)
{
	return p->remedy != NULL ? p->remedy : otherwise;
}

const char *
cj_pieces_atom(struct cj_elab *el, const struct cj_pieces *p, bool is_async)
{
	const char *type = cj_kind_text(p->t->element);
	uint32_t bits = p->width * p->bits;

	if (is_async && bits >= 32)
		return cj_printf(el->arena, "cp_async(%s, %u)", type,
		    (unsigned)p->width);
	if (p->width > 1 && bits >= 8)
		return cj_printf(el->arena, "vector(%s, %u)", type,
		    (unsigned)p->width);
	return cj_printf(el->arena, "universal_copy(%s)", type);
}

/* What to do about strides that let accesses be no wider. */
static void
say_remedy(struct cj_elab *el, struct cj_pieces *p, bool has_run)
{
	if (p->why == NULL || p->remedy != NULL)
		return;
	if (el->m->objects.at[p->t->object].kind == CJ_OBJECT_SHARED)
		p->remedy = has_run ? "Let the strides of shared memory be "
		    "multiples of what is copied at once; smem_layout(T, "
		    "shape, unit = mode) has such." : "Let the values of a "
		    "thread go along the mode of stride 1, or choose a layout "
		    "whose rows go along with the copy: smem_layout(T, shape, "
		    "unit = mode).";
	else if (!has_run)
		p->remedy = "Let the values of a thread go along the mode of "
		    "stride 1, and say in the contract which one it is: "
		    "tensor(T, (M, N):(_, 1)) align(16).";
}

static void
choose_width(struct cj_elab *el, struct cj_pieces *p)
{
	int64_t run = find_chain(p), most, ideal, widest_bits;
	struct cj_cut_by by;

	/* four elements of six bits are what can be stored */
	widest_bits = p->bits == 6 ? 24 : 8 * widest(el, p->t);
	most = run * p->bits < widest_bits ? run * p->bits : widest_bits;
	ideal = most < 8 * MAX_BYTES ? most : 8 * MAX_BYTES;
	if (run == 1 && has_steps(p)) {
		p->why = "no mode of the view is known to have stride 1";
		if (steps_gathered(el, p)) {
			p->why = "neighbours in a gathered mode lie wherever "
			    "its indices say";
			p->remedy = "Let the values of a thread lie along a "
			    "mode that is not gathered.";
		}
	}
	most = proved_alignment(el, p, most);
	p->width = most < p->bits ? 1 : (uint32_t)(most / p->bits);
	say_remedy(el, p, run > 1);
	assign_registers(p);
	while (!cj_guard_allows(el, p, &by)) {
		if (!p->is_cut)
			cj_guard_blame(el, p, &by);
		p->is_cut = true;
		p->is_unaligned = false;
		p->width /= 2;
		assign_registers(p);
	}
	if ((int64_t)p->width * p->bits >= ideal && run > 1)
		p->why = NULL;
}

/* A remark where the first offset may not fit in 32 bits. */
static void
remark_wide(struct cj_elab *el, const struct cj_pieces *p)
{
	const struct cj_object *o = &el->m->objects.at[p->t->object];
	struct cj_int at;

	if (el->ds->off[CJ_DIAG_WIDE_INDEX] || el->reads_index ||
	    o->kind == CJ_OBJECT_SHARED || o->kind == CJ_OBJECT_TABLE)
		return;
	at = cj_pieces_term(el, p, 0);
	if (cj_int_range(&el->sym, at).hi <= INT32_MAX)
		return;
	cj_help(cj_elab_report(el, CJ_DIAG_WIDE_INDEX, p->span,
	    "the offset %s in \"%s\" may pass 2^31: it has 64 bits",
	    cj_elab_int_text(el, at), o->name == NULL ? "a tensor" : o->name),
	    "A \"where\" that bounds the extents and strides makes it 32.");
}

bool
cj_pieces_make(struct cj_elab *el, struct cj_pieces *p, struct cj_span span,
    const struct cj_tensor *t)
{
	uint64_t count = 1;

	memset(p, 0, sizeof *p);
	p->t = t;
	p->span = span;
	p->bits = t->element == CJ_KIND_BOOL ? 8 : cj_kind_bits(t->element);
	if (cj_tuple_is_known(t->layout->shape) &&
	    !cj_elab_fits_registers(el, span, t->layout->shape))
		return false;
	if (!add_axes(el, p, t->layout->shape, t->layout->stride, &count))
		return false;
	p->count = (uint32_t)count;
	p->reads = CJ_NEW(el->arena, struct cj_index_reads);
	p->start = CJ_NEWS(el->arena, uint32_t, p->count);
	p->lane = CJ_NEWS(el->arena, uint32_t, p->count);
	choose_width(el, p);
	if (el->time != CJ_TIME_DEVICE)
		return true;
	remark_wide(el, p);
	if (p->why != NULL && p->count > 1)
		cj_elab_report(el, p->is_unaligned ?
		    CJ_DIAG_UNKNOWN_ALIGNMENT : CJ_DIAG_NARROW_ACCESS, span,
		    "accesses of %s: %s", bits_text(el,
		    (int64_t)p->width * p->bits), p->why);
	return true;
}

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

struct cj_int
cj_pieces_term(struct cj_elab *el, const struct cj_pieces *p, uint32_t r)
{
	return cj_gather_offset(el, p->span, p->reads, p->t,
	    cj_tuple_known(&el->al, r));
}

cj_ref
cj_pieces_offset(struct cj_elab *el, const struct cj_pieces *p, uint32_t r)
{
	return cj_elab_ref_int(el, cj_pieces_term(el, p, r));
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
