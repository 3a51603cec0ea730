(** Lazy values being forced, and the values each of them waits for.

    If a task forces [x], it runs the computation of [x] under a handler. A task
    therefore finds the lazy values it is itself forcing on its own stack. This
    works on every host, because the task needs no identity. *)

type turn =
  | Settled  (** The lazy value is forced. *)
  | Yours  (** The resumed task has to force the value now. *)

type 'a state =
  | Value of 'a
  | Failed of exn * Printexc.raw_backtrace
  | Unforced of 'a computation * watchers
  | Forcing of {
      computation : 'a computation;
      by : Holders.t;
      waiters : (Holders.t, turn) Waiters.t;  (** Tasks forcing the value. *)
      watchers : watchers;
      need : need;
          (** The lazy value the forcing task waits for, if that value is being
              forced too. *)
    }

and watchers = (unit, unit) Waiters.t
(** Events. *)

and 'a computation = {
  compute : unit -> 'a;
  restarts : exn -> bool;
      (** It returns [true] if the next task should run the computation again
          after this exception. *)
  failed_before : exn option;
      (** The exception of the last run, if the computation will run again. *)
  mutable sought : sought;
}

and sought
and need
and 'a t = 'a state Atomic.t
and any = Any : 'a t -> any

val make : (unit -> 'a) -> restarts:(exn -> bool) -> 'a t
(** [make compute ~restarts] returns an unforced value. *)

(** {2 The caller's own stack} *)

type frame
(** A lazy value being forced on this stack. *)

type _ Effect.t +=
  | Enclosing : frame list ref -> unit Effect.t
        (** A question, to which each forcing adds itself as the effect passes.
        *)

val run : 'a t -> 'a computation -> 'a
(** [run t computation] computes the value, as a frame. Its exceptions have the
    backtrace of the computation. *)

val was_refused : 'a computation -> bool
(** [was_refused computation] is [true] if code in the computation had to wait
    and could not ({!Concord.Tools.Host_kit.refuse}), since it was run. Asking
    resets the answer. Such a computation has not failed. *)

type passing = Passing : 'b Effect.t -> passing

val seek : frame list -> passing -> unit
(** [seek frames passing] tells the frames to look for an effect. Call it before
    the effect is performed. *)

val passed : frame list -> frame list
(** [passed frames] are the frames that saw the effect pass. Afterwards, none of
    the frames seeks it. *)

val collect : ((passing -> unit) -> unit) -> frame list
(** [collect reach] are the frames that saw the last effect pass, the innermost
    one first. [reach] has to announce each effect before performing it.
    Meanwhile, no other task of the thread may perform a physically equal
    effect. *)

(** {2 Which task waits for which value} *)

val no_need : need

val holds : need -> bool
(** [holds need] is [true] while the wait has not ended. *)

val while_needed : 'a t -> frame list -> (unit -> 'b) -> 'b
(** [while_needed t frames f] calls [f ()], while the task of these frames waits
    for [t]. Unbroken after [f]. *)

val leads_to : frame list -> 'a t -> bool
(** [leads_to frames t] is [true] if the task forcing [t] waits for one of the
    frames, directly or through other tasks. If several tasks close a cycle and
    ask, each in {!while_needed}, at least one of them gets [true]. *)
