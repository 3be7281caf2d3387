/*
 * Reports of faults of ours: one text file with everything needed to see the
 * fault again, and nothing else of the machine: versions, what was compiled for
 * which target with which options, all texts, and the IR as far as it got.
 *
 * It goes to the folder named by CUTEJIT_REPRO, else to that of temporary
 * files; the name is new and belongs to the user alone.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "repro.h"
#include "runtime.h"

static void
put_sources(struct cj_strbuf *b, const struct cutejit_module *m)
{
	uint32_t i;

	for (i = 1; i < m->sources.all.len; i++) {
		const struct cj_source *s = &m->sources.all.at[i];

		cj_strbuf_printf(b, "\n---- text %s, %u bytes\n", s->name,
		    s->length);
		cj_strbuf_write(b, s->text, s->length);
	}
}

/* What was being compiled; cutec compile -k, -D, --arch and -O say the same. */
static void
put_recipe(struct cj_strbuf *b, const struct cj_recipe *r)
{
	cj_strbuf_printf(b, "kernel: %s, member %u\n", r->member->kernel,
	    r->member->member);
	cj_strbuf_printf(b, "arguments: %s\n", r->binding_text);
	cj_strbuf_printf(b, "target: %s -O%d", r->target->name, r->level);
	if (r->ptx != 0)
		cj_strbuf_printf(b, " ptx %d.%d", r->ptx / 10, r->ptx % 10);
	cj_strbuf_printf(b, "%s%s\n", r->checked ? " --checked" : "",
	    r->lineinfo ? " --lineinfo" : "");
}

/* What stages have left is whole; the stage that failed has left nothing. */
static void
put_ir(struct cj_strbuf *b, const struct cj_program *p)
{
	int stage = atomic_load(&p->stage);

	if (stage < (int)CJ_STAGE_IR || p->ir == NULL)
		return;
	cj_strbuf_puts(b, "\n---- ir\n");
	cj_module_print(b, p->ir);
	if (stage >= (int)CJ_STAGE_PTX)
		cj_strbuf_printf(b, "\n---- ptx\n%s", p->ptx);
}

static const char *
report_text(struct cj_work *f, size_t *length)
{
	struct cj_strbuf b;

	cj_strbuf_init(&b, &f->arena);
	cj_strbuf_printf(&b, "cutejit %s, build %s, %s\n", cutejit_version(),
	    cutejit_build(), cutejit_generator());
	cj_strbuf_printf(&b, "fault: %s\n", f->recover.text);
	if (f->doing != NULL)
		cj_strbuf_printf(&b, "while: %s\n", f->doing);
	if (f->recipe != NULL)
		put_recipe(&b, f->recipe);
	if (f->module != NULL)
		put_sources(&b, f->module);
	if (f->program != NULL)
		put_ir(&b, f->program);
	*length = b.len;
	return b.text;
}

static const char *
folder(void)
{
	const char *named = cj_env("CUTEJIT_REPRO");
	const char *temporary = cj_env("TMPDIR");

	if (named != NULL) {
		mkdir(named, 0700);
		return named;
	}
	return temporary != NULL ? temporary : "/tmp";
}

const char *
cj_repro_write(struct cj_work *f)
{
	size_t length;
	const char *text = report_text(f, &length);
	char *path = cj_printf(&f->arena, "%s/cutejit-report-XXXXXX", folder());
	int fd = mkostemp(path, O_CLOEXEC);
	bool done;

	if (fd < 0)
		return NULL;
	done = cj_write_all(fd, text, length);
	close(fd);
	if (!done)
		unlink(path);
	return done ? path : NULL;
}
