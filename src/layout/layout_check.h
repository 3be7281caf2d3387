/*
 * Checking against files of vectors: the values of a line, the operations.
 *
 * A line is `op arg... => result eval via [note]`, separated by tabs. Values
 * are integers, tuples, layouts, swizzles, words; each operation takes values
 * and gives one, or is refused.
 */
#ifndef CJ_LAYOUT_CHECK_H
#define CJ_LAYOUT_CHECK_H

#include "layout_priv.h"

enum cj_datum_kind {
	CJ_DATUM_TUPLE,		/* an integer, too */
	CJ_DATUM_LAYOUT,
	CJ_DATUM_SWIZZLE,
	CJ_DATUM_WORD		/* true, LayoutLeft, a path, an atom's name */
};

struct cj_datum {
	enum cj_datum_kind kind;
	const struct cj_tuple *tuple;
	const struct cj_layout *layout;
	struct cj_swizzle swizzle;
	int64_t plus;		/* added to a composed layout's values */
	const char *word;	/* the text, of every kind */
};

/*
 * Read one value. In a table of fixed values (sym.h) `_4` is static and `4`
 * dynamic; else `4` is known. False where the text is no value, or where a
 * limit is passed: then `why` is set.
 */
bool cj_datum_read(struct cj_algebra *al, const char *text, size_t length,
    struct cj_datum *out);
void cj_datum_print(struct cj_strbuf *out, struct cj_algebra *al,
    const struct cj_datum *v);

struct cj_datum cj_datum_tuple(const struct cj_tuple *t);
struct cj_datum cj_datum_layout(const struct cj_layout *l);
struct cj_datum cj_datum_swizzle(struct cj_swizzle s);
struct cj_datum cj_datum_word(const char *word);

enum { CJ_MAX_ARGS = 12 };

enum cj_rule {
	CJ_RULE_EXACT,		/* printed the same */
	CJ_RULE_FUNC,		/* the same function, ranks and mode sizes */
	CJ_RULE_COMPOSE,	/* FUNC, and compatible with argument 1 */
	CJ_RULE_IMAGE		/* argument 0 applied: the same on its image */
};

typedef bool cj_op_fn(struct cj_algebra *al, const struct cj_datum *arg,
    uint32_t count, struct cj_datum *out);

struct cj_check_op {
	const char *name;
	enum cj_rule rule;
	cj_op_fn *fn;
	uint8_t least, most;	/* number of arguments */
};

#define TILED(name, least, most) cj_op_fn cj_check_##name;
#include "check_op.def"

/* NULL where there is none of the name. */
const struct cj_check_op *cj_check_op_find(const char *name);

/* The values of a layout at 0, 1, 2 ...: known modes, the odometer, the value
 * so far. False where there are coordinates instead of numbers. */
struct cj_points {
	struct cj_modes m;
	int64_t *at, value, offset;
	struct cj_swizzle swizzle;
};
bool cj_points_init(struct cj_algebra *al, struct cj_points *p,
    const struct cj_layout *l);
int64_t cj_points_next(struct cj_algebra *al, struct cj_points *p);

/* Equal rank, equal size of each mode, b's values plus `plus`. NULL if so. */
const char *cj_same_function(struct cj_algebra *al, const struct cj_layout *a,
    const struct cj_layout *b, int64_t plus);

/*
 * Lines of atoms have columns of their own: `column` holds the fields of the
 * line, `arrow` is the index of `=>`. Returns NULL if all columns agree, else
 * what was found; *known is false for an op that is none of these.
 */
const char *cj_check_atom_line(struct cj_algebra *al,
    const char *const *column, uint32_t count, uint32_t arrow, bool *known);

#endif
