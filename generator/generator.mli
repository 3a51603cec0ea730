(** Values one by one, from whatever can be iterated over.

    {b Stability}: stable.

    An iterator calls a function for each element, and is in command until it
    has called it for the last one. A generator turns this round: the consumer
    asks for the next element, and the traversal runs up to there. One effect
    makes a generator of any iterator ("Retrofitting Effect Handlers onto
    OCaml", the slides on generators).

    {[
      # let letters = Generator.of_iter (fun yield -> String.iter yield "ab")
      val letters : char Generator.t = <abstr>
      # Generator.next letters
      - : char option = Some 'a'
      # Generator.next letters
      - : char option = Some 'b'
      # Generator.next letters
      - : char option = None
      # Generator.next letters
      - : char option = None
    ]}

    {2 The traversal}

    runs on a stack of its own, in the task that calls {!next}, up to the next
    element. Its effects are handled there: it may wait in any structure, and
    then the task that has called {!next} waits. Several tasks may call {!next},
    also of different domains, but not at the same time: a call that comes while
    the traversal runs is refused. So is one from inside the traversal.

    {2 The end}

    {!close} ends a traversal half-way, and runs its finalisers. One that is
    dropped half-way leaks no memory: the collector frees its stack. But nothing
    runs its finalisers then, so that a file which it reads stays open. *)

type 'a t
(** A generator of elements of type ['a]. *)

val of_iter : ?ahead:int -> (('a -> unit) -> unit) -> 'a t
(** [of_iter iter] generates the values for which [iter yield] calls [yield], in
    that order. Nothing runs before the first {!next}.

    With [~ahead:n] the traversal runs up to [n] elements ahead of the consumer
    (by default not at all). This saves most of the time where the traversal has
    no effects that the consumer could notice, as in a list or a tree that does
    not change. Two calls of {!next} at the same time are then noticed only if
    the traversal runs: elements may be given twice, or lost.

    - {b Cost}: an effect for each element, some 40 ns; with [~ahead:n] for each
      [n] of them.
    - {b Raises} [Invalid_argument] if [ahead < 0]. *)

val next : 'a t -> 'a option
(** [next t] is the next element; [None] after the last one, and from then on.

    - {b Suspends} only where the traversal does. {b Cancelled} there: the
      host's exception is raised in the traversal, and by [next] if that does
      not catch it.
    - {b Cost}: that of the traversal up to the element, and see {!of_iter}.
    - {b Raises} [e] if the traversal raises [e], with its backtrace. Then it
      has ended.
    - {b Raises} [Invalid_argument] if the traversal is running: [next] was
      called in it, or by another task at the same time. *)

exception Closed
(** Raised by {!close} where the traversal stands. *)

val close : 'a t -> unit
(** [close t] ends the traversal, by raising {!Closed} where it stands: its
    finalisers run. From then on {!next} is [None]. Nothing runs if the
    traversal has ended, or has not begun.

    - {b Suspends} only where the finalisers do.
    - {b Raises} [e] if the traversal raises [e] instead of {!Closed}.
    - {b Raises} [Invalid_argument] if the traversal is running; or if it goes
      on to another element, although it was closed. That element is dropped,
      and [t] is not closed. *)

val with_iter : ?ahead:int -> (('a -> unit) -> unit) -> ('a t -> 'b) -> 'b
(** [with_iter iter f] is [f (of_iter iter)], and closes the generator when [f]
    returns or raises.

    {[
      # Generator.with_iter (fun yield -> List.iter yield [ 3; 1; 4 ]) (fun g ->
          Generator.next g)
      - : int option = Some 3
    ]} *)

(** {2 Under the names of the slides} *)

(** What can be iterated over. *)
module type ITERABLE = sig
  type 'a t

  val iter : ('a -> unit) -> 'a t -> unit
end

(** [gen t] gives the elements of [t] one by one, as {!next} does.

    {[
      # module Lists = MkGen (List)
      module Lists : sig val gen : 'a list -> unit -> 'a option end
      # let next = Lists.gen [ 1; 2 ]
      val next : unit -> int option = <fun>
      # let first = next () in
        let second = next () in
        (first, second, next (), next ())
      - : int option * int option * int option * int option =
      (Some 1, Some 2, None, None)
    ]} *)
module MkGen (S : ITERABLE) : sig
  val gen : 'a S.t -> unit -> 'a option
end

(** {2 Sequences and lists} *)

val of_list : 'a list -> 'a t

val of_seq : 'a Seq.t -> 'a t
(** [of_seq seq] forces a node of [seq] for each {!next}. A node that raises
    ends the generator. *)

val to_seq : 'a t -> 'a Seq.t
(** The elements that are still to come, each when it is forced.

    - {b Raises} [Seq.Forced_twice] if a node is forced twice. *)

val iter : ('a -> unit) -> 'a t -> unit
(** [iter f t] calls [f] for each element that is still to come. If [f] raises,
    it closes [t]. *)

val to_list : 'a t -> 'a list
(** The elements that are still to come. *)

(** {2 Two at once} *)

val zip : 'a t -> 'b t -> ('a * 'b) t
(** [zip a b] generates pairs of an element of [a] and one of [b], until one of
    them has ended, and then closes the other. To close the pairs closes both.
    An element of [a] for which [b] has none is lost. *)

val equal : ('a -> 'b -> bool) -> 'a t -> 'b t -> bool
(** [equal eq a b]: do [a] and [b] generate as many elements, each pair of which
    is equal? Traverses both at once, up to the first difference, and closes
    both in the end. *)
