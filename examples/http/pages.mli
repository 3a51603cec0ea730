(** What is answered to which request. *)

type page = unit -> Message.answer

val handle :
  hint:string ->
  (string list -> page option) ->
  Http.Request.t ->
  Message.answer
(** [handle ~hint find request] is the page that [find] knows by its path, which
    it is given in pieces: [/fib/30] is [["fib"; "30"]]. If there is none the
    answer is [hint], with 404. Clients can only get pages: for other methods
    the answer is 405. [OPTIONS *], which asks what the server can do at all, is
    answered with these methods. *)

val with_n : max_n:int -> string -> (int -> Message.answer) -> page
(** [with_n ~max_n text f] is [f n] if [text] is the number [n] in decimal
    digits, from 0 to [max_n], and else 400. *)
