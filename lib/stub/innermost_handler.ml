type t = { returns : int; raises : int }
type stack = int

external is_readable : unit -> bool = "concord_handler_is_readable" [@@noalloc]

external returns : unit -> (int[@untagged])
  = "concord_handler_returns_byte" "concord_handler_returns"
[@@noalloc]

external raises : unit -> (int[@untagged])
  = "concord_handler_raises_byte" "concord_handler_raises"
[@@noalloc]

external here : unit -> (int[@untagged])
  = "concord_stack_here_byte" "concord_stack_here"
[@@noalloc]

external around : unit -> (int[@untagged])
  = "concord_stack_around_byte" "concord_stack_around"
[@@noalloc]

external nothing_but : (int[@untagged]) -> (int[@untagged]) -> bool
  = "concord_handler_nothing_but_byte" "concord_handler_nothing_but"
[@@noalloc]

external alone : (int[@untagged]) -> (int[@untagged]) -> bool
  = "concord_handler_alone_byte" "concord_handler_alone"
[@@noalloc]

let none = { returns = 0; raises = 0 }
let[@inline never] read () = { returns = returns (); raises = raises () }

(* All handlers that [try_with] installs have these functions, so they identify no scheduler. *)
let of_try_with =
  Effect.Deep.try_with read ()
    { effc = (fun (type a) (_ : a Effect.t) -> None) }

let get_known () =
  match read () with
  | { returns = 0; _ } | { raises = 0; _ } -> none
  | t when t = of_try_with -> none
  | t -> t

(* --- Checking --------------------------------------------------------------- *)

type stub = {
  get : unit -> t;
  nothing_but : t -> bool;
  alone : t -> bool;
  around : unit -> stack;
  here : unit -> stack;
}

let stub =
  {
    get = get_known;
    nothing_but = (fun { returns; raises } -> nothing_but returns raises);
    alone = (fun { returns; raises } -> alone returns raises);
    around;
    here;
  }

type _ Effect.t += Here : unit Effect.t

let check { get; nothing_but; alone; around; here } =
  let open Effect.Deep in
  let handler_is_at = ref (-1) and is_right = ref false in
  let other f =
    match_with f ()
      {
        retc = (fun () -> ());
        exnc = (fun e -> raise e);
        effc = (fun (type a) (_ : a Effect.t) -> None);
      }
  and one f =
    match_with f ()
      {
        retc = (fun () -> ());
        exnc = (fun e -> raise e);
        effc =
          (fun (type a) (e : a Effect.t) : ((a, _) continuation -> _) option ->
            match e with
            | Here ->
                Some
                  (fun k ->
                    handler_is_at := here ();
                    continue k ())
            | _ -> None);
      }
  in
  one (fun () ->
      let own = get () and handler_is_around = around () in
      Effect.perform Here;
      let told = own <> none && nothing_but own && get () = own in
      let is_around = !handler_is_at = handler_is_around in
      other (fun () ->
          let is_another =
            get () <> own && not (nothing_but own || alone own)
          in
          let is_farther = around () <> handler_is_around in
          is_right := told && is_around && is_another && is_farther));
  !is_right

(* The version alone proves nothing, because this compiler may be a changed one (OxCaml reports
   5.2), or be in development. So the check decides too. *)
let is_known = ref (is_readable () && check stub)

let () =
  if is_readable () && not !is_known then
    Printf.eprintf
      "concord: OCaml %s keeps effect handlers in an unknown way. Everything \
       works, but each wait in an Eio fiber takes longer.\n\
       %!"
      Sys.ocaml_version

let give_up () = is_known := false
let get () = if !is_known then get_known () else none

let[@inline] nothing_but { returns; raises } =
  !is_known && nothing_but returns raises

let[@inline] alone { returns; raises } = !is_known && alone returns raises
