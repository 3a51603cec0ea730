(** Asking a server, and checking what it answers. *)

val check_int : string -> int -> int -> unit
val check_string : string -> string -> string -> unit
val url : Process.t -> string -> string
val get : ?version:string -> ?headers:string -> string -> string

val expect : string
(** Headers of a body of three bytes, for which the server is to ask. *)

val with_client : Process.t -> (Raw.t -> unit) -> unit

val check_answer : Raw.t -> ?status:int -> ?keep_alive:bool -> string -> unit
(** The next answer has this line as its body. *)

val check_alive : Process.t -> unit
(** It still answers. *)

val curl : Process.t -> string list -> string list -> string

val wrk : Process.t -> ?connections:int -> string -> int option
(** How many requests for this path were answered; none badly. [None] if wrk is
    not installed. *)
