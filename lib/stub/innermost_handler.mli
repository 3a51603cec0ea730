(** Which handler of effects is the innermost one around the caller?

    What performs an effect that nobody handles is told so by an exception,
    which costs as much as all else of a short wait. If the innermost handler is
    known, and known not to handle the effect, then it need not be asked.

    The C of this folder reads the runtime's own records, where the version of
    OCaml is one for which it was tested: 5.1 to 5.5. With a newer one the
    library is built without that C, and nothing is ever known, as after
    {!give_up}. The build says so, the program does not.

    The C is checked when the program starts. If it is wrong, because this is an
    OCaml that somebody changed, a line on the standard error says so, and
    nothing is known from then on. *)

type t
(** A handler, told by the code of the two functions with which it was
    installed: that for a result, and that for an exception. All stacks that one
    expression makes have the same handler; and no others, if these functions
    are written in that expression. *)

val none : t
(** Of no stack. *)

val get : unit -> t
(** That of the caller's own stack: no other one lies between. {!none} on a
    thread's first stack; below a callback from C, such as a signal handler,
    which no effect passes; and if it was installed by [Effect.Deep.try_with],
    whose functions all have in common. {b Cost}: allocates. *)

val nothing_but : t -> bool
(** [nothing_but t] if {!val-get} would give [t] or {!none}. {b Cost}: a few
    reads; neither allocates nor polls. *)

val alone : t -> bool
(** {!val-nothing_but}, and there is no other handler further out. {b Cost}: the
    same. *)

(** {1 Finding out whose it is}

    A scheduler runs the functions that its effects carry on the stack around
    the one whose handler handled the effect. *)

type stack = private int
(** The number of a stack, which no other one has or gets. It keeps it when it
    grows. *)

val around : unit -> stack
(** The stack around the caller's, or a number that none has. *)

val here : unit -> stack
(** The caller's. [around ()] before an effect is performed is [here ()] in a
    function that its handler calls only if the caller's innermost handler is
    the one that handles the effect. *)

(** {1 Checking} *)

val is_readable : unit -> bool
(** Is the version of OCaml one for which the C was tested? *)

type stub = {
  get : unit -> t;
  nothing_but : t -> bool;
  alone : t -> bool;
  around : unit -> stack;
  here : unit -> stack;
}

val stub : stub
(** What the C tells. *)

val check : stub -> bool
(** Is it right about handlers that are installed here? *)

val give_up : unit -> unit
(** From now on {!val-get} is {!none}, and {!val-nothing_but} and {!val-alone}
    are [false]. For tests of what then happens. *)
