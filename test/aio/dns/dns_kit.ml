(* Resolvers of the tests, and what their servers know. *)

open Concord_test_support
open Check
include Dns_server
module Message = Concord_dns__Message

let nothing = "/dev/null"

let file lines =
  let name = Filename.temp_file "concord" "dns" in
  Out_channel.with_open_text name (fun oc ->
      List.iter (fun line -> output_string oc (line ^ "\n")) lines);
  name

let with_file lines f =
  let name = file lines in
  Fun.protect ~finally:(fun () -> Sys.remove name) (fun () -> f name)

(* The times are so long that a test that waits for one of them fails ([quick]). *)
let create ?resolv_conf ?hosts ?(timeout = 20.) ?(attempts = 1) ?limit
    ?(resolution_delay = 20.) ?race ?size ?now servers =
  Concord_dns.create
    ~resolv_conf:(Option.value resolv_conf ~default:nothing)
    ~hosts:(Option.value hosts ~default:nothing)
    ~timeout ~attempts ?limit ~resolution_delay ?race ?size ?now
    ~servers:(List.map Server.address servers)
    ()

let resolved = function
  | Ok addresses ->
      String.concat " " (List.map Unix.string_of_inet_addr addresses)
  | Error e -> Concord_dns.error_message e

let says ?(family = `Ipv4) dns expected name =
  Alcotest.(check string)
    (String.escaped name) expected
    (resolved (Concord_dns.resolve ~family dns name))

(* No timeout of {!create} has passed. *)
let quick f =
  let start = Unix.gettimeofday () in
  f ();
  yes "no timeout" (Unix.gettimeofday () -. start < 10.)

let descriptors = Concord_test_proc.descriptors

(* A poller in a thread or in [run] keeps its own descriptors. So both poll before the
   descriptors are counted. *)
let leaves_none f () =
  Server.with_
    (fun _ -> [])
    (fun s ->
      let wait () =
        ignore
          (Concord_dns.resolve ~family:`Ipv4
             (create ~timeout:0.01 [ s ])
             "a.test"
            : _ result)
      in
      wait ();
      Concord_aio.run wait);
  let before = descriptors () in
  f ();
  eventually "no descriptor is left" (fun () -> descriptors () <= before)

let name_of (query : Message.t) = fst (List.hd query.questions)
let kind_of (query : Message.t) = snd (List.hd query.questions)

(* A server that knows these records, and that there are no others. *)
let knows records query =
  let name = name_of query in
  let mine =
    List.filter
      (fun (r : Message.record) ->
        r.name = name
        &&
        match r.data with
        | Address (kind, _) -> Some kind = kind_of query
        | _ -> true)
      records
  in
  if List.exists (fun (r : Message.record) -> r.name = name) records then
    [ Server.reply mine ~authority:[ Server.soa 60 ] query ]
  else [ Server.reply ~code:3 [] ~authority:[ Server.soa 60 ] query ]

let a_test = Server.address_of "a.test" "192.0.2.1"
let aaaa_test = Server.address_of "a.test" "2001:db8::1"
let silent _ = []
let refuses query = [ Server.reply ~code:5 [] query ]

(* A server may be slower than a timeout. *)
let asked n s =
  eventually (Printf.sprintf "%d queries" n) (fun () -> Server.asked s = n)

let run name groups =
  let test (name, f) = test name (leaves_none f) in
  Check.run name
    (List.map (fun (group, cases) -> (group, List.map test cases)) groups)
