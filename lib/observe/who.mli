(** Tasks, told apart: who waits, and who holds a lock. *)

type t = {
  host : string;  (** As ["fifo"]; [""] for a system thread. *)
  name : string;  (** As ["task 12"]. *)
  domain : int;  (** In which it was when this was made. *)
  identity : Identity.pointer;  (** To something that only this task has. *)
  origin : origin option;  (** If that was noted. *)
}

and origin = {
  parent : t;  (** The task that forked it. *)
  forked_at : Printexc.raw_backtrace;
}

type _ Effect.t +=
  | Who : t option Effect.t
        (** A question ({!Concord_suspend.Ask}): which task is this? A host
            answers it, or whatever lies between the task and its host. *)
  | Forked : origin -> bool Effect.t
        (** A question of a task that begins: does the host keep the origin, to
            give it to {!make}? *)

val make :
  ?domain:int -> ?origin:origin -> host:string -> name:string -> 'identity -> t
(** The last argument is not kept alive. The domain is by default the calling
    one. {b Cost}: a weak pointer ({!Identity.pointer}). A task is asked
    whenever it takes a lock, so use {!here} or {!once} for the next time. *)

val make_strong : ?domain:int -> host:string -> name:string -> 'identity -> t
(** As {!make}, but without a weak pointer: it keeps the identity alive. For
    what nobody keeps, as in a report, or for longer than the task lives
    ({!Identity.release}). *)

val here : ?domain:int -> t -> t
(** The same task, in this domain. *)

val same : t -> t -> bool
(** Are they one task? [false] also where that is not known. *)

val of_thread : unit -> t
(** The calling system thread. *)

val unknown : string -> t
(** [unknown host] is a task of that host, the same as no other. *)

val is_known : t -> bool
(** [false] for {!unknown} ones. *)

val to_string : t -> string
(** The host and the name. *)

val has_ended : t -> bool
(** Was what only that task had collected? Then it has ended. *)

(** {2 Made once}

    For hosts whose tasks have no room for what {!make} has made. *)

type tasks
(** Of one scheduler, or one domain: its threads share it. *)

val tasks : unit -> tasks

val once :
  ?domain:int ->
  ?origin:(unit -> origin option) ->
  tasks ->
  int ->
  host:string ->
  name:(unit -> string) ->
  'identity ->
  t
(** [once tasks number ~host ~name identity] is {!make} of these, or what that
    has given before. No other task that lives has the number. {b Cost}: O(1),
    and a weak pointer only if the task asks for the first time. But if more
    than 16,384 tasks ask in turns, they may be made again. *)

(** {2 Asking}

    Only where the effect of the question may be performed. *)

val asked : unit -> t option
(** The nearest answer, which may be that of a host around the task's own. *)

val asked_or : (unit -> t) -> t

(** {2 For those who answer} *)

val answer : 'a Effect.t -> otherwise:'a -> (unit -> t) -> 'a
(** What a host answers that knows no other question: [Who] by [Some (who ())],
    the others by [otherwise]. *)

val answering : (unit -> t) -> (unit -> 'a) -> 'a
(** [answering who f] is [f ()], in which [who ()] is the answer: for a task
    whose host does not tell its tasks apart. *)

val new_number : unit -> int
(** From 1 on, for the tasks of hosts that do not number them. *)

val numbered : string -> int -> string
(** [numbered "task" 12] is ["task 12"]. *)
