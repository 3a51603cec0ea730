open Case

let channel_concord (shape : Host.shape) n =
  let channel = Concord.Channel.create () in
  let produce n =
    for i = 1 to n do
      Concord.Channel.send channel i
    done
  in
  let consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      sum := !sum + Concord.Channel.receive channel
    done;
    !sum
  in
  shape ~produce ~consume n

let channel_stdlib (shape : Host.shape) n =
  let channel = Event.new_channel () in
  let produce n =
    for i = 1 to n do
      Event.sync (Event.send channel i)
    done
  in
  let consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      sum := !sum + Event.sync (Event.receive channel)
    done;
    !sum
  in
  shape ~produce ~consume n

let channel_serial =
  let case = "channel-serial" in
  {
    title = "one rendezvous with a message, two tasks on 1 domain";
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (Peers.stream_eio ~capacity:0 (Host.serial Host.eio)));
    others =
      Ours.rows ~case Ours.two_tasks (fun host ->
          channel_concord (Host.serial host))
      @ Ours.beside_stdlib ~case
          (fun host -> channel_concord (Host.serial host))
          (channel_stdlib (Host.serial Host.thread))
      @ [ go case ];
  }

let channel_parallel =
  let case = "channel-parallel" in
  {
    title = "the same, one task on each of 2 domains";
    baseline =
      row ~case ~impl:"eio" ~host:"eio"
        (Time (Peers.stream_eio ~capacity:0 (Host.parallel Host.eio)));
    others =
      Ours.rows ~case Ours.two_domains (fun host ->
          channel_concord (Host.parallel host))
      @ [
          row ~case ~impl:"stdlib" ~host:"domain"
            (Time (channel_stdlib (Host.parallel Host.domain)));
          row ~case ~impl:"domainslib" ~host:"domain"
            (Time (Peers.stream_domainslib ~capacity:0));
          go case;
        ];
  }

let comparisons = beside [ channel_serial ] @ [ channel_parallel ]
