/*
 * loader.h - the dynamic linker's own dlsym, behind ours.
 */
#ifndef RN_INTERCEPT_LOADER_H
#define RN_INTERCEPT_LOADER_H

typedef void *rn_dlsym(void *restrict handle, const char *restrict name);

rn_dlsym *rn_loader_dlsym(void);

#endif
