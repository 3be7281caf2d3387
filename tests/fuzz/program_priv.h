/*
 * What the two halves of program.h share: statements, and expressions.
 */
#ifndef CJ_FUZZ_PROGRAM_PRIV_H
#define CJ_FUZZ_PROGRAM_PRIV_H

#include "program.h"

enum { MAKE_NAMES = 48 };

struct make_name {
	char prefix;		/* v3: a value, c3: one that is changed */
	unsigned number;
	enum cj_kind kind;
	unsigned n;		/* registers */
	int64_t bound;		/* of an int: |value| is not above */
};

struct make {
	struct cj_arena *arena;
	const uint8_t *data;
	size_t size, at;
	enum program_numbers numbers;
	struct program *out;
	struct cj_strbuf body;
	struct make_name names[MAKE_NAMES];
	unsigned count, numbered;
	unsigned depth;			/* of blocks */
	unsigned loops;			/* that break and continue may leave */
	unsigned threads;
	unsigned left;			/* nodes that may still be made */
	bool is_uniform;		/* all threads of the block come here */
};

/* The next byte; 0 where there is no more. */
unsigned make_byte(struct make *m);
/* One of 0 .. n - 1; 0 when the bytes have ended. */
unsigned make_pick(struct make *m, unsigned n);
bool make_chance(struct make *m, unsigned of_256);

/* Kinds to compute with, kinds that are only loaded and converted. */
enum cj_kind make_kind(struct make *m);
bool make_is_narrow(enum cj_kind k);

/* Names of tensors, which become parameters with their first use. */
const char *make_tensor(struct make *m, enum program_role role,
    enum cj_kind k);

/* n registers of a kind. */
const char *make_expr(struct make *m, enum cj_kind k, unsigned n,
    unsigned depth);
const char *make_condition(struct make *m, unsigned depth);
/* An int; *bound: its magnitude at most. */
const char *make_index(struct make *m, unsigned depth, int64_t *bound);
/* An int from 0 to n - 1. */
const char *make_below(struct make *m, int64_t n, unsigned depth);
/* A known int, or a parameter that has its value: lo <= value < lo + n. */
const char *make_count(struct make *m, int64_t lo, int64_t n, int64_t *value);
/* A value that all lanes of the warp or the block made together. */
const char *make_collective(struct make *m, enum cj_kind k, unsigned depth);

#endif
