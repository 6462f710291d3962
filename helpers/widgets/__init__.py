"""What a reader touches: widgets with a little JavaScript, each of which stores a still picture and a sentence."""
