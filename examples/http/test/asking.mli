(** Sends requests to a server, and checks the answers. *)

val check_int : string -> int -> int -> unit
val check_string : string -> string -> string -> unit
val url : Process.t -> string -> string
val get : ?version:string -> ?headers:string -> string -> string

val expect : string
(** Headers of a request with a body of three bytes. The client waits for
    permission to send the body. *)

val with_client : Process.t -> (Raw.t -> unit) -> unit

val check_answer : Raw.t -> ?status:int -> ?keep_alive:bool -> string -> unit
(** Checks that the next answer has this line as its body. *)

val check_alive : Process.t -> unit
(** Checks that the server still answers. *)

val curl : Process.t -> string list -> string list -> string

val wrk : Process.t -> ?connections:int -> string -> int option
(** The number of requests for this path that were answered. It fails if an
    answer is wrong, and is [None] if wrk is not installed. *)
