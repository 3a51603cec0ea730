open Concord_test_support

let () =
  Random.self_init ();
  Check.run "signals on hosts"
    (List.map
       (Stopping.cases "./stopped_hosts.exe")
       [ "eio"; "pool"; "lwt"; "lwt_direct" ])
