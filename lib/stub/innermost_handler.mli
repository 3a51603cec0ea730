(** The innermost handler of effects around the caller.

    If an effect has no handler, the code that performs it gets an exception,
    which costs as much as the rest of a short wait. If the library knows the
    innermost handler, and knows that it doesn't handle the effect, it need not
    perform the effect.

    The C of this folder reads the runtime's own records, if the version of
    OCaml is one for which it was tested, 5.3 to 5.5. With a newer version the
    library is built without that C. Nothing is ever known then, as after
    {!give_up}. The build reports this, and the program does not.

    The C is checked when the program starts. If it is wrong, because this OCaml
    was modified, a message is printed on the standard error, and nothing is
    known from then on. *)

type t
(** A handler, identified by the code of the two functions with which it was
    installed, for a result and for an exception. All stacks that one expression
    makes have the same handler. No other stacks have it, if these functions are
    written in that expression. *)

val none : t
(** The handler of no stack. *)

val get : unit -> t
(** The handler of the caller's own stack, which is the innermost one. It is
    {!none} in three cases:

    - on a thread's first stack;
    - below a callback from C, such as a signal handler, because no effect
      passes it;
    - if it was installed by [Effect.Deep.try_with], whose functions all have in
      common.

    {b Cost}: allocates. *)

val nothing_but : t -> bool
(** [nothing_but t] is [true] if {!val-get} would return [t] or {!none}.
    {b Cost}: a few reads. It neither allocates nor polls. *)

val alone : t -> bool
(** [alone t] is {!val-nothing_but}, and no other handler is further out.
    {b Cost}: the same. *)

(** {1 Finding the owner}

    If an effect carries a function, a scheduler runs that function on the stack
    around the one whose handler handled the effect. *)

type stack = private int
(** The number of a stack, which no other stack has or gets. The stack keeps it
    when it grows. *)

val around : unit -> stack
(** The number of the stack around the caller's, or a number that no stack has.
*)

val here : unit -> stack
(** The number of the caller's stack. Compare [around ()], before an effect is
    performed, with [here ()] in a function that its handler calls. They are
    equal only if the caller's innermost handler is the one that handles the
    effect. *)

(** {1 Checking} *)

val is_readable : unit -> bool
(** [true] if the C was tested for this version of OCaml. *)

type stub = {
  get : unit -> t;
  nothing_but : t -> bool;
  alone : t -> bool;
  around : unit -> stack;
  here : unit -> stack;
}

val stub : stub
(** The functions in C. *)

val check : stub -> bool
(** [check stub] is [true] if [stub] is right about handlers that are installed
    here. *)

val give_up : unit -> unit
(** From now on {!val-get} is {!none}, and {!val-nothing_but} and {!val-alone}
    are [false]. For tests of that state. *)
