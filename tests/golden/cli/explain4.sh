# What `cutec explain` prints is right: a quarter of the codes.
. "$CASE_DIR/explain.run"
explain 4
