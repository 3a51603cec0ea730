include module type of struct
  include Concord__Fifo
end
