open Concord

let halt () = raise_notrace Group.Ended
let body f () = try f () with Group.Ended -> ()

type wait = {
  wait :
    'a.
    protected:bool ->
    ('a Suspend.resumer -> 'a option) ->
    (('a, exn) result -> unit) ->
    unit;
}
[@@unboxed]

let shield shields k =
  incr shields;
  k (Ok (fun () -> decr shields))

let meaning host { wait } =
  let shields = ref 0 in
  let meaning (type a) (e : a Effect.t) : (a, unit) Prompt.body option =
    match e with
    | Suspend.Suspend block when Host_kit.is_innermost host ->
        Some (fun k -> wait ~protected:(!shields > 0) block k)
    | Suspend.Protect when Host_kit.is_innermost host ->
        Some (fun k -> shield shields k)
    | Suspend.Ask { otherwise; _ } -> Some (fun k -> k (Ok otherwise))
    | _ -> None
  in
  { Prompt.meaning }

let in_group group =
  let wait ~protected block k = Group.wait group ~protected block k in
  meaning (Group.host group) { wait }
