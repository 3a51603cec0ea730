open Debug_report

type t =
  | Null
  | Bool of bool
  | Int of int
  | Seconds of float
  | String of string
  | List of t list
  | Object of (string * t) list
  | Written of Buffer.t  (** JSON text *)

(* A name may contain any bytes, but JSON is UTF-8. So malformed bytes are replaced. *)
let add_string buffer text =
  Buffer.add_char buffer '"';
  let rec from i =
    if i < String.length text then begin
      let char = String.get_utf_8_uchar text i in
      begin match Uchar.to_int (Uchar.utf_decode_uchar char) with
      | 0x22 -> Buffer.add_string buffer "\\\""
      | 0x5c -> Buffer.add_string buffer "\\\\"
      | code when code < 0x20 || code = 0x7f ->
          Printf.bprintf buffer "\\u%04x" code
      | code -> Buffer.add_utf_8_uchar buffer (Uchar.of_int code)
      end;
      from (i + Uchar.utf_decode_length char)
    end
  in
  from 0;
  Buffer.add_char buffer '"'

let rec add buffer = function
  | Null -> Buffer.add_string buffer "null"
  | Bool b -> Printf.bprintf buffer "%b" b
  | Int n -> Printf.bprintf buffer "%d" n
  | Seconds s -> Printf.bprintf buffer "%.6f" s
  | String text -> add_string buffer text
  | Written text -> Buffer.add_buffer buffer text
  | List items -> add_all buffer '[' add items ']'
  | Object fields ->
      let add_field buffer (name, value) =
        add_string buffer name;
        Buffer.add_char buffer ':';
        add buffer value
      in
      add_all buffer '{' add_field fields '}'

and add_all :
    'a. Buffer.t -> char -> (Buffer.t -> 'a -> unit) -> 'a list -> char -> unit
    =
 fun buffer first add items last ->
  Buffer.add_char buffer first;
  List.iteri
    (fun i item ->
      if i > 0 then Buffer.add_char buffer ',';
      add buffer item)
    items;
  Buffer.add_char buffer last

let or_null f = function Some v -> f v | None -> Null

let frame { Debug_frames.name; file; line; is_of_program } =
  Object
    [
      ("function", String name);
      ("file", String file);
      ("line", Int line);
      ("program", Bool is_of_program);
    ]

(* Each stack is written once, into [stacks]. Other fields refer to its position there. *)
let numbering stacks =
  let last = ref (-1) in
  Debug_frames.remembering @@ fun backtrace ->
  incr last;
  if !last > 0 then Buffer.add_char stacks ',';
  add stacks (List (List.map frame (Debug_frames.all backtrace)));
  Int !last

let task { id; host; name } =
  Object [ ("id", Int id); ("host", String host); ("name", String name) ]

let holder stack { by; domain; held_for; held_at } =
  Object
    [
      ("task", task by);
      ("domain", Int domain);
      ("seconds", Seconds held_for);
      ("at", stack held_at);
    ]

let target stack { operation; structure; state; made_at; holders } =
  Object
    [
      ("operation", String operation);
      ("structure", or_null (fun name -> String name) structure);
      ("state", String state);
      ("made_at", or_null stack made_at);
      ("holders", List (List.map (holder stack) holders));
    ]

let origin stack { parent; forked_at } =
  Object [ ("parent", task parent); ("at", stack forked_at) ]

let wait stack
    { number; task = who; domain; origin = from; targets; waits_for; waits_at }
    =
  Object
    [
      ("number", Int number);
      ("task", task who);
      ("domain", Int domain);
      ("origin", or_null (origin stack) from);
      ("seconds", Seconds waits_for);
      ("targets", List (List.map (target stack) targets));
      ("at", stack waits_at);
    ]

let numbers waits = List (List.map (fun { number; _ } -> Int number) waits)

let running stack { task = who; on_domain; runs_for; waited_at; has_waited } =
  Object
    [
      ("task", task who);
      ("domain", Int on_domain);
      ("seconds", Seconds runs_for);
      ("at", stack waited_at);
      ("has_waited", Bool has_waited);
    ]

let queue { queue; kind; length; capacity } =
  Object
    [
      ("queue", String queue);
      ("kind", String kind);
      ("length", Int length);
      ("capacity", or_null (fun n -> Int n) capacity);
    ]

let of_report { cycles; behind; waits; woken; running = running_; queues } =
  let buffer = Buffer.create 1_000 and stacks = Buffer.create 1_000 in
  let stack = numbering stacks in
  let waits = List (List.map (wait stack) waits) in
  let woken = List (List.map (wait stack) woken) in
  let running = List (List.map (running stack) running_) in
  add buffer
    (Object
       [
         ("cycles", List (List.map numbers cycles));
         ("behind", numbers behind);
         ("waits", waits);
         ("woken", woken);
         ("running", running);
         ("queues", List (List.map queue queues));
         ("stacks", List [ Written stacks ]);
       ]);
  Buffer.contents buffer
