/* log.c - see log.h. */
#include "log.h"

#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE_MAX_BYTES (2 << 20)
#define BLOCKS_MAX     256
#define REQUESTS_MAX   8192
#define DEPTH_MAX      8
#define THREADS_MAX    64

int me = -1, procs;

/* --- this thread's calls ------------------------------------------------------------------ */

static struct {
	long calls;    /* number of calls entered so far: the number of the next call */
	long requests; /* created so far */
} counts[THREADS_MAX]; /* by thread; the reuse of a thread number continues its counts */

static _Thread_local int thread;
static _Thread_local long entered[DEPTH_MAX]; /* calls entered and not returned */
static _Thread_local int depth;
static _Thread_local const char *returned;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects everything below */

static bool off;

void log_die(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: rank %d: %s does not hold\n", file, line, me, what);
	_exit(1);
}

static void die(const char *what, const char *detail)
{
	fprintf(stderr, "log.c: rank %d: %s: %s\n", me, what, detail);
	_exit(1);
}

/* --- the line being written --------------------------------------------------------------- */

static char text[LINE_MAX_BYTES];
static size_t length;

static void put_char(char c)
{
	if (length == sizeof(text))
		die("line too long", "");
	text[length++] = c;
}

static void put(const char *s)
{
	while (*s)
		put_char(*s++);
}

/* The format of `rondo dump`: beyond 2^53, where JSON readers round, a number is a string. */
static void put_number(long long v)
{
	const long long exact = 1LL << 53;
	char s[32];

	snprintf(s, sizeof(s), v > exact || v < -exact ? "\"%lld\"" : "%lld", v);
	put(s);
}

static void put_escaped(char c)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *letter = c ? strchr(from, c) : NULL;
	char s[8];

	if (letter) {
		put_char('\\');
		put_char(to[letter - from]);
	} else if (c >= 0 && c < ' ') {
		snprintf(s, sizeof(s), "\\u%04x", (unsigned)c);
		put(s);
	} else {
		put_char(c);
	}
}

static void put_string(const char *s, size_t n)
{
	put_char('"');
	for (size_t i = 0; i < n; i++)
		put_escaped(s[i]);
	put_char('"');
}

static void put_word(const char *s)
{
	put_string(s, strlen(s));
}

/* --- output file -------------------------------------------------------------------------- */

/* The rank from the launcher's environment variables, because MPI_Init is logged, too. */
static int rank_from_environment(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (getenv(names[i]))
			return atoi(getenv(names[i]));
	return 0;
}

static int open_log(void)
{
	const char *folder = getenv("RONDO_TEST_LOG");
	char path[4096];
	int fd;

	if (!folder)
		return -1;
	snprintf(path, sizeof(path), "%s/rank-%d.jsonl", folder, rank_from_environment());
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			  0644);
	if (fd < 0)
		die("cannot write", path);
	return fd;
}

static void write_line(void)
{
	static int fd = -2;

	if (fd == -2)
		fd = open_log();
	put_char('\n');
	if (fd >= 0 && syscall(SYS_write, fd, text, length) != (long)length)
		die("cannot write", "the log");
	length = 0;
}

/* --- memory ------------------------------------------------------------------------------- */

static struct block {
	char *start; /* NULL: the entry is free */
	size_t size;
	const char *class;
	int id; /* index within the class; -1: not used in a call yet */
} blocks[BLOCKS_MAX];

static struct block *block_of(const void *p)
{
	const char *c = p;

	for (struct block *b = blocks; b < blocks + BLOCKS_MAX; b++)
		if (b->start && c >= b->start && c <= b->start + b->size)
			return b;
	return NULL;
}

static bool id_taken(const char *class, int id)
{
	for (struct block *b = blocks; b < blocks + BLOCKS_MAX; b++)
		if (b->start && b->id == id && !strcmp(b->class, class))
			return true;
	return false;
}

void adopt(const char *class, void *start, size_t size)
{
	struct block *b = blocks;

	while (b < blocks + BLOCKS_MAX && b->start)
		b++;
	if (b == blocks + BLOCKS_MAX)
		die("too many blocks", "");
	*b = (struct block){ start, size, class, -1 };
}

void forget(void *start)
{
	struct block *b = block_of(start);

	if (!b)
		die("not a block", "");
	b->start = NULL;
}

void *grab(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		die("out of memory", "");
	adopt("heap", p, size);
	return p;
}

void drop(void *p)
{
	forget(p);
	free(p);
}

static int lowest_free_id(const char *class)
{
	int id = 0;

	while (id_taken(class, id))
		id++;
	return id;
}

/* MPI_BOTTOM is NULL in both MPIs, so these two need to be logged by name. */
static void put_pointer(const void *p)
{
	struct block *b = block_of(p);
	char s[64];

	if (p == MPI_IN_PLACE) {
		put_word("MPI_IN_PLACE");
		return;
	}
	if (!b)
		die("pointer into no block", "say static:* or stack:*");
	if (b->id < 0)
		b->id = lowest_free_id(b->class);
	snprintf(s, sizeof(s), "%s:%d+%td", b->class, b->id, (const char *)p - b->start);
	put_word(s);
}

/* --- requests ----------------------------------------------------------------------------- */

/* The fields of a status that MPI defines depend on the operation of the request. The error field
 * is separate: it is defined if a call returns MPI_ERR_IN_STATUS. */
enum fields { NO_FIELDS = 0, ENVELOPE = 1, ITS_COUNT = 2, CANCELLED = 4, ALL_FIELDS = 7 };

/* Keyed by the variable that holds the request: both MPIs give several live requests the same
 * value. */
static struct request {
	const MPI_Request *where; /* NULL: the entry is free */
	int thread;
	long number;
	enum fields fields;
} live[REQUESTS_MAX];

/* The call being written: its requests, and the requests to which its statuses belong (NULL: status
 * k belongs to request k). */
static char current[64];
static enum fields used[REQUESTS_MAX];
static int uses;
static const int *picks;

/* Finds the fields by a part of the function's name; the first match counts. The program sets the
 * fields of a generalized request. A completing call without requests in the log has a null request
 * and an empty status. */
static enum fields status_fields(const char *call)
{
	static const struct {
		const char *part;
		enum fields fields;
	} known[] = {
		{ "MPI_File_", ITS_COUNT },   { "recv", ALL_FIELDS },
		{ "Grequest", ALL_FIELDS },   { "probe", ALL_FIELDS },
		{ "send", CANCELLED },        { "Get_count", ITS_COUNT },
		{ "elements", ITS_COUNT },    { "cancelled", CANCELLED },
		{ "Wait", ALL_FIELDS },       { "Test", ALL_FIELDS },
		{ "get_status", ALL_FIELDS },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcasestr(call, known[i].part))
			return known[i].fields;
	return NO_FIELDS;
}

static void use(enum fields fields)
{
	if (uses == REQUESTS_MAX)
		die("too many requests", "in one call");
	used[uses++] = fields;
}

static struct request *request_at(const MPI_Request *where)
{
	for (struct request *r = live; r < live + REQUESTS_MAX; r++)
		if (r->where == where)
			return r;
	return NULL;
}

static void put_request(const struct request *r)
{
	char s[32];

	if (r->thread == thread)
		snprintf(s, sizeof(s), "\"request:%ld\"", r->number);
	else
		snprintf(s, sizeof(s), "{\"prefix\":\"request:%d.\"}", r->thread);
	put(s);
}

static void put_new_request(const MPI_Request *where)
{
	struct request *r = request_at(where);

	if (!r)
		r = request_at(NULL);
	if (!r)
		die("too many requests", "");
	*r = (struct request){ where, thread, counts[thread].requests++, status_fields(current) };
	put_request(r);
}

/* The request at the time of the call; it may have been freed since. */
static void put_used_request(const MPI_Request *where)
{
	struct request *r = request_at(where);

	use(r ? r->fields : ALL_FIELDS);
	if (!r) {
		put_word("MPI_REQUEST_NULL");
		return;
	}
	put_request(r);
	if (*where == MPI_REQUEST_NULL)
		r->where = NULL;
}

void moved(const MPI_Request *from, const MPI_Request *to)
{
	struct request *r = request_at(from);

	if (!r)
		die("moved", "there was no request");
	r->where = to;
}

/* --- values that have names ------------------------------------------------------------------ */

struct named {
	int value;
	const char *name;
};

static const struct named ranks[] = {
	{ MPI_PROC_NULL, "MPI_PROC_NULL" },
	{ MPI_ANY_SOURCE, "MPI_ANY_SOURCE" },
	{ MPI_ROOT, "MPI_ROOT" },
	{ MPI_UNDEFINED, "MPI_UNDEFINED" },
	{ 0, NULL },
};
static const struct named tags[] = { { MPI_ANY_TAG, "MPI_ANY_TAG" }, { 0, NULL } };
static const struct named indices[] = { { MPI_UNDEFINED, "MPI_UNDEFINED" }, { 0, NULL } };

static void put_named(int v, const struct named *names)
{
	for (; names->name; names++)
		if (names->value == v) {
			put_word(names->name);
			return;
		}
	put_number(v);
}

/* --- statuses ------------------------------------------------------------------------------ */

/* The results of MPI_Get_elements_x and MPI_Test_cancelled, which cannot be called here because
 * they would be traced. */
static long long status_bytes(const MPI_Status *s)
{
#ifdef OPEN_MPI
	return (long long)s->_ucount;
#else
	return (long long)(unsigned)s->count_lo |
	       (long long)((unsigned)s->count_hi_and_cancelled >> 1) << 32;
#endif
}

static int status_cancelled(const MPI_Status *s)
{
#ifdef OPEN_MPI
	return s->_cancelled;
#else
	return s->count_hi_and_cancelled & 1;
#endif
}

/* The call that is being written returned MPI_ERR_IN_STATUS. */
static bool has_errors;

/* The defined fields of status k of a call. Without requests, the status is that of the call's own
 * operation. An empty status has all fields, a cancelled operation only the cancelled field, and a
 * failed operation the fields of the received message. */
static enum fields fields_of(const MPI_Status *s, int k)
{
	int i = picks ? picks[k] : k;
	enum fields fields = uses == 0            ? status_fields(current)
			     : i >= 0 && i < uses ? used[i]
						  : ALL_FIELDS;

	if (has_errors && s->MPI_ERROR != MPI_SUCCESS)
		return s->MPI_ERROR == MPI_ERR_PENDING ? NO_FIELDS : fields & ENVELOPE;
	return (fields & CANCELLED) && status_cancelled(s) ? CANCELLED : fields;
}

static void put_index(int v)
{
	static int pick;

	pick = v;
	picks = &pick;
	put_named(v, indices);
}

static void put_any(void)
{
	put("{\"any\":true}");
}

static void put_field(const char *name, long long v, const struct named *names)
{
	if (text[length - 1] != '{')
		put_char(',');
	put(name);
	if (names)
		put_named((int)v, names);
	else
		put_number(v);
}

static void put_status(const MPI_Status *s, int k)
{
	enum fields fields = fields_of(s, k);

	put_char('{');
	if (fields & ENVELOPE) {
		put_field("\"source\":", s->MPI_SOURCE, ranks);
		put_field("\"tag\":", s->MPI_TAG, tags);
	}
	if (has_errors ? s->MPI_ERROR == MPI_SUCCESS : (fields & ENVELOPE) != 0) {
		put_field("\"error\":", 0, NULL);
	} else if (has_errors) {
		put(fields & ENVELOPE ? ",\"error\":" : "\"error\":");
		put_any(); /* error codes depend on the implementation */
	}
	if (fields & ITS_COUNT)
		put_field("\"count\":", status_bytes(s), NULL);
	if (fields & CANCELLED)
		put_field("\"cancelled\":", status_cancelled(s), NULL);
	put_char('}');
}

/* --- a value copied from the text ------------------------------------------------------------- */

static const char *skip_blanks(const char *s)
{
	while (*s == ' ')
		s++;
	return s;
}

static bool is_number(const char *s, size_t n)
{
	size_t i = s[0] == '-';

	if (i == n)
		return false;
	while (i < n && isdigit((unsigned char)s[i]))
		i++;
	return i == n;
}

static const char *put_token(const char *s)
{
	size_t n = strcspn(s, ",;]} ");

	if (n == 0) {
		die("a value is missing", s);
	} else if (n == 1 && *s == '?') {
		put("{\"any\":true}");
	} else if (n == 4 && !strncmp(s, "null", n)) {
		put("null");
	} else if (is_number(s, n)) {
		put_number(atoll(s));
	} else if (s[n - 1] == '*') {
		put("{\"prefix\":");
		put_string(s, n - 1);
		put_char('}');
	} else if (memchr(s, '$', n)) {
		put("{\"bind\":");
		put_string(s, n);
		put_char('}');
	} else {
		put_string(s, n);
	}
	return s + n;
}

/* --- conversions --------------------------------------------------------------------------- */

static void put_one(char kind, va_list *values)
{
	switch (kind) {
	case 'd':
		put_number(va_arg(*values, int));
		break;
	case 'l':
		put_number(va_arg(*values, long long));
		break;
	case 'c':
		put_number((long long)va_arg(*values, count_t));
		break;
	case 's':
		put_word(va_arg(*values, const char *));
		break;
	case 'n':
		put_token(va_arg(*values, const char *));
		break;
	case 'r':
		put_named(va_arg(*values, int), ranks);
		break;
	case 't':
		put_named(va_arg(*values, int), tags);
		break;
	case 'i':
		put_named(va_arg(*values, int), indices);
		break;
	case 'x':
		put_index(va_arg(*values, int));
		break;
	case 'p':
		put_pointer(va_arg(*values, const void *));
		break;
	case '+':
		put_new_request(va_arg(*values, const MPI_Request *));
		break;
	case 'q':
		put_used_request(va_arg(*values, const MPI_Request *));
		break;
	case 'S':
		put_status(va_arg(*values, const MPI_Status *), 0);
		break;
	default:
		die("no such conversion", (char[]){ '%', kind, 0 });
	}
}

static void put_element(char kind, const void *array, int i)
{
	switch (kind) {
	case 'd':
	case 'x':
		put_number(((const int *)array)[i]);
		break;
	case 'l':
		put_number(((const MPI_Aint *)array)[i]);
		break;
	case 'c':
		put_number((long long)((const count_t *)array)[i]);
		break;
	case 'a':
		put_number((long long)((const disp_t *)array)[i]);
		break;
	case 's':
		put_word(((const char *const *)array)[i]);
		break;
	case 'r':
		put_named(((const int *)array)[i], ranks);
		break;
	case 'i':
		put_named(((const int *)array)[i], indices);
		break;
	case '+':
		put_new_request((const MPI_Request *)array + i);
		break;
	case 'q':
		put_used_request((const MPI_Request *)array + i);
		break;
	case 'S':
		put_status((const MPI_Status *)array + i, i);
		break;
	default:
		die("no such list", (char[]){ '%', '*', kind, 0 });
	}
}

static void put_list(char kind, va_list *values)
{
	int n = va_arg(*values, int);
	const void *array = va_arg(*values, const void *);

	if (kind == 'x')
		picks = array;
	put_char('[');
	for (int i = 0; i < n; i++) {
		if (i)
			put_char(',');
		put_element(kind, array, i);
	}
	put_char(']');
}

/* --- the text of a call, as JSON ----------------------------------------------------------- */

static const char *put_quoted(const char *s)
{
	const char *close = strchr(s + 1, '\'');

	if (!close)
		die("a quote is missing", s);
	put_string(s + 1, (size_t)(close - s - 1));
	return close + 1;
}

static const char *put_conversion(const char *s, va_list *values)
{
	if (s[1] == '*') {
		put_list(s[2], values);
		return s + 3;
	}
	put_one(s[1], values);
	return s + 2;
}

static const char *put_members(const char *s, char between, const char *ends, va_list *values);

static const char *put_value(const char *s, va_list *values)
{
	switch (*s) {
	case '%':
		return put_conversion(s, values);
	case '\'':
		return put_quoted(s);
	case '{':
		put_char('{');
		s = put_members(s + 1, ':', "}", values);
		put_char('}');
		return s + 1;
	case '[':
		put_char('[');
		s = put_members(s + 1, 0, "]", values);
		put_char(']');
		return s + 1;
	default:
		return put_token(s);
	}
}

/* "a=1, b=2", or, for a list, values without names, up to one of the characters in `ends`. */
static const char *put_members(const char *s, char between, const char *ends, va_list *values)
{
	bool first = true;

	for (s = skip_blanks(s); *s && !strchr(ends, *s); s = skip_blanks(s)) {
		if (!first) {
			if (*s != ',')
				die("no comma", s);
			s = skip_blanks(s + 1);
			put_char(',');
		}
		first = false;
		if (between) {
			size_t n = strcspn(s, (char[]){ between, 0 });

			put_string(s, n);
			put_char(':');
			s += n + 1;
		}
		s = put_value(s, values);
	}
	return s;
}

/* --- calls --------------------------------------------------------------------------------- */

long log_enter(void)
{
	if (depth == DEPTH_MAX)
		die("too deep", "");
	entered[depth++] = counts[thread].calls;
	return off ? counts[thread].calls : counts[thread].calls++;
}

static void put_head(long seq)
{
	put("{\"rank\":");
	put_number(rank_from_environment());
	put(",\"seq\":");
	put_number(seq);
	if (thread) {
		put(",\"thread\":");
		put_number(thread);
	}
	if (depth) {
		put(",\"parent\":");
		put_number(entered[depth - 1]);
	}
	put(",\"call\":");
	put_word(current);
	put(",\"args\":{");
}

void log_returned(const char *shown)
{
	returned = shown;
}

static void put_return(int ret, enum log_outcome outcome)
{
	put_char('}');
	if (outcome == LOG_VALUE && !returned)
		return;
	put(",\"ret\":");
	if (outcome == LOG_DONE)
		put_number(ret);
	else
		put_token(returned);
}

static void put_call(long seq, const char *call, int ret, enum log_outcome outcome,
		     const char *args, va_list *values)
{
	depth--;
	if (off)
		return;
	snprintf(current, sizeof(current), "%.*s", (int)strcspn(call, " ("), call);
	uses = 0;
	picks = NULL;
	has_errors = outcome == LOG_FAILED && ret == MPI_ERR_IN_STATUS;
	put_head(seq);
	args = put_members(args, '=', ";", values);
	put_return(ret, outcome);
	if (*args == ';') {
		put_char(',');
		put_members(args + 1, '=', "", values);
	}
	put_char('}');
	write_line();
}

void log_leave(long seq, const char *call, int ret, enum log_outcome outcome, const char *args, ...)
{
	va_list values;

	if ((outcome == LOG_DONE && ret != MPI_SUCCESS) ||
	    (outcome == LOG_FAILED && ret == MPI_SUCCESS))
		die(outcome == LOG_DONE ? "failed" : "did not fail", call);
	pthread_mutex_lock(&lock);
	va_start(values, args);
	put_call(seq, call, ret, outcome, args, &values);
	va_end(values);
	pthread_mutex_unlock(&lock);
}

static void put_plain(long seq, const char *call, int ret, const char *args, ...)
{
	va_list none;

	va_start(none, args);
	put_call(seq, call, ret, LOG_DONE, args, &none);
	va_end(none);
}

void log_plain(long seq, const char *call, int ret, const char *args)
{
	put_plain(seq, call, ret, args);
}

void log_thread(int number)
{
	if (number >= THREADS_MAX)
		die("too many threads", "");
	thread = number;
}

void log_off(void)
{
	off = true;
}

void log_on(void)
{
	off = false;
}

void begin(void)
{
	DO(MPI_Init(NULL, NULL), "argc=NULL, argv=NULL");
	DO(MPI_Comm_rank(MPI_COMM_WORLD, &me), "comm=MPI_COMM_WORLD, rank=%d", me);
	DO(MPI_Comm_size(MPI_COMM_WORLD, &procs), "comm=MPI_COMM_WORLD, size=%d", procs);
	EXPECT(me == rank_from_environment());
}

void end(void)
{
	DO(MPI_Finalize(), "");
}
