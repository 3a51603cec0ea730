(** Helpers that every test needs: a watchdog, traces, and checks of exceptions.
*)

val instrumented : bool
(** True with [CONCORD_TSAN=1], that is, with ThreadSanitizer. Everything takes
    ten times as long, and an effect takes longer the deeper the stack is. *)

val debugged : bool
(** True if [CONCORD_DEBUG] contains any words. The library then records what
    happens, which takes time and memory. It also performs [Suspend] more often
    than otherwise. *)

val debugged_with : string -> bool
(** Whether [CONCORD_DEBUG] contains this word. *)

val unless_debugged : 'test -> 'test list
(** Use it for a test of what happens between two steps, if [Suspend] must be
    performed only in one of them. In a {!debugged} program, another [Suspend]
    comes before it. *)

val test : string -> (unit -> unit) -> unit Alcotest.test_case

val run : string -> (string * unit Alcotest.test_case list) list -> unit
(** [Alcotest.run] with a watchdog. If a test takes longer than 60 s (240 s if
    {!instrumented}), the watchdog prints its name on the standard error and
    ends the program with status 2.

    If the variable [CONCORD_LEAVE_OUT] names a file, the cases that it lists
    are left out. It fails if the file names a case of this program that doesn't
    exist. [tools/strict.txt] is such a file. *)

val with_signals_blocked : (unit -> 'a) -> 'a
(** [with_signals_blocked start] is [start ()]. Threads and domains started by
    it never receive a signal. If a thread blocks signals itself, it may receive
    one before. *)

val traced : string list -> ((string -> unit) -> unit) -> unit
(** [traced expected f] calls [f say]. At the end, the list of what any thread
    has said must be [expected]. *)

val eventually : ?pause:(unit -> unit) -> string -> (unit -> bool) -> unit
(** [eventually what condition] returns once [condition ()] is true, and fails
    if that takes longer than 20 s. Use it for conditions that no structure
    announces, for example that a task has started to wait. [pause] lets other
    tasks run. By default it blocks the thread for a moment. *)

val raises : string -> exn -> (unit -> 'a) -> unit
(** [raises what e f] fails unless [f ()] raises an exception equal to [e]. *)

val raises_at : string -> (unit -> 'a) -> unit
(** [raises_at name f] fails unless [f ()] raises, with a backtrace that names
    [name] (a function, or a file). *)

val int : string -> int -> int -> unit
(** Checks that two integers are equal. The first string names them in the
    failure. *)

val strings : string -> string list -> string list -> unit
val yes : string -> bool -> unit
val no : string -> bool -> unit

val named : string -> string -> exn -> unit
(** [named what name e] fails unless [e] is printed with [name] in front. *)

val contains : string -> string -> bool
(** Whether [part] occurs in [text]. *)

val printed : (unit -> unit) -> string
(** Everything that the function wrote to the standard output and error. *)

val words : 'a -> int
(** How many words of memory the value keeps alive. *)

(** {2 Where a function runs} *)

val in_thread : (unit -> 'a) -> 'a
(** Blocks the calling thread until the new one has ended. *)

val in_domain : (unit -> 'a) -> 'a

val beside : (unit -> unit) -> (unit -> 'a) -> 'a
(** [beside other f] is [f ()]. Meanwhile another thread runs [other ()], and
    [beside] waits for its end. *)

val thread : (unit -> unit) -> unit -> unit
(** Runs the function in a new thread. The result joins the thread, and raises
    what the function raised. *)

val domain : (unit -> 'a) -> unit -> 'a
(** Runs the function in a new domain, which blocks all signals. The result
    joins the domain. *)
