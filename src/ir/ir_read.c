/*
 * Reading the text form: module, objects, functions, places.
 *
 * Recursive descent without the recursion: regions nest as deep as they like,
 * since an open region knows the one around it. Texts may be anything; what is
 * not understood is an error with its line. The result is well-formed, every
 * reference exists, but whether it is right is for cj_module_verify().
 */
#include "ir_read_priv.h"

static void
read_object(struct cj_reader *r)
{
	struct cj_object o = { 0 };
	uint32_t number = cj_reader_ref(r, TOKEN_OBJECT, "an object");
	uint32_t of[2] = { 0, 0 };

	if (!r->failed && number != r->m->objects.len)
		cj_reader_fail(r, "objects are numbered in order");
	o.kind = (enum cj_object_kind)cj_reader_enum(r, CJ_WORDS_OBJECT);
	o.element = cj_reader_kind(r);
	cj_reader_need_mark(r, '[');
	if (cj_reader_mark(r, '?'))
		o.extent = -1;
	else
		o.extent = cj_reader_int(r, 0, INT64_MAX);
	cj_reader_need_mark(r, ']');
	if (cj_reader_word(r, "name"))
		o.name = cj_reader_text(r);
	if (cj_reader_word(r, "of"))
		cj_reader_dotted(r, of, 2);
	o.parameter = of[0];
	o.member = of[1];
	if (cj_reader_word(r, "stages"))
		o.stages = (uint32_t)cj_reader_int(r, 1, CJ_MAX_STAGES);
	if (cj_reader_word(r, "freed"))
		o.freed = cj_reader_ref(r, TOKEN_OBJECT, "an object");
	if (cj_reader_word(r, "over")) {
		o.host = cj_reader_ref(r, TOKEN_OBJECT, "an object");
		cj_reader_need_word(r, "at");
		o.offset = (uint32_t)cj_reader_int(r, 0, UINT32_MAX);
	}
	if (cj_reader_word(r, "range")) {
		cj_reader_int(r, 0, 0);
		if (r->token != TOKEN_DOTS)
			cj_reader_fail(r, "\"..\" is needed");
		cj_reader_next(r);
		o.most = cj_reader_int(r, 0, INT64_MAX);
		cj_reader_need_word(r, "by");
		o.multiple = cj_reader_int(r, 1, INT64_MAX);
	}
	if (cj_reader_word(r, "align"))
		o.align = (uint32_t)cj_reader_int(r, 0, UINT32_MAX);
	o.reads = cj_reader_word(r, "reads");
	o.writes = cj_reader_word(r, "writes");
	o.may_alias = cj_reader_word(r, "alias");
	o.is_bare = cj_reader_word(r, "bare");
	o.restored = cj_reader_word(r, "restored");
	if (cj_reader_word(r, "in"))	/* replaced when all is read */
		o.region = cj_reader_ref(r, TOKEN_REGION, "a region");
	if (cj_reader_word(r, "layout"))
		o.layout = cj_reader_text(r);
	if (cj_reader_word(r, "data")) {
		if (o.extent <= 0)
			cj_reader_fail(r, "an extent is needed for data");
		else
			o.data = cj_reader_bits(r, o.element,
			    (uint64_t)o.extent);
	}
	o.place = cj_reader_place(r);
	if (!r->failed)
		*cj_push(r->m->arena, &r->m->objects) = o;
}

static void
read_pipeline(struct cj_reader *r)
{
	struct cj_pipeline p = { 0 };
	CJ_VEC(uint32_t) fields = { 0 };
	int64_t number = cj_reader_int(r, 1, UINT16_MAX);

	if (!r->failed && number != r->m->pipelines.len)
		cj_reader_fail(r, "pipelines are numbered in order");
	cj_reader_need_word(r, "stages");
	p.stages = (uint32_t)cj_reader_int(r, 1, CJ_MAX_STAGES);
	if (cj_reader_word(r, "name"))
		p.name = cj_reader_text(r);
	cj_reader_need_word(r, "fields");
	cj_reader_need_mark(r, '(');
	if (!cj_reader_mark(r, ')')) {
		do {
			uint32_t object = cj_reader_object(r);

			*cj_push(r->m->arena, &fields) = object;
		} while (cj_reader_mark(r, ','));
		cj_reader_need_mark(r, ')');
	}
	p.is_split = cj_reader_word(r, "split");
	if (cj_reader_word(r, "in"))
		p.region = cj_reader_ref(r, TOKEN_REGION, "a region");
	p.place = cj_reader_place(r);
	p.fields = fields.at;
	p.field_count = fields.len;
	if (!r->failed)
		cj_module_pipeline(r->m, &p);
}

static void
read_order(struct cj_reader *r)
{
	struct cj_turns o = { 0 };
	int64_t number = cj_reader_int(r, 1, UINT16_MAX);

	if (!r->failed && number != r->m->orders.len)
		cj_reader_fail(r, "orders are numbered in order");
	cj_reader_need_word(r, "turns");
	o.count = (uint32_t)cj_reader_int(r, 1, UINT16_MAX);
	if (cj_reader_word(r, "name"))
		o.name = cj_reader_text(r);
	o.place = cj_reader_place(r);
	if (!r->failed)
		cj_module_turns(r->m, &o);
}

static void
read_range(struct cj_reader *r, struct cj_leaf *l)
{
	l->lo = INT64_MIN;
	l->hi = INT64_MAX;
	l->divisor = 1;
	if (r->token == TOKEN_NUMBER)
		l->lo = cj_reader_int(r, INT64_MIN, INT64_MAX);
	if (r->token != TOKEN_DOTS)
		cj_reader_fail(r, "\"..\" is needed");
	cj_reader_next(r);
	if (r->token == TOKEN_NUMBER)
		l->hi = cj_reader_int(r, INT64_MIN, INT64_MAX);
	if (cj_reader_word(r, "by"))
		l->divisor = cj_reader_int(r, 0, INT64_MAX);
}

static void
read_leaf(struct cj_reader *r, struct cj_leaf *l)
{
	uint32_t of[3] = { 0, 0, 0 };

	l->kind = (enum cj_leaf_kind)cj_reader_enum(r, CJ_WORDS_LEAF);
	l->type = cj_reader_type(r);
	if (cj_reader_word(r, "name"))
		l->name = cj_reader_text(r);
	if (r->token == TOKEN_OBJECT)
		l->object = cj_reader_object(r);
	if (cj_reader_word(r, "of"))
		cj_reader_dotted(r, of, 3);
	l->parameter = of[0];
	l->member = of[1];
	l->mode = of[2];
	if (cj_reader_word(r, "range"))
		read_range(r, l);
}

static void
read_extents(struct cj_reader *r, const char *word, int64_t extent[3])
{
	unsigned n;

	if (!cj_reader_word(r, word))
		return;
	cj_reader_need_mark(r, '(');
	for (n = 0; n < 3; n++) {
		if (n > 0)
			cj_reader_need_mark(r, ',');
		extent[n] = cj_reader_int(r, 0, INT64_MAX);
	}
	cj_reader_need_mark(r, ')');
}

static void
read_function(struct cj_reader *r, enum cj_function_kind kind)
{
	struct cj_module *m = r->m;
	uint32_t number = cj_reader_ref(r, TOKEN_FUNCTION, "a function");
	struct cj_function *f;

	if (!r->failed && number != m->functions.len)
		cj_reader_fail(r, "functions are numbered in order");
	if (r->failed)
		return;
	cj_module_function(m, kind, cj_reader_text(r));
	f = &m->functions.at[number];
	read_extents(r, "block", f->block);
	read_extents(r, "cluster", f->cluster);
	if (cj_reader_word(r, "min_blocks"))
		f->min_blocks = cj_reader_int(r, 0, INT64_MAX);
	if (cj_reader_word(r, "max_registers"))
		f->max_registers = cj_reader_int(r, 0, INT64_MAX);
	f->has_roles = cj_reader_word(r, "roles");
	f->place = cj_reader_place(r);
	r->values.len = r->targets.len = 0;
	r->region = f->body;
	cj_reader_need_mark(r, '{');
	if (r->token == TOKEN_REGION) {
		while (r->lives.len <= r->number)
			*cj_push(m->arena, &r->lives) = 0;
		r->lives.at[r->number] = f->body;
		cj_reader_next(r);
	}
	while (cj_reader_word(r, "leaf")) {
		struct cj_leaf l = { 0 };

		read_leaf(r, &l);
		*cj_push(m->arena, &f->leaves) = l;
	}
	cj_reader_body(r);
}

static void
read_place(struct cj_reader *r)
{
	struct cj_place_info info = { .turn = -1 };
	uint32_t number = cj_reader_ref(r, TOKEN_PLACE, "a place");

	if (!r->failed && number != r->m->places.len)
		cj_reader_fail(r, "places are numbered in order");
	info.span.source = (uint32_t)cj_reader_int(r, 0, UINT32_MAX);
	cj_reader_need_mark(r, ':');
	info.span.begin = (uint32_t)cj_reader_int(r, 0, UINT32_MAX);
	cj_reader_need_mark(r, ':');
	info.span.end = (uint32_t)cj_reader_int(r, 0, UINT32_MAX);
	if (cj_reader_word(r, "in"))
		info.parent = cj_reader_ref(r, TOKEN_PLACE, "a place");
	if (cj_reader_word(r, "turn"))
		info.turn = cj_reader_int(r, 0, INT64_MAX);
	if (!r->failed && info.parent >= number)
		cj_reader_fail(r, "a parent comes before its child");
	if (!r->failed)
		*cj_push(r->m->arena, &r->m->places) = info;
}

/* ---- what refers forward ------------------------------------------------- */

static void
check_place(struct cj_reader *r, cj_place place)
{
	if (place >= r->m->places.len)
		cj_reader_fail(r, "a place is not listed");
}

/* From the number of the text to the region. */
static void
finish_region(struct cj_reader *r, cj_region *region)
{
	if (*region == 0)
		return;
	if (*region >= r->lives.len || r->lives.at[*region] == 0) {
		cj_reader_fail(r, "a region is not there");
		return;
	}
	*region = r->lives.at[*region];
}

static void
finish(struct cj_reader *r)
{
	struct cj_module *m = r->m;
	uint32_t i;

	for (i = 1; i < m->insts.len; i++)
		check_place(r, m->insts.at[i].place);
	for (i = 1; i < m->functions.len; i++)
		check_place(r, m->functions.at[i].place);
	for (i = 1; i < m->pipelines.len; i++) {
		check_place(r, m->pipelines.at[i].place);
		finish_region(r, &m->pipelines.at[i].region);
	}
	for (i = 1; i < m->launches.len; i++)
		if (m->launches.at[i].function >= m->functions.len)
			cj_reader_fail(r, "a function is not there");
	for (i = 1; i < m->objects.len; i++) {
		struct cj_object *o = &m->objects.at[i];

		check_place(r, o->place);
		finish_region(r, &o->region);
	}
}

static void
read_items(struct cj_reader *r)
{
	while (!r->failed && r->token != TOKEN_END) {
		int kind = r->token == TOKEN_WORD ? cj_word_find(
		    CJ_WORDS_FUNCTION, r->start, r->length) : -1;

		if (cj_reader_word(r, "object")) {
			read_object(r);
		} else if (cj_reader_word(r, "pipeline")) {
			read_pipeline(r);
		} else if (cj_reader_word(r, "order")) {
			read_order(r);
		} else if (cj_reader_word(r, "place")) {
			read_place(r);
		} else if (kind >= 0) {
			cj_reader_next(r);
			read_function(r, (enum cj_function_kind)kind);
		} else {
			cj_reader_fail(r,
			    "an object, a function or a place is needed");
		}
	}
}

struct cj_module *
cj_module_read(struct cj_arena *a, const char *text, size_t length,
    struct cj_strbuf *error)
{
	struct cj_reader r = { .error = error, .p = text,
	    .end = text + length, .line = 1 };
	const struct cj_target *target = NULL;
	const char *name;

	r.most = length < UINT32_MAX ? length : UINT32_MAX;
	r.budget = (1 << 24) + length;
	r.m = cj_module_create(a, "", NULL);
	cj_reader_next(&r);
	cj_reader_need_word(&r, "module");
	name = cj_reader_text(&r);
	if (!r.failed && r.token == TOKEN_WORD &&
	    r.length > 3 && memcmp(r.start, "sm_", 3) == 0) {
		target = cj_target_find(cj_strndup(a, r.start, r.length));
		if (target == NULL)
			cj_reader_fail(&r, "the target is unknown");
		cj_reader_next(&r);
	}
	r.m->name = name;
	r.m->target = target;
	read_items(&r);
	if (!r.failed)
		finish(&r);
	return r.failed ? NULL : r.m;
}
