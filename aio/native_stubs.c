/* The functions of the module Native, which need Linux. On other systems each of them returns "not known". */

#define _GNU_SOURCE
#include <caml/alloc.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/signals.h>
#include <caml/unixsupport.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
/* Some C libraries are installed without these headers of Linux. Without them, RESOLVE_CACHED isn't defined. */
#if defined(SYS_openat2) && defined(__has_include)
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif
#endif
#endif

/* Whether the system can wait for fd. To find out, fd is removed from an instance of epoll that is always empty. The error is
   EPERM if epoll can't wait for such a file, and ENOENT otherwise. */
static int can_wait(int fd)
{
#ifdef __linux__
  static _Atomic int instance = -1;
  struct epoll_event event = { 0 };
  for (int tries = 0; tries < 2; tries++) {
    int epoll = instance;
    if (epoll < 0) {
      int fresh = epoll_create1(EPOLL_CLOEXEC);
      if (fresh < 0) break;
      if (atomic_compare_exchange_strong(&instance, &epoll, fresh)) epoll = fresh;
      else close(fresh);
    }
    if (fd == epoll) return 1;
    if (epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &event) == 0 || errno == ENOENT) return 1;
    if (errno == EPERM) return 0;
    /* The program has closed the instance, so make another one. */
    atomic_compare_exchange_strong(&instance, &epoll, -1);
  }
#endif
  return 1;
}

static int generation = 0;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void next_generation(void) { generation++; }
static void count_generations(void) { pthread_atfork(NULL, NULL, next_generation); }

value concord_aio_generation(value unit)
{
  pthread_once(&once, count_generations);
  return Val_int(generation);
}

/* The lowest bit says whether it is a file, and the others identify it. -1 is an error. */
value concord_aio_nature(value v_fd, value v_nonblock)
{
  int fd = Int_val(v_fd);
  unsigned long is_file;
  struct stat st;
  if (fstat(fd, &st) < 0) return Val_int(-1);
  switch (st.st_mode & S_IFMT) {
  case S_IFREG: case S_IFBLK: case S_IFDIR: is_file = 1; break;
  case S_IFIFO: case S_IFSOCK: is_file = 0; break;
  default: is_file = can_wait(fd) ? 0 : 1;
  }
  if (!is_file && Bool_val(v_nonblock)) {
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && !(flags & O_NONBLOCK)) fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  }
  unsigned long identity = (unsigned long) st.st_ino * 31 + (unsigned long) st.st_dev * 1000003 + (st.st_mode & S_IFMT);
  return Val_long((long) ((identity << 1 | is_file) & (Max_long >> 1)));
}

/* Reads or writes only if that need not wait. The result is -1 otherwise, and also on an error, because the call that may
   wait will report the error again. */
#if defined(__linux__) && defined(RWF_NOWAIT)
#define NOW(call, at) \
  struct iovec part = { .iov_base = Bytes_val(v_bytes) + Long_val(v_pos), .iov_len = (size_t) Long_val(v_len) }; \
  return Val_long(call(Int_val(v_fd), &part, 1, at, RWF_NOWAIT))
#else
#define NOW(call, at) return Val_long(-1)
#endif
value concord_aio_read_now(value v_fd, value v_bytes, value v_pos, value v_len) { NOW(preadv2, -1); }
value concord_aio_write_now(value v_fd, value v_bytes, value v_pos, value v_len) { NOW(pwritev2, -1); }

/* At a position, which must not be negative, because -1 would be the file's own. */
value concord_aio_pread_now(value v_fd, value v_bytes, value v_pos, value v_len, value v_at)
{
  if (Long_val(v_at) < 0) return Val_long(-1);
  NOW(preadv2, Long_val(v_at));
}

value concord_aio_pwrite_now(value v_fd, value v_bytes, value v_pos, value v_len, value v_at)
{
  if (Long_val(v_at) < 0) return Val_long(-1);
  NOW(pwritev2, Long_val(v_at));
}

/* The same for a socket, whatever its flags are. The result is -1 if the socket isn't ready, and -2 if this is no socket, or if
   a signal came. Other errors are raised, because the socket reports them only once. */
static value now(ssize_t done, const char *name)
{
  if (done >= 0) return Val_long(done);
  if (errno == EAGAIN || errno == EWOULDBLOCK) return Val_long(-1);
  if (errno == ENOTSOCK || errno == EINTR) return Val_long(-2);
  caml_uerror(name, Nothing);
}

value concord_aio_recv_now(value v_fd, value v_bytes, value v_pos, value v_len)
{
  return now(recv(Int_val(v_fd), Bytes_val(v_bytes) + Long_val(v_pos), (size_t) Long_val(v_len), MSG_DONTWAIT), "read");
}

value concord_aio_send_now(value v_fd, value v_bytes, value v_pos, value v_len)
{
  return now(send(Int_val(v_fd), Bytes_val(v_bytes) + Long_val(v_pos), (size_t) Long_val(v_len), MSG_DONTWAIT), "single_write");
}

/* 1 if fd can be read, or written to, without waiting, 0 if not, and -1 if it is not open. */
value concord_aio_poll_now(value v_fd, value v_write)
{
  struct pollfd one = { .fd = Int_val(v_fd), .events = Bool_val(v_write) ? POLLOUT : POLLIN };
  int found;
  do found = poll(&one, 1, 0); while (found < 0 && errno == EINTR);
  return Val_int(found <= 0 ? 0 : one.revents & POLLNVAL ? -1 : 1);
}

/* O_PATH opens only the name, so it has no effect on a device or a FIFO. If this is a regular file, it is opened for use. It
   may be another file by now, so O_NONBLOCK makes sure that this doesn't wait. */
value concord_aio_open_now(value v_name, value v_flags)
{
#if defined(__linux__) && defined(SYS_openat2) && defined(RESOLVE_CACHED)
  struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_CACHED };
  struct stat st;
  int fd = (int) syscall(SYS_openat2, AT_FDCWD, String_val(v_name), &how, sizeof how);
  if (fd < 0) return Val_int(-1);
  int is_regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
  close(fd);
  if (!is_regular) return Val_int(-1);
  how.flags = (unsigned int) (Int_val(v_flags) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  fd = (int) syscall(SYS_openat2, AT_FDCWD, String_val(v_name), &how, sizeof how);
  if (fd < 0) return Val_int(-1);
  fcntl(fd, F_SETFL, Int_val(v_flags));
  return Val_int(fd);
#else
  return Val_int(-1);
#endif
}

/* While a thread blocks, the collector may move the bytes, so they are copied. */
value concord_aio_pread(value v_fd, value v_bytes, value v_pos, value v_len, value v_at)
{
  CAMLparam1(v_bytes);
  char part[UNIX_BUFFER_SIZE];
  int fd = Int_val(v_fd);
  off_t at = Long_val(v_at);
  size_t len = (size_t) Long_val(v_len);
  ssize_t done;
  if (len > sizeof part) len = sizeof part;
  caml_enter_blocking_section();
  do done = pread(fd, part, len, at); while (done < 0 && errno == EINTR);
  caml_leave_blocking_section();
  if (done < 0) caml_uerror("pread", Nothing);
  memcpy(Bytes_val(v_bytes) + Long_val(v_pos), part, (size_t) done);
  CAMLreturn(Val_long(done));
}

value concord_aio_pwrite(value v_fd, value v_bytes, value v_pos, value v_len, value v_at)
{
  char part[UNIX_BUFFER_SIZE];
  int fd = Int_val(v_fd);
  off_t at = Long_val(v_at);
  size_t len = (size_t) Long_val(v_len);
  ssize_t done;
  if (len > sizeof part) len = sizeof part;
  memcpy(part, Bytes_val(v_bytes) + Long_val(v_pos), len);
  caml_enter_blocking_section();
  do done = pwrite(fd, part, len, at); while (done < 0 && errno == EINTR);
  caml_leave_blocking_section();
  if (done < 0) caml_uerror("pwrite", Nothing);
  return Val_long(done);
}

/* The descriptor is close-on-exec. */
value concord_aio_pidfd(value v_pid)
{
#if defined(__linux__) && defined(SYS_pidfd_open)
  return Val_long(syscall(SYS_pidfd_open, Int_val(v_pid), 0));
#else
  return Val_int(-1);
#endif
}

/* Sends bytes with copies of descriptors, to a socket of the Unix domain. Neither call waits, so the collector doesn't run
   meanwhile. */
#define MOST_DESCRS 253
union control { struct cmsghdr header; char space[CMSG_SPACE(MOST_DESCRS * sizeof(int))]; };

value concord_aio_send_descrs(value v_fd, value v_descrs, value v_bytes, value v_pos, value v_len)
{
  union control control = { 0 };
  size_t size = Wosize_val(v_descrs) * sizeof(int);
  struct iovec part = { .iov_base = Bytes_val(v_bytes) + Long_val(v_pos), .iov_len = (size_t) Long_val(v_len) };
  struct msghdr message =
    { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(size) };
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  control.header.cmsg_len = CMSG_LEN(size);
  int *descrs = (int *) CMSG_DATA(&control.header);
  for (mlsize_t i = 0; i < Wosize_val(v_descrs); i++) descrs[i] = Int_val(Field(v_descrs, i));
  ssize_t done = sendmsg(Int_val(v_fd), &message, MSG_DONTWAIT);
  if (done < 0) caml_uerror("send_descrs", Nothing);
  return Val_long(done);
}

/* If the system has no room for all descriptors, those that arrived are closed. */
value concord_aio_recv_descrs(value v_fd, value v_bytes, value v_pos, value v_len)
{
  CAMLparam1(v_bytes);
  CAMLlocal2(v_descrs, v_result);
  union control control = { 0 };
  struct iovec part = { .iov_base = Bytes_val(v_bytes) + Long_val(v_pos), .iov_len = (size_t) Long_val(v_len) };
  struct msghdr message =
    { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
#ifdef MSG_CMSG_CLOEXEC
  ssize_t done = recvmsg(Int_val(v_fd), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
#else
  ssize_t done = recvmsg(Int_val(v_fd), &message, MSG_DONTWAIT);
#endif
  if (done < 0) caml_uerror("recv_descrs", Nothing);
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  int is_rights = header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS;
  size_t count = is_rights ? (header->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
  int *descrs = is_rights ? (int *) CMSG_DATA(header) : NULL;
  if (message.msg_flags & MSG_CTRUNC) {
    for (size_t i = 0; i < count; i++) close(descrs[i]);
    caml_unix_error(EMFILE, "recv_descrs", Nothing);
  }
  v_descrs = count > 0 ? caml_alloc(count, 0) : Atom(0);
  for (size_t i = 0; i < count; i++) {
#ifndef MSG_CMSG_CLOEXEC
    fcntl(descrs[i], F_SETFD, FD_CLOEXEC);
#endif
    Store_field(v_descrs, i, Val_int(descrs[i]));
  }
  v_result = caml_alloc_tuple(2);
  Store_field(v_result, 0, Val_long(done));
  Store_field(v_result, 1, v_descrs);
  CAMLreturn(v_result);
}

/* Whether the first and the last byte are in the system's memory, so that those in between most likely are too. */
#if defined(__linux__) && defined(RWF_NOWAIT)
static int is_in_memory(int fd, off_t at, size_t len)
{
  char byte;
  struct iovec part = { .iov_base = &byte, .iov_len = 1 };
  return preadv2(fd, &part, 1, at, RWF_NOWAIT) >= 0
    && preadv2(fd, &part, 1, at + (off_t) len - 1, RWF_NOWAIT) >= 0;
}
#elif defined(__linux__)
static int is_in_memory(int fd, off_t at, size_t len) { (void) fd; (void) at; (void) len; return 0; }
#endif

/* Copies without a buffer of this process. The result is the number of bytes, -1 if the sink has no room now, -2 if the system
   can't do it for these two, and -3 if it was asked to do it now, but may have to read from a disk. If at is negative, the
   file's position moves. */
value concord_aio_send_file(value v_to, value v_from, value v_at, value v_len, value v_now)
{
#ifdef __linux__
  int to = Int_val(v_to), from = Int_val(v_from);
  off_t at = Long_val(v_at);
  size_t len = (size_t) Long_val(v_len);
  ssize_t done;
  if (Bool_val(v_now) && !is_in_memory(from, at < 0 ? lseek(from, 0, SEEK_CUR) : at, len)) return Val_long(-3);
  caml_enter_blocking_section();
  do done = sendfile(to, from, at < 0 ? NULL : &at, len); while (done < 0 && errno == EINTR);
  caml_leave_blocking_section();
  if (done >= 0) return Val_long(done);
  if (errno == EAGAIN || errno == EWOULDBLOCK) return Val_long(-1);
  if (errno != EINVAL && errno != ENOSYS && errno != ESPIPE) caml_uerror("copy", Nothing);
#else
  (void) v_to; (void) v_from; (void) v_at; (void) v_len; (void) v_now;
#endif
  return Val_long(-2);
}
