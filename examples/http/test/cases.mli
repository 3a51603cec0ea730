(** The test cases that every server has to pass, whatever it runs on. *)

val cases : Process.program -> hint:string -> unit Alcotest.test list
(** [hint] is the answer of the program if it has no such page. *)

val of_variant : Process.program -> unit Alcotest.test_case list
(** The few cases that may fail for a single way to compute. *)
