open Concord
open Concord_testkit

(* Each number is given by one side and taken by the other. The taking side needs no number,
   and the giving side gets 0. *)
type side = { perform : int -> int; event : int -> int Event.t }

let takes f evt = { perform = (fun _ -> f ()); event = (fun _ -> evt ()) }

let gives f evt =
  {
    perform =
      (fun v ->
        f v;
        0);
    event = (fun v -> Event.wrap (evt v) (fun () -> 0));
  }

type sides = { take : side; give : side }

let operation name ~service ~keeps:kept ~waits ~lets_go create :
    (module Operation.OPERATION) =
  (module struct
    include Operation.Defaults

    type t = sides

    let name = name
    let service = service
    let keeps = kept
    let create _ = create ()
    let wait t = (waits t).perform
    let release t = (lets_go t).perform
    let event = Some (fun t -> (waits t).event)
    let release_event = Some (fun t -> (lets_go t).event)
  end)

let mvar ~full () =
  let t = if full then Mvar.create 0 else Mvar.create_empty () in
  {
    take = takes (fun () -> Mvar.take t) (fun () -> Mvar.take_evt t);
    give = gives (Mvar.put t) (Mvar.put_evt t);
  }

let stream ~full () =
  let t = Stream.create 2 in
  if full then List.iter (Stream.add t) [ 0; 0 ];
  {
    take = takes (fun () -> Stream.take t) (fun () -> Stream.take_evt t);
    give = gives (Stream.add t) (Stream.add_evt t);
  }

let channel ~full:_ () =
  let t = Channel.create () in
  {
    take = takes (fun () -> Channel.receive t) (fun () -> Channel.receive_evt t);
    give = gives (Channel.send t) (Channel.send_evt t);
  }

let all =
  let both ~keeps structure make takes gives =
    let take t = t.take and give t = t.give in
    let side name service waits lets_go ~full =
      let name = Printf.sprintf "%s.%s, and the other side" structure name in
      (name, operation name ~service ~keeps ~waits ~lets_go (make ~full))
    in
    [
      side takes Operation.Takes take give ~full:false;
      side gives Operation.Gives give take ~full:true;
    ]
  in
  both ~keeps:true "Mvar" mvar "take" "put"
  @ both ~keeps:true "Stream" stream "take" "add"
  @ both ~keeps:false "Channel" channel "receive" "send"
