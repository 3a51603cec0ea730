(* Cells like those of [Structure_cells], for structures of other libraries that wait through
   [Domain_local_await]. In each, a sibling of a waiting task must be able to continue. *)

open Concord

let messages = 100

(* [a] waits until its sibling has told [b] to continue. *)
let with_sibling between a b =
  let told = Promise.create () in
  between
    [ a; (fun () -> Promise.fill told ()) ]
    [
      (fun () ->
        Promise.await told;
        b ());
    ]

let kcas_mvar between =
  let open Kcas_data in
  let there = Mvar.create None and back = Mvar.create None in
  let a () =
    for i = 1 to messages do
      assert (Mvar.take there = i);
      Mvar.put back (-i)
    done
  and b () =
    for i = 1 to messages do
      Mvar.put there i;
      assert (Mvar.take back = -i)
    done
  in
  with_sibling between a b

(* A transaction that waits until both of two locations have changed, and one that waits for
   either of two queues. *)
let kcas_transaction between =
  let one = Kcas_data.Queue.create () and other = Kcas_data.Queue.create () in
  let here = Kcas.Loc.make 0 and there = Kcas.Loc.make 0 in
  let both ~xt =
    if Kcas.Xt.get ~xt here + Kcas.Xt.get ~xt there < 2 then Kcas.Retry.later ()
  and either ~xt =
    Kcas.Xt.first ~xt
      [
        Kcas_data.Queue.Xt.take_blocking one;
        Kcas_data.Queue.Xt.take_blocking other;
      ]
  in
  let sum = ref 0 in
  let a () =
    Kcas.Xt.commit { tx = both };
    for _ = 1 to messages do
      sum := !sum + Kcas.Xt.commit { tx = either }
    done
  and b () =
    Kcas.Loc.incr here;
    Kcas.Loc.incr there;
    for i = 1 to messages do
      Kcas_data.Queue.add i (if i land 1 = 0 then one else other)
    done
  in
  with_sibling between a b;
  assert (!sum = messages * (messages + 1) / 2)

(* Queues of Saturn never wait. A task that finds one empty leaves a trigger in another queue. *)
module Waiting_queue = struct
  type 'a t = {
    items : 'a Saturn.Queue.t;
    triggers : (unit -> unit) Saturn.Queue.t;
  }

  let create () =
    { items = Saturn.Queue.create (); triggers = Saturn.Queue.create () }

  let rec release_all t =
    match Saturn.Queue.pop_opt t.triggers with
    | None -> ()
    | Some release ->
        release ();
        release_all t

  let add t v =
    Saturn.Queue.push t.items v;
    release_all t

  let rec take t =
    match Saturn.Queue.pop_opt t.items with
    | Some v -> v
    | None ->
        let trigger = Domain_local_await.prepare_for_await () in
        Saturn.Queue.push t.triggers trigger.release;
        if Saturn.Queue.is_empty t.items then trigger.await ();
        take t
end

let saturn_queue between =
  let open Waiting_queue in
  let there = create () and back = create () in
  let a () =
    for i = 1 to messages do
      assert (take there = i);
      add back (-i)
    done
  and b () =
    for i = 1 to messages do
      add there i;
      assert (take back = -i)
    done
  in
  with_sibling between a b

let all =
  [
    ("kcas mvar", kcas_mvar);
    ("kcas transaction", kcas_transaction);
    ("saturn queue", saturn_queue);
  ]
