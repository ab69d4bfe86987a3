/* prog_io.c - Files: all ways to read and write; views, sizes, pointers. The first argument is the
 * path of a file to create. Needs two ranks or more. */
#include "log.h"

#include <string.h>

#undef MPI_Type_vector /* MPICH's files do not support types made with large counts */

static const char *path;
static int *buf; /* heap */
static MPI_File fh;
static MPI_Status status;
static MPI_Offset offset;

/* Accesses that differ only in their name: four numbers each, with the individual pointer, ... */
#define PLAIN(access)                                        \
	DO(MPI_File_##access(fh, buf, 4, MPI_INT, filled()), \
	   "fh=file:0, buf=%p, count=4, datatype=MPI_INT, status=%S", buf, &status)

/* ... an offset, */
#define AT(access)                                                               \
	DO(MPI_File_##access(fh, offset, buf, 4, MPI_INT, filled()),             \
	   "fh=file:0, offset=%l, buf=%p, count=4, datatype=MPI_INT, status=%S", \
	   (long long)offset, buf, &status)

/* ... the same, non-blocking, */
#define LATER(access)                                                                     \
	do {                                                                              \
		MPI_Request r_;                                                           \
		DO(MPI_File_##access(fh, buf, 4, MPI_INT, &r_),                           \
		   "fh=file:0, buf=%p, count=4, datatype=MPI_INT, request=%+", buf, &r_); \
		DO(MPI_Wait(&r_, filled()), "request=%q, status=%S", &r_, &status);       \
	} while (0)

#define LATER_AT(access)                                                                  \
	do {                                                                              \
		MPI_Request r_;                                                           \
		DO(MPI_File_##access(fh, offset, buf, 4, MPI_INT, &r_),                   \
		   "fh=file:0, offset=%l, buf=%p, count=4, datatype=MPI_INT, request=%+", \
		   (long long)offset, buf, &r_);                                          \
		DO(MPI_Wait(&r_, filled()), "request=%q, status=%S", &r_, &status);       \
	} while (0)

/* ... and in two steps. */
#define SPLIT(access)                                                                          \
	do {                                                                                   \
		DO(MPI_File_##access##_begin(fh, buf, 4, MPI_INT),                             \
		   "fh=file:0, buf=%p, count=4, datatype=MPI_INT", buf);                       \
		DO(MPI_File_##access##_end(fh, buf, filled()), "fh=file:0, buf=%p, status=%S", \
		   buf, &status);                                                              \
	} while (0)

#define SPLIT_AT(access)                                                                         \
	do {                                                                                     \
		DO(MPI_File_##access##_begin(fh, offset, buf, 4, MPI_INT),                       \
		   "fh=file:0, offset=%l, buf=%p, count=4, datatype=MPI_INT", (long long)offset, \
		   buf);                                                                         \
		DO(MPI_File_##access##_end(fh, buf, filled()), "fh=file:0, buf=%p, status=%S",   \
		   buf, &status);                                                                \
	} while (0)

/* MPI leaves some fields of a status unset. These fields have a wrong value. */
static MPI_Status *filled(void)
{
	memset(&status, 0x11, sizeof(status));
	return &status;
}

static void writes(void)
{
	offset = me * 64;
	PLAIN(write);
	PLAIN(write_all);
	AT(write_at);
	AT(write_at_all);
	LATER(iwrite);
	LATER(iwrite_all);
	LATER_AT(iwrite_at);
	LATER_AT(iwrite_at_all);
	SPLIT(write_all);
	SPLIT_AT(write_at_all);
}

static void reads(void)
{
	offset = me * 64;
	PLAIN(read);
	PLAIN(read_all);
	AT(read_at);
	AT(read_at_all);
	LATER(iread);
	LATER(iread_all);
	LATER_AT(iread_at);
	LATER_AT(iread_at_all);
	SPLIT(read_all);
	SPLIT_AT(read_at_all);
	DO(MPI_File_read_at(fh, 1 << 20, buf, 4, MPI_INT, MPI_STATUS_IGNORE),
	   "fh=file:0, offset=1048576, buf=%p, count=4, datatype=MPI_INT, "
	   "status=MPI_STATUS_IGNORE",
	   buf);
}

static void rewind_shared(void)
{
	DO(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET), "fh=file:0, offset=0, whence=MPI_SEEK_SET");
}

static void shared_pointer(void)
{
	rewind_shared();
	PLAIN(write_shared);
	LATER(iwrite_shared);
	PLAIN(write_ordered);
	SPLIT(write_ordered);
	DO(MPI_File_get_position_shared(fh, &offset), "fh=file:0, offset=%l", (long long)offset);
	DO(MPI_Barrier(MPI_COMM_WORLD), "comm=MPI_COMM_WORLD");
	rewind_shared();
	PLAIN(read_shared);
	LATER(iread_shared);
	PLAIN(read_ordered);
	SPLIT(read_ordered);
	DO(MPI_Barrier(MPI_COMM_WORLD), "comm=MPI_COMM_WORLD");
}

static void ask(void)
{
	MPI_Offset size, at;
	MPI_Group group;
	int amode, flag;

	DO(MPI_File_set_size(fh, 8192), "fh=file:0, size=8192");
	/* Reads no more than exists: Open MPI's ranks disagree when one sees data that another just
	 * added.
	 */
	DO(MPI_File_preallocate(fh, 4096), "fh=file:0, size=4096");
	DO(MPI_File_get_size(fh, &size), "fh=file:0, size=8192");
	DO(MPI_File_get_amode(fh, &amode), "fh=file:0, amode=MPI_MODE_RDWR|MPI_MODE_CREATE");
	DO(MPI_File_get_group(fh, &group), "fh=file:0, group=group:0");
	DO(MPI_Group_free(&group), "group=group:0");
	DO(MPI_File_seek(fh, 100, MPI_SEEK_SET), "fh=file:0, offset=100, whence=MPI_SEEK_SET");
	DO(MPI_File_seek(fh, -20, MPI_SEEK_CUR), "fh=file:0, offset=-20, whence=MPI_SEEK_CUR");
	DO(MPI_File_get_position(fh, &at), "fh=file:0, offset=80");
	DO(MPI_File_get_byte_offset(fh, at, &at), "fh=file:0, offset=80, disp=80");
	DO(MPI_File_seek(fh, -8192, MPI_SEEK_END), "fh=file:0, offset=-8192, whence=MPI_SEEK_END");
	DO(MPI_File_set_atomicity(fh, 1), "fh=file:0, flag=1");
	DO(MPI_File_get_atomicity(fh, &flag), "fh=file:0, flag=1");
	DO(MPI_File_set_atomicity(fh, 0), "fh=file:0, flag=0");
	DO(MPI_File_sync(fh), "fh=file:0");
}

/* Each rank accesses its own column. */
static void views(void)
{
	MPI_Datatype column, etype, filetype;
	MPI_Offset disp;
	char datarep[MPI_MAX_DATAREP_STRING];
#ifdef LARGE
	MPI_Count extent;
#else
	MPI_Aint extent;
#endif

	DO(MPI_Type_vector(8, 1, procs, MPI_INT, &column),
	   "count=8, blocklength=1, stride=%d, oldtype=MPI_INT, newtype=type:0", procs);
	DO(MPI_Type_commit(&column), "datatype=type:0");
	DO(MPI_File_set_view(fh, me * 4, MPI_INT, column, "native", MPI_INFO_NULL),
	   "fh=file:0, disp=%d, etype=MPI_INT, filetype=type:0, datarep='native', "
	   "info=MPI_INFO_NULL",
	   me * 4);
	PLAIN(write_all);
	DO(MPI_File_get_type_extent(fh, MPI_INT, &extent), "fh=file:0, datatype=MPI_INT, extent=4");
	DO(MPI_File_set_view(fh, 16, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
	   "fh=file:0, disp=16, etype=MPI_INT, filetype=MPI_INT, datarep='native', "
	   "info=MPI_INFO_NULL");
	DO(MPI_File_get_view(fh, &disp, &etype, &filetype, datarep),
	   "fh=file:0, disp=16, etype=%n, filetype=%n, datarep='native'",
	   etype == MPI_INT ? "MPI_INT" : "type:*", filetype == MPI_INT ? "MPI_INT" : "type:*");
	DO(MPI_Type_free(&column), "datatype=type:0");
	DO(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL),
	   "fh=file:0, disp=0, etype=MPI_BYTE, filetype=MPI_BYTE, datarep='native', "
	   "info=MPI_INFO_NULL");
}

static void hints(void)
{
	MPI_Info info, used;

	DO(MPI_Info_create(&info), "info=info:0");
	DO(MPI_Info_set(info, "cb_buffer_size", "65536"),
	   "info=info:0, key='cb_buffer_size', value='65536'");
	DO(MPI_File_set_info(fh, info), "fh=file:0, info=info:0");
	DO(MPI_File_get_info(fh, &used), "fh=file:0, info_used=info:1");
	DO(MPI_Info_free(&info), "info=info:0");
	DO(MPI_Info_free(&used), "info=info:1");
}

static int handled;

static void handle(MPI_File *file, int *code, ...)
{
	(void)file;
	(void)code;
	handled++;
}

static void handler(void)
{
	MPI_Errhandler own, got;

	DO(MPI_File_create_errhandler(handle, &own),
	   "file_errhandler_fn=static:*, errhandler=errhandler:0");
	DO(MPI_File_get_errhandler(fh, &got), "file=file:0, errhandler=MPI_ERRORS_RETURN");
	DO(MPI_File_set_errhandler(fh, own), "file=file:0, errhandler=errhandler:0");
	DO(MPI_File_call_errhandler(fh, MPI_ERR_OTHER), "fh=file:0, errorcode=MPI_ERR_OTHER");
	EXPECT(handled == 1);
	DO(MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN),
	   "file=file:0, errhandler=MPI_ERRORS_RETURN");
	DO(MPI_Errhandler_free(&own), "errhandler=errhandler:0");
}

int main(int argc, char **argv)
{
	path = argc > 1 ? argv[1] : "prog_io.tmp";
	begin();
	buf = grab(64);
	DO(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh),
	   "comm=MPI_COMM_WORLD, filename=%s, amode=MPI_MODE_CREATE|MPI_MODE_RDWR, "
	   "info=MPI_INFO_NULL, fh=file:0",
	   path);
	ask();
	views();
	writes();
	reads();
	shared_pointer();
	hints();
	handler();
	DO(MPI_File_close(&fh), "fh=file:0");
	EXPECT(fh == MPI_FILE_NULL);
	DO(MPI_Barrier(MPI_COMM_WORLD), "comm=MPI_COMM_WORLD");
	if (me == 0)
		DO(MPI_File_delete(path, MPI_INFO_NULL), "filename=%s, info=MPI_INFO_NULL", path);
	end();
	return 0;
}
