(** What is shown while a program runs, on the standard output: a table at the
    bottom of a terminal, or else a line each second. *)

type t

val create : table:bool -> program:string -> Recorder.t -> t
(** Nothing is shown unless [table], nor once the standard output was closed. *)

val add : t -> Recorder.item -> unit
val profile : t -> Profile.t

val show : t -> unit
(** Shows what there is, if it is time to. *)

val show_all : t -> unit
(** The last table, which stays and counts all of the run, and where tasks spent
    their waiting time. *)

val leave : t -> unit
(** The terminal is as it was. *)

val amount : int -> string
(** Of bytes, for people. *)
