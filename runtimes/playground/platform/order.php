<?php
/** What a task was asked for: read once, and gone before anything of the site runs. */

$sitewright_order = json_decode( file_get_contents( __DIR__ . '/order.json' ), true );
unlink( __DIR__ . '/order.json' );

/** What the task was given. */
function sitewright_input(): array {
	return $GLOBALS['sitewright_order']['input'];
}
