/* take_sites.h - encodes the call sites of signatures as a section, for tests. */
#ifndef RN_T_TAKE_SITES_H
#define RN_T_TAKE_SITES_H

#include "model/site_table.h"

/* Sets *out to the signatures with an id in place of each call stack. */
static inline int take_sites(struct rn_arena *mem, const struct rn_sigs *in,
			     const struct rn_vocab *vocab, const struct rn_sigs **out,
			     struct rn_buf *section)
{
	struct rn_site_tables t;
	struct rn_sites s;
	int rc = rn_site_tables_init(&t, mem);

	if (rc == RN_OK)
		rc = rn_site_tables_take(&t, mem, in, vocab, out);
	if (rc == RN_OK)
		rc = rn_site_tables_finish(&t, mem, &s);
	return rc == RN_OK ? rn_sites_encode(&s, section) : rc;
}

#endif
