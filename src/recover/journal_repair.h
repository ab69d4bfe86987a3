/*
 * journal_repair.h - corrects single wrong bytes of a journal file (journal_file.h) by its
 * checksums.
 *
 * Log records have a locator (journal/byte_locator.h), which determines the changed byte. In heads,
 * checkpoints and snapshots, each byte is replaced with every other value until the checksum
 * matches. The number of bytes that a log uses is corrected from the next extent of the log, or
 * from the records themselves. Rings, rows of events and counters have no checksum and are not
 * corrected.
 *
 * Cost: linear in the size of the file. The search in a damaged snapshot of n bytes hashes up to
 * 255 n^2 bytes. All searches in a file together are limited to about half a second; larger
 * snapshots remain damaged. Input is untrusted.
 */
#ifndef RN_RECOVER_JOURNAL_REPAIR_H
#define RN_RECOVER_JOURNAL_REPAIR_H

#include <stddef.h>
#include <stdint.h>

/* Corrects the bytes in place. `run` is the run id from the name of the file. */
void rn_journal_repair(void *bytes, size_t len, uint64_t run);

#endif
