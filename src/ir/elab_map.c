/*
 * Tensor maps that device code changes: a copy in shared memory, fields of it
 * replaced, the result published in global memory, where copies find it.
 *
 *	map_init(m, load)	m: an element of shared tensor(tensormap)
 *	map_replace(m, load, address = a, shape = s, stride = d)
 *	map_publish(to, m)		to: an element of such a workspace
 *	fence(proxy = .tensormap, map = to)
 *	copy(load, ..., map = to)
 */
#include "elab_gather.h"
#include "elab_tma.h"

enum { MAP_ALIGN = 128 };

/* One map in memory of that kind; 0: reported. */
static uint32_t
one_map(struct cj_elab *el, struct cj_span span, const struct cj_value *v,
    bool is_shared, cj_ref *offset)
{
	const struct cj_tensor *t = v->tensor;
	struct cj_access a = { .align = MAP_ALIGN };
	struct cj_object *o;

	if (v->kind == CJ_VALUE_ERROR)
		return 0;
	o = v->kind == CJ_VALUE_TENSOR ? &el->m->objects.at[t->object] : NULL;
	if (o == NULL || t->element != CJ_KIND_MAP || cj_is_leaf(
	    t->layout->shape) || t->layout->shape->rank != 0 ||
	    t->is_remote || (o->kind == CJ_OBJECT_SHARED) != is_shared) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_PLACE, span,
		    "one tensor map in %s memory is needed, this is %s",
		    is_shared ? "shared" : "global", cj_value_what(el, v)),
		    is_shared ? "Declare some, shared m: tensor(tensormap, "
		    "n:1) align(128); and name one, m[i]." :
		    "Make room in the host part, let maps = "
		    "workspace(tensormap, n:1); and name one, maps[i].");
		return 0;
	}
	if (o->align < MAP_ALIGN)
		o->align = MAP_ALIGN;
	o->reads = o->writes = true;
	cj_elab_object_leaf(el, t->object);
	a.object = t->object;
	*offset = cj_elab_ref_int(el, t->offset);
	return cj_module_access(el->m, &a);
}

/* What tma_load() or tma_store() made; NULL: reported. */
static const struct cj_tma_value *
template_of(struct cj_elab *el, struct cj_args *args)
{
	const struct cj_value *v = &args->at[1];

	if (v->kind == CJ_VALUE_COPY && v->copy->tma != NULL)
		return v->copy->tma;
	if (v->kind != CJ_VALUE_ERROR)
		cj_elab_report(el, CJ_DIAG_WRONG_KIND, cj_arg_span(args, 1),
		    "what tma_load() or tma_store() made is needed, this is "
		    "%s", cj_value_what(el, v));
	return NULL;
}

/* Chips of sm_90a and their successors of that kind alone change maps. */
static bool
may_change(struct cj_elab *el, struct cj_span span, const char *what)
{
	if (el->target == NULL || (el->target->number >= 90 && strpbrk(
	    el->target->name, "af") != NULL))
		return true;
	cj_elab_report(el, CJ_DIAG_NO_ATOM, span, "%s needs a target like "
	    "sm_90a, this is %s", what, el->target->name);
	return false;
}

struct cj_value
cj_builtin_map_init(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_tma_value *t = template_of(el, args);
	uint32_t access;
	cj_ref refs[2];

	if (t == NULL || !may_change(el, args->span, row->name))
		return cj_value_error();
	access = one_map(el, cj_arg_span(args, 0), &args->at[0], true,
	    &refs[0]);
	if (access == 0)
		return cj_value_error();
	refs[1] = cj_elab_ref(el, &t->map, CJ_KIND_VOID);
	cj_emit(&el->em->b, CJ_OP_MAP_INIT, 0, access, refs, 2);
	return cj_value_none();
}

/* ---- fields -------------------------------------------------------------- */

struct change {
	struct cj_elab *el;
	struct cj_args *args;
	const struct cj_tma_value *tma;
	uint32_t access;
	cj_ref offset;
};

static void
replace(const struct change *c, uint32_t field, cj_ref value)
{
	cj_ref refs[3] = { c->offset, cj_emit_index(&c->el->em->b, field),
	    value };

	cj_emit(&c->el->em->b, CJ_OP_MAP_REPLACE, 0, c->access, refs, 3);
}

static bool
replace_address(const struct change *c)
{
	const struct cj_value *v = cj_arg_named(c->el, c->args, "address");
	struct cj_builder *b = &c->el->em->b;
	enum cj_kind k;
	cj_ref r;

	if (v == NULL)
		return true;
	k = v->kind == CJ_VALUE_REGS ? (enum cj_kind)v->scalar : CJ_KIND_VOID;
	if ((k != CJ_KIND_U64 && k != CJ_KIND_I64) || cj_value_shape(v) !=
	    NULL) {
		cj_help(cj_elab_report(c->el, CJ_DIAG_WRONG_KIND,
		    c->args->span, "an address is one u64 or i64, this is %s",
		    cj_value_what(c->el, v)),
		    "address(x) has that of a tensor's first element.");
		return false;
	}
	r = cj_elab_ref(c->el, v, k);
	if (k == CJ_KIND_I64)
		r = cj_emit1(b, CJ_OP_BITCAST, cj_type_of(CJ_KIND_U64, 1), r);
	replace(c, CJ_MAP_ADDRESS, r);
	return true;
}

/* An extent or stride for each mode of the tensor; NULL and true: none. */
static bool
numbers(const struct change *c, const char *name, const struct cj_tuple **out)
{
	const struct cj_value *v = cj_arg_named(c->el, c->args, name);
	uint32_t m, rank = c->tma->rank;
	bool ok;

	*out = NULL;
	if (v == NULL)
		return true;
	*out = cj_value_to_tuple(c->el, c->args->span, v);
	if (*out == NULL)
		return false;
	ok = rank == 1 && (*out)->kind == CJ_TUPLE_INT ? true :
	    (*out)->kind == CJ_TUPLE_TUPLE && cj_tuple_rank(*out) == rank;
	for (m = 0; ok && m < rank; m++)
		ok = cj_tuple_get(*out, m)->kind == CJ_TUPLE_INT;
	if (!ok)
		cj_elab_report(c->el, CJ_DIAG_WRONG_SHAPE, c->args->span,
		    "\"%s\" has a number for each of the %u modes of the "
		    "map's tensor", name, rank);
	return ok;
}

static bool
replace_numbers(const struct change *c)
{
	const struct cj_tuple *shape, *stride;
	int64_t bytes = cj_kind_bits(c->tma->tensor->element) / 8;
	uint32_t n;

	if (!numbers(c, "shape", &shape) || !numbers(c, "stride", &stride))
		return false;
	if (stride != NULL && !cj_is_value(cj_tuple_get(stride,
	    c->tma->mode[0])->value, 1)) {
		cj_elab_report(c->el, CJ_DIAG_WRONG_SHAPE, c->args->span,
		    "mode %u has stride 1 in the map, and keeps it",
		    c->tma->mode[0]);
		return false;
	}
	for (n = 0; shape != NULL && n < c->tma->rank; n++)
		replace(c, CJ_MAP_EXTENT + n, cj_elab_ref_int(c->el,
		    cj_tuple_get(shape, c->tma->mode[n])->value));
	for (n = 1; stride != NULL && n < c->tma->rank; n++)
		replace(c, CJ_MAP_STRIDE + n, cj_elab_ref_int(c->el,
		    cj_int_mul(&c->el->sym, cj_tuple_get(stride,
		    c->tma->mode[n])->value, cj_known(bytes))));
	return true;
}

struct cj_value
cj_builtin_map_replace(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct change c = { .el = el, .args = args,
	    .tma = template_of(el, args) };

	if (c.tma == NULL || !may_change(el, args->span, row->name))
		return cj_value_error();
	c.access = one_map(el, cj_arg_span(args, 0), &args->at[0], true,
	    &c.offset);
	if (c.tma->kind == CJ_MAP_PIXELS)
		return cj_elab_error(el, CJ_DIAG_NO_ATOM, args->span,
		    "the fields of a map of pixels cannot be replaced: PTX has "
		    "that for maps of tiles alone");
	if (args->named_count == 0) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "map_replace has nothing to replace"), "Name it: "
		    "map_replace(m[i], load, address = a, shape = s, "
		    "stride = d), one of them or more.");
		return cj_value_error();
	}
	if (c.access == 0 || !replace_address(&c) || !replace_numbers(&c))
		return cj_value_error();
	return cj_value_none();
}

/* ---- published maps ------------------------------------------------------ */

struct cj_value
cj_builtin_map_publish(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_copy c = { .count = 1 };
	cj_ref refs[2];

	if (!may_change(el, args->span, row->name))
		return cj_value_error();
	c.to = one_map(el, cj_arg_span(args, 0), &args->at[0], false,
	    &refs[0]);
	c.from = c.to == 0 ? 0 : one_map(el, cj_arg_span(args, 1),
	    &args->at[1], true, &refs[1]);
	if (c.from == 0)
		return cj_value_error();
	cj_elab_meet(el, 32, "map_publish()");
	cj_emit(&el->em->b, CJ_OP_MAP_PUBLISH, 0, cj_module_copy(el->m, &c),
	    refs, 2);
	return cj_value_none();
}

bool
cj_elab_map_acquire(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v)
{
	cj_ref offset;
	uint32_t access = one_map(el, span, v, false, &offset);

	if (access == 0)
		return false;
	cj_emit(&el->em->b, CJ_OP_MAP_ACQUIRE, 0, access, &offset, 1);
	return true;
}

cj_ref
cj_elab_map_at(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v)
{
	cj_ref offset;
	uint32_t access = one_map(el, span, v, false, &offset);

	return access == 0 ? 0 : cj_emit(&el->em->b, CJ_OP_MAP_AT,
	    cj_type_of(CJ_KIND_MAP, 1), access, &offset, 1);
}

/* ---- addresses ----------------------------------------------------------- */

struct cj_value
cj_builtin_address(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	const struct cj_value *v = &args->at[0];
	const struct cj_object *o;
	struct cj_access a = { .align = 1 };
	cj_ref offset;

	if (v->kind == CJ_VALUE_ERROR)
		return *v;
	o = v->kind == CJ_VALUE_TENSOR ?
	    &el->m->objects.at[v->tensor->object] : NULL;
	if (o == NULL || (o->kind != CJ_OBJECT_TENSOR &&
	    o->kind != CJ_OBJECT_WORKSPACE) ||
	    cj_kind_bits(o->element) % 8 != 0)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "%s takes a tensor of whole bytes in global memory, this "
		    "is %s", row->name, cj_value_what(el, v));
	cj_elab_object_leaf(el, v->tensor->object);
	el->m->objects.at[v->tensor->object].reads = true;
	a.object = v->tensor->object;
	offset = cj_elab_ref_int(el, cj_gather_offset(el, args->span, NULL,
	    v->tensor, cj_tuple_known(&el->al, 0)));
	return cj_value_regs(el, CJ_KIND_U64, NULL, cj_emit(&el->em->b,
	    CJ_OP_ADDRESS, cj_type_of(CJ_KIND_U64, 1), cj_module_access(
	    el->m, &a), &offset, 1));
}
