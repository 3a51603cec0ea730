(** Generators from iterators, and consumers from parsers.

    {b Stability}: stable, but for the example {!Tree}.

    An iterator calls your function for each element. A {!Generator} gives you
    the elements one by one instead, when you ask. A parser asks for its input.
    As a {!Consumer}, it gets its input when you have some. Both need OCaml's
    effects alone, and work in tasks of any host. *)

module Generator = Generator
(** Elements one by one, from any iterator. *)

module Consumer = Consumer
(** Code that reads, which gets its input by pushes. *)

module Tree = Tree
(** Binary trees, as an example. *)

(** {2 Under the names of the slides}

    The slides are those of "Retrofitting Effect Handlers onto OCaml". *)

module type ITERABLE = Generator.ITERABLE

module MkGen = Generator.MkGen
