(** Describes an operation for the battery of interruptions. *)

type t = {
  perform : unit -> int list;  (** Returns the operation's result as numbers. *)
  parts : (unit -> unit) list;
      (** For an operation that may also stop in between. Each function performs
          a part after which it may stop. *)
  wake : (unit -> unit) option;
      (** Lets the operation continue if it has to wait, and never waits itself.
      *)
  remembers : bool;
      (** Whether [wake] has its effect even before the operation waits. *)
  beside : (unit -> unit) option;
      (** Comes and leaves, and changes nothing. Another domain calls it
          meanwhile. *)
  waiters : unit -> int;
  look : unit -> int list;
      (** Takes the structure apart. The result has its content, the values that
          its waiters got, and the outcome of a full round of operations. *)
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
(** [come f] runs [f] until it waits. The returned function lets [f] continue if
    it was resumed, and otherwise cancels it. It returns the result of [f], or
    {!none} if [f] was cancelled. *)

val none : int

val visit : (unit -> int) -> unit -> unit
(** Begins to wait, and leaves at once. *)

(** {2 The operations of the table} *)

val of_operation : int Concord_test_support.Operations.t -> case list
(** The cases in which the operation waits, called directly, and as an event
    alone and in choices. *)
