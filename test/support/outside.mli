(** Where no effect is handled, and nothing may wait. *)

val suite : (unit -> unit) -> string * unit Alcotest.test_case list
(** The function, a test of operations that never suspend, in a plain thread, in
    a signal handler and in a finaliser. *)
