/*
 * A server of files by HTTP, by way of libcurl: GET and PUT, as ccache and
 * Bazel use one. Any server does that takes PUT: nginx has dav_methods for it.
 */
#include "remote.h"

#ifdef HAVE_CURL

#include <curl/curl.h>

#include "base/library.h"

/* Each function of the library that is used. */
#define FUNCTIONS(F)							\
	F(curl_global_init) F(curl_easy_init) F(curl_easy_setopt)	\
	F(curl_easy_perform) F(curl_easy_getinfo) F(curl_easy_cleanup)	\
	F(curl_easy_strerror)

/* One per process. */
static struct table {
#define MEMBER(name) __typeof__(&(name)) name;
	FUNCTIONS(MEMBER)
#undef MEMBER
} curl;

/* The headers wrap some names in macros that check types. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

static const char *
start(void)
{
	return curl.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? NULL
	    : "libcurl does not start";
}

static const struct cj_symbol symbols[] = {
#define ROW(name) { #name, offsetof(struct table, name), false },
	FUNCTIONS(ROW)
#undef ROW
};
static struct cj_library library = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.names = (const char *const[]){ "libcurl.so.4",
	    "libcurl-gnutls.so.4", NULL },
	.symbols = symbols, .count = CJ_LENGTH(symbols),
	.table = &curl, .start = start
};

const char *
cj_http_why(void)
{
	return cj_library_open(&library);
}

struct transfer {
	struct cj_request_to *q;
	size_t sent;
};

static size_t
receive(char *bytes, size_t size, size_t count, void *user)
{
	struct transfer *t = user;

	if (t->q->put != NULL)
		return size * count;	/* what a server says to a PUT */
	return cj_remote_append(t->q, bytes, size * count) ? size * count
	    : 0;
}

static size_t
send_bytes(char *to, size_t size, size_t count, void *user)
{
	struct transfer *t = user;
	size_t left = t->q->put_length - t->sent, n = size * count;

	n = n < left ? n : left;
	memcpy(to, t->q->put + t->sent, n);
	t->sent += n;
	return n;
}

/* Not 0: stop. */
static int
look_at_time(void *user, curl_off_t a, curl_off_t b, curl_off_t c,
    curl_off_t d)
{
	struct transfer *t = user;

	(void)a, (void)b, (void)c, (void)d;
	return cj_is_late(t->q->work);
}

static void
set_up(CURL *h, const struct cj_request_to *q, struct transfer *t,
    const char *url)
{
	long timeout = (long)q->remote->timeout_ms;

	curl.curl_easy_setopt(h, CURLOPT_URL, url);
	curl.curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
	curl.curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, timeout);
	curl.curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, q->put == NULL ? timeout
	    : 4 * timeout);
	curl.curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
	curl.curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, receive);
	curl.curl_easy_setopt(h, CURLOPT_WRITEDATA, t);
	curl.curl_easy_setopt(h, CURLOPT_NOPROGRESS, 0L);
	curl.curl_easy_setopt(h, CURLOPT_XFERINFOFUNCTION, look_at_time);
	curl.curl_easy_setopt(h, CURLOPT_XFERINFODATA, t);
	if (q->put == NULL)
		return;
	curl.curl_easy_setopt(h, CURLOPT_UPLOAD, 1L);
	curl.curl_easy_setopt(h, CURLOPT_READFUNCTION, send_bytes);
	curl.curl_easy_setopt(h, CURLOPT_READDATA, t);
	curl.curl_easy_setopt(h, CURLOPT_INFILESIZE_LARGE,
	    (curl_off_t)q->put_length);
}

static enum cj_answer
judge(struct cj_request_to *q, CURL *h, CURLcode rc)
{
	long status = 0;

	if (rc != CURLE_OK) {
		snprintf(q->why, sizeof q->why, "%s",
		    curl.curl_easy_strerror(rc));
		return CJ_ANSWER_FAILED;
	}
	curl.curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 200 && status < 300)
		return CJ_ANSWER_FOUND;
	if (status == 404 && q->put == NULL)
		return CJ_ANSWER_ABSENT;
	snprintf(q->why, sizeof q->why, "the server answers %ld to a %s",
	    status, q->put == NULL ? "GET" : "PUT");
	return CJ_ANSWER_FAILED;
}

enum cj_answer
cj_http_ask(struct cj_request_to *q)
{
	struct transfer t = { q, 0 };
	enum cj_answer answer;
	char url[2048];
	CURL *h;

	snprintf(q->why, sizeof q->why, "its address is too long");
	if ((size_t)snprintf(url, sizeof url, "%s/%s", q->remote->url,
	    q->key) >= sizeof url)
		return CJ_ANSWER_FAILED;
	snprintf(q->why, sizeof q->why, "libcurl has no memory");
	h = curl.curl_easy_init();
	if (h == NULL)
		return CJ_ANSWER_FAILED;
	set_up(h, q, &t, url);
	answer = judge(q, h, curl.curl_easy_perform(h));
	curl.curl_easy_cleanup(h);
	return answer;
}

#else

const char *
cj_http_why(void)
{
	return "this build has no HTTP (configure did not find libcurl)";
}

enum cj_answer
cj_http_ask(struct cj_request_to *q)
{
	snprintf(q->why, sizeof q->why, "%s", cj_http_why());
	return CJ_ANSWER_FAILED;
}

#endif
