(** Chromium without a window: opens pages of the disk or of a server, tells
    what goes wrong in them, and answers questions about them. It is driven by
    its debugging protocol, through a pipe. *)

type t

val is_installed : unit -> bool

val run : (t -> 'a) -> 'a
(** [run f] is [f browser], and ends the browser however [f] ends.

    - {b Raises} [Failure] if it does not answer for a minute. *)

val visit : ?width:int -> t -> string -> unit
(** [visit browser page] opens [page], the absolute path of a file or a URL, and
    returns when it has been loaded, in a window that is [width] pixels wide
    (1280).

    - {b Raises} [Failure] if there is no such page. *)

val ask : t -> string -> Yojson.Safe.t
(** [ask browser expression] is the value of this expression of Javascript, or
    of the promise that it is, on the page. *)

val pictures : t -> (string * int) list
(** The sources of the page's pictures with their widths, 0 for one that cannot
    be drawn. *)

val faults : t -> string list
(** What went wrong since the last {!visit}: errors and warnings of the console,
    pictures that are not drawn, and whatever was asked for that is not on the
    disk, or not on the page's own server. *)
