(** Identities of tasks that are made once, for hosts whose tasks have no room
    for the result of {!Who.make}. *)

type tasks
(** The tasks of one scheduler, or of one domain, whose threads share it. *)

val tasks : unit -> tasks

val once :
  ?domain:int ->
  ?origin:(unit -> Who.origin option) ->
  tasks ->
  int ->
  host:string ->
  name:(unit -> string) ->
  'identity ->
  Who.t
(** [once tasks number ~host ~name identity] is {!Who.make} of these, or the
    result of an earlier call. No other live task has the number. {b Cost}:
    O(1), and a weak pointer only if the task asks for the first time. But if
    more than 16,384 tasks ask in turns, they may be made again. *)

val this_thread : unit -> Who.t
(** The calling system thread. *)

(** {2 Asking}

    Ask only where the effect of the question may be performed. *)

val asked : unit -> Who.t option
(** The nearest answer, which may be that of a host around the task's own. *)

val asked_or : (unit -> Who.t) -> Who.t

(** {2 Answering} *)

val answering : (unit -> Who.t) -> (unit -> 'a) -> 'a
(** [answering who f] is [f ()], in which [who ()] is the answer. Use it for a
    task whose host does not tell its tasks apart. *)
