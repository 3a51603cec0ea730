open Concord_bench

let claims =
  List.concat_map
    (fun (paper : Paper.t) ->
      List.concat_map (fun (part : Paper.part) -> part.claims) paper.parts)
    Papers.all

let is_undecided ?(claims = claims) group measured =
  let run : Results.run =
    {
      machine = "";
      date = "";
      command = "";
      effort = "";
      versions = [];
      left_out = [];
      rows = Results.of_measured [ (group, measured) ];
    }
  in
  let needs =
    List.concat_map (fun (claim : Claim.t) -> claim.findings [ run ]) claims
    |> List.concat_map (fun (f : Claim.finding) -> f.needs)
  in
  fun (row : Case.row) ->
    List.exists
      (fun (r : Results.row) -> r.impl = row.impl && r.host = row.host)
      needs
