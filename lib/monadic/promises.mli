(** The functions that {!Monadic} needs from a library of promises. *)

(** The functions that all styles have. *)
module type Promises = sig
  (** {2 Promises} *)

  type 'a t
  (** A promise of the library. *)

  val return : 'a -> 'a t
  (** [return v] is resolved with [v]. *)

  val fail : exn -> Printexc.raw_backtrace -> 'a t
  (** [fail e backtrace] has failed with [e]. *)

  val bind : 'a t -> ('a -> 'b t) -> 'b t
  (** [bind t f] continues with [f v] when [t] has the value [v]. *)

  val try_bind : (unit -> 'a t) -> ('a -> 'b t) -> (exn -> 'b t) -> 'b t
  (** [try_bind f return fail] continues with [return v] when [f ()] has the
      value [v], or with [fail e] when it has failed with [e]. *)

  (** {2 The calling thread} *)

  val enter : unit -> unit
  (** [enter ()] is called before [suspend] and [wait].

      - {b Raises} [e] if the calling thread does not belong to the style, and
        so cannot suspend in it. *)

  val isolate : (unit -> 'a t) -> 'a t
  (** [isolate f] is [f ()]. Afterwards the state that the library keeps for the
      running code (its storage, its context) is the same as before, even if [f]
      was suspended in the middle. *)

  val host : unit -> Host_kit.t option
  (** [host ()] is the calling thread's loop, if it was registered by
      {!Concord.Tools.Host_kit.using}. *)
end

(** A library of promises. *)
module type Style = sig
  include Promises

  (** {2 Waiting} *)

  val suspend :
    protected:bool ->
    ('a Suspend.resumer -> 'a option) ->
    (('a, exn) result -> 'b t) ->
    'b t
  (** [suspend ~protected block go_on] suspends as a host does, by the contract
      of {!Concord.Tools.Suspend}, and then calls [go_on] with the outcome.

      The exception of a cancellation is an outcome too, unless [protected]. If
      a cancellation comes after the outcome, or is protected, it is lost.
      {!Style_with_wait} doesn't lose it. *)
end

(** A library that needs more than {!Style}. Its promises can be cancelled, its
    loop calls code until there is none left, or it can wait for one operation
    faster than by [suspend]. *)
module type Style_with_wait = sig
  include Promises

  (** {2 Waiting} *)

  val suspend :
    protected:bool ->
    late:(exn -> unit) ->
    cancelled:(exn -> 'b t) ->
    ('a Suspend.resumer -> 'a option) ->
    (('a, exn) result -> 'b t) ->
    'b t
  (** [suspend ~protected ~late ~cancelled block go_on] calls [go_on] with the
      outcome of the resumer, or of [block].

      If the promise is cancelled with [e] while it waits, [suspend] calls
      [cancelled e] instead. If it is [protected], or has been resumed before,
      [suspend] calls [late e] at once, and continues with the outcome. *)

  val wait :
    late:('b -> exn -> 'b t) ->
    ('t, 'x, 'a) Structure_kit.operation ->
    't ->
    ('x, 'a) Structure_kit.waiter ->
    ('a -> 'b) ->
    'b t
  (** [wait ~late operation t waiter result] is such a wait for
      [Structure_kit.block operation t waiter], unprotected.

      - If it is resumed with [v], it returns [result v].
      - If it is cancelled with [e] after that, and [operation.undo] can undo
        it, it fails with [e]. Otherwise it continues with [late (result v) e].
      - Otherwise it fails, after [Structure_kit.withdraw operation t waiter].

      [result] only changes the type of its argument. The thread that resumes
      calls it. *)

  (** {2 Turns of other tasks} *)

  val at_once : int ref
  (** The number of operations that may still be performed at once before
      {!turn} is asked.

      Each operation that does not wait takes one. Otherwise tasks whose
      operations never wait would stop the loop. *)

  val turn : unit -> unit t option
  (** [turn ()] is asked before an operation when {!at_once} is used up.

      If it is [None], the operation begins now. Otherwise it begins after that
      promise, which is resolved, or cancelled, when other tasks have run. *)
end

(** The name of its tasks in reports. *)
module type Host = sig
  val name : string
end
