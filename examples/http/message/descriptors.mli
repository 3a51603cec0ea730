(** The system's limit for the number of descriptors of a process. *)

val at_most : int -> spare:int -> Unix.file_descr -> int
(** [at_most n ~spare descriptor] is how many of [n] connections the process can
    have, if it needs [spare] descriptors for other things, such as files. It is
    at least 1. To find out, the function makes copies of [descriptor], and
    closes them. *)
