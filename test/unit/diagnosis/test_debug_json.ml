(* Reports as JSON, read back by another parser. *)

open Concord
open Concord.Tools
open Yojson.Safe.Util

let[@inline never] somewhere () =
  let here = Printexc.get_callstack 3 in
  ignore (Sys.opaque_identity () : unit);
  here

let task ?(id = 5) name : Debug.task = { id; host = "fifo"; name }

let wait number name targets : Debug.wait =
  {
    number;
    task = task name;
    domain = 2;
    origin = Some { parent = task "task 0" ~id:4; forked_at = somewhere () };
    targets;
    waits_for = 1.5;
    waits_at = somewhere ();
  }

(* Yojson accepts control characters within strings, although JSON forbids them. *)
let parsed report =
  let json = Debug.to_json report in
  Alcotest.(check bool)
    "no control characters" true
    (String.for_all (fun char -> char >= ' ' && char <> '\x7f') json);
  Yojson.Safe.from_string json

let string = Alcotest.(check string)
let int = Alcotest.(check int)

(* Has each byte, quotes, and sequences that aren't valid UTF-8. *)
let strange = String.init 256 Char.chr ^ "\"\\/\xe2\x82\xac\xff\xed\xa0\x80"

let valid =
  let buffer = Buffer.create 300 in
  let rec from i =
    if i < String.length strange then begin
      let char = String.get_utf_8_uchar strange i in
      Buffer.add_utf_8_uchar buffer (Uchar.utf_decode_uchar char);
      from (i + Uchar.utf_decode_length char)
    end
  in
  from 0;
  Buffer.contents buffer

let strings () =
  let json =
    parsed
      {
        cycles = [];
        behind = [];
        waits = [ wait 1 strange [] ];
        woken = [];
        running = [];
        queues = [];
      }
  in
  string "the name" valid
    (json |> member "waits" |> index 0 |> member "task" |> member "name"
   |> to_string)

let fields () =
  let target : Debug.target =
    {
      operation = "Mutex.lock";
      structure = Some "accounts";
      state = "locked";
      made_at = Some (somewhere ());
      holders =
        [
          {
            by = task "task 1";
            domain = 3;
            held_for = 0.25;
            held_at = somewhere ();
          };
        ];
    }
  in
  let unknown : Debug.target =
    {
      operation = "";
      structure = None;
      state = "";
      made_at = None;
      holders = [];
    }
  in
  let a = wait 7 "task 7" [ target; unknown ] and b = wait 8 "task 8" [] in
  let json =
    parsed
      {
        cycles = [ [ a; b ]; [ b ] ];
        behind = [ b ];
        waits = [ a; b ];
        woken = [ b ];
        running =
          [
            {
              task = task "task 9" ~id:9;
              on_domain = 4;
              runs_for = 2.;
              waited_at = a.waits_at;
              has_waited = true;
            };
          ];
        queues =
          [
            { queue = "jobs"; kind = "mailbox"; length = 12; capacity = None };
            { queue = "lines"; kind = "stream"; length = 2; capacity = Some 4 };
          ];
      }
  in
  let stack position = json |> member "stacks" |> index (to_int position) in
  let numbers json = List.map to_int (to_list json) in
  let check_numbers = Alcotest.(check (list int)) in
  check_numbers "first cycle" [ 7; 8 ]
    (numbers (index 0 (member "cycles" json)));
  check_numbers "second cycle" [ 8 ] (numbers (index 1 (member "cycles" json)));
  check_numbers "behind" [ 8 ] (numbers (member "behind" json));
  int "woken" 8 (json |> member "woken" |> index 0 |> member "number" |> to_int);
  let first = json |> member "waits" |> index 0 in
  int "number" 7 (first |> member "number" |> to_int);
  int "domain" 2 (first |> member "domain" |> to_int);
  string "host" "fifo" (first |> member "task" |> member "host" |> to_string);
  Alcotest.(check (float 1e-9))
    "seconds" 1.5
    (first |> member "seconds" |> to_float);
  int "id" 5 (first |> member "task" |> member "id" |> to_int);
  let origin = member "origin" first in
  int "parent" 4 (origin |> member "parent" |> member "id" |> to_int);
  Alcotest.(check bool)
    "forked at" true
    (origin |> member "at" |> stack |> to_list <> []);
  let frame = first |> member "at" |> stack |> index 0 in
  string "function" "Test_debug_json.somewhere"
    (frame |> member "function" |> to_string);
  string "file" "test_debug_json.ml"
    (frame |> member "file" |> to_string |> Filename.basename);
  Alcotest.(check bool) "line" true (frame |> member "line" |> to_int > 0);
  Alcotest.(check bool) "program" true (frame |> member "program" |> to_bool);
  let target = first |> member "targets" |> index 0 in
  string "operation" "Mutex.lock" (target |> member "operation" |> to_string);
  string "structure" "accounts" (target |> member "structure" |> to_string);
  string "state" "locked" (target |> member "state" |> to_string);
  Alcotest.(check bool)
    "made at" true
    (target |> member "made_at" |> stack |> to_list <> []);
  let holder = target |> member "holders" |> index 0 in
  string "holder" "task 1"
    (holder |> member "task" |> member "name" |> to_string);
  Alcotest.(check (float 1e-9))
    "held for" 0.25
    (holder |> member "seconds" |> to_float);
  Alcotest.(check bool)
    "held at" true
    (holder |> member "at" |> stack |> to_list <> []);
  int "holder's domain" 3 (holder |> member "domain" |> to_int);
  let running = json |> member "running" |> index 0 in
  int "runs" 9 (running |> member "task" |> member "id" |> to_int);
  int "on domain" 4 (running |> member "domain" |> to_int);
  int "resumed at: the stack is there once"
    (first |> member "at" |> to_int)
    (running |> member "at" |> to_int);
  let unknown = first |> member "targets" |> index 1 in
  Alcotest.(check bool) "no name" true (member "structure" unknown = `Null);
  Alcotest.(check bool) "not made" true (member "made_at" unknown = `Null);
  let queue i = json |> member "queues" |> index i in
  string "queue" "jobs" (queue 0 |> member "queue" |> to_string);
  string "its kind" "mailbox" (queue 0 |> member "kind" |> to_string);
  int "its length" 12 (queue 0 |> member "length" |> to_int);
  Alcotest.(check bool) "no limit" true (member "capacity" (queue 0) = `Null);
  int "a limit" 4 (queue 1 |> member "capacity" |> to_int)

let real () =
  Debug.keep_waits ();
  let box = Debug.named "the \"box\"" (Mvar.create_empty ()) in
  let thread = Thread.create Mvar.take box in
  Concord_test_support.Check.eventually "it waits" (fun () ->
      Mvar.waiters box = 1);
  let json = parsed (Debug.report ()) in
  string "the box" "the \"box\""
    (json |> member "waits" |> index 0 |> member "targets" |> index 0
   |> member "structure" |> to_string);
  Mvar.put box ();
  Thread.join thread

let () =
  let test name f = Concord_test_support.Check.test name f in
  Concord_test_support.Check.run "Debug: JSON"
    [
      ( "JSON",
        [ test "strings" strings; test "fields" fields; test "real" real ] );
    ]
