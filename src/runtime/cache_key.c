/*
 * Keys: digests of everything that can change a compiled kernel, in order, and
 * of nothing else.
 *
 * Contracts, patterns and the standard library are in the texts; what of a call
 * is compiled in is in the text of the binding.
 */
#include "cache.h"

static void
add_recipe(struct cj_hasher *h, const struct cutejit_module *m,
    const struct cj_recipe *r)
{
	cj_hasher_add(h, m->digest.byte, sizeof m->digest.byte);
	cj_hasher_add_text(h, r->member->kernel);
	cj_hasher_add_u64(h, r->member->member);
	cj_hasher_add_text(h, r->binding_text);
	cj_hasher_add_text(h, r->target->name);
	cj_hasher_add_u64(h, (uint64_t)r->level);
	cj_hasher_add_u64(h, (uint64_t)r->ptx);
	cj_hasher_add_u64(h, r->checked | (uint64_t)r->watched << 1);
	cj_hasher_add_u64(h, r->lineinfo);
}

struct cj_digest
cj_recipe_digest(const struct cutejit_module *m, const struct cj_recipe *r)
{
	struct cj_hasher h;

	cj_hasher_init(&h);
	add_recipe(&h, m, r);
	return cj_hasher_end(&h);
}

/* Lines of reports and of the line table name the texts, so the names count
 * too. */
static void
add_names(struct cj_hasher *h, const struct cutejit_module *m)
{
	uint32_t i;

	cj_hasher_add_u64(h, m->file_count);
	for (i = 0; i < m->file_count; i++)
		cj_hasher_add_text(h, m->files[i]);
}

struct cj_digest
cj_cache_key(const struct cutejit_module *m, const struct cj_recipe *r,
    const char *assembler)
{
	struct cj_hasher h;

	cj_hasher_init(&h);
	cj_hasher_add_text(&h, "cutejit entry 1");
	cj_hasher_add_text(&h, cutejit_build());
	cj_hasher_add_text(&h, cutejit_generator());
	cj_hasher_add_text(&h, assembler);
	add_recipe(&h, m, r);
	add_names(&h, m);
	return cj_hasher_end(&h);
}
