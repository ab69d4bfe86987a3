/*
 * live_json.h - output of `rondo recover --live`, as text or JSON.
 *
 * The output contains the live position of each rank and the wait-for relation (analysis/hang.h).
 * The command writes no file and never blocks the traced program.
 */
#ifndef RN_REPORT_LIVE_JSON_H
#define RN_REPORT_LIVE_JSON_H

#include <stdbool.h>

struct rn_buf;
struct rn_err;

/* Stores the output in *out, which the caller frees. Returns RN_OK or a negative code. Journal
 * files that cannot be read are noted (base/notes.h). */
int live_show(const char *folder, bool json, struct rn_buf *out, struct rn_buf *notes,
	      struct rn_err *err);

#endif
