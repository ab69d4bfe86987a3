/*
 * whole.h - checks that a decoder reads all bytes of its input.
 */
#ifndef T_UNIT_WHOLE_H
#define T_UNIT_WHOLE_H

#include "base/err.h"
#include "base/varint.h"

/* The result of `call`, which reads from &whole; if that is RN_OK, of the check for the end of
 * input. */
#define WHOLE(bytes, len, err, call)                                      \
	({                                                                \
		struct rn_reader whole = rn_reader((bytes), (len));       \
		int whole_rc = (call);                                    \
                                                                          \
		whole_rc == RN_OK ? rn_err_end(&whole, (err)) : whole_rc; \
	})

#endif
