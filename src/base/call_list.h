/*
 * call_list.h - lists of functions, as in --call: 'MPI_I*,-MPI_Test*'.
 *
 * A name may contain the wildcards of fnmatch(3). A name that begins with - excludes functions. The
 * last name that matches decides. A list that begins with an exclusion starts with all functions.
 */
#ifndef RN_BASE_CALL_LIST_H
#define RN_BASE_CALL_LIST_H

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Whether the list selects a function. An empty list selects all functions. */
static inline bool rn_call_list_selects(const char *list, const char *function)
{
	bool selects = *list == '-' || !*list;

	while (*list) {
		bool no = *list == '-';
		size_t n = strcspn(list += no, ",");
		char name[256];

		snprintf(name, sizeof(name), "%.*s", (int)n, list);
		if (fnmatch(name, function, 0) == 0)
			selects = !no;
		list += n + (list[n] == ',');
	}
	return selects;
}

#endif
