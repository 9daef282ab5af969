<?php
/**
 * Leaves out deprecations that WP-CLI's own code causes on newer versions of PHP and WordPress. With WP_DEBUG, they would surround
 * the answers of its commands. Those of plugins, themes and commands of plugins are shown.
 */

function sitewright_is_wp_cli_to_blame( int $level, string $file ): bool {
	if ( E_USER_DEPRECATED === $level ) {
		// WordPress reports these in the name of whoever calls something deprecated: two frames above its report.
		$frames    = debug_backtrace( DEBUG_BACKTRACE_IGNORE_ARGS );
		$reporters = array_keys( array_filter( $frames, static fn( $frame ) => str_starts_with( $frame['function'], '_deprecated_' ) ) );
		$file      = array() === $reporters ? $file : ( $frames[ end( $reporters ) + 1 ]['file'] ?? '' );
	}
	return str_starts_with( $file, WP_CLI_PHAR_PATH . '/' ) && ! str_contains( $file, "eval()'d code" );
}

set_error_handler(
	static fn( $level, $text, $file ) => sitewright_is_wp_cli_to_blame( $level, $file ),
	E_DEPRECATED | E_USER_DEPRECATED
);
