(* One program in which tasks of every library share lazy values. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo
module Pool = Domainslib.Task

(* [start ask other] calls [ask ()] in a task of the host, and [other ()] in another one,
   which runs while the first one waits. The returned function waits for the end of both. *)
type host = {
  name : string;
  start : (unit -> unit) -> (unit -> unit) -> unit -> unit;
}

let fifo ask other =
  domain (fun () ->
      Fifo.run (fun () ->
          let asker = Fifo.fork ask in
          other ();
          Fifo.join asker))

let eio ask other =
  domain (fun () -> Eio_main.run (fun _ -> Eio.Fiber.both ask other))

(* The pool has only the domain that runs its loop. *)
let domainslib ask other =
  domain (fun () ->
      let pool = Pool.setup_pool ~num_domains:0 () in
      Pool.run pool (fun () ->
          let asker = Pool.async pool ask in
          let other = Pool.async pool other in
          Pool.await pool asker;
          Pool.await pool other);
      Pool.teardown_pool pool)

let lwt ask other =
  domain (fun () ->
      Lwt_main.run (Lwt.join [ Lwt_task.run ask; Lwt_task.run other ]))

let both start ask other =
  let a = start ask and b = start other in
  fun () ->
    a ();
    b ()

let hosts =
  [
    { name = "Fifo"; start = fifo };
    { name = "Eio"; start = eio };
    { name = "Domainslib"; start = domainslib };
    { name = "Lwt"; start = lwt };
    { name = "threads"; start = both thread };
    { name = "domains"; start = both domain };
  ]

let n = List.length hosts

(* The first host computes while [gate] is shut, and the other hosts wait for the value. *)
let share first () =
  let runs = Atomic.make 0 and gate = Promise.create () in
  let shared =
    Lazy.from_fun (fun () ->
        Atomic.incr runs;
        Promise.await gate)
  in
  (* Every host forces this one too, and one of its own. *)
  let length = Lazy.map String.length shared in
  let pings =
    List.map (fun _ -> (Promise.create (), Promise.create ())) hosts
  in
  let right = Atomic.make 0 in
  let start i host =
    let own = Lazy.map (fun s -> s ^ " for " ^ host.name) shared in
    let ask () =
      let v = Lazy.force shared in
      let l = Lazy.force length and o = Lazy.force own in
      if (v, l, o) = ("value", 5, "value for " ^ host.name) then
        Atomic.incr right
    in
    let ping, pong = List.nth pings i in
    let other () =
      Promise.await ping;
      Promise.fill pong ()
    in
    host.start ask other
  in
  let others = List.filteri (fun i _ -> i <> first) hosts in
  let join = start 0 (List.nth hosts first) in
  eventually "it is being computed" (fun () -> Promise.waiters gate = 1);
  let joins = List.mapi (fun i host -> start (i + 1) host) others in
  eventually "the others wait" (fun () -> Lazy.waiters shared = n - 1);
  (* Another task of each host must run meanwhile. *)
  List.iter
    (fun (ping, pong) ->
      Promise.fill ping ();
      Promise.await pong)
    pings;
  int "all still wait" (n - 1) (Lazy.waiters shared);
  Promise.fill gate "value";
  List.iter (fun join -> join ()) (join :: joins);
  int "computed" 1 (Atomic.get runs);
  int "right values" n (Atomic.get right)

exception Boom

let[@inline never] culprit () = if true then raise Boom

(* The computation fails after all hosts have begun to wait. *)
let fails () =
  let gate = Promise.create () and told = Atomic.make 0 in
  let shared =
    Lazy.from_fun (fun () ->
        Promise.await gate;
        culprit ())
  in
  let dependent = Lazy.map Fun.id shared in
  let ask () =
    let check t =
      match Lazy.force t with () -> () | exception Boom -> Atomic.incr told
    in
    check shared;
    check dependent
  in
  let joins = List.map (fun host -> host.start ask ignore) hosts in
  eventually "they wait" (fun () -> Lazy.waiters shared = n - 1);
  Promise.fill gate ();
  List.iter (fun join -> join ()) joins;
  int "all got the exception" (2 * n) (Atomic.get told)

(* Each host forces a value that needs the next host's value. *)
let cycle () =
  let told = Atomic.make 0 and begun = Latch.create n in
  let all = Array.make n (Lazy.from_val 0) in
  let compute i () =
    Latch.count_down begun;
    Latch.await begun;
    try Lazy.force all.((i + 1) mod n) + 1
    with Lazy.Undefined ->
      Atomic.incr told;
      0
  in
  Array.iteri (fun i _ -> all.(i) <- Lazy.from_fun (compute i)) all;
  let start i host =
    host.start (fun () -> ignore (Lazy.force all.(i) : int)) ignore
  in
  let joins = List.mapi start hosts in
  List.iter (fun join -> join ()) joins;
  yes "at least one got Undefined" (Atomic.get told >= 1);
  yes "all are forced" (Array.for_all Lazy.is_val all)

let () =
  run "Lazy: shared by every library"
    [
      ( "the computation is held back",
        List.mapi (fun i host -> test (host.name ^ " computes") (share i)) hosts
      );
      ("a failure", [ test "all get the exception" fails ]);
      ("a cycle", [ test "over a task of each host" cycle ]);
    ]
