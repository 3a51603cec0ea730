(* No alternative may be preferred, whichever domain chooses, and whenever it does. The
   bounds are about seven standard deviations wide. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

let choose () = Event.select (List.init 4 Event.always)

let counts among draws =
  let counts = Array.make among 0 in
  List.iter (fun i -> counts.(i) <- counts.(i) + 1) draws;
  counts

let is_fair ?(among = 4) what draws =
  let n = Float.of_int (List.length draws) and ways = Float.of_int among in
  let deviation = Float.sqrt (n *. (ways -. 1.)) /. ways in
  Array.iteri
    (fun i count ->
      if Float.abs (Float.of_int count -. (n /. ways)) > 7. *. deviation then
        Alcotest.failf "%s: alternative %d was chosen %d times of %.0f" what i
          count n)
    (counts among draws)

let first_choices () =
  is_fair "the first choice of a domain"
    (List.init 400 (fun _ -> in_domain choose))

let later_choices () =
  is_fair "on one domain" (List.init 40_000 (fun _ -> choose ()))

(* Returns the order in which one choice among [n] events tries them. *)
let order n =
  let tried = ref [] in
  let trying i =
    let attempt () () =
      tried := i :: !tried;
      None
    in
    let enlist () _ = true and withdraw () _ = () in
    Event.make
      {
        Structure_kit.default with
        name = "test";
        how = By_hand { attempt; enlist; withdraw };
      }
      () ()
  in
  Event.sync
    (Event.prefer [ Event.choose (List.init n trying); Event.always () ]);
  List.rev !tried

(* Numbers the permutations of a length. *)
let rec rank = function
  | [] -> 0
  | first :: rest ->
      let smaller = List.length (List.filter (fun i -> i < first) rest) in
      let rec factorial n = if n = 0 then 1 else n * factorial (n - 1) in
      (smaller * factorial (List.length rest)) + rank rest

let orders () =
  is_fair ~among:24 "the orders of four"
    (List.init 48_000 (fun _ -> rank (order 4)));
  let many = List.init 20_000 (fun _ -> order 12) in
  List.iteri
    (fun i _ ->
      is_fair ~among:12
        (Printf.sprintf "place %d of twelve" i)
        (List.map (fun order -> List.nth order i) many))
    (List.hd many);
  let pairs = List.map (fun order -> List.(nth order 4, nth order 5)) many in
  is_fair ~among:2 "two neighbours"
    (List.map (fun (a, b) -> Bool.to_int (a < b)) pairs)

(* Counts how often two domains agree that were spawned one after the other. *)
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

(* A program that chooses once, and is started repeatedly. *)
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
            test "the first choice of each domain" first_choices;
            test "many" later_choices;
            test "each order" orders;
            test "domains are independent" independence;
            test "the first choice of each process" processes;
          ] );
      ]
