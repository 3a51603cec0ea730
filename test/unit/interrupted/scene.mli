(** What the battery of interruptions needs to know of an operation. *)

type t = {
  perform : unit -> int list;  (** Its result, as numbers. *)
  parts : (unit -> unit) list;
      (** For an operation that repeats another one: up to where it may have
          come. *)
  wake : (unit -> unit) option;
      (** What lets it continue if it has to wait. Never waits. *)
  remembers : bool;  (** Also if it comes to wait after that. *)
  beside : (unit -> unit) option;
      (** Comes and leaves, and changes nothing. Another domain does it
          meanwhile. *)
  waiters : unit -> int;
  look : unit -> int list;
      (** Takes the structure apart: what was in it, what those who waited have
          got, and that a full round of operations works. *)
}

type case = { name : string; make : unit -> t }

val scene :
  ?parts:(unit -> unit) list ->
  ?wake:(unit -> unit) ->
  ?remembers:bool ->
  ?beside:(unit -> unit) ->
  waiters:(unit -> int) ->
  look:(unit -> int list) ->
  (unit -> int list) ->
  t

(** {2 Tasks that wait} *)

val come : (unit -> int) -> unit -> int
(** [come f] runs [f] up to where it waits. The result lets it continue if it
    was resumed, or else cancels it, and gives what it returned: {!none} if it
    was cancelled. *)

val none : int

val visit : (unit -> int) -> unit -> unit
(** Comes, and leaves at once. *)

(** {2 The operations of the table} *)

val of_operation : int Concord_test_support.Operations.t -> case list
(** Where it waits: itself, and its event alone and in choices. *)
