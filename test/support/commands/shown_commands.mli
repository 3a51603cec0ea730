(** The shell commands that a README or page shows. *)

val in_file : string -> string list
(** The commands of a file whose name ends with [.md] or [.mld], in order:

    - every line of a code block whose language is a shell's;
    - in other blocks without the syntax of OCaml, and in indented blocks, each
      line that begins with a program below;
    - each line that begins with [$], without it;
    - in running text, code that begins with such a program and has arguments.

    The programs are [./dev], [curl], [opam], [dune], [concord-trace] and other
    usual ones, after [mkdir] or a variable, too. *)

val run :
  ?again:string ->
  readme:string ->
  programs:(string * string) list ->
  ports:int list ->
  (string -> string -> unit) ->
  unit
(** [run ~readme ~programs ~ports check] runs the commands of the file in a new
    folder by the shell, as they are shown. There, [./dev exec NAME] runs the
    file that [programs] has for [NAME]. It goes on running until the end, and
    the next command begins when it listens. Commands with other names are left
    out. Each port in [ports] is replaced by a free one.

    The other commands have to succeed, where [curl] also fails for an error of
    HTTP. [check command output] is called after each. A command that is still
    running after some time, or whose check fails, fails the test, except for
    [curl -N], which shows a stream: its output is checked when a line has come.
    Until then, the commands that contain the text [again] are repeated. *)
