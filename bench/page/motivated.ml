(* What "Effectively Composing Concurrency Libraries" motivates and does not measure. *)

open Paper

let subject group case row = { Claim.group; case; row }

let search =
  {
    title = "Section 1: a search that is cancelled";
    measured =
      "A depth-first search on several domains, whose other searchers are \
       cancelled when one has found what is sought: until the answer is there \
       and all have ended.";
    claimed = "Such a search needs cancellation; it was not measured.";
    tables = [ ("search", any) ];
    printed = [];
    claims =
      [
        Claim.at_least 1.
          ~says:"A search that is cancelled ends before one that is not"
          (List.map
             (fun host ->
               ( subject "search" "search" ("concord@" ^ host),
                 subject "search" "search" "uncancelled@domain" ))
             [ "fifo"; "domainslib" ]);
      ];
    pictures =
      Picture.cases ~file:"search" ~group:"search" ~cases:[ "search" ]
        ~caption:"One search.";
    remarks = [];
  }

let bridge =
  let cases = [ "round-trip"; "eio-to-lwt"; "lwt-to-eio"; "both-ways" ] in
  let faster ~says peer =
    Claim.at_least 1. ~says
      (List.map
         (fun case ->
           ( subject "bridge" case "concord-mvar@eio-lwt",
             subject "bridge" case peer ))
         cases)
  in
  let lwt case row = subject "lwt" case (row ^ "@eio-lwt") in
  {
    title = "Section 5: Lwt on one domain, Eio on others";
    measured =
      "Messages between one domain of Lwt and one of Eio: through Concord's \
       structures, through pipes, through an inbox made by hand (naive), and \
       with Lwt_eio on one domain where it is installed.";
    claimed =
      "A bridge from Lwt to Eio on one domain cannot use the others. It was \
       not measured.";
    tables = [ ("bridge", any); ("lwt", any) ];
    printed = [];
    claims =
      [
        faster "pipe@eio-lwt" ~says:"An MVar is faster than a pipe";
        faster "pipe-buffered@eio-lwt"
          ~says:"An MVar is faster than a pipe through buffers";
        Claim.at_least 1.
          ~says:"A structure is faster than an inbox made by hand"
          (List.map
             (fun case -> (lwt case "concord", lwt case "naive"))
             [ "eio-to-lwt"; "lwt-to-eio" ]);
      ];
    pictures =
      (fun results ->
        Picture.cases ~file:"bridge" ~group:"bridge" ~cases
          ~caption:"One message, or one round trip." results
        @ Picture.ratios ~group:"lwt" results);
    remarks = [];
  }

let lazy_values =
  let at case row = subject "lazy" case row in
  {
    title = "Section 6: lazy values";
    measured =
      "A lazy value that is already forced, that is forced for the first time, \
       and for which so many tasks wait.";
    claimed =
      "A lock around a lazy value has to be paid for each time, also when it \
       is forced already; a lazy value that suspends need not be locked. \
       Nothing was measured.";
    tables = [ ("lazy", any) ];
    printed = [];
    claims =
      [
        Claim.at_least 1.
          ~says:"A forced lazy value is cheaper than one behind a mutex"
          [ (at "forced" "concord@domain", at "forced" "stdlib-mutex@domain") ];
        Claim.at_least 1.
          ~says:
            "Forcing a lazy value for the first time is cheaper than behind a \
             mutex"
          [
            ( at "first-force" "concord@domain",
              at "first-force" "stdlib-mutex@domain" );
          ];
      ];
    pictures = Picture.ratios ~group:"lazy";
    remarks = [];
  }

let parts = [ search; bridge; lazy_values ]
