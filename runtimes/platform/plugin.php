<?php
/**
 * Runs before every script of a site, even without WordPress: keep it tiny, because every page pays for it.
 *
 * WordPress turns the content of `$wp_filter` into hooks when it loads. So the platform's hooks need no file in the
 * site that someone could delete, and run before all plugins.
 */

/** Like `add_filter`, which does not exist yet. */
function sitewright_hook( string $name, callable $callback, int $priority = 10, int $accepted_args = 1 ): void {
	$GLOBALS['wp_filter'][ $name ][ $priority ][] = [
		'function'      => $callback,
		'accepted_args' => $accepted_args,
	];
}

/** Where the SQL layer (`mysql/`) keeps translations between the pages of a worker: in PHP's memory. */
const MYSQL_LAYER_TRANSLATIONS = '/internal/translations';

require __DIR__ . '/messages.php';
require __DIR__ . '/mysqli.php';
if ( ! function_exists( 'dns_get_record' ) ) {
	require __DIR__ . '/dns.php';
}
require __DIR__ . '/requestVariables.php';
require __DIR__ . '/touching.php';
require __DIR__ . '/ports.php';
require __DIR__ . '/packages.php';
require __DIR__ . '/refusals.php';
require __DIR__ . '/siteHealth.php';
require __DIR__ . '/logins.php';
require __DIR__ . '/userNames.php';
