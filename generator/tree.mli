(** Binary trees, the example of the slides.

    {b Stability}: experimental, because few programs have used it.

    Two trees have the same fringe if they have equal values in the same order:

    {[
      # Tree.same_fringe Int.equal
          (Node (Leaf, 1, Node (Leaf, 2, Leaf)))
          (Node (Node (Leaf, 1, Leaf), 2, Leaf))
      - : bool = true
    ]} *)

type 'a t = Leaf | Node of 'a t * 'a * 'a t  (** A binary tree. *)

val make : int -> int t
(** [make n] is a complete tree of depth [n], whose values are their heights.
    Its two halves are shared, and it takes O(n) space. *)

val iter : ('a -> unit) -> 'a t -> unit
(** [iter f t] calls [f] for the values from left to right. *)

val gen : 'a t -> unit -> 'a option
(** [gen t] is [MkGen] of {!iter}. *)

val to_generator : 'a t -> 'a Generator.t
(** [to_generator t] generates the values from left to right. *)

val same_fringe : ('a -> 'b -> bool) -> 'a t -> 'b t -> bool
(** [same_fringe eq a b] is [true] if [a] and [b] have equal values, from left
    to right, whatever their shapes. Neither is traversed beyond the first
    difference. *)
