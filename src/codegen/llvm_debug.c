/*
 * The line table for LLVM: `.loc` directives and nothing else.
 *
 * LLVM's kind for that has no name in its C interface but passes through it;
 * any fuller kind makes ptxas stop optimising. Calls of the language are
 * copied out long before: each is described as a function that was inlined,
 * so that LLVM's passes keep the trail. LLVM tells of it in the comment behind
 * a directive alone, files by name: here that is the number of the source and
 * of the place of the call, by which llvm_lines.c writes what PTX wants.
 */
#include "llvm_gen.h"

#include <stdio.h>

enum { DIRECTIVES_ONLY = 3, DEBUG_INFO_VERSION = 3, INLINED_AT = 72 };

/* The text `source` as it stands in what the call at `call` became. */
static LLVMMetadataRef
file_of(struct cj_llvm_gen *g, uint32_t source, cj_place call)
{
	char name[32];
	int n = snprintf(name, sizeof name, "%u.%u", source, call);

	return LLVMDIBuilderCreateFile(g->di, name, (size_t)n, "", 0);
}

static struct cj_position
position_of(const struct cj_llvm_gen *g, cj_place place)
{
	struct cj_span span = g->m->places.at[place].span;

	return cj_source_position(cj_source_get(g->m->sources, span.source),
	    span.begin);
}

static bool
is_known(const struct cj_llvm_gen *g, cj_place place)
{
	const struct cj_module *m = g->m;

	return place != 0 && place < m->places.len && m->sources != NULL &&
	    m->places.at[place].span.source != 0 &&
	    cj_source_get(m->sources, m->places.at[place].span.source) != NULL;
}

void
cj_llvm_debug_begin(struct cj_llvm_gen *g)
{
	static const char version[] = "Debug Info Version";

	g->di = NULL;
	if (!g->options->lineinfo)
		return;
	g->di = LLVMCreateDIBuilder(g->module);
	g->di_calls = CJ_NEWS(g->arena, struct cj_llvm_call,
	    g->m->places.len + 1);
	LLVMDIBuilderCreateCompileUnit(g->di, LLVMDWARFSourceLanguageC,
	    file_of(g, 0, 0), "cutec", 5, 1, "", 0, 0, "", 0,
	    (LLVMDWARFEmissionKind)DIRECTIVES_ONLY, 0, 0, 0, "", 0, "", 0);
	LLVMAddModuleFlag(g->module, LLVMModuleFlagBehaviorWarning, version,
	    sizeof version - 1,
	    LLVMValueAsMetadata(cj_llvm_i32(g, DEBUG_INFO_VERSION)));
}

static LLVMMetadataRef
subprogram(struct cj_llvm_gen *g, const char *name, LLVMMetadataRef file,
    unsigned line)
{
	LLVMMetadataRef type;

	type = LLVMDIBuilderCreateSubroutineType(g->di, file, NULL, 0,
	    LLVMDIFlagZero);
	return LLVMDIBuilderCreateFunction(g->di, file, name, strlen(name),
	    name, strlen(name), file, line, type, 0, 1, line, LLVMDIFlagZero,
	    1);
}

void
cj_llvm_debug_function(struct cj_llvm_gen *g)
{
	const struct cj_function *f = g->function;
	uint32_t source = 0;
	unsigned line = 1;

	LLVMSetCurrentDebugLocation2(g->b, NULL);
	if (g->di == NULL)
		return;
	if (is_known(g, f->place)) {
		source = g->m->places.at[f->place].span.source;
		line = position_of(g, f->place).line;
	}
	g->di_scope = subprogram(g, f->name, file_of(g, source, 0), line);
	memset(g->di_calls, 0, (g->m->places.len + 1) * sizeof *g->di_calls);
	LLVMSetSubprogram(g->fn, g->di_scope);
}

static LLVMMetadataRef location(struct cj_llvm_gen *g, cj_place place);

/* What the call at that place became: made once for a function. */
static const struct cj_llvm_call *
call_at(struct cj_llvm_gen *g, cj_place place)
{
	struct cj_llvm_call *c = &g->di_calls[place];
	char name[16];

	if (c->scope == NULL) {
		snprintf(name, sizeof name, "%u", place);
		c->scope = subprogram(g, name, file_of(g,
		    g->m->places.at[place].span.source, place),
		    position_of(g, place).line);
		c->at = location(g, place);
	}
	return c;
}

/* Turns of static loops leave no trace: they are of the same function. Before
 * PTX 7.2 there is no way to name a caller: the place itself is all. */
static LLVMMetadataRef
location(struct cj_llvm_gen *g, cj_place place)
{
	const struct cj_place_info *info = &g->m->places.at[place];
	const struct cj_llvm_call none = { g->di_scope, NULL }, *call = &none;
	struct cj_position p = position_of(g, place);
	cj_place up = info->parent;

	while (up != 0 && (g->m->places.at[up].turn >= 0 || !is_known(g, up)))
		up = g->m->places.at[up].parent;
	if (up != 0 && !cj_llvm_wants_ptx(g, INLINED_AT))
		up = 0;
	if (up != 0)
		call = call_at(g, up);
	return LLVMDIBuilderCreateDebugLocation(g->context, p.line, p.column,
	    LLVMDIBuilderCreateLexicalBlockFile(g->di, call->scope,
	    file_of(g, info->span.source, up), 0), call->at);
}

/* Without a place of its own an instruction keeps the one before. */
void
cj_llvm_debug_place(struct cj_llvm_gen *g, cj_place place)
{
	if (g->di != NULL && is_known(g, place))
		LLVMSetCurrentDebugLocation2(g->b, location(g, place));
}

void
cj_llvm_debug_end(struct cj_llvm_gen *g)
{
	if (g->di == NULL)
		return;
	LLVMDIBuilderFinalize(g->di);
	LLVMDisposeDIBuilder(g->di);
	g->di = NULL;
}
