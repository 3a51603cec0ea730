(** Processes. *)

open Unix

(** {2 Processes} *)

val waitpid : wait_flag list -> int -> int * process_status
(** [waitpid] is [Unix.waitpid].

    - {b Suspends} until the process has ended. Linux has a descriptor for each
      process, so waiting for one process needs no thread. It needs one if the
      number isn't positive, with [WUNTRACED], and on other systems.
    - {b Cancelled}, the process continues, and you can wait for it again. If a
      thread waits, it continues to wait, and may take the status. *)

val with_process :
  ?env:string array ->
  string ->
  string array ->
  (file_descr -> file_descr -> 'a) ->
  'a * process_status
(** [with_process program args f] starts a process, like [Unix.create_process],
    and calls [f to_it from_it], with the ends of pipes to its standard input,
    and from its standard output. [f] may close them, by {!Concord_aio.close},
    for example the first one to end the input. Afterwards they are closed, and
    the process is waited for.

    Its standard error is the caller's, and its environment too, if you give no
    [env].

    - {b Suspends} where [f] does, and until the process has ended. A process
      that writes much must be read, or it waits forever.
    - {b Cancelled}, or if [f] raises, the process is killed ([SIGKILL]), and
      waited for.
    - {b Raises} [Unix.Unix_error] if no process can be started. If there is no
      such program, that is so, or the status is [WEXITED 127], as in [Unix]. *)
