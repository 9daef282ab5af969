<?php
/** Reads a task's order and deletes it before any code of the site runs. */

$sitewright_order = json_decode( file_get_contents( __DIR__ . '/order.json' ), true );
unlink( __DIR__ . '/order.json' );

/** Returns the task's input. */
function sitewright_task_input(): array {
	return $GLOBALS['sitewright_order']['input'];
}
