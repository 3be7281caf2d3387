/*
 * Statements, and the kernel around them.
 *
 * A thread writes to elements of its own alone, but for counters, which all
 * change by one atomic operation whose order does not matter, and for memory
 * that it shares with others between barriers. Where not all threads of the
 * block come there are no barriers and nothing that lanes do together.
 */
#include "program_priv.h"

enum { DEEPEST_BLOCK = 3, MOST_STATEMENTS = 40, MOST_NODES = 400,
    COUNTERS = 16, TURNS = 5 };

static void block(struct make *m, unsigned statements);

static void
line(struct make *m, const char *text)
{
	unsigned i;

	for (i = 0; i < m->depth + 2; i++)
		cj_strbuf_puts(&m->body, "    ");
	cj_strbuf_puts(&m->body, text);
	cj_strbuf_puts(&m->body, "\n");
}

/* ---- names -------------------------------------------------------------- */

static struct make_name *
declare(struct make *m, char prefix, enum cj_kind k, unsigned n)
{
	struct make_name *v = &m->names[m->count];

	if (m->count == MAKE_NAMES)
		return NULL;
	m->count++;
	v->prefix = prefix;
	v->number = m->numbered++;
	v->kind = k;
	v->n = n;
	v->bound = 0;
	return v;
}

const char *
make_tensor(struct make *m, enum program_role role, enum cj_kind k)
{
	static const char letters[] = { [PROGRAM_INPUT] = 'x',
	    [PROGRAM_OUTPUT] = 'y', [PROGRAM_COUNTERS] = 'z' };
	struct program_parameter *p = m->out->parameters;
	uint32_t i;

	for (i = 0; i < m->out->count; i++)
		if (p[i].role == role && p[i].kind == k)
			break;
	if (i == m->out->count)
		m->out->count++;
	p[i].role = role;
	p[i].kind = k;
	p[i].extent = role == PROGRAM_INPUT ? PROGRAM_INPUTS :
	    role == PROGRAM_COUNTERS ? COUNTERS :
	    (int64_t)m->threads * PROGRAM_BLOCKS * PROGRAM_OWN;
	return cj_printf(m->arena, "%c_%s", letters[role], cj_kind_text(k));
}

/* ---- values ------------------------------------------------------------- */

static unsigned
registers(struct make *m)
{
	return make_chance(m, 80) ? 2u << make_pick(m, 3) : 1;
}

static void
declare_value(struct make *m)
{
	enum cj_kind k = make_chance(m, 24) ? CJ_KIND_BOOL : make_kind(m);
	unsigned n = k == CJ_KIND_BOOL ? 1 : registers(m);
	bool is_var = make_chance(m, 128);
	const char *e = make_expr(m, k, n, 0);
	struct make_name *v = declare(m, is_var ? 'c' : 'v', k, n);

	if (v != NULL)
		line(m, cj_printf(m->arena, "%s %c%u = %s;", is_var ? "var" :
		    "let", v->prefix, v->number, e));
}

static void
declare_index(struct make *m)
{
	int64_t bound;
	const char *e = make_index(m, 0, &bound);
	struct make_name *v = declare(m, 'v', CJ_KIND_INDEX, 1);

	if (v == NULL)
		return;
	v->bound = bound;
	line(m, cj_printf(m->arena, "let v%u = %s;", v->number, e));
}

static const struct make_name *
find_var(struct make *m)
{
	unsigned skip = make_byte(m), i, fit = 0;

	for (i = 0; i < m->count; i++)
		fit += m->names[i].prefix == 'c';
	if (fit == 0)
		return NULL;
	skip %= fit;
	for (i = m->count; i-- != 0;)
		if (m->names[i].prefix == 'c' && skip-- == 0)
			return &m->names[i];
	return NULL;
}

static const char *
update(struct make *m, enum cj_kind k)
{
	static const char *const of_all[] = { "=", "=", "+=", "-=", "*=" };
	static const char *const of_integers[] = { "/=", "%=", "&=", "|=",
	    "^=", "<<=", ">>=" };

	if (k == CJ_KIND_BOOL)
		return "=";
	if (!cj_kind_is_float(k) && make_chance(m, 100))
		return of_integers[make_pick(m, CJ_LENGTH(of_integers))];
	return of_all[make_pick(m, CJ_LENGTH(of_all))];
}

static void
assign(struct make *m)
{
	const struct make_name *v = find_var(m), *w = find_var(m);
	const char *how;

	if (v == NULL) {
		declare_value(m);
		return;
	}
	if (v != w && v->kind == w->kind && v->n == w->n) {
		line(m, cj_printf(m->arena, "(c%u, c%u) = (c%u, c%u);",
		    v->number, w->number, w->number, v->number));
		return;
	}
	how = update(m, v->kind);
	line(m, cj_printf(m->arena, "c%u %s %s;", v->number, how,
	    make_expr(m, v->kind, v->n, 0)));
}

static void
store(struct make *m)
{
	enum cj_kind k = make_chance(m, 24) ? CJ_KIND_BOOL : make_kind(m);
	unsigned n = k == CJ_KIND_BOOL ? 1 : registers(m);
	const char *t = make_tensor(m, PROGRAM_OUTPUT, k);
	const char *i = make_below(m, PROGRAM_OWN / n, 2);
	const char *e = make_expr(m, k, n, 0);

	line(m, n == 1 ? cj_printf(m->arena, "%s[g * %u + %s] = %s;", t,
	    PROGRAM_OWN, i, e) : cj_printf(m->arena,
	    "local_tile(%s, %u, g * %u + %s) = %s;", t, n, PROGRAM_OWN / n, i,
	    e));
}

static void
count_up(struct make *m)
{
	static const enum cj_kind kinds[] = { CJ_KIND_I32, CJ_KIND_U32,
	    CJ_KIND_U64 };
	static const char *const names[] = { "add", "min", "max", "and", "or",
	    "xor" };
	enum cj_kind k = kinds[make_pick(m, CJ_LENGTH(kinds))];
	unsigned which = make_pick(m, CJ_LENGTH(names));
	const char *t = make_tensor(m, PROGRAM_COUNTERS, k);
	const char *e = make_expr(m, k, 1, 1);

	/* an element for each operation: two of them do not commute */
	line(m, cj_printf(m->arena, "atomic_%s(%s[%u], %s);",
	    names[which], t, which, e));
}

/* ---- memory that is shared ---------------------------------------------- */

static const char *
shared_layout(struct make *m, int64_t threads)
{
	static const char *const of_32[] = { "32", "(8, 4):(4, 1)",
	    "((2, 4), 4):((4, 8), 1)", "(4, (2, 4)):(1, (16, 4))",
	    "composition(swizzle(1, 1, 3), row_major(4, 8))",
	    "composition(swizzle(2, 0, 2), (4, 8):(1, 4))",
	    "32:3", "(8, 4):(5, 40)" };
	static const char *const of_64[] = { "64", "(8, 8):(8, 1)",
	    "((2, 4), 8):((4, 8), (1))", "(4, (2, 8)):(1, (32, 4))",
	    "composition(swizzle(2, 1, 3), row_major(8, 8))",
	    "composition(swizzle(3, 0, 3), (8, 8):(1, 8))",
	    "64:3", "(8, 8):(9, 1)" };
	unsigned which = make_pick(m, CJ_LENGTH(of_32));

	if (which == 2 && threads == 64)
		return "((2, 4), 8):((8, 16), 1)";
	return threads == 32 ? of_32[which] : of_64[which];
}

/* Each thread gives something, and takes what another one gave. */
static void
exchange(struct make *m)
{
	enum cj_kind k = make_kind(m);
	unsigned number = m->numbered++;
	struct make_name *v;
	const char *e;

	line(m, cj_printf(m->arena, "shared s%u: tensor(%s, %s);", number,
	    cj_kind_text(k), shared_layout(m, m->threads)));
	e = make_expr(m, k, 1, 1);
	line(m, cj_printf(m->arena, "s%u[t] = %s;", number, e));
	line(m, "sync();");
	e = make_below(m, m->threads, 1);
	v = declare(m, 'v', k, 1);
	line(m, v != NULL ? cj_printf(m->arena, "let v%u = s%u[%s];",
	    v->number, number, e) : "");
	line(m, "sync();");
}

/* A tile of an input comes to shared memory, each thread with four elements
 * of it. */
static void
copy_tile(struct make *m)
{
	enum cj_kind k = make_kind(m);
	unsigned number = m->numbered++, rows = m->threads / 8;
	static const char *const layouts[] = { "row_major(%u, 16)",
	    "(%u, 16)", "composition(swizzle(2, 2, 2), row_major(%u, 16))" };
	const char *layout = cj_printf(m->arena,
	    layouts[make_pick(m, CJ_LENGTH(layouts))], rows);
	const char *x = make_tensor(m, PROGRAM_INPUT, k);
	struct make_name *v;
	const char *i;

	line(m, cj_printf(m->arena, "shared s%u: tensor(%s, %s);", number,
	    cj_kind_text(k), layout));
	line(m, cj_printf(m->arena, "const a%u = tiled_copy(universal_copy("
	    "%s), (%u, 8), (1, 2));", number, cj_kind_text(k), rows));
	line(m, cj_printf(m->arena, "let b%u = make_tensor(%s, %s);", number,
	    x, make_chance(m, 128) ? cj_printf(m->arena,
	    "row_major(%u, 16)", rows) : cj_printf(m->arena,
	    "(%u, (2, 8)):(2, (1, %u))", rows, 2 * rows)));
	line(m, cj_printf(m->arena, "copy(a%u, partition_s(a%u, b%u, t), "
	    "partition_d(a%u, s%u, t));", number, number, number, number,
	    number));
	line(m, "sync();");
	i = make_below(m, rows * 16, 1);
	v = declare(m, 'v', k, 1);
	line(m, v != NULL ? cj_printf(m->arena, "let v%u = s%u[%s];",
	    v->number, number, i) : "");
	line(m, "sync();");
}

/* ---- control ------------------------------------------------------------ */

/* Statements of a block whose names end with it. */
static void
braces(struct make *m, const char *head, bool is_uniform, unsigned statements)
{
	bool was_uniform = m->is_uniform;
	unsigned count = m->count;

	line(m, cj_printf(m->arena, "%s {", head));
	m->depth++;
	m->is_uniform &= is_uniform;
	block(m, statements);
	m->depth--;
	m->is_uniform = was_uniform;
	m->count = count;
	line(m, "}");
}

static void
conditional(struct make *m)
{
	braces(m, cj_printf(m->arena, "if %s", make_condition(m, 0)), false,
	    1 + make_pick(m, 4));
	if (make_chance(m, 128))
		braces(m, "else", false, 1 + make_pick(m, 4));
}

static const char *
attributes(struct make *m)
{
	static const char *const all[] = { "", "", " unroll(1)", " unroll(2)",
	    " unroll(3)", " unroll(4)" };

	return all[make_pick(m, CJ_LENGTH(all))];
}

/* A loop that nobody leaves, with bounds that are the same for all, or one
 * with any bounds. */
static void
counted(struct make *m)
{
	bool is_same = make_chance(m, 128);
	unsigned is_left = m->loops;
	int64_t from = 0, to = 0, step = 1;
	const char *lo, *hi;
	struct make_name *v;
	unsigned count = m->count;

	lo = make_count(m, -3, 6, &from);
	if (is_same) {
		hi = make_count(m, -2, TURNS + 3, &to);
	} else {
		to = TURNS;
		hi = make_below(m, TURNS, 1);
	}
	if (make_chance(m, 64))
		step = 2 + make_pick(m, 2);
	v = declare(m, 'v', CJ_KIND_INDEX, 1);
	if (v == NULL)
		return;
	v->bound = (from < 0 ? -from : from) + (to < 0 ? -to : to);
	m->loops = !is_same;
	braces(m, cj_printf(m->arena, "for v%u in %s..%s%s%s", v->number, lo,
	    hi, step == 1 ? "" : cj_printf(m->arena, " step(%lld)",
	    (long long)step), attributes(m)), is_same, 1 + make_pick(m, 4));
	m->loops = is_left;
	m->count = count;
}

static void
repeated(struct make *m)
{
	unsigned number = m->numbered++, is_left = m->loops;
	bool was_uniform = m->is_uniform;
	const char *c;

	m->is_uniform = false;		/* who is still here? */
	c = make_condition(m, 1);
	m->is_uniform = was_uniform;
	line(m, cj_printf(m->arena, "var w%u = 0;", number));
	m->loops = 0;			/* the count has to go on */
	line(m, cj_printf(m->arena, "while w%u < %u && %s%s {", number,
	    1 + make_pick(m, TURNS), c, attributes(m)));
	m->depth++;
	line(m, cj_printf(m->arena, "w%u += 1;", number));
	m->loops = 1;
	braces(m, "if true", false, 1 + make_pick(m, 4));
	m->depth--;
	m->loops = is_left;
	line(m, "}");
}

static void
leave(struct make *m)
{
	const char *c;

	if (m->loops == 0) {
		store(m);
		return;
	}
	c = make_condition(m, 1);
	line(m, cj_printf(m->arena, "if %s { %s; }", c,
	    make_chance(m, 128) ? "break" : "continue"));
}

/* ---- all of it ---------------------------------------------------------- */

static void
statement(struct make *m)
{
	bool is_deep = m->depth >= DEEPEST_BLOCK;

	switch (make_pick(m, 16)) {
	case 0: case 1:
		declare_value(m);
		break;
	case 2:
		declare_index(m);
		break;
	case 3: case 4:
		assign(m);
		break;
	case 5:
		count_up(m);
		break;
	case 6:
		leave(m);
		break;
	case 7: case 8:
		(is_deep ? store : conditional)(m);
		break;
	case 9: case 10:
		(is_deep ? assign : counted)(m);
		break;
	case 11:
		(is_deep ? assign : repeated)(m);
		break;
	case 12:
		(m->is_uniform ? exchange : declare_value)(m);
		break;
	case 13:
		(m->is_uniform ? copy_tile : assign)(m);
		break;
	default:
		store(m);
		break;
	}
}

static void
block(struct make *m, unsigned statements)
{
	for (; statements != 0 && m->at < m->size && m->left != 0;
	    statements--) {
		m->left--;
		statement(m);
	}
}

static void
store_name(struct make *m, const struct make_name *v, unsigned i)
{
	bool is_int = v->kind == CJ_KIND_INDEX;
	const char *t = make_tensor(m, PROGRAM_OUTPUT, is_int ? CJ_KIND_I64 :
	    v->kind);
	unsigned room = PROGRAM_OWN / v->n;

	if (v->n == 1)
		line(m, cj_printf(m->arena, is_int ?
		    "%s[g * %u + %u] = i64(%c%u);" :
		    "%s[g * %u + %u] = %c%u;", t, room, i % room, v->prefix,
		    v->number));
	else
		line(m, cj_printf(m->arena, "local_tile(%s, %u, g * %u + %u)"
		    " = %c%u;", t, v->n, room, i % room, v->prefix,
		    v->number));
}

/* What is left in names at the end. */
static void
store_names(struct make *m)
{
	unsigned i;

	for (i = 0; i < m->count; i++)
		store_name(m, &m->names[i], i);
}

static void
put_parameter(struct make *m, struct cj_strbuf *b, uint32_t i)
{
	const struct program_parameter *p = &m->out->parameters[i];
	const char *kind = cj_kind_text(p->kind);

	if (p->role == PROGRAM_SCALAR)
		cj_strbuf_printf(b, "    p%u: %s", i, kind);
	else if (m->numbers == PROGRAM_KNOWN)
		cj_strbuf_printf(b, "    %s: tensor(%s, %lld:1)",
		    make_tensor(m, p->role, p->kind), kind,
		    (long long)p->extent);
	else
		cj_strbuf_printf(b, "    %s: tensor(%s, n%u:1)",
		    make_tensor(m, p->role, p->kind), kind, i);
}

static void
put_contract(struct make *m, struct cj_strbuf *b)
{
	const struct program_parameter *p = m->out->parameters;
	const char *between = "where ";
	uint32_t i;

	for (i = 0; i < m->out->count; i++) {
		if (p[i].role != PROGRAM_SCALAR || !p[i].is_bounded)
			continue;
		cj_strbuf_printf(b, "%sp%u >= %lld, p%u <= %lld", between, i,
		    (long long)p[i].bits - i % 3, i, (long long)p[i].bits +
		    i % 5);
		between = ", ";
	}
	cj_strbuf_puts(b, "\n");
}

static void
put_text(struct make *m, struct cj_strbuf *b)
{
	uint32_t i;

	cj_strbuf_puts(b, "fn number(v) => where(v == v, v, element(v)(1));\n"
	    "kernel k(\n");
	for (i = 0; i < m->out->count; i++) {
		put_parameter(m, b, i);
		cj_strbuf_puts(b, i + 1 < m->out->count ? ",\n" : "");
	}
	cj_strbuf_puts(b, ")\n");
	put_contract(m, b);
	cj_strbuf_printf(b, "{\n    launch grid(%u) block(%u) {\n"
	    "        let t = thread_idx.x;\n"
	    "        let g = block_idx.x * %u + t;\n", PROGRAM_BLOCKS,
	    m->threads, m->threads);
	cj_strbuf_puts(b, m->body.text);
	cj_strbuf_puts(b, "    }\n}\n");
}

void
program_make(struct cj_arena *a, const uint8_t *data, size_t size,
    enum program_numbers numbers, struct program *out)
{
	struct make m = { .arena = a, .data = data, .size = size,
	    .numbers = numbers, .out = out, .left = MOST_NODES,
	    .is_uniform = true };
	struct cj_strbuf b;

	memset(out, 0, sizeof *out);
	cj_strbuf_init(&m.body, a);
	m.threads = make_chance(&m, 128) ? 64 : 32;
	out->seed = make_byte(&m);
	block(&m, MOST_STATEMENTS);
	store_names(&m);
	cj_strbuf_init(&b, a);
	put_text(&m, &b);
	out->text = b.text;
}
