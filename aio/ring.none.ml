type 'a t = |
type 'a watch = unit

let create () = None
let close : _ t -> unit = function _ -> .
let watch _ _ = ()
let set : _ t -> _ watch -> read:bool -> write:bool -> unit = function _ -> .
let is_settled : _ t -> bool = function _ -> .
let settle : _ t -> unit = function _ -> .
let wait : 'a t -> block:bool -> ('a * Revents.t) list = function _ -> .
