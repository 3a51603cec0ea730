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

(* --- The list of pages ----------------------------------------------------------- *)

let folder path = Filename.dirname path ^ "/"

(* "concord/Concord/Mutex/index.html" is a child of "concord/Concord/index.html". *)
let is_child ~of_:parent path =
  let above = folder parent in
  let n = String.length above in
  path <> parent
  && String.starts_with ~prefix:above path
  &&
  match
    String.split_on_char '/' (String.sub path n (String.length path - n))
  with
  | [ name; "index.html" ] ->
      not (String.starts_with ~prefix:"argument-" name || name = "Private")
  | _ -> false

(* Below the entry that leads to the current interface there are its modules, and so on down to
   the current one with those beside it. *)
let rec below ~at ~entry pages parent =
  if String.starts_with ~prefix:(folder parent) at then
    List.filter (fun page -> is_child ~of_:parent (Page.url page)) pages
    |> List.map (fun page ->
        let path = Page.url page in
        entry ~after:(below ~at ~entry pages path) ~short:true page)
    |> list
  else ""

let last_name title =
  match String.rindex_opt title '.' with
  | Some i -> String.sub title (i + 1) (String.length title - i - 1)
  | None -> title

let side ~at ~find ~pages groups =
  let paths = List.concat_map (fun group -> group.pages) groups in
  (* The deepest entry that leads to the current interface. *)
  let leads path =
    path <> "concord/index.html"
    && String.starts_with ~prefix:(folder path) at
    && Filename.basename path = "index.html"
  in
  let leading =
    List.filter leads paths
    |> List.sort (fun a b -> Int.compare (String.length b) (String.length a))
    |> fun found -> List.nth_opt found 0
  in
  let entry ~after ~short page =
    let path = Page.url page in
    let name = name_at_side page in
    item ~after
      (link ~current:(path = at)
         ~href:(top at ^ path)
         (if short then last_name name else name))
  in
  let of_path path =
    let after =
      if Some path = leading then below ~at ~entry pages path else ""
    in
    entry ~after ~short:false (find path)
  in
  let group { name; pages } =
    Printf.sprintf "<h2>%s</h2>%s" (escape name) (list (List.map of_path pages))
  in
  String.concat "\n" (List.map group groups)

(* --- The pages before and after ---------------------------------------------------- *)

(* The pages in the order of the list at the side, each interface before its modules. *)
let reading_order pages groups =
  let rec with_children path =
    path
    :: (List.map Page.url pages
       |> List.filter (fun child -> is_child ~of_:path child)
       |> List.concat_map with_children)
  in
  let seen = Hashtbl.create 500 in
  List.concat_map (fun group -> group.pages) groups
  |> List.concat_map (fun path ->
      if Filename.basename path = "index.html" && path <> "concord/index.html"
      then with_children path
      else [ path ])
  |> List.filter (fun path ->
      let is_new = not (Hashtbl.mem seen path) in
      Hashtbl.replace seen path ();
      is_new)

(* Maps each page of the order to the pages before and after it. *)
let neighbours order =
  let table = Hashtbl.create 500 in
  let rec go before = function
    | [] -> ()
    | path :: rest ->
        Hashtbl.replace table path (before, List.nth_opt rest 0);
        go (Some path) rest
  in
  go None order;
  fun path -> Option.value (Hashtbl.find_opt table path) ~default:(None, None)

let turn ~at ~find neighbours =
  let before, after = neighbours at in
  let one rel words path =
    let page = find path in
    Printf.sprintf "<a rel=\"%s\" href=\"%s\"><small>%s</small> %s</a>" rel
      (escape (top at ^ path))
      words
      (escape (name_at_side page))
  in
  let part rel words =
    Option.fold ~none:"<span></span>" ~some:(one rel words)
  in
  Printf.sprintf "<nav class=\"turn\" aria-label=\"Pages\">%s%s</nav>"
    (part "prev" "Previous" before)
    (part "next" "Next" after)

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
      Printf.sprintf
        "<nav class=\"contents\" aria-label=\"On this page\"><details \
         open><summary>On this page</summary>%s</details></nav>"
        (sections ~depth all)

let above page =
  match page.Page.above with
  | [] -> ""
  | crumbs ->
      List.map (fun { Page.title; href } -> link ~href title) crumbs
      |> String.concat " / "
      |> Printf.sprintf "<p class=\"above\">%s</p>"

let mark html = Breaks.mark (Session.mark html)

(* --- The frame ---------------------------------------------------------------- *)

(* Two elements must not have the same name. Odoc repeats one, for example, where an interface
   includes two signatures with the same heading. The first keeps it, and links lead there. *)
let with_unique_names html =
  let start = " id=\"" in
  let seen = Hashtbl.create 100 in
  let buffer = Buffer.create (String.length html) in
  let rec go i =
    match Texts.find html ~from:i ~part:start with
    | None -> Buffer.add_substring buffer html i (String.length html - i)
    | Some j ->
        let first = j + String.length start in
        let last = String.index_from html first '"' in
        let id = String.sub html first (last - first) in
        if Hashtbl.mem seen id then Buffer.add_substring buffer html i (j - i)
        else Buffer.add_substring buffer html i (last + 1 - i);
        Hashtbl.replace seen id ();
        go (last + 1)
  in
  go 0;
  Buffer.contents buffer

(* The first sentences of a page. *)
let description page =
  let text = Page.about page in
  let text = if text = "" then page.title ^ ", of Concord" else text in
  let most = 160 in
  if String.length text <= most then text
  else
    let cut = String.sub text 0 most in
    match String.rindex_opt cut ' ' with
    | Some i -> String.sub cut 0 i ^ " ..."
    | None -> cut

let about_site =
  "Eio fibers, Lwt promises, Domainslib tasks and plain threads wait for each \
   other through the same mutexes, queues and promises, in OCaml 5."

let document ~version ~repository ~social ~path ~title ~description ~class_
    ~menu body =
  let top = top path in
  let repository =
    match repository with
    | None -> ""
    | Some address ->
        Printf.sprintf "<a href=\"%s\">Repository</a>\n" (escape address)
  in
  let menu =
    if menu then "<a class=\"menu\" href=\"#side\">Menu</a>\n" else ""
  in
  Printf.sprintf
    {|<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="%s">
<meta property="og:type" content="website">
<meta property="og:site_name" content="Concord">
<meta property="og:title" content="%s">
<meta property="og:description" content="%s">
%s<title>%s</title>
<link rel="icon" type="image/svg+xml" href="%sfavicon.svg">
<link rel="stylesheet" href="%ssite.css">
<script>try { document.documentElement.dataset.theme = localStorage.theme || 'auto' } catch {}</script>
<script defer src="%shighlight.pack.js"></script>
<script defer src="%ssite.js"></script>
</head>
<body class="%s" data-top="%s">
<a class="skip" href="#main">Skip to the text</a>
<header>
%s<a class="name" href="%sindex.html">Concord <small>%s</small></a>
<nav aria-label="Main">
<a href="%sconcord/start.html">Start</a>
<a href="%sconcord/cookbook.html">Cookbook</a>
<a href="%sconcord/index.html">Interfaces</a>
%s</nav>
<button class="theme" type="button" hidden></button>
<div class="search" hidden>
<input type="search" placeholder="Search" aria-label="Search pages and interfaces" autocomplete="off">
<ol></ol>
</div>
</header>
%s
</body>
</html>
|}
    (escape description) (escape title) (escape description) (social ~path)
    (escape title) top top top top class_ top menu top (escape version) top top
    top repository body

let frame ~version ~repository ~social pages =
  let document = document ~version ~repository ~social in
  let groups = groups (Files.read "contents.txt") in
  check pages groups;
  let by_url = Hashtbl.create 500 in
  List.iter (fun page -> Hashtbl.replace by_url (Page.url page) page) pages;
  let find path =
    match Hashtbl.find_opt by_url path with
    | Some page -> page
    | None -> failwith ("doc/site/contents.txt names " ^ path)
  in
  let landing = Files.read "landing.html" in
  let neighbours = neighbours (reading_order pages groups) in
  function
  | Landing ->
      document ~path:"index.html" ~title:"Concord" ~description:about_site
        ~class_:"landing" ~menu:false landing
  | Page page ->
      let at = Page.url page in
      Printf.sprintf
        {|<div class="frame">
%s
<main class="odoc-content" id="main">
%s%s
%s
%s
%s
</main>
<nav class="side" id="side" aria-label="All pages">%s</nav>
</div>|}
        (contents page) (above page) page.header (mark page.preamble)
        (mark page.content)
        (turn ~at ~find neighbours)
        (side ~at ~find ~pages groups)
      |> with_unique_names
      |> document ~path:at
           ~title:(page.title ^ " - Concord")
           ~description:(description page) ~class_:"page" ~menu:true
