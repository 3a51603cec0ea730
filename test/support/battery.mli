(** What holds for every operation of every structure: order, cancellation in
    each state, choice, the end, memory. *)

val suites :
  int Operations.t list -> (string * unit Alcotest.test_case list) list
