open Case

(* Selects among four alternatives: one is ready in turn, in a loop, or all are ready. *)

let ways = 4
let select4_concord shape n = Passing.selected ~ways shape n

let select4_stdlib (shape : Host.shape) n =
  let channels = Array.init ways (fun _ -> Event.new_channel ()) in
  let receive = List.map Event.receive (Array.to_list channels) in
  let produce n =
    for i = 1 to n do
      Event.sync (Event.send channels.(i mod ways) i)
    done
  in
  let consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      sum := !sum + Event.select receive
    done;
    !sum
  in
  shape ~produce ~consume n

(* Several fibers may take a message before the first of them ends the others, and [combine]
   keeps all of these messages. So the sum shows when all messages have arrived, and early ones
   count for the next round. *)
let select4_eio (shape : Host.shape) n =
  let streams = Array.init ways (fun _ -> Eio.Stream.create 1) in
  let takes =
    List.map (fun stream () -> Eio.Stream.take stream) (Array.to_list streams)
  in
  let produce n =
    for i = 1 to n do
      Eio.Stream.add streams.(i mod ways) i
    done
  in
  let sum = ref 0 in
  let consume n =
    let all = n * (n + 1) / 2 in
    while !sum < all do
      sum := !sum + Eio.Fiber.any ~combine:( + ) takes
    done;
    sum := !sum - all;
    all
  in
  let ns = shape ~produce ~consume n in
  Host.check "sum of the messages too many" 0 !sum;
  ns

let select4_serial =
  let case = "select4-serial" in
  {
    title =
      Printf.sprintf
        "one message, of a task that sends on %d channels in turn to one that \
         selects among them, 1 domain (Eio: Fiber.any over streams of capacity \
         1, which loses items unless it combines them, as here)"
        ways;
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (select4_eio (Host.serial Host.eio)));
    others =
      Ours.rows ~case Ours.two_tasks (fun host ->
          select4_concord (Host.serial host))
      @ Ours.beside_stdlib ~case
          (fun host -> select4_concord (Host.serial host))
          (select4_stdlib (Host.serial Host.thread))
      @ [ go case; tokio case ];
  }

let select4_parallel =
  let case = "select4-parallel" in
  {
    title = "the same, one task on each of 2 domains";
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (select4_eio (Host.parallel Host.eio)));
    others =
      Ours.rows ~case Ours.two_domains (fun host ->
          select4_concord (Host.parallel host))
      @ [
          row ~case ~impl:"stdlib" ~host:"domain"
            (Time (select4_stdlib (Host.parallel Host.domain)));
          go case;
          tokio case;
        ];
  }

let ready_concord host n =
  let mailboxes = Array.init ways (fun _ -> Concord.Mailbox.create ()) in
  let take = List.map Concord.Mailbox.take_evt (Array.to_list mailboxes) in
  Array.iteri (fun i box -> Concord.Mailbox.add box i) mailboxes;
  let taken = Array.make ways 0 in
  let select n =
    for _ = 1 to n do
      let i = Concord.Event.select take in
      taken.(i) <- taken.(i) + 1;
      Concord.Mailbox.add mailboxes.(i) i
    done
  in
  let ns = Host.alone host select n in
  Host.check "messages" n (Array.fold_left ( + ) 0 taken);
  ns

let select4_ready =
  let case = "select4-ready" in
  {
    title =
      Printf.sprintf
        "selecting among %d mailboxes that all hold a message, and putting it \
         back, 1 domain (Go: buffered channels)"
        ways;
    baseline = go case;
    others = Ours.rows ~case Ours.one_task ready_concord;
  }

(* Compares a loop over the alternatives with a select in each round. Each alternative is
   wrapped in a function, as in programs that need to know which alternative was chosen. *)
let select_in_loop wrapped n =
  let left = ref n and sum = ref 0 in
  while !left > 0 do
    sum := !sum + Concord.Event.select wrapped;
    decr left
  done;
  !sum

let event_loop wrapped n =
  let left = ref n and sum = ref 0 in
  Concord.Event.loop wrapped (fun i ->
      sum := !sum + i;
      decr left;
      if !left = 0 then Some !sum else None)

let receive_in_loop loop (shape : Host.shape) n =
  let channels = Passing.channels ways in
  let receive =
    List.map
      (fun t -> Concord.Event.wrap (Concord.Channel.receive_evt t) Fun.id)
      (Array.to_list channels)
  in
  shape ~produce:(Passing.send channels) ~consume:(loop receive) n

(* Each mailbox has a message in each round. *)
let ready_in_loop loop host n =
  let mailboxes = Array.init ways (fun _ -> Concord.Mailbox.create ()) in
  let take t =
    Concord.Event.wrap (Concord.Mailbox.take_evt t) (fun () ->
        Concord.Mailbox.add t ();
        1)
  in
  let takes = List.map take (Array.to_list mailboxes) in
  Array.iter (fun t -> Concord.Mailbox.add t ()) mailboxes;
  let rounds = ref 0 in
  let ns = Host.alone host (fun n -> rounds := loop takes n) n in
  Host.check "rounds" n !rounds;
  ns

let loop_rows case hosts sample =
  let rows (name, (host : Host.t)) =
    [
      row ~case ~impl:"select" ~host:name (Time (sample select_in_loop host));
      row ~case ~impl:"concord" ~host:name (Time (sample event_loop host));
    ]
  in
  match List.concat_map rows hosts with
  | baseline :: others -> (baseline, others)
  | [] -> invalid_arg "Bench_select.loop_rows: no host"

let loop_serial =
  let baseline, others =
    loop_rows "loop-serial" Ours.two_tasks (fun loop host ->
        receive_in_loop loop (Host.serial host))
  in
  {
    title =
      Printf.sprintf
        "one message, of a task that sends on %d channels in turn to one that \
         receives from them in Event.loop (concord), or by Event.select in a \
         loop (select), 1 domain"
        ways;
    baseline;
    others;
  }

let loop_ready =
  let baseline, others = loop_rows "loop-ready" Ours.one_task ready_in_loop in
  {
    title =
      Printf.sprintf
        "the same with %d mailboxes that all hold a message, which is put back"
        ways;
    baseline;
    others;
  }

let comparisons =
  beside [ select4_serial; select4_ready ]
  @ (select4_parallel :: beside [ loop_serial; loop_ready ])
