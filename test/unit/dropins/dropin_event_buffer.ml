(* A bounded buffer is a thread that chooses between two events. It accepts an item if there
   is room, and gives one if it has any. Another thread merges two channels. *)

type 'a buffer = { input : 'a Event.channel; output : 'a Event.channel }

let buffer capacity =
  let t = { input = Event.new_channel (); output = Event.new_channel () } in
  let queue = Queue.create () in
  let accept () =
    Event.wrap (Event.receive t.input) (fun v -> Queue.push v queue)
  and give () =
    Event.wrap
      (Event.send t.output (Queue.peek queue))
      (fun () -> ignore (Queue.pop queue))
  in
  let rec serve () =
    if Queue.is_empty queue then Event.sync (accept ())
    else if Queue.length queue = capacity then Event.sync (give ())
    else Event.select [ accept (); give () ];
    serve ()
  in
  ignore (Thread.create serve () : Thread.t);
  t

let put t v = Event.sync (Event.send t.input v)
let get t = Event.sync (Event.receive t.output)

let () =
  let t = buffer 3 in
  (* Fills the buffer while no thread takes items. *)
  List.iter (put t) [ 1; 2; 3 ];
  Printf.printf "full: %b\n" (Event.poll (Event.send t.input 4) = None);
  List.iter (fun _ -> Printf.printf "got %d\n" (get t)) [ (); (); () ];
  Printf.printf "empty: %b\n" (Event.poll (Event.receive t.output) = None);
  let n = 2000 in
  let producer =
    Thread.create
      (fun () ->
        for i = 1 to n do
          put t i
        done)
      ()
  in
  let in_order = ref true and sum = ref 0 in
  for i = 1 to n do
    let v = get t in
    if v <> i then in_order := false;
    sum := !sum + v
  done;
  Thread.join producer;
  Printf.printf "in order: %b, sum: %d\n" !in_order !sum

let () =
  let a = Event.new_channel () and b = Event.new_channel () in
  let send channel values () =
    List.iter (fun v -> Event.sync (Event.send channel v)) values
  in
  let threads =
    [
      Thread.create (send a [ 1; 2; 3 ]) ();
      Thread.create (send b [ -1; -2; -3 ]) ();
    ]
  in
  let rec merge n =
    if n = 0 then []
    else
      let v = Event.select [ Event.receive a; Event.receive b ] in
      v :: merge (n - 1)
  in
  let all = merge 6 in
  List.iter Thread.join threads;
  let show v = Printf.printf " %d" v in
  print_string "from a:";
  List.iter show (List.filter (fun v -> v > 0) all);
  print_string "; from b:";
  List.iter show (List.filter (fun v -> v < 0) all);
  print_newline ()
