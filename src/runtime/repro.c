/*
 * Reports of faults of ours: one text file with everything needed to see the
 * fault again, and nothing else of the machine.
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
	if (f->module != NULL)
		put_sources(&b, f->module);
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
