/*
 * status_line.h - posts status lines to the waiting `rondo trace` or `rondo replay`.
 *
 * A line is "TAG RUN TEXT", or "untraced TEXT". RUN is the id of the run (rn_tracer.run). The
 * functions return false if there is no status file (base/status_file.h), or if it cannot be
 * written. In that case rn_status_post and rn_status_untraced also remove the file, from which the
 * waiting command concludes that a report is missing.
 */
#ifndef RN_RUNTIME_STATUS_LINE_H
#define RN_RUNTIME_STATUS_LINE_H

#include <stdbool.h>

bool rn_status_append(const char *tag, const char *text);
bool rn_status_post(const char *tag, const char *text);
bool rn_status_untraced(const char *text);

/* Whether a watcher reads the reports. Each rank has its own watcher, which sees only the reports
 * of that rank. */
bool rn_status_has_watcher(void);

#endif
