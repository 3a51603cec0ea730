(** What tasks and structures do now, from the events of a running program, for
    [concord-trace top].

    A wait whose beginning wasn't read isn't known. *)

type t

val create : unit -> t
val add : t -> Recorder.item -> unit

val newest_ns : t -> int
(** The time of the newest event, 0 if there was none. *)

type place = {
  operation : string;  (** [""] if it isn't one of the library. *)
  structure : string;  (** Its name, or [""]. *)
  line : string;  (** The line of the program, [""] if there is a name. *)
}
(** Where tasks wait. *)

type task = { pid : int; id : int }

type place_row = {
  place : place;
  waiting : int;
  longest : float;  (** How long a task has waited there by now, in seconds. *)
  wakes : float;  (** How many waits ended by a wake-up, per second. *)
  wait : float option;  (** The mean time of the waits that ended. *)
  hold : float option;
      (** The mean time from the moment when a task that had waited continued,
          until it woke another task there. For a lock, so long it was held. *)
}

type state =
  | Waits of place
  | Woken of place  (** It was woken, and has not continued. *)
  | Runs  (** Or it waits outside of the library. *)

type task_row = {
  task : task;
  name : string;  (** With the host. *)
  domain : int;
  state : state;
  for_ : float;  (** Since when it is in this state, in seconds. *)
  resumed : float;  (** How often it continued after a wait, per second. *)
  woke : float;  (** How many others it woke, per second. *)
  waited : float;  (** The part of the time in which it waited, from 0 to 1. *)
}

type snapshot = {
  places : place_row list;
  tasks : task_row list;
  unsure : int;
      (** The number of waits that may have ended, because events were lost. *)
}

val snapshot : t -> now_ns:int -> snapshot
(** The rates and means are those since the snapshot before, or since the first
    event. A place where nothing happens any more is left out after a minute,
    and so is a task that doesn't wait. *)

val wakers : t -> place -> (string * int) list
(** Who has woken tasks there how often, the most frequent first. *)

val waits_of : t -> task -> (place * int) list
(** Where the task has waited how often, the most frequent first. *)
