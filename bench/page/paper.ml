(** The claims of a paper. *)

type part = {
  title : string;
  claims : Claim.t list;
  charts : Results.t -> Chart.t list;
}

type t = { name : string; parts : part list }

(* Abbreviations for the modules of the papers. *)

let subject group case row = { Claim.group; case; row }

let prefixed prefix (c : Results.comparison) =
  String.starts_with ~prefix c.baseline.case
