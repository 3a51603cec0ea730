module Generator = Generator
module Consumer = Consumer
module Tree = Tree

module type ITERABLE = Generator.ITERABLE

module MkGen = Generator.MkGen
