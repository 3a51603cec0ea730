let all : Paper.t list = [ Composing.paper; Slides.paper; Light_weight.paper ]
