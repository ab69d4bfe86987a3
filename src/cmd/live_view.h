/*
 * live_view.h - `rondo recover --live`: where the ranks of a running program are, and who waits for
 * whom (analyse/standstill.h), for people or as JSON. Nothing is written, and nothing that the
 * program does waits for this.
 */
#ifndef RN_CMD_LIVE_VIEW_H
#define RN_CMD_LIVE_VIEW_H

#include <stdbool.h>

struct rn_buf;
struct rn_err;

/* Stores the text in `out`, which the caller frees. Returns RN_OK or a negative code. Part files
 * that cannot be read are noted (base/notes.h). */
int live_show(const char *folder, bool json, struct rn_buf *out, struct rn_buf *notes,
	      struct rn_err *err);

#endif
