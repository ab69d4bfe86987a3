/*
 * map_guard.h - Makes a mapped file that becomes shorter while it is read an error instead of
 * SIGBUS.
 *
 * The kernel sends SIGBUS if a page of a mapping is read that the file no longer contains. The
 * handler puts a page of zeros there, and the reader continues. The caller then asks whether the
 * file has become shorter. Other causes of SIGBUS have their default effect.
 */
#ifndef RN_CMD_MAP_GUARD_H
#define RN_CMD_MAP_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Installs the handler, once for the process. */
void map_guard_start(void);

/* Whether the file has fewer than `len` bytes. */
bool map_guard_is_shorter(int fd, uint64_t len);

#endif
