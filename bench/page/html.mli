(** HTML that is well formed, as what is no element of it is escaped. *)

type t

val text : string -> t
val el : ?attributes:(string * string) list -> string -> t list -> t

val void : ?attributes:(string * string) list -> string -> t
(** An element without contents or an end, such as [img]. *)

val link : string -> string -> t
(** [link address text]. *)

val table : head:string list -> t list list -> t
(** A table that scrolls by itself where it is too wide. *)

val document : title:string -> style:string -> t list -> string
(** The whole file. [style] is taken as it is. *)
