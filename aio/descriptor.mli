(** Operations of [Unix] on descriptors, in direct style. *)

open Unix

val read : file_descr -> bytes -> int -> int -> int
val single_write : file_descr -> bytes -> int -> int -> int
val write : file_descr -> bytes -> int -> int -> int
val single_write_substring : file_descr -> string -> int -> int -> int
val write_substring : file_descr -> string -> int -> int -> int
val recv : file_descr -> bytes -> int -> int -> msg_flag list -> int
val send : file_descr -> bytes -> int -> int -> msg_flag list -> int
val send_substring : file_descr -> string -> int -> int -> msg_flag list -> int

val recvfrom :
  file_descr -> bytes -> int -> int -> msg_flag list -> int * sockaddr

val sendto :
  file_descr -> bytes -> int -> int -> msg_flag list -> sockaddr -> int

val accept : ?cloexec:bool -> file_descr -> file_descr * sockaddr

val accept_evt :
  ?cloexec:bool -> file_descr -> (file_descr * sockaddr) Concord.Event.t

val connect : file_descr -> sockaddr -> unit
val close : file_descr -> unit
val openfile : string -> open_flag list -> file_perm -> file_descr
