! prog_fortran.F90 - point to point, collectives, types and communicators from Fortran: with
! -DMPIFH through mpif.h, with -DUSEMPI through the module mpi, else through mpi_f08. Three ranks or more.
#if defined(MPIFH) || defined(USEMPI)
#define COMM_T integer
#define TYPE_T integer
#define REQUEST_T integer
#define GROUP_T integer
#define OP_T integer
#define INFO_T integer
#define STATUS_T(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES_T(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#else
#define COMM_T type(MPI_Comm)
#define TYPE_T type(MPI_Datatype)
#define REQUEST_T type(MPI_Request)
#define GROUP_T type(MPI_Group)
#define OP_T type(MPI_Op)
#define INFO_T type(MPI_Info)
#define STATUS_T(name) type(MPI_Status) :: name
#define STATUSES_T(name, n) type(MPI_Status) :: name(n)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#endif
#if defined(MPIFH)
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#elif defined(USEMPI)
#define USE_MPI use mpi
#define INCLUDE_MPI
#else
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#endif

program prog_fortran
   USE_MPI
   use fort_log
   implicit none
   INCLUDE_MPI
   integer, save :: a(64), b(64), ierr, me, procs, next, prev
   integer, allocatable :: h(:)
   STATUS_T(status)

   call enter()
   call MPI_Init(ierr)
   call said('MPI_Init', ierr, 'argc=?, argv=?')
   call enter()
   call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
   call said('MPI_Comm_rank', ierr, 'comm=MPI_COMM_WORLD, rank='//str(me))
   call enter()
   call MPI_Comm_size(MPI_COMM_WORLD, procs, ierr)
   call said('MPI_Comm_size', ierr, 'comm=MPI_COMM_WORLD, size='//str(procs))
   next = mod(me + 1, procs)
   prev = mod(me + procs - 1, procs)
   allocate (h(100))
   h = me
   a = me
   call point_to_point()
   call requests()
   call collectives()
   call types()
   call communicators()
   call enter()
   call MPI_Finalize(ierr)
   call said('MPI_Finalize', ierr, '')

contains

   function a_status(source, tag, bytes)
      integer, intent(in) :: source, tag, bytes
      character(:), allocatable :: a_status
      a_status = '{source:'//str(source)//',tag:'//str(tag)//',error:0,count:'//str(bytes)//',cancelled:0}'
   end function

   subroutine point_to_point()
      call enter()
      call MPI_Sendrecv(a, 4, MPI_INTEGER, next, 10, h(3), 8, MPI_INTEGER, prev, 10, MPI_COMM_WORLD, status, ierr)
      call said('MPI_Sendrecv', ierr, 'sendbuf=static:*, sendcount=4, sendtype=MPI_INTEGER, dest='//str(next)// &
                ', sendtag=10, recvbuf=heap:0+8, recvcount=8, recvtype=MPI_INTEGER, source='//str(prev)// &
                ', recvtag=10, comm=MPI_COMM_WORLD, status='//a_status(prev, 10, 16))
      call expect(SOURCE_OF(status) == prev .and. h(3) == prev, 'the message')
      if (me == 0) then
         call enter()
         call MPI_Ssend(a, 2, MPI_DOUBLE_PRECISION, 1, 11, MPI_COMM_WORLD, ierr)
         call said('MPI_Ssend', ierr, 'buf=static:*, count=2, datatype=MPI_DOUBLE_PRECISION, dest=1, tag=11, '// &
                   'comm=MPI_COMM_WORLD')
         call enter()
         call MPI_Send(h, 7, MPI_REAL, 1, 12, MPI_COMM_WORLD, ierr)
         call said('MPI_Send', ierr, 'buf=heap:0+0, count=7, datatype=MPI_REAL, dest=1, tag=12, comm=MPI_COMM_WORLD')
      else if (me == 1) then
         call enter()
         call MPI_Recv(b, 2, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
         call said('MPI_Recv', ierr, 'buf=static:*, count=2, datatype=MPI_DOUBLE_PRECISION, source=MPI_ANY_SOURCE, '// &
                   'tag=MPI_ANY_TAG, comm=MPI_COMM_WORLD, status=MPI_STATUS_IGNORE; matched={source:0,tag:11}')
         call enter()
         call MPI_Recv(h, 10, MPI_REAL, 0, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
         call said('MPI_Recv', ierr, 'buf=heap:0+0, count=10, datatype=MPI_REAL, source=0, tag=MPI_ANY_TAG, '// &
                   'comm=MPI_COMM_WORLD, status='//a_status(0, 12, 28))
         call expect(TAG_OF(status) == 12, 'the tag')
      end if
      call enter()
      call MPI_Send(a, 1, MPI_LOGICAL, MPI_PROC_NULL, 13, MPI_COMM_SELF, ierr)
      call said('MPI_Send', ierr, 'buf=static:*, count=1, datatype=MPI_LOGICAL, dest=MPI_PROC_NULL, tag=13, '// &
                'comm=MPI_COMM_SELF')
   end subroutine

   subroutine requests()
      REQUEST_T :: r(4)
      STATUSES_T(statuses, 4)
      integer :: i, which
      logical :: flag
      do i = 1, 2
         call enter()
         call MPI_Irecv(h(10*i), 5, MPI_INTEGER, prev, 20 + i, MPI_COMM_WORLD, r(i), ierr)
         call said('MPI_Irecv', ierr, 'buf=heap:0+'//str(40*i - 4)//', count=5, datatype=MPI_INTEGER, source='// &
                   str(prev)//', tag='//str(20 + i)//', comm=MPI_COMM_WORLD, request=request:'//str(i - 1))
      end do
      do i = 1, 2
         call enter()
         call MPI_Isend(a(i), 5, MPI_INTEGER, next, 20 + i, MPI_COMM_WORLD, r(2 + i), ierr)
         call said('MPI_Isend', ierr, 'buf=static:*, count=5, datatype=MPI_INTEGER, dest='//str(next)//', tag='// &
                   str(20 + i)//', comm=MPI_COMM_WORLD, request=request:'//str(1 + i))
      end do
      call enter()
      call MPI_Wait(r(2), status, ierr)
      call said('MPI_Wait', ierr, 'request=request:1, status='//a_status(prev, 22, 20))
      call enter()
      call MPI_Waitall(2, r(3:4), MPI_STATUSES_IGNORE, ierr)
      ! Open MPI's binding gives C an array in any case
      call said('MPI_Waitall', ierr, 'count=2, array_of_requests=[request:2,request:3], array_of_statuses=?')
      call enter()
      call MPI_Waitany(2, r, which, status, ierr)
      ! an index counts from 0 in the trace, which sees the calls as C does
      call said('MPI_Waitany', ierr, 'count=2, array_of_requests=[request:0,MPI_REQUEST_NULL], index=0, status='// &
                a_status(prev, 21, 20))
      call expect(which == 1 .or. which == 0, 'the index') ! MPICH 4.0.2 forgets to add 1 under mpi_f08
      call enter()
      call MPI_Waitall(2, r, statuses, ierr)
      call said('MPI_Waitall', ierr, 'count=2, array_of_requests=[MPI_REQUEST_NULL,MPI_REQUEST_NULL], '// &
                'array_of_statuses=?')
      call enter()
      call MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
      call said('MPI_Iprobe', ierr, 'source=MPI_PROC_NULL, tag=0, comm=MPI_COMM_WORLD, flag=1, '// &
                'status=MPI_STATUS_IGNORE; matched?=?')
      call expect(flag, 'the flag')
   end subroutine

   subroutine collectives()
      integer :: counts(16), places(16), i
      character(200) :: list, where_
      do i = 1, procs
         counts(i) = i
         places(i) = 2*i
      end do
      write (list, '("[",15(i0,:,","))') counts(1:procs)
      write (where_, '("[",15(i0,:,","))') places(1:procs)
      call enter()
      call MPI_Bcast(h, 5, MPI_INTEGER8, 1, MPI_COMM_WORLD, ierr)
      call said('MPI_Bcast', ierr, 'buffer=heap:0+0, count=5, datatype=MPI_INTEGER8, root=1, comm=MPI_COMM_WORLD')
      call enter()
      call MPI_Allreduce(MPI_IN_PLACE, b, 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
      call said('MPI_Allreduce', ierr, 'sendbuf=MPI_IN_PLACE, recvbuf=static:*, count=3, datatype=MPI_INTEGER, '// &
                'op=MPI_MAX, comm=MPI_COMM_WORLD')
      call enter()
      call MPI_Allgatherv(a, me + 1, MPI_INTEGER, h, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
      call said('MPI_Allgatherv', ierr, 'sendbuf=static:*, sendcount='//str(me + 1)//', sendtype=MPI_INTEGER, '// &
                'recvbuf=heap:0+0, recvcounts='//trim(list)//'], displs='//trim(where_)//'], recvtype=MPI_INTEGER, '// &
                'comm=MPI_COMM_WORLD')
      call enter()
      call MPI_Reduce(a, b, 2, MPI_REAL, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
      if (me == 0) then
         call said('MPI_Reduce', ierr, 'sendbuf=static:*, recvbuf=static:*, count=2, datatype=MPI_REAL, op=MPI_SUM, '// &
                   'root=0, comm=MPI_COMM_WORLD')
      else
         call said('MPI_Reduce', ierr, 'sendbuf=static:*, recvbuf=?, count=2, datatype=MPI_REAL, op=MPI_SUM, '// &
                   'root=0, comm=MPI_COMM_WORLD')
      end if
      call enter()
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call said('MPI_Barrier', ierr, 'comm=MPI_COMM_WORLD')
   end subroutine

   subroutine types()
      TYPE_T :: t, u, parts(2)
      integer(MPI_ADDRESS_KIND) :: places(2), address
      integer :: lengths(2)
      call enter()
      call MPI_Type_vector(3, 2, 4, MPI_INTEGER, t, ierr)
      call said('MPI_Type_vector', ierr, 'count=3, blocklength=2, stride=4, oldtype=MPI_INTEGER, newtype=type:0')
      call enter()
      call MPI_Type_commit(t, ierr)
      call said('MPI_Type_commit', ierr, 'datatype=type:0')
      call enter()
      call MPI_Get_address(a, address, ierr)
      call said('MPI_Get_address', ierr, 'location=static:*, address=static:*')
      lengths = [1, 3]
      places = [0, 16]
      parts(1) = MPI_DOUBLE_PRECISION
      parts(2) = MPI_CHARACTER
      call enter()
      call MPI_Type_create_struct(2, lengths, places, parts, u, ierr)
      call said('MPI_Type_create_struct', ierr, 'count=2, array_of_blocklengths=[1,3], '// &
                'array_of_displacements=[0,16], array_of_types=[MPI_DOUBLE_PRECISION,MPI_CHARACTER], newtype=type:1')
      call enter()
      call MPI_Type_set_name(u, 'a struct', ierr)
      call said('MPI_Type_set_name', ierr, "datatype=type:1, type_name='a struct'")
      call enter()
      call MPI_Bcast(h, 1, t, 0, MPI_COMM_WORLD, ierr)
      call said('MPI_Bcast', ierr, 'buffer=heap:0+0, count=1, datatype=type:0, root=0, comm=MPI_COMM_WORLD')
      call enter()
      call MPI_Type_free(t, ierr)
      call said('MPI_Type_free', ierr, 'datatype=type:0')
      call enter()
      call MPI_Type_free(u, ierr)
      call said('MPI_Type_free', ierr, 'datatype=type:1')
   end subroutine

   subroutine communicators()
      COMM_T :: half, line
      GROUP_T :: group
      INFO_T :: info
      integer :: color, rank
      logical :: periods(1)
      color = mod(me, 2)
      if (me == 2) color = MPI_UNDEFINED
      call enter()
      call MPI_Comm_split(MPI_COMM_WORLD, color, me, half, ierr)
      if (me == 2) then
         call said('MPI_Comm_split', ierr, 'comm=MPI_COMM_WORLD, color=MPI_UNDEFINED, key=2, newcomm=MPI_COMM_NULL')
      else
         call said('MPI_Comm_split', ierr, 'comm=MPI_COMM_WORLD, color='//str(color)//', key='//str(me)// &
                   ', newcomm=comm:world.0')
         call enter()
         call MPI_Comm_rank(half, rank, ierr)
         call said('MPI_Comm_rank', ierr, 'comm=comm:world.0, rank='//str(rank))
         call enter()
         call MPI_Comm_free(half, ierr)
         call said('MPI_Comm_free', ierr, 'comm=comm:world.0')
      end if
      periods(1) = .true.
      call enter()
      call MPI_Cart_create(MPI_COMM_WORLD, 1, [procs], periods, .false., line, ierr)
      call said('MPI_Cart_create', ierr, 'comm_old=MPI_COMM_WORLD, ndims=1, dims=['//str(procs)//'], periods=[1], '// &
                'reorder=0, comm_cart=comm:world.1')
      call enter()
      call MPI_Comm_group(line, group, ierr)
      call said('MPI_Comm_group', ierr, 'comm=comm:world.1, group=group:0')
      call enter()
      call MPI_Group_free(group, ierr)
      call said('MPI_Group_free', ierr, 'group=group:0')
      call enter()
      call MPI_Comm_free(line, ierr)
      call said('MPI_Comm_free', ierr, 'comm=comm:world.1')
      call enter()
      call MPI_Info_create(info, ierr)
      call said('MPI_Info_create', ierr, 'info=info:0')
      call enter()
      call MPI_Info_set(info, 'key', 'a value', ierr)
      call said('MPI_Info_set', ierr, "info=info:0, key='key', value='a value'")
      call enter()
      call MPI_Info_free(info, ierr)
      call said('MPI_Info_free', ierr, 'info=info:0')
   end subroutine
end program
