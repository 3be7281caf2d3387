/*
 * Arguments: from what the caller has to what elaboration binds, and to the
 * leaves of a host function.
 *
 * Nothing here looks at a contract: patterns are matched by cj_bind, conditions
 * by the host function. What is checked is that the description of a tensor
 * makes sense.
 */
#include "select.h"
#include "testing.h"

enum { MAX_MODES = 64 };

/* ---- element types ------------------------------------------------------- */

/* Codes of DLPack 1.x. */
enum { DL_INT, DL_UINT, DL_FLOAT, DL_BFLOAT = 4, DL_BOOL = 6, DL_E4M3FN = 10,
    DL_E5M2 = 12, DL_E8M0 = 14, DL_E2M3 = 15, DL_E3M2 = 16, DL_E2M1 = 17 };

static const struct {
	uint8_t code, bits;
	enum cj_kind kind;
} kinds[] = {
	{ DL_INT, 8, CJ_KIND_I8 }, { DL_INT, 16, CJ_KIND_I16 },
	{ DL_INT, 32, CJ_KIND_I32 }, { DL_INT, 64, CJ_KIND_I64 },
	{ DL_INT, 4, CJ_KIND_I4 }, { DL_UINT, 4, CJ_KIND_U4 },
	{ DL_UINT, 8, CJ_KIND_U8 }, { DL_UINT, 16, CJ_KIND_U16 },
	{ DL_UINT, 32, CJ_KIND_U32 }, { DL_UINT, 64, CJ_KIND_U64 },
	{ DL_FLOAT, 16, CJ_KIND_F16 }, { DL_FLOAT, 32, CJ_KIND_F32 },
	{ DL_FLOAT, 64, CJ_KIND_F64 }, { DL_BFLOAT, 16, CJ_KIND_BF16 },
	{ DL_BOOL, 8, CJ_KIND_BOOL }, { DL_E4M3FN, 8, CJ_KIND_F8E4M3 },
	{ DL_E5M2, 8, CJ_KIND_F8E5M2 }, { DL_E8M0, 8, CJ_KIND_F8UE8M0 },
	{ DL_E2M3, 6, CJ_KIND_F6E2M3 }, { DL_E3M2, 6, CJ_KIND_F6E3M2 },
	{ DL_E2M1, 4, CJ_KIND_F4E2M1 },
};

/* `packed`: how many elements of the language one of the tensor's holds. */
static enum cj_kind
kind_of(const cutejit_tensor *t, int *packed)
{
	size_t i;

	*packed = 1;
	for (i = 0; i < CJ_LENGTH(kinds); i++) {
		if (kinds[i].code != t->code || kinds[i].bits != t->bits)
			continue;
		if (t->lanes == 2 && t->bits == 4)
			*packed = 2;
		else if (t->lanes != 1)
			break;
		return kinds[i].kind;
	}
	return CJ_KIND_VOID;
}

const char *
cutejit_type_of(const cutejit_tensor *tensor)
{
	enum cj_kind k;
	int packed;

	if (tensor == NULL)
		return NULL;
	k = kind_of(tensor, &packed);
	return k != CJ_KIND_VOID ? cj_kind_text(k) : NULL;
}

static int
set_kind(cutejit_tensor *t, enum cj_kind k)
{
	size_t i;

	if (k == CJ_KIND_TF32)		/* stored as f32 */
		k = CJ_KIND_F32;
	else if (k == CJ_KIND_INDEX)
		k = CJ_KIND_I64;
	for (i = 0; i < CJ_LENGTH(kinds); i++)
		if (kinds[i].kind == k) {
			t->code = kinds[i].code;
			t->bits = kinds[i].bits;
			t->lanes = 1;
			return 1;
		}
	return 0;
}

int
cutejit_type_set(cutejit_tensor *tensor, const char *type)
{
	if (tensor == NULL || type == NULL)
		return 0;
	return set_kind(tensor, cj_kind_find(type));
}

/* ---- tensors ------------------------------------------------------------- */

static bool
refuse(struct cj_work *f, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool
refuse(struct cj_work *f, const char *name, const char *format, ...)
{
	struct cj_strbuf b;
	va_list ap;

	cj_strbuf_init(&b, &f->arena);
	va_start(ap, format);
	cj_strbuf_vprintf(&b, format, ap);
	va_end(ap);
	cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_WRONG_ARGUMENT, "argument \"%s\": %s",
	    name, b.text);
	return false;
}

/* Elements reached by a view; false if they do not fit 62 bits. */
bool
cj_view_reach(struct cj_view *v)
{
	int64_t lo = 0, hi = 0, far;
	uint32_t i;

	for (i = 0; i < v->rank; i++) {
		if (v->extents[i] == 0) {
			v->lo = v->hi = 0;
			return true;
		}
		if (__builtin_mul_overflow(v->extents[i] - 1, v->strides[i],
		    &far)
		    || __builtin_add_overflow(far < 0 ? lo : hi, far,
		    far < 0 ? &lo : &hi))
			return false;
	}
	v->lo = lo;
	v->hi = hi + 1;
	return hi < INT64_MAX / 64 && lo > -INT64_MAX / 64;
}

static bool
read_shape(struct cj_work *f, struct cj_arena *a, const char *name,
    const cutejit_tensor *t, int packed, struct cj_view *v)
{
	int64_t *extents = CJ_NEWS(a, int64_t, v->rank);
	int64_t *strides = CJ_NEWS(a, int64_t, v->rank);
	int64_t compact = 1;
	uint32_t i;

	for (i = v->rank; i-- > 0;) {
		bool last = i == v->rank - 1;

		extents[i] = t->shape[i];
		if (extents[i] < 0)
			return refuse(f, name, "extent %lld of mode %u is "
			    "negative", (long long)extents[i], i);
		if (packed == 2 && last)
			extents[i] *= packed;
		strides[i] = t->strides == NULL ? compact : t->strides[i];
		if (packed == 2 && !last && t->strides != NULL)
			strides[i] *= packed;
		if (__builtin_mul_overflow(compact, extents[i] > 0
		    ? extents[i] : 1, &compact))
			return refuse(f, name, "its extents are too large");
	}
	v->extents = extents;
	v->strides = strides;
	if (!cj_view_reach(v))
		return refuse(f, name, "its extents and strides are too large");
	return true;
}

static bool
read_view(struct cj_work *f, struct cj_arena *a, const char *name,
    const cutejit_tensor *t, struct cj_view *v)
{
	int packed;

	memset(v, 0, sizeof *v);
	if (t == NULL)
		return refuse(f, name, "the tensor is NULL");
	v->kind = kind_of(t, &packed);
	if (v->kind == CJ_KIND_VOID)
		return refuse(f, name, "no type of the language has code %d, "
		    "%d bits, %d lanes", t->code, t->bits, t->lanes);
	if (t->ndim < 0 || t->ndim > MAX_MODES)
		return refuse(f, name, "ndim is %d: a tensor has 0 to %d modes",
		    t->ndim, MAX_MODES);
	if (t->shape == NULL && t->ndim > 0)
		return refuse(f, name, "its shape is NULL, and ndim is %d: "
		    "shape points to as many extents", t->ndim);
	if (t->device_type != CUTEJIT_DL_CPU
	    && t->device_type != CUTEJIT_DL_CUDA
	    && t->device_type != CUTEJIT_DL_CUDA_HOST
	    && t->device_type != CUTEJIT_DL_CUDA_MANAGED)
		return refuse(f, name, "memory of device type %d is neither "
		    "the CPU's nor CUDA's", t->device_type);
	v->rank = (uint32_t)t->ndim;
	v->device_type = t->device_type;
	v->device_id = t->device_id;
	if (!read_shape(f, a, name, t, packed, v))
		return false;
	if (t->data != NULL)
		v->data = (char *)t->data + t->byte_offset;
	else if (v->hi > v->lo)
		return refuse(f, name, "its memory is NULL");
	return true;
}

/* ---- scalars ------------------------------------------------------------- */

static bool
scalar_int(struct cj_work *f, const char *name, enum cj_kind k, int64_t value,
    struct cj_actual *out)
{
	static const struct cj_conversion plain = { .is_default = true };

	out->bits = cj_num_convert(k, CJ_KIND_INDEX, (uint64_t)value, plain);
	if ((cj_kind_is_integer(k) || k == CJ_KIND_BOOL)
	    && cj_num_to_i64(k, out->bits) != value
	    && !(k == CJ_KIND_U64 && value >= 0))
		return refuse(f, name, "%lld is no value of %s",
		    (long long)value, cj_kind_text(k));
	return true;
}

static bool
scalar_float(struct cj_work *f, const char *name, enum cj_kind k,
    double value, struct cj_actual *out)
{
	if (cj_kind_is_float(k)) {
		out->bits = cj_num_from_f64(k, value);
		return true;
	}
	if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)
	    || (double)(int64_t)value != value)
		return refuse(f, name, "%g is no value of %s", value,
		    cj_kind_text(k));
	return scalar_int(f, name, k, (int64_t)value, out);
}

static bool
scalar_text(struct cj_work *f, const char *name, enum cj_kind k,
    const char *text, struct cj_actual *out)
{
	if (k == CJ_KIND_BOOL && (strcmp(text, "true") == 0
	    || strcmp(text, "false") == 0)) {
		out->bits = text[0] == 't';
		return true;
	}
	/* of a float, hexadecimal digits would be its bits */
	if ((cj_kind_is_float(k) && strpbrk(text, "xX") != NULL)
	    || !cj_num_read(k, text, strlen(text), &out->bits))
		return refuse(f, name, "\"%s\" is no value of %s", text,
		    cj_kind_text(k));
	return true;
}

bool
cj_scalar_bits(const cutejit_argument *g, enum cj_kind as, enum cj_kind leaf,
    uint64_t *bits)
{
	static const struct cj_conversion plain = { .is_default = true };
	uint64_t value;

	switch (g->kind) {
	case CUTEJIT_ARG_INT:
		value = (uint64_t)g->value.integer;
		*bits = cj_num_convert(as, CJ_KIND_INDEX, value, plain);
		if ((cj_kind_is_integer(as) || as == CJ_KIND_BOOL)
		    && cj_num_to_i64(as, *bits) != g->value.integer)
			return false;
		break;
	case CUTEJIT_ARG_FLOAT:
		if (!cj_kind_is_float(as))
			return false;
		*bits = cj_num_from_f64(as, g->value.number);
		break;
	case CUTEJIT_ARG_NONE:
	case CUTEJIT_ARG_TENSOR:
	case CUTEJIT_ARG_TENSORS:
	case CUTEJIT_ARG_DLPACK:
	case CUTEJIT_ARG_TEXT:
		return false;
	}
	if (as != leaf)
		*bits = cj_num_convert(leaf, as, *bits, plain);
	return true;
}

/* A scalar whose type a const gives waits in its own widest type. */
static bool
read_scalar(struct cj_work *f, const struct cj_parameter_info *p,
    const cutejit_argument *g, struct cj_actual *out)
{
	enum cj_kind k = p->scalar;

	out->present = true;
	switch (g->kind) {
	case CUTEJIT_ARG_INT:
		out->kind = k != CJ_KIND_VOID ? k : CJ_KIND_INDEX;
		return scalar_int(f, p->name, out->kind, g->value.integer,
		    out);
	case CUTEJIT_ARG_FLOAT:
		out->kind = k != CJ_KIND_VOID ? k : CJ_KIND_F64;
		return scalar_float(f, p->name, out->kind, g->value.number,
		    out);
	case CUTEJIT_ARG_TEXT:
		out->kind = k != CJ_KIND_VOID ? k : CJ_KIND_F64;
		if (g->value.text == NULL)
			return refuse(f, p->name, "its text is NULL");
		return scalar_text(f, p->name, out->kind, g->value.text, out);
	case CUTEJIT_ARG_NONE:
	case CUTEJIT_ARG_TENSOR:
	case CUTEJIT_ARG_TENSORS:
	case CUTEJIT_ARG_DLPACK:
		break;
	}
	return refuse(f, p->name, "needs a number, got a tensor");
}

/* ---- sorting by parameter ------------------------------------------------ */

static void
set_tensor(struct cj_actual *a, const struct cj_view *v)
{
	a->present = true;
	a->is_tensor = true;
	a->kind = v->kind;
	a->rank = v->rank;
	a->extents = v->extents;
	a->strides = v->strides;
	a->count = 1;
}

/* Flags of a DLManagedTensorVersioned. */
enum { DL_READ_ONLY = 1, DL_PADDED = 4, DL_MAJOR = 1 };

static bool
is_understood(struct cj_work *f, const char *name, const cutejit_dlpack *d)
{
	if (d == NULL)
		return refuse(f, name, "the tensor is NULL");
	if (d->major != DL_MAJOR)
		return refuse(f, name, "it is of version %u.%u of DLPack, and "
		    "%d is understood", d->major, d->minor, DL_MAJOR);
	if ((d->flags & DL_PADDED) != 0 && d->tensor.bits < 8)
		return refuse(f, name, "its elements of %d bits take a byte "
		    "each, and have to be packed", d->tensor.bits);
	return true;
}

static bool
read_tensors(struct cj_work *f, const struct cj_parameter_info *p,
    const cutejit_argument *g, struct cj_arguments *out, uint32_t at)
{
	struct cj_view **views = &out->views[at];
	struct cj_actual *a = &out->actuals[at];
	const cutejit_tensor *const *list = g->value.tensors, *one;
	bool is_versioned = g->kind == CUTEJIT_ARG_DLPACK;
	struct cj_actual *more;
	size_t count = 1, i;

	if (is_versioned && !is_understood(f, p->name, g->value.dlpack))
		return false;
	one = is_versioned ? &g->value.dlpack->tensor : g->value.tensor;
	if (g->kind == CUTEJIT_ARG_TENSOR || is_versioned)
		list = &one;
	else if (g->kind == CUTEJIT_ARG_TENSORS)
		count = g->count;
	else
		return refuse(f, p->name, "needs a tensor, got a number");
	if (count == 0 || count > 65535 || list == NULL)
		return refuse(f, p->name, "needs at least one tensor");
	if (count > 1 && !p->is_array)
		return refuse(f, p->name, "needs one tensor, got %zu", count);
	*views = CJ_NEWS(out->arena, struct cj_view, count);
	more = CJ_NEWS(out->arena, struct cj_actual, count);
	for (i = 0; i < count; i++) {
		if (!read_view(f, out->arena, p->name, list[i],
		    &(*views)[i]))
			return false;
		(*views)[i].is_read_only = is_versioned
		    && (g->value.dlpack->flags & DL_READ_ONLY) != 0;
		set_tensor(&more[i], &(*views)[i]);
	}
	*a = more[0];
	a->count = (uint32_t)count;
	a->more = more + 1;
	return true;
}

/* The caller's number, which may be none of ours. */
static bool
is_kind(cutejit_argument_kind kind)
{
	switch (kind) {
	case CUTEJIT_ARG_NONE: case CUTEJIT_ARG_INT: case CUTEJIT_ARG_FLOAT:
	case CUTEJIT_ARG_TENSOR: case CUTEJIT_ARG_TENSORS:
	case CUTEJIT_ARG_DLPACK: case CUTEJIT_ARG_TEXT:
		return true;
	}
	return false;
}

static bool
read_one(struct cj_work *f, const struct cj_parameter_info *p,
    const cutejit_argument *g, struct cj_arguments *out, uint32_t i)
{
	if (!is_kind(g->kind))
		return refuse(f, p->name, "no argument is of kind %d: fill it "
		    "by cutejit_arg_tensor() and its like", (int)g->kind);
	if (g->kind == CUTEJIT_ARG_NONE)
		return true;
	if (p->kind == CJ_PARAMETER_TENSOR)
		return read_tensors(f, p, g, out, i);
	return read_scalar(f, p, g, &out->actuals[i]);
}

/* Position of the parameter that argument `n` is for, or -1 with a message. */
static int64_t
find_parameter(struct cj_work *f, const struct cj_parameter_info **list,
    uint32_t count, const cutejit_argument *g, size_t n)
{
	const char **names;
	const char *near;
	uint32_t i;

	if (g->name == NULL) {
		if (n < count)
			return (int64_t)n;
		cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_UNKNOWN_ARGUMENT,
		    "argument %zu is one too many: the kernel has %u run-time "
		    "parameters", n + 1, count);
		return -1;
	}
	for (i = 0; i < count; i++)
		if (strcmp(list[i]->name, g->name) == 0)
			return i;
	names = CJ_NEWS(&f->arena, const char *, count);
	for (i = 0; i < count; i++)
		names[i] = list[i]->name;
	cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_UNKNOWN_ARGUMENT,
	    "the kernel has no run-time parameter \"%s\"", g->name);
	near = cj_nearest(g->name, names, count);
	if (near != NULL)
		cj_say_help(f, "Did you mean \"%s\"?", near);
	return -1;
}

static bool
all_given(struct cj_work *f, const struct cj_parameter_info **list,
    const bool *seen, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (!seen[i] && !list[i]->has_default)
			return refuse(f, list[i]->name,
			    "it is missing and has no default");
	return true;
}

cutejit_status
cj_arguments_read(struct cj_work *f, const struct cutejit_module *m,
    const struct cj_member_info *member, const cutejit_argument *given,
    size_t count, struct cj_arguments *out)
{
	const struct cj_parameter_info **list;
	bool *seen;
	size_t i;

	out->count = cj_run_parameters(f, m, member, &list);
	out->actuals = CJ_NEWS(out->arena, struct cj_actual, out->count);
	out->views = CJ_NEWS(out->arena, struct cj_view *, out->count);
	out->names = CJ_NEWS(out->arena, const char *, out->count);
	seen = CJ_NEWS(&f->arena, bool, out->count);
	for (i = 0; i < out->count; i++)
		out->names[i] = list[i]->name;
	for (i = 0; i < count; i++) {
		int64_t at = find_parameter(f, list, out->count, &given[i], i);

		if (at < 0 && given[i].name != NULL
		    && cj_is_constant(m, member, given[i].name))
			cj_say_help(f, "It is known at compile time: give it "
			    "as one of the constants.");
		if (at < 0)
			return CUTEJIT_ERROR;
		if (seen[at]) {
			refuse(f, list[at]->name, "it is given twice");
			return CUTEJIT_ERROR;
		}
		seen[at] = given[i].kind != CUTEJIT_ARG_NONE
		    || list[at]->has_default;
		if (!read_one(f, list[at], &given[i], out, (uint32_t)at))
			return CUTEJIT_ERROR;
	}
	return all_given(f, list, seen, out->count) ? CUTEJIT_OK
	    : CUTEJIT_ERROR;
}

/* ---- where it runs ------------------------------------------------------- */

static bool
is_on_gpu(const struct cj_view *v)
{
	return v->device_type == CUTEJIT_DL_CUDA
	    || v->device_type == CUTEJIT_DL_CUDA_MANAGED;
}

static cutejit_status
mixed(struct cj_work *f, const char *name, const char *where,
    const char *first, const char *there)
{
	return cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_WRONG_DEVICE,
	    "argument \"%s\" lies on %s, and \"%s\" on %s", name, where,
	    first, there);
}

static const char *
where_text(struct cj_work *f, const struct cj_view *v)
{
	return is_on_gpu(v) ? cj_printf(&f->arena, "GPU %d", v->device_id)
	    : "the CPU";
}

/*
 * All tensors on one device. Memory of the host that CUDA has pinned goes with
 * either. Without tensors: a GPU if there is one.
 */
cutejit_status
cj_device_of(struct cj_work *f, const struct cj_arguments *args, bool *on_gpu,
    int *ordinal)
{
	const struct cj_view *first = NULL;
	const char *first_name = NULL;
	cutejit_gpu gpu;
	uint32_t i, k;

	for (i = 0; i < args->count; i++) {
		const struct cj_actual *a = &args->actuals[i];

		for (k = 0; a->is_tensor && k < a->count; k++) {
			const struct cj_view *v = &args->views[i][k];

			if (v->device_type == CUTEJIT_DL_CUDA_HOST)
				continue;
			if (first == NULL) {
				first = v;
				first_name = args->names[i];
			} else if (is_on_gpu(v) != is_on_gpu(first)
			    || (is_on_gpu(v)
			    && v->device_id != first->device_id)) {
				return mixed(f, args->names[i],
				    where_text(f, v), first_name,
				    where_text(f, first));
			}
		}
	}
	*on_gpu = first != NULL ? is_on_gpu(first)
	    : cj_gpu_probe(f, 0, &gpu);
	*ordinal = first != NULL ? first->device_id : -1;
	return CUTEJIT_OK;
}

/* ---- leaves -------------------------------------------------------------- */

uint64_t
cj_alignment(const void *data)
{
	uint64_t a = (uint64_t)(uintptr_t)data;

	a &= -a;
	return a == 0 || a > 1024 ? 1024 : a;
}

static uint64_t
tensor_leaf(const struct cj_leaf *leaf, const struct cj_view *v)
{
	assert((leaf->kind == CJ_LEAF_ALIGN || leaf->kind == CJ_LEAF_PRESENT
	    || leaf->mode < v->rank) && "the binding fixed the rank");
	switch (leaf->kind) {
	case CJ_LEAF_EXTENT:
		return (uint64_t)v->extents[leaf->mode];
	case CJ_LEAF_STRIDE:
		return (uint64_t)v->strides[leaf->mode];
	case CJ_LEAF_ALIGN:
		return cj_alignment(v->data);
	case CJ_LEAF_OBJECT:
	case CJ_LEAF_VALUE:
	case CJ_LEAF_SCALAR:
	case CJ_LEAF_PRESENT:
		break;
	}
	return 0;
}

static uint64_t
scalar_leaf(const struct cj_leaf *leaf, const struct cj_actual *a)
{
	static const struct cj_conversion plain = { .is_default = true };
	enum cj_kind k = cj_type_kind(leaf->type);

	return a->kind == k ? a->bits
	    : cj_num_convert(k, a->kind, a->bits, plain);
}

uint64_t *
cj_leaf_values(struct cj_arena *a, const struct cj_module *ir,
    uint32_t function, const struct cj_arguments *args)
{
	const struct cj_function *fn = &ir->functions.at[function];
	uint64_t *values = CJ_NEWS(a, uint64_t, fn->leaves.len);
	uint32_t i;

	for (i = 0; i < fn->leaves.len; i++) {
		const struct cj_leaf *leaf = &fn->leaves.at[i];
		const struct cj_actual *actual;

		if (leaf->kind == CJ_LEAF_OBJECT)
			continue;
		assert(leaf->parameter < args->count);
		actual = &args->actuals[leaf->parameter];
		if (leaf->kind == CJ_LEAF_PRESENT)
			values[i] = actual->present;
		else if (!actual->present)
			values[i] = 0;
		else if (leaf->kind == CJ_LEAF_SCALAR)
			values[i] = scalar_leaf(leaf, actual);
		else if (leaf->member < actual->count)
			values[i] = tensor_leaf(leaf,
			    &args->views[leaf->parameter][leaf->member]);
	}
	return values;
}
