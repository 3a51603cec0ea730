(** Processes. *)

open Unix

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
  (Output_channel.out_channel -> Input_channel.in_channel -> 'a) ->
  'a * process_status
(** [with_process program args f] starts a process, like [Unix.create_process],
    and calls [f to_it from_it], with channels to its standard input, and from
    its standard output. [f] may close them, for example the first one to end
    the input. Afterwards they are closed, and the process is waited for.

    {[
      # Concord_aio.(
          with_process "tr" [| "tr"; "a-z"; "A-Z" |] (fun to_it from_it ->
              output_string to_it "hello\n";
              close_out to_it;
              input_line from_it))
      - : string * Unix.process_status = ("HELLO", Unix.WEXITED 0)
    ]}

    Its standard error is the caller's, and its environment too, if you give no
    [env].

    - {b Suspends} where [f] does, and until the process has ended. If a process
      writes much, read from it, or it waits forever.
    - {b Cancelled}, or if [f] raises, the process is killed ([SIGKILL]), and
      waited for. What is in the buffer of [to_it] is dropped.
    - {b Raises} [Sys_error] if [to_it] can't be written, because the process
      has ended or closed its input. (If [SIGPIPE] isn't ignored, the signal
      ends your program.)
    - {b Raises} [Unix.Unix_error (error, "with_process", program)] if no
      process can be started, for example because no descriptor is left
      ([EMFILE]). If there is no such program, that is so, or the status is
      [WEXITED 127], as in [Unix]. *)
