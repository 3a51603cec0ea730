type number = int
type since = int

external number : int -> number = "concord_signal_number" [@@noalloc]
external named : number -> int = "concord_signal_named" [@@noalloc]

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
      (sigchld, "SIGCHLD");
      (sigcont, "SIGCONT");
      (sighup, "SIGHUP");
      (sigint, "SIGINT");
      (sigpipe, "SIGPIPE");
      (sigpoll, "SIGPOLL");
      (sigprof, "SIGPROF");
      (sigquit, "SIGQUIT");
      (sigterm, "SIGTERM");
      (sigtrap, "SIGTRAP");
      (sigtstp, "SIGTSTP");
      (sigttin, "SIGTTIN");
      (sigttou, "SIGTTOU");
      (sigurg, "SIGURG");
      (sigusr1, "SIGUSR1");
      (sigusr2, "SIGUSR2");
      (sigvtalrm, "SIGVTALRM");
    ]

let name number =
  match List.assoc_opt (named number) names with
  | Some name -> name
  | None -> Printf.sprintf "signal %d" number
