/*
 * Files of texts: how they are read, and where an import is looked for.
 *
 * A file that is reached by two names is one text: files are told apart by
 * device and number, so that links and "./" do not make a circle of imports
 * endless. Only regular files are imported: a folder has no text, and a
 * device or a pipe gives another one each time.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime.h"

/* ---- reading ------------------------------------------------------------- */

char *
cj_read_file(struct cj_arena *a, const char *path, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *text;
	size_t got = 0;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) != 0 || st.st_size > CJ_SOURCE_MAX
	    || S_ISDIR(st.st_mode)) {
		close(fd);
		errno = S_ISDIR(st.st_mode) ? EISDIR : EFBIG;
		return NULL;
	}
	text = NULL;
	if (S_ISREG(st.st_mode)) {
		text = cj_alloc(a, (size_t)st.st_size + 1);
		while (got < (size_t)st.st_size) {
			ssize_t n = read(fd, text + got,
			    (size_t)st.st_size - got);

			if (n <= 0)
				break;
			got += (size_t)n;
		}
	} else {
		struct cj_strbuf b;
		char part[4096];
		ssize_t n;

		cj_strbuf_init(&b, a);
		while ((n = read(fd, part, sizeof part)) > 0
		    && b.len < CJ_SOURCE_MAX)
			cj_strbuf_write(&b, part, (size_t)n);
		text = b.text;
		got = b.len;
	}
	close(fd);
	*length = got;
	return text;
}

/* ---- imports ------------------------------------------------------------- */

struct cj_imported {
	dev_t device;
	ino_t number;
	const char *name, *text;	/* text NULL: the first text's */
	size_t length;
};

void
cj_import_begin(struct cj_importing *im, const char *first)
{
	struct cj_imported *file;
	struct stat st;

	if (stat(first, &st) != 0 || !S_ISREG(st.st_mode))
		return;		/* a text out of memory */
	file = cj_push(im->arena, &im->files);
	*file = (struct cj_imported){ st.st_dev, st.st_ino, first, NULL, 0 };
}

static size_t
folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

static const struct cj_imported *
find_file(const struct cj_importing *im, const struct stat *st)
{
	uint32_t i;

	for (i = 0; i < im->files.len; i++)
		if (im->files.at[i].device == st->st_dev &&
		    im->files.at[i].number == st->st_ino)
			return &im->files.at[i];
	return NULL;
}

static const char *
refusal(const struct stat *st)
{
	return S_ISDIR(st->st_mode) ? "it is a folder" :
	    "it is no regular file";
}

static bool
try_path(struct cj_importing *im, const char *path, const char **name,
    const char **text, size_t *length)
{
	const struct cj_imported *known;
	struct cj_imported *file;
	struct stat st;

	if (stat(path, &st) != 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			im->why = cj_strdup(im->arena, strerror(errno));
		return false;
	}
	if (!S_ISREG(st.st_mode)) {
		im->why = refusal(&st);
		return false;
	}
	known = find_file(im, &st);
	if (known != NULL) {
		*name = known->name;
		*text = known->text;
		*length = known->length;
		return true;
	}
	*text = cj_read_file(im->arena, path, length);
	if (*text == NULL) {
		im->why = cj_strdup(im->arena, strerror(errno));
		return false;
	}
	*name = path;
	file = cj_push(im->arena, &im->files);
	*file = (struct cj_imported){ st.st_dev, st.st_ino, path, *text,
	    *length };
	return true;
}

/* Beside the importing file, then in the folders in order. */
static bool
find_in_folders(struct cj_importing *im, const char *from, const char *path,
    const char **name, const char **text, size_t *length)
{
	const cutejit_options *o = &im->f->context->options;
	size_t i;

	if (path[0] == '/')
		return try_path(im, cj_strdup(im->arena, path), name, text,
		    length);
	if (try_path(im, cj_printf(im->arena, "%.*s%s",
	    (int)folder_length(from), from, path), name, text, length))
		return true;
	for (i = 0; i < o->include_count; i++)
		if (try_path(im, cj_printf(im->arena, "%s/%s",
		    o->include_folders[i], path), name, text, length))
			return true;
	return false;
}

bool
cj_import_find(void *user, const char *from, const char *path,
    const char **name, const char **text, size_t *length)
{
	struct cj_importing *im = user;
	const cutejit_options *o = &im->f->context->options;

	if (o->import != NULL
	    && o->import(o->user, from, path, name, text, length) != 0) {
		*name = cj_strdup(im->arena, *name);
		*text = cj_strndup(im->arena, *text, *length);
		return true;
	}
	im->why = NULL;
	if (find_in_folders(im, from, path, name, text, length))
		return true;
	*text = im->why != NULL ? im->why : "there is no such file";
	return false;
}
