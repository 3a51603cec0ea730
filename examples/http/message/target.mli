(** The target of a request: a path, and perhaps a query. *)

val path : string -> string list
(** [path "/fib/30?as=text"] is [["fib"; "30"]]. A client may also send the
    whole URL, as it does to a proxy. Any other target gives [[]]. *)

val parameter : string -> string -> string option
(** [parameter target name] is the first value with this name in the query, with
    each [%20] and each [+] decoded. *)
