(* A third party's scheduler, which only knows the one effect of Concord. It never waits in
   another scheduler, because its loop blocks its thread. *)

module Suspend = Concord.Tools.Suspend
open Effect.Deep

type _ Effect.t += Fork : (unit -> unit) -> unit Effect.t

let fork f = Effect.perform (Fork f)

let run tasks =
  let mutex = Stdlib.Mutex.create () and changed = Stdlib.Condition.create () in
  let ready = Queue.create () and live = ref (List.length tasks) in
  let push go_on =
    Stdlib.Mutex.protect mutex (fun () -> Queue.push go_on ready);
    Stdlib.Condition.signal changed
  in
  let suspend (type a) (block : a Suspend.resumer -> a option)
      (k : (a, unit) continuation) =
    let decided = Atomic.make false in
    let decide () = Atomic.compare_and_set decided false true in
    let go_on = function
      | Ok v -> fun () -> continue k v
      | Error e -> fun () -> discontinue k e
    in
    let resumer outcome =
      decide ()
      &&
      (push (go_on outcome);
       true)
    in
    match block resumer with
    | None -> ()
    | Some v -> if decide () then continue k v
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        if decide () then discontinue_with_backtrace k e backtrace
  in
  let rec start f =
    match_with f () { retc = (fun () -> decr live); exnc = raise; effc }
  and effc : type a. a Effect.t -> ((a, unit) continuation -> unit) option =
    function
    | Suspend.Suspend block -> Some (fun k -> suspend block k)
    | Fork f ->
        Some
          (fun k ->
            incr live;
            push (fun () -> start f);
            continue k ())
    | _ -> None
  in
  List.iter (fun f -> push (fun () -> start f)) tasks;
  while !live > 0 do
    let next () =
      while Queue.is_empty ready do
        Stdlib.Condition.wait changed mutex
      done;
      Queue.pop ready
    in
    (Stdlib.Mutex.protect mutex next) ()
  done
