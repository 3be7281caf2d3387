/*
 * bulk_copy(): neighbours of a tensor moved by the hardware's own unit, between
 * global and shared memory or to the shared memory of a block of the cluster;
 * store_async(): registers sent there.
 *
 * One thread issues a copy, of whole units of 16 bytes that are neighbours on
 * both sides. How many may be known at run time alone, if the contract says
 * that they are whole units.
 */
#include "elab_access.h"
#include "elab_tiled.h"

#include "layout/layout.h"

enum { UNIT = 16 };

static bool
is_shared(const struct cj_elab *el, const struct cj_tensor *t)
{
	return el->m->objects.at[t->object].kind == CJ_OBJECT_SHARED;
}

/* ---- the atom ------------------------------------------------------------ */

/* Which of the names the argument chooses; false: none. */
static bool
chosen(struct cj_elab *el, const struct cj_value *v, const char *const *names,
    unsigned count, unsigned *which)
{
	if (v->kind != CJ_VALUE_CHOICE)
		return false;
	for (*which = 0; *which < count; ++*which)
		if (strcmp(cj_elab_name(el, v->choice), names[*which]) == 0)
			return true;
	return false;
}

bool
cj_arg_reduction(struct cj_elab *el, struct cj_args *args, bool *reduces,
    enum cj_atomic *how)
{
	static const char *const names[] = { "add", "min", "max", "and", "or",
	    "xor", "inc", "dec" };
	const struct cj_value *v = cj_arg_named(el, args, "reduce");
	unsigned which;

	*reduces = v != NULL;
	if (v == NULL)
		return true;
	if (!chosen(el, v, names, CJ_LENGTH(names), &which)) {
		cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "\"reduce\" is .add, .min, .max, .and, .or, .xor, .inc or "
		    ".dec");
		return false;
	}
	*how = (enum cj_atomic)which;
	return true;
}

bool
cj_arg_evict(struct cj_elab *el, struct cj_args *args, enum cj_evict *out)
{
	static const char *const names[] = { "normal", "first", "last" };
	const struct cj_value *v = cj_arg_named(el, args, "evict");
	unsigned which;

	*out = CJ_EVICT_NORMAL;
	if (v == NULL)
		return true;
	if (!chosen(el, v, names, CJ_LENGTH(names), &which)) {
		cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "\"evict\" is .normal, .first or .last");
		return false;
	}
	*out = (enum cj_evict)which;
	return true;
}

bool
cj_elab_can_combine(struct cj_elab *el, struct cj_span span, enum cj_kind k,
    enum cj_atomic how, bool goes_to_shared)
{
	if (cj_bulk_reduces(k, how, goes_to_shared))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_NO_ATOM, span,
	    "no copy combines elements of %s so%s", cj_kind_text(k),
	    goes_to_shared ? " in shared memory" : ""), goes_to_shared ?
	    "In shared memory i32 and u32 are combined, i64 and u64 by .add; "
	    ".inc and .dec are of u32." :
	    "In global memory integers of 32 and 64 bits are combined, f16 "
	    "and bf16 by .add, .min and .max, f32 and f64 by .add; .inc and "
	    ".dec are of u32.");
	return false;
}

struct cj_value
cj_builtin_bulk_copy(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_atom_value atom = { .use = CJ_ATOM_BULK };
	struct cj_copy_value *c = CJ_NEW(el->arena, struct cj_copy_value);
	struct cj_bulk_copy *b = CJ_NEW(el->arena, struct cj_bulk_copy);

	if (el->target != NULL && el->target->number < 90)
		return cj_elab_error(el, CJ_DIAG_NO_ATOM, args->span,
		    "%s needs the target sm_90 or later, this is %s",
		    row->name, el->target->name);
	if (!cj_arg_reduction(el, args, &b->reduces, &b->how) ||
	    !cj_arg_evict(el, args, &b->evict))
		return cj_value_error();
	atom.text = cj_elab_call_text(el, row->name, args);
	c->atom = cj_memdup(el->arena, &atom, sizeof atom);
	c->bulk = b;
	c->text = atom.text;
	return (struct cj_value){ .kind = CJ_VALUE_COPY, .copy = c };
}

/* ---- both sides ---------------------------------------------------------- */

/* Neighbours, one after the other? */
static bool
is_run(struct cj_elab *el, struct cj_span span, const struct cj_tensor *t,
    const char *name)
{
	const struct cj_layout *l = t->layout;

	if (l->swizzle.bits == 0 && (cj_is_leaf(l->shape) ||
	    l->shape->rank != 0))
		l = cj_layout_coalesce(&el->al, l, NULL);
	if (l != NULL && l->swizzle.bits == 0 && cj_is_leaf(l->shape) &&
	    l->stride->kind == CJ_TUPLE_INT &&
	    cj_is_value(l->stride->value, 1))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "%s copies neighbours, these elements are not one behind the "
	    "other", name), "Cut a row of stride 1, x[i, _]; tma_load() and "
	    "tma_store() copy tiles.");
	return false;
}

static bool
is_aligned(struct cj_elab *el, struct cj_span span, const struct cj_tensor *t)
{
	struct cj_object *o = &el->m->objects.at[t->object];
	int64_t bytes = cj_kind_bits(t->element) / 8, align;
	struct cj_int way;

	if (o->kind == CJ_OBJECT_SHARED && o->align < UNIT)
		o->align = UNIT;
	align = cj_tensor_align(el, t, &way);
	if (align >= UNIT && (cj_is_value(way, 0) ||
	    cj_elab_fills(el, way, bytes, UNIT)))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_UNALIGNED_COPY, span,
	    "a bulk copy begins at multiples of 16 bytes, of \"%s\" multiples "
	    "of %lld are known", o->name != NULL ? o->name : "this memory",
	    (long long)(align < UNIT ? align : cj_int_divisor(&el->sym, way) %
	    UNIT * bytes % UNIT)), "State it in the contract: align(16) "
	    "for the tensor, \"where ld %% %lld == 0\" for its strides.",
	    (long long)(UNIT / bytes));
	return false;
}

static bool
is_whole(struct cj_elab *el, struct cj_span span, const struct cj_tensor *t,
    struct cj_int count)
{
	int64_t bytes = cj_kind_bits(t->element) / 8;

	if (cj_elab_fills(el, count, bytes, UNIT))
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, span,
	    "a bulk copy moves whole units of 16 bytes, these are %s elements "
	    "of %s", cj_elab_int_text(el, count), cj_kind_text(t->element)),
	    "State it in the contract, \"where N %% %lld == 0\", or cut the "
	    "view at such a place and copy the rest by itself.",
	    (long long)(UNIT / bytes));
	return false;
}

static bool
check_side(struct cj_elab *el, struct cj_args *args, uint32_t i)
{
	const struct cj_value *v = &args->at[i];
	struct cj_span span = cj_arg_span(args, i);

	if (v->kind == CJ_VALUE_ERROR)
		return false;
	if (v->kind != CJ_VALUE_TENSOR) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "a bulk copy moves memory, this is %s",
		    cj_value_what(el, v));
		return false;
	}
	if (cj_tensor_is_guarded(v->tensor)) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span,
		    "a bulk copy is whole, a guard would cut it"),
		    "Cut the view to what is inside, x[a..min(b, N)].");
		return false;
	}
	if (cj_kind_bits(v->tensor->element) < 8) {
		cj_elab_error(el, CJ_DIAG_UNSUPPORTED, span,
		    "bulk copies of elements under 8 bits are not supported "
		    "by this version");
		return false;
	}
	return cj_tensor_may_touch(el, span, v->tensor, i == 2) &&
	    is_run(el, span, v->tensor, "a bulk copy") &&
	    is_aligned(el, span, v->tensor);
}

static bool
fit_together(struct cj_elab *el, struct cj_args *args,
    const struct cj_tensor *from, const struct cj_tensor *to,
    struct cj_int *count)
{
	struct cj_int have = cj_layout_size(&el->al, to->layout);

	*count = cj_layout_size(&el->al, from->layout);
	if (from->element != to->element)
		cj_elab_report(el, CJ_DIAG_MIXED_TYPES, args->span,
		    "a bulk copy converts nothing: the source has elements of "
		    "%s, the destination of %s", cj_kind_text(from->element),
		    cj_kind_text(to->element));
	else if (cj_int_equal(&el->sym, *count, have) != CJ_YES)
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_SHAPE, args->span,
		    "the source has %s elements, the destination %s",
		    cj_elab_int_text(el, *count), cj_elab_int_text(el,
		    have)), "Cut the larger one: s[0..n].");
	else
		return is_whole(el, args->span, from, *count);
	return false;
}

static bool
ways_fit(struct cj_elab *el, struct cj_args *args,
    const struct cj_tensor *from, const struct cj_tensor *to)
{
	const char *wrong = NULL;

	if (from->is_remote)
		wrong = "a bulk copy reads the memory of its own block";
	else if (!is_shared(el, from) && !is_shared(el, to))
		wrong = "one side of a bulk copy is shared memory";
	else if (is_shared(el, from) && is_shared(el, to) && !to->is_remote)
		wrong = "a bulk copy from shared to shared memory goes to "
		    "another block of the cluster";
	if (wrong == NULL)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_PLACE, args->span, "%s", wrong);
	return false;
}

/* ---- the copy ------------------------------------------------------------ */

bool
cj_arg_completes(struct cj_elab *el, struct cj_args *args, bool signals,
    const char *what)
{
	const struct cj_value *barrier = cj_arg_named(el, args, "barrier");
	const struct cj_value *raw = cj_arg_named(el, args, "raw");

	if (signals ? barrier != NULL : raw != NULL && barrier == NULL)
		return true;
	if (!signals && barrier != NULL)
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "%s to global memory signals no mbarrier", what),
		    "Say raw = true in place of barrier, and wait for it: "
		    "bulk_commit(); bulk_wait(0);");
	else
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    signals ? "%s to shared memory outside of a pipeline "
		    "signals an mbarrier" : "%s to global memory outside of a "
		    "pipeline is raw = true", what), signals ? "Say which: "
		    "barrier = b[i]." : "Say raw = true, and wait for it "
		    "behind the copies: bulk_commit(); bulk_wait(0);");
	return false;
}

bool
cj_arg_ranks(struct cj_elab *el, struct cj_args *args, cj_ref *ranks)
{
	const struct cj_value *v = cj_arg_named(el, args, "multicast");
	struct cj_value bits;

	*ranks = 0;
	if (v == NULL)
		return true;
	if (el->target != NULL && !cj_target_multicasts(el->target)) {
		cj_help(cj_elab_report(el, CJ_DIAG_NO_ATOM, args->span,
		    "one load to several blocks is for the targets sm_90a, "
		    "sm_100a and sm_103a, this is %s", el->target->name),
		    "Say \"target sm_90a\" behind the contract, or let each "
		    "block load for itself.");
		return false;
	}
	bits = cj_elab_coerce(el, args->span, CJ_KIND_U32, *v);
	if (bits.kind == CJ_VALUE_ERROR ||
	    !cj_elab_check_ranks(el, args->span, &bits))
		return false;
	if (el->cluster_blocks > 1)
		*ranks = cj_elab_ref(el, &bits, CJ_KIND_U32);
	return true;
}

static bool
spread_fits(struct cj_elab *el, struct cj_args *args, bool loads,
    const struct cj_tensor *to)
{
	if (cj_arg_named(el, args, "multicast") == NULL || (loads &&
	    !to->is_remote))
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
	    "\"multicast\" is for loads from global memory, to the same place "
	    "of each block");
	return false;
}

static uint32_t
access_to(struct cj_elab *el, const struct cj_tensor *t)
{
	struct cj_access a = { .object = t->object, .align = UNIT };

	return cj_module_access(el->m, &a);
}

/* The offset of the first element, behind the indices of gathered rows. */
static cj_ref
first_of(struct cj_elab *el, struct cj_span span, const struct cj_tensor *t)
{
	struct cj_pieces p = cj_pieces_first(el, span, t);
	cj_ref offset = cj_pieces_offset(el, &p, 0);

	if (t->gather != NULL)
		cj_pieces_watch(el, &p, 0, 0);
	return offset;
}

/* Of the destination's block. */
static cj_ref
rank_of(struct cj_elab *el, const struct cj_tensor *to)
{
	return cj_elab_ref_int(el, to->is_remote ? to->rank :
	    cj_elab_special(el, CJ_SPECIAL_BLOCK_RANK));
}

struct cj_value
cj_elab_copy_bulk(struct cj_elab *el, struct cj_args *args,
    const struct cj_copy_value *c)
{
	const struct cj_tensor *from = args->at[1].tensor;
	const struct cj_tensor *to = args->at[2].tensor;
	struct cj_bulk_copy b = *c->bulk;
	bool loads, signals;
	struct cj_int count;
	unsigned n = 0;
	cj_ref refs[5];

	if (!check_side(el, args, 1) || !check_side(el, args, 2) ||
	    !ways_fit(el, args, from, to) ||
	    !fit_together(el, args, from, to, &count))
		return cj_value_error();
	signals = is_shared(el, to);
	loads = signals && !is_shared(el, from);
	if (!cj_arg_completes(el, args, signals, "a bulk copy") ||
	    !spread_fits(el, args, loads, to) || (b.reduces &&
	    !cj_elab_can_combine(el, args->span, to->element, b.how,
	    signals)))
		return cj_value_error();
	if (loads && (b.reduces || to->is_remote))
		return cj_elab_error(el, CJ_DIAG_WRONG_PLACE, args->span,
		    b.reduces ? "a copy from global to shared memory combines "
		    "nothing" : "a copy from global memory goes to the own "
		    "block, or by multicast = bits to several");
	el->m->objects.at[from->object].reads = true;
	el->m->objects.at[to->object].writes = true;
	if (b.reduces)
		el->m->objects.at[to->object].reads = true;
	b.to = access_to(el, to);
	b.from = access_to(el, from);
	refs[n++] = first_of(el, cj_arg_span(args, 2), to);
	refs[n++] = first_of(el, cj_arg_span(args, 1), from);
	refs[n++] = cj_elab_ref_int(el, count);
	if (signals) {
		b.signal = cj_arg_mbarrier(el, args->span,
		    cj_arg_named(el, args, "barrier"), to, &refs[n++]);
		if (b.signal == 0 || !cj_arg_ranks(el, args, &refs[n]))
			return cj_value_error();
		if (!loads)
			refs[n] = rank_of(el, to);
		n += refs[n] != 0;
	}
	cj_emit(&el->em->b, CJ_OP_BULK_COPY, 0, cj_module_bulk(el->m, &b),
	    refs, n);
	return cj_value_none();
}

/* ---- registers ----------------------------------------------------------- */

static bool
vectors_fit(struct cj_elab *el, struct cj_args *args, struct cj_pieces *p,
    const struct cj_bulk_copy *b)
{
	unsigned bytes;

	if (!cj_pieces_make(el, p, args->span, p->t))
		return false;
	if (b->reduces) {
		cj_pieces_narrow(p, 1);
		return true;
	}
	while (cj_pieces_bytes(p) > UNIT)
		cj_pieces_narrow(p, p->width / 2);
	bytes = cj_pieces_bytes(p);
	if (bytes == 4 || bytes == 8 || bytes == 16)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_UNALIGNED_COPY, args->span,
	    "4, 8 or 16 bytes are sent at once, here accesses have %u: %s",
	    bytes, p->why != NULL ? p->why : "the view has no more"), "%s",
	    cj_pieces_help(p, "Send elements of 4 bytes, or neighbours of a "
	    "known alignment."));
	return false;
}

static struct cj_value
sent_value(struct cj_elab *el, struct cj_args *args,
    const struct cj_tensor *t)
{
	const struct cj_tuple *shape = t->layout->shape;
	struct cj_value v = cj_elab_coerce(el, cj_arg_span(args, 1),
	    t->element, cj_elab_read(el, cj_arg_span(args, 1), args->at[1]));

	if (v.kind == CJ_VALUE_ERROR)
		return v;
	if (cj_is_leaf(shape) || shape->rank != 0)
		return cj_elab_broadcast(el, args->span, v, shape);
	if (cj_shape_count(cj_value_shape(&v)) == 1)
		return v;
	return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE, args->span,
	    "one element is sent to, this is %s", cj_value_what(el, &v));
}

/* store_async(place, value, barrier = b[i] [, reduce = .add]) */
struct cj_value
cj_builtin_store_async(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *place = &args->at[0];
	const struct cj_value *barrier = cj_arg_named(el, args, "barrier");
	struct cj_bulk_copy b = { 0 };
	struct cj_pieces p = { .t = place->tensor };
	struct cj_access a = { 0 };
	struct cj_value v;
	cj_ref refs[4], value;
	uint32_t r, k, *at;

	if (el->target != NULL && el->target->number < 90)
		return cj_elab_error(el, CJ_DIAG_NO_ATOM, args->span,
		    "%s needs the target sm_90 or later, this is %s",
		    row->name, el->target->name);
	if (place->kind != CJ_VALUE_TENSOR || !is_shared(el, place->tensor) ||
	    cj_tensor_is_guarded(place->tensor))
		return cj_elab_error(el, CJ_DIAG_WRONG_PLACE, args->span,
		    "%s writes shared memory, of a block of the cluster, with "
		    "no guard; this is %s", row->name,
		    cj_value_what(el, place));
	if (el->cluster_blocks <= 1) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, args->span,
		    "%s writes to blocks of a cluster, this launch has none",
		    row->name), "Say cluster(n) with n of at least 2, or store "
		    "to the block's own memory: s[i] = v.");
		return cj_value_error();
	}
	if (barrier == NULL)
		return cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "%s signals an mbarrier: barrier = b[i]", row->name);
	if (!cj_arg_reduction(el, args, &b.reduces, &b.how) || (b.reduces &&
	    !cj_elab_can_combine(el, args->span, p.t->element, b.how, true)))
		return cj_value_error();
	v = sent_value(el, args, p.t);
	if (v.kind == CJ_VALUE_ERROR ||
	    !cj_tensor_may_touch(el, args->span, p.t, true) ||
	    !vectors_fit(el, args, &p, &b))
		return cj_value_error();
	el->m->objects.at[p.t->object].writes = true;
	el->m->objects.at[p.t->object].reads |= b.reduces;
	a.object = p.t->object;
	a.align = cj_pieces_align(&p);
	b.to = cj_module_access(el->m, &a);
	b.signal = cj_arg_mbarrier(el, args->span, barrier, p.t, &refs[3]);
	if (b.signal == 0)
		return cj_value_error();
	value = cj_elab_ref(el, &v, p.t->element);
	refs[1] = rank_of(el, p.t);
	at = CJ_NEWS(el->arena, uint32_t, p.width);
	for (r = 0; r < p.count; r++) {
		if (p.start[r] != r)
			continue;
		for (k = 0; k < p.count; k++)
			if (p.start[k] == r)
				at[p.lane[k]] = k;
		refs[0] = cj_pieces_offset(el, &p, r);
		refs[2] = cj_elab_permute(el, value, at, p.width);
		cj_emit(&el->em->b, CJ_OP_SEND, 0, cj_module_bulk(el->m, &b),
		    refs, 4);
	}
	return cj_value_none();
}
