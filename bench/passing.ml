open Concord

let put box n =
  for i = 1 to n do
    Mvar.put box i
  done

let take box n =
  let sum = ref 0 in
  for _ = 1 to n do
    sum := !sum + Mvar.take box
  done;
  !sum

let in_time = function
  | Some v -> v
  | None -> failwith "a timeout passed, but it should never pass"

let before seconds event = in_time (Event.sync_before seconds event)

let take_before seconds box n =
  let sum = ref 0 in
  for _ = 1 to n do
    sum := !sum + before seconds (Mvar.take_evt box)
  done;
  !sum

let channels ways = Array.init ways (fun _ -> Channel.create ())

(* Doesn't visit the channels in the order of memory, because the processor could predict
   that. *)
let[@inline] turn channels i = channels.(i * 7_919 mod Array.length channels)

let send channels n =
  for i = 1 to n do
    Channel.send (turn channels i) i
  done

let receive channels n =
  let sum = ref 0 in
  for i = 1 to n do
    sum := !sum + Channel.receive (turn channels i)
  done;
  !sum

let selected ~ways (shape : Host.shape) n =
  let channels = channels ways in
  let all = List.map Channel.receive_evt (Array.to_list channels) in
  let consume n =
    let sum = ref 0 in
    for _ = 1 to n do
      sum := !sum + Event.select all
    done;
    !sum
  in
  shape ~produce:(send channels) ~consume n
