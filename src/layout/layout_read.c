/*
 * Reading values as CuTe prints them: (4,(2,_)), 4:1, Sw<3,4,3> o 0 o ...
 *
 *	value  := `Sw<`i`,`i`,`i`>` [ ` o ` tuple ` o ` layout ] | layout | word
 *	layout := tuple [ `:` tuple ] [ ` + ` tuple ]
 *	tuple  := `(` [ member { `,` member } ] `)` | integer [ `@`i... ] | `_`
 *	member := tuple [ `:` tuple ]
 *
 * and as the language does: (4, (2,)), 4*basis(0, 1), swizzle(3, 4, 3),
 * composition(swizzle(3, 4, 3), 0, (8, 8):(8, 1)).
 */
#include "layout_check.h"

struct reader {
	struct cj_algebra *al;
	const char *at, *end;
	unsigned depth;
};

static bool
accept(struct reader *r, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0)
		return false;
	r->at += n;
	return true;
}

static bool
is_digit(const struct reader *r)
{
	return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static bool
read_number(struct reader *r, int64_t *out)
{
	bool minus = accept(r, "-");

	*out = 0;
	if (!is_digit(r))
		return false;
	while (is_digit(r)) {
		int64_t digit = *r->at++ - '0';

		if (__builtin_mul_overflow(*out, 10, out)
		    || __builtin_add_overflow(*out, minus ? -digit : digit,
		    out)) {
			cj_refuse(r->al, CJ_REFUSED_OVERFLOW, NULL,
			    "a number does not fit in 64 bits");
			return false;
		}
	}
	return true;
}

static const struct cj_tuple *
read_basis(struct reader *r, struct cj_int scale)
{
	uint8_t printed[CJ_MAX_PATH], path[CJ_MAX_PATH];
	unsigned n = 0, i;
	int64_t v;

	while (accept(r, "@")) {
		if (!read_number(r, &v) || v < 0 || v > UINT8_MAX)
			return NULL;
		if (n == CJ_MAX_PATH)
			return cj_refuse(r->al, CJ_REFUSED_LIMIT, NULL,
			    "a unit stride of more than %d levels",
			    (int)CJ_MAX_PATH);
		printed[n++] = (uint8_t)v;
	}
	for (i = 0; i < n; i++)
		path[i] = printed[n - 1 - i];
	return cj_tuple_basis(r->al, scale, path, n);
}

/* The rest of basis(i, j...), the outermost mode first. */
static const struct cj_tuple *
read_basis_call(struct reader *r, struct cj_int scale)
{
	uint8_t path[CJ_MAX_PATH];
	unsigned n = 0;
	int64_t v;

	do {
		if (n == CJ_MAX_PATH)
			return cj_refuse(r->al, CJ_REFUSED_LIMIT, NULL,
			    "a unit stride of more than %d levels",
			    (int)CJ_MAX_PATH);
		if (!read_number(r, &v) || v < 0 || v > UINT8_MAX)
			return NULL;
		path[n++] = (uint8_t)v;
	} while (accept(r, ", "));
	assert(n >= 1 && n <= CJ_MAX_PATH);
	return accept(r, ")") ? cj_tuple_basis(r->al, scale, path, n) : NULL;
}

static const struct cj_tuple *read_tuple(struct reader *r);

static const struct cj_tuple *
read_leaf(struct reader *r)
{
	bool fixed = r->al->sym->fixed;
	bool is_static = accept(r, "_");
	struct cj_int i;
	int64_t v;

	if (is_static && (!fixed || !(is_digit(r) || (r->at < r->end
	    && *r->at == '-'))))
		return cj_tuple_any(r->al);
	if (accept(r, "X"))
		return cj_tuple_any(r->al);
	if (accept(r, "basis("))
		return read_basis_call(r, cj_known(1));
	if (!read_number(r, &v))
		return NULL;
	i = fixed && !is_static ? cj_symbol(r->al->sym, 0, 0, v, v, v < 0
	    ? -(v + 1) : v) : cj_known(v);
	if (accept(r, "*basis("))
		return read_basis_call(r, i);
	return r->at < r->end && *r->at == '@' ? read_basis(r, i)
	    : cj_tuple_int(r->al, i);
}

/* A tuple, or shape:stride as a leaf. */
static const struct cj_tuple *
read_member(struct reader *r)
{
	const struct cj_tuple *shape = read_tuple(r), *stride;
	const struct cj_layout *l;

	if (shape == NULL || !accept(r, ":"))
		return shape;
	stride = read_tuple(r);
	l = stride == NULL ? NULL : cj_layout_make(r->al, shape, stride);
	return l == NULL ? NULL : cj_tuple_layout(r->al, l);
}

static const struct cj_tuple *
read_tuple(struct reader *r)
{
	const struct cj_tuple *t = NULL;
	struct cj_list list;

	if (!accept(r, "("))
		return read_leaf(r);
	if (++r->depth > CJ_MAX_DEPTH)
		return cj_refuse(r->al, CJ_REFUSED_LIMIT, NULL,
		    "a tuple nested deeper than %d levels",
		    (int)CJ_MAX_DEPTH);
	cj_list_init(&list);
	while (list.count == 0 ? !accept(r, ")") : accept(r, ",")) {
		accept(r, " ");
		if (list.count == 1 && r->at < r->end && *r->at == ')')
			break;		/* (4,) */
		t = read_member(r);
		if (t == NULL)
			return NULL;
		cj_list_add(r->al, &list, t);
	}
	if (list.count > 0 && !accept(r, ")"))
		return NULL;
	r->depth--;
	return cj_list_tuple(r->al, &list);
}

static bool
read_int(struct reader *r, int *out)
{
	int64_t v;

	if (!read_number(r, &v) || v < -64 || v > 64)
		return false;
	*out = (int)v;
	return true;
}

/* Three numbers and what ends them. */
static bool
read_swizzle(struct reader *r, const char *comma, const char *end,
    struct cj_swizzle *s)
{
	return read_int(r, &s->bits) && accept(r, comma)
	    && read_int(r, &s->base) && accept(r, comma)
	    && read_int(r, &s->shift) && accept(r, end);
}

static const struct cj_layout *
with_offset(struct cj_algebra *al, const struct cj_layout *l,
    const struct cj_tuple *offset)
{
	struct cj_layout *moved = CJ_NEW(al->arena, struct cj_layout);

	assert(l->offset == NULL);
	*moved = *l;
	moved->offset = offset;
	return moved;
}

/* shape:stride [ + offset ], the shape read already. */
static const struct cj_layout *
read_layout(struct reader *r, const struct cj_tuple *shape)
{
	const struct cj_tuple *stride = read_tuple(r), *offset;
	const struct cj_layout *l;

	l = stride == NULL ? NULL : cj_layout_make(r->al, shape, stride);
	if (l == NULL || !accept(r, " + "))
		return l;
	offset = read_tuple(r);
	return offset == NULL ? NULL : with_offset(r->al, l, offset);
}

/* offset, `then`, shape:stride, behind the swizzle. */
static const struct cj_layout *
read_composed(struct reader *r, struct cj_swizzle s, const char *then)
{
	const struct cj_tuple *offset = read_tuple(r), *shape, *stride;
	const struct cj_layout *l;

	if (offset == NULL || !accept(r, then))
		return NULL;
	shape = read_tuple(r);
	if (shape == NULL || !accept(r, ":"))
		return NULL;
	stride = read_tuple(r);
	l = stride == NULL ? NULL : cj_layout_make(r->al, shape, stride);
	return l == NULL ? NULL : cj_layout_composed(r->al, s, offset, l);
}

/* composition(swizzle(B, M, S), offset, layout), swizzle(B, M, S) */
static bool
read_call(struct reader *r, bool is_composed, struct cj_datum *out)
{
	if (!read_swizzle(r, ", ", ")", &out->swizzle))
		return false;
	out->kind = CJ_DATUM_SWIZZLE;
	if (!is_composed)
		return true;
	if (!accept(r, ", "))
		return false;
	out->layout = read_composed(r, out->swizzle, ", ");
	out->kind = CJ_DATUM_LAYOUT;
	return out->layout != NULL && accept(r, ")");
}

static bool
read_value(struct reader *r, struct cj_datum *out)
{
	const struct cj_tuple *t;

	if (accept(r, "Sw<")) {
		if (!read_swizzle(r, ",", ">", &out->swizzle))
			return false;
		out->kind = CJ_DATUM_SWIZZLE;
		if (!accept(r, " o "))
			return true;
		out->layout = read_composed(r, out->swizzle, " o ");
		out->kind = CJ_DATUM_LAYOUT;
		return out->layout != NULL && (!accept(r, " + ")
		    || read_number(r, &out->plus));
	}
	if (accept(r, "composition(swizzle("))
		return read_call(r, true, out);
	if (accept(r, "swizzle("))
		return read_call(r, false, out);
	t = read_tuple(r);
	if (t == NULL)
		return false;
	*out = cj_datum_tuple(t);
	if (!accept(r, ":"))
		return true;
	*out = cj_datum_layout(read_layout(r, t));
	return out->layout != NULL;
}

bool
cj_datum_read(struct cj_algebra *al, const char *text, size_t length,
    struct cj_datum *out)
{
	struct reader r = { al, text, text + length, 0 };
	const char *word = cj_strndup(al->arena, text, length);

	memset(out, 0, sizeof *out);
	al->why = (struct cj_why_not){ CJ_REFUSED_NOT, NULL, NULL };
	if (!read_value(&r, out) || r.at != r.end) {
		if (al->why.kind != CJ_REFUSED_NOT)
			return false;
		*out = cj_datum_word(word);
	}
	out->word = word;
	return true;
}

const struct cj_layout *
cj_layout_read(struct cj_algebra *al, const char *text, size_t length)
{
	struct cj_datum v;

	assert(text != NULL);
	if (!cj_datum_read(al, text, length, &v))
		return NULL;
	if (v.kind != CJ_DATUM_LAYOUT || v.plus != 0)
		return cj_refuse(al, CJ_REFUSED_KIND, NULL,
		    "%s is no layout of known integers", v.word);
	return v.layout;
}

const struct cj_layout *
cj_layout_or_shape_read(struct cj_algebra *al, const char *text,
    size_t length)
{
	struct cj_datum v;

	if (cj_datum_read(al, text, length, &v) && v.kind == CJ_DATUM_TUPLE)
		return cj_layout_make(al, v.tuple, NULL);
	return cj_layout_read(al, text, length);
}

struct cj_datum
cj_datum_tuple(const struct cj_tuple *t)
{
	return (struct cj_datum){ .kind = CJ_DATUM_TUPLE, .tuple = t };
}

struct cj_datum
cj_datum_layout(const struct cj_layout *l)
{
	return (struct cj_datum){ .kind = CJ_DATUM_LAYOUT, .layout = l };
}

struct cj_datum
cj_datum_swizzle(struct cj_swizzle s)
{
	return (struct cj_datum){ .kind = CJ_DATUM_SWIZZLE, .swizzle = s };
}

struct cj_datum
cj_datum_word(const char *word)
{
	return (struct cj_datum){ .kind = CJ_DATUM_WORD, .word = word };
}

void
cj_datum_print(struct cj_strbuf *out, struct cj_algebra *al,
    const struct cj_datum *v)
{
	switch (v->kind) {
	case CJ_DATUM_TUPLE:
		cj_tuple_print(out, al->sym, v->tuple, CJ_STYLE_VECTORS);
		break;
	case CJ_DATUM_LAYOUT:
		cj_layout_print(out, al->sym, v->layout, CJ_STYLE_VECTORS);
		break;
	case CJ_DATUM_SWIZZLE:
		cj_strbuf_printf(out, "Sw<%d,%d,%d>", v->swizzle.bits,
		    v->swizzle.base, v->swizzle.shift);
		break;
	case CJ_DATUM_WORD:
		cj_strbuf_puts(out, v->word);
		break;
	}
}
