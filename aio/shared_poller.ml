let rec serve poller =
  begin try Poller.poll poller ~block:true
  with e ->
    (* A resumer raised, against the contract. *)
    let backtrace = Printexc.get_raw_backtrace () in
    Printexc.default_uncaught_exception_handler e backtrace
  end;
  serve poller

(* Gives the poller, and how many threads serve it that are idle together with it. The thread
   blocks all signals: the program's handlers may raise, which would end it. *)
let start () =
  let own_domain = (Asked.read ()).domain in
  let poller = Poller.create () in
  Concord.Private.Signals.while_blocked @@ fun _ ->
  try
    if Domain.is_main_domain () && not own_domain then begin
      ignore (Thread.create serve poller : Thread.t);
      (poller, 1)
    end
    else begin
      (* It was asked for; or a thread would keep this domain from ending. *)
      ignore (Domain.spawn (fun () -> serve poller) : unit Domain.t);
      (* the domain's, and the one with which OCaml stands in for it while it waits *)
      (poller, 2)
    end
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    Poller.close poller;
    Printexc.raise_with_backtrace e backtrace

(* [shared]

   State     Left by  To        By whom
   Nobody    start    Starting  any thread, which then starts the other thread
   Starting  start    Serving   that one
             start    Nobody    that one, which could not start it
   Serving   start    Starting  any thread of a child process, in which no thread serves

   A thread that finds [Starting] lets the others have a turn, and looks again. In a child
   process that was forked while another thread was starting, [process] tells that
   nobody is. *)
type shared =
  | Nobody
  | Starting of { process : int }
  | Serving of { process : int; poller : Poller.t; threads : int }

let shared = Atomic.make Nobody

let start_from before process =
  let starting = Starting { process } in
  if Atomic.compare_and_set shared before starting then
    match start () with
    | poller, threads ->
        Atomic.set shared (Serving { process; poller; threads })
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        Atomic.set shared Nobody;
        Printexc.raise_with_backtrace e backtrace

let rec get () =
  let here = Unix.getpid () in
  match Atomic.get shared with
  | Serving { process; poller; _ } when process = here -> poller
  | Starting { process } when process = here ->
      Thread.yield ();
      get ()
  | before ->
      start_from before here;
      get ()

let served () =
  match Atomic.get shared with
  | Serving { process; poller; _ } when process = Unix.getpid () -> Some poller
  | Serving _ | Starting _ | Nobody -> None

let helpers () : Concord.Private.Others.helpers =
  match Atomic.get shared with
  | Serving { process; poller; threads } when process = Unix.getpid () -> (
      match Poller.rest poller with
      | Idle -> { idle = threads; busy = 0 }
      | Busy -> { idle = 0; busy = threads }
      | Waiting -> { idle = 0; busy = 0 })
  | Serving _ | Starting _ | Nobody -> { idle = 0; busy = 0 }

let () = Concord.Private.Others.add_helpers helpers

(* Only the main domain can start a thread of its own. A domain for the poller slows each
   minor collection of the others, so it is started by the first wait. Here that would wait
   for itself: the domain may be the first that is spawned, and this is called before. *)
let start_early () =
  (* If it cannot be started, the first wait will tell why. *)
  try if not (Asked.read ()).domain then ignore (get () : Poller.t)
  with Unix.Unix_error _ | Sys_error _ | Failure _ -> ()

let () =
  try Domain.before_first_spawn start_early
  with Invalid_argument _ -> (* the library was loaded late *) start_early ()
