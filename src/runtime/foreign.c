/*
 * Functions of CUDA C++ and of bitcode in the PTX of a program.
 *
 * The program calls cjx_f with words of 32 and 64 bits. Bitcode that defines f
 * has such a function built around it; all others are asked of the CUDA texts,
 * behind which stands a function for each. The PTX that comes of it goes, less
 * its head, before the program's own, whose version rises where it has to.
 */
#include "foreign.h"

#include <ctype.h>
#include <stdlib.h>

#include "codegen/codegen.h"

struct foreign {
	struct cj_work *work;
	const struct cj_recipe *recipe;
	const struct cj_extern_text *texts;
	uint32_t text_count;
	struct cj_codegen_shim *shims;		/* those that are called */
	const struct cj_extern_fn **fns;	/* ... as declared */
	uint32_t count;
	struct cj_strbuf ptx;			/* theirs, without heads */
	int version;				/* times ten */
};

static bool
has_cuda(const struct cutejit_module *m)
{
	const struct cj_extern_text *t;
	uint32_t n = cj_unit_extern_texts(m->unit, &t), i;

	for (i = 0; i < n; i++)
		if (!t[i].is_bitcode)
			return true;
	return false;
}

const char *
cj_foreign_compiler(struct cj_work *f, const struct cutejit_module *m)
{
	int major, minor;

	if (!has_cuda(m))
		return "";
	if (cj_nvrtc_open(&f->arena, &major, &minor) == NULL)
		return "no NVRTC";
	return cj_printf(&f->arena, "NVRTC %d.%d", major, minor);
}

/* ---- which are called ---------------------------------------------------- */

static bool
is_called(struct cj_work *f, const char *ptx, const char *name)
{
	const char *word = cj_printf(&f->arena, CJ_EXTERN_PREFIX "%s", name);
	size_t n = strlen(word);

	while ((ptx = strstr(ptx, word)) != NULL) {
		ptx += n;
		if (!isalnum((unsigned char)*ptx) && *ptx != '_')
			return true;
	}
	return false;
}

static void
list_called(struct foreign *o, struct cutejit_module *m, const char *ptx)
{
	const struct cj_extern_fn *all;
	struct cj_arena *a = &o->work->arena;
	uint32_t i, k, n;

	cj_module_enter(o->work, m);
	n = cj_unit_extern_fns(a, m->unit, &all);
	cj_module_leave(o->work, m);
	o->shims = CJ_NEWS(a, struct cj_codegen_shim, n + 1);
	o->fns = CJ_NEWS(a, const struct cj_extern_fn *, n + 1);
	for (i = 0; i < n; i++) {
		for (k = 0; k < o->count; k++)
			if (strcmp(o->shims[k].name, all[i].name) == 0)
				break;
		if (k < o->count || !is_called(o->work, ptx, all[i].name))
			continue;
		o->fns[o->count] = &all[i];
		o->shims[o->count++] = (struct cj_codegen_shim){ all[i].name,
		    all[i].result, all[i].count, all[i].kinds, false };
	}
}

/* ---- PTX without its head ------------------------------------------------ */

static int
version_of(const char *ptx)
{
	const char *at = strstr(ptx, "\n.version ");
	int major, minor;

	if (at == NULL || sscanf(at, "\n.version %d.%d", &major, &minor) != 2)
		return 0;
	return major * 10 + minor;
}

/* Behind the line of .address_size. */
static const char *
body_of(const char *ptx)
{
	const char *at = strstr(ptx, "\n.address_size ");

	return at == NULL ? NULL : strchr(at + 1, '\n');
}

/* Functions are the module's own, so that those nobody calls are dropped. */
static void
add_ptx(struct foreign *o, const char *ptx)
{
	static const char visible[] = "\n.visible .func";
	const char *at = body_of(ptx), *next;

	if (at == NULL)
		cj_fault(o->work, "PTX without a head");
	if (version_of(ptx) > o->version)
		o->version = version_of(ptx);
	while ((next = strstr(at, visible)) != NULL) {
		cj_strbuf_write(&o->ptx, at, (size_t)(next - at));
		cj_strbuf_puts(&o->ptx, "\n.func");
		at = next + strlen(visible);
	}
	cj_strbuf_puts(&o->ptx, at);
	cj_strbuf_putc(&o->ptx, '\n');
}

/* ---- bitcode ------------------------------------------------------------- */

static bool
add_bitcode(struct foreign *o, const struct cj_extern_text *t)
{
	struct cj_work *f = o->work;
	struct cj_codegen_shim *open = CJ_NEWS(&f->arena,
	    struct cj_codegen_shim, o->count + 1);
	struct cj_codegen_result out;
	uint32_t n = 0, i, k = 0;

	for (i = 0; i < o->count; i++)
		if (!o->shims[i].is_found)
			open[n++] = o->shims[i];
	if (cj_codegen_bitcode(&f->arena, o->recipe->target, t->text,
	    t->length, open, n, &out) != CJ_CODEGEN_OK) {
		cj_report(&f->diags, CJ_DIAG_BAD_EXTERN, t->span,
		    "\"%s\" cannot be used: %s", t->name, out.error);
		return false;
	}
	for (i = 0; i < o->count; i++)
		if (!o->shims[i].is_found)
			o->shims[i].is_found = open[k++].is_found;
	add_ptx(o, out.ptx);
	return true;
}

/* ---- CUDA C++ ------------------------------------------------------------ */

static const char help_text[] =
"#line 1 \"cutec\"\n"
"template<class T, class U> __device__ T cjx_to(U u) {\n"
"static_assert(sizeof(T) == sizeof(U) && (T(3) / 2 == 1) == (U(3) / 2 == 1),\n"
"\"the declaration says another type\"); return u; }\n"
"struct cjx_half { unsigned short bits;\n"
"template<class T> __device__ operator T() const {\n"
"static_assert(sizeof(T) == 2, \"a type of 16 bits\");\n"
"return *reinterpret_cast<const T *>(&bits); } };\n"
"template<class T> __device__ unsigned cjx_word(T t) {\n"
"static_assert(sizeof(T) == 2, \"a type of 16 bits\");\n"
"return *reinterpret_cast<const unsigned short *>(&t); }\n";

static const char *
c_type(enum cj_kind k)
{
	switch ((unsigned)k) {
	case CJ_KIND_I16:
		return "short";
	case CJ_KIND_U16:
		return "unsigned short";
	case CJ_KIND_I32:
		return "int";
	case CJ_KIND_I64:
		return "long long";
	case CJ_KIND_U64:
		return "unsigned long long";
	case CJ_KIND_F32:
		return "float";
	case CJ_KIND_F64:
		return "double";
	case CJ_KIND_VOID:
		return "void";
	}
	return "unsigned";
}

static bool
is_half(enum cj_kind k)
{
	return k == CJ_KIND_F16 || k == CJ_KIND_BF16;
}

/* Its type as a word. */
static const char *
word_type(enum cj_kind k)
{
	return k != CJ_KIND_VOID && cj_kind_bits(k) < 32 ? "unsigned" :
	    c_type(k);
}

static void
put_argument(struct cj_strbuf *b, enum cj_kind k, uint32_t i)
{
	if (k == CJ_KIND_BOOL)
		cj_strbuf_printf(b, "a%u != 0", i);
	else if (is_half(k))
		cj_strbuf_printf(b, "cjx_half{(unsigned short)a%u}", i);
	else
		cj_strbuf_printf(b, "(%s)a%u", c_type(k), i);
}

static void
put_shim(struct cj_strbuf *b, const struct cj_codegen_shim *s)
{
	enum cj_kind k = s->result;
	uint32_t i;

	cj_strbuf_printf(b, "extern \"C\" __device__ %s " CJ_EXTERN_PREFIX
	    "%s(", word_type(k), s->name);
	for (i = 0; i < s->count; i++)
		cj_strbuf_printf(b, "%s%s a%u", i == 0 ? "" : ", ",
		    word_type(s->kinds[i]), i);
	cj_strbuf_puts(b, ") { ");
	if (k != CJ_KIND_VOID)
		cj_strbuf_puts(b, "return ");
	if (k == CJ_KIND_BOOL)
		cj_strbuf_puts(b, "(unsigned)cjx_to<bool>(");
	else if (is_half(k))
		cj_strbuf_puts(b, "cjx_word(");
	else if (k != CJ_KIND_VOID && cj_kind_bits(k) == 16)
		cj_strbuf_printf(b, "(unsigned short)cjx_to<%s>(", c_type(k));
	else if (k != CJ_KIND_VOID)
		cj_strbuf_printf(b, "cjx_to<%s>(", c_type(k));
	cj_strbuf_printf(b, "%s(", s->name);
	for (i = 0; i < s->count; i++) {
		cj_strbuf_puts(b, i == 0 ? "" : ", ");
		put_argument(b, s->kinds[i], i);
	}
	cj_strbuf_printf(b, ")%s; }\n", k == CJ_KIND_VOID ? "" : ")");
}

static const char *
cuda_text(struct foreign *o)
{
	struct cj_work *f = o->work;
	struct cj_strbuf b;
	uint32_t i;

	cj_strbuf_init(&b, &f->arena);
	for (i = 0; i < o->text_count; i++) {
		const struct cj_extern_text *t = &o->texts[i];

		if (t->is_bitcode)
			continue;
		cj_strbuf_printf(&b, "#line %u \"%s\"\n", t->line, t->name);
		cj_strbuf_write(&b, t->text, t->length);
		cj_strbuf_putc(&b, '\n');
	}
	cj_strbuf_puts(&b, help_text);
	for (i = 0; i < o->count; i++) {
		const struct cj_source *s = cj_source_get(f->diags.sources,
		    o->fns[i]->span.source);

		if (o->shims[i].is_found)
			continue;
		cj_strbuf_printf(&b, "#line %u \"%s\"\n",
		    cj_source_position(s, o->fns[i]->span.begin).line,
		    s->name);
		put_shim(&b, &o->shims[i]);
	}
	return b.text;
}

/* Lines of a log that have "error" in them, three at most. */
static void
note_errors(struct cj_diag *d, struct cj_span span, const char *log)
{
	unsigned shown = 0;
	size_t n;

	for (; *log != '\0' && shown < 3; log += n + (log[n] != '\0')) {
		n = strcspn(log, "\n");
		if (memmem(log, n, "error", 5) == NULL &&
		    memmem(log, n, "fatal", 5) == NULL)
			continue;
		cj_note(d, span, "%.*s", (int)(n < 300 ? n : 300), log);
		shown++;
	}
}

static bool
add_cuda(struct foreign *o)
{
	const struct cj_extern_text *first = NULL;
	struct cj_work *f = o->work;
	struct cj_nvrtc *n;
	const char *ptx, *log;
	int major, minor;
	uint32_t i;

	for (i = 0; i < o->text_count && first == NULL; i++)
		if (!o->texts[i].is_bitcode)
			first = &o->texts[i];
	for (i = 0; i < o->count && o->shims[i].is_found; i++)
		;
	if (i == o->count)
		return true;
	if (first == NULL) {
		cj_report(&f->diags, CJ_DIAG_BAD_EXTERN, o->fns[i]->span,
		    "no \"extern bitcode\" defines \"%s\"",
		    o->fns[i]->name);
		return false;
	}
	n = cj_nvrtc_open(&f->arena, &major, &minor);
	if (n == NULL) {
		cj_help(cj_report(&f->diags, CJ_DIAG_MISSING_NVRTC,
		    first->span, "\"extern cuda\" is compiled by NVRTC, which "
		    "is not on this machine"), "It comes with the CUDA "
		    "toolkit as libnvrtc.so; CUTEJIT_NVRTC says where.");
		return false;
	}
	ptx = cj_nvrtc_compile(f, n, o->recipe, cuda_text(o), &log);
	if (ptx == NULL) {
		note_errors(cj_report(&f->diags, CJ_DIAG_BAD_EXTERN,
		    first->span, "NVRTC %d.%d refuses the CUDA C++", major,
		    minor), first->span, log);
		return false;
	}
	add_ptx(o, ptx);
	return true;
}

/* ---- all of it ----------------------------------------------------------- */

static void
merge(struct foreign *o, const char **ptx, size_t *length)
{
	const char *body = body_of(*ptx), *version;
	struct cj_strbuf b;

	assert(body != NULL && "it is ours");
	cj_strbuf_init(&b, &o->work->arena);
	version = strstr(*ptx, "\n.version ");
	if (version_of(*ptx) < o->version) {
		cj_strbuf_write(&b, *ptx, (size_t)(version - *ptx));
		cj_strbuf_printf(&b, "\n.version %d.%d", o->version / 10,
		    o->version % 10);
		version = strchr(version + 1, '\n');
	} else {
		version = *ptx;
	}
	cj_strbuf_write(&b, version, (size_t)(body - version));
	cj_strbuf_write(&b, o->ptx.text, o->ptx.len);
	cj_strbuf_puts(&b, body);
	*ptx = b.text;
	*length = b.len;
}

cutejit_status
cj_foreign_add(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, const char **ptx, size_t *length)
{
	struct foreign o = { .work = f, .recipe = r };
	uint32_t i;

	o.text_count = cj_unit_extern_texts(m->unit, &o.texts);
	if (o.text_count == 0)
		return CUTEJIT_OK;
	list_called(&o, m, *ptx);
	if (o.count == 0)
		return CUTEJIT_OK;
	cj_strbuf_init(&o.ptx, &f->arena);
	for (i = 0; i < o.text_count; i++)
		if (o.texts[i].is_bitcode && !add_bitcode(&o, &o.texts[i]))
			return CUTEJIT_ERROR;
	if (!add_cuda(&o))
		return f->diags.errors != 0 ? CUTEJIT_ERROR :
		    CUTEJIT_MISSING;
	merge(&o, ptx, length);
	return CUTEJIT_OK;
}

bool
cj_foreign_refused(struct cj_work *f, const struct cutejit_module *m,
    const char *ptx, const char *assembler, const char *log)
{
	const struct cj_extern_text *t;

	if (cj_unit_extern_texts(m->unit, &t) == 0 ||
	    strstr(ptx, CJ_EXTERN_PREFIX) == NULL)
		return false;
	note_errors(cj_report(&f->diags, CJ_DIAG_BAD_EXTERN, t->span,
	    "%s refuses the program with the functions of other languages",
	    assembler), t->span, log);
	return true;
}
