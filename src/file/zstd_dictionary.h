/*
 * zstd_dictionary.h - the compression dictionary: data that most traces repeat. It halves the size
 * of small files.
 *
 * Dictionary 1 is the sections `strings` and `functions` of the MPI vocabulary (api/), as written
 * for its first 319 keywords and 682 functions, followed by a section `meta`. It is part of the
 * format. These rows never change; a test verifies their hash (doc/format.md, 1.3). New functions
 * are appended after them.
 */
#ifndef RN_FILE_ZSTD_DICTIONARY_H
#define RN_FILE_ZSTD_DICTIONARY_H

#include "base/compress.h"

/* Returns the dictionary. It is created by the first call and never freed. Without memory its bytes
 * are NULL. */
struct rn_pack_dict rn_dictionary(void);

#endif
