open Identity

(* Attached data may refer to its owner, but doesn't keep the owner alive. Both are in one
   ephemeron, which costs as much as a weak pointer. [attach] determines the type, and [data]
   returns the data with the same type. *)
type 'a t = Obj.Ephemeron.t

let attach v attached =
  let block = weakly v in
  Obj.Ephemeron.set_data block (Obj.repr attached);
  block

let attach_to_target pointer attached =
  Option.map (fun thing -> attach thing attached) (target pointer)

let owner block = of_ephemeron block
let is_useless block = is_collected (owner block)

(* [thing] has to stay alive until the data was read, because then the data is alive too. *)
let data block thing =
  let data = Obj.Ephemeron.get_data block in
  ignore (Sys.opaque_identity thing : Obj.t);
  Option.map Obj.obj data

let attached block = Option.bind (target (owner block)) (data block)

let attached_to pointer block =
  match target pointer with
  | Some thing when points_to (owner block) thing -> data block thing
  | Some _ | None -> None
