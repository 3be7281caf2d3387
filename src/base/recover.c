/*
 * Recovery points: the one way out of the compiler when it cannot go on.
 */
#include "recover.h"

#include <stdarg.h>
#include <stdio.h>

void
cj_leave(struct cj_recover *r, enum cj_why why, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(r->text, sizeof r->text, format, ap);
	va_end(ap);
	r->why = why;
	longjmp(r->point, 1);
}

void
cj_poll(struct cj_recover *r)
{
	if (r->poll == NULL || !r->poll(r->poll_user))
		return;
	r->poll = NULL;
	cj_leave(r, CJ_WHY_DEADLINE, "late");
}

void
cj_bug_at(struct cj_recover *r, const char *file, int line,
    const char *format, ...)
{
	va_list ap;
	int n;

	n = snprintf(r->text, sizeof r->text, "%s:%d: ", file, line);
	if (n < 0 || (size_t)n >= sizeof r->text)
		n = 0;
	va_start(ap, format);
	vsnprintf(r->text + n, sizeof r->text - (size_t)n, format, ap);
	va_end(ap);
	r->why = CJ_WHY_BUG;
	longjmp(r->point, 1);
}
