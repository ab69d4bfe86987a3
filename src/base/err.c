/* err.c - see err.h. */
#include "base/budget.h"
#include "base/err.h"
#include "base/varint.h"

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

/* Writes "what: why" to err->text. A long `what` (a path) is truncated to keep `why` readable. */
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

#define MIB ((size_t)1 << 20)

/* Writes a size as "192 MiB" or "1.5 GiB". Rounds up to MiB. */
static void write_size(size_t bytes, char *out, size_t cap)
{
	size_t mib = bytes / MIB + (bytes % MIB != 0);

	if (mib < 1024)
		snprintf(out, cap, "%zu MiB", mib);
	else
		snprintf(out, cap, "%zu.%zu GiB", mib / 1024, mib % 1024 * 10 / 1024);
}

/* Suggests twice the known need, because the process stopped at the first allocation that exceeded
 * the limit. */
static int over_budget(struct rn_err *err, size_t needed)
{
	char have[32], need[32];

	write_size(rn_budget_limit(), have, sizeof(have));
	write_size(needed, need, sizeof(need));
	return rn_err_set(err, RN_E_NOMEM,
			  "needs at least %s of memory, more than the limit of %s; if you trust "
			  "this file: --max-memory %zuG",
			  need, have, needed / (512 * MIB) + 1);
}

int rn_err_nomem(struct rn_err *err)
{
	size_t needed = rn_budget_exceeded();

	return needed ? over_budget(err, needed) : rn_err_set(err, RN_E_NOMEM, "out of memory");
}

int rn_err_end(const struct rn_reader *in, struct rn_err *err)
{
	if (in->bad)
		return rn_err_set(err, RN_E_DATA, "cut off");
	return rn_left(in) ? rn_err_set(err, RN_E_DATA, "bytes left over") : RN_OK;
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
