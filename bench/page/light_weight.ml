(* "Light Weight Concurrency in OCaml", section 6. *)

open Paper

let at case row = { Claim.group = "styles"; case; row = "concord@" ^ row }

(* [style] is at least [limit] times as good as each of [others]. *)
let against limit ~says ~case style others =
  Claim.at_least limit ~says
    (List.map (fun other -> (at case style, at case other)) others)

let both_pictures ~file ~caption ~x ~prefix results =
  let picture suffix only words =
    Picture.curves ~file:(file ^ suffix)
      ~caption:(Printf.sprintf "%s, %s" caption words)
      ~x ~group:"lwc" ~prefix ~only results
  in
  picture "" natively "native code."
  @ picture "-bytecode" in_bytecode "bytecode."

let side_by_side ~file ~caption cases results =
  let picture suffix only words =
    Picture.cases ~file:(file ^ suffix)
      ~caption:(Printf.sprintf "%s, %s" caption words)
      ~group:"styles" ~cases ~only results
  in
  picture "" natively "native code."
  @ picture "-bytecode" in_bytecode "bytecode."

let part ~title ~measured ~claimed ~cases ~prefixes ~claims ~pictures ~remarks =
  {
    title;
    measured;
    claimed;
    tables = [ ("styles", one_of cases); ("lwc", prefixed prefixes) ];
    printed = [];
    claims;
    pictures;
    remarks;
  }

let kpn =
  let case = "kpn" in
  part ~title:"Figure 10: kpn, time"
    ~measured:
      "A Kahn process network of 7 threads, which finds numbers; a figure is \
       for one number (styles) or for so many (lwc). On 1 domain."
    ~claimed:
      "callcc is notably slow, slower than system threads; the VM threads are \
       ten times as fast as it. The others are rather alike, trampolined style \
       a little ahead in bytecode."
    ~cases:[ case ] ~prefixes:[ "kpn-" ]
    ~claims:
      [
        against 1. ~case "threads" [ "callcc" ]
          ~says:"System threads are faster than callcc";
        against 0.5 ~case "promise"
          [ "trampoline"; "continuation"; "delimited" ]
          ~says:
            "The others are alike: promises take at most twice the time of each";
        against 1. ~case "trampoline-bytecode"
          [ "continuation-bytecode"; "promise-bytecode"; "events-bytecode" ]
          ~says:
            "In bytecode trampolined style is ahead of the other indirect ones";
      ]
    ~pictures:(fun results ->
      side_by_side ~file:"kpn" ~caption:"One number" [ case ] results
      @ both_pictures ~file:"kpn-curve" ~caption:"kpn" ~x:"numbers"
          ~prefix:"kpn" results)
    ~remarks:
      [
        "Our callcc is made by effects, not by copying stacks, and is \
         one-shot: hence the difference.";
      ]

let sieve =
  let case = "sieve-100" in
  part ~title:"Figure 11: sieve, time"
    ~measured:
      "A sieve that makes a thread for each prime; a figure is for one message \
       (styles) or for so many primes (lwc). On 1 domain."
    ~claimed:
      "equeue is much slower than system threads, as each event is offered to \
       every handler. System and VM threads are much slower than the light \
       ones, of which trampolined style is the fastest, the continuation monad \
       close; promises take twice as long, and callcc and dlcont twice as long \
       again in bytecode."
    ~cases:[ case; "sieve-1000" ] ~prefixes:[ "sieve-1"; "sieve-3" ]
    ~claims:
      [
        against 1. ~case "trampoline"
          [ "continuation"; "promise"; "events"; "delimited"; "callcc" ]
          ~says:"Trampolined style is the fastest";
        against 2. ~case "trampoline-bytecode" [ "promise-bytecode" ]
          ~says:"Promises take twice as long as trampolined style, in bytecode";
        against 1. ~case "promise-bytecode"
          [ "delimited-bytecode"; "callcc-bytecode" ]
          ~says:"Captured continuations are slower than promises, in bytecode";
        against 1. ~case "threads" [ "events" ]
          ~says:"System threads are faster than events";
      ]
    ~pictures:(fun results ->
      side_by_side ~file:"sieve" ~caption:"One message" [ case; "sieve-1000" ]
        results
      @ both_pictures ~file:"sieve-curve" ~caption:"sieve" ~x:"primes"
          ~prefix:"sieve" results)
    ~remarks:
      [
        "Our events go to the handler that waits for them, not to each in turn.";
      ]

let sorter =
  let case = "sorter-300" in
  part ~title:"Figure 12: sorter, time"
    ~measured:
      "A sorting network with a thread for each comparator: n (n - 1) / 2 of \
       them for n numbers. A figure is for one comparator (styles) or for all \
       (lwc). On 1 domain."
    ~claimed:
      "Trampolined style and the continuation monad are notably better than \
       the others, and promises always significantly slower than both. The VM \
       threads are very slow. 3000 numbers need 4.5 million threads, which the \
       light implementations handle."
    ~cases:[ case; "sorter-3000"; "sorter-300-young" ]
    ~prefixes:[ "sorter-1"; "sorter-3" ]
    ~claims:
      [
        against 1. ~case "trampoline"
          [ "promise"; "delimited"; "callcc" ]
          ~says:
            "Trampolined style is faster than promises and captured \
             continuations";
        against 1. ~case "continuation"
          [ "promise"; "delimited"; "callcc" ]
          ~says:
            "The continuation monad is faster than promises and captured \
             continuations";
      ]
    ~pictures:(fun results ->
      side_by_side ~file:"sorter" ~caption:"One comparator" [ case ] results
      @ both_pictures ~file:"sorter-curve" ~caption:"sorter" ~x:"numbers sorted"
          ~prefix:"sorter" results)
    ~remarks:
      [
        "System threads sort fewer numbers than the others, as the title of \
         the table says.";
      ]

let cheap_to_set_up ~case ~what =
  let claim style who =
    against 0.67 ~case style [ "trampoline" ]
      ~says:
        (Printf.sprintf "%s at most 1.5 times the trampoline's %s to set up" who
           what)
  in
  [
    claim "delimited" "Delimited continuations take";
    claim "callcc" "callcc takes";
  ]

let setup =
  let case = "sorter-setup" in
  part ~title:"Figure 13: sorter -d, time to set up"
    ~measured:"The threads of that network, spawned but not started."
    ~claimed:
      "dlcont and callcc are rather good here, as no continuation is captured."
    ~cases:[ case ]
    ~prefixes:[ "sorter-d-1"; "sorter-d-3" ]
    ~claims:(cheap_to_set_up ~case ~what:"time")
    ~pictures:(fun results ->
      side_by_side ~file:"sorter-setup" ~caption:"One thread" [ case ] results
      @ both_pictures ~file:"sorter-d-curve" ~caption:"sorter -d"
          ~x:"numbers sorted" ~prefix:"sorter-d" results)
    ~remarks:[]

let two_memories =
  "Resident bytes are by how much the process grew at its largest. The words \
   of the heap, which the paper measured, leave out the stacks of effects, \
   which are not in OCaml's heap."

(* The points of [curve] are in the group lwc. *)
let memory ~title ~measured ~claimed ~case ~curve claims =
  let curves = [ curve ^ "-resident"; curve ^ "-heap" ] in
  part ~title ~measured ~claimed ~cases:[ case ] ~prefixes:curves
    ~claims:(claims ~case)
    ~pictures:(fun results ->
      side_by_side ~file:case ~caption:"Bytes of a thread" [ case ] results
      @ List.concat_map
          (fun prefix ->
            both_pictures ~file:(prefix ^ "-curve") ~caption:prefix
              ~x:"size of the problem" ~prefix results)
          curves)
    ~remarks:[ two_memories ]

let less_than_others ~says ~case style =
  against 1. ~says ~case style [ "promise"; "events"; "delimited"; "callcc" ]

let sieve_memory =
  memory ~title:"Figures 14 and 16: sieve, memory" ~case:"sieve-bytes"
    ~curve:"sieve" ~measured:"What a thread of the sieve takes."
    ~claimed:
      "Trampolined style and the continuation monad are clearly the best; \
       dlcont is very good in native code." (fun ~case ->
      [
        less_than_others ~case "trampoline"
          ~says:"A thread in trampolined style takes least";
        less_than_others ~case "continuation"
          ~says:"One in the continuation monad takes less than the others";
      ])

let sorter_memory =
  memory ~title:"Figures 15 and 17: sorter, memory" ~case:"sorter-bytes"
    ~curve:"sorter" ~measured:"What a thread of the running network takes."
    ~claimed:
      "dlcont is much above the others; trampolined style and the continuation \
       monad are always below, by more when the threads run." (fun ~case ->
      [
        against 1. ~case "promise" [ "delimited" ]
          ~says:"Delimited continuations take more than promises";
        less_than_others ~case "trampoline"
          ~says:"A thread in trampolined style takes least";
      ])

let setup_memory =
  memory ~title:"Figure 18: sorter -d, memory" ~case:"sorter-setup-bytes"
    ~curve:"sorter-d"
    ~measured:"What a thread takes that is spawned but not started."
    ~claimed:"dlcont and callcc are quite good, as no continuation is captured."
    (cheap_to_set_up ~what:"memory")

let rest =
  {
    title = "Not in the paper: yields, spawning, the private MVar, kpn's memory";
    measured =
      "One yield among so many threads; one thread that is spawned, begins and \
       ends; one message through the paper's MVar and through the one that is \
       shared between libraries; the memory of kpn.";
    claimed =
      "Of kpn's memory: the same constant for all but callcc, which leaks; no \
       picture.";
    tables =
      [
        ( "styles",
          fun case -> prefixed [ "yield"; "spawn"; "mvar"; "kpn-bytes" ] case );
      ];
    printed = [];
    claims = [];
    pictures = (fun _ -> []);
    remarks = [];
  }

let paper =
  {
    name =
      "Light weight concurrency in OCaml: continuations, monads, promises, \
       events";
    machine =
      "There: Intel Core 2 Duo at 2.33 GHz, 2 GB, Linux 2.6.26, OCaml 3.11.2. \
       The names there and here: tramp, trampoline; cont, continuation; \
       promise, promise; equeue, events; dlcont, delimited; callcc, callcc; \
       sys, threads; vm: bytecode's, which OCaml 5 does not have.";
    parts =
      [
        kpn;
        sieve;
        sorter;
        setup;
        sieve_memory;
        sorter_memory;
        setup_memory;
        rest;
      ];
  }
