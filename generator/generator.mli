(** Elements one by one, from any iterator.

    {b Stability}: stable.

    An iterator calls a function for each element, and returns after the last
    one. If you need the next element at a time of your choice, make a generator
    of the iterator. Each call of {!next} runs the traversal up to the next
    element:

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

    One effect makes a generator of any iterator ("Retrofitting Effect Handlers
    onto OCaml", the slides on generators).

    {2 The traversal}

    The traversal runs on a stack of its own, in the task calling {!next}, up to
    the next element. The effects of the traversal are handled in this task. If
    the traversal waits in a structure, the task in {!next} waits. Several tasks
    may call {!next}, even on different domains, but not at the same time. If a
    call comes while the traversal runs, or from inside the traversal, it is
    refused.

    {2 The end}

    {!close} ends a traversal half-way, and runs its finalisers. If you drop a
    generator half-way instead, no memory leaks, because the collector frees the
    stack of the traversal. But its finalisers don't run, and a file it reads
    stays open. *)

type 'a t
(** A generator of elements of type ['a]. *)

val of_iter : ?ahead:int -> (('a -> unit) -> unit) -> 'a t
(** [of_iter iter] generates the values for which [iter yield] calls [yield], in
    this order. Nothing runs before the first {!next}.

    With [~ahead:n] the traversal runs up to [n] elements ahead of the consumer
    (by default not at all). This saves most of the time if the consumer can't
    notice the effects of the traversal, as in an unchanging list or tree. Two
    calls of {!next} at the same time are then noticed only if the traversal
    runs. Otherwise elements may be given twice, or lost.

    - {b Cost}: an effect for each element, some 40 ns. With [~ahead:n] it is
      one effect for [n] elements.
    - {b Raises} [Invalid_argument] if [ahead < 0]. *)

val next : 'a t -> 'a option
(** [next t] is the next element. After the last element it is always [None].

    - {b Suspends} only where the traversal does.
    - {b Cancelled} there, the traversal gets the host's exception. If it
      doesn't catch the exception, [next] raises it.
    - {b Cost}: the traversal up to the element (see also {!of_iter}).
    - {b Raises} [e] if the traversal raises [e], with its backtrace. Then it
      has ended.
    - {b Raises} [Invalid_argument] if the traversal is running, because [next]
      was called in it, or by another task at the same time. *)

exception Closed
(** {!close} raises [Closed] where the traversal stands. *)

val close : 'a t -> unit
(** [close t] ends the traversal by raising {!Closed} where it stands, which
    runs its finalisers.

    From then on {!next} is [None]. If the traversal has ended, or has not
    begun, nothing runs.

    - {b Suspends} only where the finalisers do.
    - {b Raises} [e] if the traversal raises [e] instead of {!Closed}.
    - {b Raises} [Invalid_argument] if the traversal is running.
    - {b Raises} [Invalid_argument] if the traversal continues to another
      element, although it was closed. This element is dropped, and [t] is not
      closed. *)

val with_iter : ?ahead:int -> (('a -> unit) -> unit) -> ('a t -> 'b) -> 'b
(** [with_iter iter f] is [f (of_iter iter)], and closes the generator when [f]
    returns or raises.

    {[
      # Generator.with_iter (fun yield -> List.iter yield [ 3; 1; 4 ]) (fun g ->
          Generator.next g)
      - : int option = Some 3
    ]} *)

(** {2 Under the names of the slides} *)

(** A type with an iterator. *)
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
(** [of_list l] generates the elements of [l], in their order. *)

val of_seq : 'a Seq.t -> 'a t
(** [of_seq seq] forces a node of [seq] for each {!next}. If a node raises, the
    generator ends. *)

val to_seq : 'a t -> 'a Seq.t
(** [to_seq t] is the sequence of the remaining elements. Each one is generated
    when its node is forced.

    - {b Raises} [Seq.Forced_twice] if a node is forced twice. *)

val iter : ('a -> unit) -> 'a t -> unit
(** [iter f t] calls [f] for each remaining element. If [f] raises, it closes
    [t]. *)

val to_list : 'a t -> 'a list
(** [to_list t] is the list of the remaining elements. *)

(** {2 Two at once} *)

val zip : 'a t -> 'b t -> ('a * 'b) t
(** [zip a b] generates pairs of an element of [a] and one of [b], until one of
    them has ended, and then closes the other.

    If you close the pairs, both are closed. If [b] has no element for an
    element of [a], this element is lost. *)

val equal : ('a -> 'b -> bool) -> 'a t -> 'b t -> bool
(** [equal eq a b] is [true] if [a] and [b] generate the same number of
    elements, and [eq] is [true] for each pair. It traverses both at once, up to
    the first difference, and closes both in the end. *)
