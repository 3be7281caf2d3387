/*
 * A Redis server, by way of hiredis: GET and SET of cutejit:KEY. How long
 * entries stay is the server's to say (maxmemory-policy allkeys-lru).
 */
#include "remote.h"

#ifdef HAVE_HIREDIS

#include <hiredis/hiredis.h>

#include "base/library.h"

#define FUNCTIONS(F)							\
	F(redisConnectWithTimeout) F(redisSetTimeout)			\
	F(redisCommand) F(freeReplyObject) F(redisFree)

#define TEXT_OF(x)	#x
#define TEXT(x)		TEXT_OF(x)
#define SONAME		"libhiredis.so." TEXT(HIREDIS_SONAME)

/* One per process. */
static struct table {
#define MEMBER(name) __typeof__(&(name)) name;
	FUNCTIONS(MEMBER)
#undef MEMBER
} redis;

static const struct cj_symbol symbols[] = {
#define ROW(name) { #name, offsetof(struct table, name), false },
	FUNCTIONS(ROW)
#undef ROW
};
static struct cj_library library = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.names = (const char *const[]){ SONAME, NULL },
	.symbols = symbols, .count = CJ_LENGTH(symbols),
	.table = &redis
};

const char *
cj_redis_why(void)
{
	return cj_library_open(&library);
}

static void
explain(struct cj_request_to *q, const redisContext *c, const redisReply *r)
{
	const char *text = r != NULL && r->type == REDIS_REPLY_ERROR ? r->str
	    : c != NULL && c->err != 0 ? c->errstr
	    : "the server answers something else";

	snprintf(q->why, sizeof q->why, "%s", text);
}

/* A command whose answer is only good or not. */
static bool
is_done(struct cj_request_to *q, redisContext *c, redisReply *r)
{
	bool done = r != NULL && r->type == REDIS_REPLY_STATUS;

	if (!done)
		explain(q, c, r);
	if (r != NULL)
		redis.freeReplyObject(r);
	return done;
}

static bool
log_in(struct cj_request_to *q, redisContext *c)
{
	const struct cj_remote *r = q->remote;

	return (r->password == NULL || is_done(q, c, redis.redisCommand(c,
	    "AUTH %s", r->password)))
	    && (r->database == 0 || is_done(q, c, redis.redisCommand(c,
	    "SELECT %d", r->database)));
}

static enum cj_answer
get(struct cj_request_to *q, redisContext *c)
{
	redisReply *r = redis.redisCommand(c, "GET cutejit:%s", q->key);
	enum cj_answer answer = CJ_ANSWER_FAILED;

	explain(q, c, r);
	if (r != NULL && r->type == REDIS_REPLY_NIL)
		answer = CJ_ANSWER_ABSENT;
	else if (r != NULL && r->type == REDIS_REPLY_STRING
	    && cj_remote_append(q, r->str, r->len))
		answer = CJ_ANSWER_FOUND;
	if (r != NULL)
		redis.freeReplyObject(r);
	return answer;
}

enum cj_answer
cj_redis_ask(struct cj_request_to *q)
{
	unsigned ms = q->remote->timeout_ms;
	struct timeval limit = { ms / 1000, ms % 1000 * 1000 };
	redisContext *c = redis.redisConnectWithTimeout(q->remote->host,
	    q->remote->port, limit);
	enum cj_answer answer = CJ_ANSWER_FAILED;

	if (c == NULL || c->err != 0)
		explain(q, c, NULL);
	else if (redis.redisSetTimeout(c, limit) == REDIS_OK && log_in(q, c))
		answer = q->put == NULL ? get(q, c)
		    : is_done(q, c, redis.redisCommand(c,
		    "SET cutejit:%s %b", q->key, q->put, q->put_length))
		    ? CJ_ANSWER_FOUND : CJ_ANSWER_FAILED;
	if (c != NULL)
		redis.redisFree(c);
	return answer;
}

#else

const char *
cj_redis_why(void)
{
	return "this build has no Redis (configure did not find hiredis)";
}

enum cj_answer
cj_redis_ask(struct cj_request_to *q)
{
	snprintf(q->why, sizeof q->why, "%s", cj_redis_why());
	return CJ_ANSWER_FAILED;
}

#endif
