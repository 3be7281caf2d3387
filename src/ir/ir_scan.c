/*
 * The scanner of the text form and what is read token by token.
 */
#include "ir_read_priv.h"

void
cj_reader_fail(struct cj_reader *r, const char *what)
{
	if (r->failed)
		return;
	r->failed = true;
	r->token = TOKEN_END;
	r->p = r->end;
	cj_strbuf_printf(r->error, "line %u: %s", r->line, what);
}

/* ---- tokens -------------------------------------------------------------- */

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void
skip_blanks(struct cj_reader *r)
{
	for (; r->p < r->end; r->p++) {
		if (*r->p == '/' && r->end - r->p > 1 && r->p[1] == '/')
			while (r->p < r->end && *r->p != '\n')
				r->p++;
		if (r->p == r->end)
			return;
		if (*r->p == '\n') {
			r->line++;
			r->begins_line = true;
		} else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r') {
			return;
		}
	}
}

/* %7 and its kin. No text has room for more numbers than it has bytes. */
static void
scan_number_of(struct cj_reader *r, enum token token)
{
	uint64_t n = 0;

	r->token = token;
	for (r->p++; r->p < r->end && is_digit(*r->p); r->p++)
		if (n <= UINT32_MAX)
			n = n * 10 + (uint64_t)(*r->p - '0');
	if (n == 0 || n > r->most)
		cj_reader_fail(r, "the number of a reference is wrong");
	r->number = (uint32_t)n;
}

/* 12 -1.5e-7 0x7fff; ".." ends a number. */
static void
scan_number(struct cj_reader *r)
{
	r->token = TOKEN_NUMBER;
	r->start = r->p++;
	while (r->p < r->end && (is_digit(*r->p) || is_letter(*r->p) ||
	    (*r->p == '.' && r->end - r->p > 1 && is_digit(r->p[1])) ||
	    ((*r->p == '-' || *r->p == '+') && r->p[-1] == 'e')))
		r->p++;
	r->length = (size_t)(r->p - r->start);
}

static void
scan_text(struct cj_reader *r)
{
	r->token = TOKEN_TEXT;
	r->start = ++r->p;
	while (r->p < r->end && *r->p != '"' && *r->p != '\n')
		r->p += *r->p == '\\' && r->end - r->p > 1 ? 2 : 1;
	r->length = (size_t)(r->p - r->start);
	if (r->p == r->end || *r->p != '"')
		cj_reader_fail(r, "a text is not closed");
	else
		r->p++;
}

void
cj_reader_next(struct cj_reader *r)
{
	r->begins_line = false;
	skip_blanks(r);
	r->start = r->p;
	if (r->p == r->end) {
		r->token = TOKEN_END;
		return;
	}
	switch (*r->p) {
	case '%': scan_number_of(r, TOKEN_VALUE); return;
	case '@': scan_number_of(r, TOKEN_OBJECT); return;
	case '$': scan_number_of(r, TOKEN_FUNCTION); return;
	case '#': scan_number_of(r, TOKEN_REGION); return;
	case '!': scan_number_of(r, TOKEN_PLACE); return;
	case '^': scan_number_of(r, TOKEN_TARGET); return;
	case '"': scan_text(r); return;
	}
	if (is_digit(*r->p) || *r->p == '-') {
		scan_number(r);
	} else if (is_letter(*r->p)) {
		r->token = TOKEN_WORD;
		while (r->p < r->end && (is_letter(*r->p) || is_digit(*r->p) ||
		    (*r->p == '-' && r->end - r->p > 1 && is_letter(r->p[1]))))
			r->p++;
		r->length = (size_t)(r->p - r->start);
	} else if (*r->p == '.' && r->end - r->p > 1 && r->p[1] == '.') {
		r->token = TOKEN_DOTS;
		r->p += 2;
	} else {
		r->token = TOKEN_MARK;
		r->mark = *r->p++;
	}
}

/* ---- pieces -------------------------------------------------------------- */

static bool
is_word(const struct cj_reader *r, const char *word)
{
	return r->token == TOKEN_WORD && r->length == strlen(word) &&
	    memcmp(r->start, word, r->length) == 0;
}

bool
cj_reader_word(struct cj_reader *r, const char *word)
{
	if (!is_word(r, word))
		return false;
	cj_reader_next(r);
	return true;
}

bool
cj_reader_mark(struct cj_reader *r, char mark)
{
	if (r->token != TOKEN_MARK || r->mark != mark)
		return false;
	cj_reader_next(r);
	return true;
}

static void
fail_needed(struct cj_reader *r, const char *what)
{
	if (!r->failed)
		cj_reader_fail(r, cj_printf(r->m->arena, "\"%s\" is needed",
		    what));
}

void
cj_reader_need_word(struct cj_reader *r, const char *word)
{
	if (!cj_reader_word(r, word))
		fail_needed(r, word);
}

void
cj_reader_need_mark(struct cj_reader *r, char mark)
{
	const char what[] = { mark, '\0' };

	if (!cj_reader_mark(r, mark))
		fail_needed(r, what);
}

uint32_t
cj_reader_ref(struct cj_reader *r, enum token token, const char *what)
{
	uint32_t number = r->number;

	assert(token >= TOKEN_VALUE && token <= TOKEN_TARGET);
	if (r->failed || r->token != token) {
		if (!r->failed)
			cj_reader_fail(r, cj_printf(r->m->arena,
			    "%s is needed", what));
		return 0;
	}
	cj_reader_next(r);
	return number;
}

int64_t
cj_reader_int(struct cj_reader *r, int64_t least, int64_t most)
{
	uint64_t bits = 0;

	if (r->token != TOKEN_NUMBER || !cj_num_read(CJ_KIND_INDEX, r->start,
	    r->length, &bits) || (int64_t)bits < least ||
	    (int64_t)bits > most) {
		cj_reader_fail(r, "an integer is needed, or it is too large");
		return 0;
	}
	cj_reader_next(r);
	return (int64_t)bits;
}

static int
hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

const char *
cj_reader_text(struct cj_reader *r)
{
	char *text, *out;
	size_t i;

	if (r->token != TOKEN_TEXT) {
		cj_reader_fail(r, "a text in quotes is needed");
		return "";
	}
	out = text = cj_alloc(r->m->arena, r->length + 1);
	for (i = 0; i < r->length; i++) {
		const char *p = r->start + i;

		if (*p != '\\') {
			*out++ = *p;
			continue;
		}
		i++;
		if (p[1] == 'n') {
			*out++ = '\n';
		} else if (p[1] == 'x' && i + 2 < r->length &&
		    hex_digit(p[2]) >= 0 && hex_digit(p[3]) >= 0) {
			*out++ = (char)(hex_digit(p[2]) * 16 +
			    hex_digit(p[3]));
			i += 2;
		} else {
			*out++ = p[1];
		}
	}
	cj_reader_next(r);
	return text;
}

int
cj_reader_enum(struct cj_reader *r, enum cj_words set)
{
	int e = r->token == TOKEN_WORD ?
	    cj_word_find(set, r->start, r->length) : -1;

	if (e < 0) {
		cj_reader_fail(r, "the word is none of those known here");
		return 0;
	}
	cj_reader_next(r);
	return e;
}

void
cj_reader_dotted(struct cj_reader *r, uint32_t *out, unsigned count)
{
	size_t i = 0;
	unsigned n;

	if (r->token != TOKEN_NUMBER) {
		cj_reader_fail(r, "numbers with points between are needed");
		return;
	}
	for (n = 0; n < count; n++) {
		uint64_t v = 0;

		for (; i < r->length && is_digit(r->start[i]); i++)
			if (v <= UINT32_MAX)
				v = v * 10 + (uint64_t)(r->start[i] - '0');
		if (v > UINT32_MAX)
			v = UINT32_MAX;
		out[n] = (uint32_t)v;
		if (n + 1 < count && (i >= r->length || r->start[i++] != '.'))
			break;
	}
	if (n < count || i != r->length)
		cj_reader_fail(r, "there are too many or too few numbers");
	cj_reader_next(r);
}

enum cj_kind
cj_reader_kind(struct cj_reader *r)
{
	unsigned k;

	for (k = CJ_KIND_VOID + 1; k < CJ_KIND_COUNT; k++)
		if (cj_reader_word(r, cj_kind_text((enum cj_kind)k)))
			return (enum cj_kind)k;
	cj_reader_fail(r, "a type is needed");
	return CJ_KIND_BOOL;
}

cj_type
cj_reader_type(struct cj_reader *r)
{
	enum cj_kind k = cj_reader_kind(r);
	int64_t count = 1;

	if (cj_reader_mark(r, '[')) {
		count = cj_reader_int(r, 1, CJ_MAX_REGISTERS);
		cj_reader_need_mark(r, ']');
	}
	return cj_type_of(k, (uint32_t)count);
}

static uint64_t
read_bits(struct cj_reader *r, enum cj_kind k)
{
	uint64_t bits = 0;

	if ((r->token != TOKEN_NUMBER && r->token != TOKEN_WORD) ||
	    !cj_num_read(k, r->start, r->length, &bits))
		cj_reader_fail(r, "a number of the type is needed");
	cj_reader_next(r);
	return bits;
}

uint64_t *
cj_reader_bits(struct cj_reader *r, enum cj_kind k, uint64_t count)
{
	CJ_VEC(uint64_t) some = { 0 };
	uint64_t *bits, each, i;

	if (cj_reader_mark(r, '{')) {
		do
			*cj_push(r->m->arena, &some) = read_bits(r, k);
		while (cj_reader_mark(r, ','));
		cj_reader_need_mark(r, '}');
		if (some.len != count)
			cj_reader_fail(r, "there are too many or too few "
			    "numbers");
		return some.at;
	}
	each = read_bits(r, k);
	if (count > r->budget)
		cj_reader_fail(r, "the type is too large for this text");
	if (r->failed)
		return NULL;
	r->budget -= count;
	bits = CJ_NEWS(r->m->arena, uint64_t, count);
	for (i = 0; i < count; i++)
		bits[i] = each;
	return bits;
}

uint32_t
cj_reader_object(struct cj_reader *r)
{
	uint32_t object = cj_reader_ref(r, TOKEN_OBJECT, "an object");

	if (!r->failed && object >= r->m->objects.len)
		cj_reader_fail(r, "there is no such object");
	return object;
}

cj_place
cj_reader_place(struct cj_reader *r)
{
	if (r->token != TOKEN_PLACE)
		return 0;
	return cj_reader_ref(r, TOKEN_PLACE, "a place");
}
