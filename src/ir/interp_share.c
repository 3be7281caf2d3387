/*
 * Tiles that blocks of a cluster share: each sends its part of a tile to all,
 * and believes to get the tile that it asks for.
 *
 * All of them fill a place in shared memory equally often, so that what one of
 * them asks for at its n-th time belongs to what the others ask for at theirs.
 * The first one's wish is kept until the last one has said its own.
 */
#include "interp_tma.h"

/* What the first of those that share has asked for. */
struct asked {
	uint64_t turn;
	uint32_t group;			/* of blocks that share */
	uint32_t to_come;		/* others of them */
	uint32_t tensor;
	int64_t offset;
	int64_t at[CJ_MAP_NUMBERS];	/* of the whole tile */
	const struct cj_frame *frame;
	uint32_t lane;
	struct asked *next;
};

struct cj_shared_place {
	uint32_t object;
	int64_t at;
	uint64_t turns[CJ_MAX_CLUSTER];	/* by rank: how often it was filled */
	struct asked *asked, *unused;
	struct cj_shared_place *next;
};

/* Of one block: who shares with it, which part is its own. */
struct sharer {
	uint32_t rank, part, parts, group;
};

void
cj_share_clear(struct cj_cluster *c)
{
	c->places = NULL;
}

static struct sharer
sharer_of(const struct cj_frame *f, uint32_t share)
{
	const struct cj_block *b = f->machine->block;
	const struct cj_cluster *c = b->cluster;
	uint32_t width = b->launch->cluster[0] < 1 ? 1 :
	    (uint32_t)b->launch->cluster[0];
	struct sharer s = { .parts = c->count };

	while (c->blocks[s.rank] != b)
		s.rank++;
	s.part = s.rank;
	if (share == 1) {
		s.parts = width;
		s.part = s.rank % width;
		s.group = s.rank / width;
	} else if (share == 2) {
		s.parts = c->count / width;
		s.part = s.rank / width;
		s.group = s.rank % width;
	}
	return s;
}

static struct cj_shared_place *
place_of(struct cj_frame *f, uint32_t object, int64_t at)
{
	struct cj_cluster *c = f->machine->block->cluster;
	struct cj_shared_place *p = c->places;

	while (p != NULL && (p->object != object || p->at != at))
		p = p->next;
	if (p != NULL)
		return p;
	p = CJ_NEW(f->machine->arena, struct cj_shared_place);
	p->object = object;
	p->at = at;
	p->next = c->places;
	c->places = p;
	return p;
}

static void
report(struct cj_frame *f, const struct cj_bulk *b, const struct asked *a,
    const int64_t *at)
{
	const char *name = f->code->module->objects.at[b->map->map->object]
	    .name;
	struct cj_fault *fault;
	uint32_t i = 0;

	if (cj_fault_again(f, b->step, CJ_DIAG_UNEQUAL_TILES))
		return;
	while (i + 1 < b->map->map->rank && at[i] == a->at[i])
		i++;
	fault = cj_fault_at(f, b->step, b->lane, CJ_DIAG_UNEQUAL_TILES,
	    "a tile of \"%s\" that blocks of the cluster share begins at %lld"
	    CJ_WHO ", and at %lld in %s", name != NULL ? name : "memory",
	    (long long)at[i], (long long)a->at[i], cj_who(f->machine->arena,
	    a->frame, a->lane));
	if (fault != NULL)
		fault->note = "multicast = (x, y) of tma_load() says how many "
		    "blocks along each mode of the cluster load the same tile: "
		    "each sends a part of it to all";
}

static bool
is_same(const struct cj_bulk *b, const struct asked *a, const int64_t *at)
{
	return b->map->object == a->tensor && b->map->offset == a->offset &&
	    memcmp(at, a->at, b->map->map->rank *
	    sizeof *at) == 0;
}

static void
compare(struct cj_frame *f, const struct cj_bulk *b, struct cj_shared_place *p,
    struct asked **found, const int64_t *at)
{
	struct asked *a = *found;

	if (!is_same(b, a, at))
		report(f, b, a, at);
	if (--a->to_come != 0)
		return;
	*found = a->next;
	a->next = p->unused;
	p->unused = a;
}

static void
keep(struct cj_frame *f, const struct cj_bulk *b, struct cj_shared_place *p,
    const struct asked *what)
{
	struct asked *a = p->unused;

	if (a != NULL)
		p->unused = a->next;
	else
		a = CJ_NEW(f->machine->arena, struct asked);
	*a = *what;
	a->tensor = b->map->object;
	a->offset = b->map->offset;
	a->frame = f;
	a->lane = b->lane;
	a->next = p->asked;
	p->asked = a;
}

void
cj_share_ask(struct cj_frame *f, const struct cj_bulk *b)
{
	const struct cj_map *map = b->map->map;
	const struct cj_tma_copy *c = &f->code->module->tmas.at[
	    cj_step_inst(f, b->step)->attr];
	struct cj_shared_place *p;
	struct asked what = { 0 }, **at;
	struct sharer s;

	if (c->share == 0 || map->kind != CJ_MAP_TILES)
		return;
	s = sharer_of(f, c->share);
	if (s.parts == 1)
		return;
	p = place_of(f, b->object, b->lo - s.part * (b->hi - b->lo));
	what.turn = p->turns[s.rank]++;
	what.group = s.group;
	what.to_come = s.parts - 1;
	memcpy(what.at, b->at, sizeof what.at);
	what.at[c->cut] -= (int64_t)s.part * map->box[c->cut] *
	    map->step[c->cut];
	for (at = &p->asked; *at != NULL; at = &(*at)->next)
		if ((*at)->turn == what.turn && (*at)->group == what.group)
			break;
	if (*at == NULL)
		keep(f, b, p, &what);
	else
		compare(f, b, p, at, what.at);
}
