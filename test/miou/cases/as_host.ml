(* The suite for hosts, on tasks of Miou. *)

open Concord_testkit.Host
open Concord_test_own

(* Only a task's parent cancels it, and awaits it. *)
module Make (Place : sig
  val name : string
  val run : (unit -> 'a) -> 'a
end) =
struct
  let name = Place.name

  type task = unit Miou.t
  type t = task list ref

  (* Those that were cancelled, or wait, are left. *)
  let over task =
    match Miou.Promise.state task with
    | Running -> Miou.cancel task
    | Exited | Finished -> (
        match Miou.await task with
        | Ok () | Error Miou.Cancelled -> ()
        | Error e -> raise e)

  let run f =
    Place.run @@ fun () ->
    let tasks = ref [] in
    let v = f tasks in
    List.iter over !tasks;
    v

  let spawn tasks f =
    let task = Miou.async f in
    tasks := task :: !tasks;
    task

  let yield = Miou.yield
  let cancel = None
  let is_cancellation e = e = Miou.Cancelled
  let protects = false
  let domains = false
end

module Here = Make (struct
  let name = "Miou"
  let run f = In_miou.run f
end)

module There = Make (struct
  let name = "Miou, another domain"
  let run f = In_miou.call f
end)

let hosts : (module HOST) list = [ (module Here); (module There) ]
let run () = Own.test hosts
