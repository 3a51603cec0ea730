let rec serve poller =
  begin try Poller.poll poller ~block:true
  with e ->
    (* A resumer has raised, which the contract forbids. *)
    let backtrace = Printexc.get_raw_backtrace () in
    Printexc.default_uncaught_exception_handler e backtrace
  end;
  serve poller

type serving = {
  poller : Poller.t;
  threads : int;
      (** How many threads serve it, and are idle while it is idle. *)
}

let start () =
  let own_domain = (Asked.read ()).domain in
  let poller = Poller.take () in
  try
    if Domain.is_main_domain () && not own_domain then begin
      ignore (Thread.create serve poller : Thread.t);
      { poller; threads = 1 }
    end
    else begin
      (* The user asked for a domain, or this isn't the main domain. In that case a thread
         would keep this domain from ending. *)
      ignore (Domain.spawn (fun () -> serve poller) : unit Domain.t);
      (* These are the domain's thread, and OCaml's backup thread, which replaces it while it
         waits. *)
      { poller; threads = 2 }
    end
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    Poller.give_back poller;
    Printexc.raise_with_backtrace e backtrace

(* The thread that has the lock sets [serving], once. *)
type t = { lock : Stdlib.Mutex.t; serving : serving option Atomic.t }

let create () = { lock = Stdlib.Mutex.create (); serving = Atomic.make None }
let shared = Per_process.create create
let serving () = Atomic.get (Per_process.get shared).serving
let served () = Option.map (fun { poller; _ } -> poller) (serving ())

(* The new thread inherits that all signals are blocked, because a handler that raises would
   end it. *)
let start_once () =
  let { lock; serving } = Per_process.get shared in
  Concord.Private.Signals.while_blocked @@ fun _ ->
  Stdlib.Mutex.protect lock @@ fun () ->
  if Option.is_none (Atomic.get serving) then
    Atomic.set serving (Some (start ()))

let rec get () =
  match served () with
  | Some poller -> poller
  | None ->
      start_once ();
      get ()

let helpers () : Concord.Private.Helpers.t =
  match serving () with
  | None -> { idle = 0; busy = 0 }
  | Some { poller; threads } -> Poller.helpers poller ~threads

let () = Concord.Private.Helpers.add helpers

(* The poller's thread should be one of the main domain, so it is started before another domain
   could need it. If a domain was asked for, it is started by the first wait, because it slows
   each minor collection of the others. Also, it can't be spawned here. This function is called
   before the first spawn, so a spawn here would wait for itself. *)
let start_early () =
  (* If it can't be started, the first wait will raise the reason. *)
  try if not (Asked.read ()).domain then ignore (get () : Poller.t)
  with Unix.Unix_error _ | Sys_error _ | Failure _ -> ()

let () =
  try Domain.before_first_spawn start_early
  with Invalid_argument _ ->
    (* The library was loaded after a domain was spawned. *)
    start_early ()
