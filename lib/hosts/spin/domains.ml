let spawned = ref false

let () =
  let spawns () = spawned := true in
  try Domain.before_first_spawn spawns
  with Invalid_argument _ -> (* the library was loaded late *) spawns ()

let[@inline] were_spawned () = !spawned
