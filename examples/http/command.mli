(** The options, the socket and the signals of all HTTP servers here. *)

open Http_message

type options

val options : options Cmdliner.Term.t
val domains : options -> int
val max_n : options -> int

val option :
  string ->
  'a Cmdliner.Arg.conv ->
  default:'a ->
  docv:string ->
  string ->
  'a Cmdliner.Term.t
(** [option name kind ~default ~docv doc] is a further option. *)

type serve = Host.t -> (Http.Request.t -> string -> Message.answer) -> unit
(** {!Server.run} with the limits of the options. It runs until a signal comes.
*)

val run : options -> name:string -> (Unix.file_descr -> serve -> unit) -> int
(** [run options ~name f] prints its address, and calls [f] with a listening
    socket. The result is the exit code of the program. It is 1 if the program
    cannot listen. *)

val signals : Cmdliner.Manpage.block
(** What the programs do after a signal, for the manual page. *)
