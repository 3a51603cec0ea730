(** Atomics with a cache line of their own. *)

val atomic : 'a -> 'a Atomic.t
(** An atomic that one domain writes while another one writes its neighbours:
    the collector puts blocks of one size side by side, so that two atomics
    mostly share a line, and each write of either takes the line from the other
    domain. 17 words instead of 2; before OCaml 5.2 an ordinary atomic. *)
