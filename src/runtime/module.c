/*
 * Modules: a text with all it imports, and what can be asked of it.
 *
 * Elaboration writes into the names and the sources of a module, so it has one
 * lock, and while a call holds it the module's arena leaves by that call.
 */
#include <errno.h>
#include <string.h>

#include "quick.h"
#include "tune.h"

enum { NAMES_SHOWN = 8 };	/* of kernels, where one is unknown */

void
cj_module_hold(struct cutejit_module *m)
{
	atomic_fetch_add(&m->references, 1);
}

static void
release(struct cutejit_module *m)
{
	struct cutejit_context *c = m->context;
	bool holds = !m->is_blank;

	cj_quick_fini(c, &m->quick);
	cj_table_fini(c, &m->programs);
	cj_report_fini(&m->report);
	if (m->names.arena != NULL)
		cj_names_fini(&m->names);
	cj_arena_fini(&m->arena);
	pthread_mutex_destroy(&m->lock);
	cj_handle_free(c, m);
	if (holds)
		cj_context_drop(c);
}

void
cj_module_drop(struct cutejit_module *m)
{
	int before = atomic_fetch_sub(&m->references, 1);

	assert(before > 0 && "a reference was held");
	if (before == 1)
		release(m);
}

void
cutejit_module_destroy(cutejit_module *module)
{
	if (cj_handle_close(module, CJ_MODULE))
		cj_module_drop(module);
}

void
cj_module_enter(struct cj_work *f, struct cutejit_module *m)
{
	cj_defer_lock(f, &m->lock);
	m->arena.recover = &f->recover;
}

void
cj_module_leave(struct cj_work *f, struct cutejit_module *m)
{
	m->arena.recover = NULL;
	cj_undefer_lock(f);
}

const struct cj_sources *
cj_sources_now(const struct cutejit_module *m, struct cj_arena *a)
{
	struct cj_sources *now = CJ_NEW(a, struct cj_sources);

	cj_sources_copy(now, a, &m->sources);
	return now;
}

/* ---- loading ------------------------------------------------------------- */

static void
list_parameters(struct cutejit_module *m, uint32_t i)
{
	const struct cj_parameter_info *from;
	cutejit_parameter *to;
	uint32_t count, k;

	count = cj_member_parameters(&m->arena, m->unit, &m->infos[i], &from);
	to = CJ_NEWS(&m->arena, cutejit_parameter, count);
	for (k = 0; k < count; k++) {
		static const cutejit_parameter_kind kinds[] = {
			[CJ_PARAMETER_CONST] = CUTEJIT_PARAMETER_CONST,
			[CJ_PARAMETER_TENSOR] = CUTEJIT_PARAMETER_TENSOR,
			[CJ_PARAMETER_SCALAR] = CUTEJIT_PARAMETER_SCALAR,
		};

		to[k].name = from[k].name;
		to[k].kind = kinds[from[k].kind];
		to[k].type = from[k].type != NULL ? from[k].type : "";
		to[k].scalar = from[k].kind == CJ_PARAMETER_SCALAR
		    && from[k].scalar != CJ_KIND_VOID
		    ? cj_kind_text(from[k].scalar) : "";
		to[k].is_array = from[k].is_array;
		to[k].has_default = from[k].has_default;
		to[k].values = from[k].values;
		to[k].value_count = from[k].value_count;
	}
	m->parameters[i] = from;
	m->parameter_counts[i] = count;
	m->members[i].parameters = to;
	m->members[i].parameter_count = count;
}

static void
list_members(struct cutejit_module *m)
{
	uint32_t i;

	m->member_count = cj_unit_members(m->unit, &m->infos);
	m->members = CJ_NEWS(&m->arena, cutejit_member, m->member_count);
	m->parameters = CJ_NEWS(&m->arena, const struct cj_parameter_info *,
	    m->member_count);
	m->parameter_counts = CJ_NEWS(&m->arena, uint32_t, m->member_count);
	for (i = 0; i < m->member_count; i++) {
		m->own_count += !m->infos[i].is_imported;
		m->members[i].kernel = m->infos[i].kernel;
		m->members[i].member = m->infos[i].member;
		cj_place_of(&m->members[i].place, &m->sources,
		    m->infos[i].span);
		list_parameters(m, i);
	}
}

static void
list_tests(struct cutejit_module *m)
{
	uint32_t i;

	m->test_count = cj_unit_tests(m->unit, &m->test_infos);
	m->tests = CJ_NEWS(&m->arena, cutejit_test, m->test_count);
	for (i = 0; i < m->test_count; i++) {
		m->tests[i].name = m->test_infos[i].name;
		m->tests[i].is_bench = m->test_infos[i].is_bench;
		cj_place_of(&m->tests[i].place, &m->sources,
		    m->test_infos[i].span);
	}
}

/* Texts of the library itself are known by the build. */
static bool
is_own_text(const char *name)
{
	return strncmp(name, "cute/", 5) == 0 || name[0] == '<';
}

static void
list_files(struct cutejit_module *m)
{
	const uint32_t *sources;
	uint32_t count = cj_unit_sources(m->unit, &sources), i;
	struct cj_hasher h;

	m->files = CJ_NEWS(&m->arena, const char *, count);
	cj_hasher_init(&h);
	for (i = 0; i < count; i++) {
		const struct cj_source *s =
		    cj_source_get(&m->sources, sources[i]);

		if (sources[i] == cj_unit_prelude(m->unit))
			continue;	/* as known as the build is */
		cj_hasher_add_u64(&h, s->length);
		cj_hasher_add(&h, s->text, s->length);
		if (!is_own_text(s->name))
			m->files[m->file_count++] = s->name;
	}
	m->digest = cj_hasher_end(&h);
}

static struct cutejit_module *
allocate(struct cj_work *f)
{
	struct cutejit_context *c = f->context;
	struct cutejit_module *m = cj_take(c, sizeof *m);

	if (m == NULL)
		cj_leave(&f->recover, CJ_WHY_MEMORY,
		    "there is no memory for a module");
	cj_handle_init(m, CJ_MODULE, c);
	atomic_init(&m->references, 1);
	m->context = c;
	cj_context_hold(c);
	pthread_mutex_init(&m->lock, NULL);
	pthread_mutex_init(&m->programs.lock, NULL);
	pthread_mutex_init(&m->quick.lock, NULL);
	cj_arena_init(&m->arena, &f->recover, &c->mem);
	cj_report_init(&m->report, &c->mem);
	return m;
}

static void
drop(void *module)
{
	cj_module_drop(module);
}

/* Parse and list. Messages name texts of the module, so that the work holds it
 * until they are printed, whatever the way out. */
static bool
load(struct cj_work *f, struct cutejit_module *m, const char *name,
    const char *text, size_t length)
{
	struct cj_importing im = { .f = f, .arena = &m->arena };
	struct cj_unit_text unit = {
		.prelude = m->context->prelude,
		.names = &m->names,
		.sources = &m->sources,
		.import = cj_import_find,
		.user = &im
	};

	cj_unit_begin(&unit, &m->arena);
	unit.source = cj_source_add(&m->sources, name, text, length);
	if (unit.source == 0) {
		cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_LIMIT,
		    "%s: a text may have %u bytes, not %zu", name,
		    CJ_SOURCE_MAX, length);
		return false;
	}
	assert(f->reads == NULL && "a call reads one text");
	cj_module_hold(m);
	f->module = f->reads = m;
	cj_set_warnings(f, &m->sources);
	cj_import_begin(&im, name);
	m->unit = cj_unit_load(&m->arena, &unit, &f->diags);
	if (f->diags.errors != 0)
		return false;
	list_files(m);
	list_members(m);
	list_tests(m);
	cj_tunes_list(m);
	return true;
}

static cutejit_status
load_text(struct cj_work *f, const char *name, const char *text,
    size_t length, struct cutejit_module **out)
{
	struct cutejit_module *m = allocate(f);
	bool done;

	cj_defer(f, drop, m);
	done = load(f, m, name, text, length);
	cj_report_fill(&m->report, &f->diags, NULL);
	m->arena.recover = NULL;
	cj_undefer(f);
	if (!done) {
		cj_module_drop(m);
		return CUTEJIT_ERROR;
	}
	*out = m;
	return CUTEJIT_OK;
}

struct from {
	const char *name, *text;
	size_t length;
	struct cutejit_module *out;
};

static cutejit_status
from_memory(struct cj_work *f, void *arguments)
{
	struct from *a = arguments;

	f->doing = "reading a text";
	return load_text(f, a->name, a->text, a->length, &a->out);
}

/* The table beside the file of a search, looked at once for all of the file. */
static void
read_table(struct cj_work *f, struct cutejit_module *m, uint32_t i)
{
	const char *path = m->tunes[i].place.file;
	uint32_t k = 0;

	while (strcmp(m->tunes[k].place.file, path) != 0)
		k++;
	if (k < i) {
		m->shipped[i] = m->shipped[k];
		return;
	}
	m->shipped[i] = cj_tune_read_shipped(&m->arena, path);
	if (m->shipped[i] != NULL)
		cj_tune_check_shipped(f, m, path, m->shipped[i]);
}

/*
 * What came along with the file of each search; imports that a function of the
 * caller's found are no files. Nobody else has the module yet.
 */
static void
read_tables(struct cj_work *f, struct from *a)
{
	struct cutejit_module *m = a->out;
	uint32_t count = f->context->options.import == NULL ? m->tune_count
	    : m->own_tune_count, i;

	a->out = NULL;
	m->arena.recover = &f->recover;
	cj_defer(f, drop, m);
	m->shipped = CJ_NEWS(&m->arena, const char *, m->tune_count);
	for (i = 0; i < count; i++)
		if (i < m->own_tune_count || !is_own_text(m->tunes[i].place
		    .file))
			read_table(f, m, i);
	cj_undefer(f);
	m->arena.recover = NULL;
	a->out = m;
}

static cutejit_status
from_file(struct cj_work *f, void *arguments)
{
	struct from *a = arguments;
	cutejit_status status;

	a->text = cj_read_file(&f->arena, a->name, &a->length);
	if (a->text == NULL)
		return cj_fail(f, CUTEJIT_MISSING, CJ_DIAG_MISSING_FILE,
		    "%s cannot be read: %s", a->name, strerror(errno));
	status = from_memory(f, arguments);
	if (status == CUTEJIT_OK && a->out->tune_count != 0)
		read_tables(f, a);
	return status;
}

cutejit_status
cutejit_module_from_file(cutejit_context *context, const char *path,
    cutejit_module **out)
{
	struct from a = { .name = path };
	cutejit_status status;

	if (out == NULL)
		return cj_misuse(context, "the place for the result is NULL");
	*out = NULL;
	if (context == NULL || path == NULL)
		return cj_misuse(context, "a text that is needed is NULL");
	status = cj_enter(context, from_file, &a);
	*out = a.out;
	return status;
}

cutejit_status
cutejit_module_from_memory(cutejit_context *context, const char *name,
    const char *text, size_t length, cutejit_module **out)
{
	struct from a = { name, text, length, NULL };
	cutejit_status status;

	if (out == NULL)
		return cj_misuse(context, "the place for the result is NULL");
	*out = NULL;
	if (context == NULL || name == NULL || (text == NULL && length != 0))
		return cj_misuse(context, "a text that is needed is NULL");
	if (text == NULL)
		a.text = "";
	status = cj_enter(context, from_memory, &a);
	*out = a.out;
	return status;
}

/* Made once; it belongs to the context, so it holds no reference of it. */
struct cutejit_module *
cj_module_blank(struct cj_work *f)
{
	struct cutejit_context *c = f->context;
	struct cutejit_module *m = NULL;
	bool have;

	pthread_mutex_lock(&c->lock);
	have = c->blank != NULL;
	pthread_mutex_unlock(&c->lock);
	if (!have && load_text(f, "<expression>", "", 0, &m) != CUTEJIT_OK)
		cj_fault(f, "the standard library does not load");
	cj_defer_lock(f, &c->lock);
	if (m != NULL && c->blank == NULL) {
		m->is_blank = true;
		c->blank = m;
		m = NULL;
	}
	cj_undefer_lock(f);
	if (m != NULL)
		cj_module_drop(m);
	else if (!have)
		atomic_fetch_sub(&c->references, 1);
	return c->blank;
}

/* ---- what is in it ------------------------------------------------------- */

const cutejit_report *
cutejit_module_report(const cutejit_module *module)
{
	return cj_is(module, CJ_MODULE) ? &module->report : NULL;
}

const char *
cutejit_module_file(const cutejit_module *module, size_t i)
{
	return cj_is(module, CJ_MODULE) && i < module->file_count ?
	    module->files[i] : NULL;
}

const cutejit_member *
cutejit_module_member(const cutejit_module *module, size_t i)
{
	return cj_is(module, CJ_MODULE) && i < module->own_count
	    ? &module->members[i] : NULL;
}

const cutejit_member *
cutejit_module_imported(const cutejit_module *module, size_t i)
{
	return cj_is(module, CJ_MODULE)
	    && i < module->member_count - module->own_count
	    ? &module->members[module->own_count + i] : NULL;
}

const cutejit_test *
cutejit_module_test(const cutejit_module *module, size_t i)
{
	return cj_is(module, CJ_MODULE) && i < module->test_count ?
	    &module->tests[i] : NULL;
}

const cutejit_tune *
cutejit_module_tune(const cutejit_module *module, size_t i)
{
	return cj_is(module, CJ_MODULE) && i < module->own_tune_count ?
	    &module->tunes[i] : NULL;
}

/* "relu, gemm", each family once, and not too many. */
static const char *
kernel_names(struct cj_work *f, const struct cutejit_module *m)
{
	struct cj_strbuf out;
	uint32_t i, shown = 0;

	cj_strbuf_init(&out, &f->arena);
	for (i = 0; i < m->member_count && shown <= NAMES_SHOWN; i++) {
		if (m->infos[i].member != 0)
			continue;
		cj_strbuf_printf(&out, "%s%s", shown == 0 ? "" : ", ",
		    shown < NAMES_SHOWN ? m->infos[i].kernel : "...");
		shown++;
	}
	return out.text;
}

static void
say_unknown(struct cj_work *f, const struct cutejit_module *m,
    const char *kernel)
{
	const char **names = CJ_NEWS(&f->arena, const char *, m->member_count);
	const char *near, *first, *second;
	uint32_t i;

	if (cj_unit_clash(m->unit, kernel, &first, &second)) {
		cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_UNKNOWN_KERNEL,
		    "the kernel \"%s\" is declared in \"%s\" and in \"%s\"",
		    kernel, first, second);
		cj_say_help(f, "Give one of the imports a name, import "
		    "\"...\" as other; and say other.%s.", kernel);
		return;
	}
	for (i = 0; i < m->member_count; i++)
		names[i] = m->infos[i].kernel;
	cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_UNKNOWN_KERNEL,
	    "there is no kernel \"%s\"", kernel);
	near = cj_nearest(kernel, names, m->member_count);
	if (near != NULL)
		cj_say_help(f, "Did you mean \"%s\"?", near);
	else if (m->member_count != 0)
		cj_say_help(f, "There are: %s.", kernel_names(f, m));
}

/* Members of a family stand in order, but not always side by side. */
const struct cj_member_info *
cj_module_family(struct cj_work *f, const struct cutejit_module *m,
    const char *kernel, uint32_t *count)
{
	struct cj_member_info *family;
	uint32_t i;

	family = CJ_NEWS(&f->arena, struct cj_member_info, m->member_count);
	*count = 0;
	for (i = 0; i < m->member_count; i++)
		if (strcmp(m->infos[i].kernel, kernel) == 0)
			family[(*count)++] = m->infos[i];
	if (*count != 0)
		return family;
	say_unknown(f, m, kernel);
	return NULL;
}

static uint32_t
number_of(const struct cutejit_module *m, const struct cj_member_info *member)
{
	uint32_t i;

	for (i = 0; i < m->member_count; i++)
		if (m->infos[i].node == member->node)
			break;
	assert(i < m->member_count && "a member of this module");
	return i;
}

bool
cj_is_constant(const struct cutejit_module *m,
    const struct cj_member_info *member, const char *name)
{
	uint32_t i = number_of(m, member), k;

	for (k = 0; k < m->parameter_counts[i]; k++)
		if (m->parameters[i][k].kind == CJ_PARAMETER_CONST
		    && strcmp(m->parameters[i][k].name, name) == 0)
			return true;
	return false;
}

uint32_t
cj_run_parameters(struct cj_work *f, const struct cutejit_module *m,
    const struct cj_member_info *member,
    const struct cj_parameter_info ***out)
{
	const struct cj_parameter_info **list;
	uint32_t i = number_of(m, member), k, count = 0;

	list = CJ_NEWS(&f->arena, const struct cj_parameter_info *,
	    m->parameter_counts[i]);
	for (k = 0; k < m->parameter_counts[i]; k++)
		if (m->parameters[i][k].kind != CJ_PARAMETER_CONST)
			list[count++] = &m->parameters[i][k];
	*out = list;
	return count;
}
