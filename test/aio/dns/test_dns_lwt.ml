(* The resolver in direct code of Lwt. Lwt's loop continues meanwhile. *)

open Concord_test_support
open Check
open Dns_server

let direct () =
  Server.with_ (fun query ->
      [ Server.reply [ Server.address_of "a.test" "192.0.2.1" ] query ])
  @@ fun answers ->
  Server.with_ (fun _ -> []) @@ fun silent ->
  let create ?race ~timeout servers =
    Concord_dns.create ~resolv_conf:"/dev/null" ~hosts:"/dev/null" ?race
      ~timeout ~attempts:1
      ~servers:(List.map Server.address servers)
      ()
  in
  let resolve dns () = Concord_dns.resolve ~family:`Ipv4 dns "a.test" in
  (match
     Lwt_main.run
       (Concord_lwt.direct
          (resolve (create ~race:true ~timeout:20. [ silent; answers ])))
   with
  | Ok [ address ] ->
      strings "address" [ "192.0.2.1" ] [ Unix.string_of_inet_addr address ]
  | Ok _ -> Alcotest.fail "one address"
  | Error e -> Alcotest.fail (Concord_dns.error_message e));
  let ticked = ref false in
  let tick = Lwt.map (fun () -> ticked := true) (Lwt_unix.sleep 0.001) in
  let result =
    Lwt_main.run
      (Lwt.bind
         (Concord_lwt.direct (resolve (create ~timeout:0.05 [ silent ])))
         (fun result -> Lwt.return (result, !ticked)))
  in
  yes "timed out, and Lwt's loop continued"
    (result = (Error Concord_dns.Timed_out, true));
  Lwt_main.run tick

let () = run "dns in lwt" [ ("lwt", [ test "direct" direct ]) ]
