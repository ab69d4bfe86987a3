/* journal_dir.c - see journal_dir.h. */
#include "journal/journal_dir.h"

#include "base/private_dir.h"
#include "journal/journal_copy.h"
#include "journal/journal_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* Whether the directory is on another machine. Mapping a remote file is slow, or loses data that
 * was not synchronized. */
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

/* The directory is beside the trace, or in the directory that the user chose. If the trace is on
 * another machine and the user chose no directory, the files are in memory. */
void rn_journal_folder_find(struct rn_journal_folder *f, const char *output, const char *in)
{
	const char *name = strrchr(output, '/');
	int n = name ? (int)(name - output) : 0;
	char beside[4096];

	name = name ? name + 1 : output;
	snprintf(beside, sizeof(beside), "%.*s", n ? n : 1, output);
	if (in[0])
		snprintf(beside, sizeof(beside), "%s", in);
	snprintf(f->path, sizeof(f->path), "%s/%s.part", beside, name);
	f->in_memory = !in[0] && is_remote(beside) &&
		       rn_spill_memory_folder(f->path, f->files, sizeof(f->files));
	if (!f->in_memory)
		memcpy(f->files, f->path, sizeof(f->files));
}

bool rn_journal_is_locked(int dir, const char *name)
{
	int fd = rn_private_file_open(dir, name, O_RDONLY);
	bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return locked;
}

/* Whether a running process of any run uses the directory. */
static bool is_used(int dir)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy >= 0 ? fdopendir(copy) : NULL;
	bool used = false;

	for (struct dirent *e; list && !used && (e = readdir(list));)
		used = rn_spill_is_name(e->d_name) && rn_journal_is_locked(dir, e->d_name);
	if (list)
		closedir(list);
	else if (copy >= 0)
		close(copy);
	return used;
}

/* Whether rn_private_dir_make failed with this error because the name is in use. mkdir(2) has the
 * same errors for the directory above it. */
static bool is_taken(const char *path, int error)
{
	struct stat st;

	return (error == EPERM || error == ELOOP || error == ENOTDIR) && lstat(path, &st) == 0;
}

/* Whether the name is in use by something that is not a private directory. */
static bool is_foreign(const char *path)
{
	int dir = rn_private_dir_open(path);

	if (dir >= 0)
		close(dir);
	return dir < 0 && errno != ENOENT;
}

int rn_journal_folder_make(const struct rn_journal_folder *f)
{
	int dir = rn_private_dir_make(f->files);

	if (dir < 0)
		return errno;
	close(dir);
	return 0;
}

int rn_journal_folder_lock(const struct rn_journal_folder *f, int *lock)
{
	int dir, error;

	*lock = -1;
	if (f->in_memory && is_foreign(f->path))
		return EBUSY;
	dir = rn_private_dir_make(f->files);
	error = errno;
	if (dir < 0)
		return is_taken(f->files, error) ? EBUSY : error;
	flock(dir, LOCK_EX);
	if (is_used(dir)) {
		close(dir);
		return EBUSY;
	}
	*lock = dir;
	return 0;
}

void rn_journal_folder_remove(const struct rn_journal_folder *f)
{
	rn_private_dir_remove(f->files);
	if (f->in_memory)
		rn_private_dir_remove(f->path);
}
