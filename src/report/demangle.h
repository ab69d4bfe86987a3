/*
 * demangle.h - demangles C++ function names: "solve(int)" for "_Z5solvei".
 *
 * The demangler is __cxa_demangle of libstdc++.so.6, which is loaded on first use. Without this
 * library, names remain mangled.
 *
 * Symbol names are untrusted: a symbol of 100 bytes can expand to a name of terabytes. The
 * demangler therefore runs in a separate process with limits on time and memory. When it exceeds a
 * limit, the process ends, all further names remain mangled.
 */
#ifndef RN_REPORT_DEMANGLE_H
#define RN_REPORT_DEMANGLE_H

struct rn_buf;

/* Returns the demangled name, for free(3), or NULL if it is not a C++ name or cannot be demangled.
 * The first failure of the demangler is noted (base/notes.h). */
char *demangle(const char *symbol, struct rn_buf *notes);

/* Ends the demangler process, if it exists. */
void demangle_end(void);

#endif
