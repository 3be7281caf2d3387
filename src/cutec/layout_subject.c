/*
 * What the calculator of layouts knows beside expressions of the language:
 *
 *	mma(ATOM [, atoms [, permutation]])	operands A, B, C
 *	copy(ATOM, type [, threads, values])	a copy's source and target
 *	copy_a(ATOM, type, mma(...)), _b, _c	a copy of an operand
 *	thrval(layout, tile)			who holds which element
 *	banks(layout, bits)			elements of `bits` in banks
 *
 * ATOM is a name as CuTe spells it, type one as f16; all else is evaluated.
 */
#include <string.h>

#include "layout_subject.h"

enum { ARGUMENTS_MAX = 4 };

struct part {
	const char *text;
	size_t length;
};

struct call {
	struct part name, at[ARGUMENTS_MAX];
	unsigned count;
};

static bool
is_part(struct part p, const char *word)
{
	return p.length == strlen(word) && memcmp(p.text, word, p.length) == 0;
}

static struct part
trimmed(const char *text, const char *end)
{
	while (text < end && *text == ' ')
		text++;
	while (end > text && end[-1] == ' ')
		end--;
	return (struct part){ text, (size_t)(end - text) };
}

/* Split `name(a, b, ...)`, or with an empty name `(a, b, ...)`. The first may
 * be an atom, NAME<x, y>. False: other text, or too many arguments. */
static bool
call_split(struct part whole, struct call *out)
{
	const char *end = whole.text + whole.length, *start, *p;
	int depth = 0, angles = 0;

	p = memchr(whole.text, '(', whole.length);
	if (p == NULL || end[-1] != ')')
		return false;
	out->name = trimmed(whole.text, p);
	out->count = 0;
	for (start = ++p; p < end; p++) {
		depth += *p == '(';
		depth -= *p == ')';
		angles += *p == '<' && out->count == 0;
		angles -= *p == '>' && angles > 0;
		if (depth < 0 && p + 1 < end)
			return false;
		if (depth > 0 || (p + 1 < end && (angles > 0 || *p != ',')))
			continue;
		if (out->count == ARGUMENTS_MAX)
			return false;
		out->at[out->count++] = trimmed(start, p);
		start = p + 1;
	}
	return depth == -1;
}

/* ---- arguments ----------------------------------------------------------- */

static bool
wrong(struct subject *s, const char *message)
{
	s->message = message;
	return false;
}

/* A refusal of the algebra. */
static bool
refused(struct subject *s)
{
	return wrong(s, s->al->why.text);
}

static char *
text_of(struct subject *s, struct part p)
{
	return cj_strndup(s->al->arena, p.text, p.length);
}

/* A layout, or a shape as a compact one. */
static const struct cj_layout *
layout_of(struct subject *s, struct part p)
{
	const char *value = s->evaluate(s->user, cj_printf(s->al->arena,
	    "layout(%.*s)", (int)p.length, p.text));
	const struct cj_layout *l;

	if (value == NULL)
		return NULL;
	l = cj_layout_read(s->al, value, strlen(value));
	if (l == NULL)
		wrong(s, cj_printf(s->al->arena, "%s is not a layout of known "
		    "integers", value));
	return l;
}

static bool
integer_of(struct subject *s, struct part p, int64_t least, int64_t most,
    int64_t *out)
{
	const struct cj_layout *l = layout_of(s, p);

	if (l == NULL)
		return false;
	*out = l->shape->kind == CJ_TUPLE_INT ? l->shape->value.value : -1;
	if (*out >= least && *out <= most)
		return true;
	return wrong(s, cj_printf(s->al->arena, "%s is not in %lld to %lld",
	    text_of(s, p), (long long)least, (long long)most));
}

/* (M, N, K), each a number, a layout, or `_`. */
static const struct cj_tuple *
permutation_of(struct subject *s, struct part p)
{
	const struct cj_tuple *at[ARGUMENTS_MAX];
	const struct cj_layout *l;
	struct call c;
	unsigned i;

	if (!call_split(p, &c) || c.name.length != 0) {
		wrong(s, "a permutation is (M, N, K), with `_` for none");
		return NULL;
	}
	for (i = 0; i < c.count; i++) {
		if (is_part(c.at[i], "_")) {
			at[i] = cj_tuple_any(s->al);
			continue;
		}
		l = layout_of(s, c.at[i]);
		if (l == NULL)
			return NULL;
		at[i] = cj_tuple_layout(s->al, l);
	}
	return cj_tuple_make(s->al, at, c.count);
}

static bool
mma_of(struct subject *s, const struct call *c, struct cj_tiled_mma *out)
{
	const struct cj_layout *atoms = cj_layout_unit(s->al);
	const struct cj_tuple *permutation = NULL;
	struct cj_mma_atom atom;

	if (c->count < 1 || c->count > 3)
		return wrong(s, "mma(ATOM [, atoms [, permutation]])");
	if (!cj_mma_atom_find(s->al, text_of(s, c->at[0]), &atom))
		return refused(s);
	if (c->count > 1 && (atoms = layout_of(s, c->at[1])) == NULL)
		return false;
	if (c->count > 2 && (permutation = permutation_of(s, c->at[2])) ==
	    NULL)
		return false;
	return cj_tiled_mma_make(s->al, &atom, atoms, permutation, out) ||
	    refused(s);
}

/* The atom and the type, the first arguments of copies. */
static bool
copy_atom_of(struct subject *s, const struct call *c,
    struct cj_copy_atom *out)
{
	struct cj_copy_atom atom;
	int bits;

	if (c->count < 2)
		return wrong(s, "copy(ATOM, type [, threads, values])");
	bits = cj_atom_type_bits(text_of(s, c->at[1]));
	if (bits == 0)
		return wrong(s, cj_printf(s->al->arena, "%s is not a type",
		    text_of(s, c->at[1])));
	return (cj_copy_atom_find(s->al, text_of(s, c->at[0]), &atom) &&
	    cj_copy_atom_values(s->al, &atom, bits, out)) || refused(s);
}

/* ---- subjects ------------------------------------------------------------ */

static bool
take_mma(struct subject *s, const struct call *c)
{
	struct cj_tiled_mma mma;

	s->count = 1;
	return mma_of(s, c, &mma) && (cj_picture_of_mma(s->al, &mma,
	    s->pictures) || refused(s));
}

static bool
take_copy(struct subject *s, const struct call *c)
{
	const struct cj_layout *threads, *values;
	struct cj_copy_atom atom;
	struct cj_tiled_copy copy;

	s->count = 2;
	if (c->count == 3)
		return wrong(s, "copy(ATOM, type [, threads, values])");
	if (!copy_atom_of(s, c, &atom))
		return false;
	if (c->count == 2)
		return cj_picture_of_copy_atom(s->al, &atom, s->pictures) ||
		    refused(s);
	threads = layout_of(s, c->at[2]);
	values = threads == NULL ? NULL : layout_of(s, c->at[3]);
	if (values == NULL)
		return false;
	return (cj_tiled_copy_make(s->al, &atom, threads, values, &copy) &&
	    cj_picture_of_copy(s->al, &copy, s->pictures)) || refused(s);
}

static bool
take_copy_for(struct subject *s, const struct call *c, enum cj_operand which)
{
	struct cj_copy_atom atom;
	struct cj_tiled_copy copy;
	struct cj_tiled_mma mma;
	struct call inner;

	s->count = 2;
	if (c->count != 3 || !call_split(c->at[2], &inner) ||
	    !is_part(inner.name, "mma"))
		return wrong(s, "copy_a(ATOM, type, mma(...))");
	return copy_atom_of(s, c, &atom) && mma_of(s, &inner, &mma) &&
	    ((cj_tiled_copy_for_mma(s->al, &atom, &mma, which, &copy) &&
	    cj_picture_of_copy(s->al, &copy, s->pictures)) || refused(s));
}

static bool
take_thrval(struct subject *s, const struct call *c)
{
	const struct cj_layout *tile;

	s->count = 1;
	if (c->count != 2)
		return wrong(s, "thrval(layout, tile)");
	s->pictures[0].kind = CJ_DRAW_THREADS;
	s->pictures[0].layout = layout_of(s, c->at[0]);
	tile = s->pictures[0].layout == NULL ? NULL : layout_of(s, c->at[1]);
	if (tile == NULL)
		return false;
	s->pictures[0].tile = tile->shape;
	s->pictures[0].title = cj_printf(s->al->arena, "%s in %s",
	    text_of(s, c->at[0]), text_of(s, c->at[1]));
	return true;
}

static bool
take_banks(struct subject *s, const struct call *c)
{
	int64_t bits;

	s->count = 1;
	if (c->count != 2)
		return wrong(s, "banks(layout, bits)");
	s->pictures[0].kind = CJ_DRAW_BANKS;
	s->pictures[0].layout = layout_of(s, c->at[0]);
	if (s->pictures[0].layout == NULL || !integer_of(s, c->at[1], 1, 1024,
	    &bits))
		return false;
	s->pictures[0].element_bits = (int)bits;
	return true;
}

bool
subject_take(struct subject *s, const char *text, bool *is_subject)
{
	struct call c;

	memset(s->pictures, 0, sizeof s->pictures);
	s->count = 0;
	s->message = NULL;
	*is_subject = call_split(trimmed(text, text + strlen(text)), &c);
	if (!*is_subject)
		return false;
	if (is_part(c.name, "mma"))
		return take_mma(s, &c);
	if (is_part(c.name, "copy"))
		return take_copy(s, &c);
	if (is_part(c.name, "copy_a"))
		return take_copy_for(s, &c, CJ_OPERAND_A);
	if (is_part(c.name, "copy_b"))
		return take_copy_for(s, &c, CJ_OPERAND_B);
	if (is_part(c.name, "copy_c"))
		return take_copy_for(s, &c, CJ_OPERAND_C);
	if (is_part(c.name, "thrval"))
		return take_thrval(s, &c);
	if (is_part(c.name, "banks"))
		return take_banks(s, &c);
	*is_subject = false;
	return false;
}
