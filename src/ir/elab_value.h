/*
 * What an expression means while the tree is walked.
 *
 * Known values carry their number; run-time ones carry the instruction that
 * makes it. An `int` is always a term of layout/sym.h: known terms fold by
 * themselves, the others become instructions when something needs their number
 * (elab_int.c).
 */
#ifndef CJ_ELAB_VALUE_H
#define CJ_ELAB_VALUE_H

#include "elab.h"
#include "layout/layout.h"

struct cj_elab;
struct cj_env;
struct cj_args;
struct cj_builtin;
struct cj_atom_value;
struct cj_mma_value;
struct cj_copy_value;
struct cj_fragment;
struct cj_pipe;
struct cj_draws;

enum cj_value_kind {
	CJ_VALUE_ERROR,		/* reported already */
	CJ_VALUE_NONE,		/* `none`, and of what has no value */
	CJ_VALUE_ANY,		/* `_` */
	CJ_VALUE_INT,		/* i: the language's `int`, known or not */
	CJ_VALUE_REAL,		/* real: a known number, adapts */
	CJ_VALUE_BOOL,		/* truth: known */
	CJ_VALUE_SCALAR,	/* scalar, bits: known, of a sized type */
	CJ_VALUE_REGS,		/* scalar, regs: run-time scalar or register
				   tensor, compact column-major; never a single
				   INDEX (that is INT) */
	CJ_VALUE_TUPLE,		/* tuple */
	CJ_VALUE_LAYOUT,	/* layout */
	CJ_VALUE_BASIS,		/* basis: a unit stride or its multiple */
	CJ_VALUE_SWIZZLE,	/* swizzle */
	CJ_VALUE_TENSOR,	/* tensor: a view of memory */
	CJ_VALUE_PLACE,		/* slot: a `var`, or a view of one */
	CJ_VALUE_TYPE,		/* type */
	CJ_VALUE_FUNCTION,	/* function */
	CJ_VALUE_BUILTIN,	/* builtin */
	CJ_VALUE_RANGE,		/* range */
	CJ_VALUE_STRING,	/* text */
	CJ_VALUE_CHOICE,	/* choice: .name */
	CJ_VALUE_ATOM,		/* atom (elab_tiled.h) */
	CJ_VALUE_MMA,		/* mma: a tiled MMA */
	CJ_VALUE_COPY,		/* copy: a tiled copy */
	CJ_VALUE_UNWRITTEN,	/* scalar, regs.shape: registers of a `var`
				   that nothing has written */
	CJ_VALUE_PIPELINE,	/* pipeline */
	CJ_VALUE_ORDER,		/* order: of turns, its number in the module */
	CJ_VALUE_FILE		/* file: an import with a name; NULL: `cute` */
};

struct cj_regs {
	const struct cj_tuple *shape;	/* NULL: a scalar; else known */
	cj_ref ref;
};

struct cj_value {
	enum cj_value_kind kind;
	uint8_t level;		/* REGS, PLACE: of the function it is in */
	uint8_t scalar;		/* SCALAR, REGS: enum cj_kind */
	/* of which operand of an MMA it is a part, or NULL */
	const struct cj_fragment *fragment;
	union {
		struct cj_int i;
		double real;
		bool truth;
		uint64_t bits;
		struct cj_regs regs;
		const struct cj_tuple_value *tuple;
		const struct cj_layout *layout;
		const struct cj_tuple *basis;
		struct cj_swizzle swizzle;
		const struct cj_tensor *tensor;
		const struct cj_slot *slot;
		const struct cj_type_value *type;
		const struct cj_function_value *function;
		const struct cj_builtin *builtin;
		const struct cj_range_value *range;
		const struct cj_text *text;
		cj_name choice;
		struct cj_pipe *pipeline;
		uint32_t order;
		const struct cj_file *file;
		const struct cj_atom_value *atom;
		const struct cj_mma_value *mma;
		const struct cj_copy_value *copy;
	};
};

struct cj_tuple_value {
	uint32_t count;
	const struct cj_value *at;
	const cj_name *names;	/* NULL, or one per element (0: none) */
};

struct cj_range_value {
	struct cj_int first, last;	/* half open */
};

/* scalar VOID: `type` itself or `fn` (is_fn), or a tuple of types. */
struct cj_type_value {
	enum cj_kind scalar;
	bool is_type, is_fn, is_tensor, is_tuple;
	const struct cj_layout *layout;		/* tensor(T, layout) */
	uint32_t count;				/* tuple */
	const struct cj_type_value *const *at;
};

/* Where a cut view's elements lie in what it was cut from: the same shape as
 * the view, values are coordinates within `limit`. */
struct cj_cut {
	const struct cj_layout *coord;	/* basis strides */
	const struct cj_tuple *offset;	/* coordinate of the view's first */
	const struct cj_tuple *limit;	/* shape of what was cut */
	bool is_of_part;		/* that was itself a part */
};

/* A view's element at c is that of `from` at c with c[mode] replaced by
 * indices[c[mode]] (elab_gather.c). */
struct cj_gather {
	const struct cj_tensor *from;
	uint32_t mode;
	struct cj_value indices;	/* TENSOR, or REGS: at known places */
	const struct cj_cut *place;	/* of the view in the gathered shape */
};

/* A coordinate that a view was indexed by, not proved inside its mode. */
struct cj_unproved {
	struct cj_int at, limit;
	uint32_t mode;
	bool is_part;			/* the mode is one of a part, */
	bool is_tile;			/* or counts tiles */
	bool is_cut;			/* a guard answers for it */
	const struct cj_unproved *next;
};

struct cj_tensor {
	uint32_t object;
	enum cj_kind element;
	uint8_t level;			/* function that declares the object */
	struct cj_int offset;		/* of the view's first element */
	uint32_t promised;		/* bytes, a power of two, of which the
					   address of the element at offset
					   `origin` is said to be a multiple;
					   0: nothing beyond the object */
	struct cj_int origin;
	const struct cj_layout *layout;
	const struct cj_cut *cut;	/* NULL: a whole tensor or a slice */
	const struct cj_cut *uncut;	/* the cut of one that is guarded, as
					   long as nothing is cut or indexed */
	const struct cj_cut *within;	/* of parts that may leave the view they
					   are of: in it (elab_within.c) */
	const struct cj_gather *gather;	/* NULL: elements lie as layout says */
	const struct cj_int *start;	/* of ranges t[a..b, _]: where, by mode
					   of the tensor; NULL: 0 */
	bool is_part;			/* not the object as declared */
	bool is_tiled;			/* mode 1 counts tiles */
	bool is_raw;			/* bytes, whatever lies there */
	const struct cj_layout *seen;	/* of shared memory: as it was declared
					   or made, before it was cut */
	bool is_dealt;			/* some partition gave it to a thread */
	const struct cj_tuple *along;	/* of those by a copy: the extents that
					   its tile goes along; 0: not known */
	const struct cj_unproved *unproved;	/* where somebody watches */
	bool is_guarded, has_fill;
	bool is_remote;			/* of the block `rank` of the cluster */
	struct cj_int rank;
	const struct cj_value *fill;	/* a scalar */
	const struct cj_value *pred;	/* fn(c), a condition, or one for each
					   element; NULL: none */
	struct cj_span pred_span;
	const struct cj_cut *asked;	/* of the view that has one for each
					   element, in that: NULL else */
	uint32_t stage;			/* of a pipeline: the block that opened
					   it; 0: other memory */
	cj_name name;			/* of the parameter, for messages */
	struct cj_span span;		/* of its declaration */
};

struct cj_slot {
	uint32_t object;
	enum cj_kind element;
	bool is_scalar;			/* `var x: f32`: layout is 1:0 */
	struct cj_value *cell;		/* a `var` of compile time: no object */
	int64_t first;			/* register of the view's first */
	const struct cj_layout *layout;	/* known: coordinate -> register */
	cj_name name;
	struct cj_span span;
};

struct cj_function_value {
	const struct cj_node *node;	/* FN or LAMBDA */
	struct cj_env *env;		/* names around it; NULL: of the file */
	const struct cj_file *file;
	cj_name name;
};

/* ---- making, comparing (elab_value.c) ------------------------------------ */

struct cj_value cj_value_error(void);
struct cj_value cj_value_none(void);
struct cj_value cj_value_int(struct cj_int i);
struct cj_value cj_value_known(int64_t i);
struct cj_value cj_value_real(double x);
struct cj_value cj_value_bool(bool truth);
struct cj_value cj_value_scalar(enum cj_kind k, uint64_t bits);
struct cj_value cj_value_layout(const struct cj_layout *l);
struct cj_value cj_value_type(struct cj_elab *el, enum cj_kind k);
struct cj_value cj_value_tuple(struct cj_elab *el, const struct cj_value *at,
    const cj_name *names, uint32_t count);		/* copies */
struct cj_value cj_value_tensor(struct cj_elab *el, const struct cj_tensor *t);
/* A register value of the current function: BOOL, REGS or a fresh INT. */
struct cj_value cj_value_regs(struct cj_elab *el, enum cj_kind k,
    const struct cj_tuple *shape, cj_ref ref);
/* No run-time number in it. */
bool cj_value_is_known(const struct cj_value *v);
bool cj_value_same(const struct cj_value *a, const struct cj_value *b);
/* "f32 value", "layout", "tuple of 3": for messages, with an article. */
const char *cj_value_what(struct cj_elab *el, const struct cj_value *v);
void cj_value_print(struct cj_elab *el, struct cj_strbuf *out,
    const struct cj_value *v);
const char *cj_value_text(struct cj_elab *el, const struct cj_value *v);
/* A number, or the term that it is. */
const char *cj_elab_int_text(struct cj_elab *el, struct cj_int i);
/* Conversions between values and layout/'s tuples. False: reported. */
const struct cj_tuple *cj_value_to_tuple(struct cj_elab *el,
    struct cj_span span, const struct cj_value *v);	/* NULL: reported */
struct cj_value cj_value_from_tuple(struct cj_elab *el,
    const struct cj_tuple *t);
/* A layout, or a shape as a compact column-major one; NULL: reported. */
const struct cj_layout *cj_value_to_layout(struct cj_elab *el,
    struct cj_span span, const struct cj_value *v);
/* An INT of any integer value (u64 too); false: reported. */
bool cj_value_to_int(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v, struct cj_int *out);
/* A known one; the message says `what` must be known. */
bool cj_value_to_known(struct cj_elab *el, struct cj_span span,
    const struct cj_value *v, const char *what, int64_t *out);
uint32_t cj_shape_count(const struct cj_tuple *shape);	/* NULL: 1 */

#endif
