module In_loop (Style : sig
  val name : string
  val start : (unit -> 'a) -> 'a Lwt.t
end) =
struct
  let name = Style.name

  type t = unit Lwt.t list ref
  type task = unit Lwt.t

  (* A cancelled task has failed, but this isn't an error. *)
  let ended task =
    Lwt.catch
      (fun () -> task)
      (function Lwt.Canceled -> Lwt.return () | e -> Lwt.reraise e)

  let run f =
    Concord_lwt.run @@ fun () ->
    let spawned = ref [] in
    Lwt.bind
      (Style.start (fun () -> f spawned))
      (fun v -> Lwt.map (fun () -> v) (Lwt.join (List.map ended !spawned)))

  let spawn spawned f =
    let task = Style.start f in
    spawned := task :: !spawned;
    task

  let yield = Concord.Tasks.yield

  let not_offered =
    [
      ("inside", "Lwt_main.run blocks the thread");
      ("nested", "Lwt has one loop");
      ("domains", "Lwt runs on one domain");
    ]
end

module Lwt_direct = struct
  include In_loop (struct
    let name = "Lwt_direct"
    let start = Lwt_direct.spawn
  end)

  let cancel = None
  let is_cancellation _ = false
end

module Promises = struct
  include In_loop (struct
    let name = "Lwt, Concord_lwt.direct"
    let start = Concord_lwt.direct
  end)

  let cancel = Some (fun _ task -> Lwt.cancel task)
  let is_cancellation = function Lwt.Canceled -> true | _ -> false

  let not_offered =
    ("backtraces", "an exception of block loses its backtrace") :: not_offered
end
