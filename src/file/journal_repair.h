/*
 * journal_repair.h - Corrects single wrong bytes of a part file (spill.h) by its checksums.
 *
 * Log records have a sum that tells which byte has changed (base/locate.h). For heads, seals and
 * snapshots, each byte is replaced by every other value until the checksum matches. The number of
 * bytes that a log uses is corrected from the next extent of the log, or from the records
 * themselves. Rings, rows of events and counters have no checksum and are left as they are.
 *
 * Cost: linear in the size of the file. A damaged snapshot of n bytes costs up to 255 n^2, which is
 * limited for the whole file to about half a second; larger snapshots stay damaged. Input is
 * untrusted.
 */
#ifndef RN_FILE_JOURNAL_REPAIR_H
#define RN_FILE_JOURNAL_REPAIR_H

#include <stddef.h>
#include <stdint.h>

/* Corrects the bytes in place. `run` is the run that the name of the file states. */
void rn_journal_repair(void *bytes, size_t len, uint64_t run);

#endif
