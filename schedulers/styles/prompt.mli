(** Delimited continuations, with any number of prompts.

    {b Stability}: experimental, may change in any release.

    The operators of Dybvig, Peyton Jones and Sabry, which the paper uses
    (section 4.2), over OCaml's effects. A {e prompt} marks a place on the
    stack. What lies between that place and the top can be taken off the stack,
    kept, and pushed onto a stack again.

    {[
      # let p = Prompt.new_prompt ()
      val p : '_weak1 Prompt.t = <abstr>
      # Prompt.push_prompt p (fun () ->
          1 + Prompt.shift0 p (fun k -> 10 * k 2))
      - : int = 30
    ]}

    A continuation is used at most once ([Effect.Continuation_already_resumed]
    is raised the second time). One that is never used is not unwound: its
    finalisers do not run. *)

type 'b t
(** A prompt, for code whose result is a ['b]. *)

type ('a, 'b) subcont
(** The part of a stack that waits for an ['a], and gives a ['b]. *)

val new_prompt : unit -> 'b t
(** A prompt that is different from all others. *)

val push_prompt : 'b t -> (unit -> 'b) -> 'b
(** [push_prompt p f] is [f ()], above a mark [p] on the stack. *)

val take_subcont : 'b t -> (('a, 'b) subcont -> 'b) -> 'a
(** [take_subcont p f] takes from the stack what is above the last [p], and [p]
    itself, and calls [f] with the part above [p] in what is left.

    - {b Raises} [Effect.Unhandled] if [p] is not on the stack. *)

val push_subcont : ('a, 'b) subcont -> (unit -> 'a) -> 'b
(** [push_subcont k f] pushes [k] onto the stack, and calls [f] on top of that:
    where {!take_subcont} was called, [f ()] returns or raises. *)

val push_prompt_subcont : 'b t -> ('a, 'b) subcont -> (unit -> 'a) -> 'b
(** [push_prompt p (fun () -> push_subcont k f)], without a second mark on the
    stack where [k] was taken at [p]: the stack does not grow if this is done
    again and again. *)

val shift0 : 'b t -> (('a -> 'b) -> 'b) -> 'a
(** [shift0 p f] is {!take_subcont}, with a continuation that has its prompt
    again when it is called. *)

(** {2 Effects}

    An effect is a [shift0] whose function is chosen not where it is performed,
    but at the prompt. *)

type ('a, 'b) body = (('a, exn) result -> 'b) -> 'b
(** What is done with the continuation, that is with a function that goes on
    with a value, or with an exception. *)

type 'b meaning = { meaning : 'a. 'a Effect.t -> ('a, 'b) body option }
[@@unboxed]

val push_prompt_with : 'b meaning -> 'b t -> (unit -> 'b) -> 'b
(** {!push_prompt}, such that an effect performed in the function means
    [shift0 p body]. If it means [None] it goes on to the next handler. *)
