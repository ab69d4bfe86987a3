/*
 * zstd_dictionary.h - what most traces say again, known beforehand: it makes small files half as
 * large.
 *
 * Dictionary 1 is the sections `strings` and `functions` of the vocabulary of MPI (api/), as they
 * are written for its first 319 words and 682 functions, and behind them a section
 * `meta`. It is part of the format: these rows never change, which a test sees to by its hash
 * (doc/format.md, 1.3); new functions come behind them.
 */
#ifndef RN_FILE_ZSTD_DICTIONARY_H
#define RN_FILE_ZSTD_DICTIONARY_H

#include "base/compress.h"

/* Made when it is first asked for, kept until the process ends. Without memory its bytes are NULL.
 */
struct rn_pack_dict rn_dictionary(void);

#endif
