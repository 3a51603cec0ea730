let rec serve poller =
  begin try Poller.poll poller ~block:true
  with e ->
    (* A resumer raised, against the contract. *)
    let backtrace = Printexc.get_raw_backtrace () in
    Printexc.default_uncaught_exception_handler e backtrace
  end;
  serve poller

type serving = {
  poller : Poller.t;
  threads : int;  (** That serve it, and are idle together with it. *)
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
      (* It was asked for; or a thread would keep this domain from ending. *)
      ignore (Domain.spawn (fun () -> serve poller) : unit Domain.t);
      (* the domain's, and the one with which OCaml stands in for it while it waits *)
      { poller; threads = 2 }
    end
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    Poller.give_back poller;
    Printexc.raise_with_backtrace e backtrace

(* [serving] is set once, by the thread that has the lock. *)
type t = { lock : Stdlib.Mutex.t; serving : serving option Atomic.t }

let create () = { lock = Stdlib.Mutex.create (); serving = Atomic.make None }
let shared = Per_process.create create
let serving () = Atomic.get (Per_process.get shared).serving
let served () = Option.map (fun { poller; _ } -> poller) (serving ())

(* The new thread blocks all signals too: a handler that raises would end it. *)
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

let helpers () : Concord.Private.Others.helpers =
  match serving () with
  | None -> { idle = 0; busy = 0 }
  | Some { poller; threads } -> Poller.helpers poller ~threads

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
