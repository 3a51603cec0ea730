(** Is there any code but the calling thread's? *)

val may_wake : asleep:int -> bool
(** Is there a timeout that is pending, or any other thread but [asleep] that
    are known to wait themselves? [true] where that is not known. *)

val handle_signals : unit -> bool
(** Has the program a signal handler, which might wake a task? [true] where that
    is not known. *)

(** {2 A program with nothing else} *)

val may_be_alone : unit -> bool
(** [false] once {!is_alone} has found company. One read. *)

val is_alone : unit -> bool
(** Has the program one thread, the calling one, no timeout that is pending, and
    no signal handler? Then nobody will ever resume what waits in this thread.
    [false] where that is not known, and for good once a second thread, a domain
    or a signal handler was there: the answer costs some microseconds at first,
    later one read. *)

(** {2 Helpers}

    Threads of a library that resume tasks, and do nothing else. *)

type helpers = {
  idle : int;
      (** So many will do nothing before a thread that is no idle helper asks
          them to. One is not idle any more when that thread has asked, and is
          again only once it has resumed whom it had to resume. *)
  busy : int;  (** So many others may be idle after their next turn. *)
}

val add_helpers : (unit -> helpers) -> unit
(** [add_helpers ask]: from now on [ask ()] tells of the threads of a library.
    It is called by any thread, at any time; it does not suspend, and raises
    nothing. It is kept for ever. *)
