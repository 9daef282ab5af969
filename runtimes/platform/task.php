<?php
/**
 * Lets a platform task return a result. A task requires this file, then `/site/wp-load.php` at its top level, and ends
 * with `sitewright_task_result`.
 *
 * Output of plugins is dropped. The result is enclosed in two markers that are random for each task, so that output
 * printed later, or outside the buffers, is not taken for it.
 */

require __DIR__ . '/order.php';

$sitewright_order['is_answered'] = false;
ob_start( static fn ( string $text ) => $GLOBALS['sitewright_order']['is_answered'] ? $text : '', 4096 );

/** Ends the task with this result. */
function sitewright_task_result( array $answer ): never {
	$GLOBALS['sitewright_order']['is_answered'] = true;
	// A buffer that can't be removed would make this loop endless; the result then goes through it.
	while ( ob_get_level() > 0 && @ob_end_clean() );
	$mark = $GLOBALS['sitewright_order']['mark'];
	echo $mark, json_encode( $answer, JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR ), $mark;
	exit;
}
