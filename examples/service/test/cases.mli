(** The test cases that run with each database. *)

type load
(** Clients that send requests. *)

val start_load : Random.State.t -> Child.t -> clients:int -> n:int -> load
(** The clients post random numbers up to [n], wait for answers, delete jobs,
    read events, and hang up in the middle. *)

val answered : load -> int -> unit Lwt.t
(** Waits until this number of requests have been answered. *)

val end_load : load -> unit Lwt.t
(** Lets each client finish its current request. *)

val with_locked : Child.t -> (unit -> 'a Lwt.t) -> 'a Lwt.t
(** Runs the function while another connection locks the file of SQLite. *)

val with_connection :
  Child.t -> ((string -> unit Lwt.t) -> 'a Lwt.t) -> 'a Lwt.t
(** Passes a function that executes a statement in the database. *)

val poll : string -> (unit -> bool Lwt.t) -> unit Lwt.t
(** Waits for the condition, and fails after some time. *)

val stop_under_load :
  ?options:string list ->
  ?database:string ->
  ?program:string ->
  ?lock:[ `Past_the_signal | `Past_the_end ] ->
  Random.State.t ->
  domains:int ->
  grace:float ->
  n:int ->
  unit
(** Ends a service at a random moment under load. Then it compares the answers
    to the clients, the service's own numbers, and the database. *)

val loads : Random.State.t -> domains:int -> int list
(** Puts three equal loads on one service, after another load that warms it up.
    It fails unless the service has no more descriptors after each load than
    before. The result is the resident memory in KB after each load. *)
