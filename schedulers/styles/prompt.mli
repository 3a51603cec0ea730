(** Delimited continuations, with any number of prompts.

    {b Stability}: experimental, because it follows the papers, and few programs
    have used it.

    A {e prompt} marks a position on the stack. The part of the stack between
    this mark and the top can be taken off, kept, and pushed onto a stack again.
    These are the operators of Dybvig, Peyton Jones and Sabry, which the paper
    uses (section 4.2), over OCaml's effects.

    {[
      # let p = Prompt.new_prompt ()
      val p : '_weak1 Prompt.t = <abstr>
      # Prompt.push_prompt p (fun () ->
          1 + Prompt.shift0 p (fun k -> 10 * k 2))
      - : int = 30
    ]}

    You can use a continuation at most once. The second time raises
    [Effect.Continuation_already_resumed]. If you never use a continuation, it
    is not unwound, so its finalisers do not run. *)

type 'b t
(** A prompt, for code whose result is a ['b]. *)

type ('a, 'b) subcont
(** The part of a stack that waits for an ['a], and returns a ['b]. *)

val new_prompt : unit -> 'b t
(** [new_prompt ()] is a prompt that is different from all others. *)

val push_prompt : 'b t -> (unit -> 'b) -> 'b
(** [push_prompt p f] is [f ()], above a mark [p] on the stack. *)

val take_subcont : 'b t -> (('a, 'b) subcont -> 'b) -> 'a
(** [take_subcont p f] takes the part above the last [p] from the stack, and [p]
    itself. Then it calls [f] with that part, in the rest of the stack.

    - {b Raises} [Effect.Unhandled] if [p] is not on the stack. *)

val push_subcont : ('a, 'b) subcont -> (unit -> 'a) -> 'b
(** [push_subcont k f] pushes [k] onto the stack, and calls [f] on top of that.
    So [f ()] returns or raises at the position where {!take_subcont} was
    called. *)

val push_prompt_subcont : 'b t -> ('a, 'b) subcont -> (unit -> 'a) -> 'b
(** [push_prompt_subcont p k f] is [push_prompt p (fun () -> push_subcont k f)].

    It doesn't put a second mark on the stack if [k] was taken at [p], so the
    stack does not grow if you do this again and again. *)

val shift0 : 'b t -> (('a -> 'b) -> 'b) -> 'a
(** [shift0 p f] is {!take_subcont}, with a continuation that has its prompt
    again when it is called. *)

(** {2 Effects}

    An effect is a [shift0] whose function is chosen at the prompt, and not
    where the effect is performed. *)

type ('a, 'b) body = (('a, exn) result -> 'b) -> 'b
(** A function of the continuation. The continuation takes a value or an
    exception. *)

type 'b meaning = { meaning : 'a. 'a Effect.t -> ('a, 'b) body option }
[@@unboxed]

val push_prompt_with : 'b meaning -> 'b t -> (unit -> 'b) -> 'b
(** [push_prompt_with meaning p f] is {!push_prompt}, except that an effect that
    [f] performs means [shift0 p body], where [body] is its meaning.

    If its meaning is [None], the effect goes to the next handler. *)
