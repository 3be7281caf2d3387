/*
 * Stages of every compile as files, whoever asks for the compile.
 *
 * Kinds: ir, host, llvm, ptx, cubin. A file is called after the kernel, its
 * member, the target, and the first digits of the recipe's digest, so that
 * specialisations do not overwrite each other.
 */
#include "dump.h"

#include <fcntl.h>
#include <unistd.h>

#include "program.h"

/* Is `kind` among the words in front of the colon? */
static bool
is_asked(const char *words, const char *kind)
{
	size_t n = strlen(kind);

	while (*words != '\0' && *words != ':') {
		size_t length = strcspn(words, ",:");

		if (length == n && memcmp(words, kind, n) == 0)
			return true;
		words += length;
		words += *words == ',';
	}
	return false;
}

static const char *
file_name(struct cj_work *f, const char *words, const struct cj_program *p,
    const char *kind)
{
	const char *colon = strchr(words, ':');
	char digest[65];

	cj_digest_text(&p->recipe, digest);
	return cj_printf(&f->arena, "%s/%s_m%u.%s.%.8s.%s",
	    colon != NULL && colon[1] != '\0' ? colon + 1 : ".", p->kernel,
	    p->member, p->target->name, digest, kind);
}

static void
write_file(struct cj_work *f, const char *path, const char *bytes,
    size_t length)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0666);
	bool done = fd >= 0;

	while (done && length > 0) {
		ssize_t n = write(fd, bytes, length);

		done = n > 0;
		if (done) {
			bytes += n;
			length -= (size_t)n;
		}
	}
	if (fd >= 0)
		close(fd);
	if (!done)
		cj_log(f->context, CUTEJIT_LOG_WARNING,
		    "CUTEJIT_DUMP: %s cannot be written", path);
}

static void
dump_ir(struct cj_work *f, const char *words, const struct cj_program *p)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, &f->arena);
	if (is_asked(words, "ir")) {
		cj_module_print(&b, p->ir);
		write_file(f, file_name(f, words, p, "ir"), b.text, b.len);
	}
	cj_strbuf_init(&b, &f->arena);
	if (is_asked(words, "host")) {
		cj_function_print(&b, p->ir, 1);
		write_file(f, file_name(f, words, p, "host"), b.text, b.len);
	}
}

static void
dump_ptx(struct cj_work *f, const char *words, struct cutejit_module *m,
    const struct cj_recipe *r, struct cj_program *p)
{
	struct cj_codegen_result g;

	if (is_asked(words, "llvm")
	    && cj_generate(f, m, r, p, true, &g) == CUTEJIT_OK)
		write_file(f, file_name(f, words, p, "ll"), g.llvm,
		    strlen(g.llvm));
	if (is_asked(words, "ptx"))
		write_file(f, file_name(f, words, p, "ptx"), p->ptx,
		    p->ptx_length);
}

void
cj_dump_stage(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, struct cj_program *p, enum cj_stage stage)
{
	const char *words = cj_env("CUTEJIT_DUMP");

	if (words == NULL)
		return;
	switch (stage) {
	case CJ_STAGE_NONE:
		break;
	case CJ_STAGE_IR:
		dump_ir(f, words, p);
		break;
	case CJ_STAGE_PTX:
		dump_ptx(f, words, m, r, p);
		break;
	case CJ_STAGE_IMAGE:
		if (p->cubin != NULL && is_asked(words, "cubin"))
			write_file(f, file_name(f, words, p, "cubin"),
			    p->cubin, p->cubin_length);
		break;
	}
}
