/*
 * The stand-in driver: memory, also in the order of a stream. A part of
 * fake_cuda.c, which includes it behind streams.
 */
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

/* ---- memory -------------------------------------------------------------- */

FUNCTION(cuMemAlloc_v2, (uint64_t *address, size_t bytes))
{
	struct block *b;
	void *p;

	BEGIN("cuMemAlloc");
	QUIET();
	if (top() == NULL)
		return INVALID_CONTEXT;
	if (bytes == 0)
		return INVALID_VALUE;
	if (posix_memalign(&p, 256, bytes) != 0)
		return OUT_OF_MEMORY;
	b = calloc(1, sizeof *b);
	b->address = *address = (uint64_t)(uintptr_t)p;
	b->bytes = bytes;
	pthread_mutex_lock(&lock);
	b->next = blocks;
	blocks = b;
	state.live_bytes += bytes;
	pthread_mutex_unlock(&lock);
	return 0;
}

FUNCTION(cuMemFree_v2, (uint64_t address))
{
	struct block **at, *b = NULL;

	BEGIN("cuMemFree");
	pthread_mutex_lock(&lock);
	for (at = &blocks; *at != NULL; at = &(*at)->next)
		if ((*at)->address == address) {
			b = *at;
			*at = b->next;
			state.live_bytes -= b->bytes;
			break;
		}
	pthread_mutex_unlock(&lock);
	if (b == NULL)
		return INVALID_VALUE;
	free((void *)(uintptr_t)address);
	free(b);
	return 0;
}

FUNCTION(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes))
{
	BEGIN("cuMemcpyHtoD");
	memcpy((void *)(uintptr_t)to, from, bytes);
	return 0;
}

FUNCTION(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes))
{
	BEGIN("cuMemcpyDtoH");
	memcpy(to, (void *)(uintptr_t)from, bytes);
	return 0;
}

FUNCTION(cuMemcpyDtoD_v2, (uint64_t to, uint64_t from, size_t bytes))
{
	BEGIN("cuMemcpyDtoD");
	memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
	return 0;
}

FUNCTION(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t bytes,
    void *stream))
{
	BEGIN("cuMemcpyHtoDAsync");
	(void)stream;
	memcpy((void *)(uintptr_t)to, from, bytes);
	return 0;
}

FUNCTION(cuMemsetD8Async, (uint64_t to, unsigned char value, size_t count,
    void *stream))
{
	BEGIN("cuMemsetD8Async");
	state.sets++;
	(void)stream;
	memset((void *)(uintptr_t)to, value, count);
	return 0;
}

FUNCTION(cuMemsetD16Async, (uint64_t to, unsigned short value, size_t count,
    void *stream))
{
	unsigned short *p = (unsigned short *)(uintptr_t)to;

	BEGIN("cuMemsetD16Async");
	state.sets++;
	(void)stream;
	while (count-- > 0)
		*p++ = value;
	return 0;
}

FUNCTION(cuMemsetD32Async, (uint64_t to, unsigned value, size_t count,
    void *stream))
{
	unsigned *p = (unsigned *)(uintptr_t)to;

	BEGIN("cuMemsetD32Async");
	state.sets++;
	(void)stream;
	while (count-- > 0)
		*p++ = value;
	return 0;
}

/* ---- memory in the order of a stream ------------------------------------- */

FUNCTION(cuMemAllocAsync, (uint64_t *address, size_t bytes, void *stream))
{
	int mode = thread_mode, rc;

	BEGIN("cuMemAllocAsync");
	(void)stream;
	thread_mode = RELAXED;
	rc = cuMemAlloc_v2(address, bytes);
	thread_mode = mode;
	return rc;
}

FUNCTION(cuMemFreeAsync, (uint64_t address, void *stream))
{
	BEGIN("cuMemFreeAsync");
	(void)stream;
	return cuMemFree_v2(address);
}

static void
set_rows(const struct memset_node *m)
{
	size_t i, k;

	for (i = 0; i < m->height; i++)
		for (k = 0; k < m->width; k++)
			memcpy((char *)(uintptr_t)m->to + i * m->pitch
			    + k * m->element_bytes, &m->value,
			    m->element_bytes);
	state.sets++;
}

FUNCTION(cuMemsetD2D8Async, (uint64_t to, size_t pitch, unsigned char value,
    size_t width, size_t height, void *stream))
{
	struct memset_node m = { to, pitch, value, 1, width, height };

	BEGIN("cuMemsetD2D8Async");
	(void)stream;
	set_rows(&m);
	return 0;
}

FUNCTION(cuMemsetD2D16Async, (uint64_t to, size_t pitch, unsigned short value,
    size_t width, size_t height, void *stream))
{
	struct memset_node m = { to, pitch, value, 2, width, height };

	BEGIN("cuMemsetD2D16Async");
	(void)stream;
	set_rows(&m);
	return 0;
}

FUNCTION(cuMemsetD2D32Async, (uint64_t to, size_t pitch, unsigned value,
    size_t width, size_t height, void *stream))
{
	struct memset_node m = { to, pitch, value, 4, width, height };

	BEGIN("cuMemsetD2D32Async");
	(void)stream;
	set_rows(&m);
	return 0;
}

#endif
