module Promise = Concord.Promise
module Keeper = Concord.Private.Keeper
module Signals = Concord.Private.Signals

let ( let* ) = Lwt.bind
let ( let+ ) v f = Lwt.map f v

(* [is_open]

   State  Left by   To     By whom
   true   release   false  the loop's thread
   false  never (terminal)

   Jobs read it. They may do so in the thread of a later loop, so it is an Atomic. *)
type 'r t = { value : 'r; is_open : bool Atomic.t }

let whichever = { value = (); is_open = Atomic.make true }

let call { value; is_open } f =
  Calls.call (fun () ->
      if Atomic.get is_open then f value else raise Jobs.No_loop)

(* --- In the loop ------------------------------------------------------------ *)

let idle () =
  let idle, waker = Lwt.wait () in
  Jobs.when_idle (Lwt.wakeup_later waker);
  idle

let is_idle_within seconds =
  let idle = Lwt.map (fun () -> true) (idle ()) in
  if seconds = Float.infinity then idle
  else Lwt.pick [ idle; Lwt.map (fun () -> false) (Lwt_unix.sleep seconds) ]

let release loop ~grace ~close =
  let* is_idle = is_idle_within grace in
  Atomic.set loop.is_open false;
  let* () =
    if is_idle then Lwt.return_unit
    else begin
      Jobs.cancel_all ();
      Lwt.map (fun (_ : bool) -> ()) (is_idle_within grace)
    end
  in
  close loop.value

let serve ~await ~grace ~close create ~ready ~leave =
  let creating = create () in
  let leaving = await leave in
  Lwt.on_success leaving (fun () -> Lwt.cancel creating);
  let* value = creating in
  let loop = { value; is_open = Atomic.make true } in
  Promise.fill ready loop;
  let* () = leaving in
  release loop ~grace ~close

(* A domain ends only when all its threads have ended, but the workers of [Lwt_preemptive] wait
   for work forever. A worker ends after a job if there are more workers than allowed. So none
   is allowed, and each idle worker gets a job. The result is [false] if a worker is busy for
   longer than [grace]. *)
let workers_end_within grace =
  let rec go () =
    let all = Lwt_preemptive.nbthreads () in
    if all = 0 then Lwt.return_true
    else
      let* () =
        if Lwt_preemptive.nbthreadsbusy () < all then
          Lwt_preemptive.detach ignore ()
        else Lwt_unix.sleep 0.005
      in
      go ()
  in
  let _, most = Lwt_preemptive.get_bounds () in
  Lwt_preemptive.set_bounds (0, 0);
  let+ ended =
    if grace = Float.infinity then go ()
    else Lwt.pick [ go (); Lwt.map (fun () -> false) (Lwt_unix.sleep grace) ]
  in
  Lwt_preemptive.set_bounds (0, most);
  ended

let end_workers ~run ~grace (keeper : _ Keeper.t) =
  if Lwt_preemptive.nbthreads () > 0 then
    run (fun () ->
        let+ ended = workers_end_within grace in
        if not ended then ignore (Promise.try_fill keeper.over () : bool))

(* --- The thread that has the domain ------------------------------------------ *)

let with_domain ~run ~await ?(grace = 10.) ?(close = fun _ -> Lwt.return_unit)
    create f =
  if not (grace >= 0.) then
    invalid_arg
      (Printf.sprintf
         "Concord_lwt.with_domain: grace must be at least 0, but is %g" grace);
  let recording = Printexc.backtrace_status () in
  let failure = ref None in
  let serve ({ ready; leave; _ } : _ Keeper.t) =
    run (fun () -> serve ~await ~grace ~close create ~ready ~leave)
  in
  let guarded f =
    match f () with
    | () -> None
    | exception e -> Some (e, Printexc.get_raw_backtrace ())
  in
  let in_domain mask keeper () =
    Printexc.record_backtrace recording;
    let failure =
      guarded (fun () ->
          Signals.set mask;
          serve keeper)
    in
    let failed_later = guarded (fun () -> end_workers ~run ~grace keeper) in
    if Option.is_some failure then failure else failed_later
  in
  let body mask keeper =
    match Domain.join (Domain.spawn (in_domain mask keeper)) with
    | None -> ()
    | Some (e, backtrace) ->
        failure := Some (e, backtrace);
        Printexc.raise_with_backtrace e backtrace
  in
  match Keeper.within body f with
  | v -> v
  | exception Jobs.No_loop -> (
      let backtrace = Printexc.get_raw_backtrace () in
      match !failure with
      | Some (cause, backtrace) -> Printexc.raise_with_backtrace cause backtrace
      | None -> Printexc.raise_with_backtrace Jobs.No_loop backtrace)
