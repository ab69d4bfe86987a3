/*
 * loaded_object.h - what a loaded object (the program, a library) is to MPI.
 *
 * Told by what it defines, not by its name, which anybody may give to a library of his own.
 * Everything is read from the tables that the dynamic linker uses: no memory, no lock of ours, but
 * slow; who asks often remembers the answer.
 */
#ifndef RN_PRELOAD_LOADED_OBJECT_H
#define RN_PRELOAD_LOADED_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

struct link_map;

enum rn_object_kind {
	RN_OBJECT_PROGRAM, /* the program, or any library of its */
	RN_OBJECT_TRACER,  /* this library */
	RN_OBJECT_MPI,     /* has the real functions, or is a component that MPI loads */
	RN_OBJECT_FORTRAN, /* MPI's bindings for a language */
	RN_OBJECT_CXX,
};

/* The object that an address is in, NULL for none (code that was made at run time). */
const struct link_map *rn_object_at(uintptr_t address);
const struct link_map *rn_object_ours(void);

enum rn_object_kind rn_object_kind(const struct link_map *object);

/* A symbol that it has for others, or NULL. */
void *rn_object_symbol(const struct link_map *object, const char *name);
/* The first object in load order after `object` that defines the symbol, or NULL. If `object` is
 * NULL, all objects are searched. Unlike dlsym, this function does not affect dlerror. */
const struct link_map *rn_object_next(const struct link_map *object, const char *name);
/* Does it ask others for this symbol? */
bool rn_object_imports(const struct link_map *object, const char *name);

#endif
