(* The hosts of the models keep nothing for a task. *)

type t = (unit -> unit -> unit) option

let here () : t = None
let save (_ : t) () = ()
