(** What the two programs have in common: options, the socket, the signals. *)

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
(** [option name kind ~default ~docv doc] is one more. *)

type serve = Host.t -> (Http.Request.t -> Message.answer) -> unit
(** {!Server.run}, within the limits of the options, until a signal comes. *)

val run : options -> name:string -> (Unix.file_descr -> serve -> unit) -> int
(** [run options ~name f] calls [f] with a socket that listens, having printed
    where. The result is the exit code of the program, which is 1 if it cannot
    listen. *)

val signals : Cmdliner.Manpage.block
(** What the programs do on signals. *)
