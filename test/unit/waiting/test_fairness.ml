(* That no alternative is preferred, whichever domain chooses, and when. The bounds
   are some seven standard deviations wide. *)

open Concord
open Concord_test_support
open Check

let choose () = Event.select (List.init 4 Event.always)

let counts draws =
  let counts = Array.make 4 0 in
  List.iter (fun i -> counts.(i) <- counts.(i) + 1) draws;
  counts

(* Of [n] draws among four, within [deviations] of a quarter. *)
let is_fair what draws =
  let n = Float.of_int (List.length draws) in
  let deviation = Float.sqrt (n *. 0.25 *. 0.75) in
  Array.iteri
    (fun i count ->
      if Float.abs (Float.of_int count -. (n /. 4.)) > 7. *. deviation then
        Alcotest.failf "%s: alternative %d was chosen %d times of %.0f" what i
          count n)
    (counts draws)

let first_choices () =
  is_fair "the first choice of a domain"
    (List.init 400 (fun _ -> in_domain choose))

let later_choices () =
  is_fair "on one domain" (List.init 40_000 (fun _ -> choose ()))

(* How often two domains that were spawned one after the other agree. *)
let independence () =
  let draws = 8 in
  let of_domain _ =
    in_domain (fun () -> List.init draws (fun _ -> choose ()))
  in
  let domains = List.init 401 of_domain in
  let rec agreements = function
    | a :: (b :: _ as rest) -> List.map2 Int.equal a b :: agreements rest
    | [ _ ] | [] -> []
  in
  let all = List.concat (agreements domains) in
  let agreed = List.length (List.filter Fun.id all) in
  let n = Float.of_int (List.length all) in
  let deviation = Float.sqrt (n *. 0.25 *. 0.75) in
  if Float.abs (Float.of_int agreed -. (n /. 4.)) > 7. *. deviation then
    Alcotest.failf "two domains agreed %d times of %.0f" agreed n

(* A program that chooses once, and is started again and again. *)
let drawing = "draw"

let in_process _ =
  let input, output = Unix.pipe ~cloexec:true () in
  let self = Sys.executable_name in
  let child =
    Unix.create_process self [| self; drawing |] Unix.stdin output Unix.stderr
  in
  Unix.close output;
  let channel = Unix.in_channel_of_descr input in
  let draw = int_of_string (input_line channel) in
  close_in channel;
  ignore (Unix.waitpid [] child : int * Unix.process_status);
  draw

let processes () =
  is_fair "the first choice of a process" (List.init 400 in_process)

let () =
  if Array.mem drawing Sys.argv then print_endline (string_of_int (choose ()))
  else
    run "fairness"
      [
        ( "choice",
          [
            test "the first of each domain" first_choices;
            test "many" later_choices;
            test "domains are independent" independence;
            test "the first of each process" processes;
          ] );
      ]
