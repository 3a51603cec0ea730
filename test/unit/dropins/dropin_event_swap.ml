(* Swap channels (Reppy). Each side chooses between sending first and receiving first. *)

type 'a swap = ('a * 'a Event.channel) Event.channel

let create : unit -> 'a swap = Event.new_channel

let swap (t : 'a swap) v =
  Event.guard (fun () ->
      let back = Event.new_channel () in
      Event.choose
        [
          Event.wrap (Event.receive t) (fun (v', back') ->
              Event.sync (Event.send back' v);
              v');
          Event.wrap
            (Event.send t (v, back))
            (fun () -> Event.sync (Event.receive back));
        ])

let () =
  let t = create () in
  let results = Array.make 2 [] in
  let n = 500 in
  let side number =
    Thread.create
      (fun () ->
        for i = 1 to n do
          let v = Event.sync (swap t ((2 * i) + number)) in
          results.(number) <- v :: results.(number)
        done)
      ()
  in
  List.iter Thread.join (List.map side [ 0; 1 ]);
  let expected number = List.init n (fun i -> (2 * (n - i)) + 1 - number) in
  Printf.printf "each has the other's: %b %b\n"
    (results.(0) = expected 0)
    (results.(1) = expected 1)

(* Several threads swap at one channel. Each must get the value of the thread that got its
   own. *)
let () =
  let t = create () in
  let n = 8 in
  let results = Array.make n (-1) in
  let start i =
    Thread.create (fun () -> results.(i) <- Event.sync (swap t i)) ()
  in
  List.iter Thread.join (List.init n start);
  let pairs = ref 0 in
  Array.iteri (fun i j -> if j <> i && results.(j) = i then incr pairs) results;
  Printf.printf "swapped: %d of %d\n" !pairs n

let () =
  let t = create () in
  Printf.printf "alone: %b\n" (Event.poll (swap t 1) = None)
