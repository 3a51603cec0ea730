(* Threads that await, and other threads that release them. *)

module Parker = Real_parker

exception Interrupted

type step =
  | Await of int  (** awaits the parker of this number *)
  | Release of int
  | Wake of int
      (** wakes a thread that sleeps with this parker, once and for no reason *)

type parker = { itself : Parker.t; is_released : bool Atomic.t }

let me () = !Atomic.current
let since counters before = counters.(me ()) > before

(* The result says how far [await] had to go: it only spun, it also took the mutex, or it
   slept. [!] marks an interruption. After it, another thread takes a condition, so the next
   sleep uses another one. *)
let await parkers n =
  let { itself; is_released } = parkers.(n) in
  let locked = Locks.locked.(me ()) and slept = Locks.slept.(me ()) in
  let { Parker.conditions; _ } = Locks.Domain.DLS.get Parker.of_domain in
  let rec again () =
    match Parker.await itself with
    | () -> ""
    | exception Interrupted ->
        let taken = Parker.take conditions in
        let interruptions = again () in
        Parker.give_back conditions taken;
        "!" ^ interruptions
  in
  let interruptions = again () in
  if not (Atomic.get is_released) then
    failwith "it returned, but was not released";
  (if since Locks.slept slept then "slept"
   else if since Locks.locked locked then "locked"
   else "looked")
  ^ interruptions

(* Takes one step if no thread is asleep, and otherwise takes the mutex too. *)
let release parkers n =
  let { itself; is_released } = parkers.(n) in
  let locked = Locks.locked.(me ()) in
  Atomic.set is_released true;
  let how () = if since Locks.locked locked then "locked" else "step" in
  match Parker.release itself with
  | () -> how ()
  | exception Interrupted -> how () ^ "!"

let wake parkers n =
  Locks.Condition.signal (Atomic.get parkers.(n).itself.condition)

let perform parkers = function
  | Await n -> await parkers n
  | Release n -> release parkers n
  | Wake n ->
      wake parkers n;
      "woke"

(* No thread holds the mutex or has a condition. *)
let at_rest { Parker.common; conditions; _ } =
  if not (Locks.Mutex.is_free common) then failwith "a mutex is locked";
  if
    List.compare_lengths
      (Atomic.get conditions.free)
      (Atomic.get conditions.all)
    <> 0
  then failwith "a condition was not given back"

let not_to_its_end = "an order not tried to its end"

(* The outcome is how far each process had to go in each of its steps. With [forked], the
   mutexes were made in the parent process. Each process has its own domain, unless [domains]
   says otherwise. *)
let check ?(forked = false) ?(domains = Fun.id) ?(handlers = fun _ -> []) name
    processes expect =
  Model.check name ~expect:(not_to_its_end :: expect) @@ fun () ->
  Locks.start ~domains;
  let shared i _ =
    Atomic.current := i;
    let shared = Locks.Domain.DLS.get Parker.of_domain in
    if forked then
      Locks.Domain.DLS.set Parker.of_domain { shared with process = 0 };
    shared
  in
  let shared = List.mapi shared processes in
  Atomic.current := 0;
  let parker _ =
    { itself = Parker.create (); is_released = Atomic.make false }
  in
  let parkers = Array.init 2 parker in
  Locks.handlers := handlers parkers;
  let thread i steps =
    Actor.make (string_of_int i) (fun () ->
        String.concat "," (List.map (perform parkers) steps))
  in
  let threads = List.mapi thread processes in
  let outcome () =
    if Locks.could_go_on () then not_to_its_end
    else begin
      if Actor.count_waiting threads > 0 then
        failwith ("waits forever: " ^ Actor.describe threads);
      List.iter at_rest shared;
      String.concat "; " (List.map (fun a -> a.Actor.result) threads)
    end
  in
  (List.map (fun a () -> Actor.run a) threads, outcome)

let raises process place =
  { Locks.process; place; handle = (fun () -> raise Interrupted) }

let releases process parkers n =
  let handle () = ignore (release parkers n : string) in
  { Locks.process; place = Before_wait; handle }

let sleeps process parkers n =
  let handle () = ignore (await parkers n : string) in
  { Locks.process; place = Before_wait; handle }

let () =
  let one_domain _ = 0 in
  check "one releases"
    [ [ Await 0 ]; [ Release 0 ] ]
    [ "locked; step"; "looked; step"; "slept; locked" ];
  check "two release"
    [ [ Await 0 ]; [ Release 0 ]; [ Release 0 ] ]
    [
      "locked; step; step";
      "looked; step; step";
      "slept; locked; locked";
      "slept; locked; step";
      "slept; step; locked";
    ];
  check "woken for no reason"
    [ [ Await 0 ]; [ Release 0 ]; [ Wake 0 ] ]
    [ "locked; step; woke"; "looked; step; woke"; "slept; locked; woke" ];
  check "one after another"
    [ [ Await 0; Await 1 ]; [ Release 0 ]; [ Release 1 ] ]
    [
      "locked,locked; step; step";
      "locked,looked; step; step";
      "locked,slept; step; locked";
      "looked,locked; step; step";
      "looked,looked; step; step";
      "looked,slept; step; locked";
      "slept,locked; locked; step";
      "slept,looked; locked; step";
      "slept,slept; locked; locked";
    ];
  check "there and back"
    [ [ Release 0; Await 1 ]; [ Await 0; Release 1 ] ]
    [
      "locked,locked; slept,step";
      "locked,looked; slept,step";
      "locked,slept; slept,locked";
      "step,locked; locked,step";
      "step,locked; looked,step";
      "step,looked; locked,step";
      "step,looked; looked,step";
      "step,slept; locked,locked";
      "step,slept; looked,locked";
    ];
  check "there and back in a domain" ~domains:one_domain
    [ [ Release 0; Await 1 ]; [ Await 0; Release 1 ] ]
    [
      "locked,locked; slept,step";
      "locked,looked; slept,step";
      "locked,slept; slept,locked";
      "step,locked; locked,step";
      "step,locked; looked,step";
      "step,looked; locked,step";
      "step,looked; looked,step";
      "step,slept; locked,locked";
      "step,slept; looked,locked";
    ];
  check "interrupted before it sleeps, released twice"
    ~handlers:(fun _ -> [ raises 0 Before_wait ])
    [ [ Await 0 ]; [ Release 0; Release 0 ] ]
    [
      "locked!; locked,step";
      "locked; step,step";
      "looked; step,step";
      "slept!; locked,step";
    ];
  check "interrupted again, before it has the mutex"
    ~handlers:(fun _ -> [ raises 0 Before_wait; raises 0 Before_lock ])
    [ [ Await 0 ]; [ Release 0 ] ]
    [
      "locked!!; locked";
      "locked!; locked";
      "locked; step";
      "looked; step";
      "slept!; locked";
    ];
  check "interrupted when it is woken"
    ~handlers:(fun _ -> [ raises 0 After_wait ])
    [ [ Await 0 ]; [ Release 0 ]; [ Wake 0 ] ]
    [ "locked; step; woke"; "looked; step; woke"; "slept!; locked; woke" ];
  check "the releasing thread is interrupted"
    ~handlers:(fun _ -> [ raises 1 Before_lock ])
    [ [ Await 0 ]; [ Release 0 ]; [ Wake 0 ] ]
    [
      "locked; step; woke";
      "looked; step; woke";
      "slept; locked!; woke";
      "slept; locked; woke";
    ];
  check "a handler releases the thread"
    ~handlers:(fun parkers -> [ releases 0 parkers 0 ])
    [ [ Await 0 ]; [ Release 0 ] ]
    [ "locked; step"; "looked; step"; "slept; locked"; "slept; step" ];
  check "handlers of two threads release the other one"
    ~handlers:(fun parkers -> [ releases 0 parkers 1; releases 1 parkers 0 ])
    [ [ Await 0; Release 1 ]; [ Await 1; Release 0 ] ]
    [
      "locked,locked; slept,step";
      "looked,locked; slept,step";
      "slept,step; locked,locked";
      "slept,step; looked,locked";
      "slept,step; slept,step";
    ];
  check "a handler sleeps, and is released last"
    ~handlers:(fun parkers -> [ sleeps 0 parkers 1 ])
    [ [ Await 0 ]; [ Release 0; Release 1 ] ]
    [
      "locked; step,step";
      "looked; step,step";
      "slept; locked,locked";
      "slept; locked,step";
    ];
  check "a handler sleeps, and is released first"
    ~handlers:(fun parkers -> [ sleeps 0 parkers 1 ])
    [ [ Await 0 ]; [ Release 1; Release 0 ] ]
    [
      "locked; step,step";
      "looked; step,step";
      "slept; locked,locked";
      "slept; step,locked";
    ];
  check "interrupted in a child" ~forked:true ~domains:one_domain
    ~handlers:(fun _ -> [ raises 0 Before_wait ])
    [ [ Await 0 ]; [ Release 0 ] ]
    [ "locked!; locked"; "locked; step"; "looked; step"; "slept!; locked" ];
  check "a handler sleeps in a child" ~forked:true ~domains:one_domain
    ~handlers:(fun parkers -> [ sleeps 0 parkers 1 ])
    [ [ Await 0 ]; [ Release 0; Release 1 ] ]
    [
      "locked; step,step";
      "looked; step,step";
      "slept; locked,locked";
      "slept; locked,step";
    ];
  Model.finish ()
