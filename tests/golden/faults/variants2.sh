#!/bin/sh
# The second half of what variants.sh has begun with.
. "$CASE_DIR/variants.inc"
variants "$CASE_DIR"/variants/[t-z]*.cute
