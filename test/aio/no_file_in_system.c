/* Preloaded, this makes a process believe that the whole system has no descriptor left (ENFILE),
   wherever its own limit (EMFILE) is reached. The system's limit can't be reached in a test
   without stopping all other programs. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

static int answer(int result) {
  if (result < 0 && errno == EMFILE) errno = ENFILE;
  return result;
}

#define REAL(name, ...) \
  static int (*real)(__VA_ARGS__); \
  if (!real) real = (int (*)(__VA_ARGS__)) dlsym(RTLD_NEXT, #name)

int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags) {
  REAL(accept4, int, struct sockaddr *, socklen_t *, int);
  return answer(real(fd, address, len, flags));
}

int socket(int domain, int kind, int protocol) {
  REAL(socket, int, int, int);
  return answer(real(domain, kind, protocol));
}

int socketpair(int domain, int kind, int protocol, int fds[2]) {
  REAL(socketpair, int, int, int, int *);
  return answer(real(domain, kind, protocol, fds));
}

int pipe2(int fds[2], int flags) {
  REAL(pipe2, int *, int);
  return answer(real(fds, flags));
}
