(* Cases for each queue that can be read to its end. *)

open Concord
open Concord_test_support
open Check

exception Boom

module type Queue = sig
  type 'a t
  type 'a sink

  val name : string
  val create : unit -> 'a sink * 'a t
  val close : 'a sink -> unit
  val add_seq : 'a sink -> 'a Seq.t -> unit
  val drain : 'a t -> 'a list
  val waiters : 'a t -> int

  val room : int
  (** The number of items that can be added before a task waits. *)

  include Concord__Reader.S with type 'a t := 'a t
end

let ints = Alcotest.(check (list int))
let option = Alcotest.(check (option int))

module Cases (Q : Queue) = struct
  let feed ?(close = true) sink items =
    Hand.start (fun () ->
        Q.add_seq sink (List.to_seq items);
        if close then Q.close sink)

  let start f =
    let task = Hand.start f in
    Hand.settle ();
    task

  let finish = Hand.result
  let next q = Hand.start (fun () -> Q.next q)
  let next_evt q = Hand.start (fun () -> Event.sync (Q.next_evt q))

  let to_the_end () =
    let read f =
      let sink, q = Q.create () in
      let feeder = feed sink [ 1; 2; 3 ] in
      let reader = start (fun () -> f q) in
      finish feeder;
      option "and again" None (finish (next q));
      option "its event" None (finish (next_evt q));
      option "polled" None (Option.get (Event.poll (Q.next_evt q)));
      finish reader
    in
    let by_next next q =
      let rec all () = match next q with Some v -> v :: all () | None -> [] in
      all ()
    in
    ints "next" [ 1; 2; 3 ] (read (by_next Q.next));
    ints "next_evt" [ 1; 2; 3 ]
      (read (by_next (fun q -> Event.sync (Q.next_evt q))));
    ints "fold" [ 3; 2; 1 ] (read (Q.fold (fun vs v -> v :: vs) []));
    ints "to_seq" [ 1; 2; 3 ] (read (fun q -> List.of_seq (Q.to_seq q)));
    ints "iter" [ 3; 2; 1 ]
      (read (fun q ->
           let all = ref [] in
           Q.iter (fun v -> all := v :: !all) q;
           !all))

  let closed_while_they_wait () =
    let sink, q = Q.create () in
    let one = next q and other = next_evt q in
    let sum = Hand.start (fun () -> Q.fold ( + ) 0 q) in
    let seq = Hand.start (fun () -> List.of_seq (Q.to_seq q)) in
    let choice =
      Hand.start (fun () ->
          Event.select
            [
              Event.wrap (Q.next_evt (snd (Q.create ()))) (fun _ -> "the other");
              Event.wrap (Q.next_evt q) (fun v ->
                  if v = None then "this one" else "a value");
            ])
    in
    int "they wait" 5 (Q.waiters q);
    in_domain (fun () -> Q.close sink);
    Hand.settle ();
    option "next" None (finish one);
    option "next_evt" None (finish other);
    int "fold" 0 (finish sum);
    ints "to_seq" [] (finish seq);
    Alcotest.(check string) "the one that ended" "this one" (finish choice)

  let cancelled () =
    let sink, q = Q.create () in
    let tasks =
      [
        Hand.start (fun () -> ignore (Q.next q : int option));
        Hand.start (fun () -> ignore (Event.sync (Q.next_evt q) : int option));
        Hand.start (fun () -> Q.iter ignore q);
        Hand.start (fun () -> Seq.iter ignore (Q.to_seq q));
      ]
    in
    let last = next q in
    List.iter Hand.unwind tasks;
    int "one waits" 1 (Q.waiters q);
    let feeder = feed sink [ 1 ] in
    Hand.settle ();
    option "nothing was lost" (Some 1) (finish last);
    finish feeder;
    (* The task already has its item, so it is too late to cancel it. *)
    let sink, q = Q.create () in
    let task = next q in
    let feeder = feed ~close:false sink [ 1 ] in
    no "cancelled" (Hand.cancel task);
    Hand.settle ();
    option "its item" (Some 1) (finish task);
    finish feeder

  let lost () =
    let sink, q = Q.create () and gate = Mvar.create_empty () in
    let events =
      [ Event.wrap (Mvar.take_evt gate) Option.some; Q.next_evt q ]
    in
    let task = Hand.start (fun () -> Event.select events) in
    Mvar.put gate 0;
    let feeder = feed sink [ 1 ] in
    Hand.settle ();
    option "the other alternative" (Some 0) (finish task);
    int "it does not wait" 0 (if Q.room > 0 then Q.waiters q else 0);
    option "nothing was lost" (Some 1) (finish (next q));
    Hand.settle ();
    finish feeder

  let raising () =
    let sink, q = Q.create () in
    let feeder = feed sink [ 1; 2; 3 ] in
    let boom v = if v = 2 then raise Boom in
    let task = start (fun () -> Q.iter boom q) in
    raises "the function's" Boom (fun () -> finish task);
    ints "the items behind" [ 3 ]
      (finish (start (fun () -> List.of_seq (Q.to_seq q))));
    finish feeder;
    let sink, q = Q.create () in
    let feeder = feed ~close:false sink [ 1 ] in
    let task = start (fun () -> Q.iter (fun _ -> raise Stream.Closed) q) in
    raises "not taken for the end" Stream.Closed (fun () -> finish task);
    finish feeder

  let forcing () =
    let sink, q = Q.create () in
    let feeder = feed sink [ 1; 2; 3 ] in
    let seq = Q.to_seq q in
    let head () = finish (start (fun () -> Option.map fst (Seq.uncons seq))) in
    option "the first" (Some 1) (head ());
    option "the same part again" (Some 2) (head ());
    option "next" (Some 3) (finish (next q));
    Hand.settle ();
    finish feeder;
    option "the end" None (head ());
    option "it stays the end" None (head ())

  let add_to_closed () =
    let sink, q = Q.create () in
    let forced = ref 0 in
    let items =
      Seq.map
        (fun v ->
          incr forced;
          if v = 2 then Q.close sink;
          v)
        (List.to_seq [ 1; 2; 3 ])
    in
    let task = Hand.start (fun () -> Q.add_seq sink items) in
    let first = next q in
    Hand.settle ();
    option "the item that was added before" (Some 1) (finish first);
    raises "the end" Stream.Closed (fun () -> finish task);
    int "forced" 2 !forced;
    option "no more" None (finish (next q))

  let drained () =
    let sink, q = Q.create () in
    ints "nothing there" [] (Q.drain q);
    let feeder = feed ~close:false sink [ 1; 2; 3 ] in
    let there = Int.max 1 (Int.min 3 Q.room) in
    ints "the items that are there"
      (List.filteri (fun i _ -> i < there) [ 1; 2; 3 ])
      (Q.drain q);
    Hand.settle ();
    let rec rest () =
      match Q.drain q with
      | [] -> []
      | vs ->
          Hand.settle ();
          vs @ rest ()
    in
    let rest = rest () in
    int "all in all" 3 (there + List.length rest);
    finish feeder;
    let waiting = next q in
    ints "a task waits" [] (Q.drain q);
    Q.close sink;
    Hand.settle ();
    option "its end" None (finish waiting);
    ints "closed" [] (Q.drain q);
    let last =
      let sink, q = Q.create () in
      let feeder = feed sink [ 1 ] in
      let vs = in_domain (fun () -> Q.drain q) in
      Hand.settle ();
      finish feeder;
      vs
    in
    ints "the items that were there at the end" [ 1 ] last

  (* Each item goes to one of the two readers. *)
  let between_domains () =
    let n = 2000 in
    let sink, q = Q.create () in
    let join = domain (fun () -> Q.fold ( + ) 0 q) in
    let sum = ref 0 in
    beside
      (fun () ->
        Q.add_seq sink (Seq.take n (Seq.ints 1));
        Q.close sink)
      (fun () -> Q.iter (fun v -> sum := !sum + v) q);
    int "all" (n * (n + 1) / 2) (!sum + join ())

  let suite =
    ( Q.name,
      [
        test "to the end" to_the_end;
        test "closed while they wait" closed_while_they_wait;
        test "cancelled" cancelled;
        test "a lost choice" lost;
        test "functions that raise" raising;
        test "a sequence that is forced twice" forcing;
        test "add_seq to a closed queue" add_to_closed;
        test "drain" drained;
        test "threads and domains" between_domains;
      ] )
end
