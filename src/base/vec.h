/*
 * Growing arrays on an arena.
 *
 *	CJ_VEC(int) v = { 0 };
 *	*cj_push(arena, &v) = 7;	for (i = 0; i < v.len; i++) v.at[i]
 */
#ifndef CJ_VEC_H
#define CJ_VEC_H

#include "arena.h"

#define CJ_VEC(type)	struct { type *at; uint32_t len, cap; }

/*
 * Room for one more element: its address. The array may move, so that its
 * address is read after the call.
 */
#define cj_push(arena, v)						\
	((void)cj_vec_more((arena), &(v)->at, &(v)->len, &(v)->cap,	\
	    sizeof *(v)->at), &(v)->at[(v)->len - 1])

/* A full array whose pointer stands at `at`: twice the room. */
void cj_vec_grow(struct cj_arena *a, void *at, uint32_t *cap, size_t size);

/*
 * Make room for one more element of the array whose pointer stands at `at`;
 * returns its index. Most have room.
 */
static inline uint32_t
cj_vec_more(struct cj_arena *a, void *at, uint32_t *len, uint32_t *cap,
    size_t size)
{
	if (*len == *cap)
		cj_vec_grow(a, at, cap, size);
	return (*len)++;
}

#endif
