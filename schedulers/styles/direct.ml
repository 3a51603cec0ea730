open Concord.Tools
module Who = Concord.Private.Who

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

(* The state of one thread. [who] is made when its identity is first needed. *)
type thread = { mutable shields : int; mutable who : Who.t option }

let shield thread k =
  thread.shields <- thread.shields + 1;
  k (Ok (fun () -> thread.shields <- thread.shields - 1))

let who name thread () =
  match thread.who with
  | Some who -> Who.here who
  | None ->
      let host = "Concord_styles." ^ name
      and name = Who.numbered "thread" (Who.new_number ()) in
      let who = Who.make ~host ~name thread in
      thread.who <- Some who;
      who

let meaning ~name host { wait } =
  let thread = { shields = 0; who = None } in
  let meaning (type a) (e : a Effect.t) : (a, unit) Prompt.body option =
    match e with
    | Suspend.Suspend block when Host_kit.is_innermost host ->
        Some (fun k -> wait ~protected:(thread.shields > 0) block k)
    | Suspend.Protect when Host_kit.is_innermost host ->
        Some (fun k -> shield thread k)
    | Suspend.Ask { question; otherwise } when Host_kit.is_innermost host ->
        Some
          (fun k -> k (Ok (Who.answer question ~otherwise (who name thread))))
    | Suspend.Ask { otherwise; _ } -> Some (fun k -> k (Ok otherwise))
    | _ -> None
  in
  { Prompt.meaning }

let in_group style group =
  let wait ~protected block k = Group.wait group ~protected block k in
  meaning ~name:(Group.name style) (Group.host group) { wait }
