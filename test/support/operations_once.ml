(* Operations that wait for one event: promises, latches, lazy values, watches, bvars, barriers. *)

open Concord
open Operation_kit

module Make (S : Style) = struct
  let zero = S.map (fun () -> 0)

  let awaited ?(keeps_backtrace = true) wait event _ =
    let t = Promise.create () in
    let release v =
      Promise.fill t v;
      0
    in
    {
      wait = (fun _ -> wait t);
      event = Some (fun _ -> event t);
      wake = always 1 release;
      release;
      left =
        (fun () -> match Promise.peek t with Some (Ok v) -> [ v ] | _ -> []);
      waiters = (fun () -> Promise.waiters t);
      ends = Some (Not_found, fun () -> Promise.fail t Not_found);
      fails =
        (if keeps_backtrace then
           Some (fun e backtrace -> Promise.fail ~backtrace t e)
         else None);
    }

  let or_raise = function Ok v -> v | Error e -> raise e

  let promise =
    [
      operation "Promise.await" Shares
        (awaited S.Promise.await Promise.await_evt);
      operation "Promise.await_result" Shares
        (awaited ~keeps_backtrace:false
           (fun t -> S.map or_raise (S.Promise.await_result t))
           (fun t -> Event.wrap (Promise.await_result_evt t) or_raise));
    ]

  let latch =
    [
      operation "Latch.await" Shares (fun _ ->
          let t = Latch.create 1 in
          let release _ =
            Latch.count_down t;
            0
          in
          {
            wait = (fun _ -> zero (S.Latch.await t));
            event = Some (fun _ -> unit (Latch.await_evt t));
            wake = always 0 release;
            release;
            left = (fun () -> tokens (fun () -> Latch.is_open t));
            waiters = (fun () -> Latch.waiters t);
            ends = None;
            fails = None;
          });
    ]

  (* Another task computes the value. *)
  let forced ?event wait _ =
    let gate = Promise.create () in
    let t = Lazy.from_fun (fun () -> Promise.await gate) in
    let go_on = paused (fun () -> try Lazy.force t with Not_found -> 0) in
    let release v =
      Promise.fill gate v;
      go_on ();
      0
    in
    {
      wait = (fun _ -> wait t);
      event = Option.map (fun event _ -> event t) event;
      wake = always 1 release;
      release;
      left = (fun () -> match Lazy.peek t with Some (Ok v) -> [ v ] | _ -> []);
      waiters = (fun () -> Lazy.waiters t);
      ends =
        Some
          ( Not_found,
            fun () ->
              Promise.fail gate Not_found;
              go_on () );
      fails =
        Some
          (fun e backtrace ->
            Promise.fail ~backtrace gate e;
            try go_on () with failure when failure == e -> ());
    }

  let lazy_ =
    [
      operation "Lazy.force" Shares (forced S.Lazy.force);
      operation "Lazy.force_val" Shares (forced S.Lazy.force_val);
      operation "Lazy.await_evt" Shares
        (forced ~event:Lazy.await_evt (fun t -> S.sync (Lazy.await_evt t)));
    ]

  let changed _ =
    let t = Watch.create 0 in
    let _, since = Watch.read t in
    let release v =
      Watch.set t v;
      0
    in
    {
      wait = (fun _ -> S.map fst (S.Watch.changed t ~since));
      event = Some (fun _ -> Event.wrap (Watch.changed_evt t ~since) fst);
      wake = always 1 release;
      release;
      left =
        (fun () ->
          let v, version = Watch.read t in
          if version = since then [] else [ v ]);
      waiters = (fun () -> Watch.waiters t);
      ends = Some (Watch.Closed, fun () -> Watch.close t);
      fails = None;
    }

  let watch = [ operation "Watch.changed" Shares changed ]

  let bvar =
    let given give _ =
      let t = Bvar.create () in
      let release v = if give t v then 0 else v in
      {
        wait = (fun _ -> S.Bvar.wait t);
        event = Some (fun _ -> Bvar.wait_evt t);
        wake = always 1 release;
        release;
        left = (fun () -> []);
        waiters = (fun () -> Bvar.waiters t);
        ends = None;
        fails = None;
      }
    in
    [
      operation "Bvar.wait, signal" Takes ~remembers:false (given Bvar.signal);
      operation "Bvar.wait, broadcast" Shares ~remembers:false ~repeats:false
        (given (fun t v ->
             Bvar.broadcast t v;
             true));
    ]

  let barrier =
    [
      operation "Barrier.await" Meets ~remembers:false (fun n ->
          let parties = n + 1 in
          let t = Barrier.create parties in
          {
            wait = (fun _ -> zero (S.Barrier.await t));
            event = Some (fun _ -> unit (Barrier.await_evt t));
            wake =
              (fun () ->
                let party () = Hand.start (fun () -> Barrier.await t) in
                for _ = Barrier.waiters t + 1 to parties do
                  ignore (registered party : unit Hand.t)
                done;
                0);
            release =
              (fun _ ->
                Barrier.await t;
                0);
            left = (fun () -> []);
            waiters = (fun () -> Barrier.waiters t);
            ends = None;
            fails = None;
          });
    ]
end
