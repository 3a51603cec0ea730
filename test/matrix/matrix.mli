(** Every structure between every two hosts, in both directions, as a table of
    all cells.

    By default, three cells of each pair of hosts run. The seed that draws them
    is [CONCORD_SEED], or else comes from the time, and is printed. With
    [CONCORD_LONG=1], all cells run. The program's argument, if it has one, is a
    seed or [all]. If a cell fails or never ends, its name is printed, and the
    program ends with a code other than 0. *)

module type Host = Host.S

(** Hosts of a library that may not be installed. *)
type peer =
  | Present of (module Host) list
  | Absent of { names : string list; reason : string }
      (** Their cells are skipped for that reason. *)

val not_installed : string list -> peer
(** The hosts with these names are absent. *)

val run : peers:peer list -> title:string -> unit
(** Our hosts and these, each with each. *)

val run_without_eio : peers:peer list -> title:string -> unit
(** The same, for a program without Eio's plug-in, and Eio with each style. *)

val run_styles : peers:peer list -> title:string -> unit
(** Each style of [concord-schedulers.styles] with each of these hosts, and with
    each style. *)

val run_with : peers:peer list -> (module Host) -> title:string -> unit
(** This host, whose tasks always run on the initial domain, with each of our
    hosts, of these hosts, and of the styles. *)
