/*
 * Handles: what is said to who uses one that was destroyed.
 */
#include "program.h"

void
cj_handle_init(void *handle, enum cj_handle_kind kind,
    struct cutejit_context *c)
{
	struct cj_handle *h = handle;

	atomic_init(&h->kind, (int)kind);
	h->context = c;
	h->next = NULL;
}

bool
cj_handle_close(void *handle, enum cj_handle_kind kind)
{
	struct cj_handle *h = handle;

	if (!cj_is(handle, kind))
		return false;
	atomic_store(&h->kind, CJ_GONE);
	if (atomic_load(&h->context->is_closed))
		cj_generations_end(h->context);
	return true;
}

#ifndef NDEBUG

/* The newest are kept, the oldest goes. */
static struct cj_handle *
keep(struct cutejit_context *c, struct cj_handle *h)
{
	struct cj_handle **at, *oldest = NULL;

	pthread_mutex_lock(&c->lock);
	for (at = &c->gone; *at != NULL; at = &(*at)->next)
		;
	*at = h;
	h->next = NULL;
	if (++c->gone_count > CJ_KEPT_HANDLES) {
		oldest = c->gone;
		c->gone = oldest->next;
		c->gone_count--;
	}
	pthread_mutex_unlock(&c->lock);
	return oldest;
}

#endif

void
cj_handle_free(struct cutejit_context *c, void *handle)
{
	struct cj_handle *h = handle;

	atomic_store(&h->kind, CJ_GONE);
#ifdef NDEBUG
	cj_give_back(c, h);
#else
	cj_give_back(c, keep(c, h));
#endif
}

void
cj_handles_fini(struct cutejit_context *c)
{
	while (c->gone != NULL) {
		struct cj_handle *h = c->gone;

		c->gone = h->next;
		cj_give_back(c, h);
	}
}

static cutejit_status
tell(struct cj_work *f, void *what)
{
	return cj_fail(f, CUTEJIT_USAGE, CJ_DIAG_USAGE, "%s",
	    *(const char **)what);
}

cutejit_status
cj_misuse(struct cutejit_context *c, const char *what)
{
	return c == NULL ? CUTEJIT_USAGE : cj_enter(c, tell, &what);
}

cutejit_status
cj_handle_misuse(const void *handle, const char *what)
{
	const struct cj_handle *h = handle;

	return h == NULL ? CUTEJIT_USAGE : cj_misuse(h->context, what);
}

cutejit_status
cj_handle_refuse(const void *handle)
{
	return cj_handle_misuse(handle,
	    "the handle was destroyed, or is one of something else");
}
