(** The memory of another process, which is only read.

    What can't be read counts as zero. *)

type t

val of_process : int -> t
(** [of_process pid] opens the memory of the process. What was read once is
    kept, and read from the process only after {!forget}.

    - {b Raises} [Refused.Refused] if the caller may not read it. *)

val close : t -> unit

val forget : t -> unit
(** [forget t] drops what was read, because the process may have changed it. *)

val word : t -> int -> int
(** [word t address] is the word there, without its upper bit. The address is a
    multiple of 8. *)

val half : t -> int -> int
(** 32 bits, unsigned, at a multiple of 4. *)

val quarter : t -> int -> int
(** 16 bits, unsigned, at a multiple of 2. *)

val byte : t -> int -> int

val text : t -> int -> string
(** [text t address] is the string up to the first zero. *)

val bytes : t -> int -> length:int -> string
(** [bytes t address ~length] is so much of the memory. *)

val is_readable : t -> int -> bool

val read : t -> int -> Bytes.t -> length:int -> int
(** [read t address buffer ~length] reads into the buffer, without keeping it.
    It returns the number of bytes that could be read. *)
