/*
 * Making programs: what compile.c, program.c and those who ask them share.
 */
#ifndef CJ_PROGRAM_H
#define CJ_PROGRAM_H

#include "runtime.h"

struct cj_record;

/* A program outside any table; NULL: no memory. */
struct cj_program *cj_program_create(struct cutejit_context *c,
    const struct cj_digest *d);

/* Bring a program that is held to a stage. If it has its IR, the recipe needs
 * no binding. */
cutejit_status cj_program_advance(struct cj_work *f,
    struct cutejit_module *m, const struct cj_recipe *r, enum cj_stage stage,
    struct cj_program *p);

/* A function of a program that has its IR, decoded once for the executor. */
const struct cj_decoded *cj_program_decoded(struct cj_work *f,
    struct cj_program *p, uint32_t function);

/* To and from an entry of the cache (program.c). What is read points into the
 * record, which must be on the program's arena; false: it is not to be used. */
void cj_program_write(struct cj_work *f, const struct cj_program *p,
    struct cj_record *r);
struct cj_strbuf cj_program_write_ir(struct cj_work *f,
    const struct cj_program *p);
bool cj_program_read(struct cj_work *f, struct cutejit_module *m,
    struct cj_program *p, const struct cj_record *r);

/* PTX of a program that has its IR (generate.c); leaves with a fault if code
 * generation fails, and when time is over. MISSING without LLVM. */
cutejit_status cj_generate(struct cj_work *f, struct cutejit_module *m,
    const struct cj_recipe *r, struct cj_program *p, bool want_llvm,
    struct cj_codegen_result *out);
/* Wait for all that goes on in a context behind a call that came too late, and
 * give up what they made. */
void cj_generations_end(struct cutejit_context *c);

#endif
