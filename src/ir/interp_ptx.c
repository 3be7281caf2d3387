/*
 * What the executor does with instructions of PTX: it cannot run them, and
 * says so to the program, which may have something else for it.
 */
#include "interp_priv.h"

enum { SHOWN = 60 };		/* of the text */

static void
step_executor(struct cj_frame *f, const struct cj_step *s)
{
	memset(CJ_AT(f, uint8_t, s->dst), 1, f->lanes);
}

void
cj_interp_EXECUTOR(struct cj_decoder *d, cj_ref r)
{
	cj_step_value(d, r, step_executor);
}

static void
step_ptx(struct cj_frame *f, const struct cj_step *s)
{
	const char *text =
	    f->code->module->texts.at[cj_step_inst(f, s)->attr];
	int length = (int)strcspn(text, "\n");
	uint32_t lane;

	for (lane = 0; lane < f->lanes && !cj_lane_runs(f, lane); lane++)
		continue;
	if (lane == f->lanes)
		return;
	if (strncmp(text, CJ_EXTERN_MARK, strlen(CJ_EXTERN_MARK)) == 0) {
		text += strlen(CJ_EXTERN_MARK);
		cj_fault_at(f, s, lane, CJ_DIAG_NOT_EMULATED,
		    "the executor cannot run the \"extern\" function "
		    "\"%.*s\", which has no body",
		    (int)strcspn(text, "\n"), text);
		cj_frame_stop(f);
		return;
	}
	cj_fault_at(f, s, lane, CJ_DIAG_NOT_EMULATED,
	    "the executor cannot run ptx(\"%.*s%s\")",
	    length < SHOWN ? length : SHOWN, text,
	    length < SHOWN && text[length] == '\0' ? "" : "...");
	cj_frame_stop(f);
}

static void
decode_ptx(struct cj_decoder *d, cj_ref r)
{
	if (cj_inst(d->module, r)->type != 0)
		cj_step_value(d, r, step_ptx);
	else
		cj_step_add(d, r, step_ptx);
}

void
cj_interp_PTX(struct cj_decoder *d, cj_ref r)
{
	decode_ptx(d, r);
}

void
cj_interp_PTX_PURE(struct cj_decoder *d, cj_ref r)
{
	decode_ptx(d, r);
}
