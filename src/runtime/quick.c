/*
 * Calls like one before: from a signature to a launch that was checked.
 *
 *	call -> signature -> entry -> slots with these addresses -> driver
 *
 * The signature is everything that choosing, contracts and plans depend on: the
 * kernel, the options, the context, how often a search has found something, and
 * of each argument its name, kind, type, shape, strides, device and alignment.
 * What is left of a call, addresses and scalars that the host function only
 * hands on, goes into slots, and addresses into copies of tensor maps. Scalars
 * that it computes with are compared besides. Overlap depends on addresses and
 * is looked at in each call.
 *
 * The table is small and belongs to the module; the least recently used goes.
 * An entry is immutable and counted, so that calls of many threads share it.
 */
#include "quick.h"

#include "cache.h"
#include "program.h"
#include "ready.h"

enum { WORDS = 192, SLOTS = 64, TENSORS = 32, BUCKETS = 256, ENTRIES = 512,
    MODES = 16, MAPS = 8 };

struct pin {
	uint32_t given;
	uint64_t bits;			/* as the caller gave them */
};

struct cj_quick {
	atomic_int references;
	struct cutejit_context *owner;
	struct cj_arena arena;
	struct cj_quick *next;		/* in its bucket */
	uint64_t used;			/* clock of the table */
	uint64_t hash;
	const uint64_t *words;
	uint32_t word_count;
	struct pin *pins;
	uint32_t pin_count;
	struct cj_program *program;	/* held */
	bool is_good;
	struct cj_shots shots;
	struct cj_tensors tensors;
	int32_t *given_of;		/* by parameter; -1: left out */
	enum cj_kind *kind_of;		/* by parameter: scalars are read as */
	const struct cj_cuda *cu;
	int ordinal;
	void *context;			/* to launch in */
	bool push;			/* it is not the caller's */
};

/* ---- signatures ---------------------------------------------------------- */

struct signature {
	uint64_t at[WORDS];
	uint32_t count;
	bool fits;
};

static inline void
add(struct signature *s, uint64_t word)
{
	if (s->count == WORDS) {
		s->fits = false;
		return;
	}
	s->at[s->count++] = word;
}

/* Eight bytes at a time, the length with the last of them. */
static inline void
add_text(struct signature *s, const char *text)
{
	size_t length, i;
	uint64_t word;

	if (text == NULL) {
		add(s, 0);
		return;
	}
	length = strlen(text);
	for (i = 0; i + 8 <= length; i += 8) {
		memcpy(&word, text + i, 8);
		add(s, word);
	}
	word = 0;
	memcpy(&word, text + i, length - i);
	add(s, word << 8 | (length - i) << 4 | 1);
}

static inline void
add_tensor(struct signature *s, const cutejit_tensor *t)
{
	int32_t i;

	if (t == NULL || t->data == NULL || t->ndim < 0 || t->ndim > MODES
	    || (t->shape == NULL && t->ndim != 0)) {
		s->fits = false;
		return;
	}
	add(s, (uint32_t)t->device_type | (uint64_t)(uint32_t)t->device_id
	    << 32);
	add(s, t->code | (uint64_t)t->bits << 8 | (uint64_t)t->lanes << 16
	    | (uint64_t)(uint32_t)t->ndim << 32
	    | (uint64_t)(t->strides != NULL) << 40
	    | cj_alignment((const char *)t->data + t->byte_offset) << 48);
	for (i = 0; i < t->ndim; i++)
		add(s, (uint64_t)t->shape[i]);
	for (i = 0; t->strides != NULL && i < t->ndim; i++)
		add(s, (uint64_t)t->strides[i]);
}

static inline void
add_argument(struct signature *s, const cutejit_argument *g)
{
	size_t i;

	add_text(s, g->name);
	add(s, (uint64_t)g->kind | (uint64_t)g->count << 8);
	switch (g->kind) {
	case CUTEJIT_ARG_TENSOR:
		add_tensor(s, g->value.tensor);
		break;
	case CUTEJIT_ARG_TENSORS:
		s->fits = s->fits && g->value.tensors != NULL
		    && g->count <= TENSORS;
		for (i = 0; s->fits && i < g->count; i++)
			add_tensor(s, g->value.tensors[i]);
		break;
	case CUTEJIT_ARG_DLPACK:
		if (g->value.dlpack == NULL || g->value.dlpack->major != 1) {
			s->fits = false;
			break;
		}
		add(s, g->value.dlpack->flags);
		add_tensor(s, &g->value.dlpack->tensor);
		break;
	case CUTEJIT_ARG_NONE:
	case CUTEJIT_ARG_INT:
	case CUTEJIT_ARG_FLOAT:
		break;
	case CUTEJIT_ARG_TEXT:
		s->fits = false;
		break;
	}
}

static void
add_options(struct signature *s, const cutejit_compile_options *o)
{
	size_t i;

	if (o == NULL) {
		add(s, 0);
		return;
	}
	if (o->size != sizeof *o || (o->constants == NULL
	    && o->constant_count != 0)) {
		s->fits = false;
		return;
	}
	add_text(s, o->target);
	add(s, (uint64_t)o->until | (uint64_t)o->level << 8
	    | (uint64_t)(o->checked != 0) << 16
	    | (uint64_t)(o->lineinfo != 0) << 17 | (uint64_t)o->ptx << 32);
	add(s, o->member | (uint64_t)o->constant_count << 32);
	for (i = 0; i < o->constant_count && s->fits; i++) {
		add_text(s, o->constants[i].name);
		add_text(s, o->constants[i].text);
	}
}

static void
read_signature(struct signature *s, const struct cj_calling *c, void *current)
{
	size_t i;

	s->count = 0;
	s->fits = true;
	add_text(s, c->kernel);
	add(s, (uint64_t)(uintptr_t)current);
	add(s, atomic_load_explicit(&c->module->context->tunings,
	    memory_order_relaxed));
	add_options(s, c->options);
	for (i = 0; i < c->count && s->fits; i++)
		add_argument(s, &c->given[i]);
}

static inline uint64_t
hash_of(const struct signature *s)
{
	uint64_t a = UINT64_C(0x9e3779b97f4a7c15), b = a;
	uint32_t i;

	for (i = 0; i + 2 <= s->count; i += 2) {
		a = (a ^ s->at[i]) * UINT64_C(0xff51afd7ed558ccd);
		a ^= a >> 32;
		b = (b ^ s->at[i + 1]) * UINT64_C(0xc4ceb9fe1a85ec53);
		b ^= b >> 29;
	}
	if (i < s->count)
		a = (a ^ s->at[i]) * UINT64_C(0xff51afd7ed558ccd);
	a ^= b + (a >> 31);
	return a ^ a >> 17;
}

/* ---- the table ----------------------------------------------------------- */

static uint64_t
scalar_word(const cutejit_argument *g)
{
	uint64_t word;

	memcpy(&word, &g->value.integer, sizeof word);
	return word;
}

static bool
has_pins(const struct cj_quick *q, const cutejit_argument *given)
{
	uint32_t i;

	for (i = 0; i < q->pin_count; i++)
		if (scalar_word(&given[q->pins[i].given]) != q->pins[i].bits)
			return false;
	return true;
}

static inline bool
is_like(const struct cj_quick *q, const uint64_t *words, uint32_t count,
    const cutejit_argument *given)
{
	return q->word_count == count
	    && memcmp(q->words, words, count * sizeof *words) == 0
	    && has_pins(q, given);
}

static struct cj_quick *
find(const struct cj_quick_table *t, const uint64_t *words, uint32_t count,
    uint64_t hash, const cutejit_argument *given)
{
	struct cj_quick *q;

	for (q = t->buckets[hash % BUCKETS]; q != NULL; q = q->next)
		if (q->hash == hash && is_like(q, words, count, given))
			break;
	return q;
}

void
cj_quick_drop(void *object)
{
	struct cj_quick *q = object;
	int before = atomic_fetch_sub_explicit(&q->references, 1,
	    memory_order_acq_rel);

	assert(before > 0 && "a reference was held");
	if (before != 1)
		return;
	if (q->program != NULL)
		cj_program_drop(q->program);
	cj_arena_fini(&q->arena);
	cj_give_back(q->owner, q);
}

static void
unlink_entry(struct cj_quick_table *t, struct cj_quick *q)
{
	struct cj_quick **at = &t->buckets[q->hash % BUCKETS];

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	t->count--;
	if (t->recent == q)
		t->recent = NULL;
}

static struct cj_quick *
oldest(const struct cj_quick_table *t)
{
	struct cj_quick *found = NULL, *q;
	uint32_t i;

	for (i = 0; i < BUCKETS; i++)
		for (q = t->buckets[i]; q != NULL; q = q->next)
			if (found == NULL || q->used < found->used)
				found = q;
	return found;
}

static void
insert(struct cj_quick_table *t, struct cj_quick *q,
    const cutejit_argument *given)
{
	struct cj_quick *gone = NULL;

	pthread_mutex_lock(&t->lock);
	gone = find(t, q->words, q->word_count, q->hash, given);
	/* another thread's, or else the oldest */
	if (gone == NULL && t->count >= ENTRIES)
		gone = oldest(t);
	if (gone != NULL)
		unlink_entry(t, gone);
	q->used = ++t->clock;
	q->next = t->buckets[q->hash % BUCKETS];
	t->buckets[q->hash % BUCKETS] = q;
	t->count++;
	atomic_store_explicit(&t->cu, q->cu, memory_order_release);
	pthread_mutex_unlock(&t->lock);
	if (gone != NULL)
		cj_quick_drop(gone);
}

void
cj_quick_fini(struct cutejit_context *c, struct cj_quick_table *t)
{
	uint32_t i;

	for (i = 0; t->buckets != NULL && i < BUCKETS; i++)
		while (t->buckets[i] != NULL) {
			struct cj_quick *q = t->buckets[i];

			t->buckets[i] = q->next;
			cj_quick_drop(q);
		}
	cj_give_back(c, t->buckets);
	t->buckets = NULL;
	t->recent = NULL;
	pthread_mutex_destroy(&t->lock);
}

/* ---- workspaces ---------------------------------------------------------- */

static bool
has_pools(const struct cj_cuda *cu, int ordinal)
{
	int device, value = 0;

	return cu->DeviceGet(&device, ordinal) == 0
	    && cu->DeviceGetAttribute(&value, CJ_CUDA_MEMORY_POOLS, device)
	    == 0 && value != 0;
}

int
cj_scratch_take(const struct cj_cuda *cu, int ordinal, size_t bytes,
    void *stream, uint64_t *address)
{
	return has_pools(cu, ordinal)
	    ? cu->MemAllocAsync(address, bytes, stream)
	    : cu->MemAlloc(address, bytes);
}

int
cj_scratch_give(const struct cj_cuda *cu, int ordinal, void *stream,
    uint64_t address)
{
	int rc;

	if (has_pools(cu, ordinal))
		return cu->MemFreeAsync(address, stream);
	rc = cu->StreamSynchronize(stream);
	cu->MemFree(address);
	return rc;
}

/* ---- calling ------------------------------------------------------------- */

static const cutejit_tensor *
tensor_of(const struct cj_quick *q, const cutejit_argument *given,
    uint32_t parameter, uint32_t member)
{
	const cutejit_argument *g = &given[q->given_of[parameter]];

	return g->kind == CUTEJIT_ARG_TENSOR ? g->value.tensor
	    : g->kind == CUTEJIT_ARG_DLPACK ? &g->value.dlpack->tensor
	    : g->value.tensors[member];
}

static inline uintptr_t
address_of(const cutejit_tensor *t)
{
	return (uintptr_t)t->data + t->byte_offset;
}

static bool
overlaps(const struct cj_quick *q, const struct cj_calling *c)
{
	uintptr_t address[TENSORS];
	uint32_t n = 0;
	size_t i, k;

	if (q->tensors.pair_count == 0)
		return false;
	for (i = 0; i < c->count; i++) {
		const cutejit_argument *g = &c->given[i];

		n = q->tensors.first[i];
		if (g->kind == CUTEJIT_ARG_TENSOR)
			address[n] = address_of(g->value.tensor);
		else if (g->kind == CUTEJIT_ARG_DLPACK)
			address[n] = address_of(&g->value.dlpack->tensor);
		else if (g->kind == CUTEJIT_ARG_TENSORS)
			for (k = 0; k < g->count; k++)
				address[n + k] =
				    address_of(g->value.tensors[k]);
	}
	return cj_tensors_overlap(&q->tensors, address);
}

/* The slots of this call. False: a number needs the long way. */
static bool
fill_slots(const struct cj_quick *q, const cutejit_argument *given,
    uint64_t workspace, uint64_t *slots)
{
	uint32_t i;

	memcpy(slots, q->shots.slots, q->shots.slot_count * sizeof *slots);
	for (i = 0; i < q->shots.patch_count; i++) {
		const struct cj_patch *p = &q->shots.patches[i];

		switch (p->kind) {
		case CJ_PATCH_ADDRESS:
			slots[p->slot] = address_of(tensor_of(q, given,
			    p->parameter, p->member));
			break;
		case CJ_PATCH_SCALAR:
			if (!cj_scalar_bits(&given[q->given_of[
			    p->parameter]], q->kind_of[p->parameter],
			    p->scalar, &slots[p->slot]))
				return false;
			break;
		case CJ_PATCH_WORKSPACE:
			slots[p->slot] = workspace + p->offset
			    + (p->restored ? q->shots.workspace_bytes
			    - q->shots.restored_bytes : 0);
			break;
		}
	}
	return true;
}

/* The entry's maps, or copies of them that show this call's tensors. */
static int
place_maps(const struct cj_quick *q, const cutejit_argument *given,
    struct cj_encoded_map *maps, void **params)
{
	uint32_t i;
	int rc;

	for (i = 0; i < q->shots.map_count; i++) {
		const struct cj_mapped *m = &q->shots.mapped[i];
		uintptr_t at = address_of(tensor_of(q, given, m->parameter,
		    m->member)) + (uintptr_t)m->offset;

		params[m->slot] = &q->shots.maps[i];
		if (at == m->address)
			continue;
		maps[i] = q->shots.maps[i];
		rc = q->cu->TensorMapReplaceAddress(&maps[i], (void *)at);
		if (rc != 0)
			return rc;
		params[m->slot] = &maps[i];
	}
	return 0;
}

static int
fire(const struct cj_quick *q, struct cj_calling *c, uint64_t *slots)
{
	struct cj_encoded_map maps[MAPS];
	void *params[SLOTS];
	struct cj_shots shots = q->shots;
	uint64_t workspace = 0;
	uint32_t i;
	int rc, freed;

	for (i = 0; i < shots.slot_count; i++)
		params[i] = &slots[i];
	rc = place_maps(q, c->given, maps, params);
	if (rc != 0)
		return rc;
	shots.slots = slots;
	shots.params = params;
	if (shots.workspace_bytes == 0)
		return cj_shots_fire(q->cu, &shots, false, c->stream);
	rc = cj_scratch_take(q->cu, q->ordinal, shots.workspace_bytes,
	    c->stream, &workspace);
	if (rc != 0)
		return rc;
	cj_shots_place(&shots, workspace);
	rc = cj_shots_fire(q->cu, &shots, false, c->stream);
	freed = cj_scratch_give(q->cu, q->ordinal, c->stream, workspace);
	return rc != 0 ? rc : freed;
}

static void
launch(const struct cj_quick *q, struct cj_calling *c, uint64_t *slots)
{
	void *was;

	c->cu = q->cu;
	c->error = cj_stream_check(q->cu, q->context, c->stream);
	if (c->error == 0 && q->push)
		c->error = q->cu->CtxPushCurrent(q->context);
	if (c->error != 0)
		return;
	c->error = fire(q, c, slots);
	if (q->push)
		q->cu->CtxPopCurrent(&was);
}

static struct cj_quick *
look_up(struct cj_quick_table *t, const struct cj_calling *c, void *current)
{
	struct signature s;
	struct cj_quick *q;

	read_signature(&s, c, current);
	if (!s.fits)
		return NULL;
	pthread_mutex_lock(&t->lock);
	q = t->recent;		/* the same call again costs no hash */
	if (q == NULL || !is_like(q, s.at, s.count, c->given))
		q = find(t, s.at, s.count, hash_of(&s), c->given);
	if (q != NULL) {
		t->recent = q;
		q->used = ++t->clock;
		atomic_fetch_add_explicit(&q->references, 1,
		    memory_order_relaxed);
	}
	pthread_mutex_unlock(&t->lock);
	return q;
}

bool
cj_quick_call(struct cj_calling *c)
{
	struct cj_quick_table *t = &c->module->quick;
	const struct cj_cuda *cu = atomic_load_explicit(&t->cu,
	    memory_order_acquire);
	uint64_t slots[SLOTS];
	struct cj_quick *q;
	void *current;
	bool done;

	if (cu == NULL || cu->CtxGetCurrent(&current) != 0)
		return false;
	q = look_up(t, c, current);
	if (q == NULL)
		return false;
	done = !overlaps(q, c) && fill_slots(q, c->given, 0, slots);
	if (done) {
		atomic_fetch_add_explicit(
		    &c->module->context->store->memory_hits, 1,
		    memory_order_relaxed);
		launch(q, c, slots);
	}
	cj_quick_drop(q);
	return done;
}

/* ---- keeping ------------------------------------------------------------- */

static int32_t
parameter_of(const struct cj_calling *c, const struct cj_arguments *args,
    size_t i)
{
	uint32_t k;

	if (c->given[i].name == NULL)
		return (int32_t)i;
	for (k = 0; k < args->count; k++)
		if (strcmp(args->names[k], c->given[i].name) == 0)
			return (int32_t)k;
	return -1;
}

/* The caller's argument by parameter, and where its tensors are counted. */
static void
set_arguments(struct cj_quick *q, const struct cj_calling *c,
    const struct cj_arguments *args)
{
	uint32_t *first = CJ_NEWS(&q->arena, uint32_t, c->count);
	size_t i;
	uint32_t k;

	q->given_of = CJ_NEWS(&q->arena, int32_t, args->count);
	q->kind_of = CJ_NEWS(&q->arena, enum cj_kind, args->count);
	for (k = 0; k < args->count; k++) {
		q->given_of[k] = -1;
		q->kind_of[k] = args->actuals[k].kind;
	}
	for (i = 0; i < c->count; i++) {
		int32_t p = parameter_of(c, args, i);

		assert(p >= 0 && "the arguments were read");
		q->given_of[p] = (int32_t)i;
		first[i] = q->tensors.first[p];
	}
	q->tensors.first = first;	/* from here on by argument */
}

static void
set_pins(struct cj_work *f, struct cj_quick *q, const struct cj_calling *c,
    const struct cj_arguments *args)
{
	const bool *pinned = cj_pinned_scalars(&f->arena, q->program->ir,
	    args);
	uint32_t k;

	q->pins = CJ_NEWS(&q->arena, struct pin, args->count);
	for (k = 0; k < args->count; k++) {
		struct pin *p = &q->pins[q->pin_count];

		if (!pinned[k] || q->given_of[k] < 0)
			continue;
		p->given = (uint32_t)q->given_of[k];
		p->bits = scalar_word(&c->given[p->given]);
		q->pin_count++;
	}
}

static cutejit_status
fill(struct cj_work *f, struct cj_quick *q, const struct cj_calling *c,
    const struct signature *sig, const struct cj_selected *s,
    const struct cj_arguments *args)
{
	cutejit_status status = cj_shots_make(f, &q->arena, s->program, args,
	    &s->plan, &q->shots);

	if (status != CUTEJIT_OK)
		return status;
	q->words = cj_memdup(&q->arena, sig->at,
	    sig->count * sizeof *sig->at);
	q->word_count = sig->count;
	q->hash = hash_of(sig);
	cj_tensors_number(&q->arena, args, &q->tensors);
	cj_tensors_pair(&q->arena, s->program->ir, args, &q->tensors);
	set_arguments(q, c, args);
	set_pins(f, q, c, args);
	return CUTEJIT_OK;
}

static bool
has_room(struct cutejit_context *c, struct cj_quick_table *t)
{
	pthread_mutex_lock(&t->lock);
	if (t->buckets == NULL)
		t->buckets = cj_take(c, BUCKETS * sizeof *t->buckets);
	pthread_mutex_unlock(&t->lock);
	return t->buckets != NULL;
}

struct cj_quick *
cj_quick_make(struct cj_work *f, const struct cj_calling *c,
    const struct cj_gpu *gpu, void *current, const struct cj_selected *s,
    const struct cj_arguments *args)
{
	struct cj_quick_table *t = &c->module->quick;
	struct signature *sig = CJ_NEW(&f->arena, struct signature);
	struct cj_quick *q;

	read_signature(sig, c, current);
	if (!sig->fits || s->plan.prints || f->context->store->is_off
	    || !has_room(f->context, t))
		return NULL;
	q = cj_take(f->context, sizeof *q);
	if (q == NULL)
		return NULL;
	atomic_init(&q->references, 1);
	q->owner = f->context;
	cj_arena_init(&q->arena, &f->recover, &f->context->mem);
	cj_defer(f, cj_quick_drop, q);
	q->cu = gpu->cu;
	q->ordinal = gpu->ordinal;
	q->context = gpu->context;
	q->push = current != gpu->context;
	q->program = s->program;
	cj_program_hold(q->program);
	q->is_good = fill(f, q, c, sig, s, args) == CUTEJIT_OK
	    && q->shots.map_count <= MAPS
	    && q->shots.slot_count <= SLOTS
	    && q->tensors.count <= TENSORS;
	cj_undefer(f);
	return q;
}

void
cj_quick_keep(const struct cj_calling *c, struct cj_quick *q)
{
	if (q->is_good)
		insert(&c->module->quick, q, c->given);
	else
		cj_quick_drop(q);
}
