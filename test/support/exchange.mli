(** Two domains that wait for each other again and again. *)

val between :
  rounds:int -> ((unit -> unit) -> unit) -> ((unit -> unit) -> unit) -> unit
(** [between ~rounds here there] exchanges [rounds] numbers. A task of [here],
    in the calling domain, puts each number, and a task of [there], in another
    domain, answers with the same number. The test checks the numbers. *)
