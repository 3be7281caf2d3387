/*
 * extern fn f(x: f32) -> f32: functions that CUDA C++ or bitcode defines.
 *
 * A call is PTX that calls a function of one form, whatever the other language
 * makes of its types: cjx_f takes and gives 32 or 64 bits. Who has the text of
 * f (runtime/extern.c) defines cjx_f around it. The executor runs the body of
 * the declaration instead, as the `emulate` of a ptx().
 */
#include "elab_priv.h"

static bool
is_passed(enum cj_kind k)
{
	return k == CJ_KIND_BOOL || (cj_kind_bits(k) >= 16 &&
	    k != CJ_KIND_INDEX && k != CJ_KIND_TF32 &&
	    (cj_kind_is_integer(k) || cj_kind_is_float(k)));
}

/* ---- its types ----------------------------------------------------------- */

static bool
read_type(struct cj_elab *el, const struct cj_node *n, enum cj_kind *out)
{
	struct cj_value v = cj_elab_type_expr(el, n);

	if (v.kind != CJ_VALUE_TYPE)
		return false;
	if (!v.type->is_type && !v.type->is_fn && !v.type->is_tensor &&
	    !v.type->is_tuple && is_passed(v.type->scalar)) {
		*out = v.type->scalar;
		return true;
	}
	cj_help(cj_elab_report(el, CJ_DIAG_BAD_EXTERN, n->span,
	    "%s is not passed to or from other languages",
	    cj_elab_source_text(el, n->span)),
	    "bool and numbers of 16, 32 and 64 bits with a size are: i32 for "
	    "int, and the bits of narrower ones.");
	return false;
}

static bool
read_parameter(struct cj_elab *el, const struct cj_node *p,
    enum cj_kind *out)
{
	if (p->param.mode == CJ_MODE_PLAIN && p->param.type != NULL)
		return read_type(el, p->param.type, out);
	cj_elab_report(el, CJ_DIAG_BAD_EXTERN, p->span,
	    p->param.type == NULL ?
	    "a parameter of an \"extern\" function has a type" :
	    "\"const\" and \"var\" are nothing to other languages");
	return false;
}

/* What the declaration says, in a scope of its file. */
static bool
describe(struct cj_elab *el, const struct cj_node *n, struct cj_extern_fn *out)
{
	const struct cj_list *params = &n->fn.params;
	enum cj_kind *kinds = CJ_NEWS(el->arena, enum cj_kind,
	    params->count + 1);
	uint32_t i;

	out->name = cj_elab_name(el, n->fn.name.name);
	out->span = n->fn.name.span;
	out->result = CJ_KIND_VOID;
	out->count = params->count;
	out->kinds = kinds;
	for (i = 0; i < params->count; i++)
		if (!read_parameter(el, params->at[i], &kinds[i]))
			return false;
	return n->fn.result == NULL ||
	    read_type(el, n->fn.result, &out->result);
}

/* ---- the call as PTX ----------------------------------------------------- */

static unsigned
word_bits(enum cj_kind k)
{
	return cj_kind_bits(k) == 64 ? 64 : 32;
}

static void
put_argument(struct cj_strbuf *b, enum cj_kind k, uint32_t i, uint32_t number)
{
	unsigned bits = word_bits(k);

	cj_strbuf_printf(b, ".param .b%u p%u;\n", bits, i);
	if (k == CJ_KIND_BOOL)
		cj_strbuf_printf(b, "selp.u32 t, 1, 0, $%u;\n", number);
	else if (cj_kind_bits(k) == 16)
		cj_strbuf_printf(b, "cvt.u32.u16 t, $%u;\n", number);
	if (cj_kind_bits(k) < 32)
		cj_strbuf_printf(b, "st.param.b32 [p%u], t;\n", i);
	else
		cj_strbuf_printf(b, "st.param.b%u [p%u], $%u;\n", bits, i,
		    number);
}

static void
put_result(struct cj_strbuf *b, enum cj_kind k)
{
	if (k == CJ_KIND_BOOL)
		cj_strbuf_puts(b, "ld.param.b32 t, [r];\n"
		    "setp.ne.u32 $0, t, 0;\n");
	else if (cj_kind_bits(k) == 16)
		cj_strbuf_puts(b, "ld.param.b32 t, [r];\n"
		    "cvt.u16.u32 $0, t;\n");
	else
		cj_strbuf_printf(b, "ld.param.b%u $0, [r];\n", word_bits(k));
}

static const char *
call_text(struct cj_elab *el, const struct cj_extern_fn *f)
{
	uint32_t first = f->result != CJ_KIND_VOID, i;
	struct cj_strbuf b;

	cj_strbuf_init(&b, el->arena);
	cj_strbuf_printf(&b, CJ_EXTERN_MARK "%s\n{\n.reg .b32 t;\n", f->name);
	for (i = 0; i < f->count; i++)
		put_argument(&b, f->kinds[i], i, first + i);
	if (first != 0)
		cj_strbuf_printf(&b, ".param .b%u r;\n",
		    word_bits(f->result));
	cj_strbuf_printf(&b, "call %s" CJ_EXTERN_PREFIX "%s",
	    first != 0 ? "(r), " : "", f->name);
	for (i = 0; i < f->count; i++)
		cj_strbuf_printf(&b, "%sp%u", i == 0 ? ", (" : ", ", i);
	cj_strbuf_puts(&b, f->count != 0 ? ");\n" : ";\n");
	if (first != 0)
		put_result(&b, f->result);
	cj_strbuf_putc(&b, '}');
	return b.text;
}

/* ---- calls --------------------------------------------------------------- */

/* The declaration as a function with a body of its own. */
static struct cj_value
twin(struct cj_elab *el, const struct cj_function_value *f)
{
	struct cj_node *n = cj_memdup(el->arena, f->node, sizeof *f->node);
	struct cj_function_value *own = cj_memdup(el->arena, f, sizeof *f);

	n->fn.is_extern = false;
	own->node = n;
	return (struct cj_value){ .kind = CJ_VALUE_FUNCTION,
	    .function = own };
}

static const struct cj_value *
argument(const struct cj_elab *el, cj_name name)
{
	const struct cj_bound *b = el->env->names;

	while (b != NULL && b->name != name)
		b = b->next;
	assert(b != NULL && "parameters are bound");
	return &b->value;
}

struct cj_value
cj_elab_extern_call(struct cj_elab *el, const struct cj_function_value *f,
    struct cj_span span)
{
	const struct cj_list *params = &f->node->fn.params;
	struct cj_extern_fn about;
	struct cj_value emulate, *at;
	uint32_t i;

	if (el->time != CJ_TIME_DEVICE)
		return cj_elab_error(el, CJ_DIAG_WRONG_TIME, span,
		    "\"%s\" is \"extern\" and has no body: it exists in "
		    "device code alone", cj_elab_name(el, f->name));
	if (el->unit->extern_texts.len == 0) {
		cj_note(cj_elab_report(el, CJ_DIAG_BAD_EXTERN, span,
		    "nothing defines \"%s\": there is no \"extern cuda\" and "
		    "no \"extern bitcode\"", cj_elab_name(el, f->name)),
		    f->node->span, "it is declared here");
		return cj_value_error();
	}
	if (!describe(el, f->node, &about))
		return cj_value_error();
	at = CJ_NEWS(el->arena, struct cj_value, params->count + 1);
	for (i = 0; i < params->count; i++)
		at[i] = *argument(el, params->at[i]->param.name.name);
	if (f->node->fn.body != NULL)
		emulate = twin(el, f);
	return cj_elab_ptx_call(el, span, call_text(el, &about), about.result,
	    at, about.count, f->node->fn.body != NULL ? &emulate : NULL);
}

/* ---- what others ask about them ------------------------------------------ */

uint32_t
cj_unit_extern_texts(const struct cj_unit *u,
    const struct cj_extern_text **texts)
{
	*texts = u->extern_texts.at;
	return u->extern_texts.len;
}

uint32_t
cj_unit_extern_fns(struct cj_arena *a, const struct cj_unit *u,
    const struct cj_extern_fn **out)
{
	CJ_VEC(struct cj_extern_fn) list = { 0 };
	struct cj_diags quiet;
	struct cj_elab el;
	struct cj_extern_fn f;
	uint32_t i, k;

	cj_diags_init(&quiet, a, u->sources);
	cj_elab_init(&el, a, u, NULL, &quiet);
	for (i = 0; i < u->files.len; i++) {
		const struct cj_file *file = u->files.at[i];
		struct cj_env root = { .file = file, .is_function = true };

		el.env = &root;
		for (k = 0; k < file->tree->decls.count; k++) {
			const struct cj_node *n = file->tree->decls.at[k];

			if (n->kind == CJ_NODE_FN && n->fn.is_extern &&
			    describe(&el, n, &f))
				*cj_push(a, &list) = f;
		}
	}
	*out = list.at;
	return list.len;
}
