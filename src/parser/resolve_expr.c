/*
 * Names, items and patterns in expressions.
 *
 * `_` has a meaning as an item (a coordinate, a tiler, an index, a mode of a
 * pattern), `*e` in calls, tuples and patterns, `const n` in patterns. Whether
 * a name means what it should is elaboration's; here it must only be declared.
 */
#include "resolve_priv.h"

/* ---- unknown names ------------------------------------------------------- */

static bool
is_word(const struct cj_resolve *r, const char *text)
{
	uint32_t i;

	for (i = 0; i < r->words->count; i++)
		if (strcmp(r->words->at[i], text) == 0)
			return true;
	return false;
}

/* The declared name or word nearest to a name, or NULL. */
static const char *
nearest(struct cj_resolve *r, const char *text, struct cj_span *span)
{
	uint32_t i, n = 0, count = r->scopes.decls.len;
	const char **all = CJ_NEWS(r->arena, const char *,
	    count + r->words->count), *near;

	for (i = 0; i < count; i++)
		all[n++] = cj_resolve_text(r, r->scopes.decls.at[i].name);
	for (i = 0; i < r->words->count; i++)	/* "__" is the library's own */
		if (strncmp(r->words->at[i], "__", 2) != 0)
			all[n++] = r->words->at[i];
	near = cj_nearest(text, all, n);
	for (i = 0; near != NULL && i < count; i++)
		if (strcmp(near, all[i]) == 0)
			*span = r->scopes.decls.at[i].span;
	return near;
}

static bool
is_first_report(struct cj_resolve *r, cj_name name)
{
	uint32_t i;

	for (i = 0; i < r->reported.len; i++)
		if (r->reported.at[i] == name)
			return false;
	*cj_push(r->arena, &r->reported) = name;
	return true;
}

/* What people bring along from C, CUDA and Python, and how it is said here. */
static const char *const foreign[][2] = {
	{ "float", "f32" }, { "double", "f64" }, { "half", "f16" },
	{ "__half", "f16" }, { "float16", "f16" }, { "float32", "f32" },
	{ "float64", "f64" }, { "bfloat16", "bf16" },
	{ "__nv_bfloat16", "bf16" }, { "int8", "i8" }, { "int16", "i16" },
	{ "int32", "i32" }, { "int64", "i64" }, { "uint8", "u8" },
	{ "uint16", "u16" }, { "uint32", "u32" }, { "uint64", "u64" },
	{ "int8_t", "i8" }, { "int16_t", "i16" }, { "int32_t", "i32" },
	{ "int64_t", "i64" }, { "uint8_t", "u8" }, { "uint16_t", "u16" },
	{ "uint32_t", "u32" }, { "uint64_t", "u64" }, { "size_t", "int" },
	{ "long", "i64" }, { "short", "i16" }, { "unsigned", "u32" },
	{ "True", "true" }, { "False", "false" }, { "None", "none" },
	{ "nullptr", "none" }, { "NULL", "none" },
	{ "__syncthreads", "sync" }, { "__syncwarp", "sync_warp" },
	{ "syncthreads", "sync" }, { "fmaxf", "max" }, { "fminf", "min" },
	{ "fmax", "max" }, { "fmin", "min" }, { "maximum", "max" },
	{ "minimum", "min" }, { "expf", "exp" }, { "sqrtf", "sqrt" },
	{ "rsqrtf", "rsqrt" }, { "fabsf", "abs" }, { "fabs", "abs" },
	{ "tanhf", "tanh" }, { "logf", "log" }, { "powf", "pow" },
	{ "__expf", "exp" }, { "atomicAdd", "atomic_add" },
	{ "atomicMax", "atomic_max" }, { "atomicMin", "atomic_min" },
	{ "atomicCAS", "atomic_cas" }, { "atomicExch", "atomic_exch" },
	{ "ceilf", "ceil" }, { "floorf", "floor" }, { "sinf", "sin" },
	{ "cosf", "cos" }, { "log2f", "log2" }, { "exp2f", "exp2" },
	{ "erff", "erf" }, { "roundf", "rint" }, { "fmaf", "fma" },
	{ "__popc", "popc" }, { "__popcll", "popc" }, { "__clz", "clz" },
	{ "__float2half", "f16" }, { "__half2float", "f32" },
	{ "INFINITY", "inf" },
	{ "M_PI", "pi" }, { "atomicAnd", "atomic_and" },
	{ "atomicOr", "atomic_or" }, { "atomicXor", "atomic_xor" },
	{ "printf", "print" }, { "cdiv", "ceil_div" }, { "elif", "else if" },
	{ "not", "!" }, { "len", "size" }, { "numel", "size" },
	{ "warp", ".warp" }, { "block", ".block" }, { "cluster", ".cluster" },
};

/* The same where more than a word changes. */
static const char *const advice[][2] = {
	{ "range", "A range is a..b: for i in 0..n { ... }." },
	{ "arange", "A thread has elements of its own: thread_idx.x says "
	    "which; in a loop a range is 0..n." },
	{ "shared", "Shared memory is declared: shared s: tensor(f32, 128);" },
	{ "make_layout", "A layout is written (4, 8):(8, 1); a shape alone is "
	    "compact, mode 0 first, and row_major(4, 8) is the other way." },
	{ "Layout", "A layout is written (4, 8):(8, 1)." },
	{ "make_shape", "A shape is a tuple: (4, 8)." },
	{ "make_stride", "A stride stands behind the shape: (4, 8):(8, 1)." },
	{ "make_coord", "A coordinate is a tuple: (i, j)." },
	{ "Shape", "A shape is a tuple: (4, 8)." },
	{ "Stride", "A stride stands behind the shape: (4, 8):(8, 1)." },
	{ "Int", "Known integers need no type: 4." },
	{ "float2", "load(local_tile(x, 2, i)) reads two elements at once." },
	{ "float4", "load(local_tile(x, 4, i)) reads four elements at once." },
	{ "half2", "load(local_tile(x, 2, i)) reads two elements at once." },
	{ "__ldg", "load(x[i], cache = .read_only) does it; what a launch "
	    "never writes is read so anyway." },
	{ "__shfl_sync", "Write shfl(v, lane), with no mask: all lanes come." },
	{ "__shfl_up_sync", "Write shfl_up(v, n), with no mask: all lanes "
	    "come." },
	{ "__shfl_down_sync", "Write shfl_down(v, n), with no mask: all lanes "
	    "come. sum(v, over = .warp) adds up." },
	{ "__shfl_xor_sync", "Write shfl_xor(v, n), with no mask: all lanes "
	    "come. sum(v, over = .warp) adds up." },
	{ "__ballot_sync", "Write ballot(c), with no mask: all lanes come." },
	{ "__any_sync", "Write vote_any(c), with no mask: all lanes come." },
	{ "__all_sync", "Write vote_all(c), with no mask: all lanes come." },
	{ "__threadfence", "store(x[i], v, order = .release) orders what was "
	    "written before it for who reads with order = .acquire; atomics "
	    "take .acq_rel." },
	{ "warp_sum", "sum(v, over = .warp) adds up what the lanes have." },
	{ "warp_reduce", "sum(v, over = .warp) adds up what the lanes have; "
	    "max, min and reduce(f, v) do likewise." },
	{ "block_sum", "sum(v, over = .block) adds up what the threads have." },
	{ "block_reduce", "sum(v, over = .block) adds up what the threads "
	    "have; max, min and reduce(f, v) do likewise." },
	{ "dot", "sum(a * b) of registers; gemm(mma, a, b, sums) of tiles." },
	{ "tl", "Of Triton, tl.program_id(0) is block_idx.x, tl.load and "
	    "tl.store are load(view) and store(view, v), a mask is guard()." },
};

const char *
cj_from_abroad(const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
		if (strlen(foreign[i][0]) == length &&
		    memcmp(foreign[i][0], text, length) == 0)
			return foreign[i][1];
	return NULL;
}

static const char *
advice_for(const char *text)
{
	size_t i;

	for (i = 0; i < sizeof advice / sizeof advice[0]; i++)
		if (strcmp(advice[i][0], text) == 0)
			return advice[i][1];
	return NULL;
}

static void
kernel_as_function(struct cj_resolve *r, struct cj_ident id,
    const struct cj_node *kernel, const char *text)
{
	struct cj_diag *d = cj_report(r->diags, CJ_DIAG_MISPLACED_STATEMENT,
	    id.span, "\"%s\" is a kernel, and kernels are no functions",
	    text);

	cj_note(d, kernel->kernel.name.span, "it is declared here");
	cj_help(d, "Tests and benches start it: launch %s(...). What kernels "
	    "share is a fn.", text);
}

/* "f" where only an import has it: lib.f; or NULL. */
static const char *
behind_import(const struct cj_resolve *r, const char *text)
{
	uint32_t i;

	for (i = 0; i < r->words->behind_count; i++)
		if (strcmp(strrchr(r->words->behind[i], '.') + 1, text) == 0)
			return r->words->behind[i];
	return NULL;
}

static void
use_name(struct cj_resolve *r, struct cj_ident id)
{
	struct cj_span span = { 0, 0, 0 };
	const struct cj_node *kernel;
	const char *text, *near;
	struct cj_diag *d;

	if (cj_scope_use(&r->scopes, id.name) != NULL || !r->checks_names)
		return;
	text = cj_resolve_text(r, id.name);
	if (is_word(r, text) || !is_first_report(r, id.name))
		return;
	kernel = cj_resolve_find_kernel(r, id.name);
	if (kernel != NULL) {
		kernel_as_function(r, id, kernel, text);
		return;
	}
	d = cj_report(r->diags, CJ_DIAG_UNKNOWN_NAME, id.span,
	    "\"%s\" is not declared", text);
	near = behind_import(r, text);
	if (near == NULL && advice_for(text) != NULL) {
		cj_help(d, "%s", advice_for(text));
		return;
	}
	if (near == NULL)
		near = cj_from_abroad(text, strlen(text));
	if (near == NULL)
		near = nearest(r, text, &span);
	if (r->assigned == id.span.begin + 1 && span.source == 0)
		near = NULL;	/* nothing built in is assigned to */
	if (near == NULL && r->assigned == id.span.begin + 1)
		cj_help(d, "Declare it: let %s = ...; or, if it changes, var "
		    "%s = ...;", text, text);
	if (near == NULL)
		return;
	if (span.source != 0)
		cj_note(d, span, "\"%s\" is declared here", near);
	cj_help(d, "Did you mean \"%s\"?", near);
	cj_fixit(d, id.span, "%s", near);
}

/* ---- items --------------------------------------------------------------- */

static void
misplaced(struct cj_resolve *r, const struct cj_node *n, const char *text)
{
	cj_report(r->diags, CJ_DIAG_MISPLACED_PATTERN, n->span, "%s", text);
}

static void
check_any(struct cj_resolve *r, const struct cj_node *n, enum cj_use use)
{
	if (use == CJ_USE_VALUE || use == CJ_USE_SET)
		misplaced(r, n, "\"_\" is no value: it stands for a whole mode "
		    "in an index, a coordinate, a tiler or a pattern");
}

static void
spread(struct cj_resolve *r, const struct cj_node *n, enum cj_use use)
{
	if (use != CJ_USE_ITEM)
		misplaced(r, n, "\"*\" spreads a tuple only into a call, a "
		    "tuple or a pattern");
	cj_resolve_expr(r, n->spread.operand, CJ_USE_VALUE);
}

/* A chain of operators, from the left. */
static void
chain(struct cj_resolve *r, const struct cj_node *n)
{
	uint32_t i, count;
	struct cj_node **spine = cj_node_spine(r->arena,
	    (struct cj_node *)(uintptr_t)n, &count);

	cj_resolve_expr(r, spine[0]->binary.left, CJ_USE_VALUE);
	for (i = 0; i < count; i++)
		cj_resolve_expr(r, spine[i]->binary.right, CJ_USE_VALUE);
}

/* (N):(1) is N:1, which those who write it may not mean. */
static void
check_layout(struct cj_resolve *r, const struct cj_node *n)
{
	const struct cj_node *shape = n->layout.shape;
	const struct cj_node *stride = n->layout.stride;
	struct cj_diag *d;

	if (!shape->has_parens || !stride->has_parens ||
	    (shape->kind != CJ_NODE_NAME && shape->kind != CJ_NODE_INTEGER) ||
	    (stride->kind != CJ_NODE_NAME && stride->kind != CJ_NODE_INTEGER))
		return;
	d = cj_report(r->diags, CJ_DIAG_ONE_TUPLE, n->span,
	    "(x) is x: this layout has one mode without a tuple");
	cj_help(d, "A tuple of one is (x,); without the parentheses the "
	    "meaning stays.");
}

static void
if_value(struct cj_resolve *r, const struct cj_node *n)
{
	uint32_t i;

	for (i = 0; i < n->if_value.arms.count; i++) {
		const struct cj_node *arm = n->if_value.arms.at[i];

		if (arm->kind != CJ_NODE_ARM)
			continue;
		cj_resolve_expr(r, arm->arm.cond, CJ_USE_VALUE);
		cj_resolve_expr(r, arm->arm.body, CJ_USE_VALUE);
	}
	cj_resolve_expr(r, n->if_value.otherwise, CJ_USE_VALUE);
}

void
cj_resolve_list(struct cj_resolve *r, const struct cj_list *list,
    enum cj_use use)
{
	uint32_t i;

	for (i = 0; i < list->count; i++)
		cj_resolve_expr(r, list->at[i], use);
}

void
cj_resolve_expr(struct cj_resolve *r, const struct cj_node *n,
    enum cj_use use)
{
	switch ((int)n->kind) {
	case CJ_NODE_NAME:
		use_name(r, (struct cj_ident){ n->name.name, n->span });
		return;
	case CJ_NODE_ANY:
		check_any(r, n, use);
		return;
	case CJ_NODE_TUPLE:
		cj_resolve_list(r, &n->tuple.items, CJ_USE_ITEM);
		return;
	case CJ_NODE_CALL:
		cj_resolve_expr(r, n->call.callee, CJ_USE_VALUE);
		cj_resolve_list(r, &n->call.items, CJ_USE_ITEM);
		return;
	case CJ_NODE_INDEX:
		cj_resolve_expr(r, n->index.base, CJ_USE_VALUE);
		cj_resolve_list(r, &n->index.items, CJ_USE_INDEX);
		return;
	case CJ_NODE_MEMBER:
		cj_resolve_expr(r, n->member.base, CJ_USE_VALUE);
		return;
	case CJ_NODE_UNARY:
		cj_resolve_expr(r, n->unary.operand, CJ_USE_VALUE);
		return;
	case CJ_NODE_BINARY:
		chain(r, n);
		return;
	case CJ_NODE_IN:
		cj_resolve_expr(r, n->in.value, CJ_USE_VALUE);
		cj_resolve_list(r, &n->in.items, CJ_USE_SET);
		return;
	case CJ_NODE_SET:
		cj_resolve_list(r, &n->set.items, CJ_USE_SET);
		return;
	case CJ_NODE_RANGE:
		cj_resolve_expr(r, n->range.first, CJ_USE_VALUE);
		cj_resolve_expr(r, n->range.last, CJ_USE_VALUE);
		return;
	case CJ_NODE_LAYOUT:
		check_layout(r, n);
		cj_resolve_expr(r, n->layout.shape, CJ_USE_ITEM);
		cj_resolve_expr(r, n->layout.stride, CJ_USE_ITEM);
		return;
	case CJ_NODE_LAMBDA:
		cj_resolve_fn(r, &n->lambda.params, NULL, n->lambda.body);
		return;
	case CJ_NODE_IF_VALUE:
		if_value(r, n);
		return;
	case CJ_NODE_NAMED:
		cj_resolve_expr(r, n->named.value, CJ_USE_ITEM);
		return;
	case CJ_NODE_SPREAD:
		spread(r, n, use);
		return;
	case CJ_NODE_CONST_BIND:
		misplaced(r, n, "\"const\" in a list binds a name only in the "
		    "pattern of a tensor parameter and in unit(...)");
		return;
	default:
		return;		/* literals, ERROR */
	}
}

/* ---- patterns ------------------------------------------------------------ */

static void pattern(struct cj_resolve *r, const struct cj_node *n);

static void
pattern_list(struct cj_resolve *r, const struct cj_list *list)
{
	uint32_t i;

	for (i = 0; i < list->count; i++)
		pattern(r, list->at[i]);
}

/* A name in a shape or stride is bound there if nothing local declares it. */
static void
pattern_name(struct cj_resolve *r, const struct cj_node *n)
{
	if (cj_scope_use(&r->scopes, n->name.name) == NULL)
		cj_resolve_declare(r, (struct cj_ident){ n->name.name,
		    n->span });
}

static void
pattern_const(struct cj_resolve *r, const struct cj_node *n)
{
	if (n->const_bind.domain != NULL)
		cj_resolve_expr(r, n->const_bind.domain, CJ_USE_VALUE);
	cj_resolve_binding(r, n->const_bind.binding);
}

static void
pattern(struct cj_resolve *r, const struct cj_node *n)
{
	switch ((int)n->kind) {
	case CJ_NODE_NAME:
		pattern_name(r, n);
		return;
	case CJ_NODE_ANY:
		return;
	case CJ_NODE_TUPLE:
		pattern_list(r, &n->tuple.items);
		return;
	case CJ_NODE_LAYOUT:
		check_layout(r, n);
		pattern(r, n->layout.shape);
		pattern(r, n->layout.stride);
		return;
	case CJ_NODE_SPREAD:
		pattern(r, n->spread.operand);
		return;
	case CJ_NODE_CONST_BIND:
		pattern_const(r, n);
		return;
	default:
		cj_resolve_expr(r, n, CJ_USE_ITEM);
		return;
	}
}

/* A type that may be a pattern: names new in a tensor's layout are bound. */
static void
resolve_type(struct cj_resolve *r, const struct cj_node *type)
{
	const struct cj_node *n = type;
	uint32_t i;

	if (n->kind == CJ_NODE_INDEX) {		/* tensor(...)[n] */
		pattern_list(r, &n->index.items);
		n = n->index.base;
	}
	if (n->kind != CJ_NODE_CALL || n->call.callee->kind != CJ_NODE_NAME ||
	    n->call.callee->name.name != r->tensor) {
		cj_resolve_expr(r, n, CJ_USE_VALUE);
		return;
	}
	for (i = 0; i < n->call.items.count; i++) {
		if (i == 0)
			cj_resolve_expr(r, n->call.items.at[i], CJ_USE_ITEM);
		else
			pattern(r, n->call.items.at[i]);
	}
}

/* unit(const u), align(n), alias(y) */
static void
param_attrs(struct cj_resolve *r, const struct cj_list *attrs)
{
	uint32_t i, j;

	cj_resolve_attrs(r, attrs, CJ_ATTR_PARAM);
	for (i = 0; i < attrs->count; i++) {
		const struct cj_node_attr *a = &attrs->at[i]->attr;

		if (attrs->at[i]->kind != CJ_NODE_ATTR)
			continue;
		for (j = 0; j < a->items.count; j++) {
			if (a->items.at[j]->kind == CJ_NODE_CONST_BIND)
				pattern_const(r, a->items.at[j]);
			else
				cj_resolve_expr(r, a->items.at[j],
				    CJ_USE_ITEM);
		}
	}
}

static void
param_parts(struct cj_resolve *r, const struct cj_node_param *p)
{
	if (p->type != NULL && p->type->kind != CJ_NODE_FN_TYPE)
		resolve_type(r, p->type);
	param_attrs(r, &p->attrs);
	if (p->domain != NULL)
		cj_resolve_expr(r, p->domain, CJ_USE_VALUE);
	if (p->init != NULL)
		cj_resolve_expr(r, p->init, CJ_USE_VALUE);
}

void
cj_resolve_params(struct cj_resolve *r, const struct cj_list *params)
{
	uint32_t i;
	const struct cj_decl *old;

	for (i = 0; i < params->count; i++) {
		struct cj_ident id = params->at[i]->param.name;

		if (params->at[i]->kind != CJ_NODE_PARAM)
			continue;
		old = cj_scope_add(&r->scopes, id);
		if (old != NULL)
			cj_note(cj_report(r->diags, CJ_DIAG_DUPLICATE_NAME,
			    id.span, "two parameters are called \"%s\"",
			    cj_resolve_text(r, id.name)), old->span,
			    "the first one");
	}
	for (i = 0; i < params->count; i++)
		if (params->at[i]->kind == CJ_NODE_PARAM)
			param_parts(r, &params->at[i]->param);
}
