/* markers.c - see markers.h. */
#include "model/markers.h"

#include <string.h>

#include "base/arena.h"
#include "base/intern.h"
#include "encode/signature.h"
#include "model/merged_streams.h"

static const char prefix[] = "rondo_";

/* One pass, because vocabularies have hundreds of functions and every reader of a trace calls this.
 * If several functions have the same name, the first one is used. */
struct rn_markers rn_markers_of(const struct rn_vocab *v)
{
	struct rn_markers m = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
	const struct {
		const char *name;
		uint64_t *number;
	} marker[] = { { "enter", &m.enter },
		       { "leave", &m.leave },
		       { "ended", &m.ended },
		       { "thread", &m.thread } };

	for (uint32_t i = 0; i < v->funcs; i++) {
		const char *name = v->func[i].name;

		if (name[0] != prefix[0] || strncmp(name, prefix, sizeof(prefix) - 1) != 0)
			continue;
		for (size_t k = 0; k < sizeof(marker) / sizeof(*marker); k++)
			if (*marker[k].number == UINT64_MAX &&
			    strcmp(name + sizeof(prefix) - 1, marker[k].name) == 0)
				*marker[k].number = v->func[i].number;
	}
	return m;
}

bool rn_markers_any(const struct rn_markers *m)
{
	return m->enter != UINT64_MAX || m->leave != UINT64_MAX || m->ended != UINT64_MAX ||
	       m->thread != UINT64_MAX;
}

enum rn_marker rn_marker_function(const struct rn_markers *m, uint64_t function)
{
	if (function == UINT64_MAX)
		return RN_MARKER_NONE;
	return function == m->enter    ? RN_MARKER_ENTER
	       : function == m->leave  ? RN_MARKER_LEAVE
	       : function == m->ended  ? RN_MARKER_ENDED
	       : function == m->thread ? RN_MARKER_THREAD
				       : RN_MARKER_NONE;
}

enum rn_marker rn_marker_of(const struct rn_markers *m, const void *sig, size_t len)
{
	return rn_marker_function(m, rn_call_function(sig, len));
}

static uint64_t sum_of_calls(const struct rn_markers *m, const struct rn_sigs *sigs,
			     const uint64_t *count)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < rn_sigs_count(sigs); i++) {
		size_t len;
		const void *sig = rn_sigs_get(sigs, i, &len);

		if (rn_marker_of(m, sig, len) == RN_MARKER_NONE &&
		    __builtin_add_overflow(sum, count[i], &sum))
			return UINT64_MAX;
	}
	return sum;
}

int rn_markers_calls(const struct rn_markers *m, const struct rn_streams *s,
		     struct rn_arena *scratch, uint64_t *calls)
{
	struct rn_arena_mark mark = rn_arena_mark(scratch);
	uint64_t *count;
	int rc = RN_E_NOMEM;

	if (!rn_markers_any(m)) {
		*calls = rn_streams_calls(s);
		return RN_OK;
	}
	count = rn_new(scratch, uint64_t, (size_t)rn_sigs_count(s->sigs) + 1);
	if (count)
		rc = rn_streams_counts(s, scratch, count);
	if (rc == RN_OK)
		*calls = sum_of_calls(m, s->sigs, count);
	rn_arena_rewind(scratch, mark);
	return rc;
}
