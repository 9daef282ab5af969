<?php
/** Gets a task's order, once, before any code of the site runs. */

$sitewright_order = json_decode( sitewright_tell( array( 'sitewright' => 'order' ) ), true );

/** Returns the task's input. */
function sitewright_task_input(): array {
	return $GLOBALS['sitewright_order']['input'];
}
