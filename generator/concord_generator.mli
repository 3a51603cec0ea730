(** Generators from iterators, and consumers from parsers.

    {b Stability}: stable, but for the example {!Tree}.

    An iterator calls your function for each element. A {!Generator} gives you
    the elements one by one instead, when you ask. A parser asks for its input.
    As a {!Consumer}, it gets its input when you have some. Both need OCaml's
    effects alone, and work in tasks of any host.

    {[
      # let generator = Generator.of_iter (fun yield -> String.iter yield "ab")
      val generator : char Generator.t = <abstr>
      # Generator.next generator
      - : char option = Some 'a'
      # Generator.next generator
      - : char option = Some 'b'
      # Generator.next generator
      - : char option = None
    ]} *)

module Generator = Generator
module Consumer = Consumer
module Tree = Tree

(** {2 Under the names of the slides}

    The slides are those of "Retrofitting Effect Handlers onto OCaml". *)

module type ITERABLE = Generator.ITERABLE

module MkGen = Generator.MkGen
