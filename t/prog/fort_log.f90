! fort_log.f90 - log.h for Fortran:
!
!    call enter()
!    call MPI_Send(a, 3, MPI_INTEGER, next, 7, MPI_COMM_WORLD, ierr)
!    call said('MPI_Send', ierr, 'buf=static:*, count=3, datatype=MPI_INTEGER, dest='//str(next)//', ...')
module fort_log
   use iso_c_binding
   implicit none
   private
   public :: enter, said, str, expect

   integer(c_long) :: seq

   interface
      function log_enter() bind(C)
         import :: c_long
         integer(c_long) :: log_enter
      end function
      subroutine log_plain(number, call_name, ret, args) bind(C)
         import :: c_long, c_int, c_char
         integer(c_long), value :: number
         character(kind=c_char), intent(in) :: call_name(*), args(*)
         integer(c_int), value :: ret
      end subroutine
   end interface

contains

   subroutine enter()
      seq = log_enter()
   end subroutine

   subroutine said(call_name, ierr, args)
      character(*), intent(in) :: call_name, args
      integer, intent(in) :: ierr
      call log_plain(seq, call_name//c_null_char, ierr, args//c_null_char)
   end subroutine

   function str(i)
      integer, intent(in) :: i
      character(:), allocatable :: str
      character(20) :: digits
      write (digits, '(i0)') i
      str = trim(digits)
   end function

   subroutine expect(holds, what)
      logical, intent(in) :: holds
      character(*), intent(in) :: what
      if (.not. holds) then
         write (0, *) 'does not hold: ', what
         stop 1
      end if
   end subroutine
end module
