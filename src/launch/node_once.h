/*
 * node_once.h - the watchers of a node print a line once, where no part file can coordinate them.
 *
 * The first watcher that asks binds an abstract socket with the key in its name, and holds it until
 * it ends. Ranks of a run end at about the same time, so it waits a moment before that.
 */
#ifndef RN_LAUNCH_NODE_ONCE_H
#define RN_LAUNCH_NODE_ONCE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether no other watcher of this node holds the key. */
bool node_once(uint64_t key);

/* Waits for other watchers if this one holds a key. Called before the watcher ends. */
void node_once_wait(void);

#endif
