#!/bin/sh
. "$CASE_DIR/variants.inc"
variants "$CASE_DIR"/tensor_memory/*.cute
