/*
 * setting_compare.h - compares the settings of a replay with those of the recording.
 */
#ifndef RN_INTERCEPT_SETTING_COMPARE_H
#define RN_INTERCEPT_SETTING_COMPARE_H

#include <stdbool.h>

/* On the first rank: prints a line for each kind of difference. */
void rn_setting_compare(void);

/* On all ranks: whether the ranks are on the recorded nodes. `first`: no rank has reported it yet.
 */
void rn_setting_compare_node(bool (*first)(void));

#endif
