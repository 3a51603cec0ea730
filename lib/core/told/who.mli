(** The identity of tasks, for reports of which task waits, and which task holds
    a lock. *)

type t = {
  host : string;  (** For example ["fifo"], or [""] for a system thread. *)
  name : string;  (** For example ["task 12"]. *)
  domain : int;  (** The domain of the task when this was made. *)
  identity : Identity.pointer;
      (** A pointer to a value that only this task has. *)
  origin : origin option;  (** If that was noted. *)
}

and origin = {
  parent : t;  (** The task that forked it. *)
  forked_at : Printexc.raw_backtrace;
}

type _ Effect.t +=
  | Who : t option Effect.t
        (** A question ({!Concord_suspend.Ask}) for the identity of the calling
            task. A host answers it, or a handler between the task and its host.
        *)
  | Forked : origin -> bool Effect.t
        (** A question of a task that begins. The answer is [true] if the host
            keeps the origin, to give it to {!make}. *)

val make :
  ?domain:int -> ?origin:origin -> host:string -> name:string -> 'identity -> t
(** The last argument is not kept alive. The domain is by default the calling
    one. {b Cost}: a weak pointer ({!Identity.pointer}). A task is asked
    whenever it takes a lock, so use {!here} or {!Who_is.once} for the next
    time. *)

val make_strong : ?domain:int -> host:string -> name:string -> 'identity -> t
(** {!make} without a weak pointer, so it keeps the identity alive. Use it for a
    result that is not kept, as in a report, or that is needed for longer than
    the task lives ({!Identity.release}). *)

val here : ?domain:int -> t -> t
(** The same task, in this domain. *)

val same : t -> t -> bool
(** [true] if both are one task. [false] if they aren't, or that is not known.
*)

val unknown : string -> t
(** [unknown host] is a task of that host, which is equal to no other task. *)

val is_known : t -> bool
(** [false] for {!unknown} ones. *)

val to_string : t -> string
(** The host and the name. *)

val has_ended : t -> bool
(** [true] if the value that only that task had was collected, because then the
    task has ended. *)

(** {2 For hosts and handlers that answer} *)

val answer : 'a Effect.t -> otherwise:'a -> (unit -> t) -> 'a
(** The answer of a host that knows no other question. To [Who] it is
    [Some (who ())], and to others [otherwise]. *)

val new_number : unit -> int
(** A number from 1 on, for the tasks of hosts that do not number them. *)

val numbered : string -> int -> string
(** [numbered "task" 12] is ["task 12"]. *)
