<?php
/** Finds the code that sends a statement to the database. */

/** More than lie between a hook on `query` and that code. */
const SITEWRIGHT_MAX_FRAMES = 16;

/** Returns the function from which the current statement comes, and whether it is one of WordPress's own. */
function sitewright_statement_origin(): array {
	static $core = null;
	$core        = $core ?? dirname( ( new ReflectionClass( 'wpdb' ) )->getFileName(), 2 );
	$file        = '';
	$has_seen    = false;
	foreach ( debug_backtrace( DEBUG_BACKTRACE_IGNORE_ARGS, SITEWRIGHT_MAX_FRAMES ) as $frame ) {
		if ( is_a( $frame['class'] ?? '', 'wpdb', true ) ) {
			$has_seen = true;
			$file     = $frame['file'] ?? '';
		} elseif ( $has_seen ) {
			$is_core = str_starts_with( $file, "$core/wp-includes/" ) || str_starts_with( $file, "$core/wp-admin/" );
			return array(
				'is_core'  => $is_core,
				'function' => $frame['function'],
			);
		}
	}
	return array(
		'is_core'  => false,
		'function' => '',
	);
}
