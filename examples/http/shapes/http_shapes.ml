open Http_cases

type server = { page : string; post : string; posted : int }

type step =
  | Send of string
  | Trickle of string  (** Each byte alone. *)
  | Get of int  (** Receives an answer with this status. *)
  | Head of int  (** The same, for HEAD: nothing follows the headers. *)
  | Silent  (** No answer comes. *)
  | Closed  (** The server has closed the connection. *)

(* Unless a shape ends with [Closed], the server still has to understand the next request of the
   same connection. So nothing is left over, and nothing is missing. *)
type shape = { name : string; steps : step list }

let shape name steps = { name; steps }

(* --- The texts --- *)

let request ?(meth = "GET") ?(version = "1.1") ?(host = "Host: test\r\n") target
    headers =
  let line name = name ^ "\r\n" in
  Printf.sprintf "%s %s HTTP/%s\r\n%s%s\r\n" meth target version host
    (String.concat "" (List.map line headers))

let chunked = "Transfer-Encoding: chunked"
let length n = Printf.sprintf "Content-Length: %d" n
let times n text = String.concat "" (List.init n (fun _ -> text))
let refused name status text = shape name [ Send text; Get status; Closed ]

(* --- The families --- *)

let framing { page; post; posted } =
  let get = request page in
  let bad value = refused value 400 (get [ "Content-Length: " ^ value ]) in
  [
    shape "no body" [ Send (get []); Get 200 ];
    shape "an empty body" [ Send (get [ length 0 ]); Get 200 ];
    shape "a body"
      [ Send (request ~meth:"POST" post [ length 2 ] ^ "10"); Get posted ];
    shape "zeros before the length"
      [
        Send (request ~meth:"POST" post [ "Content-Length: 0002" ] ^ "10");
        Get posted;
      ];
    shape "spaces around the length"
      [
        Send (request ~meth:"POST" post [ "Content-Length:  2 " ] ^ "10");
        Get posted;
      ];
    bad "-1";
    bad "+2";
    bad "0x2";
    bad "1_0";
    bad "2 2";
    bad "2, 2";
    bad "2;";
    bad "2.0";
    bad "1e1";
    bad "two";
    bad "";
    refused "-1 with a body" 400
      (request ~meth:"POST" post [ "Content-Length: -1" ] ^ "10");
  ]

(* Two programs could see two requests where one is meant, or one where two are meant. *)
let smuggling { page; _ } =
  let get ?version headers = request ?version page headers in
  let hidden = request "/nothing" [] in
  let end_of_body = "0\r\n\r\n" in
  let coding ?(status = 501) value =
    refused
      ("coding: " ^ String.escaped value)
      status
      (get [ "Transfer-Encoding:" ^ value ] ^ end_of_body ^ hidden)
  in
  [
    shape "the body of a GET is a request"
      [ Send (get [ length (String.length hidden) ] ^ hidden); Get 200 ];
    shape "the chunk of a GET is a request"
      [
        Send
          (get [ chunked ]
          ^ Printf.sprintf "%x\r\n%s\r\n" (String.length hidden) hidden
          ^ end_of_body);
        Get 200;
      ];
    refused "a length and a coding" 400
      (get [ length 5; chunked ] ^ end_of_body ^ hidden);
    refused "a coding and a length" 400
      (get [ chunked; length 5 ] ^ end_of_body ^ hidden);
    refused "a length of 0 and a coding" 400
      (get [ length 0; chunked ] ^ end_of_body);
    refused "two lengths" 400 (get [ length 0; length 5 ] ^ "hello");
    refused "one length twice" 400 (get [ length 5; length 5 ] ^ "hello");
    refused "two codings" 400 (get [ chunked; chunked ] ^ end_of_body);
    refused "two codings, one unknown" 400
      (get [ chunked; "Transfer-Encoding: identity" ] ^ end_of_body);
    coding " xchunked";
    coding " chunkedx";
    coding " identity";
    coding " gzip";
    coding " gzip, chunked";
    coding " chunked, chunked";
    coding " chunked, identity";
    coding " chunked;q=1";
    coding " \"chunked\"";
    coding "";
    coding ~status:400 "\011chunked";
    coding ~status:400 " chunked\000";
    coding ~status:400 "\r\n chunked";
    refused "a space after the name" 400
      (get [ "Transfer-Encoding : chunked" ] ^ end_of_body);
    refused "a space before the name" 400
      (get [ " Transfer-Encoding: chunked" ] ^ end_of_body);
    refused "a NUL in the name" 400 (get [ "Content-Length\000: 5" ] ^ "hello");
    refused "HTTP/1.0 with a coding" 400
      (get ~version:"1.0" [ chunked ] ^ end_of_body);
    refused "line feeds alone" 400
      (Printf.sprintf "GET %s HTTP/1.1\nHost: test\n\n" page);
    refused "one line feed alone" 400
      (Printf.sprintf "GET %s HTTP/1.1\r\nHost: test\nX: y\r\n\r\n" page);
    refused "a return alone" 400 (get [ "X: a\rContent-Length: 5" ] ^ "hello");
  ]

let chunking { page; post; posted } =
  let send body = Send (request ~meth:"POST" post [ chunked ] ^ body) in
  let right name body = shape name [ send body; Get posted ] in
  let wrong ?(status = 400) name body =
    shape name [ send body; Get status; Closed ]
  in
  [
    right "one chunk" "2\r\n10\r\n0\r\n\r\n";
    right "two chunks" "1\r\n1\r\n1\r\n0\r\n0\r\n\r\n";
    right "zeros before the size" "0002\r\n10\r\n000\r\n\r\n";
    right "an extension" "2;a=b\r\n10\r\n0;c\r\n\r\n";
    right "a trailer" "2\r\n10\r\n0\r\nX: y\r\n\r\n";
    shape "digits of both cases"
      [
        Send (request page [ chunked ]);
        Send "A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n";
        Get 200;
      ];
    shape "the coding in upper case"
      [
        Send
          (request page [ "Transfer-Encoding: CHUNKED" ] ^ "1\r\na\r\n0\r\n\r\n");
        Get 200;
      ];
    wrong "no size" "\r\n10\r\n0\r\n\r\n";
    wrong "no digit" "xyz\r\n";
    wrong "a sign" "+2\r\n10\r\n0\r\n\r\n";
    wrong "a negative size" "-2\r\n10\r\n0\r\n\r\n";
    wrong "a prefix" "0x2\r\n10\r\n0\r\n\r\n";
    wrong "an underscore" "0_2\r\n10\r\n0\r\n\r\n";
    wrong "a space before" " 2\r\n10\r\n0\r\n\r\n";
    wrong "a space after" "2 \r\n10\r\n0\r\n\r\n";
    wrong "a word after" "2 x\r\n10\r\n0\r\n\r\n";
    wrong "too much data" "1\r\n10\r\n0\r\n\r\n";
    wrong "too little data" "3\r\n10\r\n0\r\n\r\n";
    wrong "line feeds alone" "2\n10\n0\n\n";
    wrong "a line feed alone after the data" "2\r\n10\n0\r\n\r\n";
    wrong ~status:413 "a huge size" "fffffffffffffff\r\n";
    wrong "a size that overflows" "fffffffffffffffff\r\n";
    wrong "a size that overflows to 2" "10000000000000002\r\n10\r\n0\r\n\r\n";
    wrong "a trailer without a colon" "2\r\n10\r\n0\r\nhello\r\n\r\n";
    wrong "a folded trailer" "2\r\n10\r\n0\r\nX: y\r\n z\r\n\r\n";
    wrong "a long extension" ("2;" ^ String.make 9000 'x' ^ "\r\n");
  ]

let headers { page; _ } =
  let get ?host ?version headers = request ?host ?version page headers in
  let wrong ?host name headers = refused name 400 (get ?host headers) in
  [
    shape "spaces and tabs around a value"
      [ Send (get [ "X:\t y \t" ]); Get 200 ];
    shape "an empty value" [ Send (get [ "X:" ]); Get 200 ];
    shape "the same name twice" [ Send (get [ "X: y"; "X: z" ]); Get 200 ];
    wrong "no colon" [ "hello" ];
    wrong "no name" [ ": x" ];
    wrong "a space in a name" [ "X Y: z" ];
    wrong "a space after a name" [ "X : y" ];
    wrong "a bracket in a name" [ "X(: y" ];
    wrong "a folded value" [ "X: y"; " z" ];
    wrong "a NUL" [ "X: \000" ];
    wrong "a control character" [ "X: \001" ];
    wrong "a DEL" [ "X: \127" ];
    wrong "no Host" ~host:"" [];
    wrong "two Hosts" [ "Host: other" ];
    wrong "a Host with a space" ~host:"Host: a b\r\n" [];
    wrong "a Host with a user" ~host:"Host: a@b\r\n" [];
    wrong "a Host with a path" ~host:"Host: a/b\r\n" [];
    shape "HTTP/1.0 without Host"
      [
        Send (get ~host:"" ~version:"1.0" [ "Connection: keep-alive" ]); Get 200;
      ];
  ]

let request_lines { page; _ } =
  let wrong ?(status = 400) name line =
    refused name status (line ^ "\r\nHost: test\r\n\r\n")
  in
  [
    shape "an empty line before" [ Send ("\r\n" ^ request page []); Get 200 ];
    shape "a whole URL" [ Send (request ("http://test" ^ page) []); Get 200 ];
    wrong "no version" ("GET " ^ page);
    wrong "a method alone" "GET";
    wrong "no target" "GET  HTTP/1.1";
    wrong "two spaces" (Printf.sprintf "GET  %s HTTP/1.1" page);
    wrong "a space in the target" (Printf.sprintf "GET %s x HTTP/1.1" page);
    wrong "a tab" (Printf.sprintf "GET\t%s\tHTTP/1.1" page);
    wrong "a space before" (Printf.sprintf " GET %s HTTP/1.1" page);
    wrong "a bracket in the method" (Printf.sprintf "G(T %s HTTP/1.1" page);
    wrong "HTTP/2.0" (Printf.sprintf "GET %s HTTP/2.0" page);
    wrong "HTTP/1.1x" (Printf.sprintf "GET %s HTTP/1.1x" page);
    wrong "HTTP/11" (Printf.sprintf "GET %s HTTP/11" page);
    wrong "http/1.1" (Printf.sprintf "GET %s http/1.1" page);
    wrong "a word" "hello";
    wrong "control characters" "\022\003\001\002\000\001\000\001\252\003\003";
    refused "two empty lines" 400 "\r\n\r\n";
  ]

let expectations { page; post; posted } =
  let go_on = "Expect: 100-continue" in
  let post ?version headers = request ?version ~meth:"POST" post headers in
  [
    shape "a body that waits"
      [ Send (post [ go_on; length 2 ]); Get 100; Send "10"; Get posted ];
    shape "chunks that wait"
      [
        Send (post [ "Expect: 100-Continue"; chunked ]);
        Get 100;
        Send "2\r\n10\r\n0\r\n\r\n";
        Get posted;
      ];
    shape "no body" [ Send (request page [ go_on ]); Get 200 ];
    shape "HTTP/1.0"
      [
        Send
          (post ~version:"1.0" [ go_on; length 2; "Connection: keep-alive" ]
          ^ "10");
        Get posted;
      ];
    refused "a body that is too large" 413 (post [ go_on; length 70_000 ]);
    refused "no length" 400 (post [ go_on; "Content-Length: -1" ]);
    refused "an unknown expectation" 417 (post [ "Expect: x"; length 2 ]);
    refused "one more" 417 (post [ go_on ^ ", x"; length 2 ]);
  ]

let pipelining { page; post; posted } =
  let get ?version headers = request ?version page headers in
  let post = request ~meth:"POST" post [ length 2 ] ^ "10" in
  [
    shape "two" [ Send (get [] ^ get []); Get 200; Get 200 ];
    shape "a body between"
      [
        Send (get [] ^ post ^ get [] ^ post);
        Get 200;
        Get posted;
        Get 200;
        Get posted;
      ];
    shape "an unknown page between"
      [
        Send (get [] ^ request "/nothing" [] ^ get []);
        Get 200;
        Get 404;
        Get 200;
      ];
    shape "a malformed one behind"
      [ Send (get [] ^ "hello\r\n\r\n" ^ get []); Get 200; Get 400; Closed ];
    shape "one behind the last"
      [ Send (get [ "Connection: close" ] ^ get []); Get 200; Closed ];
    shape "close among others"
      [ Send (get [ "Connection: x, CLOSE" ]); Get 200; Closed ];
    shape "HTTP/1.0" [ Send (get ~version:"1.0" []); Get 200; Closed ];
    shape "HTTP/1.0, keep-alive"
      [ Send (get ~version:"1.0" [ "Connection: Keep-Alive" ]); Get 200 ];
  ]

let limits { page; _ } =
  let get headers = request page headers in
  [
    shape "a long header"
      [ Send (get [ "X: " ^ String.make 7000 'x' ]); Get 200 ];
    refused "a header that is too long" 431
      (get [ "X: " ^ String.make 9000 'x' ]);
    refused "too many headers" 431 (get (List.init 1200 (fun _ -> "X: xxx")));
    refused "a target that is too long" 431
      (request (page ^ "?" ^ String.make 9000 'x') []);
    refused "no end of line" 431 (String.make 9000 'x');
    shape "a large body"
      [ Send (get [ length 65_536 ] ^ String.make 65_536 'x'); Get 200 ];
    refused "a body that is too large" 413 (get [ length 65_537 ]);
    refused "a length that overflows" 413
      (get [ "Content-Length: 18446744073709551618" ] ^ "10");
    refused "chunks that are too large" 413
      (get [ chunked ] ^ times 20 ("1000\r\n" ^ String.make 4096 'x' ^ "\r\n"));
  ]

let partial { page; post; posted } =
  let get = request page [] in
  let post headers = request ~meth:"POST" post headers in
  let i = String.length get - 3 in
  let left = String.sub get 0 i
  and right = String.sub get i (String.length get - i) in
  [
    shape "byte by byte" [ Trickle get; Get 200 ];
    shape "a body, byte by byte"
      [ Trickle (post [ length 2 ] ^ "10"); Get posted ];
    shape "chunks, byte by byte"
      [
        Trickle (post [ chunked ] ^ "1\r\n1\r\n1\r\n0\r\n0\r\n\r\n"); Get posted;
      ];
    shape "in the middle of a line end"
      [ Send left; Silent; Send right; Get 200 ];
    shape "a body that comes later"
      [
        Send (post [ length 2 ]); Silent; Send "1"; Silent; Send "0"; Get posted;
      ];
    shape "a head and a half"
      [ Send (get ^ left); Get 200; Silent; Send right; Get 200 ];
  ]

let heads { page; _ } =
  let head ?(target = page) headers = request ~meth:"HEAD" target headers in
  let hidden = request "/nothing" [] in
  [
    shape "a HEAD" [ Send (head []); Head 200 ];
    shape "a HEAD before a GET"
      [ Send (head [] ^ request page []); Head 200; Get 200 ];
    shape "an unknown page" [ Send (head ~target:"/nothing" []); Head 404 ];
    shape "the body of a HEAD is a request"
      [ Send (head [ length (String.length hidden) ] ^ hidden); Head 200 ];
    shape "the chunk of a HEAD is a request"
      [
        Send
          (head [ chunked ]
          ^ Printf.sprintf "%x\r\n%s\r\n0\r\n\r\n" (String.length hidden) hidden
          );
        Head 200;
      ];
    shape "the last HEAD"
      [ Send (head [ "Connection: close" ]); Head 200; Closed ];
  ]

let quick server =
  [
    ("framing", framing server);
    ("smuggling", smuggling server);
    ("chunking", chunking server);
    ("headers", headers server);
    ("request lines", request_lines server);
    ("expectations", expectations server);
    ("pipelining", pipelining server);
    ("limits", limits server);
    ("partial delivery", partial server);
    ("HEAD", heads server);
  ]

(* The server's limit is short. *)
let slow { page; post; _ } =
  let post headers = request ~meth:"POST" post headers in
  let late name text = shape name [ Send text; Get 408; Closed ] in
  [
    late "one byte" "G";
    late "half a head" (Printf.sprintf "GET %s HTTP/1.1\r\nHost: te" page);
    late "no body" (post [ length 2 ]);
    late "half a body" (post [ length 2 ] ^ "1");
    late "no chunk" (post [ chunked ]);
    late "half a chunk" (post [ chunked ] ^ "5\r\nhe");
    late "no last chunk" (post [ chunked ] ^ "2\r\n10\r\n");
    late "no end of the trailers" (post [ chunked ] ^ "2\r\n10\r\n0\r\n");
    ( late "the second request" (request page [] ^ "G") |> fun { name; steps } ->
      { name; steps = List.hd steps :: Get 200 :: List.tl steps } );
  ]

(* --- Running them --- *)

let perform client name step =
  match step with
  | Send text -> Raw.send client text
  | Trickle text ->
      String.iter (fun c -> Raw.send client (String.make 1 c)) text
  | Get status -> Alcotest.(check int) name status (Raw.receive client).status
  | Head status ->
      Alcotest.(check int)
        name status (Raw.receive ~head_only:true client).status
  | Silent -> Raw.check_silent client
  | Closed -> Raw.check_closed client

let check port ~page { name; steps } =
  let client = Raw.connect port in
  List.iter (perform client name) steps;
  if not (List.mem Closed steps) then begin
    Raw.send client (request page [ "Connection: close" ]);
    Alcotest.(check int) (name ^ ", next") 200 (Raw.receive client).status;
    Raw.check_closed client
  end

(* A client may leave at any byte. *)
let leave port { steps; _ } =
  let text =
    String.concat ""
      (List.filter_map
         (function Send text | Trickle text -> Some text | _ -> None)
         steps)
  in
  List.iter
    (fun part ->
      let client = Raw.connect port in
      Raw.send client
        (String.sub text 0 (part * min 400 (String.length text) / 8));
      if part mod 2 = 0 then Raw.close client else Raw.reset client)
    (List.init 9 Fun.id)

let minimum = 60

let cases with_server server =
  let { page; _ } = server in
  let quick = quick server in
  let case name f = Alcotest.test_case name `Quick f in
  let run options shapes () =
    with_server options (fun port -> List.iter (check port ~page) shapes)
  in
  let all = List.concat_map snd quick in
  (* The machine may be busy. *)
  let patient = [ "--transfer-timeout=20" ] in
  let leaving () =
    with_server patient (fun port ->
        List.iter (leave port) all;
        check port ~page (List.hd all))
  in
  let counted () =
    Alcotest.(check bool) "enough shapes" true (List.length all >= minimum)
  in
  [
    ( "shapes of requests",
      List.map (fun (name, shapes) -> case name (run patient shapes)) quick
      @ [
          case "slow clients" (run [ "--transfer-timeout=0.3" ] (slow server));
          case "clients that leave" leaving;
          case "their number" counted;
        ] );
  ]
