/* default_acl.c - DIR UID: sets a default ACL on a directory that gives a user all rights to files
 * created in it. Exit code 1: the file system has no ACLs. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/xattr.h>

struct entry {
	uint16_t tag, perm;
	uint32_t id;
};

int main(int argc, char **argv)
{
	struct {
		uint32_t version;
		struct entry entry[5];
	} acl = { 2,
		  { { 0x01, 7, UINT32_MAX }, /* owner */
		    { 0x02, 7, argc > 2 ? (uint32_t)atoi(argv[2]) : 0 },
		    { 0x04, 7, UINT32_MAX },     /* group */
		    { 0x10, 7, UINT32_MAX },     /* mask */
		    { 0x20, 7, UINT32_MAX } } }; /* others */

	return argc < 3 || setxattr(argv[1], "system.posix_acl_default", &acl, sizeof(acl), 0) < 0;
}
