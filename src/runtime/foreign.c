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
	const char *why;
	int major, minor;

	if (!has_cuda(m))
		return "";
	if (cj_nvrtc_open(&f->arena, &major, &minor, &why) == NULL)
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

/* Functions are the module's own, so that those nobody calls are dropped.
 * False: it is no PTX. */
static bool
add_ptx(struct foreign *o, const char *ptx)
{
	static const char visible[] = "\n.visible .func";
	const char *at = body_of(ptx), *next;

	if (at == NULL || version_of(ptx) == 0)
		return false;
	if (version_of(ptx) > o->version)
		o->version = version_of(ptx);
	while ((next = strstr(at, visible)) != NULL) {
		cj_strbuf_write(&o->ptx, at, (size_t)(next - at));
		cj_strbuf_puts(&o->ptx, "\n.func");
		at = next + strlen(visible);
	}
	cj_strbuf_puts(&o->ptx, at);
	cj_strbuf_putc(&o->ptx, '\n');
	return true;
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
	if (!add_ptx(o, out.ptx))
		cj_fault(f, "PTX without a head");
	return true;
}

/* ---- CUDA C++ ------------------------------------------------------------ */

#define CJX_FILE "cutec"

static const char help_text[] =
"#line 1 \"" CJX_FILE "\"\n"
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

/* What follows begins at this line of a file. */
static void
put_line(struct cj_strbuf *b, uint32_t line, const char *name)
{
	cj_strbuf_printf(b, "#line %u \"", line);
	for (; *name != '\0'; name++) {
		if (*name == '"' || *name == '\\')
			cj_strbuf_putc(b, '\\');
		cj_strbuf_putc(b, *name);
	}
	cj_strbuf_puts(b, "\"\n");
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
		put_line(&b, t->line, t->name);
		cj_strbuf_write(&b, t->text, t->length);
		cj_strbuf_putc(&b, '\n');
	}
	cj_strbuf_puts(&b, help_text);
	for (i = 0; i < o->count; i++) {
		const struct cj_source *s = cj_source_get(f->diags.sources,
		    o->fns[i]->span.source);

		if (o->shims[i].is_found)
			continue;
		put_line(&b, cj_source_position(s,
		    o->fns[i]->span.begin).line, s->name);
		put_shim(&b, &o->shims[i]);
	}
	return b.text;
}

/* ---- what another compiler said ------------------------------------------ */

static bool
has(const char *line, size_t n, const char *word)
{
	return memmem(line, n, word, strlen(word)) != NULL;
}

static bool
is_error(const char *line, size_t n)
{
	return (has(line, n, "error") || has(line, n, "fatal")) &&
	    !has(line, n, "detected in the compilation");
}

/* The code of line `number` of the text with a name; `otherwise` of none. */
static struct cj_span
span_of_line(const struct cj_sources *all, const char *name, size_t length,
    uint32_t number, struct cj_span otherwise)
{
	const struct cj_source *s = NULL;
	struct cj_span span;
	const char *text;
	uint32_t i, n;

	for (i = 1; i < all->all.len; i++) {
		s = cj_source_get(all, i);
		if (strlen(s->name) == length &&
		    memcmp(s->name, name, length) == 0)
			break;
	}
	if (i == all->all.len || number == 0 || number > s->line_count)
		return otherwise;
	text = cj_source_line(s, number, &n);
	for (; n > 0 && isspace((unsigned char)*text); n--)
		text++;
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	span.source = i;
	span.begin = (uint32_t)(text - s->text);
	span.end = span.begin + n;
	return span;
}

/* What a line of a log says. */
struct said {
	const char *name;	/* of a file; NULL: of none */
	size_t name_length;
	uint32_t number;
	const char *what;
	size_t length;
};

/* "NAME(LINE): error: what is wrong", or no more than what is wrong. */
static struct said
read_line(const char *line, size_t n)
{
	const char *open = memchr(line, '(', n);
	struct said s = { .what = line, .length = n };
	unsigned long number;
	char *end;

	number = open == NULL ? 0 : strtoul(open + 1, &end, 10);
	if (number != 0 && strncmp(end, "): ", 3) == 0) {
		s.name = line;
		s.name_length = (size_t)(open - line);
		s.number = (uint32_t)number;
		s.what = end + (strncmp(end + 3, "error: ", 7) == 0 ? 10 : 3);
		s.length = n - (size_t)(s.what - line);
	}
	for (; s.length > 0 && isspace((unsigned char)*s.what); s.length--)
		s.what++;
	while (s.length > 0 &&
	    isspace((unsigned char)s.what[s.length - 1]))
		s.length--;
	return s;
}

/* What is wrong in a template of ours is told of the function that it was made
 * for: "detected during instantiation of ... at line 3 of NAME". */
static void
find_instance(const char *log, struct said *s)
{
	static const char words[] = " at line ";
	const char *at;
	char *end;
	size_t n;

	for (; *log == '\n'; log += n) {
		log++;
		n = strcspn(log, "\n");
		if (n == 0 || is_error(log, n))
			return;
		at = memmem(log, n, words, strlen(words));
		if (at == NULL)
			continue;
		s->number = (uint32_t)strtoul(at + strlen(words), &end, 10);
		if (strncmp(end, " of ", 4) != 0)
			continue;
		s->name = end + 4;
		s->name_length = (size_t)(log + n - s->name);
		return;
	}
}

static void
note_line(struct cj_diag *d, const struct cj_sources *all,
    struct cj_span span, const char *line, size_t n)
{
	struct said s = read_line(line, n);

	if (s.name != NULL && s.name_length == strlen(CJX_FILE) &&
	    strncmp(s.name, CJX_FILE, s.name_length) == 0)
		find_instance(line + n, &s);
	if (s.name != NULL)
		span = span_of_line(all, s.name, s.name_length, s.number,
		    span);
	cj_note(d, span, "%.*s", (int)(s.length < 300 ? s.length : 300),
	    s.what);
}

/* Lines of a log that have "error" in them, three at most; the first that says
 * anything where none has. */
static void
note_errors(struct cj_diag *d, const struct cj_sources *all,
    struct cj_span span, const char *log)
{
	const char *at, *first = NULL;
	unsigned shown = 0;
	size_t n, length = 0;

	for (at = log; *at != '\0' && shown < 3; at += n + (at[n] != '\0')) {
		n = strcspn(at, "\n");
		if (first == NULL && strspn(at, " \t\r") < n) {
			first = at;
			length = n;
		}
		if (!is_error(at, n))
			continue;
		note_line(d, all, span, at, n);
		shown++;
	}
	if (shown == 0 && first != NULL)
		note_line(d, all, span, first, length);
}

/* ---- by NVRTC ------------------------------------------------------------ */

static const struct cj_extern_text *
first_cuda(const struct foreign *o)
{
	uint32_t i;

	for (i = 0; i < o->text_count; i++)
		if (!o->texts[i].is_bitcode)
			return &o->texts[i];
	return NULL;
}

static bool
add_cuda(struct foreign *o)
{
	const struct cj_extern_text *first = first_cuda(o);
	struct cj_work *f = o->work;
	struct cj_nvrtc *n;
	const char *ptx, *log;
	int major, minor;
	uint32_t i;

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
	n = cj_nvrtc_open(&f->arena, &major, &minor, &log);
	if (n == NULL) {
		cj_help(cj_report(&f->diags, CJ_DIAG_MISSING_NVRTC,
		    first->span, "\"extern cuda\" is compiled by NVRTC, which "
		    "%s", log), "It comes with the CUDA toolkit as "
		    "libnvrtc.so; CUTEJIT_NVRTC says where.");
		return false;
	}
	ptx = cj_nvrtc_compile(f, n, o->recipe, cuda_text(o), &log);
	if (ptx == NULL) {
		note_errors(cj_report(&f->diags, CJ_DIAG_BAD_EXTERN,
		    first->span, "NVRTC %d.%d refuses the CUDA C++", major,
		    minor), f->diags.sources, first->span, log);
		return false;
	}
	if (add_ptx(o, ptx))
		return true;
	cj_report(&f->diags, CJ_DIAG_BAD_EXTERN, first->span,
	    "what NVRTC %d.%d makes of the CUDA C++ is no PTX", major, minor);
	return false;
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
	    assembler), f->diags.sources, t->span, log);
	return true;
}
