/* err.c - see err.h. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int rn_err_set(struct rn_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return code;
}

/* "what: why" into err->text. A long `what` (a path) is cut, so that `why` can be read. */
static void join(struct rn_err *err, const char *fmt, va_list ap, const char *why)
{
	size_t room = sizeof(err->text) / 2, n = strlen(why) + 2;

	if (n < room)
		room = sizeof(err->text) - n;
	vsnprintf(err->text, room, fmt, ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, ": %s", why);
}

int rn_err_sys(struct rn_err *err, const char *fmt, ...)
{
	const char *why = strerror(errno);
	va_list ap;

	if (!err)
		return RN_E_SYS;
	err->code = RN_E_SYS;
	va_start(ap, fmt);
	join(err, fmt, ap, why);
	va_end(ap);
	return RN_E_SYS;
}

int rn_err_nomem(struct rn_err *err)
{
	return rn_err_set(err, RN_E_NOMEM, "out of memory");
}

int rn_err_prefix(struct rn_err *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;

	if (!err)
		return RN_E_ARG;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	join(err, fmt, ap, old);
	va_end(ap);
	return err->code;
}
