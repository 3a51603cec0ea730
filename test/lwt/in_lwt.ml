(* Lwt and its loops, for the cases of every library of promises. *)

open Concord_test_hosts

module Library = struct
  include Concord_lwt

  type 'a promise = 'a Lwt.t

  let return = Lwt.return
  let map = Lwt.map
  let bind = Lwt.bind
  let pause = Lwt.pause
  let sleep = Lwt_unix.sleep

  let peek p =
    match Lwt.state p with Return v -> Some v | Sleep | Fail _ -> None

  let maps_at_once = true

  let failure f =
    Lwt.try_bind f (fun _ -> Alcotest.fail "it did not fail") Lwt.return

  let thread = Thread.id (Thread.self ())
  let is_here () = Thread.id (Thread.self ()) = thread
end

(* In a loop that Concord doesn't start. *)
module Plain = struct
  include Library

  let run f = Lwt_main.run (f ())
end

let refusal =
  (module struct
    let cannot_wait = Concord_lwt.In_callback
    let modul = "Concord_lwt"
  end : Promise_callbacks.REFUSAL)

include Promise_cases.Make (Library)

let wakers = [ ("Domainslib", Waking.by Domainslib_hosts.pool) ]
