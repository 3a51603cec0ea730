(** A buffer in front of a write function.

    {b Stability}: stable.

    {[
      # open Concord_buffered
      # let sent = Buffer.create 10
      val sent : Buffer.t = <abstr>
      # let writer =
          Writer.create (fun b pos len -> Buffer.add_subbytes sent b pos len; len)
      val writer : Writer.t = <abstr>
      # Writer.string writer "HELO "; Writer.string writer "example.org\r\n";
        Buffer.length sent
      - : int = 0
      # Writer.flush writer; Buffer.length sent
      - : int = 18
    ]}

    {2 Rules for all operations}

    - {b Suspends} where the function you gave to {!create} does, which is
      called when the buffer is full, and by {!flush}.
    - {b Cancelled} there, or if the function raises, the exception passes
      through the operation. Added bytes that aren't written are still in the
      buffer, in their order. But a string longer than the room in the buffer
      may have been added in part.
    - {b Order}. A writer isn't locked, so only one task at a time may use it.
    - {b Cost}: copying the bytes once. The buffer is allocated by the first
      operation. *)

type t

val create : ?size:int -> (bytes -> int -> int -> int) -> t
(** [create write] is a writer. [write b pos len] writes at least one of the
    [len] bytes of [b] from [pos], and returns their number, like
    [Unix.single_write]. It must not change them.

    The buffer has [size] bytes, by default 16,384.

    - {b Raises} [Invalid_argument] if [size < 1]. *)

(** {1 Writing} *)

val char : t -> char -> unit
(** [char t c] adds a byte. *)

val string : t -> string -> unit
(** [string t s] adds all bytes of [s]. *)

val substring : t -> string -> int -> int -> unit
(** [substring t s pos len] adds a part of [s].

    - {b Raises} [Invalid_argument] if it isn't one. *)

val bytes : t -> bytes -> int -> int -> unit
(** [bytes t b pos len] adds a part of [b], which is copied.

    - {b Raises} [Invalid_argument] if it isn't one. *)

val copy : Reader.t -> t -> unit
(** [copy reader t] takes all bytes of [reader] up to its end, and adds them.

    {b Cancelled}, each byte is still in [reader], or in [t], or was written. *)

val copy_exactly : Reader.t -> t -> int -> unit
(** [copy_exactly reader t n] takes and adds [n] bytes, like {!copy}.

    - {b Raises} [End_of_file] if the input ends before. Those before it were
      added. *)

val flush : t -> unit
(** [flush t] writes all bytes in the buffer. *)

(** {1 The buffer} *)

val length : t -> int
(** [length t] is the number of added bytes not yet written. *)

val view : t -> (bytes -> int -> int -> 'a) -> 'a
(** [view t f] is [f b pos len], where these bytes are in the buffer. [f] must
    not change them, and must not use the writer. *)

val consume : t -> int -> unit
(** [consume t n] says the first [n] bytes in the buffer are written, by other
    code than the function of {!create}.

    - {b Raises} [Invalid_argument] if it has fewer. *)
