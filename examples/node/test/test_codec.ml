(* Checks that each written message is read back, and that invalid bytes do no harm. *)

open Ledger
open QCheck2

(* --- Messages --- *)

let text = Gen.(string_size (0 -- 20))

(* The readers accept every block, valid or not, because [Block.check] is called elsewhere. *)
let block =
  let fields = Gen.(quad int text (list_size (0 -- 5) text) int) in
  let write buffer (height, parent, transactions, nonce) =
    Codec.write_int buffer height;
    Codec.write_string buffer parent;
    Codec.write_list Codec.write_string buffer transactions;
    Codec.write_int buffer nonce
  in
  Gen.map (fun v -> Codec.(decode Block.read (encode write v))) fields

let message =
  Gen.oneof
    [
      Gen.map (fun block -> Message.Block block) block;
      Gen.map (fun hash -> Message.Wanted hash) text;
      Gen.map (fun text -> Message.Transaction text) text;
    ]

let encode = Codec.encode Message.write
let decode = Codec.decode Message.read
let print message = Printf.sprintf "%S" (encode message)

(* Each value has exactly one encoding. Anything else raises [Malformed]. *)
let is_harmless bytes =
  match decode bytes with
  | message -> String.equal (encode message) bytes
  | exception Codec.Malformed _ -> true

let round_trip =
  Test.make ~name:"a message is read back" ~count:1000 ~print message (fun m ->
      decode (encode m) = m)

let any_bytes =
  Test.make ~name:"any bytes" ~count:10_000 ~print:(Printf.sprintf "%S")
    Gen.(string_size (0 -- 60))
    is_harmless

(* Bytes that are almost right get further into the readers than random bytes do. *)
let one_byte_changed =
  Test.make ~name:"one byte is changed" ~count:10_000
    ~print:(fun (m, i, c) -> Printf.sprintf "%s, %d to %C" (print m) i c)
    Gen.(triple message nat char)
    (fun (message, i, c) ->
      let bytes = Bytes.of_string (encode message) in
      Bytes.set bytes (i mod Bytes.length bytes) c;
      is_harmless (Bytes.to_string bytes))

let cut_off =
  Test.make ~name:"the end is missing" ~count:1000 ~print message (fun m ->
      let bytes = encode m in
      let is_malformed length =
        match decode (String.sub bytes 0 length) with
        | _ -> false
        | exception Codec.Malformed _ -> true
      in
      List.for_all is_malformed (List.init (String.length bytes) Fun.id))

(* If the reader allocated the announced length, it would need 4 GB. *)
let long_promises () =
  let malformed name expected read bytes =
    Alcotest.check_raises name (Codec.Malformed expected) (fun () ->
        ignore (Codec.decode read bytes))
  in
  malformed "string" "the length is 1073741823, but 3 bytes are left"
    Codec.read_string "\x3f\xff\xff\xffabc";
  malformed "list" "the length is 1073741823, but 3 bytes are left"
    (Codec.read_list Codec.read_byte)
    "\x3f\xff\xff\xffabc";
  malformed "negative" "the length is -1, but 3 bytes are left"
    Codec.read_string "\xff\xff\xff\xffabc";
  malformed "int" "9223372036854775807 does not fit into an int" Codec.read_int
    "\x7f\xff\xff\xff\xff\xff\xff\xff";
  malformed "rest" "1 bytes are left over" Codec.read_byte "ab"

let () =
  Alcotest.run "codec"
    [
      ( "messages",
        List.map
          (fun test ->
            let (QCheck2.Test.Test cell) = test in
            Alcotest.test_case (QCheck2.Test.get_name cell) `Quick (fun () ->
                QCheck2.Test.check_exn test))
          [ round_trip; any_bytes; one_byte_changed; cut_off ] );
      ("lengths", [ Alcotest.test_case "promised" `Quick long_promises ]);
    ]
