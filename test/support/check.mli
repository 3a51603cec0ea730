(** What every test needs: a watchdog, traces, and checks of exceptions. *)

val instrumented : bool
(** [CONCORD_TSAN=1]: with ThreadSanitizer. Everything takes ten times as long,
    and an effect takes longer the deeper the stack is. *)

val debugged : bool
(** [CONCORD_DEBUG] has words: the library notes what happens, which takes time
    and memory, and [Suspend] is performed more often than without. *)

val debugged_with : string -> bool
(** It has this word. *)

val unless_debugged : 'test -> 'test list
(** For a test of what happens between two steps, one of which is the only
    [Suspend]: there is a further one before it where the program is
    {!debugged}. *)

val test : string -> (unit -> unit) -> unit Alcotest.test_case

val run : string -> (string * unit Alcotest.test_case list) list -> unit
(** [Alcotest.run], under a watchdog: a test that takes longer than 60 s (240 s
    where it is {!instrumented}) is named on the standard error, and ends the
    program with status 2. *)

val traced : string list -> ((string -> unit) -> unit) -> unit
(** [traced expected f] calls [f say]; what was said, by any thread, must be
    [expected] in the end. *)

val eventually : ?pause:(unit -> unit) -> string -> (unit -> bool) -> unit
(** [eventually what condition] returns once [condition ()], and fails if that
    takes longer than 20 s. It is for conditions that no structure announces (a
    task has come to wait); [pause] lets the others run (by default it blocks
    the thread for a moment). *)

val raises : string -> exn -> (unit -> 'a) -> unit
(** [raises what e f] fails unless [f ()] raises an exception equal to [e]. *)

val raises_at : string -> (unit -> 'a) -> unit
(** [raises_at name f] fails unless [f ()] raises, with a backtrace that names
    [name] (a function, or a file). *)

val int : string -> int -> int -> unit
(** [int what expected actual]. *)

val strings : string -> string list -> string list -> unit
val yes : string -> bool -> unit
val no : string -> bool -> unit

val named : string -> string -> exn -> unit
(** [named what name e] fails unless [e] is printed with [name] in front. *)

val contains : string -> string -> bool
(** [contains text part]. *)

val printed : (unit -> unit) -> string
(** What the function wrote to the standard output and error. *)

val words : 'a -> int
(** How many words of memory the value keeps. *)

(** {2 Where a function runs} *)

val in_thread : (unit -> 'a) -> 'a
(** Blocks the calling thread until the new one has ended. *)

val in_domain : (unit -> 'a) -> 'a

val beside : (unit -> unit) -> (unit -> 'a) -> 'a
(** [beside other f] is [f ()] while another thread runs [other ()], whose end
    it waits for. *)

val thread : (unit -> unit) -> unit -> unit
(** Runs the function in a new thread; the result joins it, and raises what it
    raised. *)

val domain : (unit -> 'a) -> unit -> 'a
(** Runs the function in a new domain, which blocks all signals; the result
    joins it. *)
