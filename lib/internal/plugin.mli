(** The plug-ins of the program. {!Concord.Suspend.Host} says what they are. *)

exception Elsewhere

type t = {
  name : string;
  recognises : Domain_local_await.t -> bool;
  suspend : 'a. ((('a, exn) result -> bool) -> 'a option) -> 'a;
  protect : 'a. (unit -> 'a) -> 'a;
}

val add : t -> unit

val all : unit -> t array
(** In the order in which they were added. A plug-in keeps its index. *)
