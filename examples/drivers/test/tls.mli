(** The tests of TLS, none if [ssl] is not installed. *)

val services : (string * (unit -> Service.t)) list
val tests : unit Alcotest.test_case list
