open Concord
open Concord_testkit

(* Each number is what the one side gives, and the other one takes. *)
type sides = {
  take : unit -> int;
  take_evt : unit -> int Event.t;
  give : int -> unit;
  give_evt : int -> unit Event.t;
}

let zero event = Event.wrap event (fun () -> 0)

let taking ~keeps:kept name make : (module Operation.OPERATION) =
  (module struct
    include Operation.Defaults

    type t = sides

    let name = name
    let service = Operation.Takes
    let keeps = kept
    let create _ = make ~full:false
    let wait t _ = t.take ()

    let release t v =
      t.give v;
      0

    let event = Some (fun t _ -> t.take_evt ())
    let release_event = Some (fun t v -> zero (t.give_evt v))
  end)

let giving ~keeps:kept name make : (module Operation.OPERATION) =
  (module struct
    include Operation.Defaults

    type t = sides

    let name = name
    let service = Operation.Gives
    let keeps = kept
    let create _ = make ~full:true

    let wait t v =
      t.give v;
      0

    let release t _ = t.take ()
    let event = Some (fun t v -> zero (t.give_evt v))
    let release_event = Some (fun t _ -> t.take_evt ())
  end)

let mvar ~full =
  let t = if full then Mvar.create 0 else Mvar.create_empty () in
  {
    take = (fun () -> Mvar.take t);
    take_evt = (fun () -> Mvar.take_evt t);
    give = Mvar.put t;
    give_evt = Mvar.put_evt t;
  }

let stream ~full =
  let t = Stream.create 2 in
  if full then List.iter (Stream.add t) [ 0; 0 ];
  {
    take = (fun () -> Stream.take t);
    take_evt = (fun () -> Stream.take_evt t);
    give = Stream.add t;
    give_evt = Stream.add_evt t;
  }

let channel ~full:_ =
  let t = Channel.create () in
  {
    take = (fun () -> Channel.receive t);
    take_evt = (fun () -> Channel.receive_evt t);
    give = Channel.send t;
    give_evt = Channel.send_evt t;
  }

let all =
  let both ~keeps name make take give =
    let named make_operation operation =
      let name = Printf.sprintf "%s.%s, and the other side" name operation in
      (name, make_operation ~keeps name make)
    in
    [ named taking take; named giving give ]
  in
  both ~keeps:true "Mvar" mvar "take" "put"
  @ both ~keeps:true "Stream" stream "take" "add"
  @ both ~keeps:false "Channel" channel "receive" "send"
