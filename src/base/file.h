/*
 * Files: all bytes or none.
 */
#ifndef CJ_FILE_H
#define CJ_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* All of it, through interruptions; false: errno. */
bool cj_write_all(int fd, const void *bytes, size_t length);
/* The same; false also where the file ends early. */
bool cj_read_all(int fd, void *bytes, size_t length);

struct stat;

/*
 * Put bytes in the place of a file in one step: they are written aside, in the
 * same folder, and then take its name. Whoever opens it finds the old bytes or
 * the new ones; a process that ends meanwhile leaves nothing behind, where the
 * system has files without a name. `like` (may be NULL: the user's alone) gives
 * mode and owner.
 * False: errno, and everything is as it was.
 */
bool cj_file_replace(const char *path, const void *bytes, size_t length,
    const struct stat *like);

/* The same, and on the disk before anyone sees it: for what nobody could make
 * again. A disk may take longer for it than a compile does. */
bool cj_file_replace_lasting(const char *path, const void *bytes,
    size_t length, const struct stat *like);

/* cj_file_replace(), and read again before anyone sees it: a disk that lies or
 * is full is found. An empty folder in its place gives way. */
bool cj_file_replace_sure(const char *path, const void *bytes, size_t length);

#endif
