/*
 * The line table: `.loc` directives and nothing else.
 *
 * LLVM's kind for that has no name in its C interface but passes through it;
 * any fuller kind makes ptxas stop optimising. A call of the language is
 * inlined long before, so each function is one subprogram; a place in another
 * text is a lexical block of that text.
 */
#include "llvm_gen.h"

#include <llvm-c/DebugInfo.h>

enum { DIRECTIVES_ONLY = 3, DEBUG_INFO_VERSION = 3 };

static LLVMMetadataRef
file_of(struct cj_llvm_gen *g, const char *name)
{
	return LLVMDIBuilderCreateFile(g->di, name, strlen(name), "", 0);
}

static const struct cj_source *
source_of(const struct cj_llvm_gen *g, cj_place place)
{
	const struct cj_module *m = g->m;
	uint32_t source;

	if (place == 0 || place >= m->places.len || m->sources == NULL)
		return NULL;
	source = m->places.at[place].span.source;
	return source == 0 ? NULL : cj_source_get(m->sources, source);
}

void
cj_llvm_debug_begin(struct cj_llvm_gen *g)
{
	static const char version[] = "Debug Info Version";
	const char *name = g->m->name == NULL ? "module" : g->m->name;

	g->di = NULL;
	if (!g->options->lineinfo)
		return;
	g->di = LLVMCreateDIBuilder(g->module);
	LLVMDIBuilderCreateCompileUnit(g->di, LLVMDWARFSourceLanguageC,
	    file_of(g, name), "cutec", 5, 1, "", 0, 0, "", 0,
	    (LLVMDWARFEmissionKind)DIRECTIVES_ONLY, 0, 0, 0, "", 0, "", 0);
	LLVMAddModuleFlag(g->module, LLVMModuleFlagBehaviorWarning, version,
	    sizeof version - 1,
	    LLVMValueAsMetadata(cj_llvm_i32(g, DEBUG_INFO_VERSION)));
}

void
cj_llvm_debug_function(struct cj_llvm_gen *g)
{
	const struct cj_function *f = g->function;
	const struct cj_source *s = source_of(g, f->place);
	LLVMMetadataRef file, type;
	unsigned line = 1;

	LLVMSetCurrentDebugLocation2(g->b, NULL);
	if (g->di == NULL)
		return;
	file = file_of(g, s != NULL ? s->name : g->m->name);
	if (s != NULL)
		line = cj_source_position(s,
		    g->m->places.at[f->place].span.begin).line;
	type = LLVMDIBuilderCreateSubroutineType(g->di, file, NULL, 0,
	    LLVMDIFlagZero);
	g->di_scope = LLVMDIBuilderCreateFunction(g->di, file, f->name,
	    strlen(f->name), f->name, strlen(f->name), file, line, type, 0, 1,
	    line, LLVMDIFlagZero, 1);
	LLVMSetSubprogram(g->fn, g->di_scope);
}

/* Without a place of its own an instruction keeps the one before. */
void
cj_llvm_debug_place(struct cj_llvm_gen *g, cj_place place)
{
	const struct cj_source *s = source_of(g, place);
	struct cj_position p;
	LLVMMetadataRef scope;

	if (g->di == NULL || s == NULL)
		return;
	p = cj_source_position(s, g->m->places.at[place].span.begin);
	scope = LLVMDIBuilderCreateLexicalBlockFile(g->di, g->di_scope,
	    file_of(g, s->name), 0);
	LLVMSetCurrentDebugLocation2(g->b,
	    LLVMDIBuilderCreateDebugLocation(g->context, p.line, p.column,
	    scope, NULL));
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
