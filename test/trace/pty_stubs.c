/* Pseudo-terminals, of which OCaml's Unix has none. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <caml/alloc.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/unixsupport.h>

/* The descriptor of the master's side. */
value pty_open(value unit)
{
  int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 || grantpt(fd) < 0 || unlockpt(fd) < 0)
    caml_uerror("posix_openpt", Nothing);
  return Val_int(fd);
}

value pty_name(value fd)
{
  char *name = ptsname(Int_val(fd));
  if (name == NULL) caml_uerror("ptsname", Nothing);
  return caml_copy_string(name);
}

value pty_resize(value fd, value rows, value columns)
{
  struct winsize size = {
    .ws_row = Int_val(rows), .ws_col = Int_val(columns)
  };
  if (ioctl(Int_val(fd), TIOCSWINSZ, &size) < 0)
    caml_uerror("TIOCSWINSZ", Nothing);
  return Val_unit;
}
