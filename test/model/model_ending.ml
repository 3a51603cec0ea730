(* The end of a scope whose tasks fail, are unwound, or cancel it, each on its own domain. *)

exception A
exception B

let backtrace = Printexc.get_callstack 0
let failed e = Ending.Failed (e, backtrace)
let unwound = Ending.Unwound (Model.Cancelled, backtrace)

(* A change that ends the scope asks its caller to cancel the tasks. Unless the scope ends as
   running, a change must have asked for this. *)
let check name changes expect =
  Model.check name ~expect @@ fun () ->
  let ending = Ending.create () and cancelled = ref false in
  let change after () = if Ending.change ending after then cancelled := true in
  let outcome () =
    let last = Ending.close ending in
    if last <> Running && not !cancelled then
      failwith "no change asked to cancel the tasks";
    if Ending.change ending (failed A) then failwith "it has ended";
    match last with
    | Running -> "running"
    | Stopped -> "stopped"
    | Unwound _ -> "unwound"
    | Failed (e, _) -> if e == A then "A" else "B"
    | Ended -> "ended"
  in
  (List.map change changes, outcome)

let () =
  check "two fail" [ failed A; failed B ] [ "A"; "B" ];
  check "one fails, one cancels" [ failed A; Stopped ] [ "A" ];
  check "one fails, one is unwound" [ failed A; unwound ] [ "A" ];
  check "unwound, cancelled" [ unwound; Stopped ] [ "stopped"; "unwound" ];
  check "all of it" [ failed A; unwound; Stopped ] [ "A" ];
  check "two cancel" [ Stopped; Stopped ] [ "stopped" ];
  Model.finish ()
