(* OCaml's runtime has its own numbers of signals, but shells report the system's. *)
let number_of_signal signal =
  let numbers =
    Sys.
      [
        (sighup, 1);
        (sigint, 2);
        (sigquit, 3);
        (sigill, 4);
        (sigabrt, 6);
        (sigfpe, 8);
        (sigkill, 9);
        (sigsegv, 11);
        (sigpipe, 13);
        (sigalrm, 14);
        (sigterm, 15);
      ]
  in
  Option.value (List.assoc_opt signal numbers) ~default:(Int.max 0 signal)

let of_status : Unix.process_status -> int = function
  | WEXITED code -> code
  | WSIGNALED signal | WSTOPPED signal -> 128 + number_of_signal signal
