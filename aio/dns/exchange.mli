(** One question to one server. *)

val ask : Unix.sockaddr -> string -> Message.kind -> Message.t
(** Asks by UDP, and again by TCP if the answer is truncated. The socket of each
    question is new, so the system chooses its port. The id is from
    [/dev/urandom]. Messages from elsewhere, and messages that do not answer
    this question, are skipped. An error without a question counts as an answer,
    because a server that can't read the question doesn't repeat it.

    - {b Suspends} until there is an answer, without a limit.
    - {b Cancelled}, it closes the socket.
    - {b Raises} [Unix.Unix_error], [End_of_file].
    - {b Raises} {!Message.Malformed} if the answer can't be read, or if the
      message that came by TCP is not an answer. *)
