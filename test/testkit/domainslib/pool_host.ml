open Domainslib

type pool = { pool : Task.pool; spawned : unit Task.promise list Atomic.t }

let rec add t promise =
  let before = Atomic.get t.spawned in
  if not (Atomic.compare_and_set t.spawned before (promise :: before)) then
    add t promise

(* An exception of a task is only raised where the task is awaited. *)
let rec await t =
  match Atomic.exchange t.spawned [] with
  | [] -> ()
  | promises ->
      List.iter (Task.await t.pool) promises;
      await t

module Make (Size : sig
  val num_domains : int
end) =
struct
  let name =
    if Size.num_domains = 0 then "Domainslib, a pool of one domain"
    else "Domainslib"

  type t = pool
  type task = unit

  let run f =
    let pool = Task.setup_pool ~num_domains:Size.num_domains () in
    let t = { pool; spawned = Atomic.make [] } in
    let body () =
      let v = f t in
      await t;
      v
    in
    Fun.protect
      (fun () -> Task.run pool body)
      ~finally:(fun () -> Task.teardown_pool pool)

  let spawn t f = add t (Task.async t.pool f)
  let yield = Concord.Tasks.yield
  let cancel = None
  let is_cancellation _ = false

  let not_offered =
    [
      ("inside", "Task.run blocks the domain");
      ("idle", "Task.run looks for tasks all the time");
    ]
end
