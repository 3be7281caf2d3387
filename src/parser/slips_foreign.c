/*
 * Slips of those who come from C, C++, CUDA or Python: words of theirs, and
 * shapes of statements that this language writes otherwise.
 *
 * They are looked for first: what they mean is plainer than what was expected.
 */
#include "slips_priv.h"

/* ---- words --------------------------------------------------------------- */

static const struct foreign {
	const char *word, *message, *help;
	const char *instead;		/* NULL: no fix-it */
} words[] = {
	{ "__global__", "a kernel is declared by \"kernel\"",
	    "Write kernel name(x: tensor(f32, n:1)) { launch grid(...) "
	    "block(...) { ... } }.", NULL },
	{ "__device__", "a function is declared by \"fn\"",
	    "Write fn name(a, b) { ... } or fn name(a, b) => e;", NULL },
	{ "__host__", "a function is declared by \"fn\"",
	    "It serves host and device: fn name(a, b) { ... }.", NULL },
	{ "__shared__", "shared memory is declared by \"shared\"",
	    "Write shared s: tensor(f32, 128:1);", NULL },
	{ "__constant__", "a constant is declared by \"const\"",
	    "Write const name = e;", NULL },
	{ "void", "a function is declared by \"fn\"",
	    "Write fn name(a, b) { ... }; what gives no value needs no type.",
	    NULL },
	{ "def", "a function is declared by \"fn\"",
	    "Write fn name(a, b) { ... } or fn name(a, b) => e;", "fn" },
	{ "func", "a function is declared by \"fn\"",
	    "Write fn name(a, b) { ... } or fn name(a, b) => e;", "fn" },
	{ "lambda", "a function as a value is fn(x) => e",
	    "Write fn(a, b) => a + b.", NULL },
	{ "constexpr", "a constant is declared by \"const\"",
	    "Write const name = e; and const if, const for.", "const" },
	{ "static", "there is no \"static\"",
	    "What is known is const; what lasts is the caller's.", NULL },
	{ "inline", "every function is inlined",
	    "Write fn name(a, b) { ... }.", NULL },
	{ "template", "there are no templates",
	    "Parameters without a type take any: fn f(x) { ... }; a kernel "
	    "has const T: type in {f16, f32}.", NULL },
	{ "struct", "there is no \"struct\"",
	    "A tuple has names: (first = 1, second = 2).", NULL },
	{ "class", "there is no \"class\"",
	    "A tuple has names: (first = 1, second = 2).", NULL },
	{ "typedef", "there is no \"typedef\"",
	    "A type is a value: const T = f16;", NULL },
	{ "using", "there is no \"using\"",
	    "A type is a value: const T = f16; and import opens a file.",
	    NULL },
	{ "namespace", "there are no name spaces",
	    "import \"file.cute\" as name; gives name.f.", NULL },
	{ "enum", "there is no \"enum\"",
	    "Write constants, or choices with a point: .first.", NULL },
	{ "switch", "there is no \"switch\"",
	    "Write if a { } else if b { } else { }.", NULL },
	{ "goto", "there is no \"goto\"",
	    "break, continue and return work everywhere.", NULL },
	{ "do", "there is no \"do\"",
	    "Write while true { ... if done { break; } }.", NULL },
	{ "unroll", "a loop is unrolled by what stands behind its range",
	    "Write for i in 0..n unroll(4) { ... }, or const for.", NULL },
	{ "elif", "\"elif\" is written \"else if\"", NULL, "else if" },
	{ "elseif", "\"elseif\" is written \"else if\"", NULL, "else if" },
	{ "not", "\"not\" is written \"!\"", NULL, "!" },
};

static const struct foreign *
find_word(const struct slip *s, struct cj_token t)
{
	size_t i;
	const char *w;
	int n;

	if (t.kind != CJ_TOKEN_NAME)
		return NULL;
	w = text(s, t.span, &n);
	for (i = 0; i < CJ_LENGTH(words); i++)
		if (strlen(words[i].word) == (size_t)n &&
		    memcmp(words[i].word, w, (size_t)n) == 0)
			return &words[i];
	return NULL;
}

/* The first token of the statement that holds the wrong one. */
static struct cj_token
statement_begin(const struct slip *s)
{
	int i = 0;

	while (token(s, i - 1).kind != CJ_TOKEN_BEFORE &&
	    token(s, i - 1).kind != CJ_TOKEN_SEMICOLON &&
	    token(s, i - 1).kind != CJ_TOKEN_LBRACE &&
	    token(s, i - 1).kind != CJ_TOKEN_RBRACE)
		i--;
	return token(s, i);
}

/* __global__ void f(…), elif n > 2 { … }, switch (x) { … }: the word, what
 * follows it, or what it begins */
static bool
slip_word(const struct slip *s)
{
	struct cj_token t = s->bad;
	const struct foreign *f = find_word(s, t);
	struct cj_diag *d;

	if (f == NULL) {
		t = s->prev;
		f = find_word(s, t);
	}
	if (f == NULL) {
		t = statement_begin(s);
		f = find_word(s, t);
	}
	if (f == NULL)
		return false;
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX, t.span, "%s", f->message);
	if (f->help != NULL)
		cj_help(d, "%s", f->help);
	if (f->instead != NULL)
		cj_fixit(d, t.span, "%s", f->instead);
	return true;
}

/* ---- operators ----------------------------------------------------------- */

static bool
touch(struct cj_token a, struct cj_token b)
{
	return a.kind != CJ_TOKEN_BEFORE && a.span.end == b.span.begin;
}

/* Two tokens that are one operator elsewhere, the second of them `at`. */
static bool
is_pair(const struct slip *s, int at, enum cj_token_kind kind)
{
	struct cj_token a = token(s, at - 1), b = token(s, at);

	return a.kind == kind && b.kind == kind && touch(a, b);
}

/* x ** y */
static bool
slip_power(const struct slip *s)
{
	struct cj_diag *d;

	if (!is_pair(s, 0, CJ_TOKEN_STAR))
		return false;
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX,
	    cj_span_join(s->prev.span, s->bad.span), "\"**\" does not exist");
	cj_help(d, "Write pow(x, y), or x * x.");
	return true;
}

/* ++i; and a = i++; (a statement i++; is known to slips.c) */
static bool
slip_step(const struct slip *s)
{
	int at = is_pair(s, 0, CJ_TOKEN_PLUS) ? 0 :
	    is_pair(s, 1, CJ_TOKEN_PLUS) && !ends_operand(s->prev.kind) ? 1 :
	    is_pair(s, 1, CJ_TOKEN_MINUS) && !ends_operand(s->prev.kind) ? 1 :
	    is_pair(s, -1, CJ_TOKEN_MINUS) ? -1 : 2;
	struct cj_token b = token(s, at);
	struct cj_diag *d;

	if (at == 2)
		return false;
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX,
	    cj_span_join(token(s, at - 1).span, b.span),
	    "\"%s%s\" does not exist", cj_token_text(b.kind),
	    cj_token_text(b.kind));
	cj_help(d, "A statement of its own does it: i %s= 1;",
	    cj_token_text(b.kind));
	return true;
}

/* a === b */
static bool
slip_equal(const struct slip *s)
{
	struct cj_span both = cj_span_join(s->prev.span, s->bad.span);
	struct cj_diag *d;

	if (s->bad.kind != CJ_TOKEN_ASSIGN || !touch(s->prev, s->bad) ||
	    (s->prev.kind != CJ_TOKEN_EQ && s->prev.kind != CJ_TOKEN_NE))
		return false;
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX, both,
	    "\"%s=\" is written \"%s\"", cj_token_text(s->prev.kind),
	    cj_token_text(s->prev.kind));
	cj_fixit(d, both, "%s", cj_token_text(s->prev.kind));
	return true;
}

static bool
is_compare(enum cj_token_kind kind)
{
	return kind >= CJ_TOKEN_EQ && kind <= CJ_TOKEN_GE;
}

/* a < b & c < d: the operator of bits binds closer than the comparisons */
static bool
slip_bit_operator(const struct slip *s)
{
	struct cj_token t, bits = { 0 };
	struct cj_diag *d;
	int i, depth = 0;

	if (!is_compare(s->bad.kind))
		return false;
	for (i = -1; (int64_t)s->at + i >= 0; i--) {
		t = token(s, i);
		if (t.kind == CJ_TOKEN_RPAREN || t.kind == CJ_TOKEN_RBRACKET)
			depth++;
		else if ((t.kind == CJ_TOKEN_LPAREN ||
		    t.kind == CJ_TOKEN_LBRACKET) && depth-- == 0)
			return false;
		else if (depth == 0 && (t.kind == CJ_TOKEN_BIT_AND ||
		    t.kind == CJ_TOKEN_BIT_OR) && bits.kind == 0)
			bits = t;
		else if (depth == 0 && is_compare(t.kind))
			break;
		else if (t.kind == CJ_TOKEN_SEMICOLON ||
		    t.kind == CJ_TOKEN_LBRACE || t.kind == CJ_TOKEN_RBRACE)
			return false;
	}
	if (bits.kind == 0)
		return false;
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX, bits.span,
	    "\"%s\" binds closer than comparisons; \"%s%s\" joins conditions",
	    cj_token_text(bits.kind), cj_token_text(bits.kind),
	    cj_token_text(bits.kind));
	cj_help(d, "Element by element it is (a < b) %s (c < d).",
	    cj_token_text(bits.kind));
	cj_fixit(d, bits.span, "%s%s", cj_token_text(bits.kind),
	    cj_token_text(bits.kind));
	return true;
}

/* ---- statements ---------------------------------------------------------- */

/* for (int i = 0; i < n; i++), for i = 0 */
static bool
slip_for(const struct slip *s)
{
	struct cj_token name = s->bad.kind == CJ_TOKEN_ASSIGN ? s->prev :
	    s->bad;
	struct cj_diag *d;
	const char *t;
	int i, n;

	for (i = -1; i >= -4 && token(s, i).kind != CJ_TOKEN_FOR; i--)
		;
	if (i < -4 || (token(s, i + 1).kind != CJ_TOKEN_LPAREN &&
	    s->bad.kind != CJ_TOKEN_ASSIGN) || !is_name(name.kind))
		return false;
	t = text(s, name.span, &n);
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX, token(s, i).span,
	    "a loop goes over a range, a tuple or a sequence");
	cj_help(d, "Write for %.*s in 0..n { ... }; step(2) goes in twos, "
	    "while c { ... } is there too.", n, t);
	return true;
}

/* (f32)x */
static bool
slip_cast(const struct slip *s)
{
	struct cj_token type = token(s, -2);
	const char *t, *x, *here;
	struct cj_diag *d;
	int n, m;

	if (s->prev.kind != CJ_TOKEN_RPAREN || !is_name(type.kind) ||
	    token(s, -3).kind != CJ_TOKEN_LPAREN ||
	    ends_operand(token(s, -4).kind) || (!is_name(s->bad.kind) &&
	    s->bad.kind != CJ_TOKEN_INTEGER && s->bad.kind != CJ_TOKEN_NUMBER))
		return false;
	t = text(s, type.span, &n);
	x = text(s, s->bad.span, &m);
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX,
	    cj_span_join(token(s, -3).span, s->prev.span),
	    "a conversion is a call of its type");
	here = cj_from_abroad(t, (size_t)n);
	if (here != NULL)
		cj_help(d, "Write %s(%.*s).", here, m, x);
	else
		cj_help(d, "Write %.*s(%.*s).", n, t, m, x);
	return true;
}

/* a = +b */
static bool
slip_plus(const struct slip *s)
{
	struct cj_diag *d;

	if (s->bad.kind != CJ_TOKEN_PLUS || ends_operand(s->prev.kind))
		return false;
	d = cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "a value has no \"+\" in front");
	cj_fixit(d, s->bad.span, "%s", "");
	return true;
}

/* Is this a ":" that ends its line? */
static bool
ends_line(const struct slip *s, int at)
{
	struct cj_token t = token(s, at), next = token(s, at + 1);

	return t.kind == CJ_TOKEN_COLON && memchr(s->p->source->text +
	    t.span.end, '\n', next.span.begin - t.span.end) != NULL;
}

/* if c: and a body in the next lines, where "c: a[i]" goes on as a layout */
static bool
slip_colon(const struct slip *s)
{
	int at = 0;

	if (!expects(s, CJ_TOKEN_LBRACE))
		return false;
	while (!ends_line(s, at) && at > -8 &&
	    token(s, at - 1).kind != CJ_TOKEN_SEMICOLON &&
	    token(s, at - 1).kind != CJ_TOKEN_BEFORE)
		at--;
	if (!ends_line(s, at))
		return false;
	cj_help(cj_report(s->p->diags, CJ_DIAG_SYNTAX, token(s, at).span,
	    "a body stands in braces"), "Write { ... } in place of \":\"; "
	    "lines may be laid out at will.");
	return true;
}

/* tensor<f16>(n) */
static bool
slip_angle(const struct slip *s)
{
	const char *t;
	int n;

	t = text(s, s->prev.span, &n);
	if (s->bad.kind != CJ_TOKEN_LT || n != 6 || memcmp(t, "tensor", 6) != 0)
		return false;
	cj_help(cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->bad.span,
	    "types have no \"<\""), "A tensor's type is tensor(f16, (M, N)): "
	    "its elements, and its shape.");
	return true;
}

/* launch<<<1, 32>>>(x) */
static bool
slip_launch(const struct slip *s)
{
	if (s->prev.kind != CJ_TOKEN_LAUNCH || s->bad.kind != CJ_TOKEN_SHL ||
	    token(s, 1).kind != CJ_TOKEN_LT)
		return false;
	cj_help(cj_report(s->p->diags, CJ_DIAG_SYNTAX,
	    cj_span_join(s->bad.span, token(s, 1).span),
	    "a launch is no call with \"<<<\""), "Kernels say it themselves: "
	    "launch grid(blocks) block(threads) { ... }; a test starts one "
	    "by launch k(x);");
	return true;
}

/* float, int, u8: a word for a type, here or elsewhere? */
static bool
is_type_word(const char *t, int n)
{
	return cj_from_abroad(t, (size_t)n) != NULL ||
	    (n == 3 && memcmp(t, "int", 3) == 0) ||
	    (n == 4 && memcmp(t, "bool", 4) == 0) ||
	    (n >= 2 && strchr("iuf", t[0]) != NULL && t[1] >= '0' &&
	    t[1] <= '9');
}

/* kernel k(float *x, int n): the type comes behind the name */
static bool
slip_parameter(const struct slip *s)
{
	bool is_pointer = s->bad.kind == CJ_TOKEN_STAR;
	struct cj_token name = is_pointer ? token(s, 1) : s->bad;
	struct cj_token before = token(s, -2);
	const char *t;
	int n;

	t = text(s, s->prev.span, &n);
	if (!is_name(s->prev.kind) || !is_name(name.kind) ||
	    !is_type_word(t, n) || expects(s, CJ_TOKEN_PLUS) ||
	    !expects(s, CJ_TOKEN_RPAREN) ||
	    (before.kind != CJ_TOKEN_LPAREN && before.kind != CJ_TOKEN_COMMA))
		return false;
	t = text(s, name.span, &n);
	cj_help(cj_report(s->p->diags, CJ_DIAG_SYNTAX, s->prev.span,
	    "the type of a parameter stands behind its name"), is_pointer ?
	    "Write %.*s: tensor(f32, N:1), or another shape." :
	    "Write %.*s: int, or another type.", n, t);
	return true;
}

bool
cj_slip_foreign(const struct slip *s)
{
	return slip_word(s) || slip_power(s) || slip_step(s) ||
	    slip_equal(s) || slip_bit_operator(s) || slip_for(s) ||
	    slip_cast(s) || slip_plus(s) ||
	    slip_colon(s) || slip_angle(s) || slip_launch(s) ||
	    slip_parameter(s);
}
