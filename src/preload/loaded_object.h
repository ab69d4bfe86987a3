/*
 * loaded_object.h - determines the role of a loaded object (the program, a library) with respect to
 * MPI.
 *
 * The role is derived from the symbols that the object defines and not from its name, because any
 * library can have the name of another. All data is read from the tables of the dynamic linker.
 *
 * Cost: allocates no memory and acquires no lock of the tracer, but is slow; frequent callers cache
 * the result.
 */
#ifndef RN_PRELOAD_LOADED_OBJECT_H
#define RN_PRELOAD_LOADED_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

struct link_map;

enum rn_object_kind {
	RN_OBJECT_PROGRAM, /* the program, or one of its libraries */
	RN_OBJECT_TRACER,  /* this library */
	RN_OBJECT_MPI,     /* defines the MPI functions, or is a component that MPI loads */
	RN_OBJECT_FORTRAN, /* the Fortran bindings of MPI */
	RN_OBJECT_CXX,
};

/* Returns the object that contains the address. NULL for an address outside all objects (code
 * generated at run time). */
const struct link_map *rn_object_at(uintptr_t address);
const struct link_map *rn_object_ours(void);

enum rn_object_kind rn_object_kind(const struct link_map *object);

/* Returns the address of a symbol that the object exports, or NULL. */
void *rn_object_symbol(const struct link_map *object, const char *name);
/* The first object in load order after `object` that defines the symbol, or NULL. If `object` is
 * NULL, all objects are searched. Unlike dlsym, this function does not affect dlerror. */
const struct link_map *rn_object_next(const struct link_map *object, const char *name);
/* Whether the object imports this symbol. */
bool rn_object_imports(const struct link_map *object, const char *name);

#endif
