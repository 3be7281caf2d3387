/*
 * What a cubin says of its entries: registers, stack and constants from the
 * ELF file itself, spills from the text of `ptxas -v` where that made it.
 *
 * A cubin is an ELF64 file. Section .nv.info is a list of attributes: a byte
 * of form (4: a 16-bit length and bytes, else 4 bytes in all), a byte that
 * names it, and for the ones read here a symbol and a number.
 */
#include <elf.h>
#include <stdlib.h>

#include "assemble.h"

enum { ATTRIBUTE_STACK = 0x11, ATTRIBUTE_REGISTERS = 0x2f, FORM_BYTES = 4 };

struct cubin {
	const char *bytes;
	size_t length;
	const Elf64_Ehdr *header;
	const char *names;		/* of sections */
	size_t names_length;
	const Elf64_Sym *symbols;
	size_t symbol_count;
	const char *symbol_names;
	size_t symbol_names_length;
};

/* Bytes offset ... offset + length of the file; NULL if it has not as many. */
static const void *
part(const struct cubin *c, uint64_t offset, uint64_t length)
{
	if (offset > c->length || length > c->length - offset)
		return NULL;
	return c->bytes + offset;
}

static const Elf64_Shdr *
section_at(const struct cubin *c, size_t i)
{
	return part(c, c->header->e_shoff + i * sizeof(Elf64_Shdr),
	    sizeof(Elf64_Shdr));
}

static const char *
text_at(const char *table, size_t length, size_t offset)
{
	if (table == NULL || offset >= length
	    || memchr(table + offset, '\0', length - offset) == NULL)
		return "";
	return table + offset;
}

static const Elf64_Shdr *
find_section(const struct cubin *c, const char *prefix, const char *name)
{
	size_t i, n = strlen(prefix);

	for (i = 0; i < c->header->e_shnum; i++) {
		const Elf64_Shdr *s = section_at(c, i);
		const char *text;

		if (s == NULL)
			return NULL;
		text = text_at(c->names, c->names_length, s->sh_name);
		if (strncmp(text, prefix, n) == 0
		    && strcmp(text + n, name) == 0)
			return s;
	}
	return NULL;
}

static bool
open_tables(struct cubin *c)
{
	const Elf64_Shdr *names = section_at(c, c->header->e_shstrndx), *s, *t;

	if (names == NULL)
		return false;
	c->names = part(c, names->sh_offset, names->sh_size);
	c->names_length = names->sh_size;
	s = find_section(c, ".symtab", "");
	if (s == NULL)
		return true;
	c->symbols = part(c, s->sh_offset, s->sh_size);
	c->symbol_count = c->symbols != NULL
	    ? s->sh_size / sizeof(Elf64_Sym) : 0;
	t = section_at(c, s->sh_link);
	if (t != NULL) {
		c->symbol_names = part(c, t->sh_offset, t->sh_size);
		c->symbol_names_length = t->sh_size;
	}
	return true;
}

/* The arena aligns files, so the tables of an ELF file are aligned too. */
static bool
open_cubin(struct cubin *c, const char *bytes, size_t length)
{
	memset(c, 0, sizeof *c);
	c->bytes = bytes;
	c->length = length;
	c->header = part(c, 0, sizeof(Elf64_Ehdr));
	return c->header != NULL
	    && memcmp(bytes, ELFMAG, SELFMAG) == 0
	    && c->header->e_ident[EI_CLASS] == ELFCLASS64
	    && c->header->e_shoff % 8 == 0 && open_tables(c);
}

static cutejit_entry *
entry_of(const struct cubin *c, uint32_t symbol, cutejit_entry *entries,
    uint32_t count)
{
	const char *name;
	uint32_t i;

	if (symbol >= c->symbol_count)
		return NULL;
	name = text_at(c->symbol_names, c->symbol_names_length,
	    c->symbols[symbol].st_name);
	for (i = 0; i < count; i++)
		if (strcmp(entries[i].name, name) == 0)
			return &entries[i];
	return NULL;
}

static void
read_attribute(const struct cubin *c, const char *at, cutejit_entry *entries,
    uint32_t count)
{
	uint32_t symbol, value;
	cutejit_entry *e;

	memcpy(&symbol, at + 4, sizeof symbol);
	memcpy(&value, at + 8, sizeof value);
	e = entry_of(c, symbol, entries, count);
	if (e == NULL)
		return;
	if (at[1] == ATTRIBUTE_REGISTERS)
		e->registers = (int)value;
	else if (at[1] == ATTRIBUTE_STACK)
		e->stack_bytes = (int)value;
}

static void
read_info(const struct cubin *c, cutejit_entry *entries, uint32_t count)
{
	const Elf64_Shdr *s = find_section(c, ".nv.info", "");
	const char *at = s != NULL ? part(c, s->sh_offset, s->sh_size) : NULL;
	const char *end;

	if (at == NULL)
		return;
	for (end = at + s->sh_size; end - at >= 4;) {
		uint16_t length = 0;

		if (at[0] == FORM_BYTES)
			memcpy(&length, at + 2, sizeof length);
		if (length > end - at - 4)
			return;
		if (length == 8)
			read_attribute(c, at, entries, count);
		at += 4 + length;
	}
}

/* "Function properties for NAME\n 0 bytes stack frame, 8 bytes spill stores,
 * 12 bytes spill loads": what is stored is what is spilled. */
static void
read_spills(const char *text, cutejit_entry *e)
{
	static const char head[] = "Function properties for ";
	size_t n = strlen(e->name);
	const char *p, *stack;

	for (p = strstr(text, head); p != NULL; p = strstr(p, head)) {
		p += strlen(head);
		if (strncmp(p, e->name, n) != 0 || p[n] != '\n')
			continue;
		stack = strstr(p, "stack frame, ");
		if (stack != NULL)
			e->spill_bytes = atoi(stack + strlen("stack frame, "));
		return;
	}
}

bool
cj_cubin_read(const char *cubin, size_t length, const char *properties,
    cutejit_entry *entries, uint32_t count)
{
	struct cubin c;
	uint32_t i;

	if (!open_cubin(&c, cubin, length))
		return false;
	read_info(&c, entries, count);
	for (i = 0; i < count; i++) {
		const Elf64_Shdr *s = find_section(&c, ".nv.constant0.",
		    entries[i].name);

		if (s != NULL)
			entries[i].constant_bytes = (int)s->sh_size;
		read_spills(properties, &entries[i]);
	}
	return true;
}
