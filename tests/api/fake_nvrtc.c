/*
 * A stand-in for NVRTC, for tests where there is none.
 *
 * It reads CUDA C++ as far as our texts need it: `#line` says where it is,
 * `#error TEXT` is an error there, and each function that the library asks for
 *
 *	extern "C" __device__ float cjx_f(float a0, int a1) { ... }
 *
 * becomes PTX of this name which gives its first argument, or 0 where that has
 * another size. The options stand in the PTX as comments.
 *
 * FAKE_NVRTC says what goes wrong: version, create, silent (refused without a
 * word), words (refused, and no line has "error" in it), instance (cjx_wide is
 * refused in a template), size, ptx, headless, undefined (the functions are
 * left out). Built with FAKE_NVRTC_PART a function
 * of the interface is missing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS, OUT_OF_MEMORY, FAILED_CREATION, INVALID_INPUT,
    COMPILATION = 6 };

struct text {
	char *bytes;
	size_t length, room;
};

struct program {
	char *source, name[256];
	unsigned line, errors;
	struct text ptx, log;
};

static int
fails(const char *what)
{
	const char *how = getenv("FAKE_NVRTC");

	return how != NULL && strcmp(how, what) == 0;
}

static void
add(struct text *t, const char *bytes, size_t n)
{
	if (t->length + n + 1 > t->room) {
		t->room = 2 * (t->length + n + 64);
		t->bytes = realloc(t->bytes, t->room);
		if (t->bytes == NULL)
			abort();
	}
	memcpy(t->bytes + t->length, bytes, n);
	t->length += n;
	t->bytes[t->length] = '\0';
}

static void
put(struct text *t, const char *s)
{
	add(t, s, strlen(s));
}

/* ---- functions ----------------------------------------------------------- */

static unsigned
bits_of(const char *type)
{
	return strstr(type, "double") != NULL || strstr(type, "long long") !=
	    NULL ? 64 : strstr(type, "void") != NULL ? 0 : 32;
}

/* The type in front of "name" of a declaration [at, end). */
static unsigned
bits_between(const char *at, const char *end)
{
	char type[128];
	size_t n = (size_t)(end - at);

	if (n >= sizeof type)
		n = sizeof type - 1;
	memcpy(type, at, n);
	type[n] = '\0';
	return bits_of(type);
}

static void
put_body(struct text *t, unsigned result, unsigned first, const char *name)
{
	char line[512];

	if (result != 0) {
		snprintf(line, sizeof line, ".reg .b%u t;\n", result);
		put(t, line);
		if (result == first)
			snprintf(line, sizeof line, "ld.param.b%u t, "
			    "[%s_param_0];\n", result, name);
		else
			snprintf(line, sizeof line, "mov.b%u t, 0;\n",
			    result);
		put(t, line);
		snprintf(line, sizeof line, "st.param.b%u [r], t;\n", result);
		put(t, line);
	}
	put(t, "ret;\n}\n");
}

/* at: behind `extern "C" __device__ `. */
static void
translate(struct program *p, const char *at)
{
	const char *open = strchr(at, '('), *name = open, *end;
	unsigned result, first = 0, count = 0, bits;
	char line[512], word[200];

	while (name > at && name[-1] != ' ')
		name--;
	snprintf(word, sizeof word, "%.*s", (int)(open - name), name);
	result = bits_between(at, name);
	snprintf(line, sizeof line, result == 0 ? "\n.visible .func %s%s(" :
	    "\n.visible .func (.param .b%s r) %s(", result == 0 ? "" :
	    result == 64 ? "64" : "32", word);
	put(&p->ptx, line);
	for (at = open + 1; *at != ')' && *at != '\0'; count++) {
		end = at + strcspn(at, ",)");
		bits = bits_between(at, end);
		if (count == 0)
			first = bits;
		snprintf(line, sizeof line, "%s.param .b%u %s_param_%u",
		    count == 0 ? "" : ", ", bits, word, count);
		put(&p->ptx, line);
		at = *end == ',' ? end + 1 : end;
	}
	put(&p->ptx, ")\n{\n");
	put_body(&p->ptx, result, first, word);
}

/* ---- lines --------------------------------------------------------------- */

static void
report(struct program *p, const char *text, size_t n)
{
	char line[1024];

	p->errors++;
	snprintf(line, sizeof line, "%s(%u): error: #error directive: %.*s\n"
	    "    %.*s\n    ^\n\n", p->name, p->line, (int)n, text, (int)n,
	    text);
	put(&p->log, line);
}

/* A name in quotes, with \ before quotes and itself. */
static void
read_name(struct program *p, const char *at)
{
	size_t n = 0;

	for (at++; *at != '"' && n + 1 < sizeof p->name; at++) {
		at += *at == '\\';
		p->name[n++] = *at;
	}
	p->name[n] = '\0';
}

/* As the library's own text is refused where types differ. */
static void
report_instance(struct program *p)
{
	char line[1024];

	p->errors++;
	snprintf(line, sizeof line, "cutec(2): error: static assertion failed "
	    "with \"the declaration says another type\"\n  static_assert()\n"
	    "  ^\n          detected during instantiation of \"T cjx_to<T,U>"
	    "(U)\" at line %u of %s\n\n", p->line, p->name);
	put(&p->log, line);
}

static void
read_line(struct program *p, const char *at, size_t n)
{
	static const char shim[] = "extern \"C\" __device__ ";
	char copy[4096];
	size_t blank;

	snprintf(copy, sizeof copy, "%.*s", (int)n, at);
	blank = strspn(copy, " \t");
	p->line++;
	if (sscanf(copy, "#line %u", &p->line) == 1) {
		read_name(p, strchr(copy, '"'));
		p->line--;
	}
	else if (strncmp(copy + blank, "#error ", 7) == 0)
		report(p, copy + blank + 7, strlen(copy + blank + 7));
	else if (fails("instance") && strstr(copy, " cjx_wide(") != NULL)
		report_instance(p);
	else if (strncmp(copy, shim, strlen(shim)) == 0 &&
	    strchr(copy, '(') != NULL && !fails("undefined"))
		translate(p, copy + strlen(shim));
}

static void
put_head(struct program *p, int count, const char *const *options)
{
	const char *arch = "80";
	char line[512];
	int i;

	for (i = 0; i < count; i++)
		if (strncmp(options[i], "--gpu-architecture=compute_", 27) ==
		    0)
			arch = options[i] + 27;
	if (fails("headless"))
		return;
	snprintf(line, sizeof line, "//\n// of the stand-in\n//\n\n"
	    ".version 8.5\n.target sm_%s\n.address_size 64\n\n", arch);
	put(&p->ptx, line);
	for (i = 0; i < count; i++) {
		if (strncmp(options[i], "--include", 9) == 0)
			continue;
		snprintf(line, sizeof line, "// option %s\n", options[i]);
		put(&p->ptx, line);
	}
}

/* ---- the interface ------------------------------------------------------- */

int nvrtcVersion(int *major, int *minor);
int nvrtcCreateProgram(void **program, const char *text, const char *name,
    int headers, const char *const *header, const char *const *names);
int nvrtcCompileProgram(void *program, int count, const char *const *options);
int nvrtcGetPTXSize(void *program, size_t *size);
int nvrtcGetPTX(void *program, char *ptx);
int nvrtcGetProgramLogSize(void *program, size_t *size);
int nvrtcGetProgramLog(void *program, char *log);
int nvrtcDestroyProgram(void **program);

int
nvrtcVersion(int *major, int *minor)
{
	*major = 98;
	*minor = 7;
	return fails("version") ? INVALID_INPUT : SUCCESS;
}

int
nvrtcCreateProgram(void **program, const char *text, const char *name,
    int headers, const char *const *header, const char *const *names)
{
	struct program *p;

	(void)header;
	(void)names;
	if (fails("create") || headers != 0)
		return FAILED_CREATION;
	p = calloc(1, sizeof *p);
	p->source = strdup(text);
	snprintf(p->name, sizeof p->name, "%s", name);
	put(&p->ptx, "");
	put(&p->log, "");
	*program = p;
	return SUCCESS;
}

int
nvrtcCompileProgram(void *program, int count, const char *const *options)
{
	struct program *p = program;
	const char *at;
	size_t n;

	if (fails("silent"))
		return COMPILATION;
	if (fails("words")) {
		put(&p->log, "\n  the licence has run out\nand more\n");
		return COMPILATION;
	}
	put_head(p, count, options);
	for (at = p->source; *at != '\0'; at += n + (at[n] != '\0')) {
		n = strcspn(at, "\n");
		read_line(p, at, n);
	}
	if (p->errors == 0)
		return SUCCESS;
	put(&p->log, "some errors detected in the compilation of "
	    "\"extern.cu\".\n");
	return COMPILATION;
}

int
nvrtcGetPTXSize(void *program, size_t *size)
{
	struct program *p = program;

	*size = p->ptx.length + 1;
	return fails("size") ? INVALID_INPUT : SUCCESS;
}

#ifndef FAKE_NVRTC_PART
int
nvrtcGetPTX(void *program, char *ptx)
{
	struct program *p = program;

	if (fails("ptx"))
		return INVALID_INPUT;
	strcpy(ptx, p->ptx.bytes);
	return SUCCESS;
}
#endif

int
nvrtcGetProgramLogSize(void *program, size_t *size)
{
	struct program *p = program;

	*size = p->log.length + 1;
	return SUCCESS;
}

int
nvrtcGetProgramLog(void *program, char *log)
{
	struct program *p = program;

	strcpy(log, p->log.bytes);
	return SUCCESS;
}

int
nvrtcDestroyProgram(void **program)
{
	struct program *p = *program;

	free(p->source);
	free(p->ptx.bytes);
	free(p->log.bytes);
	free(p);
	*program = NULL;
	return SUCCESS;
}
