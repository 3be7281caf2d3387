/*
 * Entries as bytes.
 *
 *	8   "CUTEJIT\n"
 *	4   format	4   number of sections	8   bytes of the file
 *	32  key
 *	    per section: 8 name, 8 offset, 8 length, 32 digest
 *	32  digest of all before it
 *	    sections one after the other, each with a NUL behind it
 *
 * Numbers are little-endian. The digest of a section covers its NUL, so no
 * byte of a file is free.
 */
#include "cache.h"

enum { FORMAT = 1, AT_FORMAT = 8, AT_COUNT = 12, AT_BYTES = 16, AT_KEY = 24,
    AT_SECTIONS = 56, SECTION = 56, DIGEST = 32,
    HEADER = AT_SECTIONS + CJ_SECTION_COUNT * SECTION + DIGEST };

static const char magic[8] = { 'C', 'U', 'T', 'E', 'J', 'I', 'T', '\n' };
static const char names[CJ_SECTION_COUNT][9] = {
	[CJ_SECTION_KERNEL] = "kernel", [CJ_SECTION_BINDING] = "binding",
	[CJ_SECTION_TARGET] = "target", [CJ_SECTION_ASSEMBLER] = "assemble",
	[CJ_SECTION_PRODUCT] = "product", [CJ_SECTION_ENTRIES] = "entries",
	[CJ_SECTION_IR] = "ir", [CJ_SECTION_PTX] = "ptx",
	[CJ_SECTION_CUBIN] = "cubin", [CJ_SECTION_ADVICE] = "advice",
};

static void
put(char *at, uint64_t value, int bytes)
{
	int i;

	for (i = 0; i < bytes; i++)
		at[i] = (char)(value >> 8 * i & 0xff);
}

static uint64_t
get(const char *at, int bytes)
{
	uint64_t value = 0;
	int i;

	for (i = 0; i < bytes; i++)
		value |= (uint64_t)(unsigned char)at[i] << 8 * i;
	return value;
}

static void
put_digest(char *at, const void *bytes, size_t length)
{
	struct cj_digest d = cj_digest_of(bytes, length);

	memcpy(at, d.byte, DIGEST);
}

static bool
has_digest(const char *at, const void *bytes, size_t length)
{
	struct cj_digest d = cj_digest_of(bytes, length);

	return memcmp(at, d.byte, DIGEST) == 0;
}

static size_t
total(const struct cj_record *r)
{
	size_t bytes = HEADER;
	int i;

	for (i = 0; i < CJ_SECTION_COUNT; i++)
		bytes += r->section[i].length + 1;
	return bytes;
}

char *
cj_record_encode(struct cj_arena *a, const struct cj_digest *key,
    const struct cj_record *r, size_t *length)
{
	size_t bytes = total(r), offset = HEADER;
	char *file = cj_alloc(a, bytes), *at;
	int i;

	memcpy(file, magic, sizeof magic);
	put(file + AT_FORMAT, FORMAT, 4);
	put(file + AT_COUNT, CJ_SECTION_COUNT, 4);
	put(file + AT_BYTES, bytes, 8);
	memcpy(file + AT_KEY, key->byte, DIGEST);
	for (i = 0; i < CJ_SECTION_COUNT; i++) {
		size_t n = r->section[i].length;

		at = file + AT_SECTIONS + i * SECTION;
		memcpy(at, names[i], 8);
		put(at + 8, offset, 8);
		put(at + 16, n, 8);
		if (n != 0)
			memcpy(file + offset, r->section[i].bytes, n);
		put_digest(at + 24, file + offset, n + 1);
		offset += n + 1;
	}
	assert(offset == bytes && "sections fill the file");
	put_digest(file + HEADER - DIGEST, file, HEADER - DIGEST);
	*length = bytes;
	return file;
}

static const char *
check_header(const char *file, size_t length, const struct cj_digest *key)
{
	if (length < HEADER)
		return "it is too short";
	if (memcmp(file, magic, sizeof magic) != 0)
		return "it is no entry";
	if (!has_digest(file + HEADER - DIGEST, file, HEADER - DIGEST))
		return "its header is damaged";
	if (get(file + AT_FORMAT, 4) != FORMAT
	    || get(file + AT_COUNT, 4) != CJ_SECTION_COUNT)
		return "its format is another";
	if (get(file + AT_BYTES, 8) != length)
		return "its length is wrong";
	if (key != NULL && memcmp(file + AT_KEY, key->byte, DIGEST) != 0)
		return "its key is another";
	return NULL;
}

const char *
cj_record_decode(const char *file, size_t length, const struct cj_digest *key,
    bool deep, struct cj_record *out)
{
	const char *why = check_header(file, length, key);
	size_t expected = HEADER;
	int i;

	memset(out, 0, sizeof *out);
	if (why != NULL)
		return why;
	for (i = 0; i < CJ_SECTION_COUNT; i++) {
		const char *at = file + AT_SECTIONS + i * SECTION;
		uint64_t offset = get(at + 8, 8), n = get(at + 16, 8);

		if (memcmp(at, names[i], 8) != 0 || offset != expected
		    || n >= length - offset)
			return "its sections are wrong";
		if (deep && !has_digest(at + 24, file + offset, n + 1))
			return "its content is damaged";
		out->section[i].bytes = file + offset;
		out->section[i].length = n;
		expected = offset + n + 1;
	}
	return expected == length ? NULL : "its length is wrong";
}
