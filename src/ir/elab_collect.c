/*
 * Built-in functions over the lanes of a warp: match_any and redux_*. The
 * others of their kind are functions of the prelude over these and ballot.
 */
#include "elab_priv.h"

struct cj_value
cj_builtin_match_any(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_value v = cj_elab_read(el, args->span, args->at[0]);
	enum cj_kind k;

	(void)row;
	if (v.kind == CJ_VALUE_ERROR)
		return v;
	if (!cj_value_is_number(&v) || cj_value_shape(&v) != NULL)
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "lanes compare a number, this is %s",
		    cj_value_what(el, &v));
	k = v.kind == CJ_VALUE_REAL ? CJ_KIND_F32 : cj_value_kind_of(&v);
	if (cj_kind_bits(k) != 32 && cj_kind_bits(k) != 64) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_KIND, args->span,
		    "lanes compare numbers of 32 and 64 bits, this is %s",
		    cj_value_what(el, &v)), "Convert it to one that holds "
		    "all its values: %s(...).", cj_kind_is_integer(k) ||
		    k == CJ_KIND_BOOL ? "i32" : "f32");
		return cj_value_error();
	}
	return cj_value_regs(el, CJ_KIND_U32, NULL, cj_emit1(&el->em->b,
	    CJ_OP_MATCH, cj_type_of(CJ_KIND_U32, 1), cj_elab_ref(el, &v, k)));
}

static struct cj_value
redux(struct cj_elab *el, struct cj_args *args, enum cj_atomic op)
{
	struct cj_value v = cj_elab_read(el, args->span, args->at[0]);
	enum cj_kind k;
	cj_ref ref;

	if (v.kind == CJ_VALUE_ERROR)
		return v;
	k = cj_value_is_number(&v) ? cj_value_kind_of(&v) : CJ_KIND_VOID;
	if ((k != CJ_KIND_I32 && k != CJ_KIND_U32) ||
	    cj_value_shape(&v) != NULL) {
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_KIND, args->span,
		    "redux takes an i32 or u32, this is %s",
		    cj_value_what(el, &v)), "Other types are combined by "
		    "sum, min, max or reduce with over = .warp.");
		return cj_value_error();
	}
	ref = cj_elab_ref(el, &v, k);
	return cj_value_regs(el, k, NULL, cj_emit(&el->em->b, CJ_OP_REDUX,
	    cj_type_of(k, 1), op, &ref, 1));
}

struct cj_value
cj_builtin_redux_add(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return redux(el, args, CJ_ATOMIC_ADD);
}

struct cj_value
cj_builtin_redux_min(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return redux(el, args, CJ_ATOMIC_MIN);
}

struct cj_value
cj_builtin_redux_max(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return redux(el, args, CJ_ATOMIC_MAX);
}

struct cj_value
cj_builtin_redux_and(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return redux(el, args, CJ_ATOMIC_AND);
}

struct cj_value
cj_builtin_redux_or(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return redux(el, args, CJ_ATOMIC_OR);
}

struct cj_value
cj_builtin_redux_xor(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	(void)row;
	return redux(el, args, CJ_ATOMIC_XOR);
}
