/*
 * live_json.h - `rondo recover --live`: where the ranks of a running program are, and who waits for
 * whom (analysis/hang.h), for people or as JSON. Nothing is written, and nothing that the
 * program does waits for this.
 */
#ifndef RN_REPORT_LIVE_JSON_H
#define RN_REPORT_LIVE_JSON_H

#include <stdbool.h>

struct rn_buf;
struct rn_err;

/* Stores the text in `out`, which the caller frees. Returns RN_OK or a negative code. Part files
 * that cannot be read are noted (base/notes.h). */
int live_show(const char *folder, bool json, struct rn_buf *out, struct rn_buf *notes,
	      struct rn_err *err);

#endif
