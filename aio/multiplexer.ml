type 'a t = Poll of 'a Poll_set.t | Ring of 'a Ring.t
type 'a watch = In_poll of 'a Poll_set.watch | In_ring of 'a Ring.watch

let poll () = Poll (Poll_set.create ())
let ring () = Option.map (fun ring -> Ring ring) (Ring.create ())

let create () =
  match (Asked.read ()).multiplexer with
  | Some Poll -> poll ()
  | Some Io_uring -> (
      match ring () with
      | Some ring -> ring
      | None ->
          failwith
            "CONCORD_AIO=io_uring: there is no io_uring here, or uring was not \
             installed when concord-aio was built; use CONCORD_AIO=poll")
  | None -> ( match ring () with Some ring -> ring | None -> poll ())

let close = function Poll _ -> () | Ring ring -> Ring.close ring

let watch t fd owner =
  match t with
  | Poll _ -> In_poll (Poll_set.watch fd owner)
  | Ring _ -> In_ring (Ring.watch fd owner)

let set t watch ~read ~write =
  match (t, watch) with
  | Poll t, In_poll watch -> Poll_set.set t watch ~read ~write
  | Ring t, In_ring watch -> Ring.set t watch ~read ~write
  | Poll _, In_ring _ | Ring _, In_poll _ -> assert false (* see [watch] *)

let is_settled = function Poll _ -> true | Ring t -> Ring.is_settled t
let settle = function Poll _ -> () | Ring t -> Ring.settle t

let wait t ~block =
  match t with Poll t -> Poll_set.wait t ~block | Ring t -> Ring.wait t ~block
