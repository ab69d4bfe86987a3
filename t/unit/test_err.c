/*
 * test_err.c - an error is one line with the failed operation and the reason. The reason is never
 * truncated, and NULL is accepted.
 */
#include "base/err.h"
#include "tap.h"

#include <errno.h>
#include <string.h>

static void test_set(void)
{
	struct rn_err err = { 0 };

	CHECK(rn_err_set(&err, RN_E_DATA, "section %d is %s", 3, "cut off") == RN_E_DATA);
	CHECK(err.code == RN_E_DATA);
	CHECK(strcmp(err.text, "section 3 is cut off") == 0);
	CHECK(rn_err_nomem(&err) == RN_E_NOMEM && err.code == RN_E_NOMEM);
	CHECK(strcmp(err.text, "out of memory") == 0);
}

static void test_sys(void)
{
	struct rn_err err = { 0 };

	errno = ENOSPC;
	CHECK(rn_err_sys(&err, "write %s", "x") == RN_E_SYS);
	CHECK(err.code == RN_E_SYS);
	CHECK(strcmp(err.text, "write x: No space left on device") == 0);
}

static void test_prefix(void)
{
	struct rn_err err = { 0 };

	rn_err_set(&err, RN_E_DATA, "bad checksum");
	CHECK(rn_err_prefix(&err, "section %s", "rules") == RN_E_DATA);
	CHECK(rn_err_prefix(&err, "%s", "a.rondo") == RN_E_DATA);
	CHECK(strcmp(err.text, "a.rondo: section rules: bad checksum") == 0);
}

/* A path may be longer than the error text. The reason must still be readable. */
static void test_long(void)
{
	struct rn_err err = { 0 };
	char path[4096];

	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	rn_err_set(&err, RN_E_ARG, "%s", path);
	CHECK(strlen(err.text) == sizeof(err.text) - 1);
	errno = ENOENT;
	rn_err_sys(&err, "open %s", path);
	CHECK(strlen(err.text) == sizeof(err.text) - 1);
	CHECK(strstr(err.text, "ppp: No such file or directory") != NULL);
	rn_err_set(&err, RN_E_DATA, "bad checksum");
	rn_err_prefix(&err, "%s", path);
	CHECK(strstr(err.text, "ppp: bad checksum") != NULL);
	for (int i = 0; i < 10; i++)
		rn_err_prefix(&err, "%s", path);
	CHECK(strlen(err.text) == sizeof(err.text) - 1);
}

static void test_null(void)
{
	CHECK(rn_err_set(NULL, RN_E_DATA, "x") == RN_E_DATA);
	CHECK(rn_err_sys(NULL, "x") == RN_E_SYS);
	CHECK(rn_err_nomem(NULL) == RN_E_NOMEM);
	CHECK(rn_err_prefix(NULL, "x") < 0);
}

int main(void)
{
	test_set();
	ok("set fills code and text");
	test_sys();
	ok("sys adds the system's reason");
	test_prefix();
	ok("prefixes stack up in front");
	test_long();
	ok("long texts are cut, reasons are not");
	test_null();
	ok("without a place for the words the code is passed on");
	return tap_done();
}
