/*
 * Reading the text form: what stands between an operation and its place,
 * operands and attributes (ir_print_attr.c writes it).
 */
#include "ir_read_priv.h"

/* ---- operands ------------------------------------------------------------ */

void
cj_reader_operand(struct cj_reader *r)
{
	uint32_t n = cj_reader_ref(r, TOKEN_VALUE, "a value");

	if (r->failed)
		return;
	if (n >= r->values.len || r->values.at[n] == 0)
		cj_reader_fail(r, "a value is used before it is made");
	else if (r->operands.len >= UINT16_MAX)
		cj_reader_fail(r, "there are too many operands");
	else
		*cj_push(r->m->arena, &r->operands) = r->values.at[n];
}

/* None, or several with commas between. What begins a line is the result of
 * the next instruction. */
static void
read_operands(struct cj_reader *r)
{
	if (r->token != TOKEN_VALUE || r->begins_line)
		return;
	do
		cj_reader_operand(r);
	while (cj_reader_mark(r, ','));
}

static void
read_operands_in(struct cj_reader *r, const char *word)
{
	cj_reader_need_word(r, word);
	cj_reader_need_mark(r, '(');
	read_operands(r);
	cj_reader_need_mark(r, ')');
}

/* ---- attributes ---------------------------------------------------------- */

static void
read_how(struct cj_reader *r, struct cj_access *a)
{
	a->transposed = cj_reader_word(r, "transposed");
	if (cj_reader_word(r, "align"))
		a->align = (uint32_t)cj_reader_int(r, 0, UINT32_MAX);
	if (cj_reader_word(r, "cache"))
		a->cache = (enum cj_cache)cj_reader_enum(r, CJ_WORDS_CACHE);
	if (cj_reader_word(r, "order"))
		a->order = (enum cj_order)cj_reader_enum(r, CJ_WORDS_ORDER);
	/* on a line of its own it is the operation */
	if (!r->begins_line && cj_reader_word(r, "scope"))
		a->scope = (enum cj_memory_scope)cj_reader_enum(r,
		    CJ_WORDS_SCOPE);
	a->is_early = cj_reader_word(r, "early");
	if (cj_reader_word(r, "why"))
		a->why = cj_reader_text(r);
}

/* The mask stands behind the values, and the fill behind the mask. */
static void
read_mask(struct cj_reader *r)
{
	if (cj_reader_word(r, "mask")) {
		cj_reader_operand(r);
		if (cj_reader_word(r, "fill"))
			cj_reader_operand(r);
	}
}

static uint32_t
read_access(struct cj_reader *r, enum cj_op op)
{
	struct cj_access a = { 0 };

	if (cj_op_is_atomic(op))
		a.atomic = (enum cj_atomic)cj_reader_enum(r,
		    CJ_WORDS_ATOMIC);
	a.object = cj_reader_object(r);
	if (op == CJ_OP_WORKSPACE) {
		read_operands(r);
	} else {
		cj_reader_need_mark(r, '[');
		if (op == CJ_OP_SLOT_GET || op == CJ_OP_SLOT_SET)
			a.position = (uint32_t)cj_reader_int(r, 0,
			    UINT32_MAX);
		else
			cj_reader_operand(r);
		cj_reader_need_mark(r, ']');
		if (cj_reader_mark(r, ','))
			read_operands(r);
		read_mask(r);
	}
	read_how(r, &a);
	return r->failed ? 0 : cj_module_access(r->m, &a);
}

static struct cj_access
read_place(struct cj_reader *r)
{
	struct cj_access a = { .object = cj_reader_object(r) };

	cj_reader_need_mark(r, '[');
	cj_reader_operand(r);
	cj_reader_need_mark(r, ']');
	read_how(r, &a);
	return a;
}

static uint32_t
read_copy(struct cj_reader *r)
{
	struct cj_copy c = { 0 };
	struct cj_access to = read_place(r), from;

	cj_reader_need_word(r, "from");
	from = read_place(r);
	cj_reader_need_word(r, "count");
	c.count = (uint32_t)cj_reader_int(r, 1, UINT16_MAX);
	read_mask(r);
	if (cj_reader_word(r, "by"))
		c.cache = (enum cj_copy_cache)cj_reader_enum(r,
		    CJ_WORDS_COPY);
	if (cj_reader_word(r, "prefetch"))
		c.prefetch = (uint32_t)cj_reader_int(r, 0, UINT16_MAX);
	if (r->failed)
		return 0;
	c.to = cj_module_access(r->m, &to);
	c.from = cj_module_access(r->m, &from);
	return cj_module_copy(r->m, &c);
}

/* "swizzle 128", or 0 for none. */
static enum cj_map_swizzle
read_swizzle(struct cj_reader *r)
{
	int64_t width;
	int s = CJ_MAP_PLAIN;

	cj_reader_need_word(r, "swizzle");
	width = cj_reader_int(r, 0, 128);
	if (width == 0)
		return CJ_MAP_PLAIN;
	while (s < CJ_MAP_128 && (int64_t)16 << s != width)
		s++;
	if (!r->failed && (s == CJ_MAP_PLAIN || (int64_t)16 << s != width))
		cj_reader_fail(r, "a swizzle is 0, 32, 64 or 128");
	return (enum cj_map_swizzle)s;
}

static uint32_t
read_map(struct cj_reader *r)
{
	struct cj_map map;
	uint32_t i;

	memset(&map, 0, sizeof map);
	map.object = cj_reader_object(r);
	cj_reader_need_word(r, "box");
	cj_reader_need_mark(r, '(');
	do {
		if (map.rank == CJ_MAP_MODES) {
			cj_reader_fail(r, "a box has up to 5 modes");
			return 0;
		}
		map.box[map.rank++] = (uint32_t)cj_reader_int(r, 0, 1024);
	} while (cj_reader_mark(r, ','));
	cj_reader_need_mark(r, ')');
	map.swizzle = read_swizzle(r);
	map.promote = cj_reader_word(r, "promote") ?
	    (uint32_t)cj_reader_int(r, 0, 256) : CJ_MAP_PROMOTE;
	map.fills_nan = cj_reader_word(r, "nans");
	map.compares = cj_reader_word(r, "compares");
	for (i = 0; i < CJ_MAP_MODES; i++)
		map.step[i] = 1;
	if (cj_reader_word(r, "rows"))
		map.kind = CJ_MAP_ROWS;
	for (i = 0; i + 2 < map.rank && cj_reader_word(r, "pixels"); i++) {
		map.kind = CJ_MAP_PIXELS;
		map.lower[i] = (int32_t)cj_reader_int(r, -32768, 32767);
		cj_reader_need_word(r, "to");
		map.upper[i] = (int32_t)cj_reader_int(r, -32768, 32767);
		cj_reader_need_word(r, "by");
		map.step[i + 1] = (int32_t)cj_reader_int(r, 1, 8);
	}
	while (cj_reader_word(r, "mode")) {
		i = (uint32_t)cj_reader_int(r, 1, CJ_MAP_MODES - 1);
		cj_reader_need_word(r, "by");
		map.step[i] = (int32_t)cj_reader_int(r, 1, 8);
	}
	return r->failed ? 0 : cj_module_map(r->m, &map);
}

static uint32_t
read_map_encode(struct cj_reader *r)
{
	uint32_t map = read_map(r);

	cj_reader_need_word(r, "of");
	read_operands(r);
	return map;
}

uint32_t
cj_reader_spot(struct cj_reader *r)
{
	struct cj_access a = { .object = cj_reader_object(r) };

	cj_reader_need_mark(r, '[');
	cj_reader_operand(r);
	cj_reader_need_mark(r, ']');
	return r->failed ? 0 : cj_module_access(r->m, &a);
}

/* "reduce add evict first" */
static void
read_combining(struct cj_reader *r, bool *reduces, enum cj_atomic *how,
    enum cj_evict *evict)
{
	if ((*reduces = cj_reader_word(r, "reduce")))
		*how = (enum cj_atomic)cj_reader_enum(r, CJ_WORDS_ATOMIC);
	if (cj_reader_word(r, "evict"))
		*evict = (enum cj_evict)cj_reader_enum(r, CJ_WORDS_EVICT);
}

static uint32_t
read_tma(struct cj_reader *r)
{
	struct cj_tma_copy c = { .shared = cj_reader_spot(r) };

	cj_reader_need_word(r, "map");
	cj_reader_operand(r);
	if (cj_reader_word(r, "signal"))
		c.signal = cj_reader_spot(r);
	cj_reader_need_word(r, "of");
	c.map = read_map(r);
	cj_reader_need_word(r, "at");
	read_operands(r);
	if (cj_reader_word(r, "ranks"))
		cj_reader_operand(r);
	if (cj_reader_word(r, "share")) {
		c.share = (uint32_t)cj_reader_int(r, 1, 3);
		cj_reader_need_word(r, "cut");
		c.cut = (uint32_t)cj_reader_int(r, 0, 4);
	}
	c.is_early = cj_reader_word(r, "early");
	read_combining(r, &c.reduces, &c.how, &c.evict);
	return r->failed ? 0 : cj_module_tma(r->m, &c);
}

static uint32_t
read_bulk(struct cj_reader *r, enum cj_op op)
{
	struct cj_bulk_copy c = { .to = cj_reader_spot(r) };

	if (op == CJ_OP_BULK_COPY) {
		cj_reader_need_word(r, "from");
		c.from = cj_reader_spot(r);
	}
	cj_reader_need_word(r, op == CJ_OP_BULK_COPY ? "count" : "rank");
	cj_reader_operand(r);
	if (op == CJ_OP_SEND) {
		cj_reader_need_word(r, "value");
		cj_reader_operand(r);
	}
	if (cj_reader_word(r, "signal"))
		c.signal = cj_reader_spot(r);
	if (cj_reader_word(r, "rank") || cj_reader_word(r, "ranks"))
		cj_reader_operand(r);
	read_combining(r, &c.reduces, &c.how, &c.evict);
	return r->failed ? 0 : cj_module_bulk(r->m, &c);
}

uint32_t
cj_reader_matrix(struct cj_reader *r, struct cj_operand_desc *d)
{
	uint32_t access = cj_reader_spot(r);

	cj_reader_need_word(r, "leading");
	d->leading = (uint32_t)cj_reader_int(r, 0, 1 << 18);
	cj_reader_need_word(r, "stride");
	d->stride = (uint32_t)cj_reader_int(r, 0, 1 << 18);
	d->swizzle = read_swizzle(r);
	d->by_column = cj_reader_word(r, "by_column");
	return access;
}

/* "@7[4]" of a slot, or a matrix in shared memory. */
static uint32_t
read_left(struct cj_reader *r, struct cj_operand_desc *d)
{
	struct cj_reader ahead = *r;
	struct cj_access a = { .object = cj_reader_object(&ahead) };

	if (ahead.failed || r->m->objects.at[a.object].kind !=
	    CJ_OBJECT_SLOT)
		return cj_reader_matrix(r, d);
	a.object = cj_reader_object(r);
	cj_reader_need_mark(r, '[');
	a.position = (uint32_t)cj_reader_int(r, 0, UINT16_MAX);
	cj_reader_need_mark(r, ']');
	return r->failed ? 0 : cj_module_access(r->m, &a);
}

static uint32_t
read_wgmma(struct cj_reader *r)
{
	const char *name = cj_reader_text(r), *why;
	struct cj_wgmma w = { .name = NULL };
	struct cj_access sum = { 0 };

	if (!r->failed && (why = cj_wgmma_find(r->m->arena, name, &w)) != NULL)
		cj_reader_fail(r, why);
	sum.object = cj_reader_object(r);
	cj_reader_need_mark(r, '[');
	sum.position = (uint32_t)cj_reader_int(r, 0, UINT16_MAX);
	cj_reader_need_mark(r, ']');
	cj_reader_need_word(r, "a");
	w.a_at = read_left(r, &w.a_desc);
	cj_reader_need_word(r, "b");
	w.b_at = cj_reader_matrix(r, &w.b_desc);
	if (w.selectors != 0) {
		cj_reader_need_word(r, "metadata");
		cj_reader_operand(r);
		cj_reader_need_word(r, "selector");
		w.selector = (uint32_t)cj_reader_int(r, 0, 3);
	}
	if (cj_reader_word(r, "accumulate"))
		cj_reader_operand(r);
	if (r->failed)
		return 0;
	w.sum = cj_module_access(r->m, &sum);
	return cj_module_wgmma(r->m, &w);
}

static uint32_t
read_stage_use(struct cj_reader *r)
{
	struct cj_stage_use u = { 0 };

	cj_reader_need_word(r, "pipeline");
	u.pipeline = (uint32_t)cj_reader_int(r, 1, UINT16_MAX);
	if (!r->failed && u.pipeline >= r->m->pipelines.len)
		cj_reader_fail(r, "there is no such pipeline");
	if (cj_reader_word(r, "ahead") || cj_reader_word(r, "in_flight"))
		u.count = (uint32_t)cj_reader_int(r, 0, CJ_MAX_STAGES);
	u.keep = cj_reader_word(r, "keep");
	u.by_lane = cj_reader_word(r, "lane");
	if (cj_reader_word(r, "when") || cj_reader_word(r, "by"))
		cj_reader_operand(r);
	return r->failed ? 0 : cj_module_stage_use(r->m, &u);
}

static uint32_t
read_role(struct cj_reader *r)
{
	struct cj_role role = { .name = cj_reader_text(r) };

	cj_reader_need_word(r, "warps");
	role.first = (uint32_t)cj_reader_int(r, 0, 31);
	cj_reader_need_word(r, "to");
	role.warps = (uint32_t)cj_reader_int(r, role.first + 1, 32) -
	    role.first;
	if (cj_reader_word(r, "registers"))
		role.registers = (uint32_t)cj_reader_int(r, 0, 256);
	return r->failed ? 0 : cj_module_role(r->m, &role);
}

static uint32_t
read_order(struct cj_reader *r)
{
	uint32_t number;

	cj_reader_need_word(r, "order");
	number = (uint32_t)cj_reader_int(r, 1, UINT16_MAX);
	if (!r->failed && number >= r->m->orders.len)
		cj_reader_fail(r, "there is no such order");
	cj_reader_need_word(r, "as");
	cj_reader_operand(r);
	return number;
}

static uint32_t
read_device(struct cj_reader *r)
{
	struct cj_device_ask ask = { .fact =
	    (enum cj_device_fact)cj_reader_enum(r, CJ_WORDS_DEVICE) };

	if (r->failed || ask.fact != CJ_DEVICE_CLUSTERS)
		return cj_device_attr(ask);
	ask.blocks = (unsigned)cj_reader_int(r, 1, CJ_CLUSTER_BLOCKS);
	cj_reader_need_word(r, "per_sm");
	ask.per_sm = (unsigned)cj_reader_int(r, 1, CJ_SM_BLOCKS);
	return cj_device_attr(ask);
}

static uint32_t
read_int(struct cj_reader *r, enum cj_op op)
{
	uint32_t attr;

	switch ((unsigned)op) {
	case CJ_OP_SPECIAL:
		return (uint32_t)cj_reader_enum(r, CJ_WORDS_SPECIAL);
	case CJ_OP_DEVICE:
		return read_device(r);
	case CJ_OP_FENCE:
		return (uint32_t)cj_reader_enum(r, CJ_WORDS_FENCE);
	case CJ_OP_TMEM_WAIT:
		return (uint32_t)cj_reader_enum(r, CJ_WORDS_TMEM_WAIT);
	case CJ_OP_BULK_WAIT: case CJ_OP_BULK_WAIT_READ:
	case CJ_OP_WGMMA_WAIT:
	case CJ_OP_REGISTERS_DOWN: case CJ_OP_REGISTERS_UP:
		return (uint32_t)cj_reader_int(r, 0, UINT16_MAX);
	case CJ_OP_PARAM:
		return (uint32_t)cj_reader_int(r, 0, UINT32_MAX);
	case CJ_OP_CP_WAIT:
		return cj_reader_word(r, "all") ? CJ_WAIT_ALL :
		    (uint32_t)cj_reader_int(r, 0, UINT16_MAX);
	case CJ_OP_REDUX:
		attr = (uint32_t)cj_reader_enum(r, CJ_WORDS_ATOMIC);
		read_operands(r);
		return attr;
	case CJ_OP_SHFL:
		attr = (uint32_t)cj_reader_enum(r, CJ_WORDS_SHFL);
		read_operands(r);
		return attr;
	default:
		read_operands(r);
		cj_reader_need_word(r, "at");
		return (uint32_t)cj_reader_int(r, 0, UINT32_MAX);
	}
}

static uint32_t
read_positions(struct cj_reader *r)
{
	CJ_VEC(uint32_t) at = { 0 };

	read_operands(r);
	cj_reader_need_mark(r, '[');
	if (!cj_reader_mark(r, ']')) {
		do
			*cj_push(r->m->arena, &at) = (uint32_t)cj_reader_int(r,
			    0, UINT32_MAX);
		while (cj_reader_mark(r, ','));
		cj_reader_need_mark(r, ']');
	}
	return cj_module_positions(r->m, at.at, at.len);
}

static uint32_t
read_conversion(struct cj_reader *r)
{
	struct cj_conversion c = { .is_default = true };

	read_operands(r);
	if (cj_reader_word(r, "round")) {
		c.is_default = false;
		c.rounding = (enum cj_rounding)cj_reader_enum(r,
		    CJ_WORDS_ROUNDING);
		c.saturate = cj_reader_word(r, "saturate");
	}
	return cj_module_conversion(r->m, c);
}

static uint32_t
read_launch(struct cj_reader *r)
{
	struct cj_launch l = { 0 };

	/* whether it exists is seen when all is read */
	l.function = cj_reader_ref(r, TOKEN_FUNCTION, "a function");
	read_operands_in(r, "grid");
	read_operands_in(r, "block");
	read_operands_in(r, "cluster");
	read_operands_in(r, "with");
	l.cooperative = cj_reader_word(r, "cooperative");
	l.dependent = cj_reader_word(r, "dependent");
	*cj_push(r->m->arena, &r->m->launches) = l;
	return r->m->launches.len - 1;
}

static uint32_t
read_require(struct cj_reader *r)
{
	struct cj_require q = { 0 };

	read_operands(r);
	if (cj_reader_word(r, "parameter"))
		q.parameter = cj_reader_text(r);
	if (cj_reader_word(r, "need"))
		q.need = cj_reader_text(r);
	if (cj_reader_word(r, "names"))
		q.names = cj_reader_text(r);
	if (cj_reader_word(r, "code")) {
		if (r->token == TOKEN_WORD)
			q.code = cj_code_find(cj_strndup(r->m->arena,
			    r->start, r->length));
		if (q.code == CJ_DIAG_NONE)
			cj_reader_fail(r, "the code of a message is needed");
		cj_reader_next(r);
	}
	*cj_push(r->m->arena, &r->m->requires) = q;
	return r->m->requires.len - 1;
}

static uint32_t
read_expect(struct cj_reader *r)
{
	struct cj_expect e = { 0 };

	read_operands(r);
	if (cj_reader_word(r, "text"))
		e.text = cj_reader_text(r);
	if (cj_reader_word(r, "left"))
		e.left = cj_reader_text(r);
	if (cj_reader_word(r, "right"))
		e.right = cj_reader_text(r);
	*cj_push(r->m->arena, &r->m->expects) = e;
	return r->m->expects.len - 1;
}

static void
read_argument(struct cj_reader *r, struct cj_argument *a)
{
	uint32_t of[2] = { 0, 0 };

	a->kind = (enum cj_argument_kind)cj_reader_enum(r,
	    CJ_WORDS_ARGUMENT);
	cj_reader_dotted(r, of, 2);
	a->parameter = of[0];
	a->member = of[1];
	if (a->kind != CJ_ARGUMENT_NONE)
		a->element = cj_reader_kind(r);
	if (a->kind == CJ_ARGUMENT_TENSOR) {
		a->object = cj_reader_object(r);
		cj_reader_need_word(r, "rank");
		a->rank = (uint32_t)cj_reader_int(r, 0, UINT16_MAX);
	}
}

static uint32_t
read_call(struct cj_reader *r)
{
	CJ_VEC(struct cj_argument) arguments = { 0 };
	struct cj_call c = { .member = -1 };

	c.is_time = cj_reader_word(r, "time");
	if (!c.is_time)
		cj_reader_need_word(r, "launch");
	if (r->token == TOKEN_TEXT)
		c.kernel = cj_reader_text(r);
	if (cj_reader_word(r, "member"))
		c.member = (int)cj_reader_int(r, 0, INT32_MAX);
	if (cj_reader_word(r, "refused"))
		c.refusal = cj_reader_text(r);
	cj_reader_need_word(r, "arguments");
	cj_reader_need_mark(r, '(');
	if (!cj_reader_mark(r, ')')) {
		do {
			struct cj_argument a = { 0 };

			read_argument(r, &a);
			*cj_push(r->m->arena, &arguments) = a;
		} while (cj_reader_mark(r, ','));
		cj_reader_need_mark(r, ')');
	}
	read_operands_in(r, "with");
	c.argument = arguments.at;
	c.count = arguments.len;
	*cj_push(r->m->arena, &r->m->calls) = c;
	return r->m->calls.len - 1;
}

static uint32_t
read_array(struct cj_reader *r)
{
	struct cj_array a = { 0 };

	a.object = cj_reader_object(r);
	a.generator = (enum cj_generator)cj_reader_enum(r,
	    CJ_WORDS_GENERATOR);
	read_operands(r);
	*cj_push(r->m->arena, &r->m->arrays) = a;
	return r->m->arrays.len - 1;
}

static uint32_t
read_mma(struct cj_reader *r)
{
	const char *why = NULL, *name = cj_reader_text(r);
	uint32_t attr = r->failed ? 0 : cj_module_mma(r->m, name, &why);

	if (!r->failed && attr == 0)
		cj_reader_fail(r, why);
	read_operands(r);
	return attr;
}

static uint32_t
read_constant(struct cj_reader *r, cj_type t)
{
	const uint64_t *bits = cj_reader_bits(r, cj_type_kind(t),
	    cj_type_count(t));

	return r->failed ? 0 : cj_module_constant(r->m, t, bits);
}

static uint32_t
read_target(struct cj_reader *r)
{
	uint32_t n = cj_reader_ref(r, TOKEN_TARGET, "a target");

	if (!r->failed && (n >= r->targets.len || r->targets.at[n] == 0))
		cj_reader_fail(r, "there is no such target");
	return r->failed ? 0 : r->targets.at[n];
}

uint32_t
cj_reader_attr(struct cj_reader *r, enum cj_op op, cj_type t)
{
	uint32_t attr;

	switch (cj_op_info[op].attr) {
	case CJ_ATTR_NONE: read_operands(r); return 0;
	case CJ_ATTR_CONSTANT: return read_constant(r, t);
	case CJ_ATTR_ACCESS: return read_access(r, op);
	case CJ_ATTR_INT: return read_int(r, op);
	case CJ_ATTR_TARGET: return read_target(r);
	case CJ_ATTR_POSITIONS: return read_positions(r);
	case CJ_ATTR_CONVERSION: return read_conversion(r);
	case CJ_ATTR_LAUNCH: return read_launch(r);
	case CJ_ATTR_REQUIRE: return read_require(r);
	case CJ_ATTR_TEXT:
		attr = cj_module_text(r->m, cj_reader_text(r));
		read_operands(r);
		return attr;
	case CJ_ATTR_EXPECT: return read_expect(r);
	case CJ_ATTR_CALL: return read_call(r);
	case CJ_ATTR_ARRAY: return read_array(r);
	case CJ_ATTR_COPY: return read_copy(r);
	case CJ_ATTR_MAP: return read_map_encode(r);
	case CJ_ATTR_TMA: return read_tma(r);
	case CJ_ATTR_WGMMA: return read_wgmma(r);
	case CJ_ATTR_TMEM: return cj_reader_tmem(r, op);
	case CJ_ATTR_TCGEN05: return cj_reader_tcgen05(r);
	case CJ_ATTR_BULK: return read_bulk(r, op);
	case CJ_ATTR_MMA: return read_mma(r);
	case CJ_ATTR_STAGE: return read_stage_use(r);
	case CJ_ATTR_ROLE: return read_role(r);
	case CJ_ATTR_ORDER: return read_order(r);
	}
	return 0;
}
