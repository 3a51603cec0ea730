(** The file [/etc/resolv.conf]: which servers to ask, and how. *)

type t = {
  servers : Unix.inet_addr list;  (** Three at most, as in the C library. *)
  search : string list;
  ndots : int;
  timeout : int;  (** Seconds. *)
  attempts : int;
}

val of_lines : string list -> t
(** What the lines say, as [resolv.conf(5)]: the last [search] or [domain]
    counts, numbers have its limits, and a line or an option that is not
    understood is passed over. Without a server it is the one of this machine,
    127.0.0.1. *)
