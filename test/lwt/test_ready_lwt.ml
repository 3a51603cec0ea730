(* Operations that need not wait, in Lwt. *)

open Concord
open Concord_test_support
open Concord_test_hosts
open Check
open Ready_cases

let in_lwt =
  [
    now "Concord_lwt.of_lwt" (fun () ->
        int "the value" five
          (Promise.await (Concord_lwt.of_lwt (Lwt.return five))));
    case "Concord_lwt.to_lwt" (fun () ->
        let p = Concord_lwt.to_lwt (Promise.of_value five) in
        fun () -> yes "resolved" (Lwt.state p = Return five));
    now "Concord_lwt.direct" (fun () ->
        yes "resolved"
          (Lwt.state (Concord_lwt.direct (fun () -> five)) = Return five));
  ]

let () =
  let open Lwt_hosts in
  run "Operations that need not wait, in Lwt"
    [
      on ~more:in_lwt (promises Concord_lwt.run);
      on ~more:in_lwt (lwt_direct Concord_lwt.run);
      on ~more:in_lwt { (promises lwt_main) with name = "Lwt_main" };
      on (Test_host.within ~outer:(promises Concord_lwt.run) Basic_hosts.fifo);
    ]
