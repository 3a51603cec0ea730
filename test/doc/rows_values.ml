open Concord

module Make () = struct
  let job () = ()
  let read () = 1
  let fetch url = String.length url
  let visit (_ : string) = ()
  let urls = [ "a"; "b"; "c" ]
  let print (_ : int) = ()
  let query (_ : string) = ()
  let items = Stream.create 10
  let () = Stream.add items 1
  let quit : int Promise.t = Promise.create ()
  let request_id : int Local.t = Local.create ()
  let mutex = Mutex.create ()
  let lock = Rwlock.create ()
  let permits = Semaphore.Counting.make 10
  let connections = Pool.create 2 (fun () -> "a connection")
  let news : string Broadcast.t = Broadcast.create ()
  let level = Watch.create 1
end

let limit = 20.

(* Meanwhile another task broadcasts the condition. *)
let run rows =
  Workers.with_workers ~domains:1 @@ fun workers ->
  List.iter
    (fun (code, run) ->
      let changed = Condition.create () in
      let rec broadcast () =
        Condition.broadcast changed;
        Tasks.sleep 0.001;
        broadcast ()
      in
      let run () = Scope.run (fun scope -> run ~scope ~workers ~changed) in
      match Tasks.with_timeout limit (fun () -> Tasks.first run broadcast) with
      | Some () -> ()
      | None -> Printf.ksprintf failwith "%s: no end after %.0f s" code limit
      | exception e ->
          Printf.ksprintf failwith "%s: %s" code (Printexc.to_string e))
    rows;
  Printf.printf "%d pieces of code have run\n" (List.length rows)
