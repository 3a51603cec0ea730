(** The answers to requests. *)

open Http_message

type page = unit -> Message.answer

val handle :
  hint:string ->
  (string list -> page option) ->
  Http.Request.t ->
  string ->
  Message.answer
(** [handle ~hint find request body] is the page that [find] returns for the
    path of the request. The path is a list, for example [["fib"; "30"]] for
    [/fib/30]. If there is no page, the answer is [hint] with status 404.
    Clients can only get pages, so the answer to other methods is 405. The body
    is ignored. [OPTIONS *] asks for the server's abilities, and the answer
    lists the allowed methods. *)

val with_n : max_n:int -> string -> (int -> Message.answer) -> page
(** [with_n ~max_n text f] is [f n] if [text] is a number [n] from 0 to [max_n]
    in decimal digits. Otherwise the answer has status 400. *)
