/*
 * Accesses by name: load(), store(), prefetch() and the atomic operations, with
 * their caches, orders and scopes.
 */
#include "elab_access.h"
#include "elab_tiled.h"

/* ---- how an access is made ----------------------------------------------- */

struct word {
	const char *text;
	int value;
};

static bool
choice(struct cj_elab *el, struct cj_args *args, const char *name,
    const struct word *words, unsigned count, int *out)
{
	const struct cj_value *v = cj_arg_named(el, args, name);
	unsigned i;

	if (v == NULL)
		return true;
	for (i = 0; v->kind == CJ_VALUE_CHOICE && i < count; i++)
		if (strcmp(words[i].text, cj_elab_name(el, v->choice)) == 0) {
			*out = words[i].value;
			return true;
		}
	cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
	    "\"%s\" is not %s; the first choice is .%s", name,
	    cj_value_what(el, v), words[0].text);
	return false;
}

static bool
how_of(struct cj_elab *el, struct cj_args *args, struct cj_how *how)
{
	static const struct word caches[] = {
		{ "streaming", CJ_CACHE_STREAMING },
		{ "last_use", CJ_CACHE_LAST_USE },
		{ "no_allocate", CJ_CACHE_NO_ALLOCATE },
		{ "read_only", CJ_CACHE_READ_ONLY }
	};
	static const struct word orders[] = {
		{ "relaxed", CJ_ORDER_RELAXED }, { "acquire",
		CJ_ORDER_ACQUIRE }, { "release", CJ_ORDER_RELEASE },
		{ "acq_rel", CJ_ORDER_ACQ_REL }
	};
	static const struct word scopes[] = {
		{ "gpu", CJ_MEMORY_GPU }, { "block", CJ_MEMORY_BLOCK },
		{ "cluster", CJ_MEMORY_CLUSTER },
		{ "system", CJ_MEMORY_SYSTEM }
	};
	int cache = how->cache, order = how->order, scope = how->scope;

	if (!choice(el, args, "cache", caches, CJ_LENGTH(caches), &cache) ||
	    !choice(el, args, "order", orders, CJ_LENGTH(orders), &order) ||
	    !choice(el, args, "scope", scopes, CJ_LENGTH(scopes), &scope))
		return false;
	how->cache = (enum cj_cache)cache;
	how->order = (enum cj_order)order;
	how->scope = how->order == CJ_ORDER_WEAK ? CJ_MEMORY_BLOCK :
	    (enum cj_memory_scope)scope;
	return true;
}

/* Can memory be loaded, or stored, with the order? `other` is that of the
 * other direction. */
static bool
has_order(struct cj_elab *el, struct cj_args *args, const struct cj_how *how,
    const char *what, enum cj_order other)
{
	const struct cj_tensor *t = args->at[0].tensor;

	if (how->order == CJ_ORDER_WEAK)
		return true;
	if (how->order == other) {
		cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "a %s does not %s", what, other == CJ_ORDER_RELEASE ?
		    "release" : "acquire");
		return false;
	}
	if (t->is_remote) {
		cj_help(cj_elab_report(el, CJ_DIAG_UNSUPPORTED, args->span,
		    "a %s with an order does not reach the memory of another "
		    "block in this version", what),
		    "An mbarrier of that block orders what is written.");
		return false;
	}
	if ((cj_kind_bits(t->element) < 8 && t->element != CJ_KIND_BOOL) ||
	    cj_kind_is_place(t->element)) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "a %s with an order takes whole bytes, these are elements "
		    "of %s", what, cj_kind_text(t->element));
		return false;
	}
	return true;
}

/* ---- loads and stores ---------------------------------------------------- */

struct cj_value
cj_builtin_load(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_how how = { .scope = CJ_MEMORY_GPU };
	struct cj_value v = args->at[0], got;

	(void)row;
	if (!how_of(el, args, &how) || !cj_arg_flag(el, args, "early",
	    &how.is_early))
		return cj_value_error();
	if (how.is_early && how.order != CJ_ORDER_WEAK)
		return cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, args->span,
		    "what a load with an order may see is not told early");
	if (v.kind != CJ_VALUE_TENSOR || cj_elab_is_array(el, &v))
		return cj_elab_read(el, args->span, v);
	if (!has_order(el, args, &how, "load", CJ_ORDER_RELEASE))
		return cj_value_error();
	got = cj_tensor_load(el, args->span, v.tensor, &how);
	got.fragment = v.fragment;
	return got;
}

struct cj_value
cj_builtin_store(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_how how = { .scope = CJ_MEMORY_GPU };
	struct cj_value v = args->at[0];

	(void)row;
	if (!how_of(el, args, &how))
		return cj_value_error();
	if (!cj_fragments_agree(el, args->span, args->at[1].fragment,
	    v.fragment))
		return cj_value_error();
	if (v.kind != CJ_VALUE_TENSOR || cj_elab_is_array(el, &v))
		cj_elab_assign(el, args->span, v, args->at[1]);
	else if (has_order(el, args, &how, "store", CJ_ORDER_ACQUIRE))
		cj_tensor_store(el, args->span, v.tensor, args->at[1], &how);
	return cj_value_none();
}

struct cj_value
cj_builtin_prefetch(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_value v = args->at[0];

	(void)row;
	if (v.kind != CJ_VALUE_TENSOR)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "prefetch takes a view, this is %s",
		    cj_value_what(el, &v));
	cj_tensor_prefetch(el, args->span, v.tensor);
	return cj_value_none();
}

/* ---- atomics ------------------------------------------------------------- */

static bool
atomic_place(struct cj_elab *el, struct cj_args *args)
{
	const struct cj_value *p = &args->at[0];

	if (p->kind == CJ_VALUE_TENSOR &&
	    !cj_is_leaf(p->tensor->layout->shape) &&
	    p->tensor->layout->shape->rank == 0)
		return true;
	if (p->kind != CJ_VALUE_ERROR)
		cj_elab_error(el, CJ_DIAG_WRONG_PLACE, args->span,
		    "an atomic operation takes one element of a tensor, this "
		    "is %s", cj_value_what(el, p));
	return false;
}

/* False: reported. */
static bool
can_combine(struct cj_elab *el, struct cj_span span, enum cj_kind k,
    enum cj_atomic op)
{
	if (cj_kind_bits(k) < 8 || cj_kind_is_place(k)) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "there are no atomic operations on elements of %s",
		    cj_kind_text(k));
		return false;
	}
	if ((op == CJ_ATOMIC_INC || op == CJ_ATOMIC_DEC) &&
	    k != CJ_KIND_U32) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_KIND, span,
		    "counting round needs elements of u32, these are %s",
		    cj_kind_text(k)), "Count in u32, or add by atomic_add() "
		    "and take the remainder.");
		return false;
	}
	if ((op == CJ_ATOMIC_AND || op == CJ_ATOMIC_OR ||
	    op == CJ_ATOMIC_XOR) && !cj_kind_is_integer(k)) {
		cj_elab_error(el, CJ_DIAG_WRONG_KIND, span,
		    "an atomic operation on bits needs integers, these are %s",
		    cj_kind_text(k));
		return false;
	}
	return true;
}

static struct cj_value
atomic(struct cj_elab *el, struct cj_args *args, enum cj_atomic op)
{
	struct cj_how how = { .order = CJ_ORDER_RELAXED,
	    .scope = CJ_MEMORY_GPU };
	const struct cj_tensor *t;
	struct cj_access a = { .atomic = op };
	struct cj_pieces p;
	struct cj_value v;
	cj_ref refs[5];
	uint32_t i, n = 1;

	if (!atomic_place(el, args) || !how_of(el, args, &how))
		return cj_value_error();
	t = args->at[0].tensor;
	if (!can_combine(el, args->span, t->element, op) ||
	    !cj_elab_stage_allows(el, args->span, t, true) ||
	    (t->is_remote && !cj_tensor_may_touch(el, args->span, t, true)))
		return cj_value_error();
	cj_elab_object_leaf(el, t->object);
	el->m->objects.at[t->object].reads = true;
	el->m->objects.at[t->object].writes = true;
	p = cj_pieces_first(el, args->span, t);
	refs[0] = cj_pieces_offset(el, &p, 0);
	if (t->is_remote)
		refs[n++] = cj_elab_ref_int(el, t->rank);
	/* cas: value, then expected */
	for (i = args->count; --i > 0;) {
		v = cj_elab_coerce(el, args->span, t->element, args->at[i]);
		if (v.kind == CJ_VALUE_ERROR)
			return v;
		if (v.kind == CJ_VALUE_REGS && v.regs.shape != NULL)
			return cj_elab_error(el, CJ_DIAG_WRONG_SHAPE,
			    args->span, "an atomic operation takes one value, "
			    "this is %s", cj_value_what(el, &v));
		refs[n++] = cj_elab_ref(el, &v, t->element);
	}
	if (!cj_pieces_mask(el, &p, 0, &refs[n]))
		return cj_value_error();
	cj_pieces_watch(el, &p, 0, refs[n]);
	n += refs[n] != 0;
	a.object = t->object;
	a.align = cj_kind_bytes(t->element);
	a.order = how.order;
	a.scope = how.scope;
	return cj_value_regs(el, t->element, NULL, cj_emit(&el->em->b,
	    t->is_remote ? CJ_OP_REMOTE_ATOMIC : CJ_OP_ATOMIC,
	    cj_type_of(t->element, 1), cj_module_access(el->m, &a), refs, n));
}

#define ATOMIC(name, op)						\
	struct cj_value							\
	cj_builtin_atomic_##name(struct cj_elab *el,			\
	    struct cj_args *args, const struct cj_builtin *row)		\
	{								\
		(void)row;						\
		return atomic(el, args, op);				\
	}
ATOMIC(add, CJ_ATOMIC_ADD)
ATOMIC(min, CJ_ATOMIC_MIN)
ATOMIC(max, CJ_ATOMIC_MAX)
ATOMIC(and, CJ_ATOMIC_AND)
ATOMIC(or, CJ_ATOMIC_OR)
ATOMIC(xor, CJ_ATOMIC_XOR)
ATOMIC(inc, CJ_ATOMIC_INC)
ATOMIC(dec, CJ_ATOMIC_DEC)
ATOMIC(exch, CJ_ATOMIC_EXCH)
ATOMIC(cas, CJ_ATOMIC_CAS)
