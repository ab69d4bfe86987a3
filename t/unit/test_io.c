/*
 * test_io.c - a file is replaced completely or not at all, only regular files are replaced, and no
 * operation blocks forever.
 *
 * Each group runs in a new directory, which is empty again before the next group. entries()
 * therefore detects a temporary file that remains after a failure.
 */
#include "base/io.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/rondo-test-io.XXXXXX";

/* Returns the number of names in the directory. Removes them if `remove_them`. */
static int entries(bool remove_them)
{
	DIR *d = opendir(".");
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d)) != NULL) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		n++;
		if (remove_them)
			remove(e->d_name);
	}
	closedir(d);
	return n;
}

static void group(const char *name)
{
	ok("%s", name);
	entries(true);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static bool holds(const char *path, const void *want, size_t n)
{
	struct rn_buf b = { 0 };
	bool good = rn_io_read(path, &b, NULL) == RN_OK && b.len == n &&
		    (n == 0 || memcmp(b.data, want, n) == 0);

	rn_buf_free(&b);
	return good;
}

static bool holds_text(const char *path, const char *want)
{
	return holds(path, want, strlen(want));
}

static int replace(const char *path, const char *text, struct rn_err *err)
{
	return rn_io_replace(path, text, strlen(text), err);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 ? st.st_mode : 0;
}

static void test_create(void)
{
	umask(027);
	CHECK(replace("new", "hello", NULL) == RN_OK);
	CHECK(holds_text("new", "hello"));
	CHECK(mode_of("new") == (S_IFREG | 0640));
	CHECK(umask(022) == 027); /* the mask is unchanged */
	CHECK(rn_io_replace("empty", NULL, 0, NULL) == RN_OK);
	CHECK(holds("empty", "", 0));
	CHECK(mode_of("empty") == (S_IFREG | 0644));
	CHECK(entries(false) == 2);
}

/* A process that has the old file open or linked under another name still reads all of it. */
static void test_replace(void)
{
	char old[16] = { 0 };
	int fd;

	put("file", "old");
	chmod("file", 0604);
	fd = open("file", O_RDONLY);
	CHECK(link("file", "other") == 0);
	CHECK(replace("file", "the new text", NULL) == RN_OK);
	CHECK(holds_text("file", "the new text"));
	CHECK(holds_text("other", "old"));
	CHECK(read(fd, old, sizeof(old)) == 3 && !strcmp(old, "old"));
	CHECK(mode_of("file") == (S_IFREG | 0604));
	CHECK(entries(false) == 2);
	close(fd);
}

static void refused(const char *path)
{
	mode_t before = mode_of(path);
	int n = entries(false);
	struct rn_err err = { 0 };

	CHECK(replace(path, "x", &err) == RN_E_ARG && err.code == RN_E_ARG);
	if (!CHECK(strstr(err.text, path) && strstr(err.text, "not a regular file")))
		diag("%s: %s", path, err.text);
	CHECK(mode_of(path) == before);
	CHECK(entries(false) == n);
}

static bool make_socket(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bool made;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	made = bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
	close(fd);
	return made;
}

static void test_long_name(void)
{
	char name[256];

	memset(name, 'n', 255);
	name[255] = 0;
	CHECK(rn_io_replace(name, "x", 1, NULL) == RN_OK);
	CHECK(rn_io_replace(name, "y", 1, NULL) == RN_OK);
	CHECK(unlink(name) == 0);
}

static void test_not_regular(void)
{
	char to[16] = { 0 };

	put("file", "old");
	CHECK(symlink("file", "link") == 0);
	CHECK(symlink("nowhere", "dangling") == 0);
	CHECK(mkdir("dir", 0755) == 0);
	CHECK(symlink("dir", "dirlink") == 0);
	CHECK(mkfifo("fifo", 0644) == 0);
	CHECK(make_socket("socket"));
	refused("link");
	refused("dangling");
	refused("dir");
	refused("dir/");
	refused("dirlink");
	refused("dirlink/");
	refused("fifo");
	refused("socket");
	CHECK(holds_text("file", "old"));
	CHECK(readlink("link", to, sizeof(to)) == 4 && !strcmp(to, "file"));
	CHECK(access("nowhere", F_OK) < 0);
}

/* A device node with the numbers of /dev/null, so that a failure does not damage /dev/null
 * itself. */
static void test_device(void)
{
	if (mknod("null", S_IFCHR | 0666, makedev(1, 3)) < 0) {
		skip("a device is not replaced", "no permission to make one");
		return;
	}
	refused("null");
	group("a device is not replaced");
}

/* A write fails halfway, as on a full disk. */
static void test_full(void)
{
	static char big[1 << 20];
	struct rlimit old, small = { 10000, 10000 };
	struct rn_err err = { 0 };

	put("file", "old");
	chmod("file", 0600);
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	CHECK(rn_io_replace("file", big, sizeof(big), &err) == RN_E_SYS);
	CHECK(strstr(err.text, "write") && strstr(err.text, "File too large"));
	CHECK(rn_io_replace("new", big, sizeof(big), NULL) == RN_E_SYS);
	CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
	CHECK(holds_text("file", "old"));
	CHECK(mode_of("file") == (S_IFREG | 0600));
	CHECK(mode_of("new") == 0);
	CHECK(entries(false) == 1);
}

static void test_no_folder(void)
{
	struct rn_err err = { 0 };

	put("file", "old");
	CHECK(replace("nowhere/x", "x", &err) == RN_E_SYS);
	CHECK(strstr(err.text, "nowhere/x") && strstr(err.text, strerror(ENOENT)));
	CHECK(replace("file/x", "x", &err) == RN_E_SYS);
	CHECK(strstr(err.text, strerror(ENOTDIR)) != NULL);
	CHECK(replace("", "x", &err) == RN_E_SYS);
	CHECK(entries(false) == 1 && holds_text("file", "old"));
}

static void test_read(void)
{
	enum { N = 300000 };
	unsigned char *bytes = malloc(N);
	struct rn_buf b = { 0 };
	struct rn_err err = { 0 };

	for (int i = 0; i < N; i++)
		bytes[i] = (unsigned char)tap_rand();
	CHECK(rn_io_replace("big", bytes, N, NULL) == RN_OK);
	CHECK(holds("big", bytes, N));
	CHECK(symlink("big", "link") == 0 && holds("link", bytes, N));
	rn_buf_add(&b, "before", 6);
	CHECK(rn_io_read("big", &b, NULL) == RN_OK);
	CHECK(b.len == N + 6 && !memcmp(b.data, "before", 6) && !memcmp(b.data + 6, bytes, N));
	rn_buf_free(&b);
	/* A file whose size is reported as 0. */
	CHECK(rn_io_read("/proc/self/status", &b, NULL) == RN_OK && b.len > 100);
	rn_buf_free(&b);
	CHECK(rn_io_read("nowhere", &b, &err) == RN_E_SYS);
	CHECK(strstr(err.text, "nowhere") && strstr(err.text, strerror(ENOENT)));
	free(bytes);
}

/* Reads of parts of a file. A read beyond the end is short and is not an error. */
static void test_read_part(void)
{
	struct rn_buf b = { 0 };
	uint64_t size = 0;
	int fd;

	put("file", "hello, world");
	fd = rn_io_open("file", &size, NULL);
	CHECK(fd >= 0 && size == 12);
	CHECK(rn_io_read_part(fd, "file", 5, &b, NULL) == RN_OK && b.len == 5);
	CHECK(rn_io_read_part(fd, "file", 0, &b, NULL) == RN_OK && b.len == 5);
	CHECK(rn_io_read_part(fd, "file", 100, &b, NULL) == RN_OK && b.len == 12);
	CHECK(rn_io_read_part(fd, "file", 1, &b, NULL) == RN_OK && b.len == 12);
	CHECK(memcmp(b.data, "hello, world", 12) == 0);
	close(fd);
	CHECK(rn_io_read_part(fd, "file", 1, &b, NULL) == RN_E_SYS && b.len == 12);
	rn_buf_free(&b);
}

static void test_read_no_memory(void)
{
	struct rn_buf b = { 0 };
	struct rn_err err = { 0 };

	put("file", "");
	CHECK(truncate("file", 100000) == 0);
	rn_buf_add(&b, "before", 6);
	rn_buf_fail_at(1);
	CHECK(rn_io_read("file", &b, &err) == RN_E_NOMEM);
	rn_buf_fail_at(0);
	CHECK(strcmp(err.text, "file: out of memory") == 0);
	CHECK(b.len == 6 && !memcmp(b.data, "before", 6));
	rn_buf_free(&b);
}

static void unreadable(const char *path, const char *why)
{
	struct rn_buf b = { 0 };
	struct rn_err err = { 0 };
	int rc = rn_io_read(path, &b, &err);

	if (!CHECK(rc == RN_E_DATA && strstr(err.text, path) && strstr(err.text, why) &&
		   b.len == 0))
		diag("%s: %d %s", path, rc, err.text);
	rn_buf_free(&b);
}

/* If a read blocks, SIGALRM ends the test, which then fails. */
static void test_read_not_regular(void)
{
	struct rn_buf b = { 0 };
	int fd;

	CHECK(mkfifo("fifo", 0644) == 0);
	CHECK(mkdir("dir", 0755) == 0);
	CHECK(make_socket("socket"));
	unreadable("fifo", "pipe");
	fd = open("fifo", O_RDWR); /* now the FIFO has a writer, which writes nothing */
	unreadable("fifo", "pipe");
	close(fd);
	unreadable("dir", "not a regular file");
	unreadable("/dev/zero", "not a regular file");
	CHECK(rn_io_read("socket", &b, NULL) < 0 && b.len == 0);
}

/* Writes through a pipe that is drained slowly. With O_NONBLOCK in `flags`, writes to the full
 * pipe do not block. */
static void test_write_all(int flags)
{
	enum { N = 1 << 20 };
	unsigned char *bytes = calloc(1, N), in[977];
	size_t total = 0;
	ssize_t n;
	int fd[2], status = 1;
	pid_t pid;

	if (!CHECK(pipe(fd) == 0 && fcntl(fd[1], F_SETFL, flags) == 0))
		return;
	fcntl(fd[0], F_SETPIPE_SZ, 4096);
	pid = fork();
	if (pid == 0)
		_exit(rn_io_write_all(fd[1], bytes, N) == 0 ? 0 : 1);
	close(fd[1]);
	usleep(1000); /* until the pipe is full */
	while ((n = read(fd[0], in, sizeof(in))) > 0)
		total += (size_t)n;
	CHECK(total == N);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	close(fd[0]);
	errno = 0;
	CHECK(rn_io_write_all(fd[0], bytes, 1) < 0 && errno == EBADF);
	CHECK(rn_io_write_all(-1, bytes, 0) == 0);
	free(bytes);
}

/* The pipe has no reader: the result is an error, and the call does not block. */
static void test_write_gone(void)
{
	static unsigned char bytes[1 << 20];
	int fd[2];

	if (!CHECK(pipe(fd) == 0 && fcntl(fd[1], F_SETFL, O_NONBLOCK) == 0))
		return;
	signal(SIGPIPE, SIG_IGN);
	close(fd[0]);
	CHECK(rn_io_write_all(fd[1], bytes, sizeof(bytes)) < 0 && errno == EPIPE);
	close(fd[1]);
	signal(SIGPIPE, SIG_DFL);
}

int main(void)
{
	alarm(60);
	if (!mkdtemp(folder) || chdir(folder) < 0)
		return 1;
	umask(022);
	test_create();
	group("a new file has the usual mode and no companion");
	test_replace();
	group("a file is replaced as a whole and keeps its mode");
	test_long_name();
	group("names as long as they can be");
	test_not_regular();
	group("links, folders, FIFOs and sockets are not replaced");
	test_device();
	test_full();
	group("a write that fails leaves the old file and nothing else");
	test_no_folder();
	group("a folder that is not there is an error");
	test_read();
	group("files are read whole");
	test_read_part();
	group("... or in pieces");
	test_read_no_memory();
	group("without memory nothing is read");
	test_read_not_regular();
	group("reading a FIFO, a folder, a device is refused at once");
	test_write_all(0);
	test_write_all(O_NONBLOCK);
	test_write_gone();
	group("write_all writes all, also where writing does not block");
	rmdir(folder);
	return tap_done();
}
