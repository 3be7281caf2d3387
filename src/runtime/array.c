/*
 * Arrays of tools: made by a constructor of the language, read as text.
 */
#include <stdlib.h>

#include "testing.h"

struct cutejit_array {
	struct cj_handle handle;
	struct cutejit_context *context;	/* held */
	cutejit_tensor tensor;
	int64_t extents[64], strides[64];
	void *memory;
};

void
cutejit_array_destroy(cutejit_array *array)
{
	struct cutejit_context *c;

	if (!cj_handle_close(array, CJ_ARRAY))
		return;
	c = array->context;
	cj_give_back(c, array->memory);
	array->tensor.data = NULL;	/* for who has kept the tensor */
	cj_handle_free(c, array);
	cj_context_drop(c);
}

const cutejit_tensor *
cutejit_array_tensor(const cutejit_array *array)
{
	return cj_is(array, CJ_ARRAY) ? &array->tensor : NULL;
}

/* ---- making one ---------------------------------------------------------- */

struct making {
	struct cutejit_module *module;
	const char *text;
	struct cutejit_array *out;
	/* while the constructor runs */
	struct cj_work *work;
	struct cj_blocks blocks;
	bool is_wrong;
};

static bool
set_shape(struct cutejit_array *x, const struct cj_argument *r,
    const struct cj_call_argument *from)
{
	uint32_t i;

	if (r->rank > CJ_LENGTH(x->extents))
		return false;
	for (i = 0; i < r->rank; i++) {
		x->extents[i] = from->extents[i];
		x->strides[i] = from->strides[i];
	}
	x->tensor.ndim = (int32_t)r->rank;
	x->tensor.shape = x->extents;
	x->tensor.strides = x->strides;
	x->tensor.device_type = CUTEJIT_DL_CPU;
	return cutejit_type_set(&x->tensor, cj_kind_text(r->element));
}

/* The array is handed over: its memory changes hands too. */
static bool
take_over(void *user, const struct cj_call *record, cj_place place,
    const struct cj_call_argument *arguments, double bytes, double flops)
{
	struct making *m = user;
	const struct cj_argument *r = &record->argument[0];
	struct cutejit_array *x = m->out;
	struct cj_block *k;

	(void)place;
	(void)bytes;
	(void)flops;
	assert(record->count == 1 && r->kind == CJ_ARGUMENT_TENSOR);
	k = cj_blocks_find(&m->blocks, arguments[0].memory->data);
	if (k == NULL || !set_shape(x, r, &arguments[0])) {
		m->is_wrong = true;
		return false;
	}
	x->memory = k->host;
	k->is_ours = false;
	x->tensor.data = arguments[0].memory->data + (arguments[0].offset
	    * (int64_t)(r->element == CJ_KIND_BOOL ? 8
	    : cj_kind_bits(r->element)) >> 3);
	return true;
}

static void *
allocate(void *user, size_t bytes)
{
	struct making *m = user;

	return cj_blocks_take(&m->blocks, bytes);
}

/* Was memory all that was missing? */
static bool
is_short(const struct cj_diags *ds)
{
	const struct cj_diag *d;

	for (d = ds->first; d != NULL; d = d->next)
		if (d->severity == CJ_ERROR && d->code != CJ_DIAG_MEMORY)
			return false;
	return true;
}

static cutejit_status
run(struct cj_work *f, struct making *m, const struct cj_module *ir)
{
	const struct cj_test_hooks hooks = {
		.user = m, .call = take_over, .allocate = allocate
	};
	struct cj_test_outcome outcome = { 0 };
	struct cj_cpu_run plain = { 0 };
	struct cj_watch *watch = cj_watch_hold(f);
	struct cj_run_options options;

	cj_run_options_set(f, &plain, &options, &watch->stop);
	cj_blocks_begin(f, &m->blocks, NULL);
	cj_interp_test(&f->arena, ir, 1, &options, &hooks, &f->diags,
	    &outcome);
	cj_blocks_end(f, &m->blocks);
	cj_watch_drop(f, watch);
	if (m->is_wrong)
		return cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_WRONG_ARGUMENT,
		    "%s: an array of this type or rank cannot be an argument",
		    m->text);
	if (f->diags.errors == 0 && m->out->memory != NULL)
		return CUTEJIT_OK;
	if (f->diags.errors == 0)
		return cj_fail(f, CUTEJIT_LIMIT, CJ_DIAG_MEMORY,
		    "there is no memory for %s", m->text);
	return is_short(&f->diags) ? CUTEJIT_LIMIT : CUTEJIT_ERROR;
}

static void
destroy(void *array)
{
	cutejit_array_destroy(array);
}

static cutejit_status
make(struct cj_work *f, void *arguments)
{
	struct making *m = arguments;
	struct cj_module *ir;
	cutejit_status status;

	if (m->module == NULL)
		m->module = cj_module_blank(f);
	m->work = f;
	f->module = m->module;
	f->doing = m->text;
	cj_set_warnings(f, &m->module->sources);
	cj_module_enter(f, m->module);
	ir = cj_elab_array(&f->arena, m->module->unit, m->text, &f->diags);
	cj_module_leave(f, m->module);
	if (ir == NULL || f->diags.errors != 0)
		return CUTEJIT_ERROR;
	m->out = cj_take(f->context, sizeof *m->out);
	if (m->out == NULL)
		cj_leave(&f->recover, CJ_WHY_MEMORY,
		    "there is no memory for an array");
	cj_handle_init(m->out, CJ_ARRAY, f->context);
	m->out->context = f->context;
	cj_context_hold(f->context);
	cj_defer(f, destroy, m->out);
	status = run(f, m, ir);
	cj_undefer(f);
	if (status != CUTEJIT_OK)
		destroy(m->out);
	return status;
}

cutejit_status
cutejit_array_create(cutejit_context *context, cutejit_module *module,
    const char *text, cutejit_array **out)
{
	struct making m = { .module = module, .text = text };
	cutejit_status status;

	if (out == NULL)
		return cj_misuse(context, "the place for the result is NULL");
	*out = NULL;
	if (context == NULL || text == NULL)
		return cj_misuse(context, "a text that is needed is NULL");
	if (module != NULL && !cj_is(module, CJ_MODULE))
		return cj_handle_refuse(module);
	if (module != NULL && module->context != context)
		return cj_misuse(context,
		    "the module is one of another context");
	status = cj_enter(context, make, &m);
	if (status == CUTEJIT_OK)
		*out = m.out;
	return status;
}

/* ---- elements ------------------------------------------------------------ */

static uint64_t
element_bits(const char *data, unsigned width, int64_t at)
{
	uint64_t bits = 0;

	if (width >= 8)
		memcpy(&bits, data + at * (int64_t)(width / 8), width / 8);
	else
		bits = (uint64_t)(unsigned char)data[at * width >> 3]
		    >> (at * width & 7) & ((1u << width) - 1);
	return bits;
}

static uint64_t
widen(enum cj_kind k, unsigned width, uint64_t bits)
{
	if (cj_kind_class(k) == CJ_CLASS_SINT && width < 64
	    && (bits >> (width - 1) & 1) != 0)
		bits |= ~UINT64_C(0) << width;
	return bits;
}

static int64_t
offset_of(const cutejit_tensor *t, const int64_t *index)
{
	int64_t at = 0, compact = 1;
	int32_t i;

	for (i = t->ndim; i-- > 0;) {
		at += index[i]
		    * (t->strides != NULL ? t->strides[i] : compact);
		compact *= t->shape[i];
	}
	return at;
}

size_t
cutejit_element_text(const cutejit_tensor *tensor, const int64_t *index,
    char *text, size_t bytes)
{
	const char *type = cutejit_type_of(tensor);
	enum cj_kind k = type != NULL ? cj_kind_find(type) : CJ_KIND_VOID;
	unsigned width;
	struct cj_recover recover = { 0 };
	struct cj_arena arena;
	struct cj_strbuf b;
	size_t length;

	if (bytes != 0)
		text[0] = '\0';
	if (k == CJ_KIND_VOID || tensor->data == NULL
	    || (index == NULL && tensor->ndim > 0))
		return 0;
	width = k == CJ_KIND_BOOL ? 8 : cj_kind_bits(k);
	cj_arena_init(&arena, &recover, NULL);
	if (CJ_RECOVER(&recover)) {
		cj_arena_fini(&arena);
		return 0;
	}
	cj_strbuf_init(&b, &arena);
	cj_num_print(&b, k, widen(k, width, element_bits(
	    (const char *)tensor->data + tensor->byte_offset, width,
	    offset_of(tensor, index))));
	length = b.len;
	if (bytes != 0) {
		size_t n = length < bytes - 1 ? length : bytes - 1;

		memcpy(text, b.text, n);
		text[n] = '\0';
	}
	cj_arena_fini(&arena);
	return length;
}
