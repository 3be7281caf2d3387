/*
 * Lines of atoms, tiled copies and tiled MMAs.
 */
#include "layout_check.h"

const char *
cj_check_atom_line(struct cj_algebra *al, const char *const *column,
    uint32_t count, uint32_t arrow, bool *known)
{
	(void)al;
	(void)column;
	(void)count;
	(void)arrow;
	*known = false;
	return "no such operation";
}
