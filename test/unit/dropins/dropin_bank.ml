(* Threads of two domains transfer money between accounts, each with its own mutex. *)

type account = { number : int; mutex : Mutex.t; mutable balance : int }

let accounts =
  Array.init 8 (fun number ->
      { number; mutex = Mutex.create (); balance = 1000 })

let transfer a b amount =
  if a.number <> b.number then begin
    let first, second = if a.number < b.number then (a, b) else (b, a) in
    Mutex.lock first.mutex;
    Mutex.protect second.mutex (fun () ->
        a.balance <- a.balance - amount;
        Thread.yield ();
        b.balance <- b.balance + amount);
    Mutex.unlock first.mutex
  end

let total () =
  Array.iter (fun a -> Mutex.lock a.mutex) accounts;
  let sum = Array.fold_left (fun sum a -> sum + a.balance) 0 accounts in
  Array.iter (fun a -> Mutex.unlock a.mutex) accounts;
  sum

exception Refused

(* Raises while it holds the account, and changes nothing. *)
let refused a =
  match Mutex.protect a.mutex (fun () -> raise Refused) with
  | () -> false
  | exception Refused -> true

let wrong = Atomic.make 0

(* Yields and tries again if the account is busy. *)
let rec try_deposit a amount =
  if Mutex.try_lock a.mutex then begin
    a.balance <- a.balance + amount;
    Mutex.unlock a.mutex
  end
  else begin
    Thread.yield ();
    try_deposit a amount
  end

let work seed =
  let random = Random.State.make [| seed |] in
  let any () = accounts.(Random.State.int random (Array.length accounts)) in
  for i = 1 to 300 do
    let a = any () and b = any () in
    transfer a b (Random.State.int random 50);
    if not (refused b) then Atomic.incr wrong;
    if i mod 20 = 0 && total () <> 8000 then Atomic.incr wrong
  done

let threads seeds =
  List.iter Thread.join (List.map (fun seed -> Thread.create work seed) seeds)

let () =
  let other = Domain.spawn (fun () -> threads [ 1; 2; 3 ]) in
  threads [ 4; 5; 6 ];
  Domain.join other;
  Printf.printf "wrong: %d\nsum: %d\n" (Atomic.get wrong) (total ());
  Array.iter (fun a -> Printf.printf "%d: %d\n" a.number a.balance) accounts;
  let deposit () = try_deposit accounts.(0) 1 in
  let depositors = List.init 5 (fun _ -> Thread.create deposit ()) in
  List.iter Thread.join depositors;
  Printf.printf "after the deposits: %d\n" (total ())
