(** The properties that hold for every operation of every structure. *)

val suites :
  int Operations.t list -> (string * unit Alcotest.test_case list) list
(** The cases for each of these operations. They check which value each waiter
    gets and in which order, the memory that is used, other hosts, and signal
    handlers that raise. Each case runs in direct style, as the operation's
    event, and in a choice. For some operations, one choice contains the event
    twice. *)
