/*
 * Which names are declared where one stands in a text.
 *
 * Declarations form a stack; an array by name holds the innermost of each, and
 * a declaration remembers the one it hides. Finding and leaving cost nothing.
 */
#include "resolve_priv.h"

const struct cj_decl *
cj_scope_find(const struct cj_scopes *s, cj_name name)
{
	if (name >= s->top.len || s->top.at[name] == 0)
		return NULL;
	return &s->decls.at[s->top.at[name] - 1];
}

const struct cj_decl *
cj_scope_use(struct cj_scopes *s, cj_name name)
{
	if (cj_scope_find(s, name) == NULL)
		return NULL;
	s->decls.at[s->top.at[name] - 1].is_used = true;
	return cj_scope_find(s, name);
}

void
cj_scope_watch(struct cj_scopes *s)
{
	assert(s->decls.len > 0);
	s->decls.at[s->decls.len - 1].is_watched = true;
}

const struct cj_decl *
cj_scope_add(struct cj_scopes *s, struct cj_ident id)
{
	const struct cj_decl *old;
	struct cj_decl *d;

	assert(id.name != 0);
	while (s->top.len <= id.name)
		*cj_push(s->arena, &s->top) = 0;
	d = cj_push(s->arena, &s->decls);
	*d = (struct cj_decl){ .name = id.name, .span = id.span,
	    .level = s->level, .hidden = s->top.at[id.name] };
	s->top.at[id.name] = s->decls.len;
	old = d->hidden == 0 ? NULL : &s->decls.at[d->hidden - 1];
	return old != NULL && old->level == s->level ? old : NULL;
}

uint32_t
cj_scope_begin(const struct cj_scopes *s)
{
	return s->decls.len;
}

void
cj_scope_end(struct cj_scopes *s, uint32_t begin)
{
	assert(begin <= s->decls.len);
	while (s->decls.len > begin) {
		const struct cj_decl *d = &s->decls.at[s->decls.len - 1];

		assert(s->top.at[d->name] == s->decls.len);
		s->top.at[d->name] = d->hidden;
		s->decls.len--;
	}
}
