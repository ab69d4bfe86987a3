/*
 * journal_file.h - the part file: what a run leaves behind when it is killed.
 *
 * One file per node, in the folder of parts, shared by the processes of the run there. They write
 * to it through mappings: what they have stored is in the file, whatever happens to them next, and
 * costs no system call.
 *
 *   page 0      struct rn_spill_head
 *   extents     whole pages, claimed by an atomic add; each begins with struct rn_extent
 *
 *   of a process   log: what its streams have in common (enum rn_fact)
 *   of a stream    live: struct rn_live, and the calls that are under way
 *                  log: its distinct calls, texts and long arrays (enum rn_fact); times of calls
 *                  tail: a ring of the numbers of its latest calls; another one, if calls have
 *                  holes (encode/elastic_slots.h), of what stands in them
 *                  area: a checkpoint of its calls (rules, rules/rules.h) and of what stands in
 *                  holes (series, series/units.h), or of its times, sealed
 *                  order: its latest events (event_tail.h)
 *
 * An extent is allocated before it is mapped, so that a full disk is an error here and not a signal
 * in the program. A log is a chain of extents, in which records are published by one store. What a
 * snapshot and the tail make up is published by one store too (rn_live.sealed), so at any moment
 *
 *   calls of a stream = the sealed snapshot, which has `upto` of them, and tail[upto .. calls)
 *
 * where what stands in the holes of those in the tail is in its own ring, from values_from on.
 *
 * A stream that has become too large for the memory of its process is in segments. Each has tables
 * of calls, texts and arrays that are numbered from 0, a grammar and times of its own, as if the
 * stream had begun there, and follows the one before it. A segment that is over is told in the log
 * (RN_FACT_SEGMENT): records behind that are of the next one, and its area is not touched again.
 * rn_live is of the segment that rn_seal says. Only shapes of requests are numbered through.
 *
 * Records and snapshots have checksums, in which whose they are and where they stand is mixed: what
 * a crash of the machine has left half written, or somebody has changed, is not taken for what was
 * recorded. Numbers in the ring have none, because a call is to cost nothing more, and neither have
 * the counters of a stream and the call that is under way.
 *
 * In the byte order and with the structures of the machine: it is read soon, where it was written,
 * by the version that wrote it (`rondo recover`, recover/journal_read.h). Readers trust no byte.
 *
 * Errors are errno values; nothing here prints. The descriptor may be closed, and its number used
 * again, by a program that closes what it does not know: each claim looks, and opens anew.
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
	uint64_t run;       /* the same in all files of a run, and no other run's */
	uint64_t next;      /* pages that have been claimed */
	uint64_t told;      /* a process has said that there is something to be found here */
	uint64_t warned;    /* a process has said that something could not be written here */
	uint64_t processes; /* that have not left */
	uint64_t wanted;    /* one of them had something to keep */
	uint64_t copied; /* 1: there is a copy elsewhere; 2: this is one (journal/journal_copy.h) */
};

enum rn_extent_kind {
	RN_EXTENT_LOG = 1,
	RN_EXTENT_LIVE,
	RN_EXTENT_TAIL,
	RN_EXTENT_AREA,
	RN_EXTENT_ORDER,
};

#define RN_EXTENT_MAGIC  0x78655f6eu /* "n_ex" */
#define RN_EXTENT_SHARED UINT32_MAX  /* in place of a stream: the process's own */

struct rn_extent {
	uint32_t magic; /* stored last */
	uint32_t kind;
	uint32_t process; /* its process id */
	uint32_t stream;  /* from 0 in each process, or RN_EXTENT_SHARED */
	uint64_t pages;
	uint64_t number;      /* the page it begins at; a log goes on at a later one */
	uint64_t used;        /* of a log's: bytes of records behind this */
	uint64_t before;      /* of a log's: the page of the one that it goes on from; 0: none */
	uint64_t before_used; /* of a log: final `used` of the extent `before` */
	uint64_t sum;         /* rn_extent_sum */
};

/* Checksum of the fields that do not change after the extent is claimed. */
uint64_t rn_extent_sum(const struct rn_extent *e);

/* ---- records of logs ---- */

enum rn_fact {
	/* of a stream: calls, texts and blobs are numbered from 0 as they come, and so are shapes
	 */
	RN_FACT_CALL = 1, /* words (encode/call_words.h) */
	RN_FACT_ELASTIC,  /* the same, and some of them are holes (encode/elastic_slots.h) */
	RN_FACT_TEXT,
	RN_FACT_BLOB,    /* words */
	RN_FACT_VALUES,  /* struct rn_fact_values, and a series: what stood in a hole before what
			  * is sealed; of a segment as many as the seal says */
	RN_FACT_SHAPE,   /* uint64_t: the call, of this segment, that makes requests of the shape */
	RN_FACT_SEGMENT, /* struct rn_seal, which is not sealed again; numbers start anew */
	RN_FACT_MOMENTS, /* uint64_t, when the stream began, in nanoseconds of the host's clock,
			  * and a chunk (encode/call_times.h); they go on over segments */
	/* of a process */
	RN_FACT_WORLD,    /* struct rn_fact_world; without one the process is not known */
	RN_FACT_META,     /* key, 0, value, 0 */
	RN_FACT_CONSTANT, /* struct rn_const_value (encode/process_table.h), many */
	RN_FACT_COMM,     /* struct rn_fact_comm, and its name */
	RN_FACT_MODULE,   /* uint64_t, its number, and its name */
	RN_FACT_END,      /* struct rn_fact_end and a text: how the process ended; the latest one
			   * is valid */
	RN_FACT_WANTED,   /* a byte for each function: whether the filter wants it */
	RN_FACT_CLOCK,    /* struct rn_fact_clock; the latest counts; without: that of rank 0 */
	RN_FACT_SITE,     /* uint64_t, its number, and its bytes (encode/callsite.h) */
	/* of a stream: where events are from, numbered from 0 as they come */
	RN_FACT_ORDER_SITE, /* struct rn_order_site, before it is used */
	RN_FACT_ORDER,      /* a chunk of events (event_chunk.h) */
};

struct rn_record { /* and `bytes` more, made up to 8 */
	uint32_t type, bytes;
	uint64_t sum;     /* rn_record_sum */
	uint64_t locator; /* locator of the bytes (journal/byte_locator.h) */
};

/* Of a record that is in the extent, so far behind its head, and of its bytes. */
uint64_t rn_record_sum(const struct rn_extent *e, uint64_t at, const struct rn_record *r,
		       const void *bytes);

struct rn_fact_world {
	int64_t rank, size;
	uint64_t scale;   /* of the clock: struct rn_times */
	uint64_t started; /* ticks */
	uint64_t time;    /* nanoseconds since 1970 at that moment */
};

struct rn_fact_values {
	uint64_t call, hole;
};

struct rn_fact_clock {
	int64_t offset, drift; /* struct rn_time_clock */
};

/* Totals of the run, from a process that ended by itself (struct rn_tally). */
struct rn_fact_end {
	uint64_t lost; /* calls of the process that are in no stream of the file */
	uint64_t wall_ns, tracer_ns, memory;
};

/* The later one for the same word counts. */
struct rn_fact_comm {
	uint64_t word;
	uint64_t complete; /* the entry is known */
	struct rn_comm_entry entry;
};

/* ---- a stream ---- */

/* The first bytes after the head of an area. */
struct rn_snapshot {
	uint64_t page, bytes;
	uint64_t sum; /* rn_area_sum */
};

/* Times are small and come more often than the grammar, so that few calls at the end are without.
 */
struct rn_seal {
	uint64_t number; /* ordinal of the seal */
	uint64_t upto;   /* calls that are in the snapshot, or in segments before it */
	/* The rules, then the elastic values: for each signature with elastic slots its number as a
	 * varint, and a series for each slot. */
	struct rn_snapshot calls;
	uint64_t grammar;         /* bytes of the rules */
	struct rn_snapshot times; /* rn_times_save */
	uint64_t tail, places;    /* page of the ring's extent; numbers it has, a power of two */
	uint64_t segment;         /* so many are over */
	uint64_t values_tail, values_places; /* the ring of numbers in holes; 0: none so far */
	uint64_t values_from;                /* so many had come */
	uint64_t pieces;                     /* RN_FACT_VALUES of the segment that count */
	uint64_t sum;                        /* rn_seal_sum */
};

/* Of a snapshot in its area, and of everything in a seal above its own sum; whose they are is in
 * the area's head. */
uint64_t rn_area_sum(const struct rn_extent *area, const void *bytes, size_t n);
uint64_t rn_seal_sum(const struct rn_extent *area, const struct rn_seal *s);

/* Why calls are not recorded. Handles are followed all the same. */
#define RN_OFF_CONTROL 1u  /* MPI_Pcontrol(0) */
#define RN_OFF_RANK    2u  /* a filter: not this rank */
#define RN_OFF_CALLS   4u  /* a filter: only some functions */
#define RN_OFF_OVER    8u  /* the trace is being written */
#define RN_OFF_ORDER   16u /* only events are */

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
	uint64_t left;    /* ticks: when the latest one that was recorded ended */
	uint64_t calls;   /* that are in the grammar; call i is in the ring at i mod places */
	uint64_t limit;   /* no more of them are in the file */
	uint64_t lost;
	uint64_t sealed; /* which of the two counts; stored last */
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
	struct rn_spill_head *head; /* NULL: there is none */
	size_t extent_max;          /* largest extent in bytes; 0: no limit */
	uint64_t claimed;           /* the page after the last page that this process claimed */
	char path[PATH_MAX];
};

/* The name of the part file of this host: 16 hexadecimal digits of the run, '-', and the host. */
#define RN_SPILL_NAME 300
void rn_spill_name(uint64_t run, char name[RN_SPILL_NAME]);

/* Whether a name has the form of a part file's name. */
bool rn_spill_is_name(const char *name);

/* Opens or creates the file of a run. Its directory must be private (base/private_dir.h). 0 or an
 * errno value. */
int rn_spill_open(struct rn_spill *s, const char *path, uint64_t run);

/* Its descriptor, opened anew if need be; -1 with errno. */
int rn_spill_descriptor(struct rn_spill *s);

/* All bytes, unless the file may not become so large, which would be a signal. 0 or an errno value.
 */
int rn_spill_write(int fd, const void *bytes, size_t n, uint64_t at);

/* An extent of this process, or none. */
struct rn_mapped {
	struct rn_extent head; /* private copy, which the process reads instead of the file */
	struct rn_extent *at;  /* mapping of the file; NULL: no extent */
};

/* Claims an extent of at least `bytes` bytes and maps it. All bytes after the head are 0. If `at`
 * is not NULL, it is the address of a page: the mapping replaces `bytes` bytes of memory there,
 * whose contents become those of the extent. 0 or an errno value. */
int rn_spill_claim(struct rn_spill *s, enum rn_extent_kind kind, uint32_t stream, size_t bytes,
		   void *at, struct rn_mapped *out);

/* The extent is not needed any more; its room is not used again. */
void rn_spill_release(struct rn_mapped *m);

/* Number of bytes after the head; 0 if there is no extent. */
static inline size_t rn_mapped_room(const struct rn_mapped *m)
{
	return m->at ? m->head.pages * RN_SPILL_PAGE - sizeof(m->head) : 0;
}

/* This process is done; whether it is the last one, and none wants the file to be kept. */
bool rn_spill_leave(struct rn_spill *s, bool keep);

/* Lets go of the file; `remove`: it is not needed by anybody. */
void rn_spill_close(struct rn_spill *s, bool remove);

/* Removes a part file from its private directory. */
void rn_spill_remove(const char *path);

/* A forked child lets go without a trace. */
void rn_spill_forget(struct rn_spill *s);

struct rn_log {
	struct rn_spill *spill;
	struct rn_mapped last;
	uint32_t stream;
};

/* Adds a record of two pieces, of which either may be empty. 0 or an errno value. Not locked. */
int rn_log_add(struct rn_log *l, enum rn_fact type, const void *a, size_t a_bytes, const void *b,
	       size_t b_bytes);

#endif
