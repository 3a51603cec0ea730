type t = Waits.holder option

let unknown : t = None
let to_list = Option.to_list
let of_task by : t = Some (Waits.held by)
let[@inline never] caller_known () = of_task (Extent.task ())
let[@inline] caller () = if Waits.are_kept () then caller_known () else unknown
let[@inline never] within_known f = Extent.within (fun by -> f (of_task by))
let[@inline] within f = if Waits.are_kept () then within_known f else f unknown
let taken holder = Option.iter Waits.held_from_now holder
