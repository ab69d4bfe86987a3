/* birth.c - see birth.h. */
#include "intercept/birth.h"

#include "intercept/loader.h"
#include "intercept/order.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CHILDREN 4096 /* of a thread, before numbers may be those of others' */

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* What a thread is to begin with. */
struct child {
	void *(*start)(void *);
	void *arg;
	int64_t birth;
};

static _Thread_local int64_t birth __attribute__((tls_model("initial-exec")));
static _Thread_local int64_t children __attribute__((tls_model("initial-exec")));

int64_t rn_birth(void)
{
	return birth;
}

static void *begin(void *arg)
{
	struct child c = *(struct child *)arg;

	free(arg);
	birth = c.birth;
	return c.start(c.arg);
}

static create_fn *real_create(void)
{
	static create_fn *create; /* looked up once; by several threads with one result */
	void *f;

	if (!create) {
		f = rn_loader_dlsym()(RTLD_NEXT, "pthread_create");
		memcpy(&create, &f, sizeof(f));
	}
	return create;
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
							  const pthread_attr_t *attr,
							  void *(*start)(void *), void *arg)
{
	int saved = errno, rc;
	struct child *c = rn_order_mode == RN_ORDER_OFF ? NULL : malloc(sizeof(*c));

	errno = saved;
	if (!c)
		return real_create()(thread, attr, start, arg);
	*c = (struct child){ start, arg, birth * MOST_CHILDREN + ++children };
	rc = real_create()(thread, attr, begin, c);
	if (rc != 0) {
		children--;
		free(c);
	}
	return rc;
}
