(** The shapes in which a request may arrive, right and wrong, and what a server
    has to do with each. Every example with an HTTP port passes all of them. *)

type server = {
  page : string;  (** [GET] of this path has status 200. *)
  post : string;  (** A path to which [10] is posted. *)
  posted : int;  (** The status of the answer. *)
}

val cases :
  (string list -> (int -> unit) -> unit) ->
  server ->
  (string * unit Alcotest.test_case list) list
(** [cases with_server server] has a case for each family of shapes.
    [with_server options f] starts the program with these options in addition,
    calls [f] with its port, and then stops the program. The program must know
    the options [--transfer-timeout] and [--idle-timeout]. *)
