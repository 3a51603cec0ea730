open Concord
open Test_host

type loop = (unit -> unit Lwt.t) -> unit

let lwt_main f = Lwt_main.run (f ())

let host name start ~pause ~cancel loop =
  {
    name;
    reported = "lwt";
    run =
      (fun body ->
        loop (fun () ->
            let all = ref [] in
            let fork f = all := start f :: !all in
            Lwt.bind
              (start (fun () -> body { fork; pause }))
              (fun () -> Lwt.join !all)));
    cancel;
  }

let cancel_promise f ~after =
  let task = Concord_lwt.direct f in
  after ();
  Lwt.cancel task;
  let ended = Promise.create () in
  Lwt.on_termination task (Promise.fill ended);
  Promise.await ended

let promises =
  host "Lwt" Concord_lwt.direct ~pause:Tasks.yield ~cancel:(Some cancel_promise)

let lwt_direct =
  host "Lwt_direct" Lwt_direct.spawn ~pause:Lwt_direct.yield ~cancel:None
