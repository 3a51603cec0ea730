(** How others reach Async's scheduler.

    Async's state belongs to the thread that holds Async's lock, on the domain
    that Async was linked on. What others want done there goes through an inbox.
    (Async's own [Thread_safe] relies on the master lock, which is one for each
    domain: it serves the threads of that domain only.) *)

val is_here : unit -> bool
(** May the calling thread touch Async's state? *)

val enter : unit -> unit
(** Must be called before the first {!post}.
    @raise Invalid_argument unless {!is_here}. *)

val post : (unit -> unit) -> unit
(** [post job] has [job ()] called in a cycle of Async, soon, in the order of
    the calls. From any thread of any domain, at any moment. [job] does not
    raise.
    - {b Cost}: O(1). A system call only if no cycle is on, and none was asked
      for. *)
