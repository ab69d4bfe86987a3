/* version.h - Rondo's version number. */
#ifndef RN_BASE_VERSION_H
#define RN_BASE_VERSION_H

#define RN_VERSION "0.1.0"

#endif
