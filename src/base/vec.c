/*
 * Growing arrays on an arena: capacity doubles.
 */
#include "vec.h"

#include <string.h>

#include "recover.h"

void
cj_vec_grow(struct cj_arena *a, void *at, uint32_t *cap, size_t size)
{
	uint32_t more = *cap == 0 ? 8 : *cap * 2;
	void *p;

	if (*cap > UINT32_MAX / 4)
		cj_leave(a->recover, CJ_WHY_MEMORY,
		    "an array of more than %u elements is needed", *cap);
	memcpy(&p, at, sizeof p);	/* a pointer of any type */
	p = cj_regrow(a, p, *cap * size, more * size);
	memcpy(at, &p, sizeof p);
	*cap = more;
}
