(** What holds for every operation of every structure. *)

val suites :
  int Operations.t list -> (string * unit Alcotest.test_case list) list
(** For each of these operations: the order in which those who wait are served,
    who is cancelled, at which moment, and that nothing is lost by it, memory,
    other hosts, the end. All that in direct style, as the operation's event,
    and in a choice; and the two sides of a choice. *)
