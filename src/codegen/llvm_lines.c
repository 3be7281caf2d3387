/*
 * The line table as PTX has it. LLVM prints no trail of inlined calls but in
 * the comment behind `.loc`:
 *
 *	.loc	2 31 2		// 1.17:31:2 @[ 1.0:6:9 ]
 *
 * a place in source 1, in what the call at place 17 became, which stands at
 * 6:9 of the kernel. PTX ISA 7.2 names the function and where it was inlined:
 *
 *	.loc	1 6 9
 *	.loc	1 31 2, function_name $L__info_string0, inlined_at 1 6 9
 *
 * The outer place comes first, for ptxas looks back for it. Directives without
 * a line (LLVM's, for what it merged) are dropped: what stands there keeps the
 * line before it.
 */
#include "llvm_gen.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEEPEST = CJ_MAX_INLINE + 1 };

struct level {
	unsigned source, call, line, column;
};

struct lines {
	struct cj_llvm_gen *g;
	struct cj_strbuf out;
	CJ_VEC(const char *) names;	/* of functions, as they were called */
	uint32_t file_count;
	uint32_t *files;		/* by source: its number, 0: not yet */
	uint32_t *name_of;		/* by place of a call, plus one */
	struct level last[DEEPEST];
	unsigned last_depth;
};

/* ---- reading ------------------------------------------------------------- */

static bool
number(const char **p, const char *end, char behind, unsigned *out)
{
	const char *s = *p;
	unsigned long v = 0;

	while (s < end && *s >= '0' && *s <= '9' && v < UINT32_MAX)
		v = v * 10 + (unsigned)(*s++ - '0');
	if (s == *p || (behind != '\0' && (s == end || *s != behind)))
		return false;
	*out = (unsigned)v;
	*p = s + (behind != '\0');
	return true;
}

/* The innermost first; 0: not what we wrote. */
static unsigned
read_levels(const char *p, const char *end, struct level *at)
{
	unsigned n = 0;

	while (n < DEEPEST) {
		struct level *l = &at[n];

		if (!number(&p, end, '.', &l->source) ||
		    !number(&p, end, ':', &l->call) ||
		    !number(&p, end, ':', &l->line) ||
		    !number(&p, end, '\0', &l->column))
			return 0;
		n++;
		if (end - p < 4 || memcmp(p, " @[ ", 4) != 0)
			return n;
		p += 4;
	}
	return 0;
}

/* ---- names --------------------------------------------------------------- */

static uint32_t
file_number(struct lines *l, uint32_t source)
{
	if (l->files[source] == 0)
		l->files[source] = ++l->file_count;
	return l->files[source];
}

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	    (c >= '0' && c <= '9');
}

/* The word in front of the call's parenthesis. */
static const char *
name_called(struct cj_llvm_gen *g, cj_place call)
{
	struct cj_span span = g->m->places.at[call].span;
	const char *text = cj_source_get(g->m->sources, span.source)->text;
	uint32_t end = span.begin, begin;

	while (end < span.end && text[end] != '(')
		end++;
	while (end > span.begin && !is_word(text[end - 1]))
		end--;
	for (begin = end; begin > span.begin && is_word(text[begin - 1]);)
		begin--;
	return begin == end ? "function" : cj_strndup(g->arena, text + begin,
	    end - begin);
}

static uint32_t
name_number(struct lines *l, cj_place call)
{
	const char *name;
	uint32_t i;

	if (l->name_of[call] != 0)
		return l->name_of[call] - 1;
	name = name_called(l->g, call);
	for (i = 0; i < l->names.len; i++)
		if (strcmp(l->names.at[i], name) == 0)
			break;
	if (i == l->names.len)
		*cj_push(l->g->arena, &l->names) = name;
	l->name_of[call] = i + 1;
	return i;
}

/* ---- writing ------------------------------------------------------------- */

static void
write_level(struct lines *l, const struct level *at, const struct level *up)
{
	cj_strbuf_printf(&l->out, "\t.loc\t%u %u %u", file_number(l,
	    at->source), at->line, at->column);
	if (up != NULL)
		cj_strbuf_printf(&l->out, ", function_name $L__info_string%u, "
		    "inlined_at %u %u %u", name_number(l, at->call),
		    file_number(l, up->source), up->line, up->column);
	cj_strbuf_putc(&l->out, '\n');
}

/* What is the same from the outside on was said by the last one. */
static unsigned
common(const struct lines *l, const struct level *at, unsigned depth)
{
	unsigned n = 0;

	while (n < depth && n < l->last_depth && memcmp(&at[depth - 1 - n],
	    &l->last[l->last_depth - 1 - n], sizeof *at) == 0)
		n++;
	return n;
}

static void
write_place(struct lines *l, const struct level *at, unsigned depth)
{
	unsigned known = common(l, at, depth), n;

	if (known == depth && depth == l->last_depth)
		return;
	if (known == depth)
		known--;
	for (n = depth - known; n-- > 0;)
		write_level(l, &at[n], n + 1 < depth ? &at[n + 1] : NULL);
	memcpy(l->last, at, depth * sizeof *at);
	l->last_depth = depth;
}

static bool
are_ours(const struct lines *l, const struct level *at, unsigned depth)
{
	unsigned n;

	for (n = 0; n < depth; n++)
		if (at[n].line == 0 || at[n].source == 0 || at[n].source >=
		    l->g->m->sources->all.len || at[n].call >=
		    l->g->m->places.len || (at[n].call == 0) !=
		    (n + 1 == depth))
			return false;
	return depth > 0;
}

static void
write_loc(struct lines *l, const char *p, const char *end)
{
	static const char mark[] = "// ";
	struct level at[DEEPEST];
	unsigned depth;

	while (p < end && memcmp(p, mark, 3) != 0)
		p++;
	depth = p < end ? read_levels(p + 3, end, at) : 0;
	if (are_ours(l, at, depth))
		write_place(l, at, depth);
}

/* PTX has no way to write some characters of a file's name, and ptxas takes
 * ASCII alone: each byte of others is a "_", too. */
static void
write_file(struct lines *l, uint32_t number, const char *name)
{
	cj_strbuf_printf(&l->out, "\t.file\t%u \"", number);
	for (; *name != '\0'; name++)
		cj_strbuf_putc(&l->out, *name == '"' || *name == '\\' ||
		    (unsigned char)*name < ' ' ||
		    (unsigned char)*name >= 0x7f ? '_' : *name);
	cj_strbuf_puts(&l->out, "\"\n");
}

static void
write_files(struct lines *l)
{
	const struct cj_sources *s = l->g->m->sources;
	uint32_t number, i;

	for (number = 1; number <= l->file_count; number++)
		for (i = 1; i < s->all.len; i++)
			if (l->files[i] == number)
				write_file(l, number,
				    cj_source_get(s, i)->name);
}

static void
write_names(struct lines *l)
{
	const char *c;
	uint32_t i;

	if (l->names.len == 0)
		return;
	cj_strbuf_puts(&l->out, "\t.section\t.debug_str\n\t{\n");
	for (i = 0; i < l->names.len; i++) {
		cj_strbuf_printf(&l->out, "$L__info_string%u:\n.b8 ", i);
		for (c = l->names.at[i]; *c != '\0'; c++)
			cj_strbuf_printf(&l->out, "%u,", (unsigned char)*c);
		cj_strbuf_puts(&l->out, "0\n");
	}
	cj_strbuf_puts(&l->out, "\t}\n");
}

/* ---- all of a text ------------------------------------------------------- */

static bool
begins(const char *line, const char *end, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(end - line) >= n && memcmp(line, with, n) == 0;
}

char *
cj_llvm_lines(struct cj_llvm_gen *g, const char *ptx, size_t length,
    size_t *new_length)
{
	struct lines l = { .g = g };
	const char *p = ptx, *all = ptx + length, *end;

	cj_strbuf_init(&l.out, g->arena);
	l.files = CJ_NEWS(g->arena, uint32_t, g->m->sources == NULL ? 1 :
	    g->m->sources->all.len);
	l.name_of = CJ_NEWS(g->arena, uint32_t, g->m->places.len + 1);
	for (; p < all; p = end) {
		end = memchr(p, '\n', (size_t)(all - p));
		end = end == NULL ? all : end + 1;
		if (begins(p, end, "\t.file\t"))
			continue;
		if (!begins(p, end, "\t.loc\t"))
			cj_strbuf_write(&l.out, p, (size_t)(end - p));
		else if (g->m->sources != NULL)
			write_loc(&l, p, end);
		if (begins(p, end, "$L__func_begin"))
			l.last_depth = 0;
	}
	write_files(&l);
	write_names(&l);
	*new_length = l.out.len;
	return l.out.text;
}
