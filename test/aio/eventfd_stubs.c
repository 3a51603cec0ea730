#include <caml/mlvalues.h>

#ifdef __linux__
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#endif

/* Returns -1 where there is none. */
value test_eventfd(value unit)
{
#ifdef __linux__
  return Val_int(eventfd(0, EFD_CLOEXEC));
#else
  return Val_int(-1);
#endif
}

value test_timerfd(value unit)
{
#ifdef __linux__
  struct itimerspec after = { .it_value = { .tv_nsec = 1000000 } };
  int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  timerfd_settime(fd, 0, &after, 0);
  return Val_int(fd);
#else
  return Val_int(-1);
#endif
}
