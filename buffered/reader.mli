(** A buffer in front of a read function.

    {b Stability}: stable.

    The function may read from a descriptor, a TLS connection, a string or a
    test. Reading a line is then:

    {[
      # open Concord_buffered
      # let reader = Reader.of_string "EHLO example.org\r\nSTARTTLS\r\n\022\003\001"
      val reader : Reader.t = <abstr>
      # Reader.line ~max:512 reader
      - : string = "EHLO example.org"
      # Reader.line ~max:512 reader
      - : string = "STARTTLS"
    ]}

    You can see what is in the buffer. If the protocol changes here, no byte is
    lost. The peer's first bytes of TLS came together with the last line, and
    {!read} gives them to the TLS library before it reads more:

    {[
      # let read_below_tls = Reader.read reader
      val read_below_tls : bytes -> int -> int -> int = <fun>
      # Reader.length reader
      - : int = 3
    ]}

    {2 Rules for all operations}

    - {b Suspends} where the function you gave to {!create} does, and nowhere
      else.
    - {b Cancelled} there, or if the function raises, the exception passes
      through the operation, which has taken nothing. The bytes read so far are
      in the buffer, and you can start the operation again. ({!read} of a large
      part, and [Writer.copy], say what holds for them.)
    - {b Order}. A reader isn't locked, so only one task at a time may use it.
    - {b Cost}: copying the bytes once. The buffer grows if an operation needs
      more bytes at once, at most to twice their number. The first reading
      operation allocates it.
    - {b Raises} [End_of_file] if the input ends before the needed bytes. It has
      taken nothing then, too.
    - {b Raises} [Invalid_argument] if a number of bytes is negative. *)

type t

exception
  Too_long of {
    operation : string;  (** For example ["Reader.line"]. *)
    max : int;
  }
(** The peer sent more bytes than you allowed. Nothing was taken, so you can
    raise the limit, or close the connection. *)

(** {1 Creating} *)

val create : ?size:int -> (bytes -> int -> int -> int) -> t
(** [create read] is a reader of what [read] reads. [read b pos len] stores up
    to [len] bytes, which is at least 1, in [b] at [pos], and returns their
    number. It returns 0 at the end, like [Unix.read].

    The buffer has up to [size] bytes, by default 16,384, and more only for an
    operation that needs more. At first it has fewer, for many connections of
    which most are idle.

    - {b Raises} [Invalid_argument] if [size < 1]. *)

val of_string : string -> t
(** [of_string s] is a reader of [s]. *)

(** {1 The buffer} *)

val length : t -> int
(** [length t] is the number of bytes in the buffer. They were read, and not yet
    taken. *)

val refill : t -> bool
(** [refill t] reads more bytes into the buffer, once, even if it has some. It
    returns [false] at the end of the input. *)

val ensure : t -> int -> bool
(** [ensure t n] refills until the buffer has [n] bytes. It returns [false] if
    the input ends before. *)

val peek : t -> int -> string
(** [peek t n] is the next [n] bytes, which stay there, or fewer if the input
    ends before. *)

val get : t -> int -> char
(** [get t i] is the byte at [i] in the buffer, counted from the next one.

    - {b Raises} [Invalid_argument] if [i] is not below {!length}. *)

val view : t -> (bytes -> int -> int -> 'a) -> 'a
(** [view t f] is [f b pos len], where the buffer is the [len] bytes of [b] from
    [pos]. [f] must not change them, and must not use the reader. Nothing is
    copied, so a parser can work on the buffer, and then {!consume} what it has
    used. *)

val consume : t -> int -> unit
(** [consume t n] takes [n] bytes out of the buffer.

    - {b Raises} [Invalid_argument] if it has fewer. *)

val unconsume : t -> int -> bool
(** [unconsume t n] puts the last [n] taken bytes back. It returns [false], and
    does nothing, if they are no longer in the buffer. If nothing was refilled
    since, they still are, unless {!read} has passed them by. *)

val clear : t -> unit
(** [clear t] forgets the bytes in the buffer, and those {!unconsume} would put
    back. For example, the position in the file was changed. *)

(** {1 Reading} *)

val at_end : t -> bool
(** [at_end t] is [true] if no byte follows. It refills an empty buffer. *)

val read : t -> bytes -> int -> int -> int
(** [read t b pos len] is like the function of {!create}: it stores up to [len]
    bytes, and 0 is the end. It takes the bytes of the buffer first. If there is
    none, it reads once. If the part is as large as the buffer, then it reads
    directly into [b]. A reader can therefore be the source of another one, for
    example of TLS or a decompression. *)

val char : t -> char
(** [char t] takes one byte. *)

val take : t -> int -> string
(** [take t n] takes [n] bytes. They have to fit in memory twice. If the peer
    has sent you the number, check it first. *)

val skip : t -> int -> unit
(** [skip t n] takes [n] bytes without copying them. If it is cancelled, or the
    input ends, it has taken the earlier ones. *)

val take_while : max:int -> (char -> bool) -> t -> string
(** [take_while ~max f t] takes the bytes before the first one for which [f] is
    [false], or all of them if there is none. [f] is called once for each.

    - {b Raises} {!Too_long} if these are more than [max]. *)

val until : max:int -> char -> t -> string
(** [until ~max c t] takes the bytes before the next [c], and then [c] itself,
    which isn't in the result. If there is no [c], it takes the rest of the
    input, if there is one.

    - {b Raises} {!Too_long} if the result would be longer than [max]. *)

val line : max:int -> t -> string
(** [line ~max t] takes a line, and returns it without its end, which is ["\n"]
    or ["\r\n"]. The last line needs no end.

    - {b Raises} {!Too_long} if the line is longer than [max], where a ["\r"] at
      its end counts. *)

val rest : max:int -> t -> string
(** [rest ~max t] takes the bytes up to the end of the input.

    - {b Raises} {!Too_long} if these are more than [max]. *)
