/*
 * Programs: the table of a module's, and how one is written to an entry of the
 * cache and read back.
 */
#include <stdlib.h>

#include "assemble.h"
#include "cache.h"
#include "device.h"
#include "program.h"

/* ---- life ---------------------------------------------------------------- */

static struct cj_program *
create(struct cutejit_context *c, const struct cj_digest *d)
{
	struct cj_program *p = cj_take(c, sizeof *p);

	if (p == NULL)
		return NULL;
	atomic_init(&p->references, 1);
	atomic_init(&p->stage, CJ_STAGE_NONE);
	p->context = c;
	p->recipe = *d;
	p->assembler = p->binding = p->kernel = "";
	pthread_mutex_init(&p->lock, NULL);
	cj_arena_init(&p->arena, NULL, &c->mem);
	cj_report_init(&p->report, &c->mem);
	cj_report_init(&p->whole, &c->mem);
	atomic_init(&p->has_whole, false);
	return p;
}

void
cj_program_hold(struct cj_program *p)
{
	atomic_fetch_add(&p->references, 1);
}

void
cj_program_drop(struct cj_program *p)
{
	int before = atomic_fetch_sub(&p->references, 1);
	struct cutejit_context *c = p->context;

	assert(before > 0 && "a reference was held");
	if (before != 1)
		return;
	cj_image_unload(p->image);
	cj_report_fini(&p->whole);
	cj_report_fini(&p->report);
	cj_arena_fini(&p->arena);
	pthread_mutex_destroy(&p->lock);
	cj_give_back(c, p);
}

struct cj_program *
cj_program_create(struct cutejit_context *c, const struct cj_digest *d)
{
	return create(c, d);
}

/* ---- the table ----------------------------------------------------------- */

static uint32_t
slot_of(const struct cj_program_table *t, const struct cj_digest *d)
{
	uint32_t i, hash;

	memcpy(&hash, d->byte, sizeof hash);
	for (i = hash & (t->cap - 1); t->slots[i] != NULL;
	    i = (i + 1) & (t->cap - 1))
		if (memcmp(&t->slots[i]->recipe, d, sizeof *d) == 0)
			break;
	return i;
}

static bool
grow(struct cutejit_context *c, struct cj_program_table *t)
{
	struct cj_program_table bigger = { .cap = t->cap ? 2 * t->cap : 16 };
	uint32_t i;

	bigger.slots = cj_take(c, bigger.cap * sizeof *bigger.slots);
	if (bigger.slots == NULL)
		return false;
	for (i = 0; i < t->cap; i++)
		if (t->slots[i] != NULL)
			bigger.slots[slot_of(&bigger, &t->slots[i]->recipe)] =
			    t->slots[i];
	cj_give_back(c, t->slots);
	t->slots = bigger.slots;
	t->cap = bigger.cap;
	return true;
}

static struct cj_program *
get_locked(struct cutejit_context *c, struct cj_program_table *t,
    const struct cj_digest *d)
{
	uint32_t i;

	if (2 * (t->count + 1) > t->cap && !grow(c, t))
		return NULL;
	i = slot_of(t, d);
	if (t->slots[i] == NULL) {
		t->slots[i] = create(c, d);
		if (t->slots[i] == NULL)
			return NULL;
		t->count++;
	}
	cj_program_hold(t->slots[i]);
	return t->slots[i];
}

struct cj_program *
cj_table_get(struct cutejit_context *c, struct cj_program_table *t,
    const struct cj_digest *d)
{
	struct cj_program *p;

	pthread_mutex_lock(&t->lock);
	p = get_locked(c, t, d);
	pthread_mutex_unlock(&t->lock);
	return p;
}

void
cj_table_fini(struct cutejit_context *c, struct cj_program_table *t)
{
	uint32_t i;

	for (i = 0; i < t->cap; i++)
		if (t->slots[i] != NULL)
			cj_program_drop(t->slots[i]);
	cj_give_back(c, t->slots);
	pthread_mutex_destroy(&t->lock);
	memset(t, 0, sizeof *t);
}

/* ---- entries of the cache ------------------------------------------------ */

static const char *
entries_text(struct cj_work *f, const struct cj_program *p, size_t *length)
{
	struct cj_strbuf b;
	uint32_t i;

	cj_strbuf_init(&b, &f->arena);
	for (i = 0; i < p->entry_count; i++) {
		const cutejit_entry *e = atomic_load(&p->entries) + i;

		cj_strbuf_printf(&b, "%u %lld %d %d %d %d %d %s\n",
		    p->functions[i], (long long)p->dynamic[i], e->registers,
		    e->spill_bytes, e->stack_bytes, e->shared_bytes,
		    e->constant_bytes, e->name);
	}
	*length = b.len;
	return b.text;
}

static void
set_section(struct cj_record *r, enum cj_section s, const char *bytes,
    size_t length)
{
	r->section[s].bytes = bytes;
	r->section[s].length = length;
}

static void
set_text(struct cj_record *r, enum cj_section s, const char *text)
{
	set_section(r, s, text, strlen(text));
}

/* Once per call: while the assembler works, if it does. */
struct cj_strbuf
cj_program_write_ir(struct cj_work *f, const struct cj_program *p)
{
	struct cj_strbuf ir;

	if (f->ahead != NULL && f->ahead->ir.len != 0)
		return f->ahead->ir;
	cj_strbuf_init(&ir, &f->arena);
	cj_module_print(&ir, p->ir);
	if (f->ahead != NULL)
		f->ahead->ir = ir;
	return ir;
}

void
cj_program_write(struct cj_work *f, const struct cj_program *p,
    struct cj_record *r)
{
	struct cj_strbuf ir = cj_program_write_ir(f, p);
	const char *text;
	size_t length;

	memset(r, 0, sizeof *r);
	text = entries_text(f, p, &length);
	set_text(r, CJ_SECTION_KERNEL, p->kernel);
	set_text(r, CJ_SECTION_BINDING, p->binding);
	set_text(r, CJ_SECTION_TARGET, p->target->name);
	set_text(r, CJ_SECTION_ASSEMBLER, p->assembler);
	set_text(r, CJ_SECTION_PRODUCT, cutejit_build());
	set_section(r, CJ_SECTION_ENTRIES, text, length);
	set_section(r, CJ_SECTION_IR, ir.text, ir.len);
	set_section(r, CJ_SECTION_PTX, p->ptx, p->ptx_length);
	set_section(r, CJ_SECTION_CUBIN, p->cubin, p->cubin_length);
	set_text(r, CJ_SECTION_ADVICE, p->advice != NULL ? p->advice : "");
}

/* One line of entries_text; the text behind it, or NULL. */
static const char *
read_line(struct cj_program *p, const char *line, uint32_t i)
{
	cutejit_entry *e = &p->entries[i];
	const char *end = strchr(line, '\n');
	long long dynamic;
	int skip = 0;

	if (end == NULL || sscanf(line, "%u %lld %d %d %d %d %d %n",
	    &p->functions[i], &dynamic, &e->registers, &e->spill_bytes,
	    &e->stack_bytes, &e->shared_bytes, &e->constant_bytes, &skip) != 7
	    || skip == 0 || line + skip > end)
		return NULL;
	p->dynamic[i] = dynamic;
	e->name = cj_strndup(&p->arena, line + skip,
	    (size_t)(end - line - skip));
	return end + 1;
}

static bool
read_entries(struct cj_program *p, const char *text)
{
	const char *at;
	uint32_t i, count = 0;

	for (at = text; *at != '\0'; at++)
		count += *at == '\n';
	p->entry_count = count;
	p->entries = CJ_NEWS(&p->arena, cutejit_entry, count);
	p->functions = CJ_NEWS(&p->arena, uint32_t, count);
	p->dynamic = CJ_NEWS(&p->arena, int64_t, count);
	for (i = 0, at = text; i < count && at != NULL; i++)
		at = read_line(p, at, i);
	return at != NULL;
}

static bool
read_ir(struct cj_work *f, struct cutejit_module *m, struct cj_program *p,
    const struct cj_record *r)
{
	struct cj_strbuf error;

	if (p->ir != NULL)
		return true;
	cj_strbuf_init(&error, &f->arena);
	p->ir = cj_module_read(&p->arena, r->section[CJ_SECTION_IR].bytes,
	    r->section[CJ_SECTION_IR].length, &error);
	if (p->ir == NULL) {
		cj_log(f->context, CUTEJIT_LOG_WARNING,
		    "cache: IR does not read back: %s", error.text);
		return false;
	}
	cj_module_enter(f, m);
	p->ir->sources = cj_sources_now(m, &p->arena);
	cj_module_leave(f, m);
	return true;
}

bool
cj_program_read(struct cj_work *f, struct cutejit_module *m,
    struct cj_program *p, const struct cj_record *r)
{
	if (!read_ir(f, m, p, r)
	    || !read_entries(p, r->section[CJ_SECTION_ENTRIES].bytes))
		return false;
	p->ptx = r->section[CJ_SECTION_PTX].bytes;
	p->ptx_length = r->section[CJ_SECTION_PTX].length;
	p->cubin_length = r->section[CJ_SECTION_CUBIN].length;
	p->cubin = p->cubin_length != 0 ? r->section[CJ_SECTION_CUBIN].bytes
	    : NULL;
	p->assembler = r->section[CJ_SECTION_ASSEMBLER].bytes;
	p->advice = r->section[CJ_SECTION_ADVICE].bytes;
	return true;
}
