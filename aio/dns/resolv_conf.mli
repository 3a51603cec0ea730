(** The servers to ask, and how, from the file [/etc/resolv.conf]. *)

type t = {
  servers : Unix.inet_addr list;  (** Three at most, as in the C library. *)
  search : string list;
  ndots : int;
  timeout : int;  (** Seconds. *)
  attempts : int;
}

val of_lines : string list -> t
(** [of_lines lines] reads the lines by the rules of [resolv.conf(5)]. The last
    [search] or [domain] counts, numbers have its limits, and a line or an
    option that is not understood is skipped. If there is no server, it is that
    of this machine, 127.0.0.1. *)
