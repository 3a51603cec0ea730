(** Chromium without a window. It opens pages from the disk or a server, reports
    what goes wrong in them, and answers questions about them. A test drives it
    by its debugging protocol, through a pipe. *)

type t

val is_installed : unit -> bool

val run : (t -> 'a) -> 'a
(** [run f] is [f browser]. It ends the browser however [f] ends.

    - {b Raises} [Failure] if the browser doesn't answer for a minute. *)

val visit : ?width:int -> t -> string -> unit
(** [visit browser page] opens [page], the absolute path of a file or a URL, and
    returns when it has been loaded. The window is [width] pixels wide (1280 by
    default).

    - {b Raises} [Failure] if there is no such page. *)

val ask : t -> string -> Yojson.Safe.t
(** [ask browser expression] evaluates this Javascript expression on the page.
    If the value is a promise, [ask] returns its result. *)

val pictures : t -> (string * int) list
(** The sources of the page's pictures with their widths. A picture that can't
    be drawn has width 0. *)

val faults : t -> string list
(** The faults since the last {!visit}. These are errors and warnings of the
    console, pictures that can't be drawn, and requests for anything that is not
    on the disk or not on the page's own server. *)
