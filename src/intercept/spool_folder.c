/* spool_folder.c - see spool_folder.h. */
#include "intercept/spool_folder.h"

#include "file/spill.h"
#include "file/spill_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* Mapping a file of another machine's is slow, or forgets what was not synced. */
static bool is_remote(const char *folder)
{
	static const uint64_t magic[] = {
		0x6969,     /* NFS */
		0x0bd00bd0, /* Lustre */
		0x47504653, /* GPFS */
		0x19830326, /* BeeGFS */
		0xaad7aaea, /* PanFS */
		0x20030528, /* OrangeFS */
		0x00c36400, /* Ceph */
		0xff534d42, /* CIFS */
		0xfe534d42, /* SMB2 */
		0x01021997, /* 9p */
		0x65735546, /* FUSE */
	};
	struct statfs fs;

	if (statfs(folder, &fs) < 0)
		return false;
	for (size_t i = 0; i < sizeof(magic) / sizeof(*magic); i++)
		if ((uint32_t)fs.f_type == magic[i])
			return true;
	return false;
}

/* Beside the trace, or where the user wants it. If that is another machine's, the file is in
 * memory. */
void rn_spool_folder_find(struct rn_spool_folder *f)
{
	const char *name = strrchr(rn_config.output, '/');
	int n = name ? (int)(name - rn_config.output) : 0;
	char beside[sizeof(rn_config.output)];

	name = name ? name + 1 : rn_config.output;
	snprintf(beside, sizeof(beside), "%.*s", n ? n : 1, rn_config.output);
	if (rn_config.spill[0])
		snprintf(beside, sizeof(beside), "%s", rn_config.spill);
	snprintf(f->path, sizeof(f->path), "%s/%s.part", beside, name);
	f->in_memory = !rn_config.spill[0] && is_remote(beside) &&
		       rn_spill_memory_folder(f->path, f->files, sizeof(f->files));
	if (!f->in_memory)
		memcpy(f->files, f->path, sizeof(f->files));
}

static void remove_files(const char *path)
{
	DIR *dir = opendir(path);

	for (struct dirent *e; dir && (e = readdir(dir));)
		unlinkat(dirfd(dir), e->d_name, 0); /* . and .. are refused */
	if (dir)
		closedir(dir);
}

static bool is_locked(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) < 0;
}

/* Does somebody wait for what is in the file, to put it together? */
static bool is_kept(const struct rn_spill_head *h)
{
	int fd = h->keeper[0] ? open(h->keeper, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	bool kept = fd >= 0 && is_locked(fd);

	if (fd >= 0)
		close(fd);
	return kept;
}

/* The processes of a run hold its files locked while they last. One without a head is just being
 * made. */
static bool is_over(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct rn_spill_head h;
	bool over = fd >= 0 && pread(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h) &&
		    !is_locked(fd) && memchr(h.keeper, 0, sizeof(h.keeper)) && !is_kept(&h);

	if (fd >= 0)
		close(fd);
	return over;
}

static void move_files(const char *from, const char *to)
{
	DIR *dir = opendir(from);
	char path[RN_SPOOL_PATH + 300];

	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (e->d_name[0] == '.' || !is_over(dirfd(dir), e->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", to, e->d_name);
		renameat(dirfd(dir), e->d_name, AT_FDCWD, path);
	}
	if (dir)
		closedir(dir);
}

static void set_aside(const char *folder, const char *old)
{
	if (access(folder, F_OK) < 0)
		return;
	remove_files(old);
	if (mkdir(old, 0777) == 0 || errno == EEXIST)
		move_files(folder, old);
	rmdir(old);
	rmdir(folder);
}

void rn_spool_set_aside(void)
{
	struct rn_spool_folder f;
	char old[sizeof(f.path) + 8], memory[sizeof(f.path)];

	rn_spool_folder_find(&f);
	snprintf(old, sizeof(old), "%.*s.old.part", (int)(strlen(f.path) - strlen(".part")),
		 f.path);
	set_aside(f.path, old);
	if (f.in_memory && rn_spill_memory_folder(old, memory, sizeof(memory)))
		set_aside(f.files, memory);
}
