(** Every structure between every two hosts, both ways: a table of all cells.

    By default three cells of each pair of hosts run, drawn by the seed in
    [CONCORD_SEED] (without it by the time), which is printed. With
    [CONCORD_LONG=1] all do. The program's argument, if it has one, is a seed,
    or [all]. A cell that fails, or never ends, ends the program with a code
    that is not 0, and is named. *)

module type Host = Host.S

(** Hosts of a library that may not be installed. *)
type peer =
  | Present of (module Host) list
  | Absent of { names : string list; reason : string }
      (** Their cells are skipped, for that reason. *)

val not_installed : string list -> peer
(** The hosts with these names are absent. *)

val run : peers:peer list -> title:string -> unit
(** Our hosts and these, each with each. *)

val run_without_eio : peers:peer list -> title:string -> unit
(** The same, for a program without Eio's plug-in; and Eio with each style. *)

val run_styles : peers:peer list -> title:string -> unit
(** Each style of [concord-schedulers.styles] with each of these hosts, and each
    style. *)

val run_with : peers:peer list -> (module Host) -> title:string -> unit
(** This host, whose tasks are always on the initial domain, with each of our
    hosts, of these, and of the styles. *)
