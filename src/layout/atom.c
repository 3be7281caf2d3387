/*
 * Finding an atom by its name: rows of atoms.def are patterns (see there).
 *
 * A name is matched from left to right; words are tried in their order, with
 * a way back. What was matched fills the other columns of the row, and those
 * are read as layouts.
 */
#include "atom.h"

#include <ctype.h>
#include <stdlib.h>

#include "layout_check.h"

struct mma_row {
	enum cj_mma_kind kind;
	const char *name, *arch, *shape, *types, *threads, *a, *b, *c;
};

struct copy_row {
	enum cj_copy_kind kind;
	const char *name, *arch, *threads, *source, *target, *reference;
	const char *address;
};

static const struct mma_row mma_rows[] = {
#define MMA(kind, name, arch, shape, types, threads, a, b, c)		\
	{ CJ_MMA_##kind, name, arch, shape, types, threads, a, b, c },
#include "atoms.def"
};

static const struct copy_row copy_rows[] = {
#define COPY_AT(kind, name, arch, threads, source, target, reference,	\
    address)								\
	{ CJ_COPY_##kind, name, arch, threads, source, target,		\
	    reference, address },
#include "atoms.def"
};

/* ---- patterns ---------------------------------------------------------- */

enum { MAX_CAPTURES = 12 };

struct capture {
	char name;
	const char *text;	/* part of the name that is matched */
	size_t length;
	int64_t number;
};

struct match {
	struct capture at[MAX_CAPTURES];
	uint32_t count;
};

static bool match(struct match *m, const char *pattern, const char *text);

static bool
capture(struct match *m, char name, const char *text, size_t length,
    int64_t number)
{
	assert(m->count < MAX_CAPTURES);
	m->at[m->count++] = (struct capture){ name, text, length, number };
	return true;
}

/* {N:lo..hi/step} or {N:lo..hi}; *body is behind the colon. */
static bool
match_number(struct match *m, char name, const char *body, const char *end,
    const char *text)
{
	long lo, hi, step = 1;
	char *p;
	int64_t v = 0;
	const char *start = text;
	uint32_t count = m->count;

	assert(body < end);
	lo = strtol(body, &p, 10);
	hi = strtol(p + 2, &p, 10);
	if (*p == '/')
		step = strtol(p + 1, &p, 10);
	while (*text >= '0' && *text <= '9' && v <= hi)
		v = v * 10 + (*text++ - '0');
	if (text == start || v < lo || v > hi || v % step != 0)
		return false;
	capture(m, name, start, (size_t)(text - start), v);
	if (match(m, end + 1, text))
		return true;
	m->count = count;
	return false;
}

/* {A:x|y|z}; a word may be empty. */
static bool
match_words(struct match *m, char name, const char *body, const char *end,
    const char *text)
{
	uint32_t count = m->count;

	for (;;) {
		const char *bar = body;

		while (bar < end && *bar != '|')
			bar++;
		if (strncmp(text, body, (size_t)(bar - body)) == 0) {
			capture(m, name, text, (size_t)(bar - body), 0);
			if (match(m, end + 1, text + (bar - body)))
				return true;
			m->count = count;
		}
		if (bar == end)
			return false;
		body = bar + 1;
	}
}

static bool
match(struct match *m, const char *pattern, const char *text)
{
	const char *body, *end;
	char name;

	while (*pattern != '\0' && *pattern != '{') {
		if (*pattern++ != *text++)
			return false;
	}
	if (*pattern == '\0')
		return *text == '\0';
	name = pattern[1];
	body = pattern + (name == ':' ? 2 : 3);
	end = strchr(pattern, '}');
	assert(end != NULL);
	if (strstr(body, "..") != NULL && strstr(body, "..") < end)
		return match_number(m, name, body, end, text);
	return match_words(m, name, body, end, text);
}

/* The column with its braces filled in. */
static const char *
fill(struct cj_algebra *al, const struct match *m, const char *column)
{
	struct cj_strbuf b;
	size_t i;
	uint32_t k;

	cj_strbuf_init(&b, al->arena);
	for (; *column != '\0'; column++) {
		const struct capture *c = NULL;
		long by;

		if (*column != '{') {
			cj_strbuf_putc(&b, *column);
			continue;
		}
		for (k = 0; k < m->count; k++) {
			if (m->at[k].name == column[1])
				c = &m->at[k];
		}
		assert(c != NULL);
		by = strtol(column + 3, NULL, 10);
		if (column[2] == '/')
			cj_strbuf_printf(&b, "%lld", (long long)c->number
			    / by);
		else if (column[2] == '*')
			cj_strbuf_printf(&b, "%lld", (long long)c->number
			    * by);
		else
			for (i = 0; i < c->length; i++)
				cj_strbuf_putc(&b, (char)tolower(
				    (unsigned char)c->text[i]));
		column = strchr(column, '}');
	}
	return b.text;
}

static bool
fill_layout(struct cj_algebra *al, const struct match *m, const char *column,
    const struct cj_layout **out)
{
	const char *text = fill(al, m, column);
	struct cj_datum v;

	if (!cj_datum_read(al, text, strlen(text), &v)
	    || v.kind != CJ_DATUM_LAYOUT)
		cj_bug(al->arena->recover, "atoms.def: \"%s\" is no layout",
		    text);
	*out = v.layout;
	return true;
}

/* ---- types ------------------------------------------------------------- */

int
cj_atom_type_bits(const char *type)
{
	static const struct {
		const char *name;
		int bits;
	} types[] = {
		{ "f16", 16 }, { "bf16", 16 }, { "tf32", 32 }, { "f32", 32 },
		{ "f64", 64 }, { "e4m3", 8 }, { "e5m2", 8 }, { "e3m2", 6 },
		{ "e2m3", 6 }, { "e2m1", 4 }, { "ue8m0", 8 }, { "ue4m3", 8 },
		{ "s4", 4 }, { "u4", 4 }, { "s8", 8 }, { "u8", 8 },
		{ "s16", 16 }, { "u16", 16 }, { "s32", 32 }, { "u32", 32 },
		{ "s64", 64 }, { "u64", 64 }, { "b1", 1 }, { "u1", 1 },
		{ "c64", 128 }, { "c64gauss", 192 },
	};
	size_t i;

	for (i = 0; i < CJ_LENGTH(types); i++) {
		if (strcmp(types[i].name, type) == 0)
			return types[i].bits;
	}
	return 0;
}

/* ---- rows -------------------------------------------------------------- */

static void
split_types(struct cj_algebra *al, const char *types,
    struct cj_mma_atom *out)
{
	char *copy = cj_strdup(al->arena, types);
	const char **to[4];
	unsigned i;

	to[0] = &out->d_type;
	to[1] = &out->a_type;
	to[2] = &out->b_type;
	to[3] = &out->c_type;
	for (i = 0; i < 4; i++) {
		char *blank = strchr(copy, ' ');

		*to[i] = copy;
		if (blank == NULL)
			break;
		*blank = '\0';
		copy = blank + 1;
	}
	assert(i == 3);
}

bool
cj_mma_atom_find(struct cj_algebra *al, const char *name,
    struct cj_mma_atom *out)
{
	struct cj_datum shape;
	const char *text;
	size_t i;

	memset(out, 0, sizeof *out);
	for (i = 0; i < CJ_LENGTH(mma_rows); i++) {
		const struct mma_row *r = &mma_rows[i];
		struct match m = { .count = 0 };

		if (!match(&m, r->name, name))
			continue;
		text = fill(al, &m, r->shape);
		cj_datum_read(al, text, strlen(text), &shape);
		out->kind = r->kind;
		out->name = cj_strdup(al->arena, name);
		out->arch = r->arch;
		out->sparsity = strstr(r->name, "_SPARSE_") != NULL ? 2 : 1;
		out->shape = shape.tuple;
		split_types(al, fill(al, &m, r->types), out);
		return fill_layout(al, &m, r->threads, &out->threads)
		    && fill_layout(al, &m, r->a, &out->a)
		    && fill_layout(al, &m, r->b, &out->b)
		    && fill_layout(al, &m, r->c, &out->c);
	}
	cj_refuse(al, CJ_REFUSED_KIND, NULL, "there is no MMA atom \"%s\"; "
	    "they have CuTe's names, as SM80_16x8x16_F32F16F16F32_TN", name);
	return false;
}

bool
cj_copy_atom_find(struct cj_algebra *al, const char *name,
    struct cj_copy_atom *out)
{
	size_t i;

	memset(out, 0, sizeof *out);
	for (i = 0; i < CJ_LENGTH(copy_rows); i++) {
		const struct copy_row *r = &copy_rows[i];
		const char *target = r->target != NULL ? r->target
		    : r->source;
		const char *reference = r->reference != NULL ? r->reference
		    : target;
		struct match m = { .count = 0 };

		if (!match(&m, r->name, name))
			continue;
		out->kind = r->kind;
		out->name = cj_strdup(al->arena, name);
		out->arch = r->arch;
		return (r->address == NULL || fill_layout(al, &m, r->address,
		    &out->address))
		    && fill_layout(al, &m, r->threads, &out->threads)
		    && fill_layout(al, &m, r->source, &out->source)
		    && fill_layout(al, &m, target, &out->target)
		    && fill_layout(al, &m, reference, &out->reference);
	}
	cj_refuse(al, CJ_REFUSED_KIND, NULL, "there is no copy atom \"%s\"; "
	    "they have CuTe's names, as SM75_U32x4_LDSM_N", name);
	return false;
}

bool
cj_copy_atom_values(struct cj_algebra *al, const struct cj_copy_atom *atom,
    int bits, struct cj_copy_atom *out)
{
	*out = *atom;
	out->source = cj_layout_cast(al, atom->source, bits, CJ_CAST_UP);
	out->target = cj_layout_cast(al, atom->target, bits, CJ_CAST_UP);
	out->reference = cj_layout_cast(al, atom->reference, bits,
	    CJ_CAST_UP);
	return out->source != NULL && out->target != NULL
	    && out->reference != NULL;
}
