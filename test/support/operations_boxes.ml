(* Operations on Mvars and pools. *)

open Concord
open Operation_kit

module Make (S : Style) = struct
  let zero = S.map (fun () -> 0)

  let from_box wait event _ =
    let t = Mvar.create_empty () in
    let release v =
      expect "the box is empty" (Mvar.try_put t v);
      0
    in
    {
      wait = (fun v -> wait t v);
      event = Some (fun v -> event t v);
      wake = numbered release;
      release;
      left = (fun () -> Option.to_list (Mvar.try_take t));
      waiters = (fun () -> Mvar.waiters t);
      ends = None;
      fails = None;
    }

  (* The last value is in the idle resource. It is in use again afterwards, as at first. *)
  let left_in t lease =
    if Pool.idle t = 0 then []
    else begin
      lease := Pool.obtain t;
      [ !(Pool.value !lease) ]
    end

  (* Each task leaves its value in the resource, which then passes to the next task. *)
  let used _ =
    let t = Pool.create ~keep_after:(fun _ -> true) 1 (fun () -> ref 0) in
    let lease = ref (Pool.obtain t) in
    let resource = Pool.value !lease in
    let leave n resource =
      let v = !resource in
      resource := n;
      v
    in
    let release v =
      resource := v;
      Pool.give_back ~keep:true !lease;
      0
    in
    {
      wait =
        (fun n -> S.Pool.use t (fun resource -> S.return (leave n resource)));
      event = Some (fun n -> Pool.use_evt t (leave n));
      wake = numbered release;
      release;
      left = (fun () -> left_in t lease);
      waiters = (fun () -> Pool.waiters t);
      ends = Some (Pool.Closed, fun () -> Pool.close t);
      fails = None;
    }

  let obtained _ =
    let t = Pool.create ~keep_after:(fun _ -> true) 1 (fun () -> ref 0) in
    let lease = ref (Pool.obtain t) in
    let exchange n obtained =
      lease := obtained;
      let v = !(Pool.value obtained) in
      Pool.value obtained := n;
      Pool.give_back ~keep:true obtained;
      v
    in
    let release v =
      Pool.value !lease := v;
      Pool.give_back ~keep:true !lease;
      0
    in
    {
      wait = (fun n -> S.map (exchange n) (S.Pool.obtain t));
      event = Some (fun n -> Event.wrap (Pool.obtain_evt t) (exchange n));
      wake = numbered release;
      release;
      left = (fun () -> left_in t lease);
      waiters = (fun () -> Pool.waiters t);
      ends = Some (Pool.Closed, fun () -> Pool.close t);
      fails = None;
    }

  let pool_closed _ =
    let t = Pool.create 1 ignore in
    let release _ =
      Pool.close t;
      0
    in
    {
      wait = (fun _ -> zero (S.Pool.await_closed t));
      event = Some (fun _ -> unit (Pool.await_closed_evt t));
      wake = always 0 release;
      release;
      left = (fun () -> tokens (fun () -> Pool.is_closed t));
      waiters = (fun () -> Pool.waiters t);
      ends = None;
      fails = None;
    }

  let pool =
    [
      operation "Pool.use" Passes used;
      operation "Pool.obtain" Passes obtained;
      operation "Pool.await_closed" Shares pool_closed;
    ]

  let put _ =
    let t = Mvar.create filler in
    full
      ~wait:(fun v -> zero (S.Mvar.put t v))
      ~event:(Mvar.put_evt t)
      ~try_take:(fun () -> Mvar.try_take t)
      ~waiters:(fun () -> Mvar.waiters t)
      ~ends:None

  let replace v old = (v, old)

  let mvar =
    [
      operation "Mvar.take" Takes
        (from_box (fun t _ -> S.Mvar.take t) (fun t _ -> Mvar.take_evt t));
      operation "Mvar.read" Shares
        (from_box (fun t _ -> S.Mvar.read t) (fun t _ -> Mvar.read_evt t));
      operation "Mvar.swap" Passes (from_box S.Mvar.swap Mvar.swap_evt);
      operation "Mvar.modify" Passes
        (from_box
           (fun t v -> S.Mvar.modify t (replace v))
           (fun t v -> Mvar.modify_evt t (replace v)));
      operation "Mvar.put" Gives put;
    ]
end
