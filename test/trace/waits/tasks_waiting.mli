(** A program in which tasks wait in all operations. *)

val in_a_host : Test_host.t -> all:bool -> unit -> unit
(** Runs the host. Its tasks wait in all operations, or in one, and never end.
*)

val domain : Test_host.t -> all:bool -> unit
(** The same in a new domain. *)

val answer : unit -> unit
(** Starts a thread that prints [ready] when all tasks wait. For each line that
    it reads, it prints the program's own report, as {!Shown} does, and then
    [end]. If the program has the argument [collect], all is in the major heap
    then, otherwise almost all is in the minor heap. *)
