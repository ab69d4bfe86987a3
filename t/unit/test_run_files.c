/* test_run_files.c - names of traces, private directories and status files. */
#include "base/private_dir.h"
#include "base/status_file.h"
#include "file/trace_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static bool is_named(const char *pattern, unsigned number, const char *wanted)
{
	char name[64];

	return rn_trace_name(pattern, "a/b", number, name, sizeof(name)) &&
	       strcmp(name, wanted) == 0;
}

static void test_names(void)
{
	char small[8];

	setenv("SLURM_JOB_ID", "42", 1);
	CHECK(is_named("/%p/ring.rondo", 1, "/%p/ring.rondo"));
	CHECK(is_named("/d/ring.rondo", 2, "/d/ring.2.rondo"));
	CHECK(is_named("/d/ring", 3, "/d/ring.3"));
	CHECK(is_named("/d/.rondo", 2, "/d/.2.rondo"));
	CHECK(is_named("/d/%p-%j-%n-%%.rondo", 4, "/d/a_b-42-4-%.rondo"));
	CHECK(!rn_trace_name("/d/long.rondo", "p", 1, small, sizeof(small)));
	CHECK(rn_trace_name_error("/%x/%p.%%x") == NULL);
	CHECK(!strcmp(rn_trace_name_error("/d/%%%x.rondo"), "%x.rondo"));
	CHECK(!strcmp(rn_trace_name_error("/d/x%"), "%"));
	CHECK(rn_trace_name_has("a%n", 'n') && !rn_trace_name_has("%n/a%%n", 'n'));
}

static void make_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void test_files(void)
{
	struct timespec since = { 1, 0 };
	struct rn_trace_seen seen = rn_trace_see("file");

	CHECK(!seen.exists && rn_trace_is_same("file", &seen) && rn_trace_is_free("file", &since));
	make_file("file", "");
	CHECK(!rn_trace_is_same("file", &seen));
	CHECK(rn_trace_is_free("file", NULL) && !rn_trace_is_free("file", &since));
	seen = rn_trace_see("file");
	CHECK(seen.exists && rn_trace_is_same("file", &seen));
	make_file("file", "not a trace");
	CHECK(!rn_trace_is_free("file", NULL));
	CHECK(symlink("none", "link") == 0 && !rn_trace_is_free("link", NULL));
	unlink("link");
	unlink("file");
}

static int open_and_close(const char *path)
{
	int fd = rn_private_dir_open(path);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static void test_directories(void)
{
	struct stat st;
	int dir, fd;

	umask(0);
	CHECK((dir = rn_private_dir_make("dir")) >= 0);
	CHECK(fstat(dir, &st) == 0 && (st.st_mode & 07777) == 0700);
	CHECK((fd = rn_private_file_create(dir, "file")) >= 0);
	CHECK(fstat(fd, &st) == 0 && (st.st_mode & 07777) == 0600);
	close(fd);
	CHECK(rn_private_file_create(dir, "file") < 0 && errno == EEXIST);
	CHECK(symlinkat("file", dir, "link") == 0);
	CHECK(rn_private_file_open(dir, "link", O_RDWR) < 0 && errno == ELOOP);
	CHECK(mkfifoat(dir, "fifo", 0600) == 0);
	CHECK(rn_private_file_open(dir, "fifo", O_RDONLY) < 0 && errno == EPERM);
	CHECK(symlink("dir", "link") == 0 && open_and_close("link") == ENOTDIR);
	CHECK(rn_private_dir_make("link") < 0);
	rn_private_dir_remove("dir");
	CHECK(open_and_close("dir") == 0);
	CHECK(fchmod(dir, 0710) == 0 && open_and_close("dir") == EPERM);
	CHECK(rn_private_dir_make("dir") < 0 && errno == EPERM);
	unlinkat(dir, "file", 0);
	unlinkat(dir, "link", 0);
	unlinkat(dir, "fifo", 0);
	rn_private_dir_remove("dir");
	CHECK(stat("dir", &st) == 0);
	fchmod(dir, 0700);
	rn_private_dir_remove("dir");
	CHECK(stat("dir", &st) < 0);
	close(dir);
	unlink("link");
}

static int open_status(const char *path)
{
	int fd = rn_status_open(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void test_status(const char *here)
{
	char path[256], memory[64];
	struct timespec since, later;
	int dir = rn_private_dir_make("run"), fd = rn_status_create(dir);

	snprintf(path, sizeof(path), "%s/run/status", here);
	CHECK(fd >= 0 && open_status(path) && !rn_status_is_watched(path));
	CHECK(rn_status_since(path, &since));
	CHECK(linkat(dir, "status", dir, "other", 0) == 0 && !open_status(path));
	unlinkat(dir, "other", 0);
	CHECK(rn_status_since(path, &later) && later.tv_sec == since.tv_sec &&
	      later.tv_nsec == since.tv_nsec);
	CHECK(fchmod(dir, 0755) == 0 && !open_status(path));
	rn_status_remove(path);
	fchmod(dir, 0700);
	CHECK(open_status(path) && ftruncate(fd, 0) == 0 && !open_status(path));
	rn_status_remove(path);
	CHECK(faccessat(dir, "status", F_OK, 0) == 0);
	CHECK(pwrite(fd, RN_STATUS_HEADER, strlen(RN_STATUS_HEADER), 0) > 0);
	rn_status_remove(path);
	CHECK(faccessat(dir, "status", F_OK, 0) < 0 && !open_status(path));
	CHECK(!open_status("/etc/passwd") && !open_status("status") && !open_status(""));
	close(fd);
	close(dir);
	rn_private_dir_remove("run");

	CHECK((fd = rn_status_create_memory()) >= 0);
	snprintf(memory, sizeof(memory), "/proc/%ld/fd/%d", (long)getpid(), fd);
	CHECK(rn_status_is_watched(memory) && open_status(memory));
	CHECK(!rn_status_is_watched("/proc/self/fd/1") && !rn_status_is_watched("/proc/1/fd/"));
	snprintf(memory, sizeof(memory), "/proc/%ld/fd/0", (long)getpid());
	CHECK(!open_status(memory));
	close(fd);
}

int main(void)
{
	char here[] = "/tmp/rondo-files.XXXXXX";

	if (!mkdtemp(here) || chdir(here) < 0)
		return 1;
	test_names();
	ok("patterns become names, and names are numbered");
	test_files();
	ok("a trace may replace an older trace and nothing else");
	test_directories();
	ok("private directories are created, opened and removed; other directories are refused");
	test_status(here);
	ok("only status files of Rondo are opened and removed");
	rmdir(here);
	return tap_done();
}
