let domains_were_spawned = Atomic.make false

let () =
  let spawned () = Atomic.set domains_were_spawned true in
  try Domain.before_first_spawn spawned
  with Invalid_argument _ -> (* the library was loaded late *) spawned ()

(* Linux lists the threads of a process. Among them are those that run no code of the
   program: the timers' thread; one with which OCaml takes turns between the threads of
   the main domain, once there was a second thread; and one that stands in for the main
   domain while that waits, once there was a second domain. A thread or a domain that
   runs brings such threads of its own: it is not overlooked, but for a thread of C that
   was started before any other thread. *)
let other_threads ~asleep =
  match Sys.readdir "/proc/self/task" with
  | exception Sys_error _ -> true
  | threads ->
      let helpers =
        1
        + Bool.to_int (Timer.has_thread ())
        + Bool.to_int (Atomic.get domains_were_spawned)
      in
      Array.length threads > 1 + helpers + asleep

let may_wake ~asleep = (not (Timer.is_idle ())) || other_threads ~asleep

(* OCaml itself catches SIGSEGV, signal 11, and the threads of C some above 31. *)
let of_the_program caught =
  Int64.logand caught 0x7fff_ffffL <> Int64.shift_left 1L 10
  && Int64.logand caught 0x7fff_ffffL <> 0L

let handle_signals () =
  let line_of input =
    let rec find () =
      match input_line input with
      | line -> (
          match String.split_on_char '\t' line with
          | [ "SigCgt:"; caught ] ->
              of_the_program (Int64.of_string ("0x" ^ caught))
          | _ -> find ())
      | exception End_of_file -> true
    in
    find ()
  in
  try In_channel.with_open_bin "/proc/self/status" line_of
  with Sys_error _ | Failure _ -> true
