(* Targets are distinguished by their addresses. After a minor collection, no target moves,
   unless the program compacts the heap. *)
let of_thing = function
  | None -> 0
  | Some _ as thing ->
      Nativeint.to_int
        (Nativeint.shift_right_logical (Obj.raw_field (Obj.repr thing) 0) 1)

let compactions () = (Gc.quick_stat ()).compactions

let rec addresses things =
  Gc.minor ();
  let before = compactions () in
  let found = Array.map of_thing things in
  if compactions () = before then found else addresses things

let numbers pointers =
  let things = Array.map Identity.target pointers in
  let known = Hashtbl.create (Array.length things) in
  let number thing address =
    if Option.is_none thing then -1
    else
      match Hashtbl.find_opt known address with
      | Some number -> number
      | None ->
          let number = Hashtbl.length known in
          Hashtbl.add known address number;
          number
  in
  let numbers = Array.map2 number things (addresses things) in
  (* The targets have to be alive until here. Otherwise a new value could get the address of a
     collected one. *)
  ignore (Sys.opaque_identity things : Obj.t option array);
  numbers

let of_target pointer = of_thing (Identity.target pointer)
