module Browser = Concord_test_browser

(* Resolves when the element shows the text. *)
let shown_script =
  {|((id, text) => new Promise(resolve => {
      const element = document.getElementById(id)
      const look = () => { if (element.innerText.includes(text)) resolve() }
      new MutationObserver(look).observe(element,
        { childList: true, characterData: true, subtree: true })
      look()
    }))|}

let await_shown browser ~id text =
  try
    ignore
      (Browser.ask browser (Printf.sprintf "%s(%S, %S)" shown_script id text)
        : Yojson.Safe.t)
  with Failure why -> Alcotest.failf "#%s does not show %S: %s" id text why

let post browser n =
  let script =
    Printf.sprintf
      "document.querySelector('input').value = %d;\n\
       document.querySelector('button').click()"
      n
  in
  ignore (Browser.ask browser script : Yojson.Safe.t)

let follow_a_job browser ~url ~width ~id =
  Browser.visit ~width browser url;
  await_shown browser ~id:"state" "Finished jobs appear here.";
  post browser 1000;
  await_shown browser ~id:"jobs" (Printf.sprintf "job %d done 168" id);
  Alcotest.(check bool)
    (Printf.sprintf "no wider than %d pixels" width)
    true
    (Yojson.Safe.Util.to_bool
       (Browser.ask browser
          "document.documentElement.scrollWidth <= window.innerWidth"));
  Alcotest.(check (list string)) "faults" [] (Browser.faults browser)

let follows_jobs () =
  if not (Browser.is_installed ()) then begin
    print_endline "chromium is not installed: the page was not opened";
    Alcotest.skip ()
  end;
  let child = Child.start [] in
  let url = Printf.sprintf "http://localhost:%d/" (Child.port child) in
  Browser.run (fun browser ->
      follow_a_job browser ~url ~width:1280 ~id:1;
      follow_a_job browser ~url ~width:360 ~id:2;
      Child.terminate child;
      await_shown browser ~id:"state" "The connection is lost.";
      let ended = Lwt_main.run (Child.await_end child ~within:30.) in
      Alcotest.(check bool) "drained" true ended.drained)
