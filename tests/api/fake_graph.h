/*
 * The stand-in driver: graphs. A part of fake_cuda.c, which includes it behind
 * the rest.
 */
#ifndef FAKE_GRAPH_H
#define FAKE_GRAPH_H

struct kernel_node {
	void *function;
	unsigned grid[3], block[3], shared;
	void **params, **extra;
	void *kernel, *context;
};

FUNCTION(cuGraphCreate, (void **graph, unsigned flags))
{
	BEGIN("cuGraphCreate");
	(void)flags;
	*graph = calloc(1, sizeof(struct graph));
	return 0;
}

FUNCTION(cuGraphDestroy, (void *graph))
{
	struct graph *g = graph;
	unsigned i;

	BEGIN("cuGraphDestroy");
	for (i = 0; i < g->count; i++)
		free(g->nodes[i]);
	free(g);
	return 0;
}

FUNCTION(cuGraphExecDestroy, (void *graph))
{
	return cuGraphDestroy(graph);
}

/* A new node behind others of the graph; NULL if one is of another. */
static struct node *
append_after(struct graph *g, void *const *after, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (((struct node *)after[i])->graph != g)
			return NULL;
	return append(g);
}

static int
set_kernel(struct node *n, const struct kernel_node *k)
{
	int rc;

	if (k->function != NULL || k->kernel == NULL || k->context == NULL)
		return INVALID_VALUE;
	current.at[current.depth++] = k->context;
	rc = describe(&n->launch, k->kernel, k->grid, k->block, k->shared,
	    NULL, k->params);
	current.depth--;
	n->is_kernel = 1;
	n->kernel = k->kernel;
	return rc;
}

FUNCTION(cuGraphAddKernelNode_v2, (void **node, void *graph,
    void *const *after, size_t count, const struct kernel_node *k))
{
	BEGIN("cuGraphAddKernelNode");
	*node = append_after(graph, after, count);
	return *node != NULL ? set_kernel(*node, k) : INVALID_VALUE;
}

FUNCTION(cuGraphAddMemsetNode, (void **node, void *graph,
    void *const *after, size_t count, const struct memset_node *m,
    void *context))
{
	struct node *n;

	BEGIN("cuGraphAddMemsetNode");
	*node = n = append_after(graph, after, count);
	if (context == NULL || n == NULL)
		return INVALID_VALUE;
	n->memset = *m;
	return 0;
}

FUNCTION(cuGraphKernelNodeSetAttribute, (void *node, int id,
    const unsigned *value))
{
	struct node *n = node;

	BEGIN("cuGraphKernelNodeSetAttribute");
	if (id == 2)
		n->launch.cooperative = (int)value[0];
	else if (id == 4)
		memcpy(n->launch.cluster, value, sizeof n->launch.cluster);
	else
		return INVALID_VALUE;
	return 0;
}

FUNCTION(cuGraphDestroyNode, (void *node))
{
	struct node *n = node;
	struct graph *g = n->graph;

	BEGIN("cuGraphDestroyNode");
	if (g->nodes[g->count - 1] != n)	/* the newest only */
		return INVALID_VALUE;
	g->count--;
	free(n);
	return 0;
}

FUNCTION(cuGraphInstantiateWithFlags, (void **exec, void *graph,
    unsigned long long flags))
{
	struct graph *g = graph, *e;
	unsigned i;

	BEGIN("cuGraphInstantiateWithFlags");
	(void)flags;
	e = calloc(1, sizeof *e);
	e->of = g;
	for (i = 0; i < g->count; i++) {
		struct node *n = append(e);

		*n = *g->nodes[i];
		n->graph = e;
	}
	*exec = e;
	return 0;
}

static struct node *
copy_of(struct graph *e, void *node)
{
	unsigned i;

	for (i = 0; i < e->count; i++)
		if (e->of->nodes[i] == node)
			return e->nodes[i];
	return NULL;
}

FUNCTION(cuGraphExecKernelNodeSetParams_v2, (void *exec, void *node,
    const struct kernel_node *k))
{
	struct node *n = copy_of(exec, node);

	BEGIN("cuGraphExecKernelNodeSetParams");
	return n == NULL || !n->is_kernel ? INVALID_VALUE : set_kernel(n, k);
}

FUNCTION(cuGraphExecMemsetNodeSetParams, (void *exec, void *node,
    const struct memset_node *m, void *context))
{
	struct node *n = copy_of(exec, node);

	BEGIN("cuGraphExecMemsetNodeSetParams");
	if (n == NULL || n->is_kernel || context == NULL)
		return INVALID_VALUE;
	n->memset = *m;
	return 0;
}

FUNCTION(cuGraphLaunch, (void *exec, void *stream))
{
	struct graph *e = exec;
	unsigned i;

	BEGIN("cuGraphLaunch");
	for (i = 0; i < e->count; i++) {
		if (!e->nodes[i]->is_kernel) {
			set_rows(&e->nodes[i]->memset);
			continue;
		}
		state.launches++;
		state.last = e->nodes[i]->launch;
		state.last.stream = stream;
	}
	return 0;
}

#endif
