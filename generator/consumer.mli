(** The inverse of a generator: code that reads in direct style, driven by those
    who have the data.

    {b Stability}: stable.

    A parser calls [read ()] for its next character, and is in command. A
    consumer turns this round: {!push} gives it one, whenever there is one, and
    it runs up to where it reads again. So it stands still in the middle of its
    input, and many of them can be served by one loop.

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

    The code runs in the task that calls {!push} or {!finish}, on a stack of its
    own; its effects are handled there. It may be pushed to by several tasks,
    also of different domains, but not at the same time. One that is dropped
    leaks no memory, but its finalisers do not run: {!close} runs them. *)

type ('a, 'r) t
(** Code that reads values of type ['a], and gives an ['r]. *)

val create : ((unit -> 'a option) -> 'r) -> ('a, 'r) t
(** [create f] is a consumer that computes [f read]. Nothing runs before the
    first {!push} or {!finish}. *)

val push : ('a, 'r) t -> 'a -> unit
(** [push t v] gives [v] to the code, which runs up to its next read, or to its
    end. If it has ended, [v] is dropped: see {!result}.

    - {b Suspends} only where the code does.
    - {b Raises} [e] if the code raises [e]; and again by {!finish}.
    - {b Raises} [Invalid_argument] if the code is running. *)

val finish : ('a, 'r) t -> 'r
(** [finish t] tells the code that there is no more: [read ()] is [None] from
    now on. The result is that of the code.

    - {b Raises} [e] if the code raises [e], or has raised it.
    - {b Raises} [Invalid_argument] if the code is running. *)

val result : ('a, 'r) t -> 'r option
(** What the code has given, if it has ended.

    - {b Raises} [e] if it has raised [e]. *)

exception Closed
(** Raised by {!close} where the code reads, and by {!finish} and {!result}
    after that. *)

val close : ('a, 'r) t -> unit
(** [close t] ends the code, by raising {!Closed} where it reads: its finalisers
    run. Nothing happens if it has ended.

    - {b Raises} [e] if the code raises [e] instead of {!Closed}.
    - {b Raises} [Invalid_argument] if the code is running. *)
