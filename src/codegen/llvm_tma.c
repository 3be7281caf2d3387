/*
 * TMA copies of boxes, and the groups of stores, as PTX.
 */
#include "llvm_gen.h"

/* [map, {coordinates}]: operand `map`, and those from `next` on */
static void
add_box(struct cj_llvm_ptx *c, const struct cj_inst *inst, unsigned map,
    unsigned next, unsigned rank)
{
	struct cj_llvm_gen *g = c->g;
	unsigned i;

	cj_strbuf_printf(&c->text, "[$%u, {", c->count);
	cj_llvm_add_ptx(c, LLVMBuildPtrToInt(g->b, cj_llvm_value(g,
	    cj_operand(g->m, inst, map), 0), g->i64, ""), "l");
	for (i = next; i < next + rank; i++) {
		cj_llvm v = cj_llvm_value(g, cj_operand(g->m, inst, i), 0);

		cj_strbuf_printf(&c->text, "%s$%u", i == next ? "" : ", ",
		    c->count);
		cj_llvm_add_ptx(c, LLVMTypeOf(v) == g->i32 ? v :
		    LLVMBuildTrunc(g->b, v, g->i32, ""), "r");
	}
	cj_strbuf_puts(&c->text, "}]");
}

static void
add_shared(struct cj_llvm_ptx *c, uint32_t access, cj_ref offset)
{
	struct cj_llvm_gen *g = c->g;

	cj_strbuf_printf(&c->text, "[$%u]", c->count);
	cj_llvm_add_ptx(c, cj_llvm_shared_word(g, &g->m->accesses.at[access],
	    offset), "r");
}

/* map: NULL, or that of a copy */
static void
begin(struct cj_llvm_ptx *c, struct cj_llvm_gen *g, const struct cj_map *map)
{
	bool has_rows = map != NULL && map->kind == CJ_MAP_ROWS;

	if (!cj_llvm_wants_ptx(g, has_rows ? 86 : 80))
		cj_llvm_bug(g, "TMA needs PTX 8.0, rows by number 8.6");
	cj_llvm_begin_ptx(c, g);
}

static const char *
hint_of(const struct cj_tma_copy *t)
{
	return t->evict == CJ_EVICT_NORMAL ? "" : ".L2::cache_hint";
}

static void
add_policy(struct cj_llvm_ptx *c, const struct cj_tma_copy *t)
{
	if (t->evict == CJ_EVICT_NORMAL)
		return;
	cj_strbuf_printf(&c->text, ", $%u", c->count);
	cj_llvm_add_ptx(c, LLVMConstInt(c->g->i64, cj_llvm_policy(t->evict),
	    0), "l");
}

/* , {offsets of pixels}, of 16 bits */
static void
add_offsets(struct cj_llvm_ptx *c, const struct cj_inst *inst, unsigned from,
    unsigned to)
{
	struct cj_llvm_gen *g = c->g;
	LLVMTypeRef half = LLVMInt16TypeInContext(g->context);
	unsigned i;

	assert(from < to && to <= inst->operand_count);
	cj_strbuf_puts(&c->text, ", {");
	for (i = from; i < to; i++) {
		cj_strbuf_printf(&c->text, "%s$%u", i == from ? "" : ", ",
		    c->count);
		cj_llvm_add_ptx(c, LLVMBuildTrunc(g->b, cj_llvm_value(g,
		    cj_operand(g->m, inst, i), 0), half, ""), "h");
	}
	cj_strbuf_puts(&c->text, "}");
}

/* The names of what a map makes of coordinates, in loads and in stores. */
static const char *
load_mode(const struct cj_map *map)
{
	switch (map->kind) {
	case CJ_MAP_TILES: break;
	case CJ_MAP_PIXELS: return ".im2col";
	case CJ_MAP_ROWS: return ".tile::gather4";
	}
	return "";
}

static const char *
store_mode(const struct cj_map *map)
{
	switch (map->kind) {
	case CJ_MAP_TILES: case CJ_MAP_PIXELS: break;	/* these are loaded */
	case CJ_MAP_ROWS: return ".tile::scatter4";
	}
	return "";
}

static unsigned
coordinates_of(const struct cj_map *map)
{
	return map->kind == CJ_MAP_PIXELS ? map->rank :
	    cj_map_numbers(map);
}

void
cj_llvm_op_TMA_LOAD(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_tma_copy *t = &g->m->tmas.at[inst->attr];
	const struct cj_map *map = &g->m->maps.at[t->map];
	unsigned rank = map->rank;
	unsigned last = 3 + cj_map_numbers(map);
	bool spreads = inst->operand_count > last;
	struct cj_llvm_ptx c;

	assert(inst->operand_count >= last && "a place, a map, an mbarrier");
	begin(&c, g, map);
	/* rows go to other blocks on few chips, to the own one on all */
	cj_strbuf_printf(&c.text, "cp.async.bulk.tensor.%ud.shared::%s"
	    ".global%s.mbarrier::complete_tx::bytes%s%s ", rank,
	    map->kind == CJ_MAP_ROWS && !spreads ? "cta" : "cluster",
	    load_mode(map), spreads ? ".multicast::cluster" : "", hint_of(t));
	add_shared(&c, t->shared, cj_operand(g->m, inst, 0));
	cj_strbuf_puts(&c.text, ", ");
	add_box(&c, inst, 1, 3, coordinates_of(map));
	cj_strbuf_puts(&c.text, ", ");
	add_shared(&c, t->signal, cj_operand(g->m, inst, 2));
	if (map->kind == CJ_MAP_PIXELS)
		add_offsets(&c, inst, 3 + rank, last);
	if (spreads) {
		cj_strbuf_printf(&c.text, ", $%u", c.count);
		cj_llvm_add_ptx(&c, LLVMBuildTrunc(g->b, cj_llvm_value(g,
		    cj_operand(g->m, inst, last), 0),
		    LLVMInt16TypeInContext(g->context), ""), "h");
	}
	add_policy(&c, t);
	cj_llvm_end_ptx(&c);
}

void
cj_llvm_op_TMA_STORE(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_tma_copy *t = &g->m->tmas.at[inst->attr];
	const struct cj_map *map = &g->m->maps.at[t->map];
	struct cj_llvm_ptx c;

	assert(inst->operand_count >= 2 + coordinates_of(map));
	begin(&c, g, map);
	cj_strbuf_printf(&c.text, "cp%s.async.bulk.tensor.%ud.global"
	    ".shared::cta%s%s%s.bulk_group%s ", t->reduces ? ".reduce" : "",
	    (unsigned)map->rank, t->reduces ? "." : "", t->reduces ?
	    cj_llvm_combining(t->how) : "", store_mode(map), hint_of(t));
	add_box(&c, inst, 1, 2, coordinates_of(map));
	cj_strbuf_puts(&c.text, ", ");
	add_shared(&c, t->shared, cj_operand(g->m, inst, 0));
	add_policy(&c, t);
	cj_llvm_end_ptx(&c);
}

void
cj_llvm_op_TMA_PREFETCH(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	const struct cj_map *map = &g->m->maps.at[inst->attr];
	struct cj_llvm_ptx c;

	assert(inst->operand_count >= 1 + coordinates_of(map));
	begin(&c, g, map);
	cj_strbuf_printf(&c.text, "cp.async.bulk.prefetch.tensor.%ud.L2"
	    ".global%s ", (unsigned)map->rank, load_mode(map));
	add_box(&c, inst, 0, 1, coordinates_of(map));
	if (map->kind == CJ_MAP_PIXELS)
		add_offsets(&c, inst, 1 + map->rank, 1 + cj_map_numbers(map));
	cj_llvm_end_ptx(&c);
}

void
cj_llvm_op_MAP_PREFETCH(struct cj_llvm_gen *g, cj_ref r)
{
	const struct cj_inst *inst = cj_inst(g->m, r);
	struct cj_llvm_ptx c;

	begin(&c, g, NULL);
	cj_strbuf_puts(&c.text, "prefetch.tensormap [$0]");
	cj_llvm_add_ptx(&c, LLVMBuildPtrToInt(g->b, cj_llvm_value(g,
	    cj_operand(g->m, inst, 0), 0), g->i64, ""), "l");
	cj_llvm_end_ptx(&c);
}

static void
emit_number(struct cj_llvm_gen *g, const char *format, uint32_t n)
{
	cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type, cj_printf(g->arena,
	    format, (unsigned)n), "~{memory}", NULL, 0);
}

void
cj_llvm_op_BULK_COMMIT(struct cj_llvm_gen *g, cj_ref r)
{
	(void)r;
	cj_llvm_asm(g, CJ_LLVM_ASM_EFFECT, g->void_type,
	    "cp.async.bulk.commit_group;", "~{memory}", NULL, 0);
}

void
cj_llvm_op_BULK_WAIT(struct cj_llvm_gen *g, cj_ref r)
{
	emit_number(g, "cp.async.bulk.wait_group %u;",
	    cj_inst(g->m, r)->attr);
}

void
cj_llvm_op_BULK_WAIT_READ(struct cj_llvm_gen *g, cj_ref r)
{
	emit_number(g, "cp.async.bulk.wait_group.read %u;",
	    cj_inst(g->m, r)->attr);
}
