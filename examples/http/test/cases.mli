(** What both servers have to do, whatever runs them. *)

val cases : Process.program -> hint:string -> unit Alcotest.test list
(** [hint] is what the program answers where it has no page. *)

val of_variant : Process.program -> unit Alcotest.test_case list
(** The few that may fail for one way to compute only. *)

val failing_handler :
  (Unix.file_descr -> (Http_service.Host.t -> unit) -> unit) -> unit -> unit
(** The function makes a host, in this process. *)

val accepted_at_once :
  (Unix.file_descr -> (Http_service.Host.t -> unit) -> unit) ->
  yield:(unit -> unit) ->
  unit ->
  unit
(** Likewise; [yield ()] gives the host's other tasks their turn. *)

val given_up :
  (Unix.file_descr -> (Http_service.Host.t -> unit) -> unit) -> unit -> unit
(** Likewise: an accept that is given up takes no client. *)

(** {2 For what only one of them does} *)

val url : Process.t -> string -> string
val get : ?version:string -> ?headers:string -> string -> string
val curl : Process.t -> string list -> string list -> string

val check_answer : Raw.t -> ?status:int -> ?keep_alive:bool -> string -> unit
(** The next answer has this line as its body. *)

val listener : backlog:int -> Unix.file_descr * int
(** A socket that listens on this machine, and its port. *)

val give_up : Http_service.Host.t -> unit
(** Begins an accept, and gives it up while no client is there. *)

val wrk : Process.t -> ?connections:int -> string -> int
(** How many requests for this path were answered; none badly. *)
