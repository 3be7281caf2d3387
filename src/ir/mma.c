/*
 * MMA instructions of a warp: from the name of an atom to types and places.
 */
#include "ir.h"

#include "layout/atom.h"
#include "layout/sym.h"

#include <stdlib.h>

enum { WARP = 32 };

/* Types as atoms.def names them. b1 is a bool: one bit of a register. */
static const struct {
	const char *name;
	enum cj_kind kind;
} kinds[] = {
	{ "f16", CJ_KIND_F16 }, { "bf16", CJ_KIND_BF16 },
	{ "tf32", CJ_KIND_TF32 }, { "f32", CJ_KIND_F32 },
	{ "f64", CJ_KIND_F64 }, { "e4m3", CJ_KIND_F8E4M3 },
	{ "e5m2", CJ_KIND_F8E5M2 }, { "e3m2", CJ_KIND_F6E3M2 },
	{ "e2m3", CJ_KIND_F6E2M3 }, { "e2m1", CJ_KIND_F4E2M1 },
	{ "ue8m0", CJ_KIND_F8UE8M0 }, { "s4", CJ_KIND_I4 },
	{ "u4", CJ_KIND_U4 }, { "s8", CJ_KIND_I8 }, { "u8", CJ_KIND_U8 },
	{ "s16", CJ_KIND_I16 }, { "u16", CJ_KIND_U16 },
	{ "s32", CJ_KIND_I32 }, { "u32", CJ_KIND_U32 },
	{ "s64", CJ_KIND_I64 }, { "u64", CJ_KIND_U64 },
	{ "b1", CJ_KIND_BOOL },
};

/* The kind of a type of atoms.def (s32, e4m3, b1 ...); VOID for c64. */
static enum cj_kind
atom_kind(const char *type)
{
	size_t i;

	for (i = 0; i < CJ_LENGTH(kinds); i++)
		if (strcmp(kinds[i].name, type) == 0)
			return kinds[i].kind;
	return CJ_KIND_VOID;
}

const char *
cj_atom_type(enum cj_kind kind)
{
	size_t i;

	for (i = 0; i < CJ_LENGTH(kinds); i++)
		if (kinds[i].kind == kind)
			return kinds[i].name;
	return NULL;
}

int
cj_atom_needs(const char *arch)
{
	return strncmp(arch, "sm", 2) == 0 ? atoi(arch + 2) : 0;
}

/* ---- places -------------------------------------------------------------- */

/* What a reading needs: the algebra, the atom, the row to fill. */
struct reading {
	struct cj_algebra *al;
	const struct cj_mma_atom *atom;
	struct cj_mma *out;
	uint8_t thread[WARP], group[WARP];	/* by lane: of the atom */
};

static uint32_t
size_of(struct reading *r, const struct cj_layout *l)
{
	return (uint32_t)cj_layout_size(r->al, l).value;
}

static const int64_t *
values_of(struct reading *r, const struct cj_layout *l)
{
	uint32_t count = size_of(r, l);
	int64_t *at = CJ_NEWS(r->al->arena, int64_t, count + 1);

	if (!cj_layout_list(r->al, l, at, count))
		cj_bug(r->al->arena->recover, "atoms.def: the values of %s "
		    "are not known", r->atom->name);
	return at;
}

/* An atom of 8 threads is done by four groups: each begins with the first lane
 * that is in none yet. */
static void
assign_lanes(struct reading *r)
{
	uint32_t threads = size_of(r, r->atom->threads), lane, group, i;
	const int64_t *places = values_of(r, r->atom->threads);
	bool taken[WARP] = { false };

	assert(threads != 0 && WARP % threads == 0);
	r->out->groups = WARP / threads;
	for (group = 0, lane = 0; group < r->out->groups; group++) {
		while (taken[lane])
			lane++;
		for (i = 0; i < threads; i++) {
			uint32_t at = lane + (uint32_t)places[i];

			assert(at < WARP && !taken[at]);
			taken[at] = true;
			r->thread[at] = (uint8_t)i;
			r->group[at] = (uint8_t)group;
		}
	}
}

static const uint16_t *
places(struct reading *r, const struct cj_layout *l, uint32_t size,
    uint32_t *count)
{
	uint32_t threads = WARP / r->out->groups, i, lane;
	const int64_t *values = values_of(r, l);
	uint16_t *at;

	*count = size_of(r, l) / threads;
	at = CJ_NEWS(r->al->arena, uint16_t, (size_t)*count * WARP);
	for (i = 0; i < *count; i++)
		for (lane = 0; lane < WARP; lane++) {
			uint32_t v = (uint32_t)values[r->thread[lane] +
			    i * threads];

			assert(v < size);
			at[i * WARP + lane] = (uint16_t)(v +
			    r->group[lane] * size);
		}
	return at;
}

/* ---- rows ---------------------------------------------------------------- */

/* Combinations that the names allow and no instruction has. */
static bool
types_exist(const struct cj_mma *mma)
{
	if (mma->d != mma->c)
		return false;
	if (mma->a != CJ_KIND_F16 && mma->a != CJ_KIND_BF16)
		return true;
	return mma->a == mma->b &&
	    (mma->a == CJ_KIND_F16 || mma->d == CJ_KIND_F32);
}

static bool
ends_in(const char *name, const char *tail)
{
	size_t n = strlen(name), t = strlen(tail);

	return n >= t && strcmp(name + n - t, tail) == 0;
}

/* What a name says that no other column does. */
static void
read_tail(struct cj_mma *mma)
{
	bool either = mma->needs < 75;	/* later rows are all TN */

	mma->saturate = ends_in(mma->name, "_SATURATE");
	if (ends_in(mma->name, "_XORPOPC"))
		mma->how = CJ_MMA_XOR_POPC;
	else if (ends_in(mma->name, "_ANDPOPC"))
		mma->how = CJ_MMA_AND_POPC;
	mma->a_by_column = either && (ends_in(mma->name, "_NT") ||
	    ends_in(mma->name, "_NN"));
	mma->b_by_row = either && (ends_in(mma->name, "_NT") ||
	    ends_in(mma->name, "_TT"));
}

static void
read_shape(struct reading *r)
{
	uint32_t *const to[] = { &r->out->m, &r->out->n, &r->out->k };
	uint32_t i;

	for (i = 0; i < 3; i++)
		*to[i] = (uint32_t)cj_tuple_get(r->atom->shape, i)->value.value;
}

static void
read_places(struct reading *r)
{
	struct cj_mma *out = r->out;

	assign_lanes(r);
	out->a_at = places(r, r->atom->a, out->m * out->k /
	    (uint32_t)r->atom->sparsity, &out->a_count);
	out->b_at = places(r, r->atom->b, out->n * out->k, &out->b_count);
	out->c_at = places(r, r->atom->c, out->m * out->n, &out->c_count);
	assert(out->m * out->k * out->groups <= CJ_MMA_MOST_A);
	assert(out->n * out->k * out->groups <= CJ_MMA_MOST_B);
	assert(out->m * out->n * out->groups <= CJ_MMA_MOST_C);
}

/* ---- sparse operands ----------------------------------------------------- */

/* Chunks of 16 and 32 bits are 8 bytes, others 4. */
static bool
is_wide(enum cj_kind k)
{
	return cj_kind_bits(k) >= 16;
}

uint32_t
cj_chunks(enum cj_kind a, uint32_t k)
{
	return k * cj_kind_bits(a) / (is_wide(a) ? 64 : 32);
}

/* Wide: half a word has 4 chunks of a row, its halves have rows 8 apart. Else
 * a word has 8 chunks of a row, and neighbouring lanes have rows 8 apart. */
void
cj_metadata_at(const struct cj_sparse *s, uint32_t row, uint32_t chunk,
    uint32_t *quad, uint32_t *shift)
{
	uint32_t words = cj_chunks(s->a, s->k) / 4;	/* of a selector */
	uint32_t selector = s->selector;

	assert(row < 16);
	if (is_wide(s->a)) {
		*quad = selector * words + chunk / 4;
		*shift = chunk % 4 * 4 + row / 8 * 16;
	} else {
		*quad = selector * words + chunk / 8 * 2 + row / 8;
		*shift = chunk % 8 * 4;
	}
	assert(*quad < 4);
}

const char *
cj_mma_find(struct cj_arena *a, const char *name, struct cj_mma *out)
{
	struct cj_symtab symbols;
	struct cj_algebra al;
	struct cj_mma_atom atom;
	struct reading r = { .al = &al, .atom = &atom, .out = out };

	cj_symtab_init(&symbols, a, NULL);
	cj_algebra_init(&al, a, &symbols);
	memset(out, 0, sizeof *out);
	if (!cj_mma_atom_find(&al, name, &atom))
		return cj_printf(a, "there is no MMA atom \"%s\"", name);
	if (atom.kind != CJ_MMA_MMA_SYNC || cj_atom_needs(atom.arch) >= 120)
		return cj_printf(a, "\"%s\" is no mma of a warp", name);
	out->name = atom.name;
	out->needs = cj_atom_needs(atom.arch);
	out->d = atom_kind(atom.d_type);
	out->a = atom_kind(atom.a_type);
	out->b = atom_kind(atom.b_type);
	out->c = atom_kind(atom.c_type);
	if (out->d == CJ_KIND_VOID || out->a == CJ_KIND_VOID ||
	    out->b == CJ_KIND_VOID || out->c == CJ_KIND_VOID)
		return cj_printf(a, "\"%s\" is not one instruction", name);
	if (!types_exist(out))
		return cj_printf(a, "no instruction has the types of \"%s\"",
		    name);
	read_tail(out);
	read_shape(&r);
	if (atom.sparsity > 1)
		out->selectors = 16 / cj_chunks(out->a, out->k);
	read_places(&r);
	return NULL;
}

/* ---- warpgroups ---------------------------------------------------------- */

const char *
cj_wgmma_find(struct cj_arena *a, const char *name, struct cj_wgmma *out)
{
	struct cj_symtab symbols;
	struct cj_algebra al;
	struct cj_mma_atom atom;

	cj_symtab_init(&symbols, a, NULL);
	cj_algebra_init(&al, a, &symbols);
	if (!cj_mma_atom_find(&al, name, &atom))
		return cj_printf(a, "there is no MMA atom \"%s\"", name);
	if (atom.kind != CJ_MMA_WGMMA)
		return cj_printf(a, "\"%s\" is no product of a warpgroup",
		    name);
	out->name = atom.name;
	out->n = (uint32_t)cj_tuple_get(atom.shape, 1)->value.value;
	out->k = (uint32_t)cj_tuple_get(atom.shape, 2)->value.value;
	out->a = atom_kind(atom.a_type);
	out->b = atom_kind(atom.b_type);
	out->c = atom_kind(atom.c_type);
	out->saturate = ends_in(name, "_SATURATE");
	out->counts = strstr(name, "U1U1") != NULL;
	if (atom.sparsity > 1)
		out->selectors = 16 / cj_chunks(out->a, out->k);
	if (out->c == CJ_KIND_I32 && out->n != 8 && out->n != 24 &&
	    out->n % 16 != 0)
		return cj_printf(a, "N of \"%s\" is 8, 24 or a multiple of 16",
		    name);
	return NULL;
}

/* ---- targets ------------------------------------------------------------- */

int
cj_inst_needs(const struct cj_module *m, const struct cj_inst *i)
{
	switch ((unsigned)i->op) {
	case CJ_OP_LDMATRIX: case CJ_OP_MOVMATRIX:
		return 75;
	case CJ_OP_STMATRIX: case CJ_OP_MBARRIER_INIT:
	case CJ_OP_MBARRIER_ARRIVE: case CJ_OP_MBARRIER_EXPECT:
	case CJ_OP_TMA_LOAD: case CJ_OP_TMA_STORE: case CJ_OP_BULK_COMMIT:
	case CJ_OP_BULK_WAIT: case CJ_OP_BULK_WAIT_READ:
	case CJ_OP_WGMMA_FENCE: case CJ_OP_WGMMA: case CJ_OP_WGMMA_COMMIT:
	case CJ_OP_WGMMA_WAIT: case CJ_OP_CP_ARRIVE: case CJ_OP_MBARRIER_BYTES:
	case CJ_OP_REGISTERS_DOWN: case CJ_OP_REGISTERS_UP:
	case CJ_OP_MBARRIER_WAIT: case CJ_OP_MBARRIER_TEST:
	case CJ_OP_BULK_COPY: case CJ_OP_SEND: case CJ_OP_MAP_PREFETCH:
	case CJ_OP_TMA_PREFETCH:
	case CJ_OP_MAP_AT: case CJ_OP_MAP_INIT: case CJ_OP_MAP_REPLACE:
	case CJ_OP_MAP_PUBLISH: case CJ_OP_MAP_ACQUIRE:
		return 90;
	case CJ_OP_FENCE:
		return cj_fence_is_of_tmem(i) ? 100 : 90;
	case CJ_OP_MMA: case CJ_OP_MMA_SPARSE:
		return m->mmas.at[i->attr]->needs;
	default:
		return cj_op_info[i->op].engine == CJ_ENGINE_TCGEN05 ? 100 :
		    0;
	}
}
