(** Code that reads in direct style, and gets its input by pushes. It is the
    inverse of a generator.

    {b Stability}: stable.

    A parser calls [read ()] for its next character. If your program gets
    characters at its own pace, for example from many connections in one loop,
    make a consumer of the parser. Each call of {!push} gives it one character,
    and runs it up to the next [read]. The parser stands still in the middle of
    its input, and one loop can serve many of them:

    {[
      # let sum read =
          let rec go sum =
            match read () with None -> sum | Some n -> go (sum + n)
          in
          go 0
      val sum : (unit -> int option) -> int = <fun>
      # let consumer = Consumer.create sum
      val consumer : (int, int) Consumer.t = <abstr>
      # List.iter (Consumer.push consumer) [ 1; 2; 3 ]
      - : unit = ()
      # Consumer.finish consumer
      - : int = 6
    ]}

    The code runs in the task calling {!push} or {!finish}, on a stack of its
    own, and its effects are handled there. Several tasks may push, even on
    different domains, but not at the same time. If you drop a consumer, no
    memory leaks, but its finalisers do not run. {!close} runs them. *)

type ('a, 'r) t
(** Code reading values of type ['a], and returning an ['r]. *)

val create : ((unit -> 'a option) -> 'r) -> ('a, 'r) t
(** [create f] is a consumer computing [f read]. Nothing runs before the first
    {!push} or {!finish}. *)

val push : ('a, 'r) t -> 'a -> unit
(** [push t v] gives [v] to the code, which runs up to its next read, or to its
    end. If the code has ended, [v] is dropped, and {!result} has the result.

    - {b Suspends} only where the code does.
    - {b Raises} [e] if the code raises [e]. {!finish} raises it again.
    - {b Raises} [Invalid_argument] if the code is running. *)

val finish : ('a, 'r) t -> 'r
(** [finish t] ends the input, after which [read ()] is [None], and returns the
    result of the code.

    - {b Raises} [e] if the code raises [e], or has raised it.
    - {b Raises} [Invalid_argument] if the code is running. *)

val result : ('a, 'r) t -> 'r option
(** [result t] is the result of the code, if it has ended.

    - {b Raises} [e] if the code has raised [e]. *)

exception Closed
(** {!close} raises [Closed] where the code reads. Afterwards {!finish} and
    {!result} raise it too. *)

val close : ('a, 'r) t -> unit
(** [close t] ends the code by raising {!Closed} where it reads, which runs its
    finalisers. If the code has ended, nothing happens.

    - {b Raises} [e] if the code raises [e] instead of {!Closed}.
    - {b Raises} [Invalid_argument] if the code is running. *)
