(** Buffered readers and writers, over any read and write functions.

    {b Stability}: stable.

    A protocol reads lines, headers and bodies, whatever the bytes come through:
    a descriptor, TLS, a string in a test. {!Reader} and {!Writer} need only two
    functions, with the signatures of [Unix.read] and [Unix.single_write]. They
    depend on OCaml alone, and suspend only in these functions, so they work on
    every host. The channels of [Concord_aio] are made of them.

    {[
      # open Concord_buffered
      # let answer reader writer =
          let request = Reader.line ~max:1000 reader in
          Writer.string writer (String.uppercase_ascii request ^ "\n");
          Writer.flush writer
      val answer : Reader.t -> Writer.t -> unit = <fun>
      # answer (Reader.of_string "hello\n")
          (Writer.create (fun b pos len -> print_string (Bytes.sub_string b pos len); len))
      HELLO
      - : unit = ()
    ]}

    {b A parser of yours} works on the buffer: look at it by {!Reader.view},
    take what you have used by {!Reader.consume}, and {!Reader.refill} if you
    need more. Angstrom, for example, consumes a number of bytes of each part it
    is fed. *)

module Reader = Reader
module Writer = Writer
