<?php
/** Runs before every script under php-fpm: what the engine in WebAssembly does outside PHP, and then what every engine does. */

// Site Health and WordPress for administrators must not expect more than there is.
if ( (int) ini_get( 'memory_limit' ) < 256 ) {
	define( 'WP_MAX_MEMORY_LIMIT', ini_get( 'memory_limit' ) );
}

// A task of the platform runs as if it were the site's script.
$sitewright_script = $_SERVER['DOCUMENT_ROOT'] . $_SERVER['SCRIPT_NAME'];
if ( $_SERVER['SCRIPT_FILENAME'] !== $sitewright_script ) {
	$_SERVER['SCRIPT_FILENAME'] = $sitewright_script;
	chdir( dirname( $sitewright_script ) );
}
unset( $sitewright_script );

// php-fpm leaves out the script, so that WordPress would take a path after it for the script.
$_SERVER['PHP_SELF'] = $_SERVER['SCRIPT_NAME'] . ( $_SERVER['PATH_INFO'] ?? '' );

require __DIR__ . '/plugin.php';

/**
 * Tells the server that the script has ended, and whether it has died, because php-fpm does not. The last message: if it doesn't
 * arrive, others may be lost, too. It includes what the page shows (`shown.php`).
 */
const SITEWRIGHT_TELLS_END = true;
register_shutdown_function(
	static function () {
		// After the functions of the site, which may die, too.
		register_shutdown_function(
			static function () {
				$fatal  = E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR;
				$failed = 0 !== ( ( error_get_last()['type'] ?? 0 ) & $fatal );
				$tags   = array_filter( array( 'tags' => $GLOBALS['sitewright_page_tags'] ?? null ), 'is_array' );
				sitewright_tell( array( 'sitewright' => 'ended', 'failed' => $failed ) + $tags );
			}
		);
	}
);
