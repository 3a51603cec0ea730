(** What {!Monadic} needs of a library of promises. *)

(** What all styles have. *)
module type Promises = sig
  type 'a t

  val return : 'a -> 'a t
  val fail : exn -> Printexc.raw_backtrace -> 'a t
  val bind : 'a t -> ('a -> 'b t) -> 'b t

  val try_bind : (unit -> 'a t) -> ('a -> 'b t) -> (exn -> 'b t) -> 'b t
  (** [try_bind f return fail] goes on with [return v] when [f ()] has the value
      [v], or with [fail e] when it has failed with [e]. *)

  val enter : unit -> unit
  (** Called before [suspend] and [wait].

      - {b Raises} [e] if the calling thread does not belong to the style, and
        so cannot suspend in it. *)

  val isolate : (unit -> 'a t) -> 'a t
  (** [isolate f] is [f ()]. What the library keeps for the code that it runs
      (its storage, its context) is afterwards as it was, although [f] may have
      been suspended in the middle. *)

  val host : unit -> Host_kit.t option
  (** The calling thread's loop, if it was registered by
      {!Concord.Tools.Host_kit.using}. *)
end

(** A library of promises. *)
module type Style = sig
  include Promises

  val suspend :
    protected:bool ->
    ('a Suspend.resumer -> 'a option) ->
    (('a, exn) result -> 'b t) ->
    'b t
  (** [suspend ~protected block go_on] does what a host does, by the contract of
      {!Concord.Tools.Suspend}, and then goes on with the outcome. The exception
      of a cancellation is an outcome too, unless [protected]. A cancellation
      that comes after the outcome, or is protected, is lost: see
      {!Style_with_wait}. *)
end

(** A library whose promises can be cancelled, or whose loop calls code until
    there is none left to be called; or that waits for one operation faster than
    by [suspend]. *)
module type Style_with_wait = sig
  include Promises

  val suspend :
    protected:bool ->
    late:(exn -> unit) ->
    cancelled:(exn -> 'b t) ->
    ('a Suspend.resumer -> 'a option) ->
    (('a, exn) result -> 'b t) ->
    'b t
  (** [suspend ~protected ~late ~cancelled block go_on] goes on with the outcome
      of the resumer, or of [block]. If the promise is cancelled while it waits,
      [suspend] goes on with [cancelled e] instead, where [e] is the exception
      of the cancellation. If it is [protected], or has been resumed before,
      [suspend] calls [late e] at once, and goes on with the outcome. *)

  val wait :
    late:('b -> exn -> 'b t) ->
    ('t, 'x, 'a) Structure_kit.operation ->
    't ->
    ('x, 'a) Structure_kit.waiter ->
    ('a -> 'b) ->
    'b t
  (** [wait ~late operation t waiter result] does that with
      [Structure_kit.block operation t waiter], unprotected. It gives
      [result v], where [v] is the outcome, or goes on with [late (result v) e]
      if it was cancelled after it had been resumed; or it fails, after
      [Structure_kit.withdraw operation t waiter].

      [result] only changes the type of what it is given, and is called by the
      thread that resumes. *)

  val cancel : 'a t -> unit
  (** Cancels what the promise waits for. *)

  val at_once : int ref
  (** How many operations may still be done at once before {!turn} is asked:
      each that does not wait takes one. Otherwise tasks whose operations never
      wait would stop the loop. *)

  val turn : unit -> unit t option
  (** Asked before an operation when {!at_once} is used up. [None]: the
      operation is begun now. Else it is begun after that promise, which is
      resolved, or cancelled, when others have had their turn. *)
end

(** How its tasks are called in reports. *)
module type Host = sig
  val name : string
end
