/*
 * Launches in the driver's form: extents checked, parameters in their slots.
 *
 * What may change between two runs of the same plan is kept apart, as patches:
 * addresses of tensors, scalars that the host function only hands on, and
 * places in the workspace. So a run with other addresses copies the slots and
 * patches them, and nothing is computed again.
 */
#include "device.h"

/* ---- launches ------------------------------------------------------------ */

static const struct {
	const char *name;
	int64_t limit[3];
} grid_limits = { "grid", { INT32_MAX, CJ_MAX_GRID_YZ, CJ_MAX_GRID_YZ } },
  block_limits = { "block", { CJ_MAX_BLOCK_THREADS, CJ_MAX_BLOCK_THREADS,
    CJ_MAX_BLOCK_Z } };

static bool
set_extents(struct cj_work *f, const struct cj_program *p, const char *what,
    const int64_t *limit, const int64_t *from, uint32_t *to)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (from[i] < 1 || from[i] > limit[i]) {
			cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_LIMIT, "%s: extent "
			    "%d of the %s is %lld, and may be 1 to %lld",
			    p->kernel, i, what, (long long)from[i],
			    (long long)limit[i]);
			return false;
		}
		to[i] = (uint32_t)from[i];
	}
	return true;
}

static struct cj_cuda_attribute *
add_attribute(struct cj_shot *s, int id)
{
	struct cj_cuda_attribute *a = &s->attributes[s->config.count++];

	a->id = id;
	return a;
}

static void
set_attributes(struct cj_shot *s, const struct cj_plan_step *step)
{
	if (step->cooperative)
		add_attribute(s, CJ_CUDA_COOPERATIVE)->value.value = 1;
	if (step->dependent)
		add_attribute(s, CJ_CUDA_PROGRAMMATIC)->value.value = 1;
	if (step->cluster[0] * step->cluster[1] * step->cluster[2] > 1) {
		struct cj_cuda_attribute *a =
		    add_attribute(s, CJ_CUDA_CLUSTER);

		a->value.extents.x = (unsigned)step->cluster[0];
		a->value.extents.y = (unsigned)step->cluster[1];
		a->value.extents.z = (unsigned)step->cluster[2];
	}
	if (s->config.count == 0)
		return;
	memcpy(s->config.grid, s->grid, sizeof s->grid);
	memcpy(s->config.block, s->block, sizeof s->block);
	s->config.shared_bytes = s->shared_bytes;
	s->config.attributes = s->attributes;
}

/* ---- scalars that are only handed on ------------------------------------- */

/* Operands of a launch in front of its values: grid, block, cluster. */
enum { CJ_EXTENT_OPERANDS = 9, CJ_HOST = 1 };

/* The host leaf that an operand is, -1: it is computed. */
static int64_t
leaf_of(const struct cj_module *ir, cj_ref r)
{
	const struct cj_inst *i = cj_inst(ir, r);

	return i->op == CJ_OP_PARAM ? (int64_t)i->attr : -1;
}

/* Whatever but a value of a launch looks at a leaf pins it. */
static void
pin_operands(const struct cj_module *ir, const struct cj_inst *i, bool *pinned)
{
	unsigned n = 0, end = i->operand_count;

	if (i->op == CJ_OP_LAUNCH)
		end = CJ_EXTENT_OPERANDS;
	for (; n < end; n++) {
		int64_t leaf = leaf_of(ir, cj_operand(ir, i, n));

		if (leaf >= 0)
			pinned[leaf] = true;
	}
}

bool *
cj_pinned_leaves(struct cj_arena *a, const struct cj_module *ir)
{
	const struct cj_function *host = &ir->functions.at[CJ_HOST];
	bool *pinned = CJ_NEWS(a, bool, host->leaves.len);
	struct cj_walk w;

	for (w = cj_walk_begin(ir, host->body); cj_walk_next(&w);)
		if (w.event == CJ_WALK_INST)
			pin_operands(ir, cj_inst(ir, w.ref), pinned);
	return pinned;
}

/* The one launch of a device function; 0: there are several. */
static cj_ref
launch_of(const struct cj_module *ir, uint32_t function)
{
	struct cj_walk w = cj_walk_begin(ir, ir->functions.at[CJ_HOST].body);
	const struct cj_inst *i;
	cj_ref found = 0;

	while ((i = cj_walk_inst(&w)) != NULL) {
		if (i->op != CJ_OP_LAUNCH
		    || ir->launches.at[i->attr].function != function)
			continue;
		if (found != 0)
			return 0;
		found = w.ref;
	}
	return found;
}

/* ---- packing ------------------------------------------------------------- */

struct packing {
	struct cj_work *work;
	struct cj_arena *arena;
	const struct cj_program *program;
	const struct cj_arguments *args;
	const bool *pinned;		/* by host leaf */
	const uint64_t *workspace;	/* offset by object */
	struct cj_shots *out;
	uint32_t patch_cap;
	cutejit_status status;		/* of a map that there is none */
};

static struct cj_patch *
add_patch(struct packing *k, enum cj_patch_kind kind, uint32_t slot)
{
	struct cj_patch *p = &k->out->patches[k->out->patch_count++];

	assert(k->out->patch_count <= k->patch_cap && "a patch per slot");
	p->kind = kind;
	p->slot = slot;
	return p;
}

static void
pack_address(struct packing *k, uint32_t object, uint32_t slot)
{
	const struct cj_object *o = &k->program->ir->objects.at[object];
	const struct cj_actual *actual;
	struct cj_patch *p;

	if (o->kind != CJ_OBJECT_TENSOR) {
		p = add_patch(k, CJ_PATCH_WORKSPACE, slot);
		p->offset = k->workspace[object];
		p->restored = o->restored;
		return;
	}
	actual = &k->args->actuals[o->parameter];
	if (!actual->present || o->member >= actual->count)
		return;
	p = add_patch(k, CJ_PATCH_ADDRESS, slot);
	p->parameter = o->parameter;
	p->member = o->member;
	k->out->slots[slot] = (uint64_t)(uintptr_t)
	    k->args->views[o->parameter][o->member].data;
}

static void
pack_value(struct packing *k, cj_ref launch, uint32_t n, uint32_t slot)
{
	const struct cj_module *ir = k->program->ir;
	const struct cj_leaf *leaf;
	struct cj_patch *p;
	int64_t at;

	if (launch == 0)
		return;
	at = leaf_of(ir, cj_operand(ir, cj_inst(ir, launch),
	    CJ_EXTENT_OPERANDS + n));
	if (at < 0 || k->pinned[at])
		return;
	leaf = &ir->functions.at[CJ_HOST].leaves.at[at];
	if (leaf->kind != CJ_LEAF_SCALAR
	    || !k->args->actuals[leaf->parameter].present)
		return;
	p = add_patch(k, CJ_PATCH_SCALAR, slot);
	p->parameter = leaf->parameter;
	p->scalar = cj_type_kind(leaf->type);
}

/* The driver's number for elements. Their bits are copied as they are, but for
 * tf32, to which copies round the f32 that may lie there; what combines reads
 * them as such numbers. Signs count where they are compared; sums and bits of
 * signed ones of 64 bits are illegal instructions (GH100). */
static int
map_type(enum cj_kind k, bool compares)
{
	switch ((unsigned)k) {
	case CJ_KIND_I32: return compares ? 3 : 2;
	case CJ_KIND_I64: return compares ? 5 : 4;
	case CJ_KIND_F16: return 6;
	case CJ_KIND_F32: return 7;
	case CJ_KIND_F64: return 8;
	case CJ_KIND_BF16: return 9;
	case CJ_KIND_TF32: return 11;
	}
	switch (cj_kind_bits(k)) {
	case 16: return 1;
	case 32: return 2;
	case 64: return 4;
	}
	return 0;
}

/* The driver wants extents of at least 1, and a right stride of modes that need
 * none. */
static int
encode(const struct cj_cuda *cu, const struct cj_tensor_map *t,
    enum cj_kind k, char *data, struct cj_encoded_map *out)
{
	uint64_t extents[CJ_MAP_MODES], strides[CJ_MAP_MODES], bytes =
	    cj_kind_bits(k) / 8;
	uint32_t steps[CJ_MAP_MODES], box[CJ_MAP_MODES], i;
	bool is_empty = false;
	int promotion = 0;

	for (i = 0; i < t->map->rank; i++)
		is_empty |= t->extent[i] == 0;
	for (i = 0; i < t->map->rank; i++) {
		extents[i] = is_empty ? 1 : (uint64_t)t->extent[i];
		strides[i] = is_empty || t->extent[i] <= 1 ? 16 :
		    (uint64_t)t->stride[i] * bytes;
		steps[i] = (uint32_t)t->map->step[i];
		/* of rows by number one is told; a box counts what it goes
		 * over */
		box[i] = t->map->kind == CJ_MAP_ROWS && i == 1 ? 1
		    : t->map->box[i] * steps[i];
	}
	while (t->map->promote >> promotion >= 64)	/* 0, 64, 128, 256 */
		promotion++;
	if (t->map->kind == CJ_MAP_PIXELS)
		return cu->TensorMapEncodeIm2col(out,
		    map_type(k, t->map->compares),
		    t->map->rank, data + t->offset * (int64_t)bytes, extents,
		    strides + 1, t->map->lower, t->map->upper,
		    t->map->box[0], t->map->box[1], steps, 0,
		    (int)t->map->swizzle, promotion, t->map->fills_nan);
	return cu->TensorMapEncodeTiled(out,
	    map_type(k, t->map->compares), t->map->rank,
	    data + t->offset * (int64_t)bytes, extents, strides + 1,
	    box, steps, 0, (int)t->map->swizzle, promotion,
	    t->map->fills_nan);
}

/* false: reported. */
static bool
pack_map(struct packing *k, uint64_t bits, uint32_t slot)
{
	const struct cj_tensor_map *t =
	    (const struct cj_tensor_map *)(uintptr_t)bits;
	const struct cj_object *o =
	    &k->program->ir->objects.at[t->map->object];
	struct cj_mapped *m = &k->out->mapped[k->out->map_count];
	struct cj_encoded_map *map = &k->out->maps[k->out->map_count++];
	const struct cj_cuda *cu;
	int rc;

	assert(o->kind == CJ_OBJECT_TENSOR && "maps are of arguments");
	k->out->params[slot] = map;
	*m = (struct cj_mapped){ slot, o->parameter, o->member, t->offset *
	    (int64_t)(cj_kind_bits(o->element) / 8), 0 };
	m->address = (uintptr_t)k->args->views[o->parameter][o->member].data +
	    (uintptr_t)m->offset;
	k->status = cj_gpu_driver(k->work, &cu);
	if (k->status != CUTEJIT_OK)
		return false;
	rc = encode(cu, t, o->element,
	    k->args->views[o->parameter][o->member].data, map);
	if (rc == 0)
		return true;
	k->status = cj_gpu_fail(k->work, cu, rc, cj_printf(&k->work->arena,
	    "%s: no tensor map of \"%s\"", k->program->kernel, o->name));
	return false;
}

/* One parameter per register; the driver takes as many low bytes of a slot as
 * the parameter has. */
static bool
pack_params(struct packing *k, const struct cj_plan_step *step,
    struct cj_shot *s)
{
	const struct cj_module *ir = k->program->ir;
	const struct cj_function *fn = &ir->functions.at[step->function];
	const uint64_t *bits = step->values;
	cj_ref launch = launch_of(ir, step->function);
	uint32_t slot = k->out->slot_count, values = 0, i, r;

	s->first = slot;
	for (i = 0; i < fn->leaves.len; i++) {
		const struct cj_leaf *leaf = &fn->leaves.at[i];

		if (leaf->kind == CJ_LEAF_OBJECT) {
			pack_address(k, leaf->object, slot++);
			continue;
		}
		if (cj_type_kind(leaf->type) == CJ_KIND_MAP) {
			values++;
			if (!pack_map(k, *bits++, slot++))
				return false;
			continue;
		}
		pack_value(k, launch, values++, slot);
		for (r = 0; r < cj_type_count(leaf->type); r++)
			k->out->slots[slot++] = *bits++;
	}
	k->out->slot_count = slot;
	return true;
}

static uint32_t
entry_of(const struct cj_program *p, uint32_t function)
{
	uint32_t i;

	for (i = 0; i < p->entry_count; i++)
		if (p->functions[i] == function)
			break;
	assert(i < p->entry_count && "every device function is an entry");
	return i;
}

/* More blocks in a cluster than every chip has must be asked for. */
static bool
allow_cluster(struct packing *k, const struct cj_plan_step *step,
    void *kernel)
{
	enum { PORTABLE = 8 };
	int64_t blocks = step->cluster[0] * step->cluster[1] *
	    step->cluster[2];
	const char *why = NULL;
	const struct cj_cuda *cu;
	bool some = false;
	int device, d;

	if (blocks <= PORTABLE)
		return true;
	cu = cj_cuda_open(&why);
	for (d = 0; cu != NULL && d < cu->devices; d++)
		some |= cu->DeviceGet(&device, d) == CJ_CUDA_OK &&
		    cu->KernelSetAttribute(CJ_CUDA_WIDE_CLUSTER, 1, kernel,
		    device) == CJ_CUDA_OK;
	if (some)
		return true;
	cj_fail(k->work, CUTEJIT_ERROR, CJ_DIAG_LIMIT, "%s: this device "
	    "has no clusters of %lld blocks", k->program->kernel,
	    (long long)blocks);
	return false;
}

static bool
make_shot(struct packing *k, const struct cj_plan_step *step)
{
	const struct cj_program *p = k->program;
	struct cj_shot *s = &k->out->at[k->out->count];
	uint32_t entry = entry_of(p, step->function);
	int64_t threads = step->block[0] * step->block[1] * step->block[2];

	if (step->grid[0] <= 0 || step->grid[1] <= 0 || step->grid[2] <= 0)
		return true;
	if (!set_extents(k->work, p, grid_limits.name, grid_limits.limit,
	    step->grid, s->grid)
	    || !set_extents(k->work, p, block_limits.name,
	    block_limits.limit, step->block, s->block))
		return false;
	if (threads > CJ_MAX_BLOCK_THREADS) {
		cj_fail(k->work, CUTEJIT_ERROR, CJ_DIAG_LIMIT, "%s: a block "
		    "has %lld threads, and may have %d", p->kernel,
		    (long long)threads, CJ_MAX_BLOCK_THREADS);
		return false;
	}
	s->function = p->image->kernels[entry];
	if (!allow_cluster(k, step, s->function))
		return false;
	s->shared_bytes = (uint32_t)p->image->dynamic[entry];
	if (!pack_params(k, step, s))
		return false;
	set_attributes(s, step);
	k->out->count++;
	return true;
}

static void
place_workspace(struct packing *k, const struct cj_plan_step *step,
    uint64_t *table, uint64_t next[2])
{
	const struct cj_object *o =
	    &k->program->ir->objects.at[step->object];
	uint64_t *at = &next[o->restored];

	table[step->object] = *at;
	if (step->has_fill && step->elements > 0) {
		struct cj_filled *fill = &k->out->fills[k->out->fill_count++];

		fill->slot = CJ_NO_SLOT;
		fill->restored = o->restored;
		fill->offset = *at;
		fill->elements = step->elements;
		fill->stride = 1;
		fill->kind = o->element;
		fill->fill = step->fill;
		fill->before = k->out->count;
	}
	*at += cj_workspace_bytes(k->program->ir, step);
}

/* The address has a slot, so that it may change as those of launches do. */
static void
place_fill(struct packing *k, const struct cj_plan_step *step)
{
	const struct cj_object *o =
	    &k->program->ir->objects.at[step->object];
	struct cj_filled *fill = &k->out->fills[k->out->fill_count++];
	unsigned bits = o->element == CJ_KIND_BOOL ? 8 :
	    cj_kind_bits(o->element);

	fill->slot = k->out->slot_count++;
	pack_address(k, step->object, fill->slot);
	fill->offset = (uint64_t)step->offset * (bits / 8);
	fill->elements = step->elements;
	fill->stride = step->stride;
	fill->kind = o->element;
	fill->fill = step->fill;
	fill->before = k->out->count;
}

static uint32_t
count_slots(const struct cj_module *ir, const struct cj_plan *plan)
{
	uint32_t i, k, n = 0;

	for (i = 0; i < plan->steps.len; i++) {
		const struct cj_function *fn;

		n += plan->steps.at[i].kind == CJ_STEP_FILL;
		if (plan->steps.at[i].kind != CJ_STEP_LAUNCH)
			continue;
		fn = &ir->functions.at[plan->steps.at[i].function];
		for (k = 0; k < fn->leaves.len; k++)
			n += cj_type_count(fn->leaves.at[k].type);
	}
	return n;
}

/* The arena knows of no such alignment. */
static struct cj_encoded_map *
aligned_maps(struct cj_arena *a, uint32_t count)
{
	char *at = cj_alloc(a, ((size_t)count + 1) *
	    sizeof(struct cj_encoded_map));

	at += -(uintptr_t)at & (_Alignof(struct cj_encoded_map) - 1);
	return (void *)at;
}

/* Nobody reads a workspace behind the last launch. */
static void
drop_unread(struct cj_shots *s)
{
	uint32_t i, n = 0;

	for (i = 0; i < s->fill_count; i++)
		if (s->fills[i].slot != CJ_NO_SLOT
		    || s->fills[i].before < s->count)
			s->fills[n++] = s->fills[i];
	s->fill_count = n;
}

cutejit_status
cj_shots_make(struct cj_work *f, struct cj_arena *a,
    const struct cj_program *p, const struct cj_arguments *args,
    const struct cj_plan *plan, struct cj_shots *out)
{
	uint64_t *table = CJ_NEWS(&f->arena, uint64_t, p->ir->objects.len);
	struct packing k = { f, a, p, args, NULL, table, out, 0, CUTEJIT_OK };
	uint64_t next[2] = { 0, 0 };	/* those that are restored apart */
	uint32_t i;

	memset(out, 0, sizeof *out);
	k.pinned = cj_pinned_leaves(&f->arena, p->ir);
	k.patch_cap = count_slots(p->ir, plan);
	out->at = CJ_NEWS(a, struct cj_shot, plan->steps.len);
	out->fills = CJ_NEWS(a, struct cj_filled, plan->steps.len);
	out->slots = CJ_NEWS(a, uint64_t, k.patch_cap);
	out->params = CJ_NEWS(a, void *, k.patch_cap);
	out->patches = CJ_NEWS(a, struct cj_patch, k.patch_cap);
	out->workspace_bytes = plan->workspace_bytes;
	out->maps = aligned_maps(a, k.patch_cap);
	out->mapped = CJ_NEWS(a, struct cj_mapped, k.patch_cap);
	for (i = 0; i < k.patch_cap; i++)
		out->params[i] = &out->slots[i];
	for (i = 0; i < plan->steps.len; i++) {
		const struct cj_plan_step *step = &plan->steps.at[i];

		if (step->kind == CJ_STEP_WORKSPACE)
			place_workspace(&k, step, table, next);
		else if (step->kind == CJ_STEP_FILL)
			place_fill(&k, step);
		else if (!make_shot(&k, step))
			return k.status != CUTEJIT_OK ? k.status :
			    CUTEJIT_ERROR;
	}
	out->restored_bytes = next[1];
	drop_unread(out);
	return CUTEJIT_OK;
}

static void
place(struct cj_shots *s, bool restored, uint64_t address)
{
	uint32_t i;

	for (i = 0; i < s->patch_count; i++)
		if (s->patches[i].kind == CJ_PATCH_WORKSPACE
		    && s->patches[i].restored == restored)
			s->slots[s->patches[i].slot] = address
			    + s->patches[i].offset;
}

void
cj_shots_place(struct cj_shots *s, uint64_t workspace)
{
	s->workspace = workspace;
	place(s, false, workspace);
	cj_shots_place_restored(s, workspace + s->workspace_bytes
	    - s->restored_bytes);
}

void
cj_shots_place_restored(struct cj_shots *s, uint64_t restored)
{
	s->restored = restored;
	place(s, true, restored);
}

/* ---- firing -------------------------------------------------------------- */

/*
 * A fill as the driver sets memory: rows of elements of 1, 2 or 4 bytes. Words
 * of 8 bytes are two columns of 4; elements apart are rows of one.
 */
uint32_t
cj_fill_memsets(const struct cj_shots *s, const struct cj_filled *w,
    struct cj_cuda_memset_node out[2])
{
	unsigned bits = w->kind == CJ_KIND_BOOL ? 8 : cj_kind_bits(w->kind);
	uint64_t base = w->slot != CJ_NO_SLOT ? s->slots[w->slot] :
	    w->restored ? s->restored : s->workspace;
	struct cj_cuda_memset_node m = { .to = base + w->offset,
	    .value = (unsigned)w->fill, .height = 1,
	    .width = (size_t)w->elements, .element_bytes = bits / 8 };

	assert((bits == 4 || bits == 8 || bits == 16 || bits == 32
	    || bits == 64 || (bits == 6 && w->fill == 0)) &&
	    "what the driver can set");
	assert((w->stride == 1 || bits >= 8) && "elements lie at bytes");
	if (bits == 6) {
		m.width = (m.width * 6 + 7) / 8;
		m.element_bytes = 1;
	}
	if (bits == 4) {
		m.value = (unsigned)(w->fill & 15) * 17;
		m.width = (m.width + 1) / 2;
		m.element_bytes = 1;
	}
	if (bits == 64)
		m.element_bytes = 4;
	if (bits == 64 && w->stride == 1 &&
	    (uint32_t)w->fill == w->fill >> 32) {
		m.width *= 2;
	} else if (w->stride != 1 || bits == 64) {
		m.pitch = (size_t)w->stride * (bits / 8);
		m.height = m.width;
		m.width = 1;
	}
	out[0] = out[1] = m;
	out[1].to += 4;
	out[1].value = (unsigned)(w->fill >> 32);
	return bits == 64 && m.pitch != 0 ? 2 : 1;
}

uint32_t
cj_fills_before(const struct cj_shots *s, uint32_t first, uint32_t shot)
{
	uint32_t w = first;

	while (w < s->fill_count && s->fills[w].before <= shot)
		w++;
	return w - first;
}

static int
set_memory(const struct cj_cuda *cu, const struct cj_cuda_memset_node *m,
    void *stream)
{
	switch (m->element_bytes + (m->pitch != 0 ? 8 : 0)) {
	case 8 + 1:
		return cu->MemsetD2D8Async(m->to, m->pitch,
		    (unsigned char)m->value, m->width, m->height, stream);
	case 8 + 2:
		return cu->MemsetD2D16Async(m->to, m->pitch,
		    (unsigned short)m->value, m->width, m->height, stream);
	case 8 + 4:
		return cu->MemsetD2D32Async(m->to, m->pitch, m->value,
		    m->width, m->height, stream);
	case 1:
		return cu->MemsetD8Async(m->to, (unsigned char)m->value,
		    m->width, stream);
	case 2:
		return cu->MemsetD16Async(m->to, (unsigned short)m->value,
		    m->width, stream);
	default:
		return cu->MemsetD32Async(m->to, m->value, m->width, stream);
	}
}

/* Fills number `first` to `end` - 1. */
static int
fill_memory(const struct cj_cuda *cu, const struct cj_shots *s,
    bool is_filled, uint32_t first, uint32_t end, void *stream)
{
	struct cj_cuda_memset_node m[2];
	uint32_t count, i;
	int rc = 0;

	for (; first < end; first++) {
		if (is_filled && s->fills[first].restored)
			continue;
		count = cj_fill_memsets(s, &s->fills[first], m);
		for (i = 0; i < count && rc == 0; i++)
			rc = set_memory(cu, &m[i], stream);
	}
	return rc;
}

static int
fire(const struct cj_cuda *cu, const struct cj_shot *s, void **params,
    void *stream)
{
	struct cj_cuda_config config;

	if (s->config.count == 0)
		return cu->LaunchKernel(s->function, s->grid[0], s->grid[1],
		    s->grid[2], s->block[0], s->block[1], s->block[2],
		    s->shared_bytes, stream, params, NULL);
	config = s->config;
	config.stream = stream;
	return cu->LaunchKernelEx(&config, s->function, params, NULL);
}

int
cj_shots_fire(const struct cj_cuda *cu, const struct cj_shots *s,
    bool is_filled, void *stream)
{
	uint32_t i, n, w = 0;
	int rc = 0;

	for (i = 0; i <= s->count && rc == 0; i++) {
		n = cj_fills_before(s, w, i);
		rc = fill_memory(cu, s, is_filled, w, w + n, stream);
		w += n;
		if (rc == 0 && i < s->count)
			rc = fire(cu, &s->at[i], s->params + s->at[i].first,
			    stream);
	}
	return rc;
}
