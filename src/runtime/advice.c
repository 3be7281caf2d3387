/*
 * What the assembler advises: instructions that it ignored or made slow, where
 * the program's speed depends on them. Only its text says so:
 *
 *	... (C7504) Potential Performance Loss: 'setmaxnreg' ignored to maintain
 *	compatibility across compilation units.
 *	... (C7507) Potential Performance Loss: 'setmaxnreg' ignored to ...
 *	... (C7510) Potential Performance Loss: wgmma.mma_async instructions
 *	are serialized due to ... in the function 'name'
 *
 * Its lines are part of a program's entry in the cache, as its numbers are.
 *
 * The first of these is what nvJitLink says of all kernels with registers(n) of
 * roles: it compiles for a link with others, and no option makes it stop. The
 * driver does not ignore them, so launches let it compile the PTX, and only who
 * takes the cubin is told.
 */
#include "runtime.h"

static const char loss[] = "Potential Performance Loss: ";

/* "(C7507) Potential ..." in a line, or NULL. */
static const char *
begin_of(const char *line, const char *end)
{
	const char *at = strstr(line, loss), *open = at;

	if (at == NULL || at >= end)
		return NULL;
	while (open > line && *open != '(')
		open--;
	return open[0] == '(' && open[1] == 'C' ? open : at;
}

const char *
cj_advice_of(struct cj_arena *a, const char *text)
{
	struct cj_strbuf b;
	const char *end, *at;

	cj_strbuf_init(&b, a);
	for (; *text != '\0'; text = *end == '\0' ? end : end + 1) {
		const char *line;

		end = text + strcspn(text, "\n");
		at = begin_of(text, end);
		if (at == NULL)
			continue;
		line = cj_printf(a, "%.*s\n", (int)(end - at), at);
		if (strstr(b.text, line) == NULL)
			cj_strbuf_puts(&b, line);
	}
	return b.text;
}

/* ---- where it belongs ---------------------------------------------------- */

/* Is it about registers(n) of roles? */
static bool
is_of_roles(const char *line)
{
	return strstr(line, "'setmaxnreg'") != NULL;
}

static bool
is_of_units(const char *line)
{
	return strncmp(line, "(C7504)", 7) == 0;
}

bool
cj_advice_is_of_units(const char *advice)
{
	return advice != NULL && strstr(advice, "(C7504)") != NULL;
}

static void
tell(struct cj_diags *ds, struct cj_span span, const char *line,
    const char *help)
{
	cj_help(cj_report(ds, CJ_DIAG_ASSEMBLER_ADVICE, span,
	    "the assembler says: %s", line), "%s", help);
}

static const char *
help_for_roles(struct cj_arena *a, const struct cj_program *p,
    const char *line)
{
	const cutejit_entry *e = atomic_load(&p->entries);
	int most = 0;
	uint32_t i;

	if (is_of_units(line))
		return "Launches are not concerned: the driver compiles the "
		    "PTX for them. ptxas of the CUDA toolkit makes a cubin "
		    "without this.";
	if (strstr(line, "minimum register") == NULL)
		return "No role gets the registers that it asks for. Other "
		    "assemblers may do it: ptxas of the CUDA toolkit.";
	for (i = 0; i < p->entry_count; i++)
		most = e[i].registers > most ? e[i].registers : most;
	return cj_printf(a, "No role gets the registers that it asks for. "
	    "Some role needs more than its registers(n)%s: give it more, or "
	    "let it hold fewer values at once.", most > 0 ? cj_printf(a,
	    ", the kernel up to %d", most) : "");
}

/* At each place that asks for so many registers; false: there is none. */
static bool
tell_roles(struct cj_diags *ds, const struct cj_program *p, const char *line)
{
	const struct cj_module *ir = p->ir;
	const char *help = help_for_roles(ds->arena, p, line);
	struct cj_span last = { 0 };
	bool is_any = false;
	cj_ref r;

	for (r = 1; r < ir->insts.len; r++) {
		const struct cj_inst *in = cj_inst(ir, r);
		struct cj_span span = ir->places.at[in->place].span;

		if ((in->op != CJ_OP_REGISTERS_DOWN &&
		    in->op != CJ_OP_REGISTERS_UP) || (is_any &&
		    span.source == last.source && span.begin == last.begin))
			continue;
		tell(ds, span, line, help);
		last = span;
		is_any = true;
	}
	return is_any;
}

/* The function that the line names; else the first. */
static const struct cj_function *
function_of(const struct cj_program *p, const char *line)
{
	const cutejit_entry *e = atomic_load(&p->entries);
	const char *name = strstr(line, "function '");
	uint32_t i;

	for (i = 0; name != NULL && i < p->entry_count; i++) {
		size_t n = strlen(e[i].name);
		const char *at = name + strlen("function '");

		if (strncmp(at, e[i].name, n) == 0 && at[n] == '\'')
			return &p->ir->functions.at[p->functions[i]];
	}
	return &p->ir->functions.at[p->functions[0]];
}

enum which { OF_UNITS, OTHERS };

static void
report(struct cj_diags *ds, const struct cj_program *p, enum which which)
{
	const char *at, *line;
	size_t n;

	for (at = p->advice; at != NULL && *at != '\0' && p->entry_count > 0;
	    at += n + 1) {
		n = strcspn(at, "\n");
		line = cj_strndup(ds->arena, at, n);
		if (is_of_units(line) != (which == OF_UNITS))
			continue;
		if (!is_of_roles(line) || !tell_roles(ds, p, line))
			tell(ds, p->ir->places.at[function_of(p, line)->place]
			    .span, line, is_of_units(line) ?
			    help_for_roles(ds->arena, p, line) :
			    "The kernel is right, but slower than it could "
			    "be.");
	}
}

void
cj_advice_report(struct cj_diags *ds, const struct cj_program *p)
{
	report(ds, p, OTHERS);
}

cutejit_status
cj_advice_tell_cubin(struct cj_work *f, const struct cj_program *p)
{
	uint32_t before = f->diags.errors;

	if (f->diags.sources == NULL)
		f->diags.sources = p->ir->sources;
	report(&f->diags, p, OF_UNITS);
	return f->diags.errors == before ? CUTEJIT_OK : CUTEJIT_ERROR;
}
