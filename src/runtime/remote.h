/*
 * The cache of many machines: a second level on a server that is there anyway.
 *
 *	http://host:port/path, https://...	GET and PUT of path/KEY
 *	redis://[:password@]host[:port][/db]	GET and SET of cutejit:KEY
 *
 * An entry has the bytes of one on disk and is checked in the same way before
 * it is believed. Whatever fails is a miss; a server that does not answer in
 * time is left alone for a while. The client libraries are opened at first use,
 * as the driver is, so that who configures no server loads none.
 */
#ifndef CJ_REMOTE_H
#define CJ_REMOTE_H

#include "cache.h"

enum cj_remote_kind { CJ_REMOTE_HTTP, CJ_REMOTE_REDIS };

struct cj_remote {
	enum cj_remote_kind kind;
	const char *url;		/* without a slash at its end */
	const char *shown;		/* ... and without who logs in */
	/* redis */
	const char *host, *password;	/* NULL: none */
	int port, database;
	bool is_read_only;
	unsigned timeout_ms;
	atomic_llong quiet_until;	/* cj_clock; not asked before */
};

/* NULL: none is configured, or (*why is set) it cannot be used. */
struct cj_remote *cj_remote_open(struct cj_arena *a, const cutejit_options *o,
    bool is_read_only, const char **why);

/* The bytes of an entry on `a`, checked. */
bool cj_remote_find(struct cj_work *f, struct cj_arena *a,
    const struct cj_digest *key, struct cj_record *out, const char **bytes,
    size_t *length);
void cj_remote_put(struct cj_work *f, const struct cj_digest *key,
    const char *bytes, size_t length);

/* ---- ways to a server ---------------------------------------------------- */

enum cj_answer { CJ_ANSWER_FOUND, CJ_ANSWER_ABSENT, CJ_ANSWER_FAILED };

/* One request. Memory is the context's, never an arena's: a client library
 * stands between, and control may not leave through it. */
struct cj_request_to {
	struct cj_work *work;
	const struct cj_remote *remote;
	const char *key;		/* 64 digits */
	const char *put;		/* bytes to store, or NULL: get */
	size_t put_length;
	char *got;			/* of cj_take; the caller's */
	size_t got_length, got_cap;
	char why[160];			/* if it failed */
};
enum { CJ_REMOTE_LARGEST = 256 << 20 };
/* Append to `got`. False: no memory, or too much. */
bool cj_remote_append(struct cj_request_to *q, const void *bytes, size_t n);

/* Why a client cannot be used ("libcurl is not there"), or NULL. */
const char *cj_http_why(void);
const char *cj_redis_why(void);
enum cj_answer cj_http_ask(struct cj_request_to *q);
enum cj_answer cj_redis_ask(struct cj_request_to *q);

#endif
