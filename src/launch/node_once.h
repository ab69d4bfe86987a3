/*
 * node_once.h - elects one watcher of a node to print a line, if no journal can coordinate them.
 *
 * The first watcher that requests a key binds an abstract socket with the key in its name, and
 * holds it until the watcher ends. The ranks of a run end at about the same time, so this watcher
 * waits briefly before it ends.
 */
#ifndef RN_LAUNCH_NODE_ONCE_H
#define RN_LAUNCH_NODE_ONCE_H

#include <stdbool.h>
#include <stdint.h>

/* Acquires a key. Returns false if another watcher of this node holds it. */
bool node_once(uint64_t key);

/* Waits if this watcher holds a key, so that later watchers find it taken. Called before the
 * watcher ends. */
void node_once_wait(void);

#endif
