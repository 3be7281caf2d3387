/*
 * The cache on disk: what a program is made of, kept by content.
 *
 *	folder/v1/AB/KEY		one immutable file per entry
 *	folder/v1/AB/KEY.lock		held by who makes the entry
 *	folder/v1/AB/KEY.tmp.XXXXXX	being written
 *
 * KEY is 64 hexadecimal digits, AB its first two. An entry is written aside,
 * read back, and renamed once; every byte of it is covered by a digest, so that
 * damage of any kind is a miss, and heals. The time of last use is the file's
 * access time, set by us. Nothing here ever fails a compile.
 */
#ifndef CJ_CACHE_H
#define CJ_CACHE_H

#include "runtime.h"

struct cj_store {
	const char *folder;		/* with v1; NULL: memory only */
	const char *root;		/* as the user knows it */
	const char *why;
	uint64_t limit;			/* bytes */
	bool is_read_only;
	bool is_off;			/* in memory neither */
	atomic_flag told;		/* that nothing can be written */
	struct cj_remote *remote;	/* NULL: none */
	const char *remote_why;		/* why one cannot be used, or NULL */
	atomic_ulong memory_hits, disk_hits, misses, damaged, stored, evicted,
	    waited, remote_hits, remote_misses, remote_stored, remote_errors;
};

struct cj_store *cj_store_open(struct cj_arena *a, const cutejit_options *o);

/* ---- entries (cache_entry.c) --------------------------------------------- */

enum cj_section {
	CJ_SECTION_KERNEL, CJ_SECTION_BINDING, CJ_SECTION_TARGET,
	CJ_SECTION_ASSEMBLER, CJ_SECTION_PRODUCT,
	CJ_SECTION_ENTRIES,		/* a line of text per entry */
	CJ_SECTION_IR, CJ_SECTION_PTX, CJ_SECTION_CUBIN,
	CJ_SECTION_ADVICE,		/* of the assembler, by lines */
	CJ_SECTION_COUNT
};

/* Each section is followed by a NUL that its length does not count. */
struct cj_record {
	struct {
		const char *bytes;
		size_t length;
	} section[CJ_SECTION_COUNT];
};

/* The file's bytes, on the arena. */
char *cj_record_encode(struct cj_arena *a, const struct cj_digest *key,
    const struct cj_record *r, size_t *length);

/* NULL, or what is wrong. `key` may be NULL: any. Digests of sections are only
 * checked if `deep`. The record points into the bytes. */
const char *cj_record_decode(const char *bytes, size_t length,
    const struct cj_digest *key, bool deep, struct cj_record *out);

/* ---- one entry (cache_disk.c) -------------------------------------------- */

/* Look an entry up; its bytes live on `a`. */
bool cj_store_find(struct cj_work *f, struct cj_arena *a,
    const struct cj_digest *key, struct cj_record *out);
/* Nobody has kept anything where this would look. */
bool cj_store_is_empty(const struct cj_store *s);
/* Why the folder cannot be made or written; NULL: it can be. */
const char *cj_store_trouble(struct cj_arena *a, const struct cj_store *s);
void cj_store_put(struct cj_work *f, const struct cj_digest *key,
    const char *bytes, size_t length);

/* Whoever makes an entry holds its lock. NULL: others were waited for in
 * vain, or there is no lock to be had; the entry is then made without. */
struct cj_flight {
	int fd;
	char *path;
};
/* On the work's arena. */
struct cj_flight *cj_flight_begin(struct cj_work *f,
    const struct cj_digest *key);
void cj_flight_end(struct cj_work *f, struct cj_flight *flight);

/* ---- all entries (cache_admin.c) ----------------------------------------- */

struct cj_stored {
	char *path;
	const char *name;		/* last part of the path */
	uint64_t bytes;
	int64_t used, made;
	bool is_entry;			/* else a lock or a left-over */
};
/* Remove least recently used entries until the bound holds; `keep` stays. */
void cj_store_evict(struct cj_work *f, const char *shard, const char *keep);

/* ---- keys (cache_key.c) -------------------------------------------------- */

/* What decides a program within this process ... */
struct cj_digest cj_recipe_digest(const struct cutejit_module *m,
    const struct cj_recipe *r);
/* ... and anywhere: with the product, its generator and the assembler. */
struct cj_digest cj_cache_key(const struct cutejit_module *m,
    const struct cj_recipe *r, const char *assembler);

#endif
