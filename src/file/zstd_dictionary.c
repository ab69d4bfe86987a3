/* zstd_dictionary.c - see zstd_dictionary.h. */
#include "file/zstd_dictionary.h"

#include <pthread.h>

#include "base/buf.h"
#include "encode/call_words.h"
#include "model/payload.h"

/* Size of the vocabulary when the dictionary became part of the format. */
#define FUNCS 682u
#define WORDS 319u

static struct rn_pack_dict dictionary;

static void make(void)
{
	static const struct rn_meta_entry usual[] = {
		{ "complete", "yes" }, { "memory", "370" },   { "mpi", "Open MPI 4.1.4" },
		{ "program", "" },     { "time", "summary" }, { "tracer_s", "0.00" },
		{ "wall_s", "0.0" },
	};
	struct rn_vocab v = rn_mpi_vocab;
	struct rn_buf bytes = { 0 };

	v.funcs = v.funcs < FUNCS ? v.funcs : FUNCS;
	v.words = v.words < WORDS ? v.words : WORDS;
	rn_words_encode(&v, &bytes);
	rn_funcs_encode(&v, &bytes);
	rn_meta_encode(&(struct rn_meta){ usual, sizeof(usual) / sizeof(usual[0]) }, &bytes);
	if (rn_buf_status(&bytes) < 0) {
		rn_buf_free(&bytes);
		return;
	}
	dictionary = (struct rn_pack_dict){ .bytes = bytes.data, .len = bytes.len };
	rn_pack_prepare(&dictionary);
}

struct rn_pack_dict rn_dictionary(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make);
	return dictionary;
}
