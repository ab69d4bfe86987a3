/*
 * symbolizer.h - names and lines for the frames of call stacks (model/site_table.h), by elfutils.
 *
 * The file of a module is searched at its path in the traced run (the metadata `module.NAME`), next
 * to the trace, and among the system's debug files. A file is used only if its build id is the one
 * in the trace. Otherwise the module's frames have no names, and one note per module states the
 * reason. C++ names are demangled.
 *
 * A name is looked up at its first use and cached.
 */
#ifndef RN_REPORT_SYMBOLIZER_H
#define RN_REPORT_SYMBOLIZER_H

#include <stdint.h>

struct rn_buf;
struct rn_trace;
struct symbols; /* opaque */

/* `file` is the path of the trace. `notes` receives messages for the user (base/notes.h). Returns
 * NULL if memory is exhausted. The trace must outlive the result. */
struct symbols *symbols_new(const struct rn_trace *t, const char *file, struct rn_buf *notes);
void symbols_free(struct symbols *s);

/* Returns "main+0x1c (stencil.c:42)", "solve(int)+0x1c" without line information, or NULL. */
const char *symbols_name(void *symbols, uint32_t node);

#endif
