/*
 * Recovery points: the one way out of the compiler when it cannot go on.
 *
 * A public entry sets a point with CJ_RECOVER and gives it to its arenas.
 * Running out of memory, a passed deadline and faults of our own leave there;
 * wrong user text never does (that is a diagnostic, diag.h). No jump may cross
 * a frame of a driver or of LLVM.
 *
 *	struct cj_recover r = { 0 };
 *	if (CJ_RECOVER(&r)) { ... r.why, r.text ...; return status; }
 */
#ifndef CJ_RECOVER_H
#define CJ_RECOVER_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdnoreturn.h>

enum cj_why {
	CJ_WHY_NONE,
	CJ_WHY_MEMORY,		/* the allocator or a limit said no */
	CJ_WHY_DEADLINE,	/* too late, or cancelled by the caller */
	CJ_WHY_BUG		/* a fault of ours; text says where */
};

struct cj_recover {
	jmp_buf point;
	enum cj_why why;
	char text[240];
	/* true: time is over. NULL: nobody looks; so after it was true once */
	bool (*poll)(void *user);
	void *poll_user;
};

#define CJ_RECOVER(r)	(setjmp((r)->point) != 0)

noreturn void cj_leave(struct cj_recover *r, enum cj_why why,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Leave if time is over. Work that can take long polls at each turn; arenas
 * poll when they grow, so that whatever takes memory without end ends.
 */
void cj_poll(struct cj_recover *r);

/* A fault of ours: leaves with file, line and text. */
#define cj_bug(r, ...)	cj_bug_at((r), __FILE__, __LINE__, __VA_ARGS__)
noreturn void cj_bug_at(struct cj_recover *r, const char *file, int line,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
