type number = int
type since = int

external number : int -> number = "concord_signal_number" [@@noalloc]
external named : int -> int = "concord_signal_named" [@@noalloc]

external catch : Unix.file_descr -> number -> every:bool -> since
  = "concord_signal_catch"
[@@noalloc]

external release : number -> since -> every:bool -> unit
  = "concord_signal_release"
[@@noalloc]

external count : number -> int = "concord_signal_count" [@@noalloc]

let come number ~since = count number - since
let number signal = match number signal with 0 -> None | n -> Some n

let catch pipe number ~every =
  match catch pipe number ~every with -1 -> None | since -> Some since

let names =
  Sys.
    [
      (sigabrt, "SIGABRT");
      (sigalrm, "SIGALRM");
      (sigbus, "SIGBUS");
      (sigchld, "SIGCHLD");
      (sigcont, "SIGCONT");
      (sigfpe, "SIGFPE");
      (sighup, "SIGHUP");
      (sigill, "SIGILL");
      (sigint, "SIGINT");
      (sigkill, "SIGKILL");
      (sigpipe, "SIGPIPE");
      (sigpoll, "SIGPOLL");
      (sigprof, "SIGPROF");
      (sigquit, "SIGQUIT");
      (sigsegv, "SIGSEGV");
      (sigstop, "SIGSTOP");
      (sigsys, "SIGSYS");
      (sigterm, "SIGTERM");
      (sigtrap, "SIGTRAP");
      (sigtstp, "SIGTSTP");
      (sigttin, "SIGTTIN");
      (sigttou, "SIGTTOU");
      (sigurg, "SIGURG");
      (sigusr1, "SIGUSR1");
      (sigusr2, "SIGUSR2");
      (sigvtalrm, "SIGVTALRM");
      (sigxcpu, "SIGXCPU");
      (sigxfsz, "SIGXFSZ");
    ]

(* No system has signals outside of these bounds. The runtime would convert them to an [int] of
   C, and so to another number. *)
let known_name signal =
  if signal < -1000 || signal > 1000 then None
  else List.assoc_opt (named signal) names

let name signal =
  match known_name signal with
  | Some name -> name
  | None -> Printf.sprintf "signal %d" signal

let name_and_number signal =
  match known_name signal with
  | Some name -> Printf.sprintf "%s (%d)" name signal
  | None -> name signal
