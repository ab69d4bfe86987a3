/*
 * demangle.h - C++ names of functions as they are in the source: "solve(int)" for "_Z5solvei".
 *
 * The demangler is that of the C++ runtime (__cxa_demangle of libstdc++.so.6, loaded when it is
 * first needed). A machine without it shows mangled names.
 *
 * Symbol names are untrusted: one of 100 bytes can stand for a name of terabytes. The demangler
 * therefore runs in a process of its own, which is limited in time and memory. When it exceeds a
 * limit it ends, all further names stay as they are, and a line on standard error says so.
 */
#ifndef RN_CMD_DEMANGLE_H
#define RN_CMD_DEMANGLE_H

/* The demangled name, for free(3); NULL if the name is not one of C++ or cannot be demangled. */
char *demangle(const char *symbol);

/* Ends the process of the demangler, if there is one. */
void demangle_end(void);

#endif
