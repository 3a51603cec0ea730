let picture = "social.png"
let width = 1200
let height = 630

let alt =
  "Tasks of all libraries, threads and domains meet in the same structures"

let tags ~address ~has_picture ~path =
  match address with
  | None -> ""
  | Some address ->
      let page =
        Printf.sprintf
          {|<link rel="canonical" href="%s/%s">
<meta property="og:url" content="%s/%s">
|}
          address path address path
      in
      if has_picture then
        page
        ^ Printf.sprintf
            {|<meta property="og:image" content="%s/%s">
<meta property="og:image:width" content="%d">
<meta property="og:image:height" content="%d">
<meta property="og:image:alt" content="%s">
<meta name="twitter:card" content="summary_large_image">
|}
            address picture width height alt
      else page
