(* Servers over channels: a bank, and dining philosophers. *)

type request =
  | Move of {
      source : int;
      target : int;
      amount : int;
      reply : bool Event.channel;
    }
  | Total of int Event.channel

let bank accounts =
  let requests = Event.new_channel () in
  let answer channel v = Event.sync (Event.send channel v) in
  let rec serve () =
    (match Event.sync (Event.receive requests) with
    | Move { source; target; amount; reply } ->
        let enough = accounts.(source) >= amount in
        if enough then begin
          accounts.(source) <- accounts.(source) - amount;
          accounts.(target) <- accounts.(target) + amount
        end;
        answer reply enough
    | Total reply -> answer reply (Array.fold_left ( + ) 0 accounts));
    serve ()
  in
  ignore (Thread.create serve () : Thread.t);
  requests

let ask requests request =
  let reply = Event.new_channel () in
  Event.sync (Event.send requests (request reply));
  Event.sync (Event.receive reply)

let () =
  let n = 5 in
  let requests = bank (Array.make n 100) in
  let refused = Atomic.make 0 in
  let client number () =
    let random = Random.State.make [| number |] in
    for _ = 1 to 300 do
      let source = Random.State.int random n in
      let target = Random.State.int random n in
      let amount = Random.State.int random 200 in
      let move reply = Move { source; target; amount; reply } in
      if not (ask requests move) then Atomic.incr refused;
      let total = ask requests (fun reply -> Total reply) in
      if total <> 100 * n then Printf.printf "total: %d\n" total
    done
  in
  List.iter Thread.join (List.init 4 (fun i -> Thread.create (client i) ()));
  Printf.printf "total: %d\n" (ask requests (fun reply -> Total reply));
  Printf.printf "some were refused: %b\n" (Atomic.get refused > 0)

(* A fork is a thread that is taken and put back, again and again. A philosopher takes the
   fork that is free first, and puts it back if the other one isn't free. *)
type fork = { take : unit Event.channel; put : unit Event.channel }

let fork () =
  let t = { take = Event.new_channel (); put = Event.new_channel () } in
  let rec serve () =
    Event.sync (Event.receive t.take);
    Event.sync (Event.receive t.put);
    serve ()
  in
  ignore (Thread.create serve () : Thread.t);
  t

let () =
  let n = 5 and meals = 100 in
  let forks = Array.init n (fun _ -> fork ()) in
  let users = Array.init n (fun _ -> Atomic.make 0) in
  let eaten = Array.make n 0 in
  let philosopher i () =
    let forks_of_i = [ i; (i + 1) mod n ] in
    let take j other =
      Event.wrap (Event.send forks.(j).take ()) (fun () -> (j, other))
    in
    let put j = Event.sync (Event.send forks.(j).put ()) in
    while eaten.(i) < meals do
      let left = List.hd forks_of_i and right = List.nth forks_of_i 1 in
      let first, second = Event.select [ take left right; take right left ] in
      match Event.poll (take second first) with
      | None ->
          put first;
          Thread.yield ()
      | Some _ ->
          let use j =
            if Atomic.fetch_and_add users.(j) 1 <> 0 then print_endline "shared"
          in
          List.iter use forks_of_i;
          Thread.yield ();
          List.iter (fun j -> Atomic.decr users.(j)) forks_of_i;
          eaten.(i) <- eaten.(i) + 1;
          put first;
          put second
    done
  in
  List.iter Thread.join
    (List.init n (fun i -> Thread.create (philosopher i) ()));
  Printf.printf "meals: %d\n" (Array.fold_left ( + ) 0 eaten)
