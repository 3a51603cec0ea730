(* A host that answers [Scopes], but can't cancel, and doesn't check which task forks. *)

open Effect.Deep

let rec answering : 'r. (unit -> 'r) -> 'r =
 fun f ->
  let effc (type a) (e : a Effect.t) : ((a, _) continuation -> _) option =
    match e with
    | Concord.Tools.Suspend.Scopes ->
        Some
          (fun (k : (a, _) continuation) ->
            continue k Concord.Tools.Suspend.{ scope = open_scope })
    | _ -> None
  in
  try_with f () { effc }

and open_scope : 'a. (Concord.Tools.Suspend.scope -> 'a) -> 'a =
 fun body ->
  let live = ref 1 and empty = Concord.Promise.create () in
  let ended () =
    decr live;
    if !live = 0 then Concord.Promise.fill empty ()
  in
  let fork f =
    incr live;
    ignore
      (Concord_fifo.fork (fun () ->
           answering f;
           ended ())
        : Concord_fifo.handle)
  in
  let v = body { fork; cancel = ignore } in
  ended ();
  Concord.Promise.await empty;
  v

let run f = Concord_fifo.run (fun () -> answering f)
