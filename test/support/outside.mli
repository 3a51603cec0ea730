(** Places where no effect is handled, so nothing may wait. *)

val suite : (unit -> unit) -> string * unit Alcotest.test_case list
(** Runs the function in a plain thread, in a signal handler and in a finaliser.
    The function tests operations that never suspend. *)
