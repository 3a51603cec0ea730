(* The slides of "Retrofitting Effect Handlers onto OCaml". *)

open Paper

let subject group case row = { Claim.group; case; row }

let steps =
  let at case = subject "effect" case "stdlib@stdlib" in
  let printed case ns =
    {
      Picture.subject = at case;
      value = ns;
      text = Printf.sprintf "%.0f ns" ns;
    }
  in
  let cases = [ "a-b"; "b-c"; "c-d"; "d-e" ] in
  let printed =
    [ printed "a-b" 23.; printed "b-c" 5.; printed "c-d" 11.; printed "d-e" 7. ]
  in
  {
    title = "The steps of an effect";
    measured =
      "A handler is installed (a), the computation begins on a stack of its \
       own (b) and performs an effect, the handler (c) continues it, it goes \
       on (d) and returns (e): alone, and as a task that is forked, suspends, \
       is resumed and ends. On 1 domain.";
    claimed =
      "The four steps take 23, 5, 11 and 7 ns, by the processor's own tracing; \
       a read from memory takes 90 ns there.";
    tables = [ ("effect", one_of cases) ];
    printed;
    claims =
      [
        Claim.at_least 1. ~says:"Making the stack (a to b) is the dearest step"
          (List.map (fun case -> (at case, at "a-b")) (List.tl cases));
        Claim.at_least 1.
          ~says:"Continuing (c to d) is dearer than performing (b to c)"
          [ (at "b-c", at "c-d") ];
      ];
    pictures =
      Picture.cases ~file:"effect-steps" ~group:"effect" ~cases ~printed
        ~caption:
          "The steps, alone (stdlib), as the slides give them, and of tasks.";
    remarks =
      [
        "A step is shorter than a reading of the clock: alone, 64 of them are \
         taken in a row. What a host does between two steps is measured one by \
         one, less the reading.";
      ];
  }

let handlers =
  {
    title = "Handlers of another effect in between";
    measured =
      "An effect is performed and continued, and a task suspended and resumed, \
       below so many handlers of another effect. On 1 domain.";
    claimed =
      "Not on the slides; it shows what the search for the handler costs.";
    tables = [ ("effect", prefixed [ "through-" ]) ];
    printed = [];
    claims = [];
    pictures =
      Picture.curves ~file:"effect-through" ~group:"effect" ~prefix:"through"
        ~x:"handlers in between"
        ~caption:
          "One suspension, over the number of handlers between the task and \
           its host.";
    remarks =
      [
        "On Eio and Domainslib a suspension performs two effects, so that each \
         handler is passed twice.";
      ];
  }

let generators =
  let at row = subject "generator" "tree" row in
  (* 2^25 - 1 elements *)
  let printed row ms text =
    {
      Picture.subject = at row;
      value = ms *. 1e6 /. float_of_int ((1 lsl 25) - 1);
      text;
    }
  in
  let printed =
    [
      printed "stdlib@iterator" 202. "202 ms";
      printed "stdlib@hand-written" 837. "837 ms (3.76x, as printed)";
      printed "concord@effects" 1879. "1879 ms (9.30x)";
      printed "node@iterator" 492. "492 ms";
      printed "node@generator" 43842. "43842 ms (89.1x)";
    ]
  in
  let no_dearer times row base =
    Claim.at_least (1. /. times) [ (at row, at base) ]
  in
  {
    title = "Generators of a tree";
    measured =
      "One element of a complete binary tree of depth 25, on 1 domain: by \
       plain iteration, by a generator written by hand, by Seq, by effects, \
       and in Node.js.";
    claimed =
      "A generator made by effects takes 9.3 times as long as plain iteration, \
       where one of Node.js takes 89 times as long as iteration there.";
    tables = [ ("generator", any) ];
    printed;
    claims =
      [
        no_dearer 9.3 "concord@effects" "stdlib@iterator"
          ~says:
            "A generator by effects takes at most 9.3 times as long as \
             iteration";
        no_dearer 9.3 "concord@effects-ahead" "stdlib@iterator"
          ~says:
            "A generator that runs ahead takes at most 9.3 times as long as \
             iteration (ours, not on the slides)";
        Claim.at_least 1.
          ~says:"A generator by effects is faster than one of Node.js"
          [ (at "concord@effects", at "node@generator") ];
        Claim.at_least 1.
          ~says:"A generator written by hand is faster than one by effects"
          [ (at "stdlib@hand-written", at "concord@effects") ];
      ];
    pictures =
      Picture.cases ~file:"generators" ~group:"generator" ~cases:[ "tree" ]
        ~printed
        ~caption:
          "One element; the slides give the whole traversal, here divided by \
           its elements.";
    remarks =
      [
        "The slides' figures are in milliseconds for the whole tree, of which \
         the quotient 837 / 202 is 4.14 and not 3.76.";
      ];
  }

let web =
  let at case row = subject "web" case row in
  let cases = [ "throughput-100"; "throughput-1000"; "p99-100"; "p99-1000" ] in
  {
    title = "The web server";
    measured =
      "A greeting over HTTP, by servers of 1 domain, to 100 and 1000 \
       connections: requests answered to wrk, and the p99 of the time since a \
       request was due at a constant rate.";
    claimed =
      "A server in direct style over effects keeps up with Lwt's and with \
       Go's. The slides draw it (throughput and tail latency by wrk2); their \
       text gives no figures.";
    tables = [ ("web", any) ];
    printed = [];
    claims =
      [
        Claim.at_least 0.95
          ~says:
            "The server over effects answers at least 95 % of the requests \
             that Lwt's does"
          [
            (at "throughput-100" "concord@aio", at "throughput-100" "lwt@http");
            (at "throughput-1000" "concord@aio", at "throughput-1000" "lwt@http");
          ];
        Claim.at_least 0.95
          ~says:
            "The server over effects answers at least 95 % of the requests \
             that Go's does"
          [
            (at "throughput-100" "concord@aio", at "throughput-100" "go@go");
            (at "throughput-1000" "concord@aio", at "throughput-1000" "go@go");
          ];
        Claim.at_least 0.95
          ~says:
            "The p99 of the server over effects is at most 5 % above the one \
             of Lwt's server"
          (List.map
             (fun case -> (at case "concord@aio", at case "lwt@http"))
             [ "p99-100"; "p99-1000" ]);
      ];
    pictures =
      (fun results ->
        let picture file caption cases =
          Picture.cases ~file ~caption ~group:"web" ~cases results
        in
        picture "web-throughput" "Requests per second: more is better."
          (List.filter (prefixed [ "throughput" ]) cases)
        @ picture "web-p99" "p99, in microseconds: less is better."
            (List.filter (prefixed [ "p99" ]) cases));
    remarks =
      [
        "wrk and the load run on the same machine and take a part of its cores.";
      ];
  }

let paper =
  {
    name = "Retrofitting effect handlers onto OCaml (the slides)";
    machine =
      "There: Intel Xeon Gold 5120 at 2.2 GHz, Multicore OCaml, Node.js 14.07.";
    parts = [ steps; handlers; generators; web ];
  }
