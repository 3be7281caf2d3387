/*
 * Classes of problems, and what tells one tuned kernel from another.
 */
#include "tune.h"

#include <stdlib.h>

#include "base/hash.h"

static void
add_span(struct cj_hasher *h, const struct cutejit_module *m,
    struct cj_span span)
{
	const struct cj_source *s = cj_source_get(&m->sources, span.source);

	cj_hasher_add_u64(h, span.end - span.begin);
	cj_hasher_add(h, s->text + span.begin, span.end - span.begin);
}

/* The members of the kernel and all its searches: whoever changes one of them
 * asks for a new search. */
static const char *
make_space(struct cutejit_module *m, const char *kernel)
{
	struct cj_digest digest;
	struct cj_hasher h;
	char text[65];
	uint32_t i;

	cj_hasher_init(&h);
	for (i = 0; i < m->member_count; i++)
		if (strcmp(m->infos[i].kernel, kernel) == 0)
			add_span(&h, m, m->infos[i].node->span);
	for (i = 0; i < m->tune_info_count; i++)
		if (strcmp(m->tune_infos[i].kernel, kernel) == 0)
			add_span(&h, m, m->tune_infos[i].node->span);
	digest = cj_hasher_end(&h);
	cj_digest_text(&digest, text);
	return cj_strndup(&m->arena, text, 16);
}

uint32_t
cj_tune_find(const struct cutejit_module *m, const char *kernel)
{
	uint32_t i;

	for (i = 0; i < m->tune_count; i++)
		if (strcmp(m->tunes[i].kernel, kernel) == 0)
			break;
	return i;
}

void
cj_tunes_list(struct cutejit_module *m)
{
	uint32_t i, k;

	m->tune_info_count = cj_unit_tunes(m->unit, &m->tune_infos);
	m->tunes = CJ_NEWS(&m->arena, cutejit_tune, m->tune_info_count);
	m->spaces = CJ_NEWS(&m->arena, const char *, m->tune_info_count);
	for (i = 0; i < m->tune_info_count; i++) {
		const struct cj_tune_info *t = &m->tune_infos[i];
		const char *names = cj_tune_names(&m->arena, m->unit, t);

		k = cj_tune_find(m, t->kernel);
		if (k < m->tune_count) {
			m->tunes[k].parameters = cj_printf(&m->arena,
			    "%s; %s", m->tunes[k].parameters, names);
			continue;
		}
		m->tune_count++;
		m->own_tune_count += !t->is_imported;
		m->tunes[k].kernel = t->kernel;
		m->tunes[k].parameters = names;
		m->spaces[k] = make_space(m, t->kernel);
		cj_place_of(&m->tunes[k].place, &m->sources, t->span);
	}
}

bool
cj_is_tuned(const struct cutejit_module *m, const char *kernel)
{
	return cj_tune_find(m, kernel) < m->tune_count;
}

const char *
cj_tune_space(const struct cutejit_module *m, const char *kernel)
{
	uint32_t i = cj_tune_find(m, kernel);

	return i < m->tune_count ? m->spaces[i] : "";
}

/* ---- the class of a call ------------------------------------------------- */

/* A power of two that is not less; 0 stays. */
static uint64_t
round_up(int64_t extent)
{
	uint64_t n = 1;

	if (extent <= 0)
		return 0;
	while (n < (uint64_t)extent)
		n *= 2;
	return n;
}

static void
put_tensor(struct cj_strbuf *b, const struct cj_actual *a)
{
	uint32_t i;

	cj_strbuf_puts(b, cj_kind_text(a->kind));
	for (i = 0; i < a->rank; i++)
		cj_strbuf_printf(b, "%c%llu", i == 0 ? '(' : ',',
		    (unsigned long long)round_up(a->extents[i]));
	if (a->rank != 0)
		cj_strbuf_putc(b, ')');
	for (i = 0; i < a->rank; i++)
		if (a->strides[i] == 1 && a->extents[i] != 1) {
			cj_strbuf_printf(b, "/%u", i);
			break;
		}
	if (a->count > 1)
		cj_strbuf_printf(b, "x%llu",
		    (unsigned long long)round_up(a->count));
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct cj_const_argument *)a)->name,
	    ((const struct cj_const_argument *)b)->name);
}

/* Blanks do not matter, and tabs end a field. */
static const char *
without_blanks(struct cj_arena *a, const char *text, size_t length)
{
	char *out = cj_strndup(a, text, length), *to = out;
	const char *from;

	for (from = out; *from != '\0'; from++)
		if (*from != ' ' && *from != '\t' && *from != '\n')
			*to++ = *from;
	*to = '\0';
	return out;
}

static const struct cj_node_param *
find_parameter(struct cutejit_module *m, const struct cj_member_info *member,
    const char *name)
{
	const struct cj_list *all = &member->node->kernel.params;
	uint32_t i;

	for (i = 0; i < all->count; i++)
		if (strcmp(cj_name_text(&m->names,
		    all->at[i]->param.name.name), name) == 0)
			return &all->at[i]->param;
	return NULL;
}

/* Is it written as each member that has the parameter has it by itself? */
static bool
is_own_value(struct cj_arena *a, struct cutejit_module *m, const char *kernel,
    const char *name, const char *text)
{
	bool found = false;
	uint32_t i;

	for (i = 0; i < m->member_count; i++) {
		const struct cj_node_param *p = strcmp(m->infos[i].kernel,
		    kernel) != 0 ? NULL : find_parameter(m, &m->infos[i],
		    name);
		struct cj_span at;

		if (p == NULL)
			continue;
		if (p->init == NULL)
			return false;
		at = p->init->span;
		if (strcmp(without_blanks(a, cj_source_get(&m->sources,
		    at.source)->text + at.begin, at.end - at.begin), text)
		    != 0)
			return false;
		found = true;
	}
	return found;
}

static void
put_const(struct cj_work *f, struct cutejit_module *m, struct cj_strbuf *b,
    const char *kernel, const struct cj_const_argument *c)
{
	const char *text;
	bool is_own;

	cj_module_enter(f, m);
	text = c->text != NULL ? c->text
	    : cj_const_text(&f->arena, m->unit, c);
	text = without_blanks(&f->arena, text, strlen(text));
	is_own = is_own_value(&f->arena, m, kernel, c->name, text);
	cj_module_leave(f, m);
	if (!is_own)
		cj_strbuf_printf(b, "%s=%s ", c->name, text);
}

const char *
cj_tune_problem(struct cj_work *f, struct cutejit_module *m,
    const char *kernel, const struct cj_const_argument *consts, uint32_t count,
    const struct cj_arguments *args)
{
	struct cj_const_argument *sorted = cj_memdup(&f->arena, consts,
	    count * sizeof *consts);
	struct cj_strbuf b;
	uint32_t i;
	bool first = true;

	cj_strbuf_init(&b, &f->arena);
	if (count > 1)
		qsort(sorted, count, sizeof *sorted, by_name);
	for (i = 0; i < count; i++)
		put_const(f, m, &b, kernel, &sorted[i]);
	for (i = 0; i < args->count; i++) {
		const struct cj_actual *a = &args->actuals[i];

		if (!a->present || !a->is_tensor)
			continue;
		cj_strbuf_printf(&b, "%s%s=", first ? "" : " ",
		    args->names[i]);
		put_tensor(&b, a);
		first = false;
	}
	return b.text;
}
