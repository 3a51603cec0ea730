module Promise = Concord.Promise
module Keeper = Concord.Private.Keeper

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
  Keeper.check_grace "Concord_lwt.with_domain" grace;
  Keeper.with_loop ~no_loop:Jobs.No_loop ~ended:(end_workers ~run ~grace)
    (fun { Keeper.ready; leave; _ } ->
      run (fun () -> serve ~await ~grace ~close create ~ready ~leave))
    f
