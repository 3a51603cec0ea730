(** Which tests could notice a fault in a file. *)

type test = { folder : string; name : string; alias : string }

val read : in_channel -> test list
(** [read ic] reads the lines of [./dev]: folder, name and alias of each test.
*)

val sources : string -> string list
(** [sources folder] is each [.ml] below it, but for what dune and git keep. *)

type reach =
  | Own  (** The tests that are named after the file. *)
  | Near  (** Also those that name its module. *)
  | All  (** Also those that depend on it through other modules. *)

val stages : reach -> test list -> string -> test list list
(** [stages reach tests file] is those of [tests] that depend on [file], the
    likeliest to notice first: those that are named after it, then those that
    name its module, then those that name a module that names it, and so on; of
    each, the programs come before models and random operations, which take
    long. Storms, the matrix, benchmarks and examples, which take longest, are
    left out.

    Files are read relative to the current folder. Names are looked for outside
    of comments, in the main file of the test and in those of its folder that it
    names. So a test too many may be there, and none is missing but for one that
    reaches the module in another way, as through [test/support]. *)
