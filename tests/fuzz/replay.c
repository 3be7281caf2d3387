/*
 * Run a fuzzer once on each file of a folder, without libFuzzer:
 * replay FOLDER. A fault ends the process, as it does there; the file's name
 * stands in the last line.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int
is_file(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* The bytes in a room of just their size, so that a byte too far is seen. */
static uint8_t *
read_all(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	long length;

	if (f == NULL)
		return NULL;
	if (fseek(f, 0, SEEK_END) == 0 && (length = ftell(f)) >= 0) {
		rewind(f);
		*size = (size_t)length;
		data = malloc(*size + (*size == 0));
		if (data != NULL && fread(data, 1, *size, f) != *size) {
			free(data);
			data = NULL;
		}
	}
	fclose(f);
	return data;
}

int
main(int argc, char **argv)
{
	struct dirent **files;
	char path[4096];
	int n, i;

	n = argc == 2 ? scandir(argv[1], &files, is_file, alphasort) : -1;
	if (n <= 0) {
		fprintf(stderr, "usage: %s FOLDER (which holds files)\n",
		    argv[0]);
		return 1;
	}
	for (i = 0; i < n; i++) {
		size_t size = 0;
		uint8_t *data;

		snprintf(path, sizeof path, "%s/%s", argv[1],
		    files[i]->d_name);
		free(files[i]);
		printf("%s\n", path);
		fflush(stdout);
		data = read_all(path, &size);
		if (data == NULL) {
			perror(path);
			return 1;
		}
		LLVMFuzzerTestOneInput(data, size);
		free(data);
	}
	free(files);
	printf("%d passed, 0 failed, 0 skipped\n", n);
	return 0;
}
