/*
 * journal_file.h - the journal, the file from which a trace is recovered after a crash.
 *
 * A journal file is in the journal directory. The processes of one run on one node share it. They
 * write to it through memory mappings: a store is in the file as soon as it is executed, survives
 * the end of the process, and costs no system call.
 *
 *   page 0      struct rn_spill_head
 *   extents     page ranges claimed by an atomic add; each begins with struct rn_extent
 *
 *   per process    log: records about the process (enum rn_fact)
 *   per stream     live: struct rn_live, and the words of the calls in flight
 *                  log: distinct calls, texts, long arrays (enum rn_fact), call times
 *                  tail: the call ring, signature ids of the latest calls; if calls have elastic
 *                  slots (encode/elastic_slots.h), a second ring has their elastic values
 *                  area: a snapshot of a checkpoint. Either the rules (rules/rules.h) and the
 *                  elastic values as series (series/units.h), or the time statistics
 *                  order: the latest order events (event_tail.h)
 *
 * An extent is allocated before it is mapped, so that a full disk is an error code and not a signal
 * in the program. A log is a chain of extents. One store publishes a record, and one store
 * publishes a checkpoint (rn_live.sealed). So at any moment
 *
 *   calls of a stream = snapshot of the checkpoint (`upto` calls) + call ring[upto .. calls)
 *
 * and the elastic values of the calls in the call ring begin at `values_from` in the value ring.
 *
 * A stream that exceeds the memory limit of its process is divided into segments. A segment has its
 * own tables of calls, texts and arrays, numbered from 0, its own grammar and its own time
 * statistics. The segments of a stream follow one another. The record RN_FACT_SEGMENT closes a
 * segment: the records that follow belong to the next segment, and the snapshots of the closed one
 * are not overwritten. rn_live describes the segment that its checkpoint names (rn_seal.segment).
 * Only the creators of requests are numbered across segments.
 *
 * Records and snapshots have checksums that include the owner and the position, so that torn or
 * foreign data is detected. Ring entries have no checksum, because they are written on every call.
 * The counters of a stream and the call in flight have none either.
 *
 * Byte order and structures are those of the machine: the file is read on the machine that wrote
 * it, by the version that wrote it (`rondo recover`, recover/journal_read.h). Readers treat every
 * byte as untrusted.
 *
 * Errors are errno values; nothing here prints. A program that closes descriptors that it did not
 * open may close the descriptor of the journal and reuse its number. Each claim therefore checks
 * the descriptor and reopens the file if necessary.
 */
#ifndef RN_JOURNAL_JOURNAL_FILE_H
#define RN_JOURNAL_JOURNAL_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "identity/comm_table.h"

#define RN_SPILL_PAGE  4096u
#define RN_SPILL_MAGIC 0x364c4c4950534e52u /* "RNSPILL6" */

struct rn_spill_head {
	uint64_t magic;
	uint64_t run;       /* run id; equal in all files of a run */
	uint64_t next;      /* number of claimed pages, page 0 included */
	uint64_t told;      /* 1: a process has reported that the file contains data */
	uint64_t warned;    /* 1: a process has reported a write error */
	uint64_t processes; /* number of processes that use the file */
	uint64_t wanted;    /* 1: at least one process needs the file after the run */
	/* 1: a copy exists; 2: this file is a copy (journal/journal_copy.h); 0: neither. */
	uint64_t copied;
};

enum rn_extent_kind {
	RN_EXTENT_LOG = 1, /* records of a process or a stream */
	RN_EXTENT_LIVE,    /* struct rn_live and the words of the calls in flight */
	RN_EXTENT_TAIL,    /* call ring or value ring */
	RN_EXTENT_AREA,    /* a snapshot */
	RN_EXTENT_ORDER,   /* struct rn_order_tail and rows (event_tail.h) */
};

#define RN_EXTENT_MAGIC  0x78655f6eu /* "n_ex" */
#define RN_EXTENT_SHARED UINT32_MAX  /* as stream id: the extent belongs to the process */

struct rn_extent {
	uint32_t magic; /* stored last */
	uint32_t kind;
	uint32_t process; /* process id of the owner */
	uint32_t stream;  /* stream id, from 0 in each process; or RN_EXTENT_SHARED */
	uint64_t pages;
	uint64_t number;      /* first page; ascending in the chain of a log */
	uint64_t used;        /* of a log: bytes of records after this header */
	uint64_t before;      /* of a log: first page of the extent that it continues; 0: none */
	uint64_t before_used; /* of a log: final `used` of the extent `before` */
	uint64_t sum;         /* rn_extent_sum */
};

/* Checksum of the fields that do not change after the extent is claimed. */
uint64_t rn_extent_sum(const struct rn_extent *e);

/* ---- records of logs ---- */

enum rn_fact {
	/* Records of a stream. Calls, texts, blobs and creators of requests are numbered from 0,
	 * each in the order of their records. */
	RN_FACT_CALL = 1, /* call words (encode/call_words.h) */
	RN_FACT_ELASTIC,  /* call words with elastic slots (encode/elastic_slots.h) */
	RN_FACT_TEXT,
	RN_FACT_BLOB, /* array of words */
	/* struct rn_fact_values, and a series: elastic values of one slot that precede those of the
	 * checkpoint. rn_seal.pieces is the number of valid records of the segment. */
	RN_FACT_VALUES,
	RN_FACT_SHAPE, /* uint64_t: id of a call of this segment that creates requests */
	/* struct rn_seal: the final checkpoint of the segment. The ids of the next segment begin at
	 * 0 again. */
	RN_FACT_SEGMENT,
	/* uint64_t: start of the stream in nanoseconds of the host's clock; and a chunk
	 * (encode/call_times.h). Chunks continue across segments. */
	RN_FACT_MOMENTS,
	/* Records of a process. */
	RN_FACT_WORLD, /* struct rn_fact_world; without it the process is unidentified */
	RN_FACT_META,  /* key, 0, value, 0 */
	/* struct rn_const_value (encode/process_table.h); one record per constant */
	RN_FACT_CONSTANT,
	RN_FACT_COMM,   /* struct rn_fact_comm; and the name of the communicator */
	RN_FACT_MODULE, /* uint64_t: id of the module; and the name of the module */
	/* struct rn_fact_end and a text: how the process ended; the latest one is valid */
	RN_FACT_END,
	RN_FACT_WANTED, /* one byte per function: whether the filter selects it */
	/* struct rn_fact_clock; the latest one is valid. Without it the clock is that of rank 0. */
	RN_FACT_CLOCK,
	RN_FACT_SITE, /* uint64_t: id of the call site; and the call site (encode/callsite.h) */
	/* More records of a stream. Event sites are numbered from 0 in the order of their
	 * records. */
	RN_FACT_ORDER_SITE, /* struct rn_order_site; precedes its first use */
	RN_FACT_ORDER,      /* a chunk of order events (order/event_chunk.h) */
};

struct rn_record { /* followed by `bytes` bytes, padded to a multiple of 8 */
	uint32_t type, bytes;
	uint64_t sum;     /* rn_record_sum */
	uint64_t locator; /* locator of the bytes (journal/byte_locator.h) */
};

/* Checksum of a record at offset `at` after the head of the extent, and of its bytes. */
uint64_t rn_record_sum(const struct rn_extent *e, uint64_t at, const struct rn_record *r,
		       const void *bytes);

struct rn_fact_world {
	int64_t rank, size;
	uint64_t scale;   /* nanoseconds per tick, 32.32 fixed point (struct rn_times) */
	uint64_t started; /* ticks at the time of this record */
	uint64_t time;    /* the same time in nanoseconds since 1970 */
};

struct rn_fact_values {
	uint64_t call, hole;
};

struct rn_fact_clock {
	int64_t offset, drift; /* nanoseconds; nanoseconds per second (struct rn_time_clock) */
};

/* Totals of the run, from a process that ended by itself (struct rn_tally). */
struct rn_fact_end {
	uint64_t lost; /* number of calls of the process that are in no stream of the file */
	uint64_t wall_ns, tracer_ns, memory;
};

/* Of several records of a process for the same word, the last one is valid. */
struct rn_fact_comm {
	uint64_t word;
	uint64_t complete; /* 1: `entry` is valid */
	struct rn_comm_entry entry;
};

/* ---- a stream ---- */

/* Position of a snapshot: the first bytes after the head of an area. */
struct rn_snapshot {
	uint64_t page, bytes; /* first page of the area's extent; size of the snapshot */
	uint64_t sum;         /* rn_area_sum */
};

/* A checkpoint of a stream. Snapshots of time statistics are small and are made more often than
 * those of the grammar, so that few calls at the end have no times. */
struct rn_seal {
	uint64_t number; /* ordinal of the checkpoint in its stream */
	uint64_t upto;   /* calls covered, earlier segments included */
	/* The rules, then the elastic values: for each signature with elastic slots its id as a
	 * varint, and a series for each slot. */
	struct rn_snapshot calls;
	uint64_t grammar;         /* bytes of the rules in `calls` */
	struct rn_snapshot times; /* rn_times_save */
	uint64_t tail, places; /* call ring: page of its extent; capacity in ids, a power of two */
	uint64_t segment;      /* number of segments closed before this one */
	/* The value ring: page of its extent; capacity in values, a power of two. 0: no elastic
	 * slots yet. */
	uint64_t values_tail, values_places;
	uint64_t values_from; /* number of elastic values recorded before the checkpoint */
	uint64_t pieces;      /* number of valid RN_FACT_VALUES records of the segment */
	uint64_t sum;         /* rn_seal_sum */
};

/* Checksums of a snapshot in its area, and of the fields of a checkpoint that precede `sum`. Both
 * include the owner, which is in the head of the area. */
uint64_t rn_area_sum(const struct rn_extent *area, const void *bytes, size_t n);
uint64_t rn_seal_sum(const struct rn_extent *area, const struct rn_seal *s);

/* Reasons why calls are not recorded, as bits. Handles are tracked regardless. */
#define RN_OFF_CONTROL 1u  /* MPI_Pcontrol(0) */
#define RN_OFF_RANK    2u  /* a filter excludes this rank */
#define RN_OFF_CALLS   4u  /* a filter selects some functions only */
#define RN_OFF_OVER    8u  /* the trace is being written */
#define RN_OFF_ORDER   16u /* only order events are recorded */

#define RN_LIVE_HERE  UINT32_MAX
#define RN_LIVE_GIVEN 1u

/*
 * The extent RN_EXTENT_LIVE: the state of a stream, for readers of the file. The recording process
 * writes it and never reads it. The process has its own state in private memory, which a writer of
 * the file cannot change.
 *
 * A call in flight consists of its words, the address of its stack frame, and the address at which
 * its words begin. An outer call precedes the calls that are nested in it. `buffer` and `top` are
 * the addresses of the first word and of the end; if they are equal, no call is in flight. The
 * words from `buffer` on follow this structure in the file, as many as fit.
 *
 * If `expected` is not RN_LIVE_HERE, one call is in flight, and its words are those of the
 * signature with the id `expected`, not those in the file. If the bit RN_LIVE_GIVEN of `top` is
 * also set, only the first word is that of the signature, and the other words are in the file.
 */
struct rn_live {
	struct rn_extent extent;
	uint64_t buffer, top;
	uint64_t entered; /* ticks: start of the innermost call in flight */
	uint64_t left;    /* ticks: end of the latest recorded call */
	/* Number of calls in the grammar, earlier segments included. Call i is in the call ring at
	 * i modulo its capacity. */
	uint64_t calls;
	uint64_t limit;  /* upper bound of the calls in the file; later ones are lost */
	uint64_t lost;   /* number of calls that were not recorded */
	uint64_t sealed; /* index in `seal` of the valid checkpoint; stored last */
	struct rn_seal seal[2];
	uint32_t expected; /* signature id, or RN_LIVE_HERE */
	uint8_t off;       /* RN_OFF_*; 0: all calls are recorded */
};

/* ---- writing ---- */

struct rn_spill {
	int fd;
	dev_t dev;
	ino_t ino;
	uint32_t process;
	struct rn_spill_head *head; /* NULL: no file */
	size_t extent_max;          /* largest extent in bytes; 0: no limit */
	uint64_t claimed;           /* the page after the last page that this process claimed */
	char path[PATH_MAX];
};

/* The name of the journal file of this host: 16 hexadecimal digits of the run, '-', and the
 * host. */
#define RN_SPILL_NAME 300
void rn_spill_name(uint64_t run, char name[RN_SPILL_NAME]);

/* Whether a name has the form of a journal file's name. */
bool rn_spill_is_name(const char *name);

/* Opens or creates the file of a run. Its directory must be private (base/private_dir.h). 0 or an
 * errno value. */
int rn_spill_open(struct rn_spill *s, const char *path, uint64_t run);

/* Returns the descriptor of the file, which is reopened if necessary; -1 with errno on failure. */
int rn_spill_descriptor(struct rn_spill *s);

/* Writes all bytes at offset `at`. Returns 0 or an errno value: EFBIG if the file would exceed the
 * file size limit (RLIMIT_FSIZE), where a write would raise a signal. */
int rn_spill_write(int fd, const void *bytes, size_t n, uint64_t at);

/* An extent of this process, or no extent. */
struct rn_mapped {
	struct rn_extent head; /* private copy, which the process reads instead of the file */
	struct rn_extent *at;  /* mapping of the file; NULL: no extent */
};

/* Claims an extent of at least `bytes` bytes and maps it. All bytes after the head are 0. If `at`
 * is not NULL, it is the address of a page: the mapping replaces `bytes` bytes of memory there,
 * whose contents become those of the extent. 0 or an errno value. */
int rn_spill_claim(struct rn_spill *s, enum rn_extent_kind kind, uint32_t stream, size_t bytes,
		   void *at, struct rn_mapped *out);

/* Unmaps an extent. Its pages in the file are not reused. */
void rn_spill_release(struct rn_mapped *m);

/* Number of bytes after the head; 0 if there is no extent. */
static inline size_t rn_mapped_room(const struct rn_mapped *m)
{
	return m->at ? m->head.pages * RN_SPILL_PAGE - sizeof(m->head) : 0;
}

/* Ends the use of the file by this process; `keep`: the process needs the file after the run.
 * Returns whether this was the last process and no process needs the file. */
bool rn_spill_leave(struct rn_spill *s, bool keep);

/* Closes the file; `remove`: also removes it from its directory. */
void rn_spill_close(struct rn_spill *s, bool remove);

/* Removes a journal file from its private directory. */
void rn_spill_remove(const char *path);

/* Closes the file in a forked child, without changes to the file. */
void rn_spill_forget(struct rn_spill *s);

struct rn_log {
	struct rn_spill *spill;
	struct rn_mapped last;
	uint32_t stream;
};

/* Adds a record. Its bytes are the concatenation of a and b, of which either may be empty. Returns
 * 0 or an errno value. Not locked. */
int rn_log_add(struct rn_log *l, enum rn_fact type, const void *a, size_t a_bytes, const void *b,
	       size_t b_bytes);

#endif
