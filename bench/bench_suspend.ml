open Case
open Concord
open Concord.Tools

(* Compares suspending with the effect alone. *)

type _ Effect.t += Nothing : unit Effect.t

let perform n =
  let open Effect.Deep in
  let effc (type a) (eff : a Effect.t) =
    match eff with
    | Nothing -> Some (fun (k : (a, _) continuation) -> continue k ())
    | _ -> None
  in
  let body () =
    let start = Meter.now () in
    for _ = 1 to n do
      Effect.perform Nothing
    done;
    Meter.ns_since start
  in
  try_with body () { effc }

(* The task is resumed before it is suspended. So an operation is one suspension, one
   resumption and one trip through the scheduler's queue, and no other task is involved. *)
let resume_itself resumer =
  ignore (resumer (Ok ()) : bool);
  None

let suspend n =
  Concord_fifo.run (fun () ->
      let start = Meter.now () in
      for _ = 1 to n do
        Suspend.suspend resume_itself
      done;
      Meter.ns_since start)

let suspension =
  {
    title =
      "perform: an effect performed and continued; suspend: a task suspended, \
       resumed by its own block, and back from the queue; 1 domain";
    baseline = row ~case:"perform" ~impl:"stdlib" ~host:"stdlib" (Time perform);
    others = [ row ~case:"suspend" ~impl:"concord" ~host:"fifo" (Time suspend) ];
  }

(* Yielding *)

let yield_fifo n =
  let half () =
    for _ = 1 to n / 2 do
      Concord_fifo.yield ()
    done
  in
  Concord_fifo.run (fun () ->
      let start = Meter.now () in
      let other = Concord_fifo.fork half in
      half ();
      Concord_fifo.join other;
      Meter.ns_since start)

let yield_eio n =
  let half () =
    for _ = 1 to n / 2 do
      Eio.Fiber.yield ()
    done
  in
  Eio_main.run (fun _ ->
      let start = Meter.now () in
      Eio.Fiber.both half half;
      Meter.ns_since start)

let yield_thread n =
  let half () =
    for _ = 1 to n / 2 do
      Thread.yield ()
    done
  in
  let start = Meter.now () in
  let other = Thread.create half () in
  half ();
  Thread.join other;
  Meter.ns_since start

let yield =
  let case = "yield" in
  {
    title =
      "one yield, of two tasks that yield to each other on 1 domain (stdlib: \
       system threads)";
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time yield_eio);
    others =
      [
        row ~case ~impl:"concord" ~host:"fifo" (Time yield_fifo);
        row ~case ~impl:"stdlib" ~host:"thread" (Time yield_thread);
        go case;
        picos case elsewhere;
        tokio case;
      ];
  }

(* Forking and joining *)

let fork_join_fifo n =
  Concord_fifo.run (fun () ->
      let start = Meter.now () in
      for _ = 1 to n do
        Concord_fifo.join (Concord_fifo.fork ignore)
      done;
      Meter.ns_since start)

let fork_join_eio n =
  Eio_main.run (fun _ ->
      Eio.Switch.run (fun sw ->
          let start = Meter.now () in
          for _ = 1 to n do
            Eio.Promise.await_exn (Eio.Fiber.fork_promise ~sw ignore)
          done;
          Meter.ns_since start))

let fork_join_stdlib spawn join n =
  let start = Meter.now () in
  for _ = 1 to n do
    join (spawn ignore)
  done;
  Meter.ns_since start

let fork_join =
  let case = "fork-join" in
  let thread = fork_join_stdlib (fun f -> Thread.create f ()) Thread.join
  and domain = fork_join_stdlib Domain.spawn Domain.join in
  {
    title =
      "one task forked that ends at once, and joined, on 1 domain (stdlib: a \
       system thread, a domain)";
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time fork_join_eio);
    others =
      [
        row ~case ~impl:"concord" ~host:"fifo" (Time fork_join_fifo);
        row ~case ~impl:"stdlib" ~host:"thread" (Time thread);
        row ~case ~impl:"stdlib" ~host:"domain" (Time domain);
        go case;
        picos case elsewhere;
        tokio case;
      ];
  }

(* Waiting *)

let promise_concord host n =
  let p = Promise.create () in
  let wait () = Promise.await p and wake () = Promise.fill p () in
  Host.growth host ~wait ~wake n

let promise_eio n =
  let p, resolver = Eio.Promise.create () in
  let wait () = Eio.Promise.await p in
  let wake () = Eio.Promise.resolve resolver () in
  Host.growth Host.eio ~wait ~wake n

let taker_concord host n =
  let box = Mvar.create_empty () in
  let wait () = Mvar.take box in
  let wake () =
    for _ = 1 to n do
      Mvar.put box ()
    done
  in
  Host.growth host ~wait ~wake n

let taker_eio n =
  let stream = Eio.Stream.create 1 in
  let wait () = Eio.Stream.take stream in
  let wake () =
    for _ = 1 to n do
      Eio.Stream.add stream ()
    done
  in
  Host.growth Host.eio ~wait ~wake n

let blocked ~case ~what ~eio ~concord ~more =
  {
    title =
      Printf.sprintf "resident bytes of a task that waits %s, 1 domain" what;
    baseline = row ~case ~impl:"eio" ~host:"eio" (resident eio);
    others =
      [
        row ~case ~impl:"concord" ~host:"fifo" (resident (concord Host.fifo));
        row ~case ~impl:"concord" ~host:"eio" (resident (concord Host.eio));
        picos case resident_elsewhere;
      ]
      @ more case;
  }

let group =
  {
    name = "suspend";
    doc = "what a task of Fifo costs: suspend, yield, fork, wait";
    comparisons =
      beside [ suspension; yield; fork_join ]
      @ [
          blocked ~case:"blocked-task-bytes" ~what:"for a promise"
            ~eio:promise_eio ~concord:promise_concord ~more:(fun case ->
              [ go_resident case ]);
          blocked ~case:"blocked-taker-bytes" ~what:"to take from an empty box"
            ~eio:taker_eio ~concord:taker_concord ~more:(fun _ -> []);
        ];
  }
