type t = {
  operation : string;
  structure : Identity.pointer;
  holders : unit -> Holder.t list;
  state : unit -> string;
  from_outside : bool;
}

let make ?(state = fun _ -> "") ?(from_outside = false) operation structure
    holders =
  let structure, view = Identity.viewed structure Fun.id in
  let holders () = Option.fold (view ()) ~none:[] ~some:holders
  and state () = Option.fold (view ()) ~none:"" ~some:state in
  { operation; structure; holders; state; from_outside }
