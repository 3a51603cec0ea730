(* Runs the suite for hosts on fibers of Picos. *)

open Concord_testkit.Host
open Concord_test_own
open Concord_test_picos
open Schedulers

let host ?(not_offered = []) (s : Schedulers.t) : (module HOST) =
  (module Picos_hosts.Make (struct
    let name = "Picos, " ^ s.name
    let run f = s.run f
    let not_offered = not_offered
  end))

let as_fiber ?(not_offered = []) name (run : Schedulers.t) : (module HOST) =
  (module Picos_hosts.Make (struct
    let name = "as_fiber in " ^ name
    let run f = run.run (fun () -> Concord_picos.as_fiber f)

    let not_offered =
      ("backtraces", "the exception of the first task loses its backtrace")
      :: not_offered
  end))

let in_eio = { name = "Eio"; run = (fun f -> Eio_main.run (fun _ -> f ())) }

let in_pool =
  {
    name = "Domainslib";
    run =
      (fun f ->
        Attached_pools.with_pool (fun pool -> Concord_domainslib.run pool f));
  }

let in_fifo = { name = "Fifo"; run = (fun f -> Concord_fifo.run f) }
let not_registered = [ ("nested", "the inner loop of Picos is not registered") ]

let not_nested =
  [ ("nested", "the outer loop is not restored at the end of the inner one") ]

let hosts =
  List.map host
    [ fifo; multififo; thread; registered fifo; registered multififo ]
  @ List.map (host ~not_offered:not_nested) [ random; randoms ]
  @ List.map (fun s -> as_fiber s.name s) [ in_fifo; in_eio; in_pool ]
  @ [ as_fiber "Picos" fifo ~not_offered:not_registered ]

(* Picos must be configured by the main thread. *)
let run () =
  fifo.run ignore;
  Own.test hosts
