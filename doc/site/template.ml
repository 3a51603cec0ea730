type what = Landing | Page of Page.t
type group = { name : string; pages : string list }

let groups text =
  List.fold_left
    (fun groups line ->
      match (groups, String.trim line) with
      | _, "" -> groups
      | { name; pages } :: rest, path when String.starts_with ~prefix:" " line
        ->
          { name; pages = (path ^ ".html") :: pages } :: rest
      | _, name -> { name; pages = [] } :: groups)
    []
    (String.split_on_char '\n' text)
  |> List.rev_map (fun group -> { group with pages = List.rev group.pages })

(* The manuals are the pages in the same folder as the index of the package concord. *)
let is_manual page =
  (not page.Page.is_module) && Filename.dirname (Page.url page) = "concord"

let check pages groups =
  let listed = List.concat_map (fun group -> group.pages) groups in
  let missing page = not (List.mem (Page.url page) listed) in
  match List.filter (fun page -> is_manual page && missing page) pages with
  | [] -> ()
  | page :: _ -> failwith ("doc/site/contents.txt lacks " ^ Page.url page)

(* --- Links -------------------------------------------------------------------- *)

(* The path from the page at [path] to the top of the site, which is "../" for each folder. *)
let top path =
  String.split_on_char '/' path
  |> List.tl
  |> List.map (fun (_ : string) -> "../")
  |> String.concat ""

(* For example "Concord.Mvar". An index page has the name of its package. *)
let name_at_side page =
  let title = page.Page.title in
  match String.split_on_char ':' title with
  | name :: _ :: _ when not (is_manual page) -> name
  | _ when Page.url page = "concord/index.html" -> "All packages"
  | _ when String.starts_with ~prefix:"Module " title ->
      String.sub title 7 (String.length title - 7)
  | _ -> title

let escape text =
  String.to_seq text
  |> Seq.map (function
    | '<' -> "&lt;"
    | '>' -> "&gt;"
    | '&' -> "&amp;"
    | '"' -> "&quot;"
    | c -> String.make 1 c)
  |> List.of_seq |> String.concat ""

let link ?(current = false) ~href title =
  Printf.sprintf "<a href=\"%s\"%s>%s</a>" (escape href)
    (if current then " aria-current=\"page\"" else "")
    (escape title)

let list items =
  match items with
  | [] -> ""
  | _ -> Printf.sprintf "<ul>%s</ul>" (String.concat "" items)

let item ?(after = "") link = Printf.sprintf "<li>%s%s</li>" link after

let side ~at ~find groups =
  let entry path =
    let href = top at ^ path in
    item (link ~current:(path = at) ~href (name_at_side (find path)))
  in
  let group { name; pages } =
    Printf.sprintf "<h2>%s</h2>%s" (escape name) (list (List.map entry pages))
  in
  String.concat "\n" (List.map group groups)

let rec sections ~depth all =
  if depth = 0 then ""
  else
    List.map
      (fun { Page.link = { title; href }; sections = below } ->
        item (link ~href title) ~after:(sections ~depth:(depth - 1) below))
      all
    |> list

let contents page =
  match page.Page.contents with
  | [] -> ""
  | all ->
      let depth = if page.is_module then 3 else 2 in
      Printf.sprintf "<h2>On this page</h2>%s" (sections ~depth all)

let above page =
  match page.Page.above with
  | [] -> ""
  | crumbs ->
      List.map (fun { Page.title; href } -> link ~href title) crumbs
      |> String.concat " / "
      |> Printf.sprintf "<p class=\"above\">%s</p>"

let mark html = Breaks.mark (Session.mark html)

(* --- The frame ---------------------------------------------------------------- *)

let document ~version ~searches ~top ~title ~class_ body =
  Printf.sprintf
    {|<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="%ssite.css">
<script defer src="%shighlight.pack.js"></script>
<script defer src="%ssite.js"></script>
</head>
<body class="%s" data-top="%s"%s>
<header>
<a class="name" href="%sindex.html">Concord <small>%s</small></a>
<nav aria-label="Main">
<a href="%sconcord/start.html">Start</a>
<a href="%sconcord/cookbook.html">Cookbook</a>
<a href="%sconcord/index.html">Interfaces</a>
</nav>
<div class="search" hidden>
<input type="search" placeholder="Search" aria-label="Search pages and interfaces" autocomplete="off">
<ol></ol>
</div>
</header>
%s
</body>
</html>
|}
    (escape title) top top top class_ top
    (if searches then " data-searches" else "")
    top (escape version) top top top body

let frame ~version ~searches pages =
  let document = document ~version ~searches in
  let groups = groups (Files.read "contents.txt") in
  check pages groups;
  let find path =
    match List.find_opt (fun page -> Page.url page = path) pages with
    | Some page -> page
    | None -> failwith ("doc/site/contents.txt names " ^ path)
  in
  let landing = Files.read "landing.html" in
  function
  | Landing -> document ~top:"" ~title:"Concord" ~class_:"landing" landing
  | Page page ->
      let at = Page.url page in
      Printf.sprintf
        {|<div class="frame">
<main class="odoc-content">
%s%s
%s
%s
</main>
<nav class="contents" aria-label="On this page">%s</nav>
<nav class="side" aria-label="All pages">%s</nav>
</div>|}
        (above page) page.header (mark page.preamble) (mark page.content)
        (contents page) (side ~at ~find groups)
      |> document ~top:(top at)
           ~title:(page.title ^ " - Concord")
           ~class_:"page"
