(** Two domains, each of which waits for the other one again and again. *)

val between :
  rounds:int -> ((unit -> unit) -> unit) -> ((unit -> unit) -> unit) -> unit
(** [between ~rounds here there]: so many times a task of [here], which runs it
    in the calling domain, puts a number, and one of [there], in another domain,
    answers with the same one. Checked are the numbers. *)
