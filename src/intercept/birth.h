/*
 * birth.h - which thread this is, in a way that is the same in the next run.
 *
 * Streams are numbered as threads come to call MPI, which is a matter of chance. What is not, in a
 * program that is determined otherwise, is who has created a thread, and as the how manieth: so
 * pthread_create is ours, and counts. It does so only where the order of events is recorded or
 * replayed.
 */
#ifndef RN_INTERCEPT_BIRTH_H
#define RN_INTERCEPT_BIRTH_H

#include <stdint.h>

/* 0: the program's first thread, or one that was not created by pthread_create. */
int64_t rn_birth(void);

#endif
