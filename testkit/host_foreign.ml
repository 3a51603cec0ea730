open Effect.Deep

type _ Effect.t += Wait : (wake:(unit -> unit) -> unit) -> unit Effect.t

type t = {
  mutex : Stdlib.Mutex.t;
  changed : Stdlib.Condition.t;
  ready : (unit -> unit) Queue.t;
}

let push t job =
  Stdlib.Mutex.protect t.mutex (fun () -> Queue.push job t.ready);
  Stdlib.Condition.signal t.changed

let pop t =
  Stdlib.Mutex.protect t.mutex @@ fun () ->
  while Queue.is_empty t.ready do
    Stdlib.Condition.wait t.changed t.mutex
  done;
  Queue.pop t.ready

(* [await] returns once [release] was called, even if that was before [await]. *)
let prepare_for_await () =
  let state = Atomic.make `Fresh in
  let release () =
    match Atomic.exchange state `Released with
    | `Waits wake -> wake ()
    | `Fresh | `Released -> ()
  and await () =
    Effect.perform
      (Wait
         (fun ~wake ->
           if not (Atomic.compare_and_set state `Fresh (`Waits wake)) then
             wake ()))
  in
  Domain_local_await.{ release; await }

let run tasks =
  let t =
    {
      mutex = Stdlib.Mutex.create ();
      changed = Stdlib.Condition.create ();
      ready = Queue.create ();
    }
  in
  let live = ref (List.length tasks) in
  let effc (type a) (e : a Effect.t) : ((a, unit) continuation -> unit) option =
    match e with
    | Wait f -> Some (fun k -> f ~wake:(fun () -> push t (continue k)))
    | _ -> None
  in
  let start f () =
    match_with f () { retc = (fun () -> decr live); exnc = raise; effc }
  in
  List.iter (fun f -> push t (start f)) tasks;
  Domain_local_await.using ~prepare_for_await ~while_running:(fun () ->
      while !live > 0 do
        (pop t) ()
      done)
