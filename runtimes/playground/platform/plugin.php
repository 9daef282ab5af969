<?php
/**
 * Runs before every script of a site, also where there is no WordPress: keep it tiny, every page pays for it.
 *
 * WordPress makes hooks of what stands in `$wp_filter` before it is loaded. So the platform takes part in it without a
 * file in the site that somebody could remove, and before all plugins.
 */

/** Like `add_filter`, which there is not yet. */
function sitewright_hook( string $name, callable $callback, int $priority = 10, int $accepted_args = 1 ): void {
	$GLOBALS['wp_filter'][ $name ][ $priority ][] = [
		'function'      => $callback,
		'accepted_args' => $accepted_args,
	];
}

require __DIR__ . '/touching.php';
require __DIR__ . '/ports.php';
require __DIR__ . '/packages.php';
require __DIR__ . '/siteHealth.php';
