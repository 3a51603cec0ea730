(** What the page says about the papers. *)

type part = {
  title : string;
  measured : string;  (** By us. *)
  claimed : string;  (** By the paper. *)
  tables : (string * (string -> bool)) list;
      (** The groups, and which cases of them. *)
  printed : Picture.printed list;
  claims : Claim.t list;
  pictures : Results.t -> Picture.t list;
  remarks : string list;  (** What holds whatever the figures are. *)
}

type t = { name : string; machine : string; parts : part list }

(* Shorthands of the papers below *)

let any (_ : string) = true
let one_of cases case = List.mem case cases

let prefixed prefixes case =
  List.exists (fun prefix -> String.starts_with ~prefix case) prefixes

let in_bytecode (row : Results.row) =
  String.ends_with ~suffix:"-bytecode" row.host

let natively row = not (in_bytecode row)
