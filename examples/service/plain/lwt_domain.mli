(** Lwt's loop in a domain of its own, for a program that runs Eio. *)

type 'r t
(** The loop, and a value of type ['r] that only functions in the loop use. *)

val with_domain :
  close:('r -> unit Lwt.t) -> (unit -> 'r Lwt.t) -> ('r t -> 'a) -> 'a
(** [with_domain ~close create f] calls [create ()] in a new loop, then [f loop]
    in the calling fiber, and finally [close] in the loop.

    @raise e if [create] fails with [e]. *)

val call : 'r t -> ('r -> 'a Lwt.t) -> 'a
(** [call t f] makes the loop call [f], and waits for the result. Fibers of any
    domain can use it. If the fiber is cancelled, the promise of [f] is, too,
    and [call] waits for its end. If the promise has a value nevertheless,
    [call] returns it. *)
