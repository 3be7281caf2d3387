/*
 * Messages of the language server: Content-Length, an empty line, a body.
 *
 * Whatever comes in, the next message is found again: lines that are no
 * header are passed over until one names a length, and bodies that are too
 * long are read and dropped. Where the stream was lost, that is said once.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "lsp.h"

enum { LINE_MAX_BYTES = 4096, PART = 1 << 16 };

static const char length_name[] = "Content-Length:";

void
wire_init(struct wire *w, int in, int out)
{
	memset(w, 0, sizeof *w);
	w->in = in;
	w->out = out;
}

void
wire_fini(struct wire *w)
{
	free(w->buffer);
}

/* ---- reading ------------------------------------------------------------- */

static bool
make_room(struct wire *w)
{
	char *more;

	if (w->begin != 0)
		memmove(w->buffer, w->buffer + w->begin, w->end - w->begin);
	w->end -= w->begin;
	w->begin = 0;
	if (w->room - w->end >= PART)
		return true;
	more = realloc(w->buffer, w->room * 2 + 2 * PART);
	if (more == NULL)
		return false;
	w->buffer = more;
	w->room = w->room * 2 + 2 * PART;
	return true;
}

/* Read some more bytes; false: there are none. */
static bool
fill(struct wire *w)
{
	ssize_t n;

	if (w->is_at_end)
		return false;
	if (w->begin == w->end)
		w->begin = w->end = 0;
	if (w->room - w->end < PART && !make_room(w)) {
		w->is_at_end = true;
		return false;
	}
	do
		n = read(w->in, w->buffer + w->end, w->room - w->end);
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		w->is_at_end = true;
		return false;
	}
	w->end += (size_t)n;
	return true;
}

bool
wire_waits(const struct wire *w, int ms)
{
	struct pollfd p = { .fd = w->in, .events = POLLIN };

	if (w->begin != w->end || w->is_at_end)
		return true;
	return poll(&p, 1, ms) > 0;
}

/*
 * The next line without its end; false at the end. Of a line that is too long
 * only its last part is seen.
 */
static bool
read_line(struct wire *w, const char **line, size_t *length)
{
	size_t seen = 0;
	char *stop;

	for (;;) {
		stop = w->begin == w->end ? NULL : memchr(w->buffer +
		    w->begin + seen, '\n', w->end - w->begin - seen);
		if (stop != NULL)
			break;
		if (w->end - w->begin > LINE_MAX_BYTES)
			w->begin = w->end - LINE_MAX_BYTES / 2;
		seen = w->end - w->begin;
		if (!fill(w))
			return false;
	}
	*line = w->buffer + w->begin;
	*length = (size_t)(stop - *line);
	w->begin += *length + 1;
	while (*length != 0 && (*line)[*length - 1] == '\r')
		--*length;
	return true;
}

/* "Name: value"? */
static bool
is_header(const char *line, size_t length)
{
	size_t i;

	for (i = 0; i < length && line[i] != ':'; i++)
		if ((line[i] | 32) < 'a' || (line[i] | 32) > 'z')
			if (line[i] != '-')
				return false;
	return i != 0 && i != length;
}

/* The number behind Content-Length, wherever in the line that stands. */
static bool
find_length(const char *line, size_t length, size_t *value)
{
	size_t name = sizeof length_name - 1, i, digits = 0, n = 0;

	for (i = 0; i + name <= length; i++)
		if (strncasecmp(line + i, length_name, name) == 0)
			break;
	if (i + name > length)
		return false;
	for (i += name; i < length && (line[i] == ' ' || line[i] == '\t'); i++)
		continue;
	for (; i < length && line[i] >= '0' && line[i] <= '9'; i++, digits++)
		if (n < SIZE_MAX / 16)
			n = n * 10 + (size_t)(line[i] - '0');
	for (; i < length && line[i] == ' '; i++)
		continue;
	*value = n;
	return digits != 0 && i == length;
}

static enum wire_result
lose(struct wire *w, const char **why, const char *what)
{
	*why = what;
	w->is_lost = true;
	return WIRE_BAD;
}

/* Read past a body; the stream stays in step. */
static enum wire_result
drop_body(struct wire *w, size_t length, const char **why)
{
	while (length != 0) {
		size_t have = w->end - w->begin;
		size_t n = have < length ? have : length;

		w->begin += n;
		length -= n;
		if (length != 0 && !fill(w))
			return WIRE_END;
	}
	*why = "the message is too long";
	return WIRE_BAD;
}

static enum wire_result
read_body(struct wire *w, size_t length, const char **body, const char **why)
{
	if (length > LSP_MESSAGE_MAX)
		return drop_body(w, length, why);
	while (w->end - w->begin < length)
		if (!fill(w))
			return WIRE_END;
	*body = w->buffer + w->begin;
	w->begin += length;
	w->is_lost = false;
	return WIRE_MESSAGE;
}

enum wire_result
wire_read(struct wire *w, const char **body, size_t *length, const char **why)
{
	bool has_length = false, has_line = false;
	const char *line;
	size_t n;

	while (read_line(w, &line, &n)) {
		if (n == 0) {
			if (has_length)
				return read_body(w, *length, body, why);
			if (has_line && !w->is_lost)
				return lose(w, why, "a header names no "
				    "length");
			continue;
		}
		has_line = true;
		if (find_length(line, n, length))
			has_length = true;
		else if (is_header(line, n) && strncasecmp(line, length_name,
		    sizeof length_name - 1) != 0)
			continue;
		else if (!w->is_lost)
			return lose(w, why, "this is no header");
	}
	return WIRE_END;
}

/* ---- writing ------------------------------------------------------------- */

void
wire_write(struct wire *w, json_t *message)
{
	char *text = json_dumps(message, JSON_COMPACT), head[64];
	size_t length;

	json_decref(message);
	if (text == NULL || w->is_broken) {
		free(text);
		return;
	}
	length = strlen(text);
	snprintf(head, sizeof head, "Content-Length: %zu\r\n\r\n", length);
	if (!cj_write_all(w->out, head, strlen(head)) ||
	    !cj_write_all(w->out, text, length))
		w->is_broken = true;
	free(text);
}
