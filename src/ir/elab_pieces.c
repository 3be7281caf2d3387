/*
 * How the elements of a view become accesses.
 *
 * The view's modes are flattened. Modes that run through memory without gaps
 * form a chain; the widest access is the largest power of two that the chain
 * has, that alignment proves, that the hardware has, and of which a guard
 * never cuts through.
 */
#include "elab_access.h"
#include "elab_origin.h"
#include "elab_tiled.h"

enum { MAX_BYTES = 16, MAX_BYTES_SM100 = 32 };

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
