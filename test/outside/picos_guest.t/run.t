A scheduler of Picos in another domain, and a task of Eio that is a fiber of Picos.

  $ . ../project.sh
  $ install concord concord-core concord-suspend concord-picos
  $ build
  $ run ivar
  an answer

Without its first line, no scheduler of Picos runs there, and the error says which function to
call.

  $ run forgotten
  Invalid_argument("must be called from the main thread on the main domain"): Picos is not configured. Call Picos_io_select.configure () in the main thread before other threads or domains start
