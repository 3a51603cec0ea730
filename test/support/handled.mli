(** Hosts that a test defines by saying how they handle the one effect. *)

open Concord.Tools

type 'r handler = {
  suspend :
    'a.
    ('a Suspend.resumer -> 'a option) -> ('a, 'r) Effect.Deep.continuation -> 'r;
}
(** What the host does with a [block], and with the task that waits in it. *)

val run : 'r handler -> ret:('b -> 'r) -> (unit -> 'b) -> 'r
(** [run handler ~ret f] is [ret (f ())] on this host. It handles no other
    effect, and raises what [f] raises. *)

val until_wait : unit handler -> (unit -> unit) -> unit
(** Like {!run}, but fails if [f] returns. *)

val go_on : ('a, 'r) Effect.Deep.continuation -> ('a, exn) result -> 'r
(** Continues the task with the outcome that its resumer was given. *)
