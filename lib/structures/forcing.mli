(** Lazy values that are being forced, and what each of them waits for.

    A task that forces [x] runs its computation under a handler. So a task finds
    the lazy values that it is itself forcing on its own stack, whatever its
    host, and needs no identity. *)

type turn =
  | Settled  (** The lazy value is forced. *)
  | Yours  (** The task that is resumed with this forces the value now. *)

type 'a state =
  | Value of 'a
  | Failed of exn * Printexc.raw_backtrace
  | Unforced of 'a computation * watchers
  | Forcing of {
      computation : 'a computation;
      by : Holders.t;
      waiters : (Holders.t, turn) Waiters.t;  (** Tasks that force it. *)
      watchers : watchers;
      need : need;
          (** What the task that forces the value waits for, if that is a lazy
              value that is being forced too. *)
    }

and watchers = (unit, unit) Waiters.t
(** Events. *)

and 'a computation = {
  compute : unit -> 'a;
  restarts : exn -> bool;
      (** Is it to be run again, by the next task that wants the value, after it
          raised this? *)
  failed_before : exn option;
      (** What it raised when it ran last, if it is to be run again. *)
  mutable sought : sought;
}

and sought
and need
and 'a t = 'a state Atomic.t
and any = Any : 'a t -> any

val make : (unit -> 'a) -> restarts:(exn -> bool) -> 'a t
(** Unforced. *)

(** {2 The caller's own stack} *)

type frame
(** A lazy value that is being forced there. *)

type _ Effect.t +=
  | Enclosing : frame list ref -> unit Effect.t
        (** A question: each forcing adds itself as it passes. *)

val run : 'a t -> 'a computation -> 'a
(** [run t computation] computes, as a frame. What it raises has the backtrace
    of the computation. *)

val was_refused : 'a computation -> bool
(** Had code in the computation to wait, and could not
    ({!Concord.Tools.Host_kit.refuse}), since it was run? Asking resets the
    answer. Such a computation has not failed. *)

type passing = Passing : 'b Effect.t -> passing

val seek : frame list -> passing -> unit
(** Before an effect is performed: tell the frames to look for it. *)

val passed : frame list -> frame list
(** The frames that saw the effect pass. None of the frames seeks any more. *)

val collect : ((passing -> unit) -> unit) -> frame list
(** [collect reach] are the frames, from the innermost on, that saw the last
    effect pass that [reach] announced before performing it. No other task of
    the thread performs one that is physically equal meanwhile. *)

(** {2 What waits for what} *)

val no_need : need

val holds : need -> bool
(** The wait has not ended. *)

val while_needed : 'a t -> frame list -> (unit -> 'b) -> 'b
(** [while_needed t frames f] is [f ()], in which the task of these frames waits
    for [t]. Nothing is allocated after [f], so that a signal handler can't
    raise there. *)

val leads_to : frame list -> 'a t -> bool
(** Does the task that forces [t] wait, over any number of other tasks, for one
    of the frames? If several tasks that close a cycle ask, each in
    {!while_needed}, at least one gets [true]. *)
