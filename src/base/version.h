/* version.h - the one place where Rondo's version stands. */
#ifndef RN_BASE_VERSION_H
#define RN_BASE_VERSION_H

#define RN_VERSION "0.1.0"

#endif
