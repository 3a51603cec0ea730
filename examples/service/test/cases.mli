(** What is tested with each database. *)

type load
(** Clients that are at work. *)

val start_load : Random.State.t -> Child.t -> clients:int -> n:int -> load
(** Clients that post numbers up to [n] at random, wait for answers, delete,
    read events, and hang up in the middle. *)

val answered : load -> int -> unit Lwt.t
(** Waits until that many requests have had an answer. *)

val end_load : load -> unit Lwt.t
(** Lets each client end what it does. *)

val with_locked : Child.t -> (unit -> 'a Lwt.t) -> 'a Lwt.t
(** Runs the function while another connection has the file of SQLite locked. *)

val poll : string -> (unit -> bool Lwt.t) -> unit Lwt.t
(** Waits for the condition, but not for ever. *)

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
(** Ends a service at a random moment under load, and compares what its clients
    were told, what it says itself, and what is in the database. *)

val loads : Random.State.t -> domains:int -> int list
(** Three equal loads of one service, after one more to warm it up. Fails unless
    it has as few descriptors after each as before. The result is its resident
    memory in KB after each. *)
