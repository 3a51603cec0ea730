/* ptrace, for stopped.ml. Each function returns 0 or a positive result, or minus an errno. */

#define CAML_NAME_SPACE
#include <caml/mlvalues.h>
#include <errno.h>

#if defined(__linux__)

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>

/* PTRACE_SEIZE doesn't stop the thread, and sends no signal. Without PTRACE_O_EXITKILL, the kernel
   lets the thread run on if this process dies. */
value concord_trace_seize(value tid)
{
  return Val_int(ptrace(PTRACE_SEIZE, Int_val(tid), 0, 0) == 0 ? 0 : -errno);
}

value concord_trace_interrupt(value tid)
{
  return Val_int(ptrace(PTRACE_INTERRUPT, Int_val(tid), 0, 0) == 0 ? 0 : -errno);
}

/* 0 if the thread has not stopped yet. Otherwise 1 plus the signal that it was about to get, which
   has to be passed on when it is released. A thread that has ended gives -ECHILD. */
value concord_trace_stopped(value tid)
{
  int status;
  pid_t found = waitpid(Int_val(tid), &status, __WALL | WNOHANG);
  if (found < 0) return Val_int(-errno);
  if (found == 0) return Val_int(0);
  if (!WIFSTOPPED(status)) return Val_int(-ECHILD);
  /* The upper bits say that the thread stopped because of PTRACE_INTERRUPT, or with its group. */
  return Val_int(status >> 16 ? 1 : 1 + WSTOPSIG(status));
}

value concord_trace_release(value tid, value signal)
{
  return Val_int(ptrace(PTRACE_DETACH, Int_val(tid), 0, (long)Int_val(signal)) == 0 ? 0 : -errno);
}

#else

value concord_trace_seize(value tid) { (void)tid; return Val_int(-ENOSYS); }
value concord_trace_interrupt(value tid) { (void)tid; return Val_int(-ENOSYS); }
value concord_trace_stopped(value tid) { (void)tid; return Val_int(-ENOSYS); }
value concord_trace_release(value tid, value signal)
{
  (void)tid; (void)signal; return Val_int(-ENOSYS);
}

#endif
