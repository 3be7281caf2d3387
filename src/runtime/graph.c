/*
 * Launches in graphs that the caller builds and instantiates.
 *
 * A launch is a chain of nodes: its kernels in order, each behind the settings
 * of memory that it needs. The driver copies parameters into a node when it is
 * made or updated, so a graph holds none of our memory but the workspace.
 */
#include "launch.h"

#include "program.h"
#include "select.h"

/* ---- the chain ----------------------------------------------------------- */

struct link {
	const struct cj_shot *shot;	/* NULL: it sets memory */
	struct cj_cuda_memset_node memset;
};

struct chain {
	struct link *at;
	size_t count;
};

static void
add_fill(struct chain *c, const struct cj_shots *s,
    const struct cj_filled *w)
{
	struct cj_cuda_memset_node m[2];
	uint32_t count = cj_fill_memsets(s, w, m), i;

	for (i = 0; i < count; i++) {
		c->at[c->count].shot = NULL;
		c->at[c->count++].memset = m[i];
	}
}

static struct chain
chain_of(struct cj_arena *a, const struct cj_shots *s)
{
	struct chain c = { CJ_NEWS(a, struct link,
	    2 * (size_t)s->fill_count + s->count), 0 };
	uint32_t i, w = 0, end;

	for (i = 0; i <= s->count; i++) {
		for (end = w + cj_fills_before(s, w, i); w < end; w++)
			add_fill(&c, s, &s->fills[w]);
		if (i < s->count)
			c.at[c.count++].shot = &s->at[i];
	}
	return c;
}

size_t
cutejit_launch_nodes(const cutejit_launch *launch)
{
	const struct cj_shots *s;
	struct cj_cuda_memset_node m[2];
	size_t n = 0;
	uint32_t i, w = 0, end;

	if (!cj_is(launch, CJ_LAUNCH) || !launch->ready->on_gpu)
		return 0;
	s = &launch->ready->shots;
	for (i = 0; i <= s->count; i++)
		for (end = w + cj_fills_before(s, w, i); w < end; w++)
			n += cj_fill_memsets(s, &s->fills[w], m);
	return n + s->count;
}

static struct cj_cuda_kernel_node
kernel_node(const struct cj_ready *r, const struct cj_shot *s)
{
	struct cj_cuda_kernel_node n = { .params = r->shots.params + s->first,
	    .shared_bytes = s->shared_bytes, .kernel = s->function,
	    .context = r->context };

	memcpy(n.grid, s->grid, sizeof n.grid);
	memcpy(n.block, s->block, sizeof n.block);
	return n;
}

/* ---- adding -------------------------------------------------------------- */

struct adding {
	struct cutejit_launch *launch;
	void *graph;
	void *const *after;
	size_t after_count;
	void **nodes;
	size_t count;
};

/* A kernel that may begin before the one in front has ended does not here: the
 * edge between two nodes is a whole one. */
static int
set_attributes(const struct cj_cuda *cu, void *node, const struct cj_shot *s)
{
	unsigned i;
	int rc = 0;

	for (i = 0; i < s->config.count && rc == 0; i++) {
		const struct cj_cuda_attribute *a = &s->attributes[i];

		if (a->id != CJ_CUDA_PROGRAMMATIC)
			rc = cu->GraphKernelNodeSetAttribute(node, a->id,
			    &a->value);
	}
	return rc;
}

static int
add_node(const struct cj_ready *r, const struct adding *g,
    const struct link *l, void *const *after, size_t after_count, void **node)
{
	struct cj_cuda_kernel_node n;
	int rc;

	if (l->shot == NULL)
		return r->cu->GraphAddMemsetNode(node, g->graph, after,
		    after_count, &l->memset, r->context);
	n = kernel_node(r, l->shot);
	rc = r->cu->GraphAddKernelNode(node, g->graph, after, after_count,
	    &n);
	if (rc != 0)
		return rc;
	rc = set_attributes(r->cu, *node, l->shot);
	if (rc != 0)
		r->cu->GraphDestroyNode(*node);
	return rc;
}

static int
add_chain(const struct cj_ready *r, const struct adding *g,
    const struct chain *c)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < c->count && rc == 0; i++)
		rc = i == 0 ? add_node(r, g, &c->at[i], g->after,
		    g->after_count, &g->nodes[i])
		    : add_node(r, g, &c->at[i], &g->nodes[i - 1], 1,
		    &g->nodes[i]);
	if (rc == 0)
		return 0;
	for (i--; i-- > 0;)
		r->cu->GraphDestroyNode(g->nodes[i]);
	return rc;
}

static cutejit_status
on_executor(struct cj_work *f)
{
	return cj_fail(f, CUTEJIT_USAGE, CJ_DIAG_USAGE,
	    "a launch on the executor cannot be a part of a CUDA graph");
}

static void
begin(struct cj_work *f, const struct cutejit_launch *l)
{
	f->module = l->kernel->module;
	f->doing = l->kernel->info.kernel;
}

static cutejit_status
add(struct cj_work *f, void *arguments)
{
	struct adding *g = arguments;
	const struct cj_ready *r = g->launch->ready;
	struct chain c;
	struct cj_gpu gpu;
	cutejit_status status;
	int rc;

	begin(f, g->launch);
	if (!r->on_gpu)
		return on_executor(f);
	c = chain_of(&f->arena, &r->shots);
	status = cj_gpu_enter(f, r->ordinal, &gpu);
	if (status != CUTEJIT_OK)
		return status;
	rc = add_chain(r, g, &c);
	cj_gpu_leave(f, &gpu);
	return rc == 0 ? CUTEJIT_OK : cj_gpu_fail(f, r->cu, rc,
	    "the launch cannot be added to the graph");
}

cutejit_status
cutejit_launch_graph_add(cutejit_launch *launch, void *graph,
    void *const *after, size_t after_count, void **nodes)
{
	struct adding g = { launch, graph, after, after_count, nodes, 0 };

	if (!cj_is(launch, CJ_LAUNCH))
		return cj_handle_refuse(launch);
	if (graph == NULL
	    || (after == NULL && after_count != 0)
	    || (nodes == NULL && cutejit_launch_nodes(launch) != 0))
		return cj_handle_misuse(launch,
		    "the graph, or its nodes, are NULL");
	return cj_enter(launch->kernel->module->context, add, &g);
}

/* ---- updating ------------------------------------------------------------ */

static int
update_node(const struct cj_ready *r, void *graph, void *node,
    const struct link *l)
{
	struct cj_cuda_kernel_node n;

	if (l->shot == NULL)
		return r->cu->GraphExecMemsetNodeSetParams(graph, node,
		    &l->memset, r->context);
	n = kernel_node(r, l->shot);
	return r->cu->GraphExecKernelNodeSetParams(graph, node, &n);
}

static cutejit_status
update(struct cj_work *f, void *arguments)
{
	struct adding *g = arguments;
	const struct cj_ready *r = g->launch->ready;
	struct chain c;
	struct cj_gpu gpu;
	cutejit_status status;
	size_t i;
	int rc = 0;

	begin(f, g->launch);
	if (!r->on_gpu)
		return on_executor(f);
	c = chain_of(&f->arena, &r->shots);
	if (c.count != g->count)
		return cj_fail(f, CUTEJIT_ERROR, CJ_DIAG_WRONG_ARGUMENT,
		    "the graph has %zu nodes of this launch, which now needs "
		    "%zu: it has to be built anew", g->count, c.count);
	status = cj_gpu_enter(f, r->ordinal, &gpu);
	if (status != CUTEJIT_OK)
		return status;
	for (i = 0; i < c.count && rc == 0; i++)
		rc = update_node(r, g->graph, g->nodes[i], &c.at[i]);
	cj_gpu_leave(f, &gpu);
	return rc == 0 ? CUTEJIT_OK : cj_gpu_fail(f, r->cu, rc,
	    "the launch cannot be changed in the graph");
}

cutejit_status
cutejit_launch_graph_update(cutejit_launch *launch, void *graph_exec,
    void *const *nodes, size_t count)
{
	struct adding g = { launch, graph_exec, NULL, 0, (void **)nodes,
	    count };

	if (!cj_is(launch, CJ_LAUNCH))
		return cj_handle_refuse(launch);
	if (graph_exec == NULL
	    || (nodes == NULL && count != 0))
		return cj_handle_misuse(launch,
		    "the graph, or its nodes, are NULL");
	return cj_enter(launch->kernel->module->context, update, &g);
}
