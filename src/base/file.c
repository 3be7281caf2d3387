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

struct aside {
	char *path;
	int fd;
};

/* False: errno. */
static bool
begin(struct aside *a, const char *path)
{
	size_t length = strlen(path);

	a->path = malloc(length + sizeof ".tmp.XXXXXX");
	if (a->path == NULL)
		return false;
	memcpy(a->path, path, length);
	memcpy(a->path + length, ".tmp.XXXXXX", sizeof ".tmp.XXXXXX");
	a->fd = mkostemp(a->path, O_CLOEXEC);
	if (a->fd >= 0)
		return true;
	free(a->path);
	return false;
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

static bool
end(struct aside *a, const char *path, bool good, bool over_folder)
{
	int why = errno;

	if (close(a->fd) != 0 && good) {
		good = false;
		why = errno;
	}
	if (good) {
		good = rename_over(a->path, path, over_folder);
		why = errno;
	}
	if (!good)
		unlink(a->path);
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
