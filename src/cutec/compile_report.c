/*
 * The report of `cutec compile --report=json`: for each kernel its binding,
 * target, origin, entries with their resources, and times.
 */
#include <jansson.h>

#include "compile.h"

static const char *
origin_text(cutejit_origin origin)
{
	switch (origin) {
	case CUTEJIT_ORIGIN_COMPILED: return "compiled";
	case CUTEJIT_ORIGIN_MEMORY: return "memory";
	case CUTEJIT_ORIGIN_DISK: return "disk";
	case CUTEJIT_ORIGIN_REMOTE: return "remote";
	}
	return "";
}

static json_t *
entries_json(const cutejit_kernel *k)
{
	json_t *list = json_array();
	const cutejit_entry *e;
	size_t i;

	for (i = 0; (e = cutejit_kernel_entry(k, i)) != NULL; i++)
		json_array_append_new(list, json_pack(
		    "{s:s, s:i, s:i, s:i, s:i, s:i}", "name", e->name,
		    "registers", e->registers, "spill_bytes", e->spill_bytes,
		    "stack_bytes", e->stack_bytes, "shared_bytes",
		    e->shared_bytes, "constant_bytes", e->constant_bytes));
	return list;
}

static json_t *
phases_json(const cutejit_kernel *k)
{
	json_t *o = json_object();
	const cutejit_phase *p;
	size_t i;

	for (i = 0; (p = cutejit_kernel_phase(k, i)) != NULL; i++)
		json_object_set_new(o, p->name, json_real(p->ms));
	return o;
}

void
print_report(const struct compile *p)
{
	json_t *list = json_array(), *all;
	size_t i;

	for (i = 0; i < p->job_count; i++) {
		const cutejit_kernel *k = p->jobs[i].result;
		const cutejit_kernel_info *a = cutejit_kernel_about(k);

		json_array_append_new(list, json_pack(
		    "{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "kernel",
		    a->kernel, "member", (int)a->member, "binding",
		    a->binding, "target", a->target, "key", a->key,
		    "assembler", a->assembler, "origin",
		    origin_text(a->origin), "entries", entries_json(k), "ms",
		    phases_json(k)));
	}
	all = json_pack("{s:i, s:o}", "schema", 1, "kernels", list);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}
