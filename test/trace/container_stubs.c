/* What OCaml's Unix has no function for. */

#define _GNU_SOURCE
#include <sched.h>
#include <sys/mount.h>

#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/unixsupport.h>

/* The calling process gets a view of its own of the file systems, in which this folder is empty,
   and the next process that it forks gets number 1. */
value container_enter(value folder)
{
  if (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0) caml_uerror("unshare", folder);
  /* Otherwise the others would see the new file system, too. This fails in a chroot, where ./dev
     has made sure of it. */
  (void)mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
  if (mount("none", String_val(folder), "tmpfs", 0, NULL) < 0)
    caml_uerror("mount", folder);
  return Val_unit;
}
