(* "Light Weight Concurrency in OCaml", section 6. *)

open Paper

(* [style] takes at most [limit] times as long as each of [others]. *)
let claim limit says ?(in_bytecode = false) case style others =
  let suffix = if in_bytecode then "-bytecode" else "" in
  let at style = subject "styles" case ("concord@" ^ style ^ suffix) in
  Claim.at_most limit
    ~says:(says ^ if in_bytecode then ", bytecode" else "")
    (List.map (fun other -> (at style, at other)) others)

let faster = claim 1.
let direct = [ "delimited"; "callcc" ]

let natively (row : Results.row) =
  not (String.ends_with ~suffix:"-bytecode" row.host)

(* Figure 13 is the only one where bytecode is sometimes faster. *)
let bytecode_against_native ~says cases styles limit =
  let at style case = subject "styles" case ("concord@" ^ style) in
  Claim.apart limit ~says
    (List.concat_map
       (fun case ->
         List.map
           (fun style ->
             ( Claim.Row (at (style ^ "-bytecode") case),
               Claim.Row (at style case) ))
           styles)
       cases)

let styles =
  [ "trampoline"; "continuation"; "promise"; "events"; "delimited"; "callcc" ]

let but style = List.filter (( <> ) style) styles

let times =
  {
    title = "Figures 10 to 13: time";
    claims =
      [
        faster "kpn: system threads are faster than callcc" "kpn" "threads"
          [ "callcc" ];
        claim 2. "kpn: promises take at most twice as long as the others" "kpn"
          "promise"
          [ "trampoline"; "continuation"; "events"; "delimited" ];
        faster ~in_bytecode:true
          "kpn: the trampoline is ahead of the other indirect styles" "kpn"
          "trampoline"
          [ "continuation"; "promise"; "events" ];
        claim 1.05 ~in_bytecode:true
          "kpn: dlcont takes at most 1.05 of promises and equeue" "kpn"
          "delimited" [ "promise"; "events" ];
        faster "kpn: promises and equeue are faster than dlcont" "kpn" "promise"
          [ "delimited" ];
        faster "sieve: the trampoline is the fastest" "sieve-100" "trampoline"
          ([ "continuation"; "promise"; "events" ] @ direct);
        claim 1.25 "sieve: the continuation monad is at most 1.25 times it"
          "sieve-100" "continuation" [ "trampoline" ];
        claim 0.5 ~in_bytecode:true
          "sieve: the trampoline takes half of what promises take" "sieve-100"
          "trampoline" [ "promise" ];
        claim 0.5 ~in_bytecode:true
          "sieve: promises take half of what captured continuations take"
          "sieve-100" "promise" direct;
        faster "sieve: promises are faster than dlcont" "sieve-100" "promise"
          [ "delimited" ];
        faster "sieve: system threads are faster than equeue" "sieve-100"
          "threads" [ "events" ];
        faster "sieve: all styles are faster than system threads" "sieve-100"
          "events" [ "threads" ];
        faster "sorter: the trampoline is faster than promises and captures"
          "sorter-300" "trampoline" ("promise" :: direct);
        faster
          "sorter: the continuation monad is faster than promises and captures"
          "sorter-300" "continuation" ("promise" :: direct);
        claim 1.5 "sorter -d: dlcont takes at most 1.5 times the trampoline"
          "sorter-setup" "delimited" [ "trampoline" ];
        claim 1.5 "sorter -d: callcc takes at most 1.5 times the trampoline"
          "sorter-setup" "callcc" [ "trampoline" ];
        Claim.at_most 1.
          ~says:
            "sorter: callcc is the slowest by far (it made the system thrash)"
          (List.map
             (fun other ->
               ( subject "styles" "sorter-300" ("concord@" ^ other),
                 subject "styles" "sorter-300" "concord@callcc" ))
             (but "callcc"));
        bytecode_against_native [ "sorter-setup" ] styles 1.
          ~says:"sorter -d: bytecode is faster than native code";
        faster "Conclusion: the trampoline is the lightest, kpn" "kpn"
          "trampoline" (but "trampoline");
        faster "Conclusion: the trampoline is the lightest, sieve" "sieve-100"
          "trampoline" (but "trampoline");
        faster "Conclusion: the trampoline is the lightest, sorter" "sorter-300"
          "trampoline" (but "trampoline");
        Claim.not_measured
          ~says:"VM threads are faster than system threads and than callcc"
          "OCaml 5 has no VM threads";
      ];
    charts =
      Chart.times ~file:"styles" ~group:"styles"
        ~only:(fun row -> natively row && row.host <> "threads")
        (List.map
           (fun case -> (case, case))
           [ "kpn"; "sieve-100"; "sorter-300"; "sorter-setup"; "spawn" ]);
  }

let memory =
  let in_bytecode = true in
  let captures_and_promises = [ "promise"; "delimited"; "callcc" ] in
  {
    title = "Figures 14 to 18: memory";
    claims =
      [
        Claim.at_most 1.
          ~says:"kpn: callcc leaks, so it takes more memory than all others"
          (List.map
             (fun other ->
               ( subject "styles" "kpn-bytes" ("concord@" ^ other),
                 subject "styles" "kpn-bytes" "concord@callcc" ))
             (but "callcc"));
        faster "Conclusion: the trampoline takes the least memory, kpn"
          "kpn-bytes" "trampoline" (but "trampoline");
        faster ~in_bytecode "Figure 14, sieve: the trampoline takes least"
          "sieve-bytes" "trampoline" captures_and_promises;
        faster ~in_bytecode
          "Figure 14, sieve: the continuation monad takes less than the rest"
          "sieve-bytes" "continuation" captures_and_promises;
        faster "Figure 16, sieve: the trampoline takes less than all but dlcont"
          "sieve-bytes" "trampoline"
          [ "promise"; "events"; "callcc" ];
        faster
          "Figure 16, sieve: the continuation monad takes less than all but \
           dlcont"
          "sieve-bytes" "continuation"
          [ "promise"; "events"; "callcc" ];
        claim 1.05
          "Figure 16, sieve: dlcont takes at most 1.05 of the trampoline"
          "sieve-bytes" "delimited" [ "trampoline" ];
        claim 0.67 ~in_bytecode
          "Figure 15, sorter: promises take at most 0.67 of dlcont"
          "sorter-bytes" "promise" [ "delimited" ];
        faster ~in_bytecode "Figure 17, sorter: the trampoline takes least"
          "sorter-bytes" "trampoline"
          ([ "promise"; "events" ] @ direct);
        faster ~in_bytecode
          "Figure 17, sorter: the continuation monad takes less than the rest"
          "sorter-bytes" "continuation"
          ([ "promise"; "events" ] @ direct);
        claim 1.5 ~in_bytecode
          "Figure 18, sorter -d: dlcont takes at most 1.5 times the trampoline"
          "sorter-setup-bytes" "delimited" [ "trampoline" ];
        claim 1.5 ~in_bytecode
          "Figure 18, sorter -d: callcc takes at most 1.5 times the trampoline"
          "sorter-setup-bytes" "callcc" [ "trampoline" ];
      ];
    charts =
      Chart.times ~file:"styles-bytes" ~group:"styles"
        ~only:(fun row -> natively row && row.host <> "threads")
        (List.map
           (fun case -> (case, case))
           [ "kpn-bytes"; "sieve-bytes"; "sorter-bytes"; "sorter-setup-bytes" ]);
  }

let paper =
  { name = "Light Weight Concurrency in OCaml"; parts = [ times; memory ] }
