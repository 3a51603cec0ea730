type connection = {
  read : limit:Limit.t -> string option;
  write : limit:Limit.t -> string -> bool;
  shutdown : unit -> unit;
  close : unit -> unit;
}

exception Cannot_accept of string

type t = {
  accept : unless:unit Concord.Event.t -> connection option;
  fork : (unit -> unit) -> unit;
  close : unit -> unit;
}
