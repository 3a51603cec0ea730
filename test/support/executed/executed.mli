(** Executes the examples in interfaces, as dune's [mdx] stanza does. That
    stanza links a program for each folder, which takes 2.4 s of processor time.
    This is a program's part that several folders share. *)

val main : unit -> unit
(** The arguments are options, and the interfaces of the current folder.

    - [-root FOLDER] is the root of the workspace, and comes first.
    - [-libraries "NAME NAME"] are shown to the examples.
    - [-prelude FILE] is executed before each interface.

    Each interface with examples is executed in a process of its own. If the
    examples print something else, the right text is written to
    [FILE.corrected]. The folder's dune file compares the two, with [diff?], so
    [dune promote] works. *)
