(** One question to one server. *)

val ask : Unix.sockaddr -> string -> Message.kind -> Message.t
(** Asks by UDP, and again by TCP if the answer is truncated. Of each question
    the socket is new, so its port is the system's choice; the id is one of
    [/dev/urandom]. What comes from elsewhere, or does not answer this question,
    is passed over.

    - {b Suspends} until there is an answer, without a limit. {b Cancelled}: the
      socket is closed.
    - {b Raises} [Unix.Unix_error], [End_of_file].

    @raise Message.Malformed if what came by TCP is no answer. *)
