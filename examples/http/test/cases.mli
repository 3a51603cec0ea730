(** What both servers have to do, whatever runs them. *)

val cases : Process.program -> hint:string -> unit Alcotest.test list
(** [hint] is what the program answers where it has no page. *)

val of_variant : Process.program -> unit Alcotest.test_case list
(** The few that may fail for one way to compute only. *)
