/*
 * prog_library.c - Calls made by libraries: one that the program is linked with, and those named in
 * its arguments. They are loaded one after the other, each at the address of the previous one, and
 * finally the first one again at another address.
 */
#include "log.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

void talk(void);

/* Makes two calls of a library; returns the address at which it was loaded. */
static char *talk_by(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*by_library)(void) = lib ? (void (*)(void))dlsym(lib, "talk") : NULL;
	Dl_info here;

	EXPECT(by_library && dladdr((void *)by_library, &here));
	if (strstr(path, "binding"))
		log_off();
	by_library();
	by_library();
	log_on();
	EXPECT(dlclose(lib) == 0);
	return here.dli_fbase;
}

int main(int argc, char **argv)
{
	char *place = NULL, *first = NULL;

	begin();
	talk();
	for (int i = 1; i < argc; i++) {
		place = talk_by(argv[i]);
		first = first ? first : place;
		EXPECT(place == first);
	}
	if (argc > 1) {
		EXPECT(mmap(first, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == first);
		EXPECT(talk_by(argv[1]) != first);
	}
	end();
	return 0;
}
