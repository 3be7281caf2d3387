/*
 * The texts of the language server: those that the client has open, and the
 * files and library texts that they import.
 *
 * A file is kept until it is seen to have changed. Open texts hide the files
 * of the same path, also for the library.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lsp.h"
#include "std/std.h"

const char *
document_name(const struct document *d)
{
	return d->path != NULL ? d->path : d->uri;
}

/* ---- URIs ---------------------------------------------------------------- */

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 32) >= 'a' && (c | 32) <= 'f')
		return (c | 32) - 'a' + 10;
	return -1;
}

static char *
path_of_uri(const char *uri)
{
	char *path, *to;
	const char *p;

	if (strncmp(uri, "file://", 7) != 0)
		return NULL;
	p = strchr(uri + 7, '/');	/* behind the host, mostly none */
	to = path = p != NULL ? malloc(strlen(p) + 1) : NULL;
	if (path == NULL)
		return NULL;
	while (*p != '\0' && *p != '?' && *p != '#') {
		if (*p == '%' && hex_digit(p[1]) >= 0 && hex_digit(p[2]) >= 0
		    && (p[1] != '0' || p[2] != '0')) {
			*to++ = (char)(hex_digit(p[1]) * 16 + hex_digit(p[2]));
			p += 3;
		} else {
			*to++ = *p++;
		}
	}
	*to = '\0';
	return path;
}

/* Paths and file URIs; malloc. NULL: it is no such thing, or no memory. */
static char *
uri_of_path(const char *path)
{
	static const char plain[] = "/-_.~";
	char *uri = malloc(strlen(path) * 3 + 8), *to;

	if (uri == NULL)
		return NULL;
	to = stpcpy(uri, "file://");
	for (; *path != '\0'; path++) {
		unsigned char c = (unsigned char)*path;

		if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <=
		    'z') || strchr(plain, (char)c) != NULL)
			*to++ = (char)c;
		else
			to += sprintf(to, "%%%02X", c);
	}
	*to = '\0';
	return uri;
}

/* ---- making and dropping ------------------------------------------------- */

static void
document_forget(struct document *d)
{
	view_drop(d->view);
	d->view = NULL;
}

void
documents_forget(struct server *s)
{
	struct document *d;

	for (d = s->documents; d != NULL; d = d->next)
		document_forget(d);
}

static void
drop(struct document *d)
{
	document_forget(d);
	lines_fini(&d->lines);
	json_decref(d->version);
	json_decref(d->fixes);
	free(d->uri);
	free(d->path);
	free(d->text);
	free(d);
}

static void
unlink_document(struct server *s, struct document *d)
{
	struct document **at = &s->documents;

	while (*at != d)
		at = &(*at)->next;
	*at = d->next;
	drop(d);
}

void
documents_sweep(struct server *s)
{
	struct document *d, *next;

	for (d = s->documents; d != NULL; d = next) {
		next = d->next;
		if (d->is_stale)
			unlink_document(s, d);
	}
}

void
documents_fini(struct server *s)
{
	while (s->documents != NULL)
		unlink_document(s, s->documents);
}

/* Takes the text. false: no memory, nothing has changed. */
static bool
take_text(struct document *d, char *text, size_t length)
{
	struct lines lines;

	if (text == NULL || !lines_init(&lines, text, length)) {
		free(text);
		return false;
	}
	document_forget(d);
	lines_fini(&d->lines);
	free(d->text);
	d->text = text;
	d->length = length;
	d->lines = lines;
	return true;
}

static char *
copy_of(const char *text, size_t length)
{
	char *copy = malloc(length + 1);

	if (copy != NULL) {
		memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return copy;
}

/* A new document, not in the list; takes uri and path. NULL: no memory. */
static struct document *
create(char *uri, char *path, const char *text, size_t length)
{
	struct document *d = calloc(1, sizeof *d);

	if (d != NULL) {
		d->uri = uri;
		d->path = path;
		if (uri != NULL && take_text(d, copy_of(text, length), length))
			return d;
		drop(d);
		return NULL;
	}
	free(uri);
	free(path);
	return NULL;
}

static struct document *
add(struct server *s, struct document *d)
{
	if (d != NULL) {
		d->next = s->documents;
		s->documents = d;
	}
	return d;
}

/* ---- open documents ------------------------------------------------------ */

struct document *
document_open_at(struct server *s, const char *uri)
{
	struct document *d;

	for (d = s->documents; d != NULL; d = d->next)
		if (d->is_open && strcmp(d->uri, uri) == 0)
			return d;
	return NULL;
}

/* Texts that import may mean the changed one: check them again too. */
static void
mark_dirty(struct server *s, struct document *changed)
{
	struct document *d;

	for (d = s->documents; d != NULL; d = d->next)
		if (d->is_open && (d == changed ||
		    strstr(d->text, "import") != NULL))
			d->is_dirty = true;
	json_decref(changed->fixes);
	changed->fixes = NULL;
}

bool
document_set(struct server *s, const char *uri, const json_t *version,
    const char *text, size_t length)
{
	struct document *d = document_open_at(s, uri);

	if (d == NULL)
		d = add(s, create(strdup(uri), path_of_uri(uri), text,
		    length));
	else if (!take_text(d, copy_of(text, length), length))
		return false;
	if (d == NULL)
		return false;
	d->is_open = true;
	json_decref(d->version);
	d->version = json_deep_copy(version);
	mark_dirty(s, d);
	return true;
}

bool
document_splice(struct server *s, struct document *d, size_t begin,
    size_t end, const char *text, size_t length)
{
	size_t all = d->length - (end - begin) + length;
	char *whole = malloc(all + 1);

	assert(begin <= end && end <= d->length);
	if (whole == NULL)
		return false;
	memcpy(whole, d->text, begin);
	memcpy(whole + begin, text, length);
	memcpy(whole + begin + length, d->text + end, d->length - end);
	whole[all] = '\0';
	if (!take_text(d, whole, all))
		return false;
	mark_dirty(s, d);
	return true;
}

void
document_close(struct server *s, struct document *d)
{
	mark_dirty(s, d);
	unlink_document(s, d);
}

/* ---- files and the library ----------------------------------------------- */

static struct document *
find_path(struct server *s, const char *path, bool is_open)
{
	struct document *d;

	for (d = s->documents; d != NULL; d = d->next)
		if (d->is_open == is_open && !d->is_stale && d->path != NULL
		    && strcmp(d->path, path) == 0)
			return d;
	return NULL;
}

static bool
is_as_it_was(const struct document *d, const struct stat *st)
{
	return d->seconds == (long long)st->st_mtim.tv_sec &&
	    d->nanoseconds == st->st_mtim.tv_nsec &&
	    d->length == (size_t)st->st_size;
}

static struct document *
read_document(const char *path, const struct stat *st)
{
	struct document *d;
	size_t length;
	char *text;

	if (!S_ISREG(st->st_mode) || st->st_size > CJ_SOURCE_MAX ||
	    access(path, R_OK) != 0)
		return NULL;
	text = read_file(path, &length);
	if (text == NULL)
		return NULL;
	d = create(uri_of_path(path), strdup(path), text, length);
	free(text);
	if (d != NULL) {
		d->seconds = (long long)st->st_mtim.tv_sec;
		d->nanoseconds = st->st_mtim.tv_nsec;
	}
	return d;
}

struct document *
document_at_path(struct server *s, const char *path)
{
	struct document *d = find_path(s, path, true);
	struct stat st;

	if (d != NULL)
		return d;
	d = find_path(s, path, false);
	if (stat(path, &st) != 0)
		return NULL;
	if (d != NULL && is_as_it_was(d, &st))
		return d;
	if (d != NULL)
		d->is_stale = true;	/* somebody may still look at it */
	return add(s, read_document(path, &st));
}

struct document *
document_like(struct server *s, const struct document *d, const char *text,
    size_t length)
{
	struct document *like = create(strdup(d->uri),
	    strdup(document_name(d)), text, length);

	if (like == NULL)
		cj_leave(&s->recover, CJ_WHY_MEMORY, "no room for a text");
	like->is_stale = true;
	return add(s, like);
}

bool
is_of_library(const struct document *d)
{
	return !d->is_open && d->path == NULL;
}

struct document *
document_of_library(struct server *s, const char *name)
{
	struct document *d;
	unsigned i;

	for (d = s->documents; d != NULL; d = d->next)
		if (!d->is_open && strcmp(d->uri, name) == 0)
			return d;
	if (strncmp(name, "cute/", 5) != 0)
		return NULL;
	for (i = 0; i < cj_std_count; i++)
		if (strcmp(cj_std_files[i].name, name + 5) == 0)
			return add(s, create(strdup(name), NULL,
			    cj_std_files[i].text, cj_std_files[i].length));
	return NULL;
}

/* Take "./" and "folder/../" out of a path. */
static void
collapse(char *path)
{
	char *from = path, *to = path;

	while (*from != '\0') {
		bool is_begin = to == path || to[-1] == '/';

		if (is_begin && strncmp(from, "./", 2) == 0) {
			from += 2;
		} else if (is_begin && strncmp(from, "../", 3) == 0 &&
		    to > path + 1 && (to - path < 3 ||
		    strncmp(to - 3, "../", 3) != 0)) {
			from += 3;
			for (to--; to > path && to[-1] != '/'; to--)
				continue;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

/* "folder/" of the name, and the path behind it; malloc. */
static char *
beside(const char *name, const char *path)
{
	const char *slash = path[0] == '/' ? NULL : strrchr(name, '/');
	size_t n = slash != NULL ? (size_t)(slash - name) + 1 : 0;
	char *joined = malloc(n + strlen(path) + 1);

	if (joined != NULL) {
		memcpy(joined, name, n);
		strcpy(joined + n, path);
		collapse(joined);
	}
	return joined;
}

static struct document *
document_beside(struct server *s, const char *name, const char *path)
{
	char *joined = beside(name, path);
	struct document *d = NULL;

	if (joined != NULL)
		d = document_at_path(s, joined);
	free(joined);
	return d;
}

struct document *
document_imported(struct server *s, const struct document *from,
    const char *path)
{
	struct document *d = document_of_library(s, path);
	size_t i;

	if (d == NULL)
		d = document_beside(s, document_name(from), path);
	for (i = 0; d == NULL && i < s->folders->count; i++)
		d = document_beside(s, cj_printf(&s->scratch, "%s/",
		    s->folders->at[i]), path);
	return d;
}

/* Only open texts: files are found by the library itself. */
int
import_open(void *user, const char *from, const char *path,
    const char **name, const char **text, size_t *length)
{
	struct server *s = user;
	char *joined = beside(from, path);
	struct document *d = NULL;

	if (joined != NULL)
		d = find_path(s, joined, true);
	free(joined);
	if (d == NULL)
		return 0;
	*name = d->path;
	*text = d->text;
	*length = d->length;
	return 1;
}
