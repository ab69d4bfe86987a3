/*
 * message.h - prints one-line messages to the standard error that the process started with.
 *
 * A program may close standard error and open another file under its number. Messages are not
 * written to such a file. errno does not change.
 */
#ifndef RN_RUNTIME_MESSAGE_H
#define RN_RUNTIME_MESSAGE_H

/* Stores which file standard error refers to. Nothing is printed before this call. */
void rn_message_start(void);

/* Prints "rondo: TEXT" as one line. Longer texts are truncated. */
void rn_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
