open Kcas
open Kcas_data

(* Two accounts. A transfer waits until there is enough money. *)
let transfer from onto amount =
  let tx ~xt =
    let balance = Xt.get ~xt from in
    if balance < amount then Retry.later ();
    Xt.set ~xt from (balance - amount);
    Xt.modify ~xt onto (( + ) amount)
  in
  Xt.commit { tx }

let () =
  let savings = Loc.make 10 and current = Loc.make 0 in
  let spender =
    Domain.spawn (fun () ->
        transfer savings current 100;
        Loc.get current)
  in
  Loc.modify savings (( + ) 95);
  Printf.printf "current %d\n" (Domain.join spender);
  Printf.printf "savings %d\n" (Loc.get savings);
  (* An MVar and a queue. *)
  let box = Mvar.create None and queue = Queue.create () in
  let worker =
    Domain.spawn (fun () ->
        let n = Mvar.take box in
        let rec sum total k =
          if k = 0 then total
          else sum (total + Queue.take_blocking queue) (k - 1)
        in
        sum 0 n)
  in
  Mvar.put box 3;
  List.iter (fun n -> Queue.add n queue) [ 1; 2; 3 ];
  Printf.printf "sum %d\n" (Domain.join worker);
  (* The first of two. *)
  let left = Queue.create () and right = Queue.create () in
  Queue.add "right" right;
  let either ~xt =
    match Queue.Xt.take_opt ~xt left with
    | Some x -> x
    | None -> Queue.Xt.take_blocking ~xt right
  in
  print_endline (Xt.commit { tx = either })
