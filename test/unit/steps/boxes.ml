(* Structures that pass values. *)

open Compared

let int = string_of_int
let option = some int

(* --- Mvar ------------------------------------------------------------------------ *)

type mvar_op =
  | Take
  | Read
  | Put
  | Swap
  | Modify
  | Give
  | Vacate
  | Come_back
  | Give_up
  | Pass  (** So much time passes that no task may overtake any longer. *)

type mvar_role =
  | Taker
  | Reader
  | Holder
  | Putter
  | Asleep of mvar_role  (** Waits in a thread that sleeps. *)
  | Nudged
      (** Was nudged and comes back to hold the value. While no task is nudged,
          it is an [Asleep Holder] instead, because a line knows of one nudged
          task only. *)

let rec request role : Mvar.request =
  let came nudge = { Mvar.to_hold with nudge } in
  match role with
  | Taker | Putter -> Mvar.to_take
  | Reader -> Mvar.to_read
  | Holder -> Mvar.to_hold
  | Asleep role -> { (request role) with nudge = Nudge.of_thread asleep }
  | Nudged -> came (Nudge.of_nudged asleep)

let real_mvar ~in_order how ~log =
  let t =
    if in_order then Mvar.create_empty_in_order () else Mvar.create_empty ()
  and waiters = waiters log in
  let use role = perform how t Mvar.use (request role) in
  let is_held () = match Atomic.get t with Mvar.Held _ -> true | _ -> false in
  let is_any_nudged () =
    let (Empty line | Full (_, _, line) | Held { line; _ }) = Atomic.get t in
    Mvar.is_coming line
  in
  let may_take () =
    match Mvar.use Mvar.to_take (Atomic.get t) with Wait -> false | _ -> true
  in
  let act op n =
    match (op, how) with
    | Take, Publicly ->
        option (if may_take () then Some (Mvar.take t) else Mvar.try_take t)
    | Take, _ -> option (use Taker)
    | Read, Publicly ->
        option (if Mvar.is_empty t then Mvar.try_read t else Some (Mvar.read t))
    | Read, _ -> option (use Reader)
    | Put, Publicly -> some unit (if Mvar.try_put t n then Some () else None)
    | Put, _ -> some unit (perform how t Mvar.put_in n)
    | (Swap | Modify), _ when not (may_take ()) -> "none"
    | Swap, Publicly -> int (Mvar.swap t n)
    | Modify, Publicly -> int (Mvar.modify t (fun old -> (old + n, old)))
    | Swap, _ ->
        let old = Option.get (use Holder) in
        ignore (perform how t Mvar.release_step n : unit option);
        int old
    | Modify, _ ->
        let old = Option.get (use Holder) in
        ignore (perform how t Mvar.release_step (old + n) : unit option);
        int old
    | (Give | Vacate), _ when not (is_held ()) -> "no task holds it"
    | Give, Publicly -> unit (Mvar.release t n)
    | Give, _ -> some unit (perform how t Mvar.release_step n)
    | Vacate, _ -> some unit (perform how t Mvar.vacate ())
    | Come_back, _ -> option (use Nudged)
    | Give_up, _ -> some unit (perform how t Mvar.give_up ())
    | Pass, _ -> unit (Clock.pass (2 * Nudge.patience_ns))
  and enlist role number answer =
    match role with
    | Putter -> enlist waiters Mvar.putting unit t number number answer
    | Nudged when not (is_any_nudged ()) ->
        let request = request (Asleep Holder) in
        enlist waiters Mvar.taking int t request number answer
    | Nudged ->
        let operation = Nudge.operation_again Mvar.swapping in
        enlist waiters operation int t (request role) number answer
    | _ -> enlist waiters Mvar.taking int t (request role) number answer
  and look () =
    let state, (line : _ Mvar.line) =
      match Atomic.get t with
      | Empty line -> ("empty", line)
      | Full (v, _, line) -> (Printf.sprintf "full %d" v, line)
      | Held { line; _ } -> ("held", line)
    in
    let overtaken =
      match line.nudged with
      | Coming { overtaken; _ } -> overtaken
      | Nobody | In_order | In_vain _ -> -1
    in
    Printf.sprintf "%s, %d overtaken, %d wait" state overtaken (Mvar.waiters t)
  in
  { act; enlist; withdraw = withdraw waiters; look }

type mvar_state = Empty | Full of int | Held

let expected_mvar ~in_order ~log =
  let state = ref Empty and takers = ref [] and putters = ref [] in
  (* Counts how often the nudged task was overtaken, or is -1 if there is none. *)
  let overtaken = ref (-1) in
  (* The same number while the nudged task waits again. *)
  let in_vain = ref None in
  (* The task was first nudged long ago. *)
  let late = ref false in
  let is_nudged w =
    match (w.role, !in_vain) with
    | Nudged, Some n -> (not in_order) && n < 2 && not !late
    | (Asleep Holder | Nudged), _ -> not in_order
    | _ -> false
  in
  let settle () = if !takers = [] then in_vain := None in
  let rec give v =
    match !takers with
    | w :: rest when !overtaken < 0 ->
        takers := rest;
        if is_nudged w then begin
          state := Full v;
          (match (w.role, !in_vain) with
          | Nudged, Some n -> overtaken := n
          | _ ->
              overtaken := 0;
              late := false);
          in_vain := None;
          if not (resume log w nudged) then give_up ()
        end
        else begin
          in_vain := None;
          if not (resume log w (int v)) then give v
          else
            match w.role with
            | Reader | Asleep Reader -> give v
            | Holder | Asleep Holder | Nudged -> state := Held
            | _ -> vacate ()
        end
    | _ -> state := Full v
  and give_up () =
    if !overtaken >= 0 then begin
      overtaken := -1;
      match !state with Full v -> give v | Empty | Held -> ()
    end
  and vacate () =
    match !putters with
    | [] -> state := Empty
    | p :: rest ->
        putters := rest;
        if resume log p "()" then give p.number else vacate ()
  in
  let has_turn role =
    !overtaken < 0
    || (!overtaken < 2 && not !late)
    || match role with Nudged -> true | _ -> false
  and take role =
    if !overtaken >= 0 then
      match role with Nudged -> overtaken := -1 | _ -> incr overtaken
  in
  let act op n =
    match (op, !state) with
    | Take, Full v when has_turn Taker ->
        take Taker;
        vacate ();
        int v
    | Come_back, Full v ->
        take Nudged;
        state := Held;
        int v
    | Read, Full v -> int v
    | Swap, Full v when has_turn Taker ->
        take Taker;
        give n;
        int v
    | Modify, Full v when has_turn Taker ->
        take Taker;
        give (v + n);
        int v
    | Put, Empty -> unit (give n)
    | (Take | Come_back | Read | Swap | Modify | Put), _ -> "none"
    | Give, Held -> unit (give n)
    | Vacate, Held -> unit (vacate ())
    | (Give | Vacate), _ -> "no task holds it"
    | Give_up, _ -> unit (give_up ())
    | Pass, _ -> unit (late := true)
  and enlist role number answer =
    let role =
      match role with Nudged when !overtaken < 0 -> Asleep Holder | _ -> role
    in
    let w = { role; number; answer } in
    let come q =
      q := !q @ [ w ];
      true
    in
    match (role, !state) with
    | Putter, Empty -> false
    | Putter, _ -> come putters
    | (Reader | Asleep Reader), Full _ -> false
    | _, Full _ when has_turn role -> false
    | Nudged, _ ->
        in_vain := Some !overtaken;
        overtaken := -1;
        takers := w :: !takers;
        true
    | _ -> come takers
  and withdraw number =
    takers := without number !takers;
    putters := without number !putters;
    settle ()
  and look () =
    (match !state with
      | Empty -> "empty"
      | Full v -> Printf.sprintf "full %d" v
      | Held -> "held")
    ^ Printf.sprintf ", %d overtaken, %d wait" !overtaken
        (List.length !takers + List.length !putters)
  in
  expected { act; enlist; withdraw; look }

let mvar name ~in_order =
  Structure
    {
      name;
      ops =
        [|
          Take;
          Read;
          Put;
          Swap;
          Modify;
          Give;
          Give;
          Vacate;
          Come_back;
          Give_up;
          Pass;
        |];
      roles =
        [|
          Taker;
          Taker;
          Reader;
          Holder;
          Putter;
          Putter;
          Asleep Taker;
          Asleep Reader;
          Asleep Holder;
          Nudged;
        |];
      make = real_mvar ~in_order;
      expected = Some (expected_mvar ~in_order);
    }

(* --- Channel ---------------------------------------------------------------------- *)

type channel_op = Send | Receive | Close
type channel_role = Sender | Receiver

(* A step that begins to meet a waiter may have to wait after all. *)
let real_channel how ~log =
  let t = Rendezvous.create () and waiters = waiters log in
  let act op n =
    match (op, how) with
    | Send, Publicly ->
        some unit (if Rendezvous.try_send t n then Some () else None)
    | Send, _ -> some unit (Step.attempt t Rendezvous.send_step n)
    | Receive, Publicly -> option (Rendezvous.try_receive t)
    | Receive, _ -> option (Step.attempt t Rendezvous.receive_step ())
    (* Closing is rare, because it ends everything. *)
    | Close, _ when n < 50 -> "not yet"
    | Close, Publicly -> unit (Rendezvous.close t)
    | Close, _ -> some unit (perform how t Rendezvous.close_step ())
  and enlist role number answer =
    match role with
    | Sender -> enlist waiters Rendezvous.sending unit t number number answer
    | Receiver -> enlist waiters Rendezvous.receiving int t () number answer
  and look () =
    Printf.sprintf "closed %b, %d wait" (Rendezvous.is_closed t)
      (Rendezvous.waiters t)
  in
  { act; enlist; withdraw = withdraw waiters; look }

let closed = Errors.Closed

let channel =
  Structure
    {
      name = "Channel";
      ops = [| Send; Receive; Close |];
      roles = [| Sender; Receiver |];
      make = real_channel;
      expected = None;
    }

(* --- Structures that resume all waiters ------------------------------------------- *)

let parties = 8

type latch_op = Count_down | Count_up

let real_latch how ~log =
  let t = Latch.create parties and waiters = waiters log in
  let act op _ =
    match (op, how) with
    | Count_down, Publicly -> unit (Latch.count_down t)
    | Count_up, Publicly -> unit (Latch.count_up t)
    | Count_down, _ -> some unit (perform how t Latch.count_down_step ())
    | Count_up, _ -> some unit (perform how t Latch.count_up_step ())
  and enlist () number = enlist waiters Latch.awaiting unit t () number
  and look () =
    Printf.sprintf "%d, %d wait" (Latch.count t) (Latch.waiters t)
  in
  { act; enlist; withdraw = withdraw waiters; look }

let latch =
  Structure
    {
      name = "Latch";
      ops = [| Count_down; Count_down; Count_up |];
      roles = [| () |];
      make = real_latch;
      expected = None;
    }

type watch_op = Set | Close | Look | Look_now

let show_version (v, version) = Printf.sprintf "%d as %d" v version

let real_watch how ~log =
  let t = Watch.create 0 and waiters = waiters log in
  let version () = snd (Watch.read t) in
  let look_since since =
    if how = Publicly then
      some show_version (Concord__Event.poll (Watch.changed_evt t ~since))
    else some show_version (perform how t Watch.changed_step since)
  in
  let act op n =
    match (op, how) with
    | Set, Publicly -> unit (Watch.set t n)
    | Set, _ -> some unit (perform how t Watch.set_step n)
    | Close, Publicly -> unit (Watch.close t)
    | Close, _ -> some unit (perform how t Watch.close_step ())
    | Look, _ -> look_since (version () - 1)
    | Look_now, _ -> look_since (version ())
  and enlist () number =
    enlist waiters Watch.waiting show_version t (version ()) number
  and look () =
    Printf.sprintf "%s%s, %d wait"
      (show_version (Watch.read t))
      (if Watch.is_closed t then ", closed" else "")
      (Watch.waiters t)
  in
  { act; enlist; withdraw = withdraw waiters; look }

(* Whether a set counts once is visible only in the versions of tasks that wait again. *)
let expected_watch ~log =
  let value = ref 0 and version = ref 0 and closed = ref false in
  let q = ref [] in
  let shown () = show_version (!value, !version) in
  let resume_all outcome =
    let all = !q in
    q := [];
    List.iter (fun w -> ignore (resume log w outcome : bool)) all
  in
  let act op n =
    match op with
    | (Set | Look_now) when !closed -> raise Watch.Closed
    | Set ->
        value := n;
        incr version;
        unit (resume_all (shown ()))
    | Close ->
        let was = !closed in
        closed := true;
        if not was then resume_all (Printexc.to_string Watch.Closed);
        "()"
    | Look -> shown ()
    | Look_now -> "none"
  and enlist role number answer =
    (not !closed)
    && begin
      q := !q @ [ { role; number; answer } ];
      true
    end
  and withdraw number = q := without number !q
  and look () =
    Printf.sprintf "%s%s, %d wait" (shown ())
      (if !closed then ", closed" else "")
      (List.length !q)
  in
  expected { act; enlist; withdraw; look }

let watch =
  Structure
    {
      name = "Watch";
      ops = [| Set; Set; Set; Set; Look; Look_now; Close |];
      roles = [| () |];
      make = real_watch;
      expected = Some expected_watch;
    }

type bvar_op = Signal | Broadcast | Broadcast_exn

let real_bvar how ~log =
  let t = Bvar.create () and waiters = waiters log in
  let act op n =
    match (op, how) with
    | Signal, Publicly -> string_of_bool (Bvar.signal t n)
    | Signal, _ -> some string_of_bool (perform how t Bvar.signal_step n)
    | Broadcast, Publicly -> unit (Bvar.broadcast t n)
    | Broadcast, _ -> some unit (perform how t Bvar.broadcast_step (Ok n))
    | Broadcast_exn, Publicly -> unit (Bvar.broadcast_exn t Not_found)
    | Broadcast_exn, _ ->
        some unit (perform how t Bvar.broadcast_step (Error Not_found))
  and enlist () number = enlist waiters Bvar.waiting int t () number
  and look () = Printf.sprintf ", %d wait" (Bvar.waiters t) in
  { act; enlist; withdraw = withdraw waiters; look }

let bvar =
  Structure
    {
      name = "Bvar";
      ops = [| Signal; Signal; Signal; Broadcast; Broadcast_exn |];
      roles = [| () |];
      make = real_bvar;
      expected = None;
    }

(* --- Lazy ------------------------------------------------------------------------- *)

type lazy_op = Begin | Force | Return | Fail | Pass_on
type lazy_role = Forcer | Watcher

let turn = function Forcing.Yours -> "yours" | Settled -> "settled"

(* Settling is rare, because it ends everything. *)
let is_rare n = n < 45
let failed = Forcing.Failed (Not_found, Printexc.get_callstack 0)

let real_lazy how ~log =
  let next = ref 0 and waiters = waiters log in
  let t = Lazy.from_fun (fun () -> !next) in
  let begin_ () = perform how t Lazy.force_step Holders.unknown in
  let settle outcome =
    match how with
    | Publicly -> unit (Lazy.settle t outcome)
    | _ -> some unit (perform how t Lazy.settle_step outcome)
  in
  let force n =
    next := n;
    match how with
    | Publicly -> int (Lazy.force t)
    | _ ->
        ignore (begin_ () : Forcing.turn option);
        ignore (settle (Forcing.Value n) : string);
        int n
  in
  let act op n =
    match (op, Atomic.get t) with
    | Begin, _ -> some turn (begin_ ())
    | Force, Unforced _ when not (is_rare n) -> force n
    | Return, Forcing _ when not (is_rare n) -> settle (Value n)
    | Fail, Forcing _ when not (is_rare n) -> settle failed
    | Pass_on, Forcing _ -> some unit (perform how t Lazy.pass_on_step Exit)
    | _ -> "not now"
  and enlist role number answer =
    match role with
    | Forcer -> enlist waiters Lazy.forcing turn t Holders.unknown number answer
    | Watcher -> enlist waiters Lazy.watching unit t () number answer
  and look () =
    let watchers =
      match Atomic.get t with
      | Unforced (_, watchers) | Forcing { watchers; _ } ->
          Waiters.length watchers
      | Value _ | Failed _ -> 0
    in
    Printf.sprintf "%s, %d wait, %d watch"
      (match Atomic.get t with
      | Unforced _ -> "unforced"
      | Forcing _ -> "forcing"
      | Value v -> int v
      | Failed (e, _) -> Printexc.to_string e)
      (Lazy.waiters t) watchers
  in
  { act; enlist; withdraw = withdraw waiters; look }

let lazy_ =
  Structure
    {
      name = "Lazy";
      ops = [| Begin; Begin; Force; Return; Fail; Pass_on; Pass_on |];
      roles = [| Forcer; Forcer; Watcher |];
      make = real_lazy;
      expected = None;
    }

let all =
  [
    mvar "Mvar" ~in_order:false;
    mvar "Mvar, in order" ~in_order:true;
    channel;
    latch;
    watch;
    bvar;
    lazy_;
  ]
