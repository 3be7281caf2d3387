/*
 * `where`: what is checked at each launch, and what is learned from it.
 *
 * Understood as facts: sum % c == 0, and comparisons whose difference is a
 * sum of one name with known numbers. What only compile-time names occur in is
 * decided when the member is bound.
 */
#include "elab_contract.h"

enum { MAX_SHOWN = 16 };

/* ---- names of a condition ------------------------------------------------ */

struct names {
	struct cj_elab *el;
	struct cj_int shown[MAX_SHOWN];
	uint32_t count;
	bool at_run_time;
	const struct cj_bound *known[MAX_SHOWN];	/* const parameters */
	uint32_t known_count;
};

static void find_names(struct names *f, const struct cj_node *n);

static void
find_in_list(struct names *f, const struct cj_list *l)
{
	uint32_t i;

	for (i = 0; i < l->count; i++)
		find_names(f, l->at[i]);
}

static void
add_known(struct names *f, const struct cj_bound *b)
{
	uint32_t i;

	for (i = 0; i < f->known_count; i++)
		if (f->known[i] == b)
			return;
	if (f->known_count < MAX_SHOWN && b->value.kind != CJ_VALUE_FUNCTION)
		f->known[f->known_count++] = b;
}

static void
add_name(struct names *f, cj_name name)
{
	const struct cj_bound *b = cj_env_find(f->el->env, name);
	uint32_t i;

	if (b == NULL)
		return;
	if (cj_value_is_known(&b->value)) {
		add_known(f, b);
		return;
	}
	f->at_run_time = true;
	if (b->value.kind != CJ_VALUE_INT || f->count == MAX_SHOWN)
		return;
	for (i = 0; i < f->count; i++)
		if (cj_int_same(f->shown[i], b->value.i))
			return;
	f->shown[f->count++] = b->value.i;
}

static void
find_names(struct names *f, const struct cj_node *n)
{
	switch ((unsigned)n->kind) {
	case CJ_NODE_NAME: add_name(f, n->name.name); break;
	case CJ_NODE_TUPLE: find_in_list(f, &n->tuple.items); break;
	case CJ_NODE_CALL:
		find_names(f, n->call.callee);
		find_in_list(f, &n->call.items);
		break;
	case CJ_NODE_INDEX:
		find_names(f, n->index.base);
		find_in_list(f, &n->index.items);
		break;
	case CJ_NODE_MEMBER:
		if (n->member.base->kind == CJ_NODE_NAME &&
		    strcmp(cj_elab_name(f->el, n->member.base->name.name),
		    "device") == 0)
			f->at_run_time = true;
		find_names(f, n->member.base);
		break;
	case CJ_NODE_UNARY: find_names(f, n->unary.operand); break;
	case CJ_NODE_BINARY:
		find_names(f, n->binary.left);
		find_names(f, n->binary.right);
		break;
	case CJ_NODE_IN:
		find_names(f, n->in.value);
		find_in_list(f, &n->in.items);
		break;
	case CJ_NODE_RANGE:
		find_names(f, n->range.first);
		find_names(f, n->range.last);
		break;
	case CJ_NODE_LAYOUT:
		find_names(f, n->layout.shape);
		find_names(f, n->layout.stride);
		break;
	case CJ_NODE_NAMED: find_names(f, n->named.value); break;
	case CJ_NODE_SPREAD: find_names(f, n->spread.operand); break;
	case CJ_NODE_IF_VALUE:
		find_in_list(f, &n->if_value.arms);
		find_names(f, n->if_value.otherwise);
		break;
	case CJ_NODE_ARM:
		find_names(f, n->arm.cond);
		find_names(f, n->arm.body);
		break;
	}
}

/* ---- facts --------------------------------------------------------------- */

/* i as factor * symbol + constant. */
static bool
is_line(struct cj_elab *el, struct cj_int i, struct cj_int *symbol,
    int64_t *factor, int64_t *constant)
{
	const struct cj_term *t, *s;

	assert(symbol != NULL && factor != NULL && constant != NULL);
	if (cj_is_known(i))
		return false;
	t = cj_term_get(&el->sym, i);
	*symbol = i;
	*factor = 1;
	*constant = 0;
	if (t->kind == CJ_TERM_SYMBOL)
		return true;
	if (t->kind != CJ_TERM_SUM || t->count != 1)
		return false;
	*symbol = (struct cj_int){ 0, t->addend[0].term };
	*factor = t->addend[0].factor;
	*constant = t->constant;
	s = cj_term_get(&el->sym, *symbol);
	return s->kind == CJ_TERM_SYMBOL;
}

static bool
int_of(struct cj_elab *el, const struct cj_node *n, struct cj_int *out)
{
	struct cj_value v = cj_elab_expr(el, n);

	if (v.kind != CJ_VALUE_INT)
		return false;
	*out = v.i;
	return true;
}

/* a % b == 0, of two numbers of the call: of use where b divides in device
 * code (elab_least.c). */
static void
learn_divided(struct cj_elab *el, struct cj_int a, struct cj_int b)
{
	const struct cj_term *x, *y;

	if (cj_is_known(a) || cj_is_known(b))
		return;
	x = cj_term_get(&el->sym, a);
	y = cj_term_get(&el->sym, b);
	if (x->kind == CJ_TERM_SYMBOL && y->kind == CJ_TERM_SYMBOL)
		*cj_push(el->arena, &el->divided) = (struct cj_divided_symbol){
		    .symbol = x->symbol, .by = y->symbol };
}

/* a % c == 0 */
static bool
learn_divisor(struct cj_contract *c, const struct cj_node *n)
{
	const struct cj_node *mod = n->binary.left;
	struct cj_int a, by, zero, symbol;
	int64_t factor, constant;

	if (n->binary.oper != CJ_OPER_EQ || mod->kind != CJ_NODE_BINARY ||
	    mod->binary.oper != CJ_OPER_MOD)
		return false;
	if (!int_of(c->el, mod->binary.left, &a) ||
	    !int_of(c->el, mod->binary.right, &by) ||
	    !int_of(c->el, n->binary.right, &zero))
		return false;
	if (cj_is_value(zero, 0))
		learn_divided(c->el, a, by);
	if (!cj_is_value(zero, 0) || !cj_is_known(by) || by.value < 1 ||
	    !is_line(c->el, a, &symbol, &factor, &constant) ||
	    constant % by.value != 0)
		return false;
	cj_contract_fact(c, symbol, INT64_MIN, INT64_MAX,
	    by.value / cj_gcd(by.value, factor));
	return true;
}

static int64_t
floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* least <= factor * symbol + constant */
static void
learn_least(struct cj_contract *c, struct cj_int symbol, int64_t factor,
    int64_t bound)
{
	if (factor > 0)		/* symbol >= ceil(bound / factor) */
		cj_contract_fact(c, symbol, -floor_div(-bound, factor),
		    INT64_MAX, 1);
	else
		cj_contract_fact(c, symbol, INT64_MIN,
		    floor_div(-bound, -factor), 1);
}

static bool
learn_bound(struct cj_contract *c, const struct cj_node *n)
{
	struct cj_elab *el = c->el;
	enum cj_oper op = n->binary.oper;
	struct cj_int a, b, symbol;
	int64_t factor, constant, least = 0;

	assert(n->kind == CJ_NODE_BINARY);
	if (!int_of(el, n->binary.left, &a) ||
	    !int_of(el, n->binary.right, &b))
		return false;
	if (op == CJ_OPER_LT || op == CJ_OPER_GT)
		least = 1;
	if (op == CJ_OPER_GT || op == CJ_OPER_GE)
		a = cj_int_sub(&el->sym, a, b);
	else
		a = cj_int_sub(&el->sym, b, a);
	if (!is_line(el, a, &symbol, &factor, &constant) ||
	    constant > INT64_MAX / 4 || constant < INT64_MIN / 4)
		return false;
	if (op == CJ_OPER_NE)
		return false;
	learn_least(c, symbol, factor, least - constant);
	if (op == CJ_OPER_EQ)
		learn_least(c, symbol, -factor, least + constant);
	return true;
}

static bool
is_comparison(const struct cj_node *n)
{
	if (n->kind != CJ_NODE_BINARY)
		return false;
	switch ((unsigned)n->binary.oper) {
	case CJ_OPER_EQ: case CJ_OPER_NE: case CJ_OPER_LT: case CJ_OPER_GT:
	case CJ_OPER_LE: case CJ_OPER_GE:
		return true;
	}
	return false;
}

/* ---- one condition ------------------------------------------------------- */

/* "tile = (128, 64), stages = 1" */
static const char *
known_text(const struct names *f)
{
	struct cj_strbuf b;
	uint32_t i;

	cj_strbuf_init(&b, f->el->arena);
	for (i = 0; i < f->known_count; i++)
		cj_strbuf_printf(&b, "%s%s = %s", i == 0 ? "" : ", ",
		    cj_elab_name(f->el, f->known[i]->name),
		    cj_value_text(f->el, &f->known[i]->value));
	return b.text;
}

static bool
refuse(struct cj_contract *c, const struct cj_node *n, const struct names *f)
{
	const char *need = cj_elab_source_text(c->el, n->span);

	return f->known_count == 0 ? cj_contract_refuse(c, n->span,
	    "needs %s", need) : cj_contract_refuse(c, n->span,
	    "needs %s, got %s", need, known_text(f));
}

static bool
decide(struct cj_contract *c, const struct cj_node *n, const struct names *f)
{
	struct cj_value v = cj_elab_expr(c->el, n);

	if (v.kind == CJ_VALUE_ERROR)
		return false;
	if (v.kind == CJ_VALUE_BOOL)
		return v.truth || refuse(c, n, f);
	cj_elab_not_condition(c->el, n->span, &v);
	return false;
}

static bool
check(struct cj_contract *c, const struct cj_node *n, const struct names *f)
{
	struct cj_elab *el = c->el;
	struct cj_value v;
	bool known, truth;
	cj_ref ref;

	cj_elab_at(el, n->span);
	v = cj_elab_expr(el, n);
	if (!cj_elab_condition(el, n->span, v, &known, &truth, &ref))
		return false;
	if (known && truth)
		return true;
	if (known)
		ref = cj_emit_bool(&el->em->b, truth);
	cj_contract_require(c, ref, NULL, cj_elab_source_text(el, n->span),
	    f->shown, f->count);
	if (!is_comparison(n) || (!learn_divisor(c, n) && !learn_bound(c, n)))
		cj_elab_report(el, CJ_DIAG_UNUSED_FACT, n->span,
		    "the condition is checked at each launch, but not used");
	return true;
}

static bool
condition(struct cj_contract *c, const struct cj_node *n)
{
	struct names f = { .el = c->el };

	if (n->kind == CJ_NODE_BINARY && n->binary.oper == CJ_OPER_AND)
		return condition(c, n->binary.left) &&
		    condition(c, n->binary.right);
	find_names(&f, n);
	if (c->walk == CJ_WALK_BIND)
		return f.at_run_time || decide(c, n, &f);
	return !f.at_run_time || check(c, n, &f);
}

bool
cj_contract_where(struct cj_contract *c)
{
	const struct cj_list *where = &c->kernel->kernel.where;
	bool ok = true;
	uint32_t i;

	for (i = 0; i < where->count; i++) {
		ok = condition(c, where->at[i]) && ok;
		if (!ok && c->walk == CJ_WALK_BIND)
			return false;
	}
	return ok;
}
