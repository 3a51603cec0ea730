(** Threads of libraries that only resume tasks, as the timers' thread does. *)

type t = {
  idle : int;
      (** The number of helpers that will do nothing until a thread that is not
          an idle helper asks them to. A helper stops being idle when that
          thread has asked. It is idle again only after it has resumed the tasks
          that it had to resume. *)
  busy : int;
      (** The number of other helpers that may be idle after their next turn. *)
}

val add : ?is_idle:(unit -> bool) -> (unit -> t) -> unit
(** [add ~is_idle ask] makes the library ask [ask ()] about the threads of a
    library, from now on. [is_idle ()] is [false] if one of its idle helpers
    will resume a task by itself, when a time has come. Any thread calls the two
    functions, at any time. They must not suspend or raise. They are kept
    forever. *)

val ask : unit -> t
(** The sums of all answers. *)

val are_idle : unit -> bool
(** [true] if no idle helper will resume a task by itself. *)
