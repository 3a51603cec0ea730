(** The tests that could notice a fault in a file. *)

type test = { folder : string; name : string; alias : string }

val read : in_channel -> test list
(** [read ic] reads the lines of [./dev], which are the folder, the name and the
    alias of each test. *)

val sources : string -> string list
(** [sources folder] are all [.ml] files below it, except those in the folders
    of dune and git. *)

type reach =
  | Own
      (** The tests that are named after the file, and if there are none, after
          the files that use it. Also those that compare the structures which
          depend on it with their descriptions, or their steps with lists. If
          the file is part of an adapter, they are the tests that have its name
          in theirs, or in their folder's. *)
  | Near
      (** Also the tests that name its module. If the file is part of an
          adapter, they are the tests whose [dune] file names it. *)
  | All  (** Also the tests that depend on it through other modules. *)

val stages : reach -> test list -> string -> test list list
(** [stages reach tests file] are those of [tests] that depend on [file], and
    the likeliest to notice a fault come first. The stages are those of {!Own},
    the tests that name its module, the tests that name a module that names it,
    and so on. In each of these, programs come before models and random
    operations, because those take long. Storms, the matrix, benchmarks and
    examples take longest, so they are left out.

    Files are read relative to the current folder. Names are searched outside
    comments, in the main file of the test, and in the files of its folder that
    it names. So there may be a test too many. A test is missing only if it
    reaches the module in another way, for example through [test/support]. *)
