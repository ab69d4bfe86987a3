/* part_times.c - see part_times.h. */
#include "file/part_times.h"

#include "base/arena.h"
#include "encode/sigs.h"
#include "encode/timing.h"
#include "merge/merged.h"

int rn_part_times_load(struct rn_arena *mem, const void *bytes, size_t len,
		       const struct rn_sigs *sigs, struct rn_times *out, struct rn_err *err)
{
	int rc = rn_times_load(mem, bytes, len, RN_TIME_SCALE_ONE, out, err);

	if (rc == RN_OK && out->sig.n > rn_sigs_count(sigs))
		rc = rn_err_set(err, RN_E_DATA, "times of signatures that do not exist");
	return rc;
}

int rn_part_times_add(struct rn_times *times, struct rn_sigs *to, const struct rn_times *its,
		      const struct rn_sigs *from, struct rn_arena *scratch)
{
	uint32_t n = rn_sigs_count(from);
	uint32_t *map = rn_new(scratch, uint32_t, (size_t)n + 1);
	int rc = map ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < n && rc == RN_OK; i++)
		rc = rn_sigs_copy(to, from, i, &map[i]);
	return rc == RN_OK ? rn_times_merge(times, its, map) : rc;
}

int rn_part_times_finish(const struct rn_times *times, const struct rn_sigs *sigs,
			 const struct rn_streams *s, struct rn_arena *scratch, struct rn_buf *out)
{
	uint32_t n = rn_sigs_count(s->sigs), old = rn_sigs_count(sigs);
	uint32_t *map = rn_new(scratch, uint32_t, (size_t)old + 1);
	uint64_t *count = rn_new(scratch, uint64_t, (size_t)n + 1);
	struct rn_times finished;
	int rc;

	if (!map || !count)
		return RN_E_NOMEM;
	rn_times_init(&finished, scratch, RN_TIME_SCALE_ONE);
	for (uint32_t i = 0; i < old; i++) {
		uint32_t id;
		size_t len;
		const void *sig = rn_sigs_get(sigs, i, &len);

		map[i] = rn_sigs_find(s->sigs, sig, len, &id) ? id : n; /* n: not used any more */
	}
	rc = rn_times_merge(&finished, times, map);
	if (rc == RN_OK)
		rc = rn_streams_counts(s, scratch, count);
	return rc == RN_OK ? rn_times_encode(&finished, count, n, out) : rc;
}
