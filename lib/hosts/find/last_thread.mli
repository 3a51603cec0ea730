(** A thread that is about to wait, and that nothing may wake any more. *)

open Concord_suspend

val or_tell : ('a resumer -> 'a option) -> 'a resumer -> 'a option
(** [or_tell block resumer] is [block resumer]. If the thread is to wait, and is
    the last one of the program that does anything, its wait or that of lost
    tasks ends with {!Leaks.Never_resumed}: for programs in which leaks are
    looked for. *)

val or_tell_only : ('a resumer -> 'a option) -> 'a resumer -> 'a option
(** The same of the only thread that the program has ever had. *)
