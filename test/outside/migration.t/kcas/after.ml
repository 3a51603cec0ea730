(* A lock with a condition, or a choice, replaces a transaction over several locations.
   (Transactions themselves have no counterpart. Those of Kcas work in tasks of every host that
   registers with Domain_local_await.) *)

open Concord

type accounts = {
  mutex : Mutex.t;
  changed : Condition.t;
  mutable savings : int;
  mutable current : int;
}

let transfer accounts amount =
  Mutex.protect accounts.mutex (fun () ->
      while accounts.savings < amount do
        Condition.wait accounts.changed accounts.mutex
      done;
      accounts.savings <- accounts.savings - amount;
      accounts.current <- accounts.current + amount;
      Condition.broadcast accounts.changed)

let pay_in accounts amount =
  Mutex.protect accounts.mutex (fun () ->
      accounts.savings <- accounts.savings + amount;
      Condition.broadcast accounts.changed)

let () =
  let accounts =
    {
      mutex = Mutex.create ();
      changed = Condition.create ();
      savings = 10;
      current = 0;
    }
  in
  let spender =
    Domain.spawn (fun () ->
        transfer accounts 100;
        accounts.current)
  in
  pay_in accounts 95;
  Printf.printf "current %d\n" (Domain.join spender);
  Printf.printf "savings %d\n" accounts.savings;
  let box = Mvar.create_empty () and queue = Mailbox.create () in
  let worker =
    Domain.spawn (fun () ->
        let n = Mvar.take box in
        let rec sum total k =
          if k = 0 then total else sum (total + Mailbox.take queue) (k - 1)
        in
        sum 0 n)
  in
  Mvar.put box 3;
  List.iter (Mailbox.add queue) [ 1; 2; 3 ];
  Printf.printf "sum %d\n" (Domain.join worker);
  let left = Mailbox.create () and right = Mailbox.create () in
  Mailbox.add right "right";
  print_endline (Event.select [ Mailbox.take_evt left; Mailbox.take_evt right ])
