<?php
/**
 * Compiles a script to an opcode file without running it. `SITEWRIGHT_SCRIPT`: its path. Only one for each request, because the functions
 * of a script are then defined, and others define the same ones.
 */

// Visitors come first. Each request adds to it, up to the lowest priority.
@proc_nice( 10 );
@opcache_compile_file( $_SERVER['SITEWRIGHT_SCRIPT'] );
echo 'done';
