(** The output while a program runs, on the standard output. It is a table at
    the bottom of a terminal, or else a line each second. *)

type t

val create : table:bool -> program:string -> Recorder.t -> t
(** Nothing is shown unless [table], nor once the standard output was closed. *)

val add : t -> Recorder.item -> unit
val profile : t -> Profile.t

val show : t -> unit
(** Shows the current state, if it is time to. *)

val show_all : t -> unit
(** The last table, which stays and counts all of the run, with the waiting time
    of tasks by operation. *)

val leave : t -> unit
(** Restores the terminal. *)

val amount : int -> string
(** An amount of bytes, for people. *)
