/*
 * Files: all bytes or none (file.h).
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool
cj_write_all(int fd, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length > 0) {
		ssize_t n = write(fd, at, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		length -= (size_t)n;
	}
	return true;
}

bool
cj_read_all(int fd, void *bytes, size_t length)
{
	char *at = bytes;

	while (length > 0) {
		ssize_t n = read(fd, at, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		length -= (size_t)n;
	}
	return true;
}

/* Does the file hold these bytes? */
static bool
reads_back(int fd, const char *bytes, size_t length)
{
	char part[16384];

	if (lseek(fd, 0, SEEK_SET) != 0)
		return false;
	while (length > 0) {
		size_t n = length < sizeof part ? length : sizeof part;

		if (!cj_read_all(fd, part, n) || memcmp(part, bytes, n) != 0)
			return false;
		bytes += n;
		length -= n;
	}
	return true;
}

static bool
make_like(int fd, const struct stat *like)
{
	if (like == NULL)
		return true;
	if (fchmod(fd, like->st_mode & 07777) != 0)
		return false;
	/* only root may keep another owner; for others that is no fault */
	if (fchown(fd, like->st_uid, like->st_gid) != 0)
		errno = 0;
	return true;
}

/*
 * What is written aside has no name where the system has such files, so that
 * nothing is left behind by who ends in between; it gets its own at the end,
 * or, where another file has that, one for a moment.
 */
struct aside {
	char *path;
	bool has_name;
	int fd;
};

static const char ending[] = ".tmp.XXXXXX";

/* A file without a name in the folder of `path`; -1: there are none here. */
static int
open_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	int fd;

	if (access("/proc/self/fd", X_OK) != 0)
		return -1;
	folder = slash == NULL ? strdup(".")
	    : strndup(path, (size_t)(slash - path) + 1);
	if (folder == NULL)
		return -1;
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	free(folder);
	return fd;
}

/* False: errno. */
static bool
begin(struct aside *a, const char *path)
{
	size_t length = strlen(path);

	a->path = malloc(length + sizeof ending);
	if (a->path == NULL)
		return false;
	memcpy(a->path, path, length);
	memcpy(a->path + length, ending, sizeof ending);
	a->fd = open_nameless(path);
	a->has_name = a->fd < 0;
	if (a->has_name)
		a->fd = mkostemp(a->path, O_CLOEXEC);
	if (a->fd >= 0)
		return true;
	free(a->path);
	return false;
}

static bool
name_it(const struct aside *a, const char *path)
{
	char from[32];

	snprintf(from, sizeof from, "/proc/self/fd/%d", a->fd);
	return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

/* A name that nobody has, in the place of the ending. */
static bool
name_aside(struct aside *a)
{
	char *digits = a->path + strlen(a->path) - 6;
	struct timespec now;
	int tries;

	for (tries = 0; tries < 100; tries++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		snprintf(digits, 7, "%06x", ((unsigned)now.tv_nsec
		    ^ (unsigned)getpid() << 8) & 0xffffff);
		a->has_name = name_it(a, a->path);
		if (a->has_name || errno != EEXIST)
			break;
	}
	return a->has_name;
}

static bool
rename_over(const char *aside, const char *path, bool over_folder)
{
	if (rename(aside, path) == 0)
		return true;
	return over_folder
	    && (errno == EISDIR || errno == EEXIST || errno == ENOTEMPTY)
	    && rmdir(path) == 0 && rename(aside, path) == 0;
}

/* False: errno. */
static bool
put_in_place(struct aside *a, const char *path, bool over_folder)
{
	if (!a->has_name && name_it(a, path))
		return true;
	return (a->has_name || (errno == EEXIST && name_aside(a)))
	    && rename_over(a->path, path, over_folder);
}

static bool
end(struct aside *a, const char *path, bool good, bool over_folder)
{
	bool is_open = true;
	int why;

	if (good && a->has_name) {	/* some disks are full only now */
		is_open = false;
		good = close(a->fd) == 0;
	}
	good = good && put_in_place(a, path, over_folder);
	why = errno;
	if (!good && a->has_name)
		unlink(a->path);
	if (is_open)
		close(a->fd);
	free(a->path);
	errno = why;
	return good;
}

bool
cj_file_replace(const char *path, const void *bytes, size_t length,
    const struct stat *like)
{
	struct aside a;

	return begin(&a, path) && end(&a, path, cj_write_all(a.fd, bytes,
	    length) && make_like(a.fd, like), false);
}

bool
cj_file_replace_lasting(const char *path, const void *bytes, size_t length,
    const struct stat *like)
{
	struct aside a;

	return begin(&a, path) && end(&a, path, cj_write_all(a.fd, bytes,
	    length) && make_like(a.fd, like) && fsync(a.fd) == 0, false);
}

bool
cj_file_replace_sure(const char *path, const void *bytes, size_t length)
{
	struct aside a;

	return begin(&a, path) && end(&a, path, cj_write_all(a.fd, bytes,
	    length) && reads_back(a.fd, bytes, length), true);
}
