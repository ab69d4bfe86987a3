/*
 * symbolizer.h - names and lines for the frames of stacks (model/site_table.h), by elfutils.
 *
 * A module's file is taken where it was when the trace was made (the metadata `module.NAME`), or
 * beside the trace, or from the system's debug files; in any case only if it has the build id that
 * the trace contains. Otherwise its frames have no names, and a note for each module states the
 * reason. C++ names are demangled.
 *
 * Looked for when first asked for, and remembered.
 */
#ifndef RN_REPORT_SYMBOLIZER_H
#define RN_REPORT_SYMBOLIZER_H

#include <stdint.h>

struct rn_buf;
struct rn_trace;
struct symbols; /* opaque */

/* `file` is the trace's name. `notes` receives messages for the user (base/notes.h). NULL without
 * memory. The trace outlives it. */
struct symbols *symbols_new(const struct rn_trace *t, const char *file, struct rn_buf *notes);
void symbols_free(struct symbols *s);

/* "main+0x1c (stencil.c:42)", or "solve(int)+0x1c" without lines, or NULL. */
const char *symbols_name(void *symbols, uint32_t node);

#endif
