/*
 * The stand-in driver: tensor maps. A part of fake_cuda.c, which includes it
 * behind fake_graph.h.
 */
#ifndef FAKE_MAP_H
#define FAKE_MAP_H

/* A map that shows what it was made of; refused as by the driver. */
static int
map_show(uint64_t *map, int type, const void *address, int swizzle, int fill)
{
	if ((uintptr_t)map % 64 != 0 || (uintptr_t)address % 16 != 0 ||
	    (fill != 0 && type < 6))
		return INVALID_VALUE;
	memset(map, 0, 128);
	map[0] = (uint64_t)(uintptr_t)address;
	map[1] = (uint64_t)type << 32 | (uint32_t)swizzle;
	state.map_type = type;
	state.map_fill = fill;
	return 0;
}

FUNCTION(cuTensorMapEncodeTiled, (void *map, int type, uint32_t rank,
    void *address, const uint64_t *extents, const uint64_t *strides,
    const uint32_t *box, const uint32_t *steps, int interleave, int swizzle,
    int promotion, int fill))
{
	uint32_t i;

	BEGIN("cuTensorMapEncodeTiled");
	QUIET();
	(void)promotion;
	if (rank < 1 || rank > 5 || interleave != 0)
		return INVALID_VALUE;
	for (i = 0; i < rank; i++)
		if (extents[i] == 0 || box[i] == 0 || box[i] > 256 ||
		    steps[i] != 1 || (i + 1 < rank && strides[i] % 16 != 0))
			return INVALID_VALUE;
	return map_show(map, type, address, swizzle, fill);
}

FUNCTION(cuTensorMapEncodeIm2col, (void *map, int type, uint32_t rank,
    void *address, const uint64_t *extents, const uint64_t *strides,
    const int *lower, const int *upper, uint32_t channels, uint32_t pixels,
    const uint32_t *steps, int interleave, int swizzle, int promotion,
    int fill))
{
	uint32_t i;

	BEGIN("cuTensorMapEncodeIm2col");
	QUIET();
	(void)promotion;
	if (rank < 3 || rank > 5 || interleave != 0 ||
	    channels == 0 || channels > 256 || pixels == 0 || pixels > 1024)
		return INVALID_VALUE;
	for (i = 0; i < rank; i++)
		if (extents[i] == 0 || steps[i] < 1 || steps[i] > 8 ||
		    (i + 1 < rank && strides[i] % 16 != 0))
			return INVALID_VALUE;
	for (i = 0; i < rank - 2; i++)
		if (lower[i] < -128 || upper[i] > 127)
			return INVALID_VALUE;
	return map_show(map, type, address, swizzle, fill);
}

FUNCTION(cuTensorMapReplaceAddress, (void *map, void *address))
{
	BEGIN("cuTensorMapReplaceAddress");
	QUIET();
	if ((uintptr_t)map % 64 != 0 || (uintptr_t)address % 16 != 0)
		return INVALID_VALUE;
	((uint64_t *)map)[0] = (uint64_t)(uintptr_t)address;
	return 0;
}

#endif
