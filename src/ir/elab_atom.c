/*
 * Atoms: the instructions that multiply and copy, as values.
 *
 * Layouts come from layout/atoms.def by the name that CUTLASS gives the
 * instruction; here are the names of the language, what an instruction needs
 * of the target, and what to say where there is none.
 */
#include "elab_tiled.h"

/* ---- arguments ----------------------------------------------------------- */

struct cj_span
cj_arg_span(const struct cj_args *args, uint32_t i)
{
	return args->spans != NULL && i < args->count ? args->spans[i] :
	    args->span;
}

const char *
cj_elab_call_text(struct cj_elab *el, const char *name,
    const struct cj_args *args)
{
	struct cj_strbuf out;
	uint32_t i;

	cj_strbuf_init(&out, el->arena);
	cj_strbuf_printf(&out, "%s(", name);
	for (i = 0; i < args->count; i++) {
		cj_strbuf_puts(&out, i == 0 ? "" : ", ");
		cj_value_print(el, &out, &args->at[i]);
	}
	for (i = 0; i < args->named_count; i++) {
		cj_strbuf_printf(&out, ", %s = ",
		    cj_elab_name(el, args->named[i].name));
		cj_value_print(el, &out, &args->named[i].value);
	}
	cj_strbuf_putc(&out, ')');
	return out.text;
}

static bool
kind_arg(struct cj_elab *el, struct cj_args *args, uint32_t i,
    enum cj_kind *out)
{
	const struct cj_value *v = &args->at[i];

	if (v->kind == CJ_VALUE_TYPE && v->type->scalar != CJ_KIND_VOID &&
	    !v->type->is_tensor) {
		*out = v->type->scalar;
		return true;
	}
	cj_elab_error(el, CJ_DIAG_WRONG_KIND, cj_arg_span(args, i),
	    "a number type is needed, this is %s", cj_value_what(el, v));
	return false;
}

bool
cj_arg_flag(struct cj_elab *el, struct cj_args *args, const char *name,
    bool *out)
{
	const struct cj_value *v = cj_arg_named(el, args, name);

	*out = v != NULL && v->kind == CJ_VALUE_BOOL && v->truth;
	if (v == NULL || v->kind == CJ_VALUE_BOOL)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
	    "\"%s\" is true or false and known, this is %s", name,
	    cj_value_what(el, v));
	return false;
}

/* ---- targets ------------------------------------------------------------- */

static bool
has_target(struct cj_elab *el, struct cj_span span, const char *arch,
    const char *text, const char *instead)
{
	int least = cj_atom_needs(arch);
	struct cj_diag *d;

	if (el->target == NULL || least <= el->target->number)
		return true;
	d = cj_elab_report(el, CJ_DIAG_NO_ATOM, span,
	    "%s needs the target sm_%d or later, this is %s", text, least,
	    el->target->name);
	if (instead != NULL)
		cj_help(d, "%s", instead);
	return false;
}

static struct cj_value
atom_value(struct cj_elab *el, const struct cj_atom_value *a)
{
	return (struct cj_value){ .kind = CJ_VALUE_ATOM,
	    .atom = cj_memdup(el->arena, a, sizeof *a) };
}

/* ---- multiply ------------------------------------------------------------ */

const char *
cj_elab_atom_word(enum cj_kind k)
{
	static const struct {
		enum cj_kind kind;
		const char *word;
	} words[] = {
		{ CJ_KIND_F16, "F16" }, { CJ_KIND_BF16, "BF16" },
		{ CJ_KIND_TF32, "TF32" }, { CJ_KIND_F32, "F32" },
		{ CJ_KIND_F64, "F64" }, { CJ_KIND_I32, "S32" },
		{ CJ_KIND_I8, "S8" }, { CJ_KIND_U8, "U8" },
		{ CJ_KIND_I4, "S4" }, { CJ_KIND_U4, "U4" },
		{ CJ_KIND_F8E4M3, "E4M3" }, { CJ_KIND_F8E5M2, "E5M2" },
		{ CJ_KIND_BOOL, "U1" },
	};
	unsigned i;

	for (i = 0; i < CJ_LENGTH(words); i++)
		if (words[i].kind == k)
			return words[i].word;
	return NULL;
}

struct product {
	int64_t m, n, k;
	enum cj_kind a, b, c;
	bool is_sparse;
	bool saturates;		/* integers: sums are clamped */
	bool differs;		/* bits: counted where they are not the same */
};

static bool
find_mma(struct cj_elab *el, const struct product *p, struct cj_mma_atom *out)
{
	static const char *const from[] = { "SM80", "SM89", "SM90" };
	const char *a = cj_elab_atom_word(p->a);
	const char *b = cj_elab_atom_word(p->b);
	const char *c = cj_elab_atom_word(p->c);
	const char *tail = p->a == CJ_KIND_BOOL ? p->differs ?
	    "_BYTES_XORPOPC" : "_BYTES_ANDPOPC" : p->saturates ? "_SATURATE" :
	    "";
	struct cj_mma mma;
	const char *name;
	unsigned i;

	if (p->a != CJ_KIND_BOOL ? p->differs : p->saturates)
		return false;
	if (a == NULL || b == NULL || c == NULL)
		return false;
	for (i = 0; i < CJ_LENGTH(from); i++) {
		name = cj_printf(el->arena, "%s%s_%lldx%lldx%lld_%s%s%s%s_TN"
		    "%s", from[i], p->is_sparse ? "_SPARSE" : "",
		    (long long)p->m, (long long)p->n, (long long)p->k, c, a,
		    b, c, tail);
		if (cj_mma_find(el->arena, name, &mma) == NULL)
			return cj_mma_atom_find(&el->al, name, out);
	}
	return false;
}

/* What there is for operands of these types, in a sentence; NULL: nothing. */
static const char *
products_of(struct cj_elab *el, const struct product *like)
{
	static const int64_t rows[] = { 8, 16 };
	static const int64_t depths[] = { 4, 8, 16, 32, 64, 128, 256 };
	static const enum cj_kind sums[] = { CJ_KIND_F16, CJ_KIND_F32,
	    CJ_KIND_F64, CJ_KIND_I32 };
	struct cj_mma_atom found;
	struct cj_strbuf out;
	unsigned i, j, s, count = 0;

	cj_strbuf_init(&out, el->arena);
	for (s = 0; s < CJ_LENGTH(sums); s++)
		for (i = 0; i < CJ_LENGTH(rows); i++)
			for (j = 0; j < CJ_LENGTH(depths); j++) {
				struct product p = { .m = rows[i], .n = 8,
				    .k = depths[j], .a = like->a,
				    .b = like->b, .c = sums[s],
				    .is_sparse = like->is_sparse };

				if (!find_mma(el, &p, &found))
					continue;
				cj_strbuf_printf(&out, "%smma_sync(%lld, 8, "
				    "%lld, %s, %s, %s%s)", count++ == 0 ? "" :
				    ", ", (long long)rows[i],
				    (long long)depths[j], cj_kind_text(p.a),
				    cj_kind_text(p.b), cj_kind_text(sums[s]),
				    p.is_sparse ? ", sparse = true" : "");
			}
	return count == 0 ? NULL : out.text;
}

static const char *
mma_sync_products(struct cj_elab *el, enum cj_kind a, enum cj_kind b)
{
	struct product p = { .a = a, .b = b };
	const char *others = products_of(el, &p), *of_b;

	if (others != NULL)
		return cj_printf(el->arena, "For %s and %s there are %s.",
		    cj_kind_text(a), cj_kind_text(b), others);
	p.b = a;
	others = a != b ? products_of(el, &p) : NULL;
	p.a = p.b = b;
	of_b = a != b ? products_of(el, &p) : NULL;
	if (others != NULL || of_b != NULL)
		return cj_printf(el->arena, "A and B are of one type: %s%s%s.",
		    others != NULL ? others : "", others != NULL &&
		    of_b != NULL ? ", " : "", of_b != NULL ? of_b : "");
	return NULL;
}

/* What takes operands that no tensor core of a warp does. */
static const char *
one_by_one(struct cj_elab *el, enum cj_kind a, enum cj_kind b, enum cj_kind c)
{
	if (a == CJ_KIND_F32 && b == CJ_KIND_F32)
		return "Operands of f32 are multiplied one by one, "
		    "universal_fma(f32), or rounded to tf32: "
		    "mma_sync(16, 8, 8, tf32, tf32, f32).";
	return cj_printf(el->arena, "Operands of %s and %s are multiplied "
	    "one by one: universal_fma(%s).", cj_kind_text(a),
	    cj_kind_text(b), cj_kind_text(c));
}

const char *
cj_atom_products(struct cj_elab *el, enum cj_atom_use use, enum cj_kind k)
{
	const char *found = NULL;

	if (use == CJ_ATOM_WGMMA)
		return cj_wgmma_products(el, k, k, false);
	if (use == CJ_ATOM_MMA_SYNC)
		found = mma_sync_products(el, k, k);
	if (found != NULL || !(cj_kind_is_float(k) || cj_kind_is_integer(k)))
		return found;
	return one_by_one(el, k, k, k);
}

static struct cj_value
no_product(struct cj_elab *el, struct cj_args *args, const char *text,
    const struct product *p)
{
	struct cj_diag *d = cj_elab_report(el, CJ_DIAG_NO_ATOM, args->span,
	    "there is no instruction %s", text);
	struct product whole = *p;
	const char *others = products_of(el, p), *dense;

	whole.is_sparse = false;
	dense = p->is_sparse ? products_of(el, &whole) : NULL;
	if (others != NULL)
		cj_help(d, "For %s and %s there are %s.", cj_kind_text(p->a),
		    cj_kind_text(p->b), others);
	else if (!p->is_sparse && p->a != p->b && mma_sync_products(el,
	    p->a, p->b) != NULL)
		cj_help(d, "%s", mma_sync_products(el, p->a, p->b));
	else if (dense != NULL)
		cj_help(d, "No product of %s and %s is sparse; of whole "
		    "operands there are %s.", cj_kind_text(p->a),
		    cj_kind_text(p->b), dense);
	else
		cj_help(d, "%s", one_by_one(el, p->a, p->b, p->c));
	return cj_value_error();
}

struct cj_value
cj_builtin_mma_sync(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_atom_value a = { .use = CJ_ATOM_MMA_SYNC };
	struct product p;
	int64_t *extents[3] = { &p.m, &p.n, &p.k };
	enum cj_kind d;
	uint32_t i;

	for (i = 0; i < 3; i++)
		if (!cj_value_to_known(el, cj_arg_span(args, i), &args->at[i],
		    "the shape of an instruction", extents[i]))
			return cj_value_error();
	if (!kind_arg(el, args, 3, &p.a) || !kind_arg(el, args, 4, &p.b) ||
	    !kind_arg(el, args, 5, &p.c) ||
	    !kind_arg(el, args, args->count - 1, &d) ||
	    !cj_arg_flag(el, args, "sparse", &p.is_sparse) ||
	    !cj_arg_flag(el, args, "saturate", &p.saturates) ||
	    !cj_arg_flag(el, args, "differ", &p.differs))
		return cj_value_error();
	a.text = cj_elab_call_text(el, row->name, args);
	if (d != p.c || !find_mma(el, &p, &a.mma))
		return no_product(el, args, a.text, &p);
	if (!has_target(el, args->span, a.mma.arch, a.text,
	    cj_kind_bits(p.a) == 8 && cj_kind_is_float(p.a) ?
	    "Convert the operands to f16 for mma_sync(16, 8, 16, f16, f16, "
	    "f32), which has all values of 8-bit floats." : NULL))
		return cj_value_error();
	a.a = p.a == CJ_KIND_BOOL ? CJ_KIND_U8 : p.a;	/* eight to one */
	a.b = p.b == CJ_KIND_BOOL ? CJ_KIND_U8 : p.b;
	a.c = p.c;
	return atom_value(el, &a);
}

static const struct cj_layout *
layout_text(struct cj_elab *el, const char *text)
{
	const struct cj_layout *l = cj_layout_read(&el->al, text,
	    strlen(text));

	assert(l != NULL && "a layout written here");
	return l;
}

struct cj_value
cj_builtin_universal_fma(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_atom_value a = { .use = CJ_ATOM_FMA };
	const struct cj_tuple *one = cj_tuple_known(&el->al, 1);
	const struct cj_tuple *ones[3] = { one, one, one };

	if (!kind_arg(el, args, 0, &a.c))
		return cj_value_error();
	if (!cj_kind_is_float(a.c) && !cj_kind_is_integer(a.c))
		return cj_elab_error(el, CJ_DIAG_WRONG_KIND, args->span,
		    "%s is no type of numbers", cj_kind_text(a.c));
	a.text = cj_elab_call_text(el, row->name, args);
	a.a = a.b = a.c;
	a.mma.kind = CJ_MMA_SIMT;
	a.mma.name = a.text;
	a.mma.arch = "any";
	a.mma.shape = cj_tuple_make(&el->al, ones, 3);
	a.mma.threads = layout_text(el, "1:0");
	a.mma.a = a.mma.b = a.mma.c = layout_text(el, "(1,1):(0,0)");
	return atom_value(el, &a);
}

/* ---- copy ---------------------------------------------------------------- */

/* `bits` neighbours of one thread. */
static void
one_thread(struct cj_elab *el, struct cj_atom_value *a, enum cj_copy_kind kind)
{
	int64_t bits = (int64_t)a->count * cj_kind_bits(a->element);

	a->copy.kind = kind;
	a->copy.name = a->text;
	a->copy.arch = kind == CJ_COPY_CP_ASYNC ? "sm80" : "any";
	a->copy.threads = layout_text(el, "1:0");
	a->copy.source = layout_text(el, cj_printf(el->arena,
	    "(1,%lld):(0,1)", (long long)bits));
	a->copy.target = a->copy.reference = a->copy.source;
}

static bool
count_arg(struct cj_elab *el, struct cj_args *args, uint32_t i,
    uint32_t *out)
{
	int64_t n;

	if (!cj_value_to_known(el, cj_arg_span(args, i), &args->at[i],
	    "the number of elements", &n))
		return false;
	*out = (uint32_t)n;
	if (n >= 1 && n <= 128)
		return true;
	cj_elab_error(el, CJ_DIAG_NO_ATOM, cj_arg_span(args, i),
	    "no instruction copies %lld elements at once", (long long)n);
	return false;
}

struct cj_value
cj_builtin_universal_copy(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_atom_value a = { .use = CJ_ATOM_UNIVERSAL, .count = 1 };

	if (!kind_arg(el, args, 0, &a.element))
		return cj_value_error();
	a.text = cj_elab_call_text(el, row->name, args);
	one_thread(el, &a, CJ_COPY_UNIVERSAL);
	return atom_value(el, &a);
}

/* The bytes of a vector are a power of two; false: reported. */
static bool
check_bytes(struct cj_elab *el, struct cj_args *args,
    const struct cj_atom_value *a, int64_t least, int64_t most)
{
	int64_t bits = (int64_t)a->count * cj_kind_bits(a->element);

	if (bits % 8 == 0 && bits / 8 >= least && bits / 8 <= most &&
	    (bits & (bits - 1)) == 0)
		return true;
	cj_help(cj_elab_report(el, CJ_DIAG_NO_ATOM, args->span,
	    "%s copies %lld bits at once; there are %lld to %lld bytes, a "
	    "power of two", a->text, (long long)bits, (long long)least,
	    (long long)most), "%s elements of %s are 16 bytes.",
	    cj_printf(el->arena, "%u", 128 / cj_kind_bits(a->element)),
	    cj_kind_text(a->element));
	return false;
}

struct cj_value
cj_builtin_vector(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_atom_value a = { .use = CJ_ATOM_VECTOR };
	bool wide = el->target == NULL || el->target->family >= 100;

	if (!kind_arg(el, args, 0, &a.element) ||
	    !count_arg(el, args, 1, &a.count))
		return cj_value_error();
	a.text = cj_elab_call_text(el, row->name, args);
	if (!check_bytes(el, args, &a, 1, wide ? 32 : 16))
		return cj_value_error();
	one_thread(el, &a, CJ_COPY_VECTOR);
	return atom_value(el, &a);
}

/* .always: all caches; .global: those that the whole chip shares. */
static bool
cp_async_cache(struct cj_elab *el, struct cj_args *args,
    struct cj_atom_value *a)
{
	const struct cj_value *v = cj_arg_named(el, args, "cache");
	bool whole = a->count * cj_kind_bits(a->element) == 128;
	const char *name;

	a->cache = whole ? CJ_COPY_GLOBAL : CJ_COPY_ALL;
	if (v == NULL)
		return true;
	name = v->kind == CJ_VALUE_CHOICE ? cj_elab_name(el, v->choice) : "";
	if (strcmp(name, "always") == 0) {
		a->cache = CJ_COPY_ALL;
		return true;
	}
	if (strcmp(name, "global") == 0 && whole)
		return true;
	if (strcmp(name, "global") == 0)
		cj_help(cj_elab_report(el, CJ_DIAG_WRONG_ARGUMENTS,
		    cj_arg_named_span(el, args, "cache"), "cache = .global is "
		    "for 16 bytes at once, %s copies %u", a->text,
		    (unsigned)a->count * cj_kind_bits(a->element) / 8),
		    "Take cp_async(%s, %u), or all caches, .always, as it is "
		    "without \"cache\".", cj_kind_text(a->element),
		    128 / cj_kind_bits(a->element));
	else
		cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS,
		    cj_arg_named_span(el, args, "cache"), "\"cache\" of "
		    "cp_async is .always or .global");
	return false;
}

/* What L2 fetches with it, in bytes; 0: what it likes. */
static bool
cp_async_prefetch(struct cj_elab *el, struct cj_args *args,
    struct cj_atom_value *a)
{
	const struct cj_value *v = cj_arg_named(el, args, "prefetch");
	struct cj_span span = cj_arg_named_span(el, args, "prefetch");
	int64_t n = 0;

	if (v != NULL && !cj_value_to_known(el, span, v,
	    "what L2 fetches", &n))
		return false;
	a->prefetch = (uint32_t)n;
	if (n == 0 || n == 64 || n == 128 || n == 256)
		return true;
	cj_elab_error(el, CJ_DIAG_WRONG_ARGUMENTS, span, "L2 fetches 64, 128 "
	    "or 256 bytes with a copy by cp_async, or with 0 what it likes, "
	    "this is %lld", (long long)n);
	return false;
}

struct cj_value
cj_builtin_cp_async(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	struct cj_atom_value a = { .use = CJ_ATOM_CP_ASYNC };

	if (!kind_arg(el, args, 0, &a.element) ||
	    !count_arg(el, args, 1, &a.count))
		return cj_value_error();
	a.text = cj_elab_call_text(el, row->name, args);
	if (!check_bytes(el, args, &a, 4, 16) ||
	    !cp_async_cache(el, args, &a) ||
	    !cp_async_prefetch(el, args, &a))
		return cj_value_error();
	one_thread(el, &a, CJ_COPY_CP_ASYNC);
	return atom_value(el, &a);
}

/* The layouts of a->count matrices. */
static void
fill_matrices(struct cj_elab *el, struct cj_atom_value *a)
{
	bool loads = a->use == CJ_ATOM_LDMATRIX;
	const char *row = cj_printf(el->arena, "SM%d_U%dx%u_%s_%s",
	    loads ? 75 : 90, a->is_transposed ? 16 : 32, a->is_transposed ?
	    a->count * 2 : a->count, loads ? "LDSM" : "STSM",
	    a->is_transposed ? "T" : "N");

	if (!cj_copy_atom_find(&el->al, row, &a->copy))
		cj_bug(el->recover, "no atom %s", row);
}

const char *
cj_atom_matrices_text(struct cj_elab *el, const struct cj_atom_value *like,
    uint32_t count)
{
	return cj_printf(el->arena, "%s(%u%s)",
	    like->use == CJ_ATOM_LDMATRIX ? "ldmatrix" : "stmatrix",
	    (unsigned)count, like->is_transposed ? ", transpose = true" : "");
}

const struct cj_atom_value *
cj_atom_ldmatrix(struct cj_elab *el, uint32_t count, bool is_transposed)
{
	struct cj_atom_value *a = CJ_NEW(el->arena, struct cj_atom_value);

	assert(count == 1 || count == 2 || count == 4);
	a->use = CJ_ATOM_LDMATRIX;
	a->count = count;
	a->is_transposed = is_transposed;
	a->text = cj_atom_matrices_text(el, a, count);
	fill_matrices(el, a);
	return a;
}

static struct cj_value
matrices(struct cj_elab *el, struct cj_args *args, const char *name,
    enum cj_atom_use use)
{
	struct cj_atom_value a = { .use = use };

	if (!count_arg(el, args, 0, &a.count) ||
	    !cj_arg_flag(el, args, "transpose", &a.is_transposed))
		return cj_value_error();
	a.text = cj_elab_call_text(el, name, args);
	if (a.count != 1 && a.count != 2 && a.count != 4)
		return cj_elab_error(el, CJ_DIAG_NO_ATOM, args->span,
		    "%s moves 1, 2 or 4 matrices of 8 rows of 16 bytes",
		    name);
	fill_matrices(el, &a);
	if (!has_target(el, args->span, a.copy.arch, a.text,
	    use == CJ_ATOM_LDMATRIX ? NULL :
	    "Store with vector(T, n) or by assignment."))
		return cj_value_error();
	return atom_value(el, &a);
}

struct cj_value
cj_builtin_ldmatrix(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return matrices(el, args, row->name, CJ_ATOM_LDMATRIX);
}

struct cj_value
cj_builtin_stmatrix(struct cj_elab *el, struct cj_args *args,
    const struct cj_builtin *row)
{
	return matrices(el, args, row->name, CJ_ATOM_STMATRIX);
}
