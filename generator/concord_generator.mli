(** Turning round who is in command: generators from iterators, and consumers
    that are driven by pushes. It needs OCaml's effects alone, and works in
    tasks of any host.

    {b Stability}: stable, but for the example {!Tree}. *)

module Generator = Generator
(** Values one by one, from whatever can be iterated over. *)

module Consumer = Consumer
(** Code that reads, driven by those who have the data. *)

module Tree = Tree
(** Binary trees, as an example. *)

(** {2 Under the names of the slides} *)

module type ITERABLE = Generator.ITERABLE

module MkGen = Generator.MkGen
