/*
 * map_guard.h - handles the truncation of a mapped file while it is read.
 *
 * The kernel sends SIGBUS when a process reads a page of a mapping that the file no longer
 * contains. The handler maps a page of zeros there, and the reader continues. The caller must then
 * check whether the file has become shorter. Other causes of SIGBUS have their default effect.
 */
#ifndef RN_RECOVER_MAP_GUARD_H
#define RN_RECOVER_MAP_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Installs the handler, once for the process. */
void rn_map_guard_start(void);

/* Whether the file has fewer than `len` bytes. */
bool rn_map_guard_is_shorter(int fd, uint64_t len);

#endif
