(* The slides of "Retrofitting Effect Handlers onto OCaml". *)

open Paper

let any (_ : Results.row) = true

let steps =
  let at case = subject "effect" case "stdlib@stdlib" in
  let less says pairs = Claim.at_most 1. ~says pairs in
  {
    title = "The steps of an effect";
    claims =
      [
        less "Making the stack (a to b) is the dearest step"
          (List.map (fun case -> (at case, at "a-b")) [ "b-c"; "c-d"; "d-e" ]);
        less "Performing (b to c) takes less than continuing (c to d)"
          [ (at "b-c", at "c-d") ];
      ]
      @ List.map
          (fun (case, ns) ->
            Claim.figure ns "ns"
              ~says:
                (Printf.sprintf "The step %s takes at most the slides' %.0f ns"
                   case ns)
              [ at case ])
          [ ("a-b", 23.); ("b-c", 5.); ("c-d", 11.); ("d-e", 7.) ];
    charts =
      Chart.curves ~file:"effect-through" ~group:"effect" ~prefix:"through"
        ~x:"handlers of another effect in between" ~only:any;
  }

let generators =
  let at row = subject "generator" "tree" row in
  let claim limit says a b = Claim.at_most limit ~says [ (at a, at b) ] in
  {
    title = "Generators of a tree";
    claims =
      [
        claim 3.76
          "A generator written by hand takes at most 3.76 times as long as \
           iteration"
          "stdlib@hand-written" "stdlib@iterator";
        claim (1. /. 89.)
          "Node.js's iteration takes at most 1/89 (0.011) of its generator"
          "node@iterator" "node@generator";
        claim 9.3
          "A generator by effects takes at most 9.3 times as long as iteration"
          "concord@effects" "stdlib@iterator";
        claim 9.3 "Ours: so does one that runs ahead" "concord@effects-ahead"
          "stdlib@iterator";
        claim 1. "A generator by effects is faster than one of Node.js"
          "concord@effects" "node@generator";
        claim 1. "A generator written by hand is faster than one by effects"
          "stdlib@hand-written" "concord@effects";
      ];
    charts =
      Chart.times ~file:"generators" ~group:"generator" ~only:any
        [ ("tree", "one element of a tree") ];
  }

let web =
  let pairs peer (comparison : Results.comparison) =
    let rows = comparison.baseline :: comparison.others in
    let find name = List.find_opt (fun r -> Results.name r = name) rows in
    match (find "concord@aio", find peer) with
    | Some ours, Some theirs -> [ (ours, theirs) ]
    | _ -> []
  in
  let claim limit prefix says peer =
    Claim.of_comparisons limit ~says ~group:"web" ~case:(prefixed prefix)
      (pairs peer)
  in
  let curve figure scale =
    Chart.curves ~file:("web-" ^ figure)
      ~x:"requests due per second, 100 connections" ~group:"web" ~prefix:figure
      ~scale ~only:any
  in
  {
    title = "The web server";
    claims =
      List.concat_map
        (fun (who, peer) ->
          [
            claim (1. /. 0.95) "throughput"
              (Printf.sprintf
                 "The server over effects answers at least 0.95 of %s's \
                  requests"
                 who)
              peer;
            claim 1.05 "p99-"
              (Printf.sprintf "Its p99 is at most 1.05 of %s's, at each load"
                 who)
              peer;
          ])
        [ ("Lwt", "lwt@http"); ("Go", "go@go") ];
    charts =
      (fun results ->
        curve "answered" (1e3, "answered, thousands per second") results
        @ curve "p99" (1e3, "p99, ms since the request was due") results);
  }

let paper =
  {
    name = "Retrofitting Effect Handlers onto OCaml (slides)";
    parts = [ steps; generators; web ];
  }
