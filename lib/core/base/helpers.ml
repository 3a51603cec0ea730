type t = { idle : int; busy : int }
type kind = { ask : unit -> t; is_idle : unit -> bool }

let all : kind list Atomic.t = Atomic.make []

let add ?(is_idle = fun () -> true) ask =
  Atomically.update all (List.cons { ask; is_idle })

let ask () =
  let add all { ask; _ } =
    let { idle; busy } = ask () in
    { idle = all.idle + idle; busy = all.busy + busy }
  in
  List.fold_left add { idle = 0; busy = 0 } (Atomic.get all)

let are_idle () =
  List.for_all (fun { is_idle; _ } -> is_idle ()) (Atomic.get all)
