/* mem_location.c - converts addresses that are not, or not only, memory. */
#include "trace/mem_location.h"

#include "trace/handles.h"

static struct rn_place_words named(int64_t word)
{
	return (struct rn_place_words){ RN_RAW_CLASS_CONST | (uint64_t)word << 8, 0 };
}

static struct rn_place_words number(const void *p)
{
	return (struct rn_place_words){ RN_RAW_CLASS_INT, (uint64_t)(uintptr_t)p };
}

/* Displacements and attributes are integers or addresses; only the magnitude distinguishes them. */
static bool is_address(const void *p)
{
	return (uintptr_t)p >= (uintptr_t)1 << 40 && (intptr_t)p > 0;
}

/* Whether p was found not to be memory since the latest call was entered or left. An array may have
 * many such integers, and each query of the kernel takes microseconds. */
static bool is_in_gap(const struct rn_stream *t, uintptr_t p)
{
	const struct rn_mem_cache *c = &t->places;

	return p - c->gap_lo < c->gap_hi - c->gap_lo && t->gap_entered == t->entered &&
	       t->gap_left == t->left;
}

static struct rn_place_words number_or_memory(struct rn_stream *t, const void *p)
{
	struct rn_place_words words;

	if (!is_address(p) || is_in_gap(t, (uintptr_t)p))
		return number(p);
	words = rn_place_memory(t, p);
	if (words.head != RN_MEM_OTHER)
		return words;
	t->gap_entered = t->entered;
	t->gap_left = t->left;
	return number(p);
}

struct rn_place_words rn_place_special(struct rn_stream *t, enum rn_param_kind kind, const void *p)
{
	int64_t word = kind == RN_K_buffer || (kind >= RN_K_func && kind <= RN_K_convfn)
			       ? rn_constant(kind, (int64_t)(intptr_t)p)
			       : -1;

	if (word >= 0)
		return named(word);
	if (kind == RN_K_disp || kind == RN_K_attr)
		return number_or_memory(t, p);
	return p ? rn_place_memory(t, p) : named(RN_WORD_NULL);
}

void rn_place_given(uint32_t function, const void *p, size_t n)
{
	bool window = rn_mpi_protos[function].traits.comm != RN_NO_PARAM;

	if (p && n)
		rn_mem_region_add(p, n, window ? RN_MEM_WIN : RN_MEM_ALLOC);
}

void rn_place_win_ends(MPI_Win win)
{
	void *base = NULL, *value = NULL;
	int known = 0, flavour = MPI_WIN_FLAVOR_CREATE;

	if (win == MPI_WIN_NULL || !rn_handle_known(RN_K_win, (uint64_t)(uintptr_t)win))
		return;
	rn_real.MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &known);
	if (known)
		flavour = *(int *)value;
	if (flavour != MPI_WIN_FLAVOR_ALLOCATE && flavour != MPI_WIN_FLAVOR_SHARED)
		return;
	rn_real.MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &known);
	if (known && base)
		rn_mem_region_drop(base);
}
