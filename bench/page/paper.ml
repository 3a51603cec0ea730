(** What is said of a paper. *)

type part = {
  title : string;
  claims : Claim.t list;
  charts : Results.t -> Chart.t list;
}

type t = { name : string; parts : part list }

(* Shorthands of the papers below *)

let subject group case row = { Claim.group; case; row }
let one_of cases case = List.mem case cases

let prefixed prefixes case =
  List.exists (fun prefix -> String.starts_with ~prefix case) prefixes
