/*
 * Arrays in numpy's .npy files, versions 1 to 3 (numpy.lib.format describes
 * them): a magic, a header that is a Python dictionary, and the elements in C
 * or Fortran order, little-endian.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cutec.h"

enum { MAX_RANK = 32 };

/* Types that numpy knows, and those that it writes as raw bytes. */
static const struct {
	const char *descr;	/* without byte order */
	const char *type;
} types[] = {
	{ "b1", "bool" }, { "i1", "i8" }, { "i2", "i16" }, { "i4", "i32" },
	{ "i8", "i64" }, { "u1", "u8" }, { "u2", "u16" }, { "u4", "u32" },
	{ "u8", "u64" }, { "f2", "f16" }, { "f4", "f32" }, { "f8", "f64" },
	{ "V2", "bf16" }, { "V1", "f8e4m3" }, { "V1", "f8e5m2" },
	{ "V1", "f8ue8m0" }
};

/*
 * The type of the elements: that of the file, unless they are bits without a
 * meaning of their own (V2, or u2 where another type of 2 bytes is wanted),
 * which are what is wanted. NULL: they are not that.
 */
static const char *
type_for(const char *descr, const char *wanted)
{
	bool is_bits = *descr == 'V' || *descr == 'u';
	const char *own = NULL;
	size_t i;

	for (i = 0; i < sizeof types / sizeof *types; i++) {
		if (strcmp(wanted, types[i].type) == 0 &&
		    types[i].descr[1] == descr[1] && descr[2] == '\0' &&
		    (is_bits || strcmp(descr, types[i].descr) == 0))
			return types[i].type;
		if (*descr != 'V' && strcmp(descr, types[i].descr) == 0)
			own = types[i].type;
	}
	return *wanted == '\0' ? own : NULL;
}

static const char *
descr_for(const char *type)
{
	size_t i;

	for (i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(type, types[i].type) == 0)
			return types[i].descr;
	return NULL;
}

/* ---- the header --------------------------------------------------------- */

struct header {
	char descr[8];
	bool big_endian, fortran;
	int64_t shape[MAX_RANK];
	int32_t rank;
};

/* The text behind 'key': in the dictionary, or NULL. */
static const char *
entry(const char *dict, const char *key)
{
	const char *p = strstr(dict, key);

	if (p == NULL)
		return NULL;
	p += strlen(key);
	while (*p == '\'' || *p == '"' || *p == ':' || *p == ' ')
		p++;
	return p;
}

/* What is wrong with an entry, or NULL. */
static const char *
parse_descr(const char *dict, struct header *h)
{
	const char *p = entry(dict, "descr'");
	size_t n;

	if (p == NULL)
		return "its header does not say the type of the elements";
	h->big_endian = *p == '>';
	if (*p == '<' || *p == '>' || *p == '|' || *p == '=')
		p++;
	n = strcspn(p, "'\"");
	if (n == 0 || n >= sizeof h->descr)
		return "its elements have no type of numbers";
	memcpy(h->descr, p, n);
	h->descr[n] = '\0';
	return NULL;
}

static const char *
parse_shape(const char *dict, struct header *h)
{
	const char *p = entry(dict, "shape'");

	if (p == NULL || *p != '(')
		return "its header has no shape";
	p++;
	while (*p != ')') {
		char *end;
		long long v;

		errno = 0;
		v = strtoll(p, &end, 10);
		if (end == p)
			return "its shape cannot be read";
		if (errno != 0 || v < 0)
			return "an extent of its shape is negative, or does "
			    "not fit in 64 bits";
		if (h->rank == MAX_RANK)
			return "its shape has more than 32 modes";
		h->shape[h->rank++] = v;
		p = end;
		while (*p == ',' || *p == ' ')
			p++;
	}
	return NULL;
}

static const char *
parse_dictionary(const char *dict, struct header *h)
{
	const char *p = entry(dict, "fortran_order'"), *why;

	if (p == NULL)
		return "its header does not say the order of the elements";
	h->fortran = strncmp(p, "True", 4) == 0;
	why = parse_descr(dict, h);
	return why != NULL ? why : parse_shape(dict, h);
}

/* Sets where the elements begin; or says what is wrong. */
static const char *
parse_header(const char *file, size_t length, struct header *h, size_t *begin)
{
	const unsigned char *b = (const unsigned char *)file;
	const char *why;
	size_t size, at;
	char *dict;

	memset(h, 0, sizeof *h);
	if (length < 6 || memcmp(file, "\x93NUMPY", 6) != 0)
		return "it is not a .npy file";
	if (length < 12)
		return "its header is cut short";
	if (b[6] < 1 || b[6] > 3)
		return "it is of a version of .npy that is not known: 1, 2 "
		    "and 3 are";
	size = b[8] | (size_t)b[9] << 8;
	at = 10;
	if (b[6] >= 2) {
		size |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
		at = 12;
	}
	if (size > length - at)
		return "its header is cut short";
	dict = strndup(file + at, size);
	if (dict == NULL)
		return "there is no memory for its header";
	why = parse_dictionary(dict, h);
	free(dict);
	*begin = at + size;
	return why;
}

/* ---- reading ------------------------------------------------------------ */

/* Number of elements; -1: too many. */
static int64_t
count_of(const int64_t *shape, int32_t rank)
{
	int64_t n = 1;
	int32_t i;

	for (i = 0; i < rank; i++)
		if (__builtin_mul_overflow(n, shape[i], &n))
			return -1;
	return n;
}

static void
set_strides(const struct header *h, int64_t *strides)
{
	int64_t step = 1;
	int32_t i;

	for (i = 0; i < h->rank; i++) {
		int32_t mode = h->fortran ? i : h->rank - 1 - i;

		strides[mode] = step;
		/* of an array without elements nobody asks for it */
		if (__builtin_mul_overflow(step, h->shape[mode], &step))
			step = 1;
	}
}

static bool
fill_tensor(const char *path, const char *file, size_t length, size_t at,
    const struct header *h, cutejit_tensor *out)
{
	int64_t count = count_of(h->shape, h->rank);
	size_t bytes = (size_t)out->bits / 8 * (size_t)(count < 0 ? 0 : count);

	if (count < 0 || (count != 0 && bytes / (out->bits / 8u) !=
	    (size_t)count) || bytes > length - at) {
		complain("%s is cut short: %zu bytes of elements are there",
		    path, length - at);
		return false;
	}
	/* 256 more than needed, so that the elements can be aligned */
	out->data = aligned_alloc(256, (bytes + 511) / 256 * 256);
	out->shape = malloc(sizeof h->shape);
	out->strides = malloc(sizeof h->shape);
	if (out->data == NULL || out->shape == NULL || out->strides == NULL) {
		complain("no memory for %s", path);
		npy_free(out);
		return false;
	}
	memcpy(out->data, file + at, bytes);
	memcpy(out->shape, h->shape, sizeof h->shape);
	set_strides(h, out->strides);
	return true;
}

static bool
set_type(const char *path, const struct header *h, const char *wanted,
    cutejit_tensor *out)
{
	const char *type = type_for(h->descr, wanted);

	if (type == NULL && *wanted != '\0' && *h->descr != 'V') {
		complain("%s: its elements are of type '%s', and no %s", path,
		    h->descr, wanted);
		return false;
	}
	if (type == NULL || !cutejit_type_set(out, type)) {
		complain("%s: elements of type '%s' are not supported%s", path,
		    h->descr, *h->descr == 'V' ?
		    "; say what they are: x=bf16@file.npy" : "");
		return false;
	}
	if (h->big_endian && out->bits > 8) {
		complain("%s: big-endian elements are not supported", path);
		return false;
	}
	return true;
}

int
npy_read(const char *path, const char *type, cutejit_tensor *out)
{
	struct header h;
	size_t length, at = 0;
	const char *why;
	char *file;
	bool good;

	memset(out, 0, sizeof *out);
	out->device_type = CUTEJIT_DL_CPU;
	file = read_file(path, &length);
	if (file == NULL)
		return CUTEJIT_MISSING;
	why = parse_header(file, length, &h, &at);
	if (why != NULL)
		complain("%s cannot be read: %s", path, why);
	out->ndim = h.rank;
	good = why == NULL && set_type(path, &h, type, out) &&
	    fill_tensor(path, file, length, at, &h, out);
	free(file);
	return good ? 0 : CUTEJIT_ERROR;
}

void
npy_free(cutejit_tensor *tensor)
{
	free(tensor->data);
	free(tensor->shape);
	free(tensor->strides);
	tensor->data = NULL;
	tensor->shape = tensor->strides = NULL;
}

/* ---- writing ------------------------------------------------------------ */

/* Magic, version 1.0 and the dictionary, padded to 64 bytes. */
static size_t
make_header(char *out, size_t room, const cutejit_tensor *t,
    const char *descr)
{
	size_t n = 10, size;
	int32_t i;

	n += (size_t)snprintf(out + n, room - n, "{'descr': '%s%s', "
	    "'fortran_order': False, 'shape': (", t->bits > 8 ? "<" : "|",
	    descr);
	for (i = 0; i < t->ndim; i++)
		n += (size_t)snprintf(out + n, room - n, "%lld, ",
		    (long long)t->shape[i]);
	n += (size_t)snprintf(out + n, room - n, "), }");
	size = (n + 64) / 64 * 64;
	memset(out + n, ' ', size - n);
	out[size - 1] = '\n';
	memcpy(out, "\x93NUMPY\x01\x00", 8);
	out[8] = (char)((size - 10) & 0xff);
	out[9] = (char)((size - 10) >> 8);
	return size;
}

/* Elements in C order, whatever the tensor's strides. */
static void
gather(const cutejit_tensor *t, char *to)
{
	int64_t count = count_of(t->shape, t->ndim), i;
	size_t size = t->bits / 8u;
	const char *from = (const char *)t->data + t->byte_offset;
	int64_t at[MAX_RANK] = { 0 };

	for (i = 0; i < count; i++) {
		int64_t offset = 0;
		int32_t k;

		for (k = 0; k < t->ndim; k++)
			offset += at[k] * t->strides[k];
		memcpy(to, from + offset * (int64_t)size, size);
		to += size;
		for (k = t->ndim - 1; k >= 0 && ++at[k] == t->shape[k]; k--)
			at[k] = 0;
	}
}

bool
npy_write(const char *path, const cutejit_tensor *t)
{
	const char *type = cutejit_type_of(t);
	const char *descr = type == NULL ? NULL : descr_for(type);
	size_t header, bytes;
	char *file;
	bool good;

	if (descr == NULL || t->ndim > MAX_RANK) {
		complain("%s: arrays of %s cannot be written as .npy", path,
		    type == NULL ? "this type" : type);
		return false;
	}
	bytes = (size_t)count_of(t->shape, t->ndim) * (t->bits / 8u);
	file = malloc(bytes + 2048);
	if (file == NULL) {
		complain("no memory for %s", path);
		return false;
	}
	header = make_header(file, 2048, t, descr);
	gather(t, file + header);
	good = write_file(path, file, header + bytes);
	free(file);
	return good;
}
