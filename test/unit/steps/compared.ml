(* Random commands for several instances of a structure, in states with waiters of every
   kind. After each command all instances must look the same. They must have resumed the
   same waiters, with the same outcomes, in the same order. What the functions do is compared
   with the structure's description in test/unit/described. *)

(** How an instance performs its operations. *)
type how =
  | Publicly  (** By the structure's functions with their fast paths. *)
  | By_attempt  (** Each step by [Step.attempt]. *)
  | By_surely  (** By [Step.surely] if the step need not wait. *)
  | Chained  (** By [Step.At], as a part of another atomic's chain. *)

let hows = [ Publicly; By_attempt; By_surely; Chained ]

let name_of = function
  | Publicly -> "the functions"
  | By_attempt -> "attempt"
  | By_surely -> "surely"
  | Chained -> "a chain"

(** The answer of a waiter's resumer. *)
type answer = Accepts | Refuses | Raises  (** After it has accepted. *)

exception Struck

type ('op, 'role) instance = {
  act : 'op -> int -> string;
      (** Gets the number of the command, which serves as a value. The string is
          the result. *)
  enlist : 'role -> int -> answer -> bool;
      (** Adds a waiter with this number. Returns [false] if it need not wait.
      *)
  withdraw : int -> unit;
  look : unit -> string;
}

type structure =
  | Structure : {
      name : string;
      ops : 'op array;
      roles : 'role array;
      make : how -> log:(int -> string -> unit) -> ('op, 'role) instance;
          (** [log] is called with a waiter's number and outcome. *)
      expected : (log:(int -> string -> unit) -> ('op, 'role) instance) option;
          (** What [test/unit/described] can't see, over lists and without code
              of the library: which sleeping tasks are nudged, and versions. *)
    }
      -> structure

(* --- The library's instances ------------------------------------------------ *)

let unit () = "()"
let some show = function Some v -> show v | None -> "none"

(** Performs the step in the given way. Returns [None] if it has to wait. *)
let perform (type s x r) how (word : s Atomic.t)
    (step : x -> s -> (s, r) Step.t) x : r option =
  match (how, step x (Atomic.get word)) with
  | (Publicly | By_attempt), _ | _, (Wait | Raise _) -> Step.attempt word step x
  | By_surely, _ -> Some (Step.surely word step x)
  | Chained, _ ->
      let chained () () : _ Step.t =
        Become ((), At (word, step x, fun r -> Done (Some r)))
      in
      Step.perform (Atomic.make ()) chained ()

type waiters = {
  log : int -> string -> unit;
  leave : (int, unit -> unit) Hashtbl.t;
}

let waiters log = { log; leave = Hashtbl.create 16 }

let enlist { log; leave } operation show t arg number answer =
  let w = Waiter.make arg in
  let resumer outcome =
    log number
      (match outcome with Ok v -> show v | Error e -> Printexc.to_string e);
    match answer with
    | Accepts -> true
    | Refuses -> false
    | Raises -> raise Struck
  in
  w.resumer <- resumer;
  let enlisted = Operation.enlist operation t w in
  if enlisted then
    Hashtbl.replace leave number (fun () -> Operation.withdraw operation t w)
  else Waiter.mark_withdrawn w;
  enlisted

let withdraw { leave; _ } number = (Hashtbl.find leave number) ()

(* The sleeper of a thread that sleeps until the program ends. *)
let asleep =
  let found = Atomic.make Sleeper.never in
  let forever, _ = Unix.pipe () in
  let sleep () =
    (* A thread's sleeper is known only after some thread has slept. *)
    Sleeper.while_asleep ignore;
    let mine = Sleeper.mine () in
    Sleeper.while_asleep (fun () ->
        Atomic.set found mine;
        ignore (Unix.read forever (Bytes.create 1) 0 1 : int))
  in
  ignore (Thread.create sleep () : Thread.t);
  while Atomic.get found == Sleeper.never do
    Thread.yield ()
  done;
  Atomic.get found

(* The outcome of a waiter that is nudged. *)
let nudged = Printexc.to_string Operation.Nudged

(* --- The description ---------------------------------------------------------- *)

type 'role waiter = { role : 'role; number : int; answer : answer }

(* Raised at the end of the command, when everything else is done. *)
let struck = ref false

let resume log w outcome =
  log w.number outcome;
  if w.answer = Raises then struck := true;
  w.answer <> Refuses

let without number = List.filter (fun w -> w.number <> number)

let then_raise f x =
  struck := false;
  let result = f x in
  if !struck then raise Struck else result

let expected { act; enlist; withdraw; look } =
  {
    act = (fun op -> then_raise (act op));
    enlist;
    withdraw = then_raise withdraw;
    look;
  }

(* --- The comparison ------------------------------------------------------------ *)

type ('op, 'role) observed = {
  label : string;
  instance : ('op, 'role) instance;
  seen : Buffer.t;  (** The outcomes of this command. *)
}

let or_exception f =
  match f () with s -> s | exception e -> Printexc.to_string e

let one_run random (Structure { name; ops; roles; make; expected }) =
  let commands = ref [] in
  (* The numbers of waiters that have not been resumed. *)
  let waiting = Hashtbl.create 16 and resumed = Hashtbl.create 16 in
  let observe label make =
    let seen = Buffer.create 80 in
    let log number outcome =
      Printf.bprintf seen "%d: %s; " number outcome;
      match Hashtbl.find_opt waiting number with
      | Some (Accepts | Raises) -> Hashtbl.replace resumed number ()
      | Some Refuses | None -> ()
    in
    { label; seen; instance = make ~log }
  in
  let instances =
    List.map (fun how -> observe (name_of how) (make how)) hows
    @ List.map (observe "expected") (Option.to_list expected)
  in
  let command what perform =
    commands := what :: !commands;
    let look { label; instance; seen } =
      Buffer.clear seen;
      let result = or_exception (fun () -> perform instance) in
      ( label,
        Printf.sprintf "%s%s. %s" (Buffer.contents seen) result
          (instance.look ()) )
    in
    let looks = List.map look instances in
    let _, first = List.hd looks in
    if List.exists (fun (_, look) -> look <> first) looks then
      Alcotest.failf "%s, CONCORD_SEED=%d, after %s:\n%s" name
        Concord_test_support.Race.seed
        (String.concat ", " (List.rev !commands))
        (String.concat "\n"
           (List.map (fun (label, look) -> label ^ ": " ^ look) looks));
    Hashtbl.iter (fun number () -> Hashtbl.remove waiting number) resumed;
    Hashtbl.reset resumed
  in
  let any array = Random.State.int random (Array.length array) in
  let come number =
    let role = any roles in
    let answer =
      match Random.State.int random 6 with
      | 0 -> Raises
      | 1 | 2 -> Refuses
      | _ -> Accepts
    in
    Hashtbl.replace waiting number answer;
    let enlisted = ref false in
    command
      (Printf.sprintf "%d comes as %d%s" number role
         (match answer with
         | Accepts -> ""
         | Refuses -> " and refuses"
         | Raises -> " and raises"))
      (fun instance ->
        enlisted := instance.enlist roles.(role) number answer;
        string_of_bool !enlisted);
    if not !enlisted then Hashtbl.remove waiting number
  and leave () =
    let all = List.sort compare (List.of_seq (Hashtbl.to_seq_keys waiting)) in
    if all <> [] then begin
      let number = List.nth all (Random.State.int random (List.length all)) in
      Hashtbl.remove waiting number;
      command (Printf.sprintf "%d withdraws" number) (fun instance ->
          instance.withdraw number;
          "")
    end
  and act number =
    let op = any ops in
    command (Printf.sprintf "operation %d" op) (fun instance ->
        instance.act ops.(op) number)
  in
  (* Some runs have few waiters, and others have many. *)
  let comers = 1 + Random.State.int random 6 in
  for number = 1 to 60 do
    let n = Random.State.int random 12 in
    if n < comers then come number else if n = 11 then leave () else act number
  done

let runs = 400

let compared ?seed i structure () =
  let random =
    match seed with
    | None -> Concord_test_support.Race.random i
    | Some seed -> Random.State.make [| seed; i |]
  in
  for _ = 1 to runs do
    one_run random structure
  done
