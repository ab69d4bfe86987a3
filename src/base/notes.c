/* notes.c - see notes.h. */
#include "base/notes.h"

#include <stdarg.h>
#include <stdio.h>

static void put(struct rn_buf *b, const char *fmt, va_list ap)
{
	unsigned char *room;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	room = n < 0 ? NULL : rn_buf_reserve(b, (size_t)n + 1);
	if (!room)
		return;
	vsnprintf((char *)room, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
}

void rn_putf(struct rn_buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(b, fmt, ap);
	va_end(ap);
}

void rn_note(struct rn_buf *notes, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(notes, fmt, ap);
	va_end(ap);
	rn_buf_byte(notes, 0);
}
