module Promise = Concord.Promise

let no_key : unit Lwt.key = Lwt.new_key ()

(* Runs [f] so that its changes of Lwt's storage don't stay. [Lwt.with_value] does this,
   because it restores the whole storage, not only its key. *)
let in_own_storage f = Lwt.with_value no_key None f

(* [f] is called if [begins ()]. Only the loop's thread reads and writes [cancel]. *)
let job promise ~begins f =
  let f = Concord.Private.Locals.carry f in
  let cancel = ref ignore in
  let run ~finally =
    let ended settle v =
      finally ();
      ignore (settle promise v : bool)
    in
    let fail promise e = Promise.try_fail promise e in
    if begins () then
      match in_own_storage f with
      | lwt ->
          (cancel := fun () -> Lwt.cancel lwt);
          Lwt.on_any lwt (ended Promise.try_fill) (ended fail)
      | exception e -> ended fail e
    else finally ()
  and refuse () = ignore (Promise.try_fail promise Jobs.No_loop : bool) in
  { Jobs.run; cancel = (fun () -> !cancel ()); refuse }

let post f =
  let promise = Promise.create () in
  Loop.post (job promise ~begins:(fun () -> true) f);
  promise

let is_answer = function
  | Ok _ -> true
  | Error (Lwt.Canceled | Jobs.No_loop) -> false
  | Error _ -> true

let call f =
  let stop = ref ignore in
  let post promise ~begins =
    let job = job promise ~begins f in
    (stop :=
       fun () ->
         let run ~finally =
           finally ();
           job.cancel ()
         in
         Loop.post { run; cancel = ignore; refuse = ignore });
    Loop.post job
  in
  Concord.Private.Stopping.call ~cancelled:Lwt.Canceled ~is_answer ~post
    ~cancel:(fun () -> !stop ())
