include Trace_types

(* --- As text ----------------------------------------------------------------- *)

(* The runtime accepts 1024 bytes, and the longest event has five such texts. *)
let max_length = 180
let in_one_line = String.map (fun c -> if c < ' ' then ' ' else c)

let clean text =
  let text =
    let length = String.length text in
    if length <= max_length then text
    else "..." ^ String.sub text (length - max_length) max_length
  in
  in_one_line text

(* For a path or a name, the end is more specific, so [clean] keeps the end. For a mark, the
   beginning says more. *)
let beginning text =
  in_one_line (String.sub text 0 (Int.min max_length (String.length text)))

let int = string_of_int
let fields_of_task { id; host; name } = [ int id; clean host; clean name ]

let outcomes =
  [ (Returned, "returned"); (Raised, "raised"); (Cancelled, "cancelled") ]

let fields = function
  | Began { program } -> [ "began"; clean program ]
  | Suspended { wait; task; domain; operation; structure; at } ->
      [ "suspended"; int wait ]
      @ fields_of_task task
      @ [ int domain; clean operation; clean structure; clean at ]
  | Woken { wait; by; domain; suspended_on; ago_ns } ->
      [ "woken"; int wait ]
      @ fields_of_task by
      @ [ int domain; int suspended_on; int ago_ns ]
  | Resumed { wait; task; domain; outcome } ->
      [ "resumed"; int wait ]
      @ fields_of_task task
      @ [ int domain; List.assoc outcome outcomes ]
  | Forked { task; parent; domain; at } ->
      ("forked" :: fields_of_task task)
      @ fields_of_task parent
      @ [ int domain; clean at ]
  | Ended { task; domain } -> ("ended" :: fields_of_task task) @ [ int domain ]
  | Queue { name; domain; length } ->
      [ "queue"; clean name; int domain; int length ]
  | Mark { task; domain; text } ->
      ("mark" :: fields_of_task task) @ [ int domain; beginning text ]

let to_string event = String.concat "\t" (fields event)

let of_fields fields =
  let int = int_of_string in
  let task id host name = { id = int id; host; name } in
  match fields with
  | [ "began"; program ] -> Some (Began { program })
  | [ "suspended"; wait; id; host; name; domain; operation; structure; at ] ->
      let wait = int wait
      and task = task id host name
      and domain = int domain in
      Some (Suspended { wait; task; domain; operation; structure; at })
  | [ "woken"; wait; id; host; name; domain; suspended_on; ago_ns ] ->
      let by = task id host name and domain = int domain in
      let suspended_on = int suspended_on and ago_ns = int ago_ns in
      Some (Woken { wait = int wait; by; domain; suspended_on; ago_ns })
  | [ "resumed"; wait; id; host; name; domain; outcome ] ->
      let task = task id host name and domain = int domain in
      let is_it (_, text) = String.equal text outcome in
      let outcome, _ = List.find is_it outcomes in
      Some (Resumed { wait = int wait; task; domain; outcome })
  | [ "forked"; id; host; name; parent; parent_host; parent_name; domain; at ]
    ->
      let parent = task parent parent_host parent_name
      and domain = int domain in
      Some (Forked { task = task id host name; parent; domain; at })
  | [ "ended"; id; host; name; domain ] ->
      Some (Ended { task = task id host name; domain = int domain })
  | [ "queue"; name; domain; length ] ->
      Some (Queue { name; domain = int domain; length = int length })
  | [ "mark"; id; host; name; domain; text ] ->
      Some (Mark { task = task id host name; domain = int domain; text })
  | _ -> None

let of_string text =
  match of_fields (String.split_on_char '\t' text) with
  | event -> event
  | exception (Failure _ | Not_found) -> None
