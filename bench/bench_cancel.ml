open Case

(* Many tasks wait. One operation is another task that begins to wait and is cancelled. It has
   ended before the next operation begins. *)

let warm_up = 100

type wait = {
  hold : unit -> unit;  (** Makes the others wait. *)
  wait : unit -> unit;  (** Each task of the crowd calls it. *)
  until_cancelled : unit -> unit;
  wake : unit -> unit;  (** Lets all tasks of the crowd continue. *)
}

(* [one_more fork f] is one operation, in which the new task runs [f]. *)
let in_crowd (host : Host.t) one_more { hold; wait; until_cancelled; wake }
    ~tasks n =
  let woken = ref 0 in
  let task () =
    wait ();
    incr woken
  in
  let ns =
    host.run (fun fork ->
        hold ();
        for _ = 1 to tasks do
          fork task
        done;
        (* A full collection first, because the work of the collector for the crowd must not be
           measured. *)
        Gc.full_major ();
        for _ = 1 to warm_up do
          one_more fork until_cancelled
        done;
        let start = Meter.now () in
        for _ = 1 to n do
          one_more fork until_cancelled
        done;
        let ns = Meter.ns_since start in
        Host.check "tasks woken too early" 0 !woken;
        wake ();
        ns)
  in
  Host.check "tasks woken" tasks !woken;
  ns

let on_fifo =
  in_crowd Host.fifo (fun _ f ->
      let task = Concord_fifo.fork f in
      Concord_fifo.cancel task;
      Concord_fifo.join task)

(* Eio can't cancel a fiber from outside, so the fiber makes a context. The yield lets the
   fiber end. *)
let on_eio =
  in_crowd Host.eio (fun fork f ->
      let context = ref None and cancelled = ref false in
      fork (fun () ->
          try
            Eio.Cancel.sub (fun cancel ->
                context := Some cancel;
                f ())
          with Eio.Cancel.Cancelled _ -> cancelled := true);
      Eio.Cancel.cancel (Option.get !context) Exit;
      Eio.Fiber.yield ();
      if not !cancelled then failwith "a task was not cancelled")

(* The crowd is small, because in a larger one a cancelled waiter of Picos's mutex takes a
   millisecond. *)
let small = 10_000

let comparison ~case ~crowd ~what ~concord ~eio =
  let time on wait = Crowd (crowd, fun ~tasks n -> on (wait ()) ~tasks n) in
  {
    title =
      Printf.sprintf
        "a task forked that waits for a %s among %d others, cancelled, and \
         waited for, 1 domain"
        what crowd;
    baseline = row ~case ~impl:"eio" ~host:"eio" (time on_eio eio);
    others =
      ([
         row ~case ~impl:"concord" ~host:"fifo" (time on_fifo concord);
         row ~case ~impl:"concord" ~host:"eio" (time on_eio concord);
       ]
      @ if crowd <= small then [ picos case (crowd_elsewhere crowd) ] else []);
  }

let mutex_concord () =
  let mutex = Concord.Mutex.create () in
  let lock () = Concord.Mutex.lock mutex in
  let unlock () = Concord.Mutex.unlock mutex in
  let wait () =
    lock ();
    unlock ()
  in
  { hold = lock; wait; until_cancelled = lock; wake = unlock }

let mutex_eio () =
  let mutex = Eio.Mutex.create () in
  let lock () = Eio.Mutex.lock mutex in
  let unlock () = Eio.Mutex.unlock mutex in
  let wait () =
    lock ();
    unlock ()
  in
  { hold = lock; wait; until_cancelled = lock; wake = unlock }

let mutex crowd =
  let case = Printf.sprintf "mutex-cancel-%d" crowd in
  comparison ~case ~crowd ~what:"mutex" ~concord:mutex_concord ~eio:mutex_eio

let promise_concord () =
  let p = Concord.Promise.create () in
  let await () = Concord.Promise.await p in
  let wake () = Concord.Promise.fill p () in
  { hold = ignore; wait = await; until_cancelled = await; wake }

let promise_eio () =
  let p, resolver = Eio.Promise.create () in
  let await () = Eio.Promise.await p in
  let wake () = Eio.Promise.resolve resolver () in
  { hold = ignore; wait = await; until_cancelled = await; wake }

let promise crowd =
  let case = Printf.sprintf "promise-cancel-%d" crowd in
  comparison ~case ~crowd ~what:"promise" ~concord:promise_concord
    ~eio:promise_eio

let among_waiters ~tasks n = on_fifo (mutex_concord ()) ~tasks n
let mutexes = [ 10; small ]
let promises = [ small ]

let comparisons =
  beside (List.map mutex mutexes @ List.map promise promises)
  @ [ mutex 100_000 ]
