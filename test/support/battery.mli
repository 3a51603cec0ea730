(** What holds for every operation of every structure. *)

val suites :
  int Operations.t list -> (string * unit Alcotest.test_case list) list
(** For each of these operations what each of those who wait gets, and in which
    order; memory; other hosts; what a signal handler interrupts. All that in
    direct style, as the operation's event, and in a choice; and the event twice
    in one choice. *)
