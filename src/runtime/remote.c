/*
 * The cache of many machines: where it is, when it is asked, what is believed.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "remote.h"

enum { DEFAULT_TIMEOUT_MS = 1000, MOST_TIMEOUT_MS = 600000 };
enum { QUIET_MS = 30000, REDIS_PORT = 6379 };

/* ---- where --------------------------------------------------------------- */

static bool
read_number(const char *text, const char *end, int most, int *out)
{
	char *stop;
	long n = strtol(text, &stop, 10);

	if (stop == text || stop != end || n < 0 || n > most)
		return false;
	*out = (int)n;
	return true;
}

/* [:password@]host[:port][/db] */
static bool
read_redis(struct cj_arena *a, struct cj_remote *r, const char *at)
{
	const char *end = at + strlen(at), *slash = strchr(at, '/');
	const char *sign, *colon;

	r->port = REDIS_PORT;
	if (slash != NULL && slash[1] != '\0'
	    && !read_number(slash + 1, end, 65535, &r->database))
		return false;
	end = slash != NULL ? slash : end;
	sign = memchr(at, '@', (size_t)(end - at));
	if (sign != NULL) {
		colon = memchr(at, ':', (size_t)(sign - at));
		if (colon == NULL)
			return false;
		r->password = cj_strndup(a, colon + 1,
		    (size_t)(sign - colon - 1));
		at = sign + 1;
	}
	colon = memchr(at, ':', (size_t)(end - at));
	if (colon != NULL && !read_number(colon + 1, end, 65535, &r->port))
		return false;
	r->host = cj_strndup(a, at, (size_t)((colon != NULL ? colon : end)
	    - at));
	return *r->host != '\0';
}

static const char *
without_secrets(struct cj_arena *a, const char *url)
{
	const char *host = strstr(url, "://"), *sign;

	if (host == NULL)
		return url;
	host += 3;
	sign = memchr(host, '@', strcspn(host, "/"));
	return sign == NULL ? url : cj_printf(a, "%.*s%s",
	    (int)(host - url), url, sign + 1);
}

static const char *
read_url(struct cj_arena *a, struct cj_remote *r, const char *url)
{
	size_t n = strlen(url);

	while (n > 0 && url[n - 1] == '/')
		n--;
	r->url = cj_strndup(a, url, n);
	r->shown = without_secrets(a, r->url);
	if (strncmp(url, "http://", 7) == 0
	    || strncmp(url, "https://", 8) == 0) {
		r->kind = CJ_REMOTE_HTTP;
		return cj_http_why();
	}
	if (strncmp(url, "redis://", 8) != 0)
		return "its address begins with neither http://, https:// "
		    "nor redis://";
	r->kind = CJ_REMOTE_REDIS;
	if (!read_redis(a, r, r->url + 8))
		return "its address is not "
		    "redis://[:password@]host[:port][/db]";
	return cj_redis_why();
}

static unsigned
choose_timeout(unsigned given)
{
	const char *word = cj_env("CUTEJIT_REMOTE_TIMEOUT_MS");
	uint64_t n;

	if (given != 0)
		return given;
	if (word == NULL || !cj_is_count(word, &n))
		return DEFAULT_TIMEOUT_MS;
	return n < MOST_TIMEOUT_MS ? (unsigned)n : MOST_TIMEOUT_MS;
}

struct cj_remote *
cj_remote_open(struct cj_arena *a, const cutejit_options *o,
    bool is_read_only, const char **why)
{
	const char *url = o->remote_cache != NULL ? o->remote_cache
	    : cj_env("CUTEJIT_REMOTE_CACHE");
	const char *mode = cj_env("CUTEJIT_REMOTE_MODE");
	struct cj_remote *r;

	*why = NULL;
	if (url == NULL || *url == '\0' || strcmp(url, "off") == 0)
		return NULL;
	r = CJ_NEW(a, struct cj_remote);
	atomic_init(&r->quiet_until, 0);
	r->timeout_ms = choose_timeout(o->remote_timeout_ms);
	r->is_read_only = is_read_only || o->remote_read_only != 0
	    || (mode != NULL && strcmp(mode, "readonly") == 0);
	*why = read_url(a, r, url);
	return *why == NULL ? r : NULL;
}

/* ---- asking -------------------------------------------------------------- */

bool
cj_remote_append(struct cj_request_to *q, const void *bytes, size_t n)
{
	struct cutejit_context *c = q->work->context;
	size_t cap = q->got_cap != 0 ? q->got_cap : 16384;
	char *more;

	if (n > CJ_REMOTE_LARGEST - q->got_length)
		return false;
	while (cap < q->got_length + n)
		cap *= 2;
	if (cap != q->got_cap) {
		more = cj_take(c, cap);
		if (more == NULL)
			return false;
		if (q->got_length != 0)
			memcpy(more, q->got, q->got_length);
		cj_give_back(c, q->got);
		q->got = more;
		q->got_cap = cap;
	}
	if (n != 0)
		memcpy(q->got + q->got_length, bytes, n);
	q->got_length += n;
	return true;
}

/* A client may write to a connection that the server has closed: the signal
 * of that is not the host's. */
static enum cj_answer
ask_quietly(struct cj_request_to *q)
{
	struct timespec none = { 0, 0 };
	sigset_t pipe, before, pending;
	enum cj_answer answer;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	answer = q->remote->kind == CJ_REMOTE_HTTP ? cj_http_ask(q)
	    : cj_redis_ask(q);
	if (!sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&pipe, NULL, &none) == SIGPIPE)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return answer;
}

static enum cj_answer
ask(struct cj_request_to *q)
{
	struct cj_store *s = q->work->context->store;
	struct cj_remote *r = s->remote;
	enum cj_answer answer;

	if (cj_clock() < atomic_load(&r->quiet_until)
	    || cj_is_late(q->work))
		return CJ_ANSWER_ABSENT;
	answer = ask_quietly(q);
	if (answer != CJ_ANSWER_FAILED)
		return answer;
	atomic_fetch_add(&s->remote_errors, 1);
	atomic_store(&r->quiet_until, cj_clock()
	    + QUIET_MS * INT64_C(1000000));
	cj_log(q->work->context, CUTEJIT_LOG_WARNING, "remote cache: %s; it "
	    "is not asked for %d seconds", q->why, QUIET_MS / 1000);
	return answer;
}

struct bytes {
	struct cutejit_context *context;
	char *at;
};

static void
give_back(void *object)
{
	struct bytes *b = object;

	cj_give_back(b->context, b->at);
}

bool
cj_remote_find(struct cj_work *f, struct cj_arena *a,
    const struct cj_digest *key, struct cj_record *out, const char **bytes,
    size_t *length)
{
	struct cj_store *s = f->context->store;
	struct cj_request_to q = { .work = f, .remote = s->remote };
	struct bytes *b = CJ_NEW(&f->arena, struct bytes);
	const char *why = NULL;
	enum cj_answer answer;
	char text[65];

	cj_digest_text(key, text);
	q.key = text;
	answer = ask(&q);
	b->context = f->context;
	b->at = q.got;
	cj_defer(f, give_back, b);
	if (answer == CJ_ANSWER_FOUND) {
		*bytes = cj_memdup(a, q.got, q.got_length);
		*length = q.got_length;
		why = cj_record_decode(*bytes, *length, key, true, out);
	}
	cj_undefer(f);
	give_back(b);
	if (answer == CJ_ANSWER_FOUND && why == NULL) {
		atomic_fetch_add(&s->remote_hits, 1);
		return true;
	}
	atomic_fetch_add(&s->remote_misses, 1);
	if (why != NULL) {
		atomic_fetch_add(&s->damaged, 1);
		cj_log(f->context, CUTEJIT_LOG_WARNING,
		    "remote cache entry %s: %s", text, why);
	}
	return false;
}

void
cj_remote_put(struct cj_work *f, const struct cj_digest *key,
    const char *bytes, size_t length)
{
	struct cj_store *s = f->context->store;
	struct cj_request_to q = { .work = f, .remote = s->remote,
	    .put = bytes, .put_length = length };
	char text[65];

	if (s->remote->is_read_only || length > CJ_REMOTE_LARGEST)
		return;
	cj_digest_text(key, text);
	q.key = text;
	if (ask(&q) == CJ_ANSWER_FOUND)
		atomic_fetch_add(&s->remote_stored, 1);
	cj_give_back(f->context, q.got);
}
