type t = {
  families : string list;
  samples : ((string * (string * string) list) * float) list;
}

(* Runs the program in Python, and returns its output if it ends well. *)
let python program text =
  let out, to_out = Unix.pipe ~cloexec:true () in
  let from_in, in_ = Unix.pipe ~cloexec:true () in
  match
    Unix.create_process "python3"
      [| "python3"; "-c"; program |]
      from_in to_out Unix.stderr
  with
  | exception Unix.Unix_error _ -> None
  | pid -> (
      List.iter Unix.close [ from_in; to_out ];
      (* The program reads everything before it writes. *)
      let channel = Unix.out_channel_of_descr in_ in
      (try
         output_string channel text;
         close_out channel
       with Sys_error _ -> close_out_noerr channel);
      let answer = In_channel.input_all (Unix.in_channel_of_descr out) in
      match Unix.waitpid [] pid with _, WEXITED 0 -> Some answer | _ -> None)

let is_here =
  let program =
    "import sys\n\
     try: import prometheus_client.openmetrics.parser\n\
     except ImportError: sys.exit(1)"
  in
  Option.is_some (python program "")
  || begin
    prerr_endline
      "Without Python and python3-prometheus-client, Prometheus' parser isn't \
       asked";
    false
  end

(* One line for each family and each sample, with tabs between the fields. *)
let program =
  "import sys\n\
   from prometheus_client.openmetrics import parser\n\
   text = sys.stdin.buffer.read().decode()\n\
   for f in parser.text_string_to_metric_families(text):\n\
  \  print('family', f.name + ' ' + f.type + ' ' + f.unit, sep='\\t')\n\
  \  for s in f.samples:\n\
  \    labels = [x.encode().hex() for l in sorted(s.labels.items()) for x in l]\n\
  \    print('sample', s.name, s.value, *labels, sep='\\t')\n"

let of_hex text =
  let byte i = Char.chr (int_of_string ("0x" ^ String.sub text (2 * i) 2)) in
  String.init (String.length text / 2) byte

let rec pairs = function
  | name :: value :: rest -> (of_hex name, of_hex value) :: pairs rest
  | _ -> []

let parse text =
  match python program text with
  | None -> failwith ("Prometheus' parser refuses this text:\n" ^ text)
  | Some answer ->
      let add t line =
        match String.split_on_char '\t' line with
        | [ "family"; family ] -> { t with families = family :: t.families }
        | "sample" :: name :: value :: labels ->
            let sample = ((name, pairs labels), float_of_string value) in
            { t with samples = sample :: t.samples }
        | _ -> t
      in
      let { families; samples } =
        List.fold_left add
          { families = []; samples = [] }
          (String.split_on_char '\n' answer)
      in
      { families = List.rev families; samples = List.rev samples }
